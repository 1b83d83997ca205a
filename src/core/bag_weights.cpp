#include "textkin/bag_weights.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace textkin {
namespace {

constexpr std::size_t kRowsBetweenPolls = 1 << 10;
constexpr std::size_t kTermsBetweenPolls = 1 << 8;
constexpr std::size_t kSmallCounts = 256;

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

void check_offsets(const CountedPart& part, Stop& stop) {
    const auto& offsets = part.term_offsets;
    if (offsets.size() != part.terms.size() + 1 || offsets.front() != 0 ||
        offsets.back() != static_cast<std::int64_t>(part.posting_rows.size()) ||
        part.posting_counts.size() != part.posting_rows.size())
        refuse("Postings must have an offset for each term and one more, from 0 to their number, "
               "and a count each.");
    stop.throw_if_requested();
    // All of them before any posting is looked at: only then do they lie within.
    if (std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) != offsets.end())
        refuse("The offsets of postings must ascend.");
    if (std::adjacent_find(part.terms.begin(), part.terms.end(), std::greater_equal<>()) !=
            part.terms.end() ||
        (!part.terms.empty() &&
         (part.terms.front() < 0 || at(part.terms.back()) >= part.rows.n_columns)))
        refuse("The terms of postings must ascend, from 0 at the least to below " +
               std::to_string(part.rows.n_columns) + ".");
}

} // namespace

void CountedPart::check(Stop& stop) const {
    rows.check(stop);
    if (counts.size() != rows.columns.size())
        refuse("There must be a count for each of the " + std::to_string(rows.columns.size()) +
               " columns; got " + std::to_string(counts.size()) + ".");
    bool sound = true;
    for (const float count : counts) sound &= (count >= 1.0F) & (count < 4294967296.0F);
    for (std::size_t k = 0; sound && k < counts.size(); ++k)
        sound = static_cast<float>(static_cast<std::uint32_t>(counts[k])) == counts[k];
    if (!sound) refuse("Counts must be whole numbers from 1 to below 2^32.");
    check_offsets(*this, stop);
    for (std::size_t term = 0; term < terms.size(); ++term) {
        if (term % kTermsBetweenPolls == 0) stop.throw_if_requested();
        const std::size_t first = at(term_offsets[term]);
        const std::size_t last = at(term_offsets[term + 1]);
        sound = posting_rows[first] >= 0 && at(posting_rows[last - 1]) < rows.size();
        for (std::size_t p = first + 1; p < last; ++p)
            sound &= posting_rows[p - 1] < posting_rows[p];
        for (std::size_t p = first; p < last; ++p) sound &= posting_counts[p] != 0;
        if (!sound)
            refuse("The rows of postings must ascend within a term and be below " +
                   std::to_string(rows.size()) + ", and counts must be above 0; those of word " +
                   std::to_string(terms[term]) + " are not.");
    }
}

BagWeights::BagWeights(std::span<const CountedPart> parts, WeightFormula formula, Stop& stop)
    : formula_(std::move(formula)), most_(formula_.k1 + 1), logs_(kSmallCounts) {
    for (std::size_t n = 1; n < kSmallCounts; ++n) logs_[n] = std::log(static_cast<double>(n));
    std::size_t n_rows = 0;
    for (const CountedPart& part : parts) n_rows += part.rows.size();
    factors_.reserve(n_rows);
    for (const CountedPart& part : parts)
        for (std::size_t row = 0; row < part.rows.size(); ++row) {
            if (row % kRowsBetweenPolls == 0) stop.throw_if_requested();
            const std::size_t first = part.rows.begin(row);
            const std::size_t last = part.rows.end(row);
            double length = 0;
            double largest_count = 0;
            for (std::size_t k = first; k < last; ++k) {
                const auto count = static_cast<double>(part.counts[k]);
                length += count;
                largest_count = std::max(largest_count, count);
            }
            const double longer =
                formula_.k1 / most_ *
                (1 - formula_.b + formula_.b * (length / formula_.average_length));
            factors_.push_back({longer, 1.0});
            const std::size_t here = factors_.size() - 1;
            double size = 0;
            if (formula_.norm == RowNorm::largest_count) {
                size = largest_count;
            } else if (formula_.norm != RowNorm::none) {
                double largest = 0;
                const auto weight = [&](std::size_t k) {
                    return std::abs((*this)(static_cast<double>(part.counts[k]), here,
                                            word_weight(part.rows.columns[k])));
                };
                for (std::size_t k = first; k < last; ++k) largest = std::max(largest, weight(k));
                // A power of two changes no digit, and no square is then too large or too small.
                int exponent = 0;
                static_cast<void>(std::frexp(largest, &exponent));
                for (std::size_t k = first; k < last; ++k) {
                    const double scaled = std::ldexp(weight(k), -exponent);
                    size += formula_.norm == RowNorm::l1 ? scaled : scaled * scaled;
                }
                if (formula_.norm == RowNorm::l2) size = std::sqrt(size);
                size = std::ldexp(size, exponent);
            }
            if (size > 0) factors_[here].scale = 1 / size;
        }
}

} // namespace textkin
