// Kernels of transport problems: their costs, and the network simplex. No function here has a body:
// see kernels/kernels.h.
#pragma once

#include "kernels/layout.h"

namespace textkin::kernels {

template <class Number> struct Tree; // kernels/simplex_tree.h
enum class Outcome : std::uint8_t;

// Costs between points.
struct CostKernels {
    // out[i * out_stride + j]: the squared Euclidean distance of points a[i] and b[j].
    //
    // At most 13 squared differences are added one after another in float, three such sums are
    // added in float, and the rest in double. In units of 2^-24, the error of squaring a rounded
    // difference is at most 2, of thirteen terms 13 (with or without fused additions), of two more
    // additions 2, and of rounding the result 1: 18 in total, 1.1e-6 relative, and 6e-7 for the
    // rounded root. This holds for any dimension, and for any distance as long as squares of
    // differences are in the range of float (differences above 1e-19).
    void (*squared_distances)(const float* const* a, std::size_t rows, const float* const* b,
                              std::size_t columns, std::size_t dimension, float* out,
                              std::size_t out_stride);

    // values[k] * factor, and the square root of that where asked for, in place; returns the
    // largest. All are at least 0; `count` is a multiple of kLanes.
    float (*finish_costs)(float* values, std::size_t count, float factor, bool root);

    // values[k] * scale to the nearest whole number; `scale` is a power of two. `count` is a
    // multiple of kLanes.
    void (*round_costs)(const float* values, std::size_t count, float scale, std::int32_t* out);
};

// The network simplex with numbers of 32 bits.
struct SimplexKernels {
    // The simplex method, from a problem to the best tree.
    Outcome (*solve)(Tree<std::int32_t>& tree);

    // The rest are loops of `solve`, here for tests.
    //
    // out[i]: the minimum over `columns` (a multiple of kLanes) of cost[i * stride + j] -
    // offset[j].
    void (*row_minima)(const std::int32_t* cost, std::size_t stride, std::size_t rows,
                       const std::int32_t* offset, std::size_t columns, std::int32_t* out);

    // The first j below `columns` (a multiple of kLanes) with cost[j] - offset[j] == value; there
    // is one.
    std::size_t (*find_reduced)(const std::int32_t* cost, const std::int32_t* offset,
                                std::size_t columns, std::int32_t value);

    // values[x] += amount for each x in the set (bit x % 64 of word x / 64) from `begin` to `end`,
    // multiples of kLanes.
    void (*add_where)(std::int32_t* values, const std::uint64_t* set, std::size_t begin,
                      std::size_t end, std::int32_t amount);
};

} // namespace textkin::kernels
