#include "search/relaxed_bounds.h"

#include "base/parallel.h"
#include "base/scratch.h"
#include "kernels/padding.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>

namespace textkin::search {
namespace {

constexpr std::size_t kWordsAtOnce = 256;  // whose costs a thread computes
constexpr std::size_t kPanel = 16;         // query words that lie side by side: a line of the cache
constexpr std::size_t kMostQueries = 2048; // that share a table
constexpr std::size_t kFewestDocuments = 16; // that a thread takes
constexpr std::size_t kMostDocuments = 2048;
constexpr std::size_t kMostSums = std::size_t{1} << 20; // of its documents and all queries
constexpr auto kFar = std::numeric_limits<float>::infinity();
constexpr auto kInfinity = std::numeric_limits<double>::infinity();

// A word of a query: which column of the block has its costs, and its mass.
struct Use {
    std::int32_t query, column;
    double mass;
};

// Some words of the queries, and the costs of all live words to them, panel by panel.
struct QueryColumns {
    std::vector<std::int32_t> words;
    std::vector<std::size_t> starts;  // of each query among
    std::vector<std::int32_t> places; // the columns that it uses
    std::vector<Use> uses;            // the same by panel, then by query
    std::vector<std::size_t> panel_starts;
    base::Buffer<float> costs;

    [[nodiscard]] std::size_t panels() const { return (words.size() + kPanel - 1) / kPanel; }
    // Only the last panel can be narrower.
    [[nodiscard]] std::size_t width(std::size_t panel) const {
        return kernels::padded(std::min(kPanel, words.size() - panel * kPanel));
    }
};

struct TableScratch {
    transport::CostKernel kernel;
    transport::CostMatrix costs;
};

// Documents one after another, as places and masses.
struct DocumentScratch {
    DocumentReader reader;
    PlacedDocument one;
    std::vector<std::size_t> rows, starts;
    std::vector<std::int32_t> places;
    std::vector<double> masses, totals;
    std::vector<std::size_t> extreme;
    std::vector<double> sums;

    void clear() {
        rows.clear();
        starts.assign(1, 0);
        places.clear();
        masses.clear();
        totals.clear();
        extreme.clear();
    }
    [[nodiscard]] std::size_t size() const { return rows.size(); }
    [[nodiscard]] std::size_t length(std::size_t d) const { return starts[d + 1] - starts[d]; }
};

// Queries that share a table.
class Batch {
  public:
    Batch(const Space& space, const DocumentRows& rows, const LiveWords& live,
          std::span<const transport::Document> queries, std::size_t memory, unsigned threads,
          base::Stop& stop, double* query_side, double* document_side)
        : space_(space), rows_(rows), live_(live), queries_(queries), threads_(threads),
          stop_(stop), query_side_(query_side), document_side_(document_side),
          extreme_(live.words.size(), 0) {
        const std::size_t column = live.words.size() * sizeof(float);
        most_columns_ =
            std::max(memory / 2 / column / kernels::kLanes * kernels::kLanes, kernels::kLanes);
        const std::size_t most =
            std::clamp(kMostSums / queries.size(), kFewestDocuments, kMostDocuments);
        documents_at_once_ =
            std::clamp(rows.size() / (4 * std::max(threads, 1U)), kFewestDocuments, most);
    }

    void run(RelaxedTimes& times) {
        using Clock = std::chrono::steady_clock;
        const auto seconds_since = [](Clock::time_point began) {
            return std::chrono::duration<double>(Clock::now() - began).count();
        };
        const std::size_t sides = queries_.size() * rows_.size();
        if (query_side_ != nullptr) std::fill_n(query_side_, sides, 0.0);
        if (document_side_ != nullptr) {
            const std::size_t groups = kernels::padded(queries_.size()) / kernels::kLanes;
            minima_.grow(groups * live_.words.size() * kernels::kLanes);
            std::fill_n(minima_.data(), groups * live_.words.size() * kernels::kLanes, kFar);
        }
        const std::vector<std::int32_t> words = words_of_queries();
        QueryColumns block;
        for (std::size_t begin = 0; begin < words.size(); begin += most_columns_) {
            const auto began = Clock::now();
            const std::size_t end = std::min(words.size(), begin + most_columns_);
            block.words.assign(words.begin() + static_cast<std::ptrdiff_t>(begin),
                               words.begin() + static_cast<std::ptrdiff_t>(end));
            find_uses(block);
            compute(block);
            times.table += seconds_since(began);
            const bool last = end == words.size();
            if (query_side_ == nullptr && !last) continue;
            const auto then = Clock::now();
            for_documents([&](DocumentScratch& some) {
                if (query_side_ != nullptr) add_query_side(block, some);
                if (last) finish(some);
            });
            times.bound += seconds_since(then);
        }
    }

  private:
    const Space& space_;
    const DocumentRows& rows_;
    const LiveWords& live_;
    std::span<const transport::Document> queries_;
    unsigned threads_;
    base::Stop& stop_;
    double* query_side_;
    double* document_side_;
    std::size_t most_columns_ = 0, documents_at_once_ = 0;
    base::Buffer<float> minima_; // least cost of a live word to the words of a query, kLanes
                                 // queries side by side
    std::vector<std::uint8_t> extreme_;
    std::atomic<bool> any_extreme_ = false;
    base::ScratchPool<TableScratch> table_scratch_;
    base::ScratchPool<DocumentScratch> document_scratch_;

    [[nodiscard]] std::vector<std::int32_t> words_of_queries() const {
        std::vector<std::int32_t> words;
        for (const transport::Document& query : queries_)
            words.insert(words.end(), query.words.begin(), query.words.end());
        std::sort(words.begin(), words.end());
        words.erase(std::unique(words.begin(), words.end()), words.end());
        return words;
    }

    void find_uses(QueryColumns& block) const {
        block.starts.assign(1, 0);
        block.places.clear();
        block.uses.clear();
        for (std::size_t q = 0; q < queries_.size(); ++q) {
            const transport::Document& query = queries_[q];
            auto word =
                std::lower_bound(query.words.begin(), query.words.end(), block.words.front());
            auto found = block.words.begin();
            for (; word != query.words.end() && *word <= block.words.back(); ++word) {
                found = std::lower_bound(found, block.words.end(), *word);
                const auto column = static_cast<std::int32_t>(found - block.words.begin());
                const auto i = static_cast<std::size_t>(word - query.words.begin());
                block.places.push_back(column);
                block.uses.push_back(
                    {static_cast<std::int32_t>(q), column, static_cast<double>(query.masses[i])});
            }
            block.starts.push_back(block.places.size());
        }
        const auto panel_of = [](const Use& use) {
            return static_cast<std::size_t>(use.column) / kPanel;
        };
        std::stable_sort(block.uses.begin(), block.uses.end(),
                         [&](const Use& a, const Use& b) { return panel_of(a) < panel_of(b); });
        block.panel_starts.assign(block.panels() + 1, 0);
        for (const Use& use : block.uses) ++block.panel_starts[panel_of(use) + 1];
        std::partial_sum(block.panel_starts.begin(), block.panel_starts.end(),
                         block.panel_starts.begin());
    }

    void compute(QueryColumns& block) {
        const std::size_t words = live_.words.size();
        if (query_side_ != nullptr) block.costs.grow(words * kernels::padded(block.words.size()));
        base::parallel_for((words + kWordsAtOnce - 1) / kWordsAtOnce, threads_, stop_,
                           [&](std::size_t item) {
                               const auto scratch = table_scratch_.take();
                               const std::size_t begin = item * kWordsAtOnce;
                               const std::size_t count = std::min(kWordsAtOnce, words - begin);
                               const auto rows = std::span(live_.words).subspan(begin, count);
                               transport::CostMatrix& costs = scratch->costs;
                               scratch->kernel.compute(space_.table, space_.cost, rows, block.words,
                                                       stop_, costs);
                               if (mark_extreme(space_.table, space_.cost, costs, rows, block.words,
                                                extreme_.data() + begin))
                                   any_extreme_ = true;
                               if (document_side_ != nullptr) lower_minima(block, costs, begin);
                               if (query_side_ != nullptr) lay_out(block, costs, begin);
                           },
                           false);
    }

    void lower_minima(const QueryColumns& block, const transport::CostMatrix& costs,
                      std::size_t begin) {
        const std::size_t words = live_.words.size();
        for (std::size_t i = 0; i < costs.rows; ++i) {
            const float* row = costs.row(i);
            float* mine = minima_.data() + (begin + i) * kernels::kLanes;
            for (std::size_t q = 0; q < queries_.size(); ++q) {
                float& kept =
                    mine[q / kernels::kLanes * words * kernels::kLanes + q % kernels::kLanes];
                float least = kept;
                for (std::size_t k = block.starts[q]; k < block.starts[q + 1]; ++k)
                    least = std::min(least, row[block.places[k]]);
                kept = least;
            }
        }
    }

    void lay_out(QueryColumns& block, const transport::CostMatrix& costs, std::size_t begin) {
        for (std::size_t panel = 0; panel < block.panels(); ++panel) {
            const std::size_t width = block.width(panel);
            float* to = block.costs.data() + panel * live_.words.size() * kPanel + begin * width;
            for (std::size_t i = 0; i < costs.rows; ++i)
                std::copy_n(costs.row(i) + panel * kPanel, width, to + i * width);
        }
    }

    // Calls part(documents) for documents that have words, some at a time.
    template <class Part> void for_documents(const Part& part) {
        const std::size_t chunks = (rows_.size() + documents_at_once_ - 1) / documents_at_once_;
        base::parallel_for(
            chunks, threads_, stop_,
            [&](std::size_t chunk) {
                const auto scratch = document_scratch_.take();
                const std::size_t end = std::min(rows_.size(), (chunk + 1) * documents_at_once_);
                place(chunk * documents_at_once_, end, *scratch);
                part(*scratch);
            },
            false);
    }

    void place(std::size_t begin, std::size_t end, DocumentScratch& some) const {
        some.clear();
        for (std::size_t row = begin; row < end; ++row) {
            const transport::Document document = rows_.read(row, some.reader);
            if (document.empty()) continue;
            some.one.assign(document, live_);
            if (any_extreme_ &&
                std::any_of(some.one.places.begin(), some.one.places.end(), [this](std::int32_t p) {
                    return extreme_[static_cast<std::size_t>(p)] != 0;
                }))
                some.extreme.push_back(row);
            some.rows.push_back(row);
            some.places.insert(some.places.end(), some.one.places.begin(), some.one.places.end());
            some.masses.insert(some.masses.end(), some.one.masses.begin(), some.one.masses.end());
            some.starts.push_back(some.places.size());
            some.totals.push_back(static_cast<double>(document.total));
        }
    }

    // The part of the sums that the words of this block have.
    void add_query_side(const QueryColumns& block, DocumentScratch& some) const {
        const std::size_t queries = queries_.size();
        some.sums.resize(some.size() * queries);
        for (std::size_t q = 0; q < queries; ++q)
            for (std::size_t d = 0; d < some.size(); ++d)
                some.sums[d * queries + q] = query_side_[q * rows_.size() + some.rows[d]];
        // By panel, so that the costs that documents share stay near.
        alignas(64) float nearest[kPanel];
        for (std::size_t panel = 0; panel < block.panels(); ++panel) {
            stop_.throw_if_requested();
            const Use* const first = block.uses.data() + block.panel_starts[panel];
            const Use* const last = block.uses.data() + block.panel_starts[panel + 1];
            const float* costs = block.costs.data() + panel * live_.words.size() * kPanel;
            const std::size_t width = block.width(panel);
            for (std::size_t d = 0; d < some.size(); ++d) {
                kernels::kernels().bounds.column_minima(costs, width,
                                                        some.places.data() + some.starts[d],
                                                        some.length(d), width, nearest);
                double* sums = some.sums.data() + d * queries;
                for (const Use* use = first; use != last;) {
                    const std::int32_t q = use->query;
                    double sum = sums[q];
                    for (; use != last && use->query == q; ++use)
                        sum += use->mass *
                               static_cast<double>(
                                   nearest[static_cast<std::size_t>(use->column) % kPanel]);
                    sums[q] = sum;
                }
            }
        }
        for (std::size_t q = 0; q < queries; ++q)
            for (std::size_t d = 0; d < some.size(); ++d)
                query_side_[q * rows_.size() + some.rows[d]] = some.sums[d * queries + q];
    }

    void finish(DocumentScratch& some) {
        const std::size_t documents = rows_.size();
        if (query_side_ != nullptr)
            for (std::size_t q = 0; q < queries_.size(); ++q) {
                const double factor = 1.0 / static_cast<double>(queries_[q].total);
                for (const std::size_t row : some.rows) query_side_[q * documents + row] *= factor;
            }
        if (document_side_ != nullptr)
            for (std::size_t first = 0; first < queries_.size(); first += kernels::kLanes) {
                const float* minima = minima_.data() + first * live_.words.size();
                const std::size_t count = std::min(kernels::kLanes, queries_.size() - first);
                for (std::size_t d = 0; d < some.size(); ++d) {
                    alignas(64) double sums[kernels::kLanes] = {};
                    kernels::kernels().centroids.add_weighted_rows(
                        minima, some.places.data() + some.starts[d],
                        some.masses.data() + some.starts[d], some.length(d), sums);
                    const double factor = 1.0 / some.totals[d];
                    for (std::size_t l = 0; l < count; ++l)
                        document_side_[(first + l) * documents + some.rows[d]] = sums[l] * factor;
                }
            }
        for (const std::size_t row : some.extreme) measure_alone(row, some.reader);
    }

    void measure_alone(std::size_t row, DocumentReader& reader) {
        const transport::Document document = rows_.read(row, reader);
        for (std::size_t q = 0; q < queries_.size(); ++q) {
            if (queries_[q].empty()) continue;
            const transport::Bounds bounds = WorkspaceLease()->solver.bounds(
                space_.table, space_.cost, queries_[q], document, stop_);
            const std::size_t at = q * rows_.size() + row;
            if (query_side_ != nullptr) query_side_[at] = bounds.source;
            if (document_side_ != nullptr) document_side_[at] = bounds.target;
        }
    }
};

bool have_equal_vectors(const transport::VectorTable& table, std::int32_t a, std::int32_t b) {
    return a == b || std::equal(table.row(a), table.row(a) + table.dimension, table.row(b));
}

} // namespace

LiveWords::LiveWords(std::vector<std::int32_t> all) : words(std::move(all)) {
    places.assign(words.empty() ? 0 : static_cast<std::size_t>(words.back()) + 1, -1);
    for (std::size_t place = 0; place < words.size(); ++place)
        places[static_cast<std::size_t>(words[place])] = static_cast<std::int32_t>(place);
}

void PlacedDocument::assign(const transport::Document& document, const LiveWords& live) {
    places.resize(document.size());
    masses.resize(document.size());
    for (std::size_t i = 0; i < document.size(); ++i) {
        places[i] = live.places[static_cast<std::size_t>(document.words[i])];
        masses[i] = static_cast<double>(document.masses[i]);
    }
}

bool mark_extreme(const transport::VectorTable& table, transport::Cost cost,
                  const transport::CostMatrix& costs, std::span<const std::int32_t> rows,
                  std::span<const std::int32_t> columns, std::uint8_t* marks) {
    // A pair of documents is scaled if its largest cost is beyond 2^30 or 2^-30 (or their squares);
    // these limits are well inside.
    const float low = cost == transport::Cost::euclidean ? 0x1p-28F : 0x1p-56F;
    const float high = 1 / low;
    if (costs.unit != 1 || costs.largest > high) {
        std::fill_n(marks, costs.rows, std::uint8_t{1});
        return true;
    }
    std::vector<std::int32_t> all(costs.rows);
    std::iota(all.begin(), all.end(), 0);
    base::Buffer<float> least;
    least.grow(costs.stride);
    kernels::kernels().bounds.column_minima(costs.values.data(), costs.stride, all.data(),
                                            costs.rows, costs.stride, least.data());
    bool any = false;
    for (std::size_t j = 0; j < costs.columns; ++j) {
        if (least[j] > low) continue;
        for (std::size_t i = 0; i < costs.rows; ++i) {
            if (costs.at(i, j) > low || have_equal_vectors(table, rows[i], columns[j])) continue;
            marks[i] = 1;
            any = true;
        }
    }
    return any;
}

RelaxedTimes relaxed_values(const Space& space, const DocumentRows& rows,
                            std::span<const transport::Document> queries, std::size_t memory,
                            unsigned threads, base::Stop& stop, double* query_side,
                            double* document_side) {
    RelaxedTimes times;
    const std::size_t documents = rows.size();
    const LiveWords live(rows.words());
    if (!live.words.empty()) {
        const std::size_t fit = memory / 2 / (live.words.size() * sizeof(float));
        const std::size_t at_once =
            std::clamp(fit / kernels::kLanes * kernels::kLanes, kernels::kLanes, kMostQueries);
        for (std::size_t first = 0; first < queries.size(); first += at_once) {
            const auto offset = [&](double* values) {
                return values == nullptr ? nullptr : values + first * documents;
            };
            const auto some = queries.subspan(first, std::min(at_once, queries.size() - first));
            Batch(space, rows, live, some, memory, threads, stop, offset(query_side),
                  offset(document_side))
                .run(times);
        }
    }
    for (double* values : {query_side, document_side}) {
        if (values == nullptr) continue;
        for (std::size_t row = 0; row < documents; ++row)
            if (!rows.has_words(row))
                for (std::size_t q = 0; q < queries.size(); ++q)
                    values[q * documents + row] = kInfinity;
        for (std::size_t q = 0; q < queries.size(); ++q)
            if (queries[q].empty()) std::fill_n(values + q * documents, documents, kInfinity);
    }
    return times;
}

} // namespace textkin::search
