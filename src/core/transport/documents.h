// Documents of the core: words with integer masses.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textkin::transport {

// Weights that are not counts are rounded to this total, the largest weight last, so that the sum
// is exact. The error per word is 2^-45 of the mass of the document.
inline constexpr std::int64_t kFixedTotal = std::int64_t{1} << 44;

// Counts are unchanged up to this total, so that the product of two totals is at most kFixedTotal,
// which leaves the solver a factor of 2^18 below 2^62.
inline constexpr std::int64_t kLargestCountTotal = std::int64_t{1} << 22;

// One document: words (rows of the vector table, ascending) and their masses, which add up to
// total.
struct Document {
    std::span<const std::int32_t> words;
    std::span<const std::int64_t> masses;
    std::int64_t total = 0;

    [[nodiscard]] std::size_t size() const { return words.size(); }
    [[nodiscard]] bool empty() const { return words.empty(); }
};

// Compute integer masses in proportion to `weights` (finite, not negative): the weights themselves
// if they are counts, otherwise rounded to kFixedTotal. Returns the total; 0 if all weights are 0.
std::int64_t whole_masses(std::span<const double> weights, std::span<std::int64_t> masses);

// The same, but weights that are counts divided by one number, such as 1/10, 2/10 and 7/10, become
// these counts, if they match within a few units of rounding, which is more precise than
// kFixedTotal.
std::int64_t whole_masses_of_fractions(std::span<const double> weights,
                                       std::span<std::int64_t> masses);

// Scale the masses of two documents to the same total, and return it. Exact, unless that total
// would exceed kFixedTotal: then the masses are rounded to kFixedTotal.
std::int64_t to_common_total(std::span<std::int64_t> a, std::int64_t a_total,
                             std::span<std::int64_t> b, std::int64_t b_total);

// One document that owns its memory and reuses it for the next one.
class OwnedDocument {
  public:
    // Takes words and weights as the rows of Documents. False, with nothing taken, unless words
    // ascend and are rows of a table of `rows`, and weights are finite, not negative, and not all
    // 0.
    template <class Index, class Weight>
    bool assign(std::span<const Index> words, std::span<const Weight> weights, std::size_t rows);

    [[nodiscard]] Document view() const { return {words_, masses_, total_}; }

  private:
    std::vector<std::int32_t> words_;
    std::vector<double> weights_;
    std::vector<std::int64_t> masses_;
    std::int64_t total_ = 0;

    void leave_out_what_weighs_nothing();
};

// Rows of a CSR matrix, owned. Words that weigh nothing are left out.
class Documents {
  public:
    // Expects 0 = indptr[0] <= indptr[1] <= ..., indices ascending in each row.
    Documents(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices,
              std::span<const double> weights);

    [[nodiscard]] std::size_t size() const { return totals_.size(); }
    [[nodiscard]] Document operator[](std::size_t row) const;

  private:
    std::vector<std::size_t> starts_;
    std::vector<std::int32_t> words_;
    std::vector<std::int64_t> masses_;
    std::vector<std::int64_t> totals_;
};

template <class Index, class Weight>
bool OwnedDocument::assign(std::span<const Index> words, std::span<const Weight> weights,
                           std::size_t rows) {
    total_ = 0;
    words_.resize(words.size());
    weights_.resize(words.size());
    masses_.resize(words.size());
    Index last = -1;
    for (std::size_t k = 0; k < words.size(); ++k) {
        const auto weight = static_cast<double>(weights[k]);
        if (words[k] <= last || !std::isfinite(weight) || weight < 0) return false;
        last = words[k];
        words_[k] = static_cast<std::int32_t>(last);
        weights_[k] = weight;
    }
    if (last >= 0 && static_cast<std::size_t>(last) >= rows) return false;
    total_ = whole_masses(weights_, masses_);
    if (total_ == 0) return false;
    leave_out_what_weighs_nothing();
    return true;
}

} // namespace textkin::transport
