// The two ways of a search by words, for term_search.cpp alone.
#pragma once

#include "base/scratch.h"
#include "ranking/term_search.h"

namespace textkin::ranking {

inline constexpr std::size_t kWindow = std::size_t{1} << 16; // rows whose sums are kept at a time
inline constexpr double kLargestImpact = 65535;

// The k best so far, in whatever order they come.
class BestRows {
  public:
    BestRows(std::size_t k, double threshold, std::vector<FoundRow>& found)
        : k_(k), bar_(threshold > 0 ? threshold : 0.0), found_(found) {
        found_.clear();
    }

    [[nodiscard]] std::size_t k() const { return k_; }
    // No row with a smaller score is wanted, and one with a score of 0 never is.
    [[nodiscard]] double bar() const { return bar_; }
    void add(double score, std::size_t row);
    void finish(); // puts the best first

  private:
    std::size_t k_;
    double bar_;
    std::vector<FoundRow>& found_;
};

class DenseSearch {
  public:
    DenseSearch(const TermSearch& all, std::span<const QueryWord> words,
                std::span<const std::uint8_t> allowed, BestRows& best, TermSearchCounts& counts)
        : all_(all), words_(words), allowed_(allowed), best_(best), counts_(counts) {}
    void run(base::Stop& stop);

  private:
    const TermSearch& all_;
    std::span<const QueryWord> words_;
    std::span<const std::uint8_t> allowed_;
    BestRows& best_;
    TermSearchCounts& counts_;
};

// Sums are kept as whole numbers in 16 bits, of which `scale_` make 1, and are never below the
// true ones. A word whose contribution is negative takes away at most what it truly does.
class PrunedSearch {
  public:
    PrunedSearch(const TermSearch& all, std::span<const QueryWord> words,
                 std::span<const std::uint8_t> allowed, BestRows& best, TermSearchCounts& counts,
                 std::int64_t most_scored);
    // False, and nothing of use done, where the weights have too wide a range for whole numbers, or
    // more documents than `most_scored` had to be scored.
    bool run(base::Stop& stop);

  private:
    struct Term {
        double most; // its contribution, absolute
        bool negative;
        std::uint32_t factor; // of an impact, by 2^16
        std::int32_t top;     // the most it changes a sum by
        std::size_t run, last_run;
        std::int64_t first; // posting
    };
    struct Here { // a term's postings in the window
        const Term* term;
        const std::uint32_t* begin;
        const std::uint32_t* end;
    };
    struct Candidate {
        std::int32_t sum;
        std::uint32_t row; // in the window
    };
    struct Workspace {
        base::UninitializedVector<std::int16_t> sums; // 0 but while a window is looked at
        std::vector<std::int16_t> block_most;         // the largest sum of each block of rows
        std::vector<std::int16_t> ranked;
        std::vector<Candidate> candidates;
        std::vector<Term> terms;
        std::vector<Here> here;
    };

    bool weigh();
    void look_at_all(base::Stop& stop);
    void look(std::size_t window);
    void look_at_few(std::size_t first);
    void look_at_many(std::size_t first, std::size_t count, std::int64_t postings);
    void add_up(const Here& here);
    void measure_blocks(std::int32_t uncertain);
    void measure_rows(std::size_t terms, std::int32_t uncertain);
    void raise_estimate(std::int32_t uncertain);
    bool gather_few(std::size_t terms, std::int32_t bar, std::int64_t most);
    bool gather(std::int32_t bar, std::int64_t most);
    void offer(std::size_t first, std::int32_t missing, std::int32_t uncertain);
    [[nodiscard]] std::int32_t bar() const;

    const TermSearch& all_;
    std::span<const QueryWord> words_;
    TermSearch::QueryWords asked_;
    std::span<const std::uint8_t> allowed_;
    BestRows& best_;
    TermSearchCounts& counts_;
    std::int64_t most_scored_;
    base::ThreadScratch<Workspace> lease_;
    Workspace& space_ = *lease_;
    double scale_ = 0;
    std::int32_t estimate_ = 1; // the sum that a row must have, by sums of others
};

} // namespace textkin::ranking
