#include "topics/factors.h"

#include "base/parallel.h"
#include "base/scratch.h"
#include "kernels/kernels.h"
#include "kernels/padding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace textkin::topics {
namespace {

// Sums and blocks have these sizes for any number of threads.
constexpr std::size_t kChunk = 256;          // rows whose products are summed up in one go
constexpr std::size_t kParts = 16;           // of a table, whose sums are kept until all are there
constexpr std::size_t kBlockRows = 96;       // rows of entries, or
constexpr std::size_t kBlockOf = 4096;       // so many entries, that a thread takes at once
constexpr std::size_t kPrefetchDistance = 8; // rows that are asked for before they are copied

template <class Number> const kernels::FactorKernels<Number>& loops();
template <> const kernels::FactorKernels<float>& loops<float>() {
    return kernels::kernels().factors;
}
template <> const kernels::FactorKernels<double>& loops<double>() {
    return kernels::kernels().fine_factors;
}

// out[i * width + j] becomes, or grows by, the sum over rows of row[i] * row[j], for j >= i.
template <class Number>
void multiply_gram(const Number* table, std::size_t rows, std::size_t dimensions, std::size_t width,
                   Number* out, bool adds) {
    loops<Number>().multiply({.left = table,
                              .left_row = 1,
                              .left_step = width,
                              .rows = dimensions,
                              .right = table,
                              .count = rows,
                              .width = width,
                              .out = out,
                              .adds = adds,
                              .upper = true});
}

template <class Number>
void times_matrix(const Number* rows, std::size_t count, const Number* matrix, kernels::Shape shape,
                  std::size_t dimensions, std::size_t width, Number* out) {
    loops<Number>().multiply({.left = rows,
                              .left_row = width,
                              .left_step = 1,
                              .rows = count,
                              .right = matrix,
                              .count = dimensions,
                              .width = width,
                              .out = out,
                              .right_shape = shape});
}

// Where blocks of rows begin, and the end of the last.
template <class Number> std::vector<std::size_t> blocks_of(const Counts<Number>& entries) {
    std::vector<std::size_t> starts{0};
    std::int64_t first = 0;
    for (std::size_t row = 0; row < entries.size(); ++row) {
        const std::int64_t next = entries.starts[row + 1];
        if (row + 1 - starts.back() < kBlockRows &&
            next - first < static_cast<std::int64_t>(kBlockOf) && row + 1 < entries.size())
            continue;
        starts.push_back(row + 1);
        first = next;
    }
    return starts;
}

// L^-1 of a symmetric G = L L^T, of which only j >= i is read; by Cholesky's method, and by solving
// for each column of the identity.
std::vector<double> inverse_factor(const std::vector<double>& gram, std::size_t n) {
    std::vector<double> lower(n * n);
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = j; i < n; ++i) {
            double sum = gram[j * n + i];
            for (std::size_t k = 0; k < j; ++k) sum -= lower[i * n + k] * lower[j * n + k];
            lower[i * n + j] = i == j ? std::sqrt(sum) : sum / lower[j * n + j];
        }
    }
    std::vector<double> inverse(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        inverse[i * n + i] = 1;
        for (std::size_t k = 0; k < i; ++k)
            for (std::size_t j = 0; j <= k; ++j)
                inverse[i * n + j] -= lower[i * n + k] * inverse[k * n + j];
        for (std::size_t j = 0; j <= i; ++j) inverse[i * n + j] /= lower[i * n + i];
    }
    return inverse;
}

} // namespace

// In double for all types: if dimensions depend on each other, rounding in single precision could
// exceed a small regularization, and L would not exist.
template <class Number>
std::vector<double> gram_of(const Number* table, std::size_t rows, std::size_t dimensions,
                            std::size_t width, unsigned threads, base::Stop& stop) {
    const std::size_t size = std::max(kChunk, (rows + kParts - 1) / kParts);
    const std::size_t count = (rows + size - 1) / size;
    std::vector<std::vector<double>> parts(count);
    base::parallel_for(
        count, threads, stop,
        [&](std::size_t part) {
            parts[part].resize(dimensions * width);
            const std::size_t end = std::min(rows, (part + 1) * size);
            base::Buffer<double> fine;
            for (std::size_t begin = part * size; begin < end; begin += kChunk) {
                const std::size_t taken = std::min(kChunk, end - begin);
                fine.grow(kChunk * width);
                std::copy_n(table + begin * width, taken * width, fine.data());
                multiply_gram(fine.data(), taken, dimensions, width, parts[part].data(), true);
            }
        },
        false);
    std::vector<double> sums(dimensions * dimensions);
    for (const auto& part : parts)
        for (std::size_t i = 0; i < dimensions; ++i)
            for (std::size_t j = i; j < dimensions; ++j)
                sums[i * dimensions + j] += part[i * width + j];
    return sums;
}

// Block by block, whose results stay near until they are written over the rows.
template <class Number>
void multiply_rows(Number* table, std::size_t rows, const Number* matrix, std::size_t dimensions,
                   std::size_t width, unsigned threads, base::Stop& stop) {
    base::ScratchPool<base::Buffer<Number>> pool;
    base::parallel_for((rows + kBlockRows - 1) / kBlockRows, threads, stop,
                       [&](std::size_t block) {
                           const auto scratch = pool.take();
                           scratch->grow(kBlockRows * width);
                           Number* own = table + block * kBlockRows * width;
                           const std::size_t count =
                               std::min(kBlockRows, rows - block * kBlockRows);
                           times_matrix(own, count, matrix, kernels::Shape::full, dimensions, width,
                                        scratch->data());
                           std::copy_n(scratch->data(), count * width, own);
                       },
                       false);
}

// Memory of one thread.
template <class Number> struct FactorSolver<Number>::Scratch {
    base::Buffer<Number> rows;     // observed ones, one after another
    base::Buffer<Number> matrix;   // of the system
    base::Buffer<Number> sides;    // two rows: the solution, and what was observed
    base::Buffer<Number> y;        // of the rows of a block
    base::Buffer<Number> products; // two rows: A^T z, and A^T x
    std::vector<double> gram;      // sums over chunks
};

template <class Number>
FactorSolver<Number>::FactorSolver(const Number* factors, std::size_t rows, std::size_t dimensions,
                                   std::size_t width, Weights weights, unsigned threads,
                                   base::Stop& stop)
    : FactorSolver(gram_of(factors, rows, dimensions, width, threads, stop), factors, rows,
                   dimensions, width, weights, threads, stop) {}

template <class Number>
FactorSolver<Number>::FactorSolver(std::vector<double> gram, const Number* factors,
                                   std::size_t rows, std::size_t dimensions, std::size_t width,
                                   Weights weights, unsigned threads, base::Stop& stop)
    : rows_(rows), dimensions_(dimensions), width_(width), weights_(weights) {
    for (std::size_t k = 0; k < dimensions; ++k)
        penalty_ += weights_.regularization * gram[k * dimensions + k];
    for (double& value : gram) value *= weights_.missing;
    for (std::size_t k = 0; k < dimensions; ++k)
        gram[k * dimensions + k] += weights_.regularization;
    const std::vector<double> inverse = inverse_factor(gram, dimensions);
    base::Buffer<Number> there; // L^-T
    there.grow(dimensions * width);
    back_.grow(dimensions * width);
    std::fill_n(there.data(), dimensions * width, Number{0});
    std::fill_n(back_.data(), dimensions * width, Number{0});
    for (std::size_t i = 0; i < dimensions; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            const auto value = static_cast<Number>(inverse[i * dimensions + j]);
            back_[i * width + j] = there[j * width + i] = value;
        }
    }
    placed_.grow(std::max<std::size_t>(rows, 1) * width);
    base::parallel_for((rows + kBlockRows - 1) / kBlockRows, threads, stop,
                       [&](std::size_t block) {
                           const std::size_t begin = block * kBlockRows;
                           times_matrix(factors + begin * width, std::min(kBlockRows, rows - begin),
                                        there.data(), kernels::Shape::upper, dimensions, width,
                                        placed_.data() + begin * width);
                       },
                       false);
}

template <class Number>
double FactorSolver<Number>::solve(const Counts<Number>& entries, Number* out, unsigned threads,
                                   base::Stop& stop) const {
    const std::vector<std::size_t> starts = blocks_of(entries);
    std::vector<double> objectives(starts.size());
    base::ScratchPool<Scratch> pool;
    base::parallel_for(
        starts.size() - 1, threads, stop,
        [&](std::size_t block) {
            const auto scratch = pool.take();
            const std::size_t begin = starts[block];
            const std::size_t count = starts[block + 1] - begin;
            scratch->y.grow(kBlockRows * width_);
            for (std::size_t r = 0; r < count; ++r)
                objectives[block] +=
                    solve_row(entries, begin + r, *scratch, scratch->y.data() + r * width_);
            times_matrix(scratch->y.data(), count, back_.data(), kernels::Shape::lower, dimensions_,
                         width_, out + begin * width_);
            stop.count_finished(count); // rows, not blocks
        },
        false);
    double objective = penalty_;
    for (const double part : objectives) objective += part;
    return objective;
}

template <class Number>
double FactorSolver<Number>::solve_row(const Counts<Number>& entries, std::size_t row,
                                       Scratch& scratch, Number* y) const {
    const auto begin = static_cast<std::size_t>(entries.starts[row]);
    const std::size_t count = static_cast<std::size_t>(entries.starts[row + 1]) - begin;
    std::fill_n(y, width_, Number{0});
    if (count == 0) return 0;
    scratch.products.grow(2 * width_);
    const bool solved = count <= dimensions_ ? solve_short(entries, begin, count, scratch, y)
                                             : solve_long(entries, begin, count, scratch, y);
    if (!solved) {
        std::fill_n(y, dimensions_, std::numeric_limits<Number>::quiet_NaN());
        return std::numeric_limits<double>::quiet_NaN();
    }
    double objective = 0;
    for (const Number value : entries.values.subspan(begin, count))
        objective += static_cast<double>(value) * static_cast<double>(value);
    const Number* projected = scratch.products.data() + width_;
    for (std::size_t k = 0; k < dimensions_; ++k)
        objective -= static_cast<double>(projected[k]) * static_cast<double>(y[k]);
    return objective;
}

// Copies the rows a_j of so many entries, one after another.
template <class Number>
void FactorSolver<Number>::gather(const Counts<Number>& entries, std::size_t begin,
                                  std::size_t count, Scratch& scratch) const {
    scratch.rows.grow(count * width_);
    const std::int32_t* observed = entries.words.data() + begin;
    const std::size_t readable = entries.words.size() - begin;
    for (std::size_t j = 0; j < count; ++j) {
        if (j + kPrefetchDistance < readable) {
            const Number* next =
                placed_.data() + static_cast<std::size_t>(observed[j + kPrefetchDistance]) * width_;
            for (std::size_t k = 0; k < width_; k += 64 / sizeof(Number))
                __builtin_prefetch(next + k);
        }
        std::copy_n(placed_.data() + static_cast<std::size_t>(observed[j]) * width_, width_,
                    scratch.rows.data() + j * width_);
    }
}

template <class Number>
bool FactorSolver<Number>::solve_short(const Counts<Number>& entries, std::size_t begin,
                                       std::size_t count, Scratch& scratch, Number* y) const {
    const kernels::FactorKernels<Number>& run = loops<Number>();
    gather(entries, begin, count, scratch);
    const std::size_t length = kernels::padded(count, 64 / sizeof(Number));
    scratch.sides.grow(2 * length);
    for (std::size_t j = 0; j < length; ++j)
        scratch.sides[j] = scratch.sides[length + j] =
            j < count ? entries.values[begin + j] : Number{0};
    scratch.matrix.grow(count * length);
    run.pair_products(scratch.rows.data(), count, width_, static_cast<Number>(1 - weights_.missing),
                      scratch.matrix.data(), length);
    if (!run.solve_positive(scratch.matrix.data(), count, length, scratch.sides.data()))
        return false;
    run.multiply({.left = scratch.sides.data(),
                  .left_row = length,
                  .left_step = 1,
                  .rows = 2,
                  .right = scratch.rows.data(),
                  .count = count,
                  .width = width_,
                  .out = scratch.products.data()});
    std::copy_n(scratch.products.data(), width_, y);
    return true;
}

// Chunk by chunk: a word that is in every text takes no copy of all texts.
template <class Number>
bool FactorSolver<Number>::solve_long(const Counts<Number>& entries, std::size_t begin,
                                      std::size_t count, Scratch& scratch, Number* y) const {
    const kernels::FactorKernels<Number>& run = loops<Number>();
    Number* projected = scratch.products.data() + width_;
    std::fill_n(projected, width_, Number{0});
    scratch.gram.assign(dimensions_ * width_, 0);
    scratch.matrix.grow(dimensions_ * width_);
    for (const std::size_t end = begin + count; begin < end; begin += kChunk) {
        const std::size_t taken = std::min(kChunk, end - begin);
        gather(entries, begin, taken, scratch);
        multiply_gram(scratch.rows.data(), taken, dimensions_, width_, scratch.matrix.data(),
                      false);
        for (std::size_t i = 0; i < dimensions_; ++i)
            for (std::size_t j = i; j < dimensions_; ++j)
                scratch.gram[i * width_ + j] += static_cast<double>(scratch.matrix[i * width_ + j]);
        run.multiply({.left = entries.values.data() + begin,
                      .left_row = taken,
                      .left_step = 1,
                      .rows = 1,
                      .right = scratch.rows.data(),
                      .count = taken,
                      .width = width_,
                      .out = projected,
                      .adds = true});
    }
    for (std::size_t i = 0; i < dimensions_; ++i) {
        for (std::size_t j = i; j < width_; ++j)
            scratch.matrix[i * width_ + j] =
                static_cast<Number>((1 - weights_.missing) * scratch.gram[i * width_ + j]);
        scratch.matrix[i * width_ + i] += 1;
    }
    std::copy_n(projected, width_, y);
    return run.solve_positive(scratch.matrix.data(), dimensions_, width_, y);
}

#define TEXTKIN_FACTORS(Number)                                                                    \
    template class FactorSolver<Number>;                                                           \
    template std::vector<double> gram_of(const Number*, std::size_t, std::size_t, std::size_t,     \
                                         unsigned, base::Stop&);                                   \
    template void multiply_rows(Number*, std::size_t, const Number*, std::size_t, std::size_t,     \
                                unsigned, base::Stop&);
TEXTKIN_FACTORS(float)
TEXTKIN_FACTORS(double)

} // namespace textkin::topics
