// Loops of matrix factorization, compared with plain loops, and the solver of one side.
#include "check.h"
#include "kernels/kernels.h"
#include "topics/factors.h"

#include <cmath>
#include <random>
#include <vector>

using namespace textkin;

namespace {

using Random = std::mt19937_64;

template <class Number> std::vector<Number> numbers(Random& random, std::size_t count) {
    std::vector<Number> values(count);
    for (Number& value : values)
        value = static_cast<Number>(std::uniform_real_distribution<double>(-1, 1)(random));
    return values;
}

template <class Number>
void check_multiply(const kernels::FactorKernels<Number>& run, std::size_t rows, std::size_t count,
                    std::size_t width, double tolerance) {
    Random random(rows + count + width);
    const auto left = numbers<Number>(random, rows * count);
    const auto before = numbers<Number>(random, rows * width);
    for (const kernels::Shape shape :
         {kernels::Shape::full, kernels::Shape::upper, kernels::Shape::lower}) {
        auto right = numbers<Number>(random, count * width);
        for (std::size_t k = 0; k < count; ++k)
            for (std::size_t j = 0; j < width; ++j)
                if ((shape == kernels::Shape::upper && j < k) ||
                    (shape == kernels::Shape::lower && j > k))
                    right[k * width + j] = 0;
        for (const int options : {0, 1, 2, 3, 4, 5, 6, 7}) {
            const bool transposed = (options & 1) != 0;
            const bool adds = (options & 2) != 0;
            const bool upper = (options & 4) != 0;
            std::vector<Number> out = before;
            run.multiply({.left = left.data(),
                          .left_row = transposed ? 1 : count,
                          .left_step = transposed ? rows : 1,
                          .rows = rows,
                          .right = right.data(),
                          .count = count,
                          .width = width,
                          .out = out.data(),
                          .adds = adds,
                          .upper = upper,
                          .right_shape = shape});
            for (std::size_t i = 0; i < rows; ++i) {
                for (std::size_t j = upper ? i : 0; j < width; ++j) {
                    double sum = adds ? static_cast<double>(before[i * width + j]) : 0;
                    for (std::size_t k = 0; k < count; ++k)
                        sum +=
                            static_cast<double>(left[transposed ? k * rows + i : i * count + k]) *
                            static_cast<double>(right[k * width + j]);
                    CHECK_NEAR(static_cast<double>(out[i * width + j]), sum, tolerance);
                }
            }
        }
    }
}

// Systems of every size from products of rows, as in the solver.
template <class Number>
void check_systems(const kernels::FactorKernels<Number>& run, std::size_t width, double tolerance) {
    constexpr std::size_t lanes = 64 / sizeof(Number);
    Random random(width);
    for (std::size_t count = 1; count < 40; ++count) {
        const std::size_t stride = (count + lanes - 1) / lanes * lanes;
        const auto rows = numbers<Number>(random, count * width);
        std::vector<Number> matrix(count * stride, Number{7});
        run.pair_products(rows.data(), count, width, Number{0.5}, matrix.data(), stride);
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = i; j < stride; ++j) {
                double sum = i == j ? 1 : 0;
                for (std::size_t k = 0; j < count && k < width; ++k)
                    sum += 0.5 * static_cast<double>(rows[i * width + k]) *
                           static_cast<double>(rows[j * width + k]);
                CHECK_NEAR(static_cast<double>(matrix[i * stride + j]), sum, tolerance);
            }
        }
        const std::vector<Number> kept = matrix;
        std::vector<Number> x = numbers<Number>(random, stride);
        std::fill(x.begin() + static_cast<std::ptrdiff_t>(count), x.end(), Number{0});
        const std::vector<Number> wanted = x;
        CHECK(run.solve_positive(matrix.data(), count, stride, x.data()));
        for (std::size_t i = 0; i < count; ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < count; ++j)
                sum += static_cast<double>(kept[std::min(i, j) * stride + std::max(i, j)]) *
                       static_cast<double>(x[j]);
            CHECK_NEAR(sum, static_cast<double>(wanted[i]), 10 * tolerance);
        }
    }
    std::vector<Number> matrix(2 * lanes);
    matrix[0] = 1;
    matrix[1] = 2;
    matrix[lanes + 1] = 1;
    std::vector<Number> x(lanes, Number{0});
    CHECK(!run.solve_positive(matrix.data(), 2, lanes, x.data()));
}

template <class Number>
void check_loops(const kernels::FactorKernels<Number>& run, double tolerance) {
    constexpr std::size_t lanes = 64 / sizeof(Number);
    for (const std::size_t vectors : {1u, 2u, 3u, 4u, 5u, 7u, 8u}) {
        for (const std::size_t rows : {1u, 2u, 5u, 6u, 11u, 16u})
            for (const std::size_t count : {0u, 1u, 9u, 40u})
                check_multiply(run, std::min(rows, vectors * lanes), count, vectors * lanes,
                               tolerance);
        check_systems(run, vectors * lanes, 10 * tolerance);
    }
}

// Entries with rows of every length, shorter and longer than there are dimensions.
template <class Number> struct Entries {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> words;
    std::vector<Number> values;

    Entries(Random& random, std::size_t rows, std::size_t n_words) {
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t w = 0; w < n_words; ++w) {
                if (random() % rows >= row) continue;
                words.push_back(static_cast<std::int32_t>(w));
                values.push_back(numbers<Number>(random, 1)[0]);
            }
            starts.push_back(static_cast<std::int64_t>(words.size()));
        }
    }
    [[nodiscard]] topics::Counts<Number> view() const { return {starts, words, values}; }
};

// Objective of one row, without lambda |p|^2.
template <class Number>
double objective(const topics::Counts<Number>& entries, std::size_t row,
                 const std::vector<Number>& factors, std::size_t width, const Number* q,
                 topics::Weights weights) {
    std::vector<double> target(factors.size() / width, 0);
    std::vector<double> weight(factors.size() / width, weights.missing);
    for (auto at = static_cast<std::size_t>(entries.starts[row]);
         at < static_cast<std::size_t>(entries.starts[row + 1]); ++at) {
        target[static_cast<std::size_t>(entries.words[at])] =
            static_cast<double>(entries.values[at]);
        weight[static_cast<std::size_t>(entries.words[at])] = 1;
    }
    double sum = 0;
    for (std::size_t k = 0; k < width; ++k)
        sum += weights.regularization * static_cast<double>(q[k]) * static_cast<double>(q[k]);
    for (std::size_t w = 0; w < target.size(); ++w) {
        double product = -target[w];
        for (std::size_t k = 0; k < width; ++k)
            product += static_cast<double>(factors[w * width + k]) * static_cast<double>(q[k]);
        sum += weight[w] * product * product;
    }
    return sum;
}

} // namespace

TEST(factors_loops_of_every_size) {
    for (auto table = kernels::available_kernels(); *table != nullptr; ++table) {
        check_loops((*table)->factors, 1e-5);
        check_loops((*table)->fine_factors, 1e-13);
    }
}

TEST(factors_minimize_the_objective) {
    Random random(2);
    const std::size_t n_words = 60;
    const std::size_t dimensions = 11;
    const std::size_t width = 16;
    std::vector<double> factors(n_words * width);
    double squares = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
        for (std::size_t k = 0; k < dimensions; ++k) {
            factors[w * width + k] = numbers<double>(random, 1)[0];
            squares += factors[w * width + k] * factors[w * width + k];
        }
    }
    const Entries<double> entries(random, 40, n_words);
    for (const topics::Weights weights :
         {topics::Weights{0.01, 2}, topics::Weights{0, 0.1}, topics::Weights{1, 0.5}}) {
        base::Stop stop;
        const topics::FactorSolver<double> solver(factors.data(), n_words, dimensions, width,
                                                  weights, 1, stop);
        std::vector<double> found(40 * width);
        const double told = solver.solve(entries.view(), found.data(), 1, stop);
        double sum = weights.regularization * squares;
        for (std::size_t row = 0; row < 40; ++row) {
            double* q = found.data() + row * width;
            const double least = objective(entries.view(), row, factors, width, q, weights);
            sum += least;
            for (std::size_t k = 0; k < dimensions; ++k) {
                for (const double step : {-1e-3, 1e-3}) {
                    q[k] += step;
                    CHECK(objective(entries.view(), row, factors, width, q, weights) > least);
                    q[k] -= step;
                }
            }
        }
        CHECK_NEAR(told, sum, 1e-9 * sum);
        CHECK(stop.finished() == 40); // rows, the unit of progress
        for (const unsigned threads : {2u, 3u}) {
            std::vector<double> again(40 * width);
            const topics::FactorSolver<double> other(factors.data(), n_words, dimensions, width,
                                                     weights, threads, stop);
            CHECK(other.solve(entries.view(), again.data(), threads, stop) == told);
            std::vector<double> first(40 * width);
            static_cast<void>(solver.solve(entries.view(), first.data(), 1, stop));
            CHECK(again == first);
        }
    }
}
