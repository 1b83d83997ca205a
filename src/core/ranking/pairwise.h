// Numbers of all pairs of two collections: sums over shared words, and edit distances.
#pragma once

#include "base/stop.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textkin::ranking {

// Rows of a sparse matrix: row r has the entries from starts[r] to starts[r + 1].
struct SparseRows {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> columns;
    std::span<const double> values;

    [[nodiscard]] std::size_t size() const noexcept { return starts.size() - 1; }
};

// What a word that two documents share adds to their sum.
enum class Sharing {
    product, // a b: the inner product
    overlap, // |a| + |b| - |a - b|: what the L1 distance lacks to the sum of both L1 norms
};

// out[r * n_documents + d] = sum over shared words of row r and document d. `postings` has one row
// a word, whose columns are documents. Words and documents must be in range. The order of the sum
// is that of the words of the row, so that no other row changes it.
void shared_sums(const SparseRows& rows, const SparseRows& postings, std::size_t n_documents,
                 Sharing sharing, base::Stop& stop, std::span<double> out);

// Sequences of symbols: sequence s is symbols[starts[s]] to symbols[starts[s + 1]].
struct Sequences {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> symbols;

    [[nodiscard]] std::size_t size() const noexcept { return starts.size() - 1; }
    [[nodiscard]] std::span<const std::int32_t> operator[](std::size_t s) const {
        const auto first = static_cast<std::size_t>(starts[s]);
        return symbols.subspan(first, static_cast<std::size_t>(starts[s + 1]) - first);
    }
};

// out[i * b.size() + j] = the fewest insertions, deletions and substitutions that turn a[i] into
// b[j]. Symbols are from 0 to n_symbols - 1.
void edit_distances(const Sequences& a, const Sequences& b, std::size_t n_symbols, base::Stop& stop,
                    std::span<double> out);

} // namespace textkin::ranking
