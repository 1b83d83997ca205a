#include "textkin/costs.h"

#include "textkin/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace textkin {
namespace {

// The largest |x| of all numbers of these words, compared as bits: for numbers that are not NaN
// the order is the same, and the loop is one of whole numbers that any compiler makes wide.
float largest_magnitude(const VectorTable& table, std::span<const std::int32_t> words) {
    std::int32_t largest = 0;
    for (const std::int32_t word : words) {
        const float* x = table.row(word);
        for (std::size_t k = 0; k < table.dimension; ++k)
            largest = std::max(largest, std::bit_cast<std::int32_t>(x[k]) & 0x7fffffff);
    }
    return std::bit_cast<float>(largest);
}

// A power of two that brings vectors of extreme size to about 1, so that the squares of float
// differences neither overflow nor vanish; 1 for all ordinary vectors.
int extreme_exponent(float largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::abs(exponent) > 20 && largest > 0 ? -exponent : 0;
}

void finish(Cost cost, const double* squares, float* out) {
    switch (cost) {
    case Cost::euclidean:
        for (std::size_t l = 0; l < kLanes; ++l) out[l] = static_cast<float>(std::sqrt(squares[l]));
        return;
    case Cost::squared_euclidean:
        for (std::size_t l = 0; l < kLanes; ++l) out[l] = static_cast<float>(squares[l]);
        return;
    case Cost::cosine:
        for (std::size_t l = 0; l < kLanes; ++l) out[l] = static_cast<float>(squares[l] / 2);
        return;
    }
}

} // namespace

void CostKernel::compute(const VectorTable& table, Cost cost, std::span<const std::int32_t> rows,
                         std::span<const std::int32_t> columns, CostMatrix& out) {
    const Kernels& run = kernels();
    const std::size_t d = table.dimension;
    out.rows = rows.size();
    out.columns = columns.size();
    out.stride = padded(columns.size());
    out.largest = 0;
    if (out.values.size() < out.rows * out.stride) out.values.resize(out.rows * out.stride);
    if (packed_.size() < d * kLanes) packed_.resize(d * kLanes);
    if (point_.size() < d) point_.resize(d);

    const int exponent = extreme_exponent(
        std::max(largest_magnitude(table, rows), largest_magnitude(table, columns)));
    out.unit = std::ldexp(1.0, cost == Cost::euclidean ? -exponent : -2 * exponent);

    double squares[kLanes];
    for (std::size_t j = 0; j < columns.size(); j += kLanes) {
        const std::size_t lanes = std::min(kLanes, columns.size() - j);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const float* y = table.row(columns[j + std::min(lane, lanes - 1)]);
            for (std::size_t k = 0; k < d; ++k)
                packed_[k * kLanes + lane] = exponent == 0 ? y[k] : std::ldexp(y[k], exponent);
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const float* x = table.row(rows[i]);
            if (exponent != 0) {
                for (std::size_t k = 0; k < d; ++k) point_[k] = std::ldexp(x[k], exponent);
                x = point_.data();
            }
            run.squared_distances(x, packed_.data(), d, squares);
            float* to = out.values.data() + i * out.stride + j;
            finish(cost, squares, to);
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                out.largest = std::max(out.largest, to[lane]);
        }
    }
}

} // namespace textkin
