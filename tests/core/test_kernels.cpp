// Every kernel of every instruction set of this CPU, compared with a plain loop.
#include "base/buffer.h"
#include "check.h"
#include "kernels/padding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace textkin;

namespace {

using Random = std::mt19937_64;

void for_each_table(const std::function<void(const kernels::Kernels&)>& test) {
    for (auto table = kernels::available_kernels(); *table != nullptr; ++table) test(**table);
}

float real(Random& random) { return std::uniform_real_distribution<float>(-1, 1)(random); }

std::int32_t whole(Random& random, std::int32_t most) {
    return std::uniform_int_distribution<std::int32_t>(0, most)(random);
}

base::Buffer<std::int32_t> whole_numbers(Random& random, std::size_t count, std::int32_t most) {
    base::Buffer<std::int32_t> out;
    out.grow(count);
    for (std::size_t k = 0; k < count; ++k) out[k] = whole(random, most);
    return out;
}

} // namespace

TEST(kernels_every_table_has_a_name_and_the_plainest_is_first) {
    CHECK(std::string(kernels::available_kernels()[0]->name) == "baseline");
    for_each_table([](const kernels::Kernels& run) {
        kernels::use_kernels(run.name);
        CHECK(&kernels::kernels() == &run);
    });
    CHECK_THROWS(std::invalid_argument, kernels::use_kernels("mmx"));
    CHECK_THROWS(std::invalid_argument, kernels::use_kernels(""));
}

TEST(kernels_squared_distances_match_long_double) {
    for_each_table([](const kernels::Kernels& run) {
        Random random(1);
        for (const std::size_t dimension : {1u, 7u, 8u, 9u, 100u, 104u, 105u, 300u, 313u, 1000u}) {
            const std::size_t stride = dimension + 3; // points may start anywhere
            const std::size_t rows = 6, columns = 12, out_stride = 16;
            base::Buffer<float> a, b, out;
            a.grow(rows * stride);
            b.grow(columns * stride);
            out.grow(rows * out_stride);
            // Memory after a point must not count.
            std::fill_n(a.data(), rows * stride, std::numeric_limits<float>::quiet_NaN());
            std::fill_n(b.data(), columns * stride, std::numeric_limits<float>::quiet_NaN());
            // The first points of both sides are similar, and some are equal.
            for (std::size_t k = 0; k < dimension; ++k) {
                for (std::size_t i = 0; i < rows; ++i) a[i * stride + k] = real(random);
                for (std::size_t j = 0; j < columns; ++j)
                    b[j * stride + k] = j == 0  ? a[k]
                                        : j < 4 ? a[j * stride + k] * (1 + 1e-6F * real(random))
                                                : real(random);
            }
            std::fill_n(out.data(), rows * out_stride, -1.0F);
            std::vector<const float*> a_points, b_points;
            for (std::size_t i = 0; i < rows; ++i) a_points.push_back(a.data() + i * stride);
            for (std::size_t j = 0; j < columns; ++j) b_points.push_back(b.data() + j * stride);
            run.costs.squared_distances(a_points.data(), rows, b_points.data(), columns, dimension,
                                        out.data(), out_stride);
            for (std::size_t i = 0; i < rows; ++i) {
                for (std::size_t j = 0; j < columns; ++j) {
                    long double sum = 0;
                    for (std::size_t k = 0; k < dimension; ++k) {
                        const long double d = static_cast<long double>(a[i * stride + k]) -
                                              static_cast<long double>(b[j * stride + k]);
                        sum += d * d;
                    }
                    const auto truth = static_cast<double>(sum);
                    CHECK_NEAR(static_cast<double>(out[i * out_stride + j]), truth, 1.2e-6 * truth);
                }
                for (std::size_t j = columns; j < out_stride; ++j)
                    CHECK(out[i * out_stride + j] < 0); // nothing is written outside the tiles
            }
        }
    });
}

TEST(kernels_finish_costs) {
    for_each_table([](const kernels::Kernels& run) {
        Random random(2);
        for (const std::size_t count : {16u, 32u, 112u}) {
            for (const bool root : {false, true}) {
                base::Buffer<float> values;
                values.grow(count);
                std::vector<float> expected;
                for (std::size_t k = 0; k < count; ++k) {
                    values[k] = k % 5 == 0 ? 0 : std::fabs(real(random));
                    expected.push_back(root ? std::sqrt(values[k] * 0.5F) : values[k] * 0.5F);
                }
                const float largest = run.costs.finish_costs(values.data(), count, 0.5F, root);
                CHECK(!(largest < *std::max_element(expected.begin(), expected.end())) &&
                      !(largest > *std::max_element(expected.begin(), expected.end())));
                CHECK(std::memcmp(values.data(), expected.data(), count * sizeof(float)) == 0);
            }
        }
    });
}

TEST(kernels_round_costs_to_within_a_half) {
    for_each_table([](const kernels::Kernels& run) {
        Random random(3);
        constexpr std::size_t count = 160;
        for (const int exponent : {-20, 0, 3, 27}) {
            base::Buffer<float> values;
            base::Buffer<std::int32_t> out;
            values.grow(count);
            out.grow(count);
            for (std::size_t k = 0; k < count; ++k)
                values[k] = std::ldexp(std::fabs(real(random)) * (k % 3 == 0 ? 1e-4F : 1), //
                                       27 - exponent);
            run.costs.round_costs(values.data(), count, std::ldexp(1.0F, exponent), out.data());
            for (std::size_t k = 0; k < count; ++k)
                CHECK_NEAR(static_cast<double>(out[k]),
                           std::ldexp(static_cast<double>(values[k]), exponent), 0.5);
        }
    });
}

TEST(kernels_row_minima_and_where_they_are) {
    for_each_table([](const kernels::Kernels& run) {
        Random random(4);
        for (const std::size_t columns : {16u, 32u, 48u, 160u}) {
            for (const std::int32_t most : {2, 1 << 27}) { // many ties, and no ties
                for (std::size_t rows = 1; rows <= 9; ++rows) {
                    const std::size_t stride = columns + 16;
                    const auto cost = whole_numbers(random, rows * stride, most);
                    const auto offset = whole_numbers(random, columns, most);
                    std::vector<std::int32_t> least(rows + 1, -7);
                    run.simplex.row_minima(cost.data(), stride, rows, offset.data(), columns,
                                           least.data());
                    CHECK(least[rows] == -7);
                    for (std::size_t i = 0; i < rows; ++i) {
                        std::size_t first = 0;
                        const std::int32_t* row = cost.data() + i * stride;
                        for (std::size_t j = 1; j < columns; ++j)
                            if (row[j] - offset[j] < row[first] - offset[first]) first = j;
                        CHECK(least[i] == row[first] - offset[first]);
                        CHECK(run.simplex.find_reduced(row, offset.data(), columns, least[i]) ==
                              first);
                    }
                }
            }
        }
    });
}

TEST(kernels_add_where) {
    for_each_table([](const kernels::Kernels& run) {
        Random random(5);
        constexpr std::size_t count = 320;
        for (const std::size_t begin : {0u, 16u, 48u, 80u}) {
            for (const std::size_t end : {96u, 128u, 208u, 320u}) {
                base::Buffer<std::int32_t> values = whole_numbers(random, count, 1 << 27);
                std::vector<std::int32_t> expected(values.data(), values.data() + count);
                std::vector<std::uint64_t> set(count / 64);
                for (std::uint64_t& word : set) word = random() & random();
                const std::int32_t amount = whole(random, 1 << 27) - (1 << 26);
                for (std::size_t x = begin; x < end; ++x)
                    if (set[x / 64] >> (x % 64) & 1) expected[x] += amount;
                run.simplex.add_where(values.data(), set.data(), begin, end, amount);
                CHECK(std::equal(expected.begin(), expected.end(), values.data()));
            }
        }
    });
}

#if defined(__x86_64__) && defined(__linux__)
TEST(available_kernels_are_those_that_the_compiler_library_finds) {
    std::vector<std::string> found;
    for (auto table = kernels::available_kernels(); *table != nullptr; ++table)
        found.emplace_back((*table)->name);
    std::vector<std::string> expected{"baseline"};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        expected.emplace_back("avx2");
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        expected.emplace_back("avx512");
    CHECK(found == expected);
}
#endif
