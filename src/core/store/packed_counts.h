// The counts of documents as few bytes, which is how a store keeps them.
//
// A document's words are sorted. Each is a number, (gap << 1 | repeated), where the gap is how many
// words lie between it and the one before, and, if it is repeated, a second number, its count less
// 2. Numbers are written as LEB128: seven bits a byte, the lowest first, the high bit set on all
// but the last. A document without words has no bytes.
#pragma once

#include "base/stop.h"
#include "base/uninitialized_vector.h"
#include "text/counting.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace textkin::store {

struct PackedCounts {
    base::UninitializedVector<char> bytes;
    std::vector<std::size_t> offsets{0}; // of the documents in `bytes`
    std::vector<std::int64_t> lengths;   // sums of counts

    [[nodiscard]] std::size_t size() const { return lengths.size(); }
    [[nodiscard]] std::string_view operator[](std::size_t document) const {
        return {bytes.data() + offsets[document], offsets[document + 1] - offsets[document]};
    }
};

// The rows may be in any order of their keys, each of which a row has once.
[[nodiscard]] PackedCounts packed(const text::Counts& counts, base::Stop& stop);

struct UnpackedCounts {
    std::vector<std::int64_t> offsets{0};
    base::UninitializedVector<std::int32_t> keys; // sorted in each row
    base::UninitializedVector<float> counts;      // the nearest below 2^32
    std::vector<std::int64_t> lengths;
};

// Throws std::invalid_argument for bytes that are no document of fewer than `n_words` words, naming
// the row. The memory it takes follows the number of bytes, whatever they say.
[[nodiscard]] UnpackedCounts unpacked(std::span<const std::string_view> rows, std::size_t n_words,
                                      base::Stop& stop);

// The same documents with other numbers for their words, which must differ and be at least 0.
[[nodiscard]] PackedCounts renumbered(std::span<const std::string_view> rows,
                                      std::span<const std::int32_t> number_of, base::Stop& stop);

} // namespace textkin::store
