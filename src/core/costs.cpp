#include "textkin/costs.h"

#include "textkin/kernels.h"
#include "textkin/rounded.h"

#include <algorithm>
#include <cmath>

namespace textkin {
namespace {

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
                         std::span<const std::int32_t> columns, Stop& stop, CostMatrix& out) {
    check_size(rows.size(), columns.size());
    out.rows = rows.size();
    out.columns = columns.size();
    out.stride = padded(columns.size());
    if (out.values.size() < out.rows * out.stride) out.values.resize(out.rows * out.stride);
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
    const std::size_t d = table.dimension;
    const auto scale = static_cast<float>(std::ldexp(1.0, exponent));
    if (packed_.size() < d * kLanes) packed_.resize(d * kLanes);
    if (point_.size() < d) point_.resize(d);
    out.unit = std::ldexp(1.0, cost == Cost::euclidean ? -exponent : -2 * exponent);
    out.largest = 0;

    double squares[kLanes];
    for (std::size_t j = 0; j < columns.size(); j += kLanes) {
        stop.throw_if_requested();
        const std::size_t lanes = std::min(kLanes, columns.size() - j);
        const float* y[kLanes];
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            y[lane] = table.row(columns[j + std::min(lane, lanes - 1)]);
        for (std::size_t k = 0; k < d; ++k)
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                packed_[k * kLanes + lane] = y[lane][k] * scale;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const float* x = table.row(rows[i]);
            if (exponent != 0) {
                for (std::size_t k = 0; k < d; ++k) point_[k] = x[k] * scale;
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
