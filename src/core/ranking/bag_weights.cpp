#include "ranking/bag_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace textkin::ranking {
namespace {

constexpr std::size_t kRowsBetweenPolls = 1 << 10;
constexpr std::size_t kSmallCounts = 256;

} // namespace

BagWeights::BagWeights(std::span<const CountMatrix> parts, const TermMap* map,
                       WeightFormula formula, base::Stop& stop)
    : formula_(std::move(formula)), most_(formula_.k1 + 1), logs_(kSmallCounts) {
    for (std::size_t n = 1; n < kSmallCounts; ++n) logs_[n] = std::log(static_cast<double>(n));
    std::size_t n_rows = 0;
    for (const CountMatrix& part : parts) n_rows += part.rows.size();
    factors_.reserve(n_rows);
    std::vector<TermCount> terms;
    for (const CountMatrix& part : parts)
        for (std::size_t row = 0; row < part.rows.size(); ++row) {
            if (row % kRowsBetweenPolls == 0) stop.throw_if_requested();
            const std::size_t first = part.rows.begin(row);
            const std::size_t size = part.rows.end(row) - first;
            const auto words = part.rows.columns.subspan(first, size);
            const auto counts = part.counts.subspan(first, size);
            double length = 0;
            if (formula_.norm == RowNorm::none) {
                for (std::size_t k = 0; k < size; ++k)
                    if (map == nullptr || map->term_of(words[k]) >= 0)
                        length += static_cast<double>(counts[k]);
            } else {
                collect_terms(map, words, counts, terms);
                for (const TermCount& one : terms) length += one.count;
            }
            const double longer =
                formula_.k1 / most_ *
                (1 - formula_.b + formula_.b * (length / formula_.average_length));
            factors_.push_back({longer, 1.0});
            if (formula_.norm == RowNorm::none) continue;
            const double size_of_row = norm_of(terms, factors_.size() - 1);
            if (size_of_row > 0) factors_.back().scale = 1 / size_of_row;
        }
}

// The norm of a row whose scale is still 1.
double BagWeights::norm_of(std::span<const TermCount> terms, std::size_t row) const {
    double largest = 0;
    if (formula_.norm == RowNorm::largest_count) {
        for (const TermCount& one : terms) largest = std::max(largest, one.count);
        return largest;
    }
    const auto weight = [&](const TermCount& one) {
        return std::abs((*this)(one.count, row, word_weight(one.term)));
    };
    for (const TermCount& one : terms) largest = std::max(largest, weight(one));
    // A power of two changes no digit, and no square is then too large or too small.
    int exponent = 0;
    static_cast<void>(std::frexp(largest, &exponent));
    double sum = 0;
    for (const TermCount& one : terms) {
        const double scaled = std::ldexp(weight(one), -exponent);
        sum += formula_.norm == RowNorm::l1 ? scaled : scaled * scaled;
    }
    return std::ldexp(formula_.norm == RowNorm::l2 ? std::sqrt(sum) : sum, exponent);
}

} // namespace textkin::ranking
