// Kernels of searches: lower costs, bounds of many documents, and dual bounds. No function here has
// a body: see kernels/kernels.h.
#pragma once

#include "kernels/layout.h"

namespace textkin::kernels {

// Costs in 16 bits that never exceed the true costs, panel by panel.
struct PanelKernels {
    // Costs from `count` points (a row every `stride` numbers) to the words of a panel, which holds
    // [coordinate][word], from dot products: both squares less twice the product, its root if
    // `root`, times `scale`, rounded down, at most kFarthest. out[p] + offset receives the costs of
    // point p. The error of a product of d numbers is at most (d + 1) 2^-24 |x| |y|; to get costs
    // that never exceed the true costs, pass squares that are reduced by it.
    void (*lower_costs)(const float* points, std::size_t count, std::size_t stride,
                        std::size_t dimension, const float* panel, const float* panel_squares,
                        const float* point_squares, float scale, bool root,
                        std::int16_t* const* out, std::size_t offset);

    // The vectors of kPanelWords words as a panel, times a power of two.
    void (*pack_panel)(const float* const* words, std::size_t dimension, float scale, float* out);

    // The same from numbers in 16 bits, each word's in steps of its own.
    void (*unpack_panel)(const std::int16_t* packed, const float* steps, std::size_t dimension,
                         float* out);

    // out[w * stride + j]: rows[j][offset + w] for the words of a panel, and kFarthest from `count`
    // to `stride`.
    void (*transpose_panel)(const std::int16_t* const* rows, std::size_t count, std::size_t offset,
                            std::int16_t* out, std::size_t stride);
};

// Bounds of many documents.
struct BoundKernels {
    // out[x]: the minimum of rows[i][x] over i; `length` is a multiple of kLanes.
    void (*least_of_rows)(const std::int16_t* const* rows, std::size_t count, std::size_t length,
                          std::int16_t* out);

    // out[row]: the sum of counts[k] * values[columns[k]] from starts[row] to starts[row + 1]; and
    // eight such sums at once, of values[8 * columns[k] + q].
    void (*weigh_rows)(const std::int64_t* starts, std::size_t rows, const std::int32_t* columns,
                       const float* counts, const float* values, float* out);
    void (*weigh_rows_eightfold)(const std::int64_t* starts, std::size_t rows,
                                 const std::int32_t* columns, const float* counts,
                                 const float* values, float* out);

    // out[j] for each j below `columns` (a multiple of kLanes): the minimum over k below `count`
    // (at least 1) of table[rows[k] * stride + j].
    void (*column_minima)(const float* table, std::size_t stride, const std::int32_t* rows,
                          std::size_t count, std::size_t columns, float* out);
};

// Centroids and their distances.
struct CentroidKernels {
    // sums[l] += weights[k] * table[rows[k] * kLanes + l] for each k below `count`, in order, and
    // each l below kLanes.
    void (*add_weighted_rows)(const float* table, const std::int32_t* rows, const double* weights,
                              std::size_t count, double* sums);

    // sums[k] += share * x[k].
    void (*add_scaled)(const float* x, double share, std::size_t dimension, double* sums);

    // out[i * kCentroidColumns + j]: the squared distance of the point at x + i * dimension and
    // the one with coordinates y[k * kCentroidColumns + j], for i below kCentroidRows; terms are
    // added in order.
    void (*centroid_squares)(const double* x, const double* y, std::size_t dimension, double* out);
};

// Potentials of the dual problem from the costs of one pair in 16 bits.
struct DualKernels {
    // Of `count` rows of costs, `width` (a multiple of kLanes) numbers each: the least of each row
    // over columns that are not closed (closed[j] is 0 or kFarthest), and of each column.
    void (*least_both_ways)(const std::int16_t* const* rows, std::size_t count, std::size_t width,
                            const std::int16_t* closed, std::int16_t* row_least,
                            std::int16_t* column_least);

    // out[j]: the least of rows[i][j] - row_values[i], which may be below 0 and fits 16 bits.
    void (*reduced_columns)(const std::int16_t* const* rows, std::size_t count, std::size_t width,
                            const std::int16_t* row_values, std::int16_t* out);

    // out[i]: the least of rows[i][j] - column_values[j], never below 0, over columns that are not
    // closed.
    void (*reduced_rows)(const std::int16_t* const* rows, std::size_t count, std::size_t width,
                         const std::int16_t* column_values, const std::int16_t* closed,
                         std::int16_t* out);
};

// Sinkhorn scaling of the costs of one pair in 16 bits.
struct SinkhornKernels {
    // out[i * width + j]: 2^(scale * rest), at most 1, and 0 from 2^-64 down, where `rest` is
    // rows[i][j] - row_values[i] - column_values[j], which fits 16 bits.
    void (*sinkhorn_kernel)(const std::int16_t* const* rows, std::size_t count, std::size_t width,
                            const std::int16_t* row_values, const std::int16_t* column_values,
                            float scale, float* out);

    // A step of Sinkhorn scaling: factors of rows, then of columns, for which the kernel times both
    // has the masses of the rows, then of the columns, as sums. row_sums[i]: the sum over j of the
    // kernel times the former factors of the columns, above 0. `sums` is scratch memory as wide as
    // a row; without it, only row_sums are computed. Columns without mass are ignored.
    void (*sinkhorn_step)(const float* sinkhorn_kernel, std::size_t count, std::size_t width,
                          const float* row_masses, const float* column_masses,
                          float* column_factors, float* sums, float* row_sums);
};

} // namespace textkin::kernels
