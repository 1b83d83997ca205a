// The inner loops, as a table of function pointers. Each instruction set fills the table in a
// separate file of this folder; all other code exists once.
//
// Those files are compiled for CPUs other than the one that runs. Their headers must therefore
// contain no function with a body: if several files compile an inline function or a template, the
// linker keeps an arbitrary copy, which may need another CPU. This header follows the rule.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin::kernels {

// Rows of numbers start at a multiple of 64 bytes and are padded to a multiple of this many
// numbers, on every CPU.
inline constexpr std::size_t kLanes = 16;

// Points for the distance kernel come in multiples of these.
inline constexpr std::size_t kTileRows = 2;
inline constexpr std::size_t kTileColumns = 4;

// Words of the vocabulary that a search processes at a time. Costs are integers of at most
// kFarthest.
inline constexpr std::size_t kPanelWords = 16;
inline constexpr std::int16_t kFarthest = 32767;
inline constexpr float kLargestShort = 32767.0F;
// Below this the underflow of single products could matter.
inline constexpr float kLeastSquare = 1e-30F;

// Centroids for the kernel of their distances come in groups of these.
inline constexpr std::size_t kCentroidRows = 4;
inline constexpr std::size_t kCentroidColumns = 8;

template <class Number> struct Tree; // kernels/simplex_tree.h
enum class Outcome : std::uint8_t;

// Smaller probabilities become 0: numbers that decay further become subnormal, which is slow.
inline constexpr double kLeastTopic = 1e-15;

// Loops over tables of topics: rows of `width` numbers, a multiple of 64 bytes. The same bits on
// every processor.
template <class Number> struct TopicKernels {
    // out[j]: the product of `point` and row rows[j]. Of the rows, `readable` may be looked at, so
    // that those which come next are asked for.
    void (*products)(const Number* point, const Number* table, std::size_t width,
                     const std::int32_t* rows, std::size_t count, std::size_t readable,
                     Number* out);

    // out: the sum of weights[j] times row rows[j], in order, where rows and weights were used just
    // before; and of weights[places[j]] times row rows[j], where they are far away.
    void (*near_sums)(const Number* table, std::size_t width, const std::int32_t* rows,
                      const Number* weights, std::size_t count, Number* out);
    void (*far_sums)(const Number* table, std::size_t width, const std::int32_t* rows,
                     const Number* weights, const std::int64_t* places, std::size_t count,
                     std::size_t readable, Number* out);

    // What the topics of a document become: sums[k] * point[k] and the prior, in parts of 1, and 0
    // below kLeastTopic; they stay as they were where all of it is 0.
    void (*renew_topics)(const Number* sums, const Number* point, std::size_t n_topics,
                         double prior, const Number* before, Number* after);

    // What the counts of a word become: row[k] * scale[k] * sums[k], 0 below `least`, and the
    // prior; totals[k] grows by that.
    void (*renew_words)(const Number* sums, const double* scale, std::size_t n_topics, double prior,
                        double least, Number* row, double* totals);

    // The sum of weights[j] log(values[j]) over values above 0.
    double (*log_sum)(const Number* weights, const Number* values, std::size_t count);
};

// Which numbers of a matrix may differ from 0: all, those with j >= i, or those with j <= i.
enum class Shape : std::uint8_t { full, upper, lower };

// A product of matrices: out[i][j] becomes, or grows by, the sum over k below `count` of
// left[i * left_row + k * left_step] * right[k][j], in the order of k. Rows of `right` and `out`
// have `width` numbers, a multiple of 64 bytes.
template <class Number> struct Product {
    const Number* left;
    std::size_t left_row;
    std::size_t left_step;
    std::size_t rows; // of `left` and `out`
    const Number* right;
    std::size_t count;
    std::size_t width;
    Number* out;
    bool adds = false;
    bool upper = false; // whether only j >= i is wanted; the rest of `out` may become anything
    Shape right_shape = Shape::full;
};

// Loops of matrix factorization. A row gives the same bits alone and in a batch.
template <class Number> struct FactorKernels {
    void (*multiply)(const Product<Number>& product);

    // out[i * stride + j] for j >= i: `factor` times the product of rows i and j, and 1 more where
    // they are the same; 0 from `count` to `stride`, a multiple of 64 bytes.
    void (*pair_products)(const Number* rows, std::size_t count, std::size_t width, Number factor,
                          Number* out, std::size_t stride);

    // Solves M x = b for a symmetric positive definite M, of which only j >= i is read, and whose
    // rows are padded with zeros to `stride`; `x` holds b first, padded likewise. M is lost. False
    // if M is not positive definite.
    bool (*solve_positive)(Number* matrix, std::size_t count, std::size_t stride, Number* x);
};

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
};

struct GibbsTokens;    // kernels/tokens_of_topics.h
struct EmbeddingSteps; // kernels/steps_of_vectors.h

struct Kernels {
    const char* name;

    // The simplex method, from a problem to the best tree.
    Outcome (*solve)(Tree<std::int32_t>& tree);

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

    // out[x]: the minimum of rows[i][x] over i; `length` is a multiple of kLanes.
    void (*least_of_rows)(const std::int16_t* const* rows, std::size_t count, std::size_t length,
                          std::int16_t* out);

    // out[w * stride + j]: rows[j][offset + w] for the words of a panel, and kFarthest from `count`
    // to `stride`.
    void (*transpose_panel)(const std::int16_t* const* rows, std::size_t count, std::size_t offset,
                            std::int16_t* out, std::size_t stride);

    // out[row]: the sum of counts[k] * values[columns[k]] from starts[row] to starts[row + 1]; and
    // eight such sums at once, of values[8 * columns[k] + q].
    void (*weigh_rows)(const std::int64_t* starts, std::size_t rows, const std::int32_t* columns,
                       const float* counts, const float* values, float* out);
    void (*weigh_rows_eightfold)(const std::int64_t* starts, std::size_t rows,
                                 const std::int32_t* columns, const float* counts,
                                 const float* values, float* out);

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

    // out[j] for each j below `columns` (a multiple of kLanes): the minimum over k below `count`
    // (at least 1) of table[rows[k] * stride + j].
    void (*column_minima)(const float* table, std::size_t stride, const std::int32_t* rows,
                          std::size_t count, std::size_t columns, float* out);

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

    TopicKernels<float> topics;
    TopicKernels<double> fine_topics;
    FactorKernels<float> factors;
    FactorKernels<double> fine_factors;

    // Draws a new topic for each token in order, from counts without the token; the second with
    // fixed probabilities of the words. The same topics on every processor.
    void (*draw_topics)(GibbsTokens& tokens);
    void (*draw_topics_of_fixed_words)(GibbsTokens& tokens);

    // Takes the steps in order. The first changes all inputs and outputs, rows padded with zeros to
    // 64 bytes; other threads may do the same at once. The second changes the first input of each
    // step, which is padded so, and only reads the other rows, which end with their numbers.
    void (*train_vectors)(const EmbeddingSteps& steps);
    void (*train_first_inputs)(const EmbeddingSteps& steps);

    MixtureKernels mixtures;
    MixtureKernels square_mixtures;
    // Of each row of terms: the largest, which it becomes exp(term - largest) of, and the sum of
    // that; NaN if a term is NaN, or the largest infinite. Rows come in eights.
    void (*exponentials)(float* terms, std::size_t rows, std::size_t width, float* tops,
                         float* totals);
};

// The kernels in use: those of the best instruction set that this processor has, or of the one
// named by the environment variable TEXTKIN_SIMD, looked at once. Throws std::invalid_argument if
// that names none, or one that the processor lacks.
[[nodiscard]] const Kernels& kernels();

// For tests: the tables that this processor can run, the plainest first, ended by nullptr; and a
// change of the one in use, while nothing else runs.
[[nodiscard]] const Kernels* const* available_kernels();
void use_kernels(const char* name);

} // namespace textkin::kernels
