#include "transport/documents.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace textkin::transport {
namespace {

// Takes weights that are counts as they are; returns their sum, or -1 if they are not or too many.
std::int64_t take_counts(std::span<const double> weights, std::span<std::int64_t> masses) {
    constexpr auto limit = static_cast<double>(kLargestCountTotal);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!(weights[i] <= limit)) return -1;
        masses[i] = static_cast<std::int64_t>(weights[i]);
        if (static_cast<double>(masses[i]) != weights[i]) return -1;
        total += masses[i];
    }
    return total <= kLargestCountTotal ? total : -1;
}

// The least d > 0 such that x * d is within `tolerance` of a whole number, relative to x * d, and
// that number is at most kLargestCountTotal; 0 if there is none. By continued fractions.
std::int64_t denominator_of(double x, double tolerance) {
    constexpr auto limit = static_cast<double>(kLargestCountTotal);
    double rest = x;
    double last = 0;
    double d = 1;
    for (;;) {
        const double whole = std::round(x * d);
        if (!(whole <= limit)) return 0;
        if (whole > 0 && std::fabs(x * d - whole) <= tolerance * whole)
            return static_cast<std::int64_t>(d);
        rest = 1 / (rest - std::floor(rest));
        const double next = std::floor(rest) * d + last;
        if (!(next <= limit)) return 0; // also where `rest` is not finite
        last = d;
        d = next;
    }
}

// Finds counts that are in the proportions of the weights; returns their sum, or -1.
std::int64_t take_fractions(std::span<const double> weights, std::span<std::int64_t> masses) {
    constexpr auto limit = static_cast<double>(kLargestCountTotal);
    constexpr double tolerance = 0x1p-49; // two weights and a quotient are rounded
    double least = std::numeric_limits<double>::infinity();
    for (const double weight : weights)
        if (weight > 0) least = std::min(least, weight);
    if (!(least < std::numeric_limits<double>::infinity())) return -1;
    double denominator = 1;
    for (const double weight : weights) {
        if (weight == 0) continue;
        const std::int64_t more = denominator_of(weight / least * denominator, tolerance);
        denominator *= static_cast<double>(more);
        if (more == 0 || denominator > limit) return -1;
    }
    std::int64_t total = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double exact = weights[i] / least * denominator;
        if (!(exact <= limit)) return -1;
        masses[i] = std::llrint(exact);
        if (std::fabs(exact - static_cast<double>(masses[i])) > tolerance * exact) return -1;
        total += masses[i];
        if (total > kLargestCountTotal) return -1;
    }
    return total;
}

// Divides by the largest first: the sum can then neither overflow nor vanish. The masses may lie
// where the weights are.
template <class Weight>
void round_to_fixed_total(std::span<const Weight> weights, std::span<std::int64_t> masses) {
    const auto largest = std::max_element(weights.begin(), weights.end());
    const auto position = static_cast<std::size_t>(largest - weights.begin());
    const auto top = static_cast<double>(*largest);
    double sum = 0;
    for (const Weight w : weights) sum += static_cast<double>(w) / top;
    const double scale = static_cast<double>(kFixedTotal) / sum;
    for (std::size_t i = 0; i < weights.size(); ++i)
        masses[i] = std::llrint(static_cast<double>(weights[i]) / top * scale);
    const auto rest = kFixedTotal - std::accumulate(masses.begin(), masses.end(), std::int64_t{0});
    masses[position] += rest;
}

} // namespace

std::int64_t whole_masses(std::span<const double> weights, std::span<std::int64_t> masses) {
    if (const std::int64_t total = take_counts(weights, masses); total >= 0) return total;
    round_to_fixed_total<double>(weights, masses);
    return kFixedTotal;
}

std::int64_t whole_masses_of_fractions(std::span<const double> weights,
                                       std::span<std::int64_t> masses) {
    if (const std::int64_t total = take_counts(weights, masses); total >= 0) return total;
    if (const std::int64_t total = take_fractions(weights, masses); total > 0) return total;
    round_to_fixed_total<double>(weights, masses);
    return kFixedTotal;
}

std::int64_t to_common_total(std::span<std::int64_t> a, std::int64_t a_total,
                             std::span<std::int64_t> b, std::int64_t b_total) {
    const std::int64_t divisor = std::gcd(a_total, b_total);
    const std::int64_t a_factor = b_total / divisor;
    const std::int64_t b_factor = a_total / divisor;
    if (a_total > kFixedTotal / a_factor) {
        for (const auto masses : {a, b}) round_to_fixed_total<std::int64_t>(masses, masses);
        return kFixedTotal;
    }
    for (std::int64_t& mass : a) mass *= a_factor;
    for (std::int64_t& mass : b) mass *= b_factor;
    return a_total * a_factor;
}

void OwnedDocument::leave_out_what_weighs_nothing() {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < words_.size(); ++k) {
        if (masses_[k] == 0) continue;
        words_[kept] = words_[k];
        masses_[kept++] = masses_[k];
    }
    words_.resize(kept);
    masses_.resize(kept);
}

Documents::Documents(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices,
                     std::span<const double> weights) {
    const std::size_t rows = indptr.size() - 1;
    starts_.reserve(rows + 1);
    totals_.reserve(rows);
    words_.resize(indices.size());
    masses_.resize(indices.size());
    starts_.push_back(0);
    std::size_t kept = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        const auto begin = static_cast<std::size_t>(indptr[r]);
        const auto length = static_cast<std::size_t>(indptr[r + 1]) - begin;
        const auto row = std::span(masses_).subspan(begin, length);
        totals_.push_back(whole_masses(weights.subspan(begin, length), row));
        for (std::size_t i = 0; i < length && totals_.back() > 0; ++i) {
            words_[kept] = indices[begin + i];
            masses_[kept] = row[i]; // not behind what is still to be read
            kept += masses_[kept] != 0 ? 1 : 0;
        }
        starts_.push_back(kept);
    }
    words_.resize(kept);
    masses_.resize(kept);
}

Document Documents::operator[](std::size_t row) const {
    const std::size_t begin = starts_[row];
    const std::size_t length = starts_[row + 1] - begin;
    return {{words_.data() + begin, length}, {masses_.data() + begin, length}, totals_[row]};
}

} // namespace textkin::transport
