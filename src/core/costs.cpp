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

// The vectors of the words one after another, each padded with zeros to `stride`, times a power of
// two; then `count - words.size()` copies of the last one, which fill up a tile.
void pack(const VectorTable& table, std::span<const std::int32_t> words, std::size_t count,
          std::size_t stride, int exponent, Buffer<float>& out) {
    out.grow(count * stride);
    const auto scale = static_cast<float>(std::ldexp(1.0, exponent));
    for (std::size_t i = 0; i < count; ++i) {
        const float* from = table.row(words[std::min(i, words.size() - 1)]);
        float* to = out.data() + i * stride;
        if (i + kAhead < words.size()) {
            const float* next = table.row(words[i + kAhead]);
            for (std::size_t k = 0; k < table.dimension; k += kLanes) __builtin_prefetch(next + k);
        }
        if (exponent == 0)
            std::copy_n(from, table.dimension, to);
        else
            for (std::size_t k = 0; k < table.dimension; ++k) to[k] = from[k] * scale;
        std::fill(to + table.dimension, to + stride, 0.0F);
    }
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

void CostKernel::fill(const VectorTable& table, Cost cost, std::span<const std::int32_t> rows,
                      std::span<const std::int32_t> columns, int exponent, Stop& stop,
                      CostMatrix& out) {
    const Kernels& run = kernels();
    const std::size_t stride = padded(table.dimension);
    const std::size_t row_count = rounded_up(rows.size(), kTileRows);
    const std::size_t column_count = rounded_up(columns.size(), kTileColumns);
    pack(table, rows, row_count, stride, exponent, rows_);
    pack(table, columns, column_count, stride, exponent, columns_);
    for (std::size_t j = 0; j < column_count; j += kPanel) {
        if (j > 0) stop.throw_if_requested();
        run.squared_distances(rows_.data(), row_count, columns_.data() + j * stride,
                              std::min(kPanel, column_count - j), table.dimension, stride,
                              out.values.data() + j, out.stride);
    }
    out.unit = std::ldexp(1.0, cost == Cost::euclidean ? -exponent : -2 * exponent);
    out.largest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        float* row = out.values.data() + i * out.stride;
        std::fill(row + columns.size(), row + out.stride, 0.0F);
        out.largest =
            std::max(out.largest, run.finish_costs(row, out.stride, cost == Cost::cosine ? 0.5F : 1,
                                                   cost == Cost::euclidean));
    }
}

} // namespace textkin
