#include "bindings/array_views.h"
#include "bindings/bindings.h"

#include "ranking/term_search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

ranking::CountFormula count_formula(std::string_view name) {
    if (name == "count") return ranking::CountFormula::count;
    if (name == "binary") return ranking::CountFormula::binary;
    if (name == "log") return ranking::CountFormula::log;
    if (name == "bm25") return ranking::CountFormula::saturated;
    throw nb::value_error("tf must be 'count', 'binary', 'log' or 'bm25'.");
}

ranking::RowNorm row_norm(std::string_view name) {
    if (name == "none") return ranking::RowNorm::none;
    if (name == "max") return ranking::RowNorm::largest_count;
    if (name == "l1") return ranking::RowNorm::l1;
    if (name == "l2") return ranking::RowNorm::l2;
    throw nb::value_error("norm must be 'none', 'max', 'l1' or 'l2'.");
}

ranking::TermSearchMethod search_method(std::string_view name) {
    if (name == "auto") return ranking::TermSearchMethod::automatic;
    if (name == "pruned") return ranking::TermSearchMethod::pruned;
    if (name == "dense") return ranking::TermSearchMethod::dense;
    throw nb::value_error("algorithm must be 'auto', 'pruned' or 'dense'.");
}

// The documents of a part, with the arrays that it lies in.
struct Part {
    Array1<std::int64_t> indptr;
    Array1<std::int32_t> indices;
    Array1<float> counts;
    Array1<std::int32_t> terms;
    Array1<std::int64_t> term_offsets;
    Array1<std::int32_t> posting_rows;
    Array1<std::uint32_t> posting_counts;
    std::size_t checked_columns = 0;

    [[nodiscard]] ranking::CountMatrix view_of() const {
        return {{view(indptr), view(indices), 0},
                view(counts),
                view(terms),
                view(term_offsets),
                view(posting_rows),
                view(posting_counts),
                checked_columns};
    }
};

void check(Part& part, std::int64_t n_words) {
    ranking::CountMatrix looked_at = part.view_of();
    if (n_words < 0 || n_words > std::numeric_limits<std::int32_t>::max())
        throw nb::value_error("n_words must be at least 0 and below 2^31.");
    looked_at.rows.n_columns = static_cast<std::size_t>(n_words);
    looked_at.checked_columns = 0;
    run(0, nb::none(), [&](base::Stop& stop) { looked_at.check(stop); });
    part.checked_columns = static_cast<std::size_t>(n_words);
}

struct Searcher {
    std::vector<Part> parts; // whose memory the search uses
    nb::object map;          // which the search uses
    std::optional<ranking::TermSearch> search;

    Searcher(const nb::list& parts_, const Array1<std::uint8_t>& live,
             const Array1<double>& word_weights, const std::string& tf, const std::string& norm,
             double k1, double b, double average_length, const nb::object& terms)
        : map(terms) {
        const ranking::TermMap* const used =
            terms.is_none() ? nullptr : nb::cast<const ranking::TermMap*>(terms);
        std::vector<ranking::CountMatrix> views;
        for (const nb::handle part : parts_) parts.push_back(nb::cast<Part>(part));
        for (const Part& part : parts) views.push_back(part.view_of());
        const auto weights = view(word_weights);
        ranking::WeightFormula formula{count_formula(tf),
                                       row_norm(norm),
                                       k1,
                                       b,
                                       average_length,
                                       {weights.begin(), weights.end()}};
        run(0, nb::none(), [&](base::Stop& stop) {
            search.emplace(std::move(views), view(live), std::move(formula), stop, used);
        });
    }

    nb::tuple best(const View<std::int32_t, 1>& words, const View<double, 1>& weights,
                   std::size_t k, std::optional<double> threshold,
                   const std::optional<Array1<std::uint8_t>>& allowed,
                   const std::string& algorithm) const {
        const auto numbers = words.numbers();
        const auto values = weights.numbers();
        if (numbers.size() != values.size())
            throw nb::value_error("words and weights must be as many.");
        std::vector<ranking::QueryWord> query(numbers.size());
        for (std::size_t i = 0; i < query.size(); ++i) query[i] = {numbers[i], values[i]};
        const ranking::TermSearchMethod method = search_method(algorithm);
        const auto rows_allowed = allowed ? view(*allowed) : std::span<const std::uint8_t>{};
        if (allowed && rows_allowed.size() != search->size())
            throw nb::value_error("allowed must have a value for each row.");
        std::vector<ranking::FoundRow> found;
        ranking::TermSearchCounts counts;
        run(0, nb::none(), [&](base::Stop& stop) {
            counts =
                search->best(query, k, threshold.value_or(-std::numeric_limits<double>::infinity()),
                             rows_allowed, method, found, stop);
        });
        std::vector<std::int64_t> rows(found.size());
        std::vector<double> scores(found.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            rows[i] = found[i].row;
            scores[i] = found[i].score;
        }
        const std::size_t size = found.size();
        return nb::make_tuple(to_numpy(std::move(rows), size), to_numpy(std::move(scores), size),
                              counts.postings, counts.touched, counts.scored);
    }

    nb::tuple words_of(std::size_t row) const {
        if (row >= search->size()) throw nb::index_error("row is beyond the last one.");
        std::vector<std::int32_t> words;
        std::vector<double> weights;
        search->words_of(row, words, weights);
        const std::size_t size = words.size();
        return nb::make_tuple(to_numpy(std::move(words), size), to_numpy(std::move(weights), size));
    }
};

auto words_of_term(const ranking::TermMap& map, std::int32_t term) {
    if (term < 0 || static_cast<std::size_t>(term) >= map.n_terms())
        throw nb::index_error("term must be at least 0 and below the number of terms.");
    const auto words = map.words_of(term);
    std::vector<std::int32_t> copied(words.begin(), words.end());
    return to_numpy(std::move(copied), words.size());
}

nb::tuple measure(const ranking::TermMap& map, const nb::list& parts,
                  const Array1<std::uint8_t>& live) {
    std::vector<Part> kept;
    std::vector<ranking::CountMatrix> views;
    for (const nb::handle part : parts) kept.push_back(nb::cast<Part>(part));
    for (const Part& part : kept) views.push_back(part.view_of());
    ranking::TermStatistics found;
    run(0, nb::none(), [&](base::Stop& stop) {
        found = ranking::measure_terms(std::move(views), map, view(live), stop);
    });
    const std::size_t size = found.frequencies.size();
    return nb::make_tuple(to_numpy(std::move(found.frequencies), size), found.tokens);
}

} // namespace

void register_ranking(nb::module_& module) {
    nb::class_<Part>(
        module, "CountMatrix",
        "Documents counted in rows, and the same transposed by word; the arrays are kept.")
        .def(nb::init<Array1<std::int64_t>, Array1<std::int32_t>, Array1<float>,
                      Array1<std::int32_t>, Array1<std::int64_t>, Array1<std::int32_t>,
                      Array1<std::uint32_t>>(),
             "indptr"_a.noconvert(), "indices"_a.noconvert(), "counts"_a.noconvert(),
             "terms"_a.noconvert(), "term_offsets"_a.noconvert(), "posting_rows"_a.noconvert(),
             "posting_counts"_a.noconvert())
        .def("check", &check, "n_words"_a,
             "Refuse arrays whose offsets, rows, words or counts cannot be used without harm. "
             "Whether the postings are those of the rows is not looked at.");

    nb::class_<ranking::TermMap>(module, "TermMap",
                                 "Terms of words: forms of a word share a term, and stop words "
                                 "have none.")
        .def(
            "__init__",
            [](ranking::TermMap* self, const View<std::int32_t, 1>& term_of, std::size_t n_terms) {
                new (self) ranking::TermMap(term_of.numbers(), n_terms);
            },
            "term_of"_a.noconvert(), "n_terms"_a,
            nb::sig("def __init__(self, term_of: numpy.typing.NDArray[numpy.int32], n_terms: int) "
                    "-> None"))
        .def("words_of", &words_of_term, "term"_a, "The words of a term, ascending.",
             nb::sig("def words_of(self, term: int) -> numpy.typing.NDArray[numpy.int32]"))
        .def("measure", &measure, "parts"_a, "live"_a.noconvert(),
             "The number of live documents that contain each term, and the number of their tokens "
             "that have a term.",
             nb::sig("def measure(self, parts: list[CountMatrix], "
                     "live: numpy.typing.NDArray[numpy.uint8]) "
                     "-> tuple[numpy.typing.NDArray[numpy.int64], int]"));

    nb::class_<Searcher>(
        module, "TermSearch",
        "The best documents by the words that they share with a query.\n\n"
        "A word with the count n weighs g(n) word_weights[word] in a document, divided by the "
        "norm of the document; g(n) is n, 1, 1 + ln n, or the saturated count of BM25. Rows are "
        "counted through all parts; those that are 0 in `live` are never found. Parts that cannot "
        "be used are a ValueError, as in `CountMatrix.check`.\n\n"
        "With a TermMap, weights are weights of terms, counts of the words of a term are added "
        "before they are weighted, and queries and results have terms instead of words.")
        .def(nb::init<const nb::list&, const Array1<std::uint8_t>&, const Array1<double>&,
                      const std::string&, const std::string&, double, double, double,
                      const nb::object&>(),
             "parts"_a, "live"_a.noconvert(), "word_weights"_a.noconvert(), "tf"_a, "norm"_a,
             "k1"_a, "b"_a, "average_length"_a, "terms"_a.none() = nb::none(),
             nb::sig("def __init__(self, parts: list[CountMatrix], "
                     "live: numpy.typing.NDArray[numpy.uint8], "
                     "word_weights: numpy.typing.NDArray[numpy.float64], tf: str, norm: str, "
                     "k1: float, b: float, average_length: float, terms: TermMap | None = None) "
                     "-> None"))
        .def("best", &Searcher::best, "words"_a.noconvert(), "weights"_a.noconvert(), "k"_a,
             "threshold"_a.none() = nb::none(), "allowed"_a.noconvert().none() = nb::none(),
             "algorithm"_a = "auto",
             "The k rows with the largest scores above 0 that are not below the threshold, of "
             "equals the first ones; their scores; and how many postings the words have, how many "
             "of them were added up, and of how many documents the score was computed.",
             nb::sig("def best(self, words: numpy.typing.NDArray[numpy.int32], "
                     "weights: numpy.typing.NDArray[numpy.float64], k: int, "
                     "threshold: float | None = None, "
                     "allowed: numpy.typing.NDArray[numpy.uint8] | None = None, "
                     "algorithm: str = 'auto') -> tuple[numpy.typing.NDArray[numpy.int64], "
                     "numpy.typing.NDArray[numpy.float64], int, int, int]"))
        .def("words_of", &Searcher::words_of, "row"_a,
             "The words of a row, ascending, and what they weigh.",
             nb::sig("def words_of(self, row: int) -> tuple[numpy.typing.NDArray[numpy.int32], "
                     "numpy.typing.NDArray[numpy.float64]]"));
}

} // namespace textkin::bindings
