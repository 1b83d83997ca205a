// The best documents by words that they share with a query: an exact search over postings.
#pragma once

#include "base/stop.h"
#include "base/uninitialized_vector.h"
#include "ranking/bag_weights.h"
#include "ranking/term_map.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textkin::ranking {

struct QueryWord {
    std::int32_t word; // a term, if the search has a map
    double weight;
};

struct FoundRow {
    std::int64_t row; // through all parts
    double score;
};

struct TermSearchCounts {
    std::int64_t postings = 0; // of the query's words
    std::int64_t touched = 0;  // of them that were added up
    std::int64_t scored = 0;   // documents whose score was computed
};

// dense: adds up all postings in double. pruned: adds up bounds in whole numbers, leaves out words
// that can lift no further document among the best, and computes the scores of those that may be.
enum class TermSearchMethod { automatic, pruned, dense };

// The score of a document is the sum over the query's words, in ascending order, of the query's
// weight times the document's, in double: the methods give the same bits.
class TermSearch {
  public:
    // Rows that are 0 in `live` are never found. With a map, which must outlive the search, counts
    // of the words of a term are added before they are weighted, and all numbers of words are
    // numbers of terms. Throws std::invalid_argument for parts that are not what they should be,
    // and for weights that are not finite.
    TermSearch(std::vector<CountMatrix> parts, std::span<const std::uint8_t> live,
               WeightFormula formula, base::Stop& stop, const TermMap* map = nullptr);

    [[nodiscard]] std::size_t size() const { return starts_.back(); }
    [[nodiscard]] std::size_t n_terms() const { return weights_.n_terms(); }

    // Finds the k rows with the largest scores, of equals the first ones, the best first: those
    // that are not 0 in `allowed` (empty: all) with a score above 0 and not below `threshold`.
    TermSearchCounts best(std::span<const QueryWord> query, std::size_t k, double threshold,
                          std::span<const std::uint8_t> allowed, TermSearchMethod method,
                          std::vector<FoundRow>& found, base::Stop& stop) const;

    // The words of a row and what they weigh, without those that weigh nothing.
    void words_of(std::size_t row, std::vector<std::int32_t>& words,
                  std::vector<double>& weights) const;

  private:
    friend class PrunedSearch;
    friend class DenseSearch;

    struct Run { // the postings of a term in one window of rows
        std::uint32_t window;
        std::int64_t end;
    };

    // Most words of a document are not in the query, which a look at one bit tells.
    class QueryWords {
      public:
        QueryWords(std::span<const QueryWord> terms, const TermMap* map);
        [[nodiscard]] bool may_have(std::int32_t word) const {
            return (bits_[place(word)] & bit(word)) != 0;
        }
        // The place of a word's term among the terms, or their number.
        [[nodiscard]] std::size_t find(std::int32_t word) const;
        [[nodiscard]] std::span<const QueryWord> terms() const { return terms_; }

        std::vector<double> counts; // of the terms in a document, 0 between documents

      private:
        struct Form {
            std::int32_t word;
            std::uint32_t term; // place among the terms
        };

        static std::size_t place(std::int32_t word) {
            return static_cast<std::size_t>(word) / 64 % 64;
        }
        static std::uint64_t bit(std::int32_t word) { return std::uint64_t{1} << (word % 64); }

        std::span<const QueryWord> terms_;
        std::vector<Form> forms_; // ascending
        std::array<std::uint64_t, 64> bits_{};
    };

    [[nodiscard]] double score(std::size_t row, QueryWords& query) const;
    void prefetch(std::size_t row, bool entries) const;
    [[nodiscard]] std::size_t part_of(std::size_t row) const;
    void fill(base::Stop& stop);

    const TermMap* map_;
    std::vector<CountMatrix> parts_;
    std::vector<std::size_t> starts_; // the first row of each part, and the number of all
    std::vector<std::uint8_t> live_;
    BagWeights weights_;
    base::UninitializedVector<double> largest_;       // of each term: the largest absolute weight
    base::UninitializedVector<std::int64_t> offsets_; // of each term: its postings of live rows
    base::UninitializedVector<std::int64_t> run_offsets_;
    std::vector<Run> runs_;
    // A posting: its row in the window (16 bits), and its weight by the largest of the term,
    // rounded up (16 bits).
    base::UninitializedVector<std::uint32_t> postings_;
};

} // namespace textkin::ranking
