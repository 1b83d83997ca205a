// The nearest documents of a corpus under the exact Word Mover's Distance.
#pragma once

#include "search/batch.h"
#include "search/corpus.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace textkin::search {

class LowerCosts;
class WordCosts;

enum class Algorithm : std::uint8_t {
    automatic, // bounds first, exact distances only where they could matter: exact
    prefetch,  // the paper's: order by centroids, prune by the relaxed distance
    brute,     // the exact distance of every document
    centroid,  // orders by a bound alone, and reports that bound
    relaxed,
    relaxed_query,
    relaxed_document,
};

// What is known of a document after a search.
enum class Verdict : std::uint8_t {
    left_out,      // not live, masked, or the query itself; all, if the query has no words
    empty,         // has no words
    solved,        // its exact distance was computed (or, in a ranking by a bound, the bound)
    document_side, // each of its words to the nearest of the query: too far already
    refined,       // both sides with potentials, common mass removed: too far already
    relaxed,       // the larger of both sides (prefetch)
    centroid,      // the distance of the centroids (prefetch)
    not_reached,   // beyond the m documents that prefetch looks at
};
inline constexpr std::size_t kVerdicts = 8;

enum class Stage : std::uint8_t { table, bound, order, refine, solve };
inline constexpr std::size_t kStages = 5;

struct QueryStats {
    std::int64_t verdicts[kVerdicts] = {}; // how many documents got each
    std::int64_t refined = 0;              // documents whose bound was refined
    double seconds[kStages] = {};
};

struct Hit {
    std::int64_t row;
    double distance;
};

struct SearchOptions {
    Algorithm algorithm = Algorithm::automatic;
    std::size_t k = std::numeric_limits<std::size_t>::max(); // hits of a query, at most
    double radius = std::numeric_limits<double>::infinity(); // of hits, inclusive
    std::span<const double> radii;                           // the same of each query; or empty
    std::size_t m = std::numeric_limits<std::size_t>::max(); // documents prefetch looks at
    std::span<const std::uint8_t> mask;    // 0: must not be found; empty: all may be
    std::span<const std::int64_t> without; // a row that each query must not find, or -1; or empty
    std::span<const std::int64_t> from;    // each query finds rows from here on; or empty
    std::size_t memory = std::size_t{512} << 20;
    unsigned threads = 1;
};

// Of each query: what was found (by distance, then by row), and what it took.
struct SearchResult {
    std::vector<std::vector<Hit>> hits;
    std::vector<QueryStats> stats;
    // Where asked for: verdict and value (distance, or the bound that excludes) of each document,
    // query after query.
    std::vector<std::uint8_t> verdicts;
    std::vector<double> values;
};

// Documents that some of many queries may find, query after query as rows of a CSR matrix: each
// with a bound that its distance is not below, the least bound of a query first. `queries`: which
// those are; `limits`: how far the hits of each may be.
struct Candidates {
    std::span<const std::int64_t> queries, starts, rows;
    std::span<const double> bounds, limits;
};

class CentroidStore;

// Searches one corpus. Searches from several threads at once are allowed.
class Searcher {
  public:
    // The corpus and the vectors must outlive the searcher.
    Searcher(const Space& space, const Corpus& corpus);
    Searcher(const Searcher&) = delete;
    Searcher& operator=(const Searcher&) = delete;
    ~Searcher();

    // Does what the first search would have to do first; `memory` as it will be then.
    void prepare(std::size_t memory, base::Stop& stop) const;

    // Queries are rows of words; a word beyond the last row of the vectors is one of `points`, so
    // that anything with a vector can be searched for.
    void search(const transport::Documents& queries, const float* points,
                const SearchOptions& options, bool record, base::Stop& stop,
                SearchResult& out) const;

    // The k nearest of candidates whose bounds were found elsewhere, such as on a GPU; and how many
    // distances that took. Queries and candidates have words.
    void solve(const transport::Documents& queries, const Candidates& candidates, std::size_t k,
               unsigned threads, base::Stop& stop, std::vector<std::vector<Hit>>& hits,
               std::vector<std::int64_t>& solved) const;

    [[nodiscard]] const Corpus& corpus() const { return corpus_; }

  private:
    class Loan;

    [[nodiscard]] std::shared_ptr<const WordCosts> word_costs(std::size_t memory,
                                                              base::Stop& stop) const;

    Space space_;
    const Corpus& corpus_;
    mutable std::mutex guard_;
    mutable std::shared_ptr<const WordCosts> word_costs_; // under guard_
    mutable std::atomic_flag lent_;
    mutable std::unique_ptr<LowerCosts> rows_; // that later searches may want; for who took lent_
    std::unique_ptr<CentroidStore> centroids_;
};

} // namespace textkin::search
