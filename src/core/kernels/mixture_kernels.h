// Kernels of mixtures. No function here has a body: see kernels/kernels.h.
#pragma once

#include "kernels/layout.h"

namespace textkin::kernels {

// Loops of mixtures over rows of `dimension` numbers, in float; with squares, or without them.
// Terms have `width` numbers a row, a multiple of kLanes, one for each component.
struct MixtureKernels {
    // terms[i][k] += the sum over j of x_ij linear_kj, or of x_ij (linear_kj + x_ij quadratic_kj).
    // Of kLanes components `panels` has kLanes numbers linear_kj, then as many quadratic_kj, for
    // each j; then come the next components. Of numbers at a time sums are made by themselves.
    void (*add_terms)(const float* values, std::size_t rows, std::size_t dimension,
                      const float* panels, std::size_t width, float* terms);

    // out[k]: the sum over i below `count` of shares[i] x_rows[i]k, and of the same with squares;
    // both are padded to kLanes.
    void (*share_sums)(const float* values, std::size_t dimension, const std::int32_t* rows,
                       const float* shares, std::size_t count, float* first, float* second);

    // Of each row of terms: the largest, which it becomes exp(term - largest) of, and the sum of
    // that; NaN if a term is NaN, or the largest infinite. Rows come in eights.
    void (*exponentials)(float* terms, std::size_t rows, std::size_t width, float* tops,
                         float* totals);
};

} // namespace textkin::kernels
