// Word counts of documents, as rows and as postings of words.
#pragma once

#include "base/stop.h"
#include "store/postings.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace textkin::ranking {

// Rows of a document-term matrix in CSR form, and their transpose. The caller owns the memory.
struct CountMatrix {
    store::SortedRows rows;
    std::span<const float> counts;
    std::span<const std::int32_t> terms; // words that occur, ascending
    std::span<const std::int64_t> term_offsets;
    std::span<const std::int32_t> posting_rows; // ascending within a term
    std::span<const std::uint32_t> posting_counts;
    // If above 0, the arrays were checked before, for so many columns.
    std::size_t checked_columns = 0;

    // Throws std::invalid_argument for arrays that are not what they should be: a file may hold
    // anything. Whether the postings are those of the rows is not looked at. Arrays that were
    // checked before, for as many columns or fewer, are not checked again.
    void check(base::Stop& stop) const;
};

} // namespace textkin::ranking
