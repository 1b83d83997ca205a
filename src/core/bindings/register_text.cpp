#include "bindings/bindings.h"

#include "store/packed_counts.h"
#include "store/packed_words.h"
#include "text/characters.h"
#include "text/counting.h"
#include "text/tokenize.h"
#include "text/tokens.h"
#include "text/word_table.h"

#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

namespace textkin::bindings {

std::string_view utf8(nb::handle text, nb::object& owner) {
    Py_ssize_t size = 0;
    if (nb::handle(reinterpret_cast<PyObject*>(&PyUnicode_Type))
            .attr("isascii")(text)
            .is(Py_True)) {
        const char* const own = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (own == nullptr) throw nb::python_error();
        owner = nb::borrow(text);
        return {own, static_cast<std::size_t>(size)};
    }
    owner = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
    if (!owner.is_valid()) throw nb::python_error();
    char* bytes = nullptr;
    if (PyBytes_AsStringAndSize(owner.ptr(), &bytes, &size) != 0) throw nb::python_error();
    return {bytes, static_cast<std::size_t>(size)};
}

nb::str to_str(std::string_view word) {
    PyObject* const made =
        PyUnicode_DecodeUTF8(word.data(), static_cast<Py_ssize_t>(word.size()), "surrogatepass");
    if (made == nullptr) throw nb::python_error();
    return nb::steal<nb::str>(made);
}

namespace {

using namespace nb::literals;

void check_words(std::size_t known, std::size_t expected, const char* name) {
    if (known < expected) {
        const std::string message = std::string(name) + " must have an entry for each of the " +
                                    std::to_string(expected) + " words; got " +
                                    std::to_string(known) + ".";
        throw nb::value_error(message.c_str());
    }
}

// One more than the largest word of `ids`.
std::size_t words_of(std::span<const std::int32_t> ids) {
    std::int32_t largest = -1;
    for (const std::int32_t id : ids) largest = std::max(largest, id);
    return static_cast<std::size_t>(largest + 1);
}

text::Tokens read_texts(text::WordTable& table, const nb::list& texts, bool lowercase,
                        unsigned threads) {
    std::vector<nb::object> owners(texts.size());
    std::vector<std::string_view> views(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const nb::object text = texts[i];
        if (!PyUnicode_Check(text.ptr())) throw nb::type_error("texts must hold str.");
        views[i] = utf8(text, owners[i]);
    }
    text::Tokens tokens;
    run(views.size(), nb::none(),
        [&](base::Stop& stop) { tokens = text::tokenize(views, lowercase, threads, stop, table); });
    return tokens;
}

text::Tokens read_words(text::WordTable& table, const nb::sequence& documents) {
    text::Tokens tokens;
    for (nb::handle document : documents) {
        for (nb::handle word : document) {
            if (!PyUnicode_Check(word.ptr())) {
                const std::string message =
                    std::string("documents must be lists of words (str); document ") +
                    std::to_string(tokens.size()) + " holds " + nb::type_name(word.type()).c_str() +
                    ".";
                throw nb::type_error(message.c_str());
            }
            nb::object owner;
            tokens.ids.push_back(table.add(utf8(word, owner)));
        }
        tokens.end_document();
    }
    return tokens;
}

// Which words are in `forms`: in lower case, with or without their apostrophes.
std::vector<std::uint8_t> matching(const text::WordTable& table, const text::WordTable& forms,
                                   std::size_t start) {
    std::vector<std::uint8_t> found;
    std::vector<char32_t> letters;
    std::vector<char32_t> lower;
    std::string form;
    for (std::size_t i = start; i < table.size(); ++i) {
        letters.clear();
        text::decode_utf8(table[i], letters);
        text::normalize(letters);
        for (char32_t& letter : letters)
            if (text::character(letter).kind == text::Kind::apostrophe) letter = U'\'';
        lower.clear();
        text::append_lower(letters, lower);
        text::normalize(lower);
        form.clear();
        for (const char32_t letter : lower) text::append_utf8(letter, form);
        bool is_form = forms.find(form) >= 0;
        if (!is_form && form.find('\'') != std::string::npos) {
            std::erase(form, '\'');
            is_form = forms.find(form) >= 0;
        }
        found.push_back(is_form ? 1 : 0);
    }
    return found;
}

nb::list words_from(const text::WordTable& table, std::size_t start) {
    const std::size_t count = table.size() - std::min(start, table.size());
    return to_list(count, [&](std::size_t i) { return table[start + i]; });
}

nb::list words_at(const text::WordTable& table, const Array1<std::int32_t>& ids) {
    const auto numbers = view(ids);
    for (const std::int32_t id : numbers)
        if (id < 0 || static_cast<std::size_t>(id) >= table.size())
            throw nb::index_error("no word has this number");
    return to_list(numbers.size(),
                   [&](std::size_t i) { return table[static_cast<std::size_t>(numbers[i])]; });
}

// Bytes of the words from `start` on, and their offsets.
nb::tuple packed_words(const text::WordTable& table, std::size_t start) {
    start = std::min(start, table.size());
    const std::size_t skipped = start == 0 ? 0 : table.ends()[start - 1];
    const std::string_view bytes = table.bytes().substr(skipped);
    std::vector<std::int64_t> offsets{0};
    offsets.reserve(table.size() - start + 1);
    for (const std::size_t end : table.ends().subspan(start))
        offsets.push_back(static_cast<std::int64_t>(end - skipped));
    const std::size_t count = offsets.size();
    return nb::make_tuple(
        to_numpy(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), bytes.size()),
        to_numpy(std::move(offsets), count));
}

// The counts of each document as bytes, and its length.
nb::tuple packed_counts(const text::Counts& counts) {
    store::PackedCounts all;
    run(counts.size(), nb::none(), [&](base::Stop& stop) { all = store::packed(counts, stop); });
    nb::list blobs = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(all.size())));
    if (!blobs.is_valid()) throw nb::python_error();
    for (std::size_t row = 0; row < all.size(); ++row) {
        nb::bytes blob(all[row].data(), all[row].size());
        PyList_SetItem(blobs.ptr(), static_cast<Py_ssize_t>(row), blob.release().ptr());
    }
    const std::size_t rows = all.size();
    return nb::make_tuple(blobs, to_numpy(std::move(all.lengths), rows));
}

// Offsets, keys and numbers of rows.
template <class Number>
nb::tuple arrays(text::Counts&& counts, base::UninitializedVector<Number>&& numbers) {
    const std::size_t rows = counts.offsets.size();
    const std::size_t entries = counts.keys.size();
    return nb::make_tuple(to_numpy(std::move(counts.offsets), rows),
                          to_numpy(std::move(counts.keys), entries),
                          to_numpy(std::move(numbers), entries));
}

nb::tuple arrays(text::Counts&& counts) {
    base::UninitializedVector<std::int64_t> numbers(counts.counts.begin(), counts.counts.end());
    return arrays(std::move(counts), std::move(numbers));
}

} // namespace

void register_text(nb::module_& module) {
    module.def(
        "tokenise",
        [](const nb::str& text, bool lowercase) {
            nb::object owner;
            text::Tokenizer split(lowercase);
            nb::list words;
            for (const std::string_view word : split(utf8(text, owner))) words.append(to_str(word));
            return words;
        },
        "text"_a, "lowercase"_a, "The words of a text.",
        nb::sig("def tokenise(text: str, lowercase: bool) -> list[str]"));
    module.def(
        "normalise",
        [](const nb::str& text) {
            nb::object owner;
            std::vector<char32_t> characters;
            text::decode_utf8(utf8(text, owner), characters);
            text::normalize(characters);
            std::string bytes;
            for (const char32_t code : characters)
                text::append_utf8(
                    text::character(code).kind == text::Kind::apostrophe ? U'\'' : code, bytes);
            return to_str(bytes);
        },
        "text"_a, "A text as the tokeniser reads it: NFKC, plain apostrophes, nothing invisible.");

    nb::class_<text::Tokens>(module, "TokenBlock", "Documents as numbered words, in their order.")
        .def("__len__", &text::Tokens::size)
        .def_prop_ro("n_tokens", [](const text::Tokens& self) { return self.ids.size(); })
        .def(
            "arrays",
            [](const text::Tokens& self) {
                return nb::make_tuple(
                    to_numpy(base::UninitializedVector<std::int32_t>(self.ids), self.ids.size()),
                    to_numpy(std::vector<std::int64_t>(self.offsets), self.offsets.size()));
            },
            "Ids and offsets of the documents.",
            nb::sig("def arrays(self) -> tuple[numpy.typing.NDArray[numpy.int32], "
                    "numpy.typing.NDArray[numpy.int64]]"))
        .def(
            "replaced",
            [](const text::Tokens& self, const Array1<std::int32_t>& number_of) {
                check_words(number_of.size(), words_of(self.ids), "number_of");
                return text::replaced(self, view(number_of));
            },
            "number_of"_a.noconvert(), "Other numbers for the words; negative ones are left out.")
        .def(
            "count",
            [](const text::Tokens& self, unsigned threads) {
                text::Counts counts;
                run(self.size(), nb::none(),
                    [&](base::Stop& stop) { counts = text::count_words(self, threads, stop); });
                return counts;
            },
            "threads"_a, "How often each word occurs in each document.");

    nb::class_<text::Counts>(module, "WordCounts", "How often each word occurs in each document.")
        .def("__len__", &text::Counts::size)
        .def(
            "add_statistics",
            [](const text::Counts& self,
               nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> totals,
               nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> documents) {
                const std::size_t words = words_of(self.keys);
                check_words(totals.size(), words, "totals");
                check_words(documents.size(), words, "documents");
                text::add_statistics(self, {totals.data(), totals.size()},
                                     {documents.data(), documents.size()});
            },
            "totals"_a.noconvert(), "documents"_a.noconvert(),
            "Add occurrences, and documents that have it, of each word.")
        .def(
            "to_bags",
            [](const text::Counts& self, const Array1<std::int32_t>& column_of, std::size_t most,
               unsigned threads) {
                check_words(column_of.size(), words_of(self.keys), "column_of");
                text::Bags bags;
                run(self.size(), nb::none(), [&](base::Stop& stop) {
                    bags = text::to_bags(self, view(column_of), most, threads, stop);
                });
                return nb::make_tuple(arrays(std::move(bags.known), std::move(bags.weights)),
                                      arrays(std::move(bags.unknown)), arrays(std::move(bags.cut)));
            },
            "column_of"_a.noconvert(), "most"_a, "threads"_a,
            "CSR arrays (offsets, keys, counts) of columns, of words without one (-1 in "
            "`column_of`; -2 is left out), and of columns cut by `most` (0: none is).",
            nb::sig("def to_bags(self, column_of: numpy.typing.NDArray[numpy.int32], most: int, "
                    "threads: int) -> tuple["
                    "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], "
                    "numpy.typing.NDArray[numpy.float32]], "
                    "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], "
                    "numpy.typing.NDArray[numpy.int64]], "
                    "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], "
                    "numpy.typing.NDArray[numpy.int64]]]"))
        .def("packed", &packed_counts,
             "Each document's counts as bytes (see `unpack_counts`), and its length.",
             nb::sig("def packed(self) -> tuple[list[bytes], numpy.typing.NDArray[numpy.int64]]"));

    nb::class_<text::WordTable>(module, "WordTable", "Distinct words, numbered as they come.")
        .def(nb::init<>())
        .def("__len__", &text::WordTable::size)
        .def("read_texts", &read_texts, "texts"_a, "lowercase"_a, "threads"_a,
             "Tokenise texts; new words are added.",
             nb::sig("def read_texts(self, texts: list[str], lowercase: bool, threads: int) -> "
                     "TokenBlock"))
        .def("read_words", &read_words, "documents"_a,
             "Take lists of words as documents; new words are added.",
             nb::sig("def read_words(self, documents: collections.abc.Sequence["
                     "collections.abc.Iterable[str]]) -> "
                     "TokenBlock"))
        .def(
            "read_runs",
            [](text::WordTable& self, const text::Tokens& tokens, const text::WordTable& words,
               std::size_t shortest, std::size_t longest, unsigned threads) {
                check_words(words.size(), words_of(tokens.ids), "words");
                if (shortest == 0) throw nb::value_error("shortest must be at least 1.");
                text::Tokens out;
                run(tokens.size(), nb::none(), [&](base::Stop& stop) {
                    out = text::joined_runs(tokens, words, shortest, longest, threads, stop, self);
                });
                return out;
            },
            "tokens"_a, "words"_a, "shortest"_a, "longest"_a, "threads"_a,
            "Take runs of words, joined by spaces, as the words of documents.")
        .def(
            "matching",
            [](const text::WordTable& self, const text::WordTable& forms, std::size_t start) {
                auto found = matching(self, forms, start);
                const std::size_t size = found.size();
                return to_numpy(std::move(found), size);
            },
            "forms"_a, "start"_a,
            "For each word from `start` on: 1 if its lower case, with or without apostrophes, is "
            "among `forms`.")
        .def("words", &words_from, "start"_a, "The words from `start` on.",
             nb::sig("def words(self, start: int) -> list[str]"))
        .def("words_at", &words_at, "ids"_a.noconvert(), "The words of these numbers.",
             nb::sig("def words_at(self, ids: numpy.typing.NDArray[numpy.int32]) -> list[str]"))
        .def(
            "extend",
            [](text::WordTable& self, const Array1<std::uint8_t>& bytes,
               const Array1<std::int64_t>& offsets) {
                run(0, nb::none(),
                    [&](base::Stop& stop) { self.extend({bytes_of(bytes), view(offsets)}, stop); });
            },
            "bytes"_a.noconvert(), "offsets"_a.noconvert(),
            "Add words that are new and distinct (else a ValueError, and the table is as before).")
        .def("packed", &packed_words, "start"_a,
             "UTF-8 bytes of the words from `start` on, and their offsets.",
             nb::sig("def packed(self, start: int) -> tuple[numpy.typing.NDArray[numpy.uint8], "
                     "numpy.typing.NDArray[numpy.int64]]"))
        .def(
            "sorted",
            [](const text::WordTable& self, unsigned threads) {
                std::vector<std::int32_t> order;
                run(self.size(), nb::none(),
                    [&](base::Stop& stop) { order = self.sorted(threads, stop); });
                const std::size_t size = order.size();
                return to_numpy(std::move(order), size);
            },
            "threads"_a, "All numbers, in the order of the words' code points.");

    nb::class_<text::Phrases>(module, "Phrases", "Sequences of words that stand for one word.")
        .def(nb::init<>())
        .def("__len__", &text::Phrases::size)
        .def(
            "__contains__",
            [](const text::Phrases& self, const nb::str& word) {
                nb::object owner;
                return self.has_name(utf8(word, owner));
            },
            "word"_a, "Whether a sequence has this name.")
        .def(
            "add_texts",
            [](text::Phrases& self, const nb::list& names, bool lowercase) {
                text::Tokenizer split(lowercase);
                for (nb::handle name : names) {
                    nb::object owner;
                    const std::string_view text = utf8(name, owner);
                    self.add(split(text), text);
                }
            },
            "names"_a, "lowercase"_a, "Let the words of each name stand for it.",
            nb::sig("def add_texts(self, names: list[str], lowercase: bool) -> None"))
        .def(
            "add_words",
            [](text::Phrases& self, const nb::list& words, const nb::str& name) {
                std::vector<nb::object> owners(words.size() + 1);
                std::vector<std::string_view> sequence;
                for (std::size_t i = 0; i < words.size(); ++i)
                    sequence.push_back(utf8(words[i], owners[i]));
                self.add(sequence, utf8(name, owners.back()));
            },
            "words"_a, "name"_a, "Let these words, side by side, stand for `name`.",
            nb::sig("def add_words(self, words: list[str], name: str) -> None"))
        .def(
            "join",
            [](const text::Phrases& self, const text::Tokens& tokens, text::WordTable& words) {
                check_words(words.size(), words_of(tokens.ids), "words");
                return self.join(tokens, words);
            },
            "tokens"_a, "words"_a, "Replace sequences by their names, which are added to `words`.");
}

} // namespace textkin::bindings
