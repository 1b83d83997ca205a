#include "bindings/bindings.h"

#include "store/packed_counts.h"
#include "store/packed_words.h"
#include "store/postings.h"

#include <algorithm>
#include <limits>
#include <string>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

// Words and columns are numbered in 32 bits.
std::size_t checked_count(std::int64_t count, const char* name) {
    if (count < 0 || count > std::numeric_limits<std::int32_t>::max()) {
        const std::string message = std::string(name) + " must be at least 0 and below 2^31; got " +
                                    std::to_string(count) + ".";
        throw nb::value_error(message.c_str());
    }
    return static_cast<std::size_t>(count);
}

[[noreturn]] void refuse_item(const char* expected, std::size_t position, nb::handle item) {
    const std::string message = std::string(expected) + "; position " + std::to_string(position) +
                                " holds " + nb::type_name(item.type()).c_str() + ".";
    throw nb::type_error(message.c_str());
}

// Packed counts of rows, kept alive: the list may change while others run.
struct Blobs {
    std::vector<nb::object> owners;
    std::vector<std::string_view> views;

    explicit Blobs(const nb::list& blobs) : owners(blobs.size()), views(blobs.size()) {
        for (std::size_t row = 0; row < views.size(); ++row) {
            owners[row] = blobs[row];
            char* bytes = nullptr;
            Py_ssize_t size = 0;
            if (!PyBytes_Check(owners[row].ptr()))
                refuse_item("blobs must hold bytes", row, owners[row]);
            if (PyBytes_AsStringAndSize(owners[row].ptr(), &bytes, &size) != 0)
                throw nb::python_error();
            views[row] = {bytes, static_cast<std::size_t>(size)};
        }
    }
};

nb::list renumber_counts(const nb::list& blobs, const Array1<std::int32_t>& number_of) {
    const Blobs given(blobs);
    store::PackedCounts all;
    run(given.views.size(), nb::none(),
        [&](base::Stop& stop) { all = store::renumbered(given.views, view(number_of), stop); });
    nb::list out;
    for (std::size_t row = 0; row < all.size(); ++row)
        out.append(nb::bytes(all[row].data(), all[row].size()));
    return out;
}

nb::tuple unpack_counts(const nb::list& blobs, std::int64_t n_words) {
    const std::size_t words = checked_count(n_words, "n_words");
    const Blobs given(blobs);
    const std::size_t rows = given.views.size();
    store::UnpackedCounts all;
    run(rows, nb::none(),
        [&](base::Stop& stop) { all = store::unpacked(given.views, words, stop); });
    const std::size_t entries = all.keys.size();
    return nb::make_tuple(
        to_numpy(std::move(all.offsets), rows + 1), to_numpy(std::move(all.keys), entries),
        to_numpy(std::move(all.counts), entries), to_numpy(std::move(all.lengths), rows));
}

template <class Number> auto whole(base::UninitializedVector<Number>&& numbers) {
    const std::size_t size = numbers.size();
    return to_numpy(std::move(numbers), size);
}

nb::tuple inverted(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
                   const Array1<float>& counts, const Array1<std::int64_t>& lengths,
                   std::int64_t n_words) {
    const store::SortedRows rows{view(indptr), view(indices), checked_count(n_words, "n_words")};
    store::Postings all;
    run(0, nb::none(),
        [&](base::Stop& stop) { all = store::invert(rows, view(counts), view(lengths), stop); });
    return nb::make_tuple(whole(std::move(all.terms)), whole(std::move(all.offsets)),
                          whole(std::move(all.rows)), whole(std::move(all.counts)),
                          whole(std::move(all.block_offsets)), whole(std::move(all.block_counts)),
                          whole(std::move(all.block_lengths)));
}

void check_rows(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
                std::int64_t n_columns) {
    const store::SortedRows rows{view(indptr), view(indices),
                                 checked_count(n_columns, "n_columns")};
    run(0, nb::none(), [&](base::Stop& stop) { rows.check(stop); });
}

// Keeps the arrays whose words it finds.
struct MappedWords {
    Array1<std::uint8_t> bytes;
    Array1<std::int64_t> offsets;
    Array1<std::int32_t> slots;
    store::PackedWords words;

    MappedWords(Array1<std::uint8_t> bytes_, Array1<std::int64_t> offsets_,
                Array1<std::int32_t> slots_)
        : bytes(std::move(bytes_)), offsets(std::move(offsets_)), slots(std::move(slots_)),
          words({bytes_of(bytes), view(offsets)}, view(slots)) {}
};

auto find(const MappedWords& self, const nb::list& words) {
    std::vector<std::int32_t> numbers(words.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const nb::object word = words[i];
        if (!PyUnicode_Check(word.ptr())) refuse_item("words must hold str", i, word);
        nb::object owner;
        numbers[i] = self.words.find(utf8(word, owner));
    }
    const std::size_t count = numbers.size();
    return to_numpy(std::move(numbers), count);
}

nb::list words(const MappedWords& self, std::size_t start, std::size_t stop) {
    stop = std::min(stop, self.words.size());
    start = std::min(start, stop);
    return to_list(stop - start, [&](std::size_t i) { return self.words[start + i]; });
}

auto slots_of(const Array1<std::uint8_t>& bytes, const Array1<std::int64_t>& offsets) {
    std::vector<std::int32_t> slots;
    run(0, nb::none(), [&](base::Stop& stop) {
        slots = store::PackedWords::slots_of({bytes_of(bytes), view(offsets)}, stop);
    });
    const std::size_t count = slots.size();
    return to_numpy(std::move(slots), count);
}

} // namespace

void register_store(nb::module_& module) {
    module.def("renumber_counts", &renumber_counts, "blobs"_a, "number_of"_a.noconvert(),
               "Packed counts of the same documents with other numbers for their words.",
               nb::sig("def renumber_counts(blobs: list[bytes], "
                       "number_of: NDArray[numpy.int32]) -> list[bytes]"));
    module.def(
        "unpack_counts", &unpack_counts, "blobs"_a, "n_words"_a,
        "CSR arrays (offsets, keys, counts) and lengths of what `WordCounts.packed` made.\n\n"
        "Each document is its words in order: LEB128 of (gap << 1 | repeated), the gap being "
        "the number of words between this one and the one before, and of (count - 2) where "
        "repeated is 1. Damaged bytes are a ValueError that names the row.",
        nb::sig("def unpack_counts(blobs: list[bytes], n_words: int) -> tuple["
                "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], "
                "numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.int64]]"));

    module.attr("POSTING_BLOCK") = store::kPostingBlock;
    module.def("check_rows", &check_rows, "indptr"_a.noconvert(), "indices"_a.noconvert(),
               "n_columns"_a,
               "Refuse CSR arrays whose `indptr` decreases or does not go from 0 to the number of "
               "indices, or whose indices do not ascend in a row or are not below `n_columns`.");
    module.def(
        "invert", &inverted, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "counts"_a.noconvert(), "lengths"_a.noconvert(), "n_words"_a,
        "Postings of CSR rows: terms (those that occur), offsets, rows, tf; and of each term's "
        "blocks of POSTING_BLOCK postings the offsets, the largest tf and the smallest length of "
        "a document (2^32 - 1 where it is more).",
        nb::sig("def invert(indptr: numpy.typing.NDArray[numpy.int64], "
                "indices: numpy.typing.NDArray[numpy.int32], "
                "counts: numpy.typing.NDArray[numpy.float32], "
                "lengths: numpy.typing.NDArray[numpy.int64], n_words: int) -> tuple["
                "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64], "
                "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.uint32], "
                "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.uint32], "
                "numpy.typing.NDArray[numpy.uint32]]"));

    nb::class_<MappedWords>(module, "PackedWords",
                            "Distinct words that lie in arrays, which may be mapped files.\n\n"
                            "The arrays are kept. They may hold anything: what is wrong with them "
                            "gives wrong answers or a ValueError, and in the worst case slow ones.")
        .def(nb::init<Array1<std::uint8_t>, Array1<std::int64_t>, Array1<std::int32_t>>(),
             "bytes"_a.noconvert(), "offsets"_a.noconvert(), "slots"_a.noconvert())
        .def("__len__", [](const MappedWords& self) { return self.words.size(); })
        .def("find", &find, "words"_a, "The numbers of words; -1 for those that are not there.",
             nb::sig("def find(self, words: list[str]) -> numpy.typing.NDArray[numpy.int32]"))
        .def("words", &words, "start"_a, "stop"_a, "The words from `start` to before `stop`.",
             nb::sig("def words(self, start: int, stop: int) -> list[str]"))
        .def_static("slots_of", &slots_of, "bytes"_a.noconvert(), "offsets"_a.noconvert(),
                    "The table in which words are found. Those that are not distinct, or not "
                    "UTF-8, are a ValueError.");
}

} // namespace textkin::bindings
