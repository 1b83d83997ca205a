// What a word weighs in a document: one formula for TF-IDF, BM25 and plain counts.
#pragma once

#include "base/stop.h"
#include "ranking/count_matrix.h"
#include "ranking/term_map.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textkin::ranking {

enum class CountFormula { count, binary, log, saturated };
enum class RowNorm { none, largest_count, l1, l2 };

// The weight of a word that occurs n times in a document d is g(n) word_weights[word] scale(d),
// with g(n) = n, 1, 1 + ln n or n (k1 + 1) / (n + k1 (1 - b + b |d| / average_length)), and
// scale(d) such that the norm of the document is 1.
struct WeightFormula {
    CountFormula count = CountFormula::count;
    RowNorm norm = RowNorm::none;
    double k1 = 0;
    double b = 0;
    double average_length = 1;
    std::vector<double> word_weights; // of all words, or of all terms
};

// A row's part of the formula.
struct RowFactors {
    double longer; // added to the count in the denominator
    double scale;
};

class BagWeights {
  public:
    // The rows of one part after another. If `map` is not null, the weights are weights of terms.
    BagWeights(std::span<const CountMatrix> parts, const TermMap* map, WeightFormula formula,
               base::Stop& stop);

    [[nodiscard]] std::size_t n_terms() const { return formula_.word_weights.size(); }
    [[nodiscard]] double word_weight(std::int32_t word) const {
        return formula_.word_weights[static_cast<std::size_t>(word)];
    }
    // The same numbers for the same arguments, wherever it is called.
    [[nodiscard]] double operator()(double count, std::size_t row, double word_weight) const {
        return saturated(count, factors_[row].longer) * word_weight * factors_[row].scale;
    }
    void prefetch(std::size_t row) const { __builtin_prefetch(factors_.data() + row); }

  private:
    [[nodiscard]] double saturated(double count, double longer) const;
    [[nodiscard]] double norm_of(std::span<const TermCount> terms, std::size_t row) const;

    WeightFormula formula_;
    double most_;              // k1 + 1
    std::vector<double> logs_; // ln n of small n
    std::vector<RowFactors> factors_;
};

inline double BagWeights::saturated(double count, double longer) const {
    switch (formula_.count) {
    case CountFormula::count:
        return count;
    case CountFormula::binary:
        return 1.0;
    case CountFormula::saturated:
        return count / (count / most_ + longer);
    case CountFormula::log:
        break;
    }
    const auto small = static_cast<std::size_t>(count); // a whole number below 2^32
    return 1.0 + (small < logs_.size() ? logs_[small] : std::log(count));
}

} // namespace textkin::ranking
