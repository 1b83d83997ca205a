#include "transport/costs.h"

#include "kernels/padding.h"

#include <algorithm>
#include <cmath>

namespace textkin::transport {
namespace {

// Points of one side that are compared with all points of the other side at a time: they stay in
// the L1 cache.
constexpr std::size_t kPanel = 16;

// The vectors of documents with more words than this are copied to adjacent, aligned memory. This
// is faster if each vector is compared with many others, because rows of the table are not aligned
// to cache lines.
constexpr std::size_t kFewWords = 16;

// Prefetch distance, in rows of the table.
constexpr std::size_t kPrefetchDistance = 2;

float largest_magnitude(const VectorTable& table, std::span<const std::int32_t> words) {
    float largest = 0;
    for (const std::int32_t word : words) {
        const float* x = table.row(word);
        for (std::size_t k = 0; k < table.dimension; ++k)
            largest = std::max(largest, std::fabs(x[k]));
    }
    return largest;
}

// Squares of float differences neither overflow nor underflow if the largest cost is this far from
// both limits; the loss is below 1e-10 of the largest cost.
bool is_ordinary(Cost cost, float largest) {
    const float root = cost == Cost::euclidean ? largest : std::sqrt(largest);
    return root > 0x1p-30F && root < 0x1p30F;
}

} // namespace

void CostKernel::compute(const VectorTable& table, Cost cost, std::span<const std::int32_t> rows,
                         std::span<const std::int32_t> columns, base::Stop& stop, CostMatrix& out) {
    out.rows = rows.size();
    out.columns = columns.size();
    out.stride = kernels::padded(columns.size());
    out.values.grow(kernels::padded(out.rows, kernels::kTileRows) * out.stride);
    fill(table, cost, rows, columns, 0, stop, out);
    if (is_ordinary(cost, out.largest)) return;
    // Vectors of extreme size, or all equal: again, with vectors scaled to about 1 by a power of
    // two, which changes no digit.
    int exponent = 0;
    std::frexp(std::max(largest_magnitude(table, rows), largest_magnitude(table, columns)),
               &exponent);
    fill(table, cost, rows, columns, std::clamp(-exponent, -120, 120), stop, out);
}

// The last address is repeated up to `count`, to fill a tile.
void CostKernel::Points::gather(const VectorTable& table, std::span<const std::int32_t> words,
                                std::size_t count, bool copied, int exponent) {
    at.grow(count);
    for (std::size_t i = 0; i < words.size(); ++i) at[i] = table.row(words[i]);
    if (copied) {
        const std::size_t stride = kernels::padded(table.dimension);
        const auto scale = static_cast<float>(std::ldexp(1.0, exponent));
        copies.grow(words.size() * stride);
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (i + kPrefetchDistance < words.size())
                for (std::size_t k = 0; k < table.dimension; k += kernels::kLanes)
                    __builtin_prefetch(at[i + kPrefetchDistance] + k);
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
                      std::span<const std::int32_t> columns, int exponent, base::Stop& stop,
                      CostMatrix& out) {
    const kernels::Kernels& run = kernels::kernels();
    const std::size_t row_count = kernels::padded(rows.size(), kernels::kTileRows);
    const std::size_t column_count = kernels::padded(columns.size(), kernels::kTileColumns);
    // Copies end with zeros, so that registers of most kinds are always full.
    constexpr std::size_t unit = 8;
    const bool copied = exponent != 0 || std::min(rows.size(), columns.size()) > kFewWords;
    const std::size_t length = copied ? kernels::padded(table.dimension, unit) : table.dimension;
    rows_.gather(table, rows, row_count, copied, exponent);
    columns_.gather(table, columns, column_count, copied, exponent);
    for (std::size_t j = 0; j < column_count; j += kPanel) {
        if (j > 0) stop.throw_if_requested();
        run.costs.squared_distances(rows_.at.data(), row_count, columns_.at.data() + j,
                                    std::min(kPanel, column_count - j), length,
                                    out.values.data() + j, out.stride);
    }
    out.unit = std::ldexp(1.0, cost == Cost::euclidean ? -exponent : -2 * exponent);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        float* row = out.values.data() + i * out.stride;
        for (std::size_t j = columns.size(); j < out.stride; ++j) row[j] = 0;
    }
    out.largest = run.costs.finish_costs(out.values.data(), rows.size() * out.stride,
                                         cost == Cost::cosine ? 0.5F : 1, cost == Cost::euclidean);
}

} // namespace textkin::transport
