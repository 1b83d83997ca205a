// Kernels in portable vector code: what every x86-64 or arm64 processor runs.
#include "baseline.h"

#include <algorithm>
#include <cstring>

namespace textkin::baseline {
namespace {

using Floats = float __attribute__((vector_size(16)));
using Ints = std::int32_t __attribute__((vector_size(16)));

constexpr std::size_t kWidth = 4;                 // numbers in a vector
constexpr std::size_t kVectors = kLanes / kWidth; // vectors in a group of lanes
constexpr std::size_t kBlock = 16;                // float products summed before going to double

template <class Vector, class Number> Vector load(const Number* from) {
    Vector value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

Ints smaller(Ints a, Ints b) { return a < b ? a : b; }

} // namespace

void squared_distances(const float* point, const float* packed, std::size_t dimension,
                       double* out) {
    std::fill_n(out, kLanes, 0.0);
    for (std::size_t start = 0; start < dimension; start += kBlock) {
        const std::size_t end = std::min(dimension, start + kBlock);
        Floats sums[kVectors] = {};
        for (std::size_t k = start; k < end; ++k) {
            const float x = point[k];
            const Floats wide = {x, x, x, x};
            for (std::size_t v = 0; v < kVectors; ++v) {
                const Floats d = load<Floats>(packed + k * kLanes + v * kWidth) - wide;
                sums[v] += d * d;
            }
        }
        for (std::size_t v = 0; v < kVectors; ++v)
            for (std::size_t l = 0; l < kWidth; ++l)
                out[v * kWidth + l] += static_cast<double>(sums[v][l]);
    }
}

std::int32_t minimum_reduced(const std::int32_t* cost, const std::int32_t* offset,
                             std::size_t columns) {
    Ints best[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v)
        best[v] = load<Ints>(cost + v * kWidth) - load<Ints>(offset + v * kWidth);
    for (std::size_t j = kLanes; j < columns; j += kLanes)
        for (std::size_t v = 0; v < kVectors; ++v)
            best[v] = smaller(best[v], load<Ints>(cost + j + v * kWidth) -
                                           load<Ints>(offset + j + v * kWidth));
    const Ints last = smaller(smaller(best[0], best[1]), smaller(best[2], best[3]));
    return std::min(std::min(last[0], last[1]), std::min(last[2], last[3]));
}

std::size_t find_reduced(const std::int32_t* cost, const std::int32_t* offset, std::int32_t value) {
    std::size_t j = 0;
    while (cost[j] - offset[j] != value) ++j;
    return j;
}

} // namespace textkin::baseline
