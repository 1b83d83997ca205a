#include "bindings/bindings.h"

#include "kernels/kernels.h"
#include "search/search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace textkin::bindings {
namespace {

using namespace nb::literals;
using Table = Array2<float>;
using AnyCounts = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Mask = Array1<std::uint8_t>;

search::Algorithm algorithm_named(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, search::Algorithm>, 7> names{{
        {"auto", search::Algorithm::automatic},
        {"prefetch", search::Algorithm::prefetch},
        {"brute", search::Algorithm::brute},
        {"wcd", search::Algorithm::centroid},
        {"rwmd", search::Algorithm::relaxed},
        {"rwmd-query", search::Algorithm::relaxed_query},
        {"rwmd-document", search::Algorithm::relaxed_document},
    }};
    for (const auto& [known, algorithm] : names)
        if (known == name) return algorithm;
    throw nb::value_error("algorithm must be 'auto', 'prefetch', 'brute', 'wcd', 'rwmd', "
                          "'rwmd-query' or 'rwmd-document'.");
}

// A searcher with the arrays that it looks into.
class BoundSearcher {
  public:
    BoundSearcher(const Table& table, const std::string& cost, const nb::list& blocks,
                  std::size_t columns, const std::optional<Array1<std::int32_t>>& column_words,
                  const std::optional<Array1<double>>& column_weights)
        : table_(table), words_(column_words), weights_(column_weights) {
        static_cast<void>(
            kernels::kernels()); // throws if TEXTKIN_SIMD is invalid before threads start
        search::Columns meaning{columns, {}, {}};
        if (words_) meaning.words = view(*words_);
        if (weights_) meaning.weights = view(*weights_);
        std::vector<search::Block> views;
        for (const nb::handle block : blocks) views.push_back(hold(block));
        const search::Space space{{table.data(), table.shape(0), table.shape(1)}, cost_named(cost)};
        run(0, nb::none(), [&](base::Stop& stop) {
            corpus_ =
                std::make_unique<search::Corpus>(std::move(views), meaning, table.shape(0), &stop);
            searcher_ = std::make_unique<search::Searcher>(space, *corpus_);
        });
    }

    [[nodiscard]] const search::Corpus& corpus() const { return *corpus_; }
    [[nodiscard]] const search::Searcher& searcher() const { return *searcher_; }
    [[nodiscard]] const Table& table() const { return table_; }

  private:
    Table table_;
    std::optional<Array1<std::int32_t>> words_;
    std::optional<Array1<double>> weights_;
    nb::list held_;
    std::unique_ptr<search::Corpus> corpus_;
    std::unique_ptr<search::Searcher> searcher_;

    search::Block hold(nb::handle block) {
        held_.append(block);
        const auto parts = nb::cast<nb::tuple>(block);
        if (parts.size() != 4)
            throw nb::value_error("A block must be (indptr, columns, counts, live or None).");
        const auto indptr = nb::cast<Array1<std::int64_t>>(parts[0], false);
        const auto columns = nb::cast<Array1<std::int32_t>>(parts[1], false);
        const auto counts = nb::cast<AnyCounts>(parts[2], false);
        std::span<const std::uint8_t> live;
        if (!parts[3].is_none()) live = view(nb::cast<Mask>(parts[3], false));
        if (counts.dtype() == nb::dtype<float>())
            return {view(indptr), view(columns),
                    std::span(static_cast<const float*>(counts.data()), counts.size()), live};
        if (counts.dtype() == nb::dtype<double>())
            return {view(indptr), view(columns),
                    std::span(static_cast<const double*>(counts.data()), counts.size()), live};
        throw nb::value_error("Counts must be float32 or float64.");
    }
};

template <class Number>
std::span<const Number> checked(const std::optional<Array1<Number>>& array, std::size_t size,
                                const char* name) {
    if (!array) return {};
    if (array->size() != size)
        throw nb::value_error((std::string(name) + " must have " + std::to_string(size) +
                               " values; got " + std::to_string(array->size()) + ".")
                                  .c_str());
    return view(*array);
}

// The memory of the tables of a search whose `memory` may be 0, for the default.
std::size_t table_memory(std::uint64_t memory) {
    return memory > 0 ? static_cast<std::size_t>(memory) : search::SearchOptions{}.memory;
}

void check_candidates(const search::Corpus& corpus, const search::Candidates& candidates) {
    const auto rows = static_cast<std::int64_t>(candidates.rows.size());
    const auto& starts = candidates.starts;
    bool sound = starts.front() == 0 && starts.back() == rows;
    for (std::size_t q = 0; sound && q + 1 < starts.size(); ++q) sound = starts[q] <= starts[q + 1];
    if (!sound) throw nb::value_error("starts must ascend from 0 to the number of candidates.");
    for (std::size_t q = 0; q + 1 < starts.size(); ++q)
        for (std::int64_t c = starts[q] + 1; c < starts[q + 1]; ++c)
            if (candidates.bounds[static_cast<std::size_t>(c)] <
                candidates.bounds[static_cast<std::size_t>(c) - 1])
                throw nb::value_error("bounds must ascend for each query.");
    for (const std::int64_t row : candidates.rows)
        if (row < 0 || row >= static_cast<std::int64_t>(corpus.size()) ||
            corpus.total(static_cast<std::size_t>(row)) == 0)
            throw nb::value_error("rows must be documents of the corpus that have words.");
}

// Hits of given candidates as the rows of a CSR matrix, and how many distances were computed.
nb::tuple solve(const BoundSearcher& self, const transport::Documents& queries,
                const Array1<std::int64_t>& numbers, const Array1<std::int64_t>& starts,
                const Array1<std::int64_t>& rows, const Array1<double>& bounds,
                const std::optional<std::size_t>& k, const Array1<double>& limits,
                std::uint64_t memory, unsigned threads, const nb::object& progress) {
    const auto sized = [](const auto& array, std::size_t size, const char* name) {
        if (array.size() != size)
            throw nb::value_error((std::string(name) + " must have " + std::to_string(size) +
                                   " values; got " + std::to_string(array.size()) + ".")
                                      .c_str());
        return view(array);
    };
    const search::Candidates candidates{view(numbers), sized(starts, numbers.size() + 1, "starts"),
                                        view(rows), sized(bounds, rows.size(), "bounds"),
                                        sized(limits, numbers.size(), "limits")};
    check_candidates(self.corpus(), candidates);
    for (std::size_t q = 0; q < numbers.size(); ++q) {
        const auto number = static_cast<std::size_t>(candidates.queries[q]);
        if (number >= queries.size()) throw nb::value_error("numbers must be those of queries.");
        if (candidates.starts[q] == candidates.starts[q + 1]) continue;
        if (queries[number].empty() ||
            static_cast<std::size_t>(queries[number].words.back()) >= self.table().shape(0))
            throw nb::value_error("A query with candidates must have words that have vectors.");
    }
    std::vector<std::vector<search::Hit>> found;
    std::vector<std::int64_t> solved;
    const auto work = [&](base::Stop& stop) {
        self.searcher().solve(queries, candidates, k.value_or(search::SearchOptions{}.k), threads,
                              stop, found, solved);
    };
    run(numbers.size(), progress, work, memory);
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int64_t> hit_rows;
    std::vector<double> distances;
    for (const std::vector<search::Hit>& hits : found) {
        for (const search::Hit& hit : hits) {
            hit_rows.push_back(hit.row);
            distances.push_back(hit.distance);
        }
        indptr.push_back(static_cast<std::int64_t>(hit_rows.size()));
    }
    const std::size_t count = indptr.size();
    const std::size_t hits = hit_rows.size();
    return nb::make_tuple(to_numpy(std::move(indptr), count), to_numpy(std::move(hit_rows), hits),
                          to_numpy(std::move(distances), hits),
                          to_numpy(std::move(solved), count - 1));
}

// Hits as the rows of a CSR matrix, the counts and the seconds of each query, and where asked for
// verdicts and values of each document.
nb::tuple search(const BoundSearcher& self, const transport::Documents& queries,
                 const std::optional<Table>& points, const std::optional<std::size_t>& k,
                 const std::variant<double, Array1<double>>& radius, const std::string& algorithm,
                 const std::optional<std::size_t>& m, const std::optional<Mask>& mask,
                 const std::optional<Array1<std::int64_t>>& without,
                 const std::optional<Array1<std::int64_t>>& from, std::uint64_t tables,
                 std::uint64_t memory, unsigned threads, bool record, const nb::object& progress) {
    const std::size_t documents = self.corpus().size();
    std::size_t beyond = self.table().shape(0);
    if (points) {
        if (points->shape(1) != self.table().shape(1))
            throw nb::value_error("Points must have as many numbers as the vectors.");
        beyond += points->shape(0);
    }
    for (std::size_t row = 0; row < queries.size(); ++row)
        if (!queries[row].empty() && static_cast<std::size_t>(queries[row].words.back()) >= beyond)
            throw nb::value_error("The queries name words beyond the last vector.");
    search::SearchOptions options;
    options.algorithm = algorithm_named(algorithm);
    if (k) options.k = *k;
    if (m) options.m = *m;
    if (const double* one = std::get_if<double>(&radius))
        options.radius = *one;
    else
        options.radii = checked(std::optional(std::get<1>(radius)), queries.size(), "radius");
    options.mask = checked(mask, documents, "mask");
    options.without = checked(without, queries.size(), "without");
    options.from = checked(from, queries.size(), "from");
    options.memory = table_memory(tables);
    options.threads = threads;
    search::SearchResult found;
    const auto work = [&](base::Stop& stop) {
        self.searcher().search(queries, points ? points->data() : nullptr, options, record, stop,
                               found);
    };
    run(queries.size(), progress, work, memory);

    std::vector<std::int64_t> indptr{0};
    std::vector<std::int64_t> rows;
    std::vector<double> distances;
    std::vector<std::int64_t> counts;
    std::vector<double> seconds;
    for (std::size_t q = 0; q < queries.size(); ++q) {
        for (const search::Hit& hit : found.hits[q]) {
            rows.push_back(hit.row);
            distances.push_back(hit.distance);
        }
        indptr.push_back(static_cast<std::int64_t>(rows.size()));
        const search::QueryStats& stats = found.stats[q];
        counts.insert(counts.end(), std::begin(stats.verdicts), std::end(stats.verdicts));
        counts.push_back(stats.refined);
        seconds.insert(seconds.end(), std::begin(stats.seconds), std::end(stats.seconds));
    }
    const std::size_t starts = indptr.size();
    const std::size_t hits = rows.size();
    const std::size_t recorded = record ? queries.size() : 0;
    return nb::make_tuple(to_numpy(std::move(indptr), starts), to_numpy(std::move(rows), hits),
                          to_numpy(std::move(distances), hits),
                          to_numpy(std::move(counts), queries.size(), search::kVerdicts + 1),
                          to_numpy(std::move(seconds), queries.size(), search::kStages),
                          to_numpy(std::move(found.verdicts), recorded, documents),
                          to_numpy(std::move(found.values), recorded, documents));
}

} // namespace

void register_search(nb::module_& module) {
    nb::class_<BoundSearcher> searcher(
        module, "Searcher", "Blocks of documents, ready to be searched. Keeps the arrays alive.");
    searcher
        .def(nb::init<const Table&, const std::string&, const nb::list&, std::size_t,
                      const std::optional<Array1<std::int32_t>>&,
                      const std::optional<Array1<double>>&>(),
             "table"_a.noconvert(), "cost"_a, "blocks"_a, "columns"_a,
             "column_words"_a.noconvert().none(), "column_weights"_a.noconvert().none(),
             nb::sig("def __init__(self, table: NDArray[numpy.float32], cost: str, "
                     "blocks: list[tuple[NDArray[numpy.int64], NDArray[numpy.int32], "
                     "NDArray[numpy.float32] | NDArray[numpy.float64], "
                     "NDArray[numpy.uint8] | None]], columns: int, "
                     "column_words: NDArray[numpy.int32] | None, "
                     "column_weights: NDArray[numpy.float64] | None) -> None"))
        .def("__len__", [](const BoundSearcher& self) { return self.corpus().size(); })
        .def(
            "empty_rows",
            [](const BoundSearcher& self) {
                std::vector<std::int64_t> rows;
                for (std::size_t row = 0; row < self.corpus().size(); ++row)
                    if (self.corpus().total(row) == 0 && self.corpus().is_live(row))
                        rows.push_back(static_cast<std::int64_t>(row));
                const std::size_t count = rows.size();
                return to_numpy(std::move(rows), count);
            },
            "Live rows without any word.")
        .def(
            "prepare",
            [](const BoundSearcher& self, std::uint64_t memory) {
                run(0, nb::none(),
                    [&](base::Stop& stop) { self.searcher().prepare(table_memory(memory), stop); });
            },
            "memory"_a, "Do what the first search with this `memory` would have to do first.")
        .def("search", &search, "queries"_a, "points"_a.noconvert().none(), "k"_a.none(),
             "radius"_a, "algorithm"_a, "m"_a.none(), "mask"_a.noconvert().none(),
             "without"_a.noconvert().none(), "from_row"_a.noconvert().none(), "table_memory"_a,
             "memory"_a, "threads"_a, "record"_a, "progress"_a.none(),
             nb::sig("def search(self, queries: Documents, points: NDArray[numpy.float32] | None, "
                     "k: int | None, radius: float | NDArray[numpy.float64], algorithm: str, m: "
                     "int | None, "
                     "mask: NDArray[numpy.uint8] | None, without: NDArray[numpy.int64] | None, "
                     "from_row: NDArray[numpy.int64] | None, table_memory: int, memory: int, "
                     "threads: int, record: bool, progress: object | None) -> "
                     "tuple[NDArray[numpy.int64], "
                     "NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64], "
                     "NDArray[numpy.float64], NDArray[numpy.uint8], NDArray[numpy.float64]]"),
             "The nearest documents of each query: starts, rows and distances of the hits, counts "
             "by verdict (and refined), seconds by stage, and recorded verdicts and values. "
             "`table_memory` limits the bytes of the tables of the search (0: TABLE_MEMORY), and "
             "`memory` those of the transport problems that the threads solve at the same time (0: "
             "half of the memory of the machine or of the cgroup).");
    searcher.def(
        "solve", &solve, "queries"_a, "numbers"_a.noconvert(), "starts"_a.noconvert(),
        "rows"_a.noconvert(), "bounds"_a.noconvert(), "k"_a.none(), "limits"_a.noconvert(),
        "memory"_a, "threads"_a, "progress"_a.none(),
        nb::sig("def solve(self, queries: Documents, numbers: NDArray[numpy.int64], "
                "starts: NDArray[numpy.int64], "
                "rows: NDArray[numpy.int64], bounds: NDArray[numpy.float64], k: int | None, "
                "limits: NDArray[numpy.float64], memory: int, threads: int, "
                "progress: object | None) -> "
                "tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], "
                "NDArray[numpy.int64]]"),
        "The nearest of candidates of some queries, whose bounds ascend for each: starts, rows and "
        "distances of the hits, and how many distances that took. `memory` limits the transport "
        "problems as in `search`.");
    module.attr("TABLE_MEMORY") = search::SearchOptions{}.memory;
    const auto names = [](auto... name) { return nb::make_tuple(name...); };
    module.attr("VERDICTS") = names("left_out", "empty", "solved", "document_side", "refined",
                                    "relaxed", "centroid", "not_reached");
    module.attr("STAGES") = names("table", "bound", "order", "refine", "solve");
}

} // namespace textkin::bindings
