#include "textkin/costs.h"

#include "textkin/lanes.h"
#include "textkin/rounded.h"

#include <algorithm>
#include <cmath>

namespace textkin {
namespace {

// So many points of one side meet all of the other before the next ones do: they stay in the
// nearest cache meanwhile.
constexpr std::size_t kPanel = 16;

// Of documents with more words than this, vectors are copied to lie side by side, which pays if
// each of them meets many others: rows of the table begin anywhere, not at a cache line.
constexpr std::size_t kFewWords = 16;

// Rows of the table lie far apart: so many are asked for before they are needed.
constexpr std::size_t kAhead = 2;

constexpr std::size_t rounded_up(std::size_t n, std::size_t unit) {
    return (n + unit - 1) / unit * unit;
}

float largest_magnitude(const VectorTable& table, std::span<const std::int32_t> words) {
    float largest = 0;
    for (const std::int32_t word : words) {
        const float* x = table.row(word);
        for (std::size_t k = 0; k < table.dimension; ++k)
            largest = std::max(largest, std::fabs(x[k]));
    }
    return largest;
}

// Squares of float differences neither overflow nor vanish where the largest cost is this far from
// both; what is lost beside it is below 1e-10 of it.
bool is_ordinary(Cost cost, float largest) {
    const float root = cost == Cost::euclidean ? largest : std::sqrt(largest);
    return root > 0x1p-30F && root < 0x1p30F;
}

} // namespace

void CostKernel::compute(const VectorTable& table, Cost cost, std::span<const std::int32_t> rows,
                         std::span<const std::int32_t> columns, Stop& stop, CostMatrix& out) {
    check_size(rows.size(), columns.size());
    out.rows = rows.size();
    out.columns = columns.size();
    out.stride = padded(columns.size());
    out.values.grow(rounded_up(out.rows, kTileRows) * out.stride);
    fill(table, cost, rows, columns, 0, stop, out);
    if (is_ordinary(cost, out.largest)) return;
    // Vectors of extreme size, or all the same: again, with vectors brought to about 1 by a power
    // of two, which changes no digit.
    int exponent = 0;
    std::frexp(std::max(largest_magnitude(table, rows), largest_magnitude(table, columns)),
               &exponent);
    fill(table, cost, rows, columns, std::clamp(-exponent, -120, 120), stop, out);
}

// Then `count - words.size()` times the last one, to fill up a tile.
void CostKernel::Points::gather(const VectorTable& table, std::span<const std::int32_t> words,
                                std::size_t count, bool copied, int exponent) {
    at.grow(count);
    for (std::size_t i = 0; i < words.size(); ++i) at[i] = table.row(words[i]);
    if (copied) {
        const std::size_t stride = padded(table.dimension);
        const auto scale = static_cast<float>(std::ldexp(1.0, exponent));
        copies.grow(words.size() * stride);
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (i + kAhead < words.size())
                for (std::size_t k = 0; k < table.dimension; k += kLanes)
                    __builtin_prefetch(at[i + kAhead] + k);
            float* to = copies.data() + i * stride;
            if (exponent == 0)
                std::copy_n(at[i], table.dimension, to);
            else
                for (std::size_t k = 0; k < table.dimension; ++k) to[k] = at[i][k] * scale;
            std::fill(to + table.dimension, to + stride, 0.0F);
            at[i] = to;
        }
    }
    std::fill(at.data() + words.size(), at.data() + count, at[words.size() - 1]);
}

void CostKernel::fill(const VectorTable& table, Cost cost, std::span<const std::int32_t> rows,
                      std::span<const std::int32_t> columns, int exponent, Stop& stop,
                      CostMatrix& out) {
    const Kernels& run = kernels();
    const std::size_t row_count = rounded_up(rows.size(), kTileRows);
    const std::size_t column_count = rounded_up(columns.size(), kTileColumns);
    // Copies end with zeros, so that registers of most kinds are always full.
    constexpr std::size_t unit = 8;
    const bool copied = exponent != 0 || std::min(rows.size(), columns.size()) > kFewWords;
    const std::size_t length = copied ? rounded_up(table.dimension, unit) : table.dimension;
    rows_.gather(table, rows, row_count, copied, exponent);
    columns_.gather(table, columns, column_count, copied, exponent);
    for (std::size_t j = 0; j < column_count; j += kPanel) {
        if (j > 0) stop.throw_if_requested();
        run.squared_distances(rows_.at.data(), row_count, columns_.at.data() + j,
                              std::min(kPanel, column_count - j), length, out.values.data() + j,
                              out.stride);
    }
    out.unit = std::ldexp(1.0, cost == Cost::euclidean ? -exponent : -2 * exponent);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        float* row = out.values.data() + i * out.stride;
        for (std::size_t j = columns.size(); j < out.stride; ++j) row[j] = 0;
    }
    out.largest = run.finish_costs(out.values.data(), rows.size() * out.stride,
                                   cost == Cost::cosine ? 0.5F : 1, cost == Cost::euclidean);
}

} // namespace textkin
