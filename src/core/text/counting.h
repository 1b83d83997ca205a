// How often each word occurs in each document.
#pragma once

#include "base/stop.h"
#include "text/tokens.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textkin::text {

// Rows of (key, count): sorted by key, or in the order of first positions, as stated.
struct Counts {
    std::vector<std::int64_t> offsets{0};
    base::UninitializedVector<std::int32_t> keys;
    base::UninitializedVector<std::uint32_t> counts;

    [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
};

// What words become: a column, or one of these.
inline constexpr std::int32_t kUnknown = -1;
inline constexpr std::int32_t kLeftOut = -2;

struct Bags {
    Counts known; // keys are columns, sorted; its counts are in `weights`
    base::UninitializedVector<float> weights;
    Counts unknown; // keys are words without a column, in the order of first positions
    Counts cut;     // keys are columns that `most` left out, sorted
};

// Counts the words of each document, in the order of first positions.
[[nodiscard]] Counts count_words(const Tokens& tokens, unsigned threads, base::Stop& stop);

// Adds to `totals` how often each word occurs, and to `documents` in how many documents.
void add_statistics(const Counts& counts, std::span<std::int64_t> totals,
                    std::span<std::int64_t> documents);

// Counts by column: column_of[w] is the column of word w, kUnknown or kLeftOut; words may share a
// column. Of each document at most `most` columns are kept (0: all), those with the highest counts,
// the first in the document among equals.
[[nodiscard]] Bags to_bags(const Counts& counts, std::span<const std::int32_t> column_of,
                           std::size_t most, unsigned threads, base::Stop& stop);

} // namespace textkin::text
