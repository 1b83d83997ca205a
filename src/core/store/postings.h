// Which documents have a word: rows of counts transposed into lists by word.
#pragma once

#include "base/stop.h"
#include "base/uninitialized_vector.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textkin::store {

// The postings of a word lie in blocks of so many, its last one shorter.
inline constexpr std::size_t kPostingBlock = 128;

// Rows of a CSR matrix, with their columns ascending.
struct SortedRows {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> columns;
    std::size_t n_columns = 0;

    [[nodiscard]] std::size_t size() const { return indptr.size() - 1; }
    [[nodiscard]] std::size_t begin(std::size_t row) const {
        return static_cast<std::size_t>(indptr[row]);
    }
    [[nodiscard]] std::size_t end(std::size_t row) const {
        return static_cast<std::size_t>(indptr[row + 1]);
    }
    // Throws std::invalid_argument for rows that are not what they should be, naming the first.
    void check(base::Stop& stop) const;
};

// Term t, which is the word terms[t], has the postings offsets[t] to offsets[t + 1] - 1 and the
// blocks block_offsets[t] to block_offsets[t + 1] - 1.
struct Postings {
    base::UninitializedVector<std::int32_t> terms; // words that occur, ascending
    base::UninitializedVector<std::int64_t> offsets;
    base::UninitializedVector<std::int32_t> rows; // ascending within a term
    base::UninitializedVector<std::uint32_t> counts;
    base::UninitializedVector<std::int64_t> block_offsets;
    base::UninitializedVector<std::uint32_t> block_counts; // the largest of a block
    base::UninitializedVector<std::uint32_t>
        block_lengths; // that of its shortest document; 2^32 - 1 if it is more
};

// Throws std::invalid_argument for rows that are not what they should be, for counts other than
// whole numbers from 1 to below 2^32, and for negative lengths.
[[nodiscard]] Postings invert(const SortedRows& rows, std::span<const float> counts,
                              std::span<const std::int64_t> lengths, base::Stop& stop);

} // namespace textkin::store
