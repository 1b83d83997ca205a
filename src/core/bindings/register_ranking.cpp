#include "bindings.h"
#include "views.h"

#include "textkin/term_search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

CountFormula count_formula(std::string_view name) {
    if (name == "count") return CountFormula::count;
    if (name == "binary") return CountFormula::binary;
    if (name == "log") return CountFormula::log;
    if (name == "bm25") return CountFormula::saturated;
    throw nb::value_error("tf must be 'count', 'binary', 'log' or 'bm25'.");
}

RowNorm row_norm(std::string_view name) {
    if (name == "none") return RowNorm::none;
    if (name == "max") return RowNorm::largest_count;
    if (name == "l1") return RowNorm::l1;
    if (name == "l2") return RowNorm::l2;
    throw nb::value_error("norm must be 'none', 'max', 'l1' or 'l2'.");
}

TermSearchMethod search_method(std::string_view name) {
    if (name == "auto") return TermSearchMethod::automatic;
    if (name == "pruned") return TermSearchMethod::pruned;
    if (name == "dense") return TermSearchMethod::dense;
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

    [[nodiscard]] CountedPart view_of() const {
        return {{view(indptr), view(indices), 0},
                view(counts),
                view(terms),
                view(term_offsets),
                view(posting_rows),
                view(posting_counts)};
    }
};

void check(const Part& part, std::int64_t n_words) {
    CountedPart looked_at = part.view_of();
    if (n_words < 0 || n_words > std::numeric_limits<std::int32_t>::max())
        throw nb::value_error("n_words must be at least 0 and below 2^31.");
    looked_at.rows.n_columns = static_cast<std::size_t>(n_words);
    run(0, nb::none(), [&](Stop& stop) { looked_at.check(stop); });
}

struct Searcher {
    std::vector<Part> parts; // whose memory the search uses
    std::optional<TermSearch> search;

    Searcher(const nb::list& parts_, const Array1<std::uint8_t>& live,
             const Array1<double>& word_weights, const std::string& tf, const std::string& norm,
             double k1, double b, double average_length) {
        std::vector<CountedPart> views;
        for (const nb::handle part : parts_) parts.push_back(nb::cast<Part>(part));
        for (const Part& part : parts) views.push_back(part.view_of());
        const auto weights = view(word_weights);
        WeightFormula formula{count_formula(tf),
                              row_norm(norm),
                              k1,
                              b,
                              average_length,
                              {weights.begin(), weights.end()}};
        run(0, nb::none(), [&](Stop& stop) {
            search.emplace(std::move(views), view(live), std::move(formula), stop);
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
        std::vector<QueryWord> query(numbers.size());
        for (std::size_t i = 0; i < query.size(); ++i) query[i] = {numbers[i], values[i]};
        const TermSearchMethod method = search_method(algorithm);
        const auto rows_allowed = allowed ? view(*allowed) : std::span<const std::uint8_t>{};
        if (allowed && rows_allowed.size() != search->size())
            throw nb::value_error("allowed must have a value for each row.");
        std::vector<FoundRow> found;
        TermSearchCounts counts;
        run(0, nb::none(), [&](Stop& stop) {
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

} // namespace

void register_ranking(nb::module_& module) {
    nb::class_<Part>(module, "CountedPart",
                     "Documents counted in rows, and the same turned by word; the arrays are kept.")
        .def(nb::init<Array1<std::int64_t>, Array1<std::int32_t>, Array1<float>,
                      Array1<std::int32_t>, Array1<std::int64_t>, Array1<std::int32_t>,
                      Array1<std::uint32_t>>(),
             "indptr"_a.noconvert(), "indices"_a.noconvert(), "counts"_a.noconvert(),
             "terms"_a.noconvert(), "term_offsets"_a.noconvert(), "posting_rows"_a.noconvert(),
             "posting_counts"_a.noconvert())
        .def("check", &check, "n_words"_a,
             "Refuse arrays whose offsets, rows, words or counts cannot be used without harm. "
             "Whether the postings are those of the rows is not looked at.");

    nb::class_<Searcher>(
        module, "TermSearch",
        "The best documents by the words that they share with a query.\n\n"
        "A word with the count n weighs g(n) word_weights[word] in a document, divided by the "
        "norm of the document; g(n) is n, 1, 1 + ln n, or the saturated count of BM25. Rows are "
        "counted through all parts; those that are 0 in `live` are never found. Parts that cannot "
        "be used are a ValueError, as in `CountedPart.check`.")
        .def(nb::init<const nb::list&, const Array1<std::uint8_t>&, const Array1<double>&,
                      const std::string&, const std::string&, double, double, double>(),
             "parts"_a, "live"_a.noconvert(), "word_weights"_a.noconvert(), "tf"_a, "norm"_a,
             "k1"_a, "b"_a, "average_length"_a,
             nb::sig("def __init__(self, parts: list[CountedPart], "
                     "live: numpy.typing.NDArray[numpy.uint8], "
                     "word_weights: numpy.typing.NDArray[numpy.float64], tf: str, norm: str, "
                     "k1: float, b: float, average_length: float) -> None"))
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
