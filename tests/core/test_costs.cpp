#include "check.h"
#include "corpus.h"
#include "kernels/padding.h"
#include "transport/costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace textkin;
using corpus::cost_of;
using corpus::kCosts;
using corpus::same_bits;
using corpus::Table;

namespace {

using Words = std::vector<std::int32_t>;

Table random_table(std::uint64_t seed, std::size_t rows, std::size_t dimension) {
    std::mt19937_64 random(seed);
    return corpus::random_table(random, rows, dimension, transport::Cost::euclidean);
}

Words range(std::int32_t begin, std::int32_t end) {
    Words words(static_cast<std::size_t>(end - begin));
    std::iota(words.begin(), words.end(), begin);
    return words;
}

transport::CostMatrix compute(const Table& table, transport::Cost cost, const Words& rows,
                              const Words& columns) {
    transport::CostKernel kernel;
    transport::CostMatrix out;
    base::Stop stop;
    kernel.compute(table.view(), cost, rows, columns, stop, out);
    return out;
}

double value(const transport::CostMatrix& costs, std::size_t i, std::size_t j) {
    return static_cast<double>(costs.at(i, j)) * costs.unit;
}

} // namespace

TEST(costs_match_long_double) {
    for (const std::size_t dimension : {1u, 2u, 15u, 16u, 17u, 100u, 300u, 1000u}) {
        const Table table = random_table(dimension, 60, dimension);
        const Words rows = range(0, 23);
        const Words columns = range(23, 60);
        for (const transport::Cost cost : kCosts) {
            const double tolerance = cost == transport::Cost::euclidean ? 6e-7 : 1.2e-6;
            const transport::CostMatrix costs = compute(table, cost, rows, columns);
            CHECK(costs.rows == rows.size() && costs.columns == columns.size());
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (std::size_t j = 0; j < columns.size(); ++j) {
                    const double truth = cost_of(table, cost, rows[i], columns[j]);
                    CHECK_NEAR(value(costs, i, j), truth, tolerance * truth);
                }
        }
    }
}

// With equal differences, all rounding errors have the same sign.
TEST(costs_of_equal_differences_match_long_double) {
    for (const std::size_t dimension : {16u, 300u, 1000u}) {
        for (const float step : {0.1F, 0.7F, 1.1F, 1.3F}) {
            Table table{std::vector<float>(2 * dimension, 0.0F), dimension};
            std::fill_n(table.data.begin(), dimension, step);
            const double truth = cost_of(table, transport::Cost::euclidean, 0, 1);
            CHECK_NEAR(value(compute(table, transport::Cost::euclidean, {0}, {1}), 0, 0), truth,
                       6e-7 * truth);
        }
    }
}

TEST(costs_report_the_largest_cost) {
    const Table table = random_table(1, 40, 10);
    for (const std::int32_t columns : {1, 15, 16, 17}) {
        const transport::CostMatrix costs =
            compute(table, transport::Cost::euclidean, range(20, 40), range(0, columns));
        float largest = 0;
        for (std::size_t i = 0; i < costs.rows; ++i)
            for (std::size_t j = 0; j < costs.columns; ++j)
                largest = std::max(largest, costs.at(i, j));
        CHECK(same_bits(costs.largest, largest));
        CHECK(costs.stride % kernels::kLanes == 0 && costs.stride >= costs.columns);
    }
}

TEST(costs_of_equal_vectors_are_zero) {
    for (const std::size_t dimension : {1u, 17u, 300u}) {
        Table table = random_table(2, 4, dimension);
        // Words 4 to 7 have the vectors of words 0 to 3.
        table.data.insert(table.data.end(), table.data.begin(),
                          table.data.begin() + static_cast<std::ptrdiff_t>(4 * dimension));
        for (const transport::Cost cost : kCosts) {
            const transport::CostMatrix costs = compute(table, cost, range(0, 4), range(0, 8));
            for (std::size_t i = 0; i < 4; ++i)
                CHECK(same_bits(costs.at(i, i), 0.0F) && same_bits(costs.at(i, i + 4), 0.0F));
        }
    }
}

// x^2 + y^2 - 2xy would give only noise here.
TEST(costs_of_vectors_that_differ_in_the_last_bit) {
    for (const std::size_t dimension : {1u, 16u, 300u}) {
        for (std::size_t k = 0; k < dimension; k += 7) {
            Table table = random_table(3 + k, 1, dimension);
            const std::vector<float> first = table.data;
            table.data.insert(table.data.end(), first.begin(), first.end());
            table.data[dimension + k] = std::nextafter(first[k], 10.0F);
            for (const transport::Cost cost : kCosts) {
                const double truth = cost_of(table, cost, 0, 1);
                CHECK(truth > 0);
                const transport::CostMatrix costs = compute(table, cost, {0}, {1});
                CHECK_NEAR(value(costs, 0, 0), truth, 6e-7 * truth);
            }
        }
    }
}

TEST(costs_scale_with_the_table) {
    const Table table = random_table(4, 30, 20);
    const Words rows = range(0, 12);
    const Words columns = range(12, 30);
    for (const transport::Cost cost : kCosts) {
        const transport::CostMatrix plain = compute(table, cost, rows, columns);
        for (const int k : {-66, -50, -21, -20, 0, 20, 21, 50, 66}) {
            Table scaled = table;
            for (float& x : scaled.data) x = std::ldexp(x, k);
            const transport::CostMatrix costs = compute(scaled, cost, rows, columns);
            const int power = cost == transport::Cost::euclidean ? k : 2 * k;
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (std::size_t j = 0; j < columns.size(); ++j) {
                    const double expected = std::ldexp(value(plain, i, j), power);
                    CHECK_NEAR(value(costs, i, j), expected, 1e-6 * expected);
                }
        }
    }
}

TEST(costs_of_a_pair_are_bit_identical_individually_and_in_a_batch) {
    for (const std::size_t dimension : {1u, 16u, 37u}) {
        const Table table = random_table(5, 58, dimension);
        const Words rows = range(0, 21);
        const Words columns = range(21, 58);
        for (const transport::Cost cost : kCosts) {
            const transport::CostMatrix batch = compute(table, cost, rows, columns);
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (std::size_t j = 0; j < columns.size(); ++j)
                    CHECK(same_bits(batch.at(i, j),
                                    compute(table, cost, {rows[i]}, {columns[j]}).at(0, 0)));
        }
    }
}

TEST(costs_are_bit_identical_with_rows_and_columns_swapped) {
    const Table table = random_table(6, 58, 50);
    const Words rows = range(0, 21);
    const Words columns = range(21, 58);
    for (const transport::Cost cost : kCosts) {
        const transport::CostMatrix there = compute(table, cost, rows, columns);
        const transport::CostMatrix back = compute(table, cost, columns, rows);
        CHECK(same_bits(there.largest, back.largest));
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t j = 0; j < columns.size(); ++j)
                CHECK(same_bits(there.at(i, j), back.at(j, i)));
    }
}

TEST(cost_kernel_memory_does_not_affect_results) {
    const Table large = random_table(7, 60, 40);
    const Table small = random_table(8, 9, 3);
    transport::CostKernel kernel;
    transport::CostMatrix costs;
    base::Stop stop;
    kernel.compute(large.view(), transport::Cost::euclidean, range(0, 30), range(30, 60), stop,
                   costs);
    kernel.compute(small.view(), transport::Cost::euclidean, range(0, 4), range(4, 9), stop, costs);
    const transport::CostMatrix fresh =
        compute(small, transport::Cost::euclidean, range(0, 4), range(4, 9));
    CHECK(same_bits(costs.largest, fresh.largest));
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 5; ++j) CHECK(same_bits(costs.at(i, j), fresh.at(i, j)));
}

TEST(costs_can_be_stopped) {
    const Table table = random_table(10, 40, 2);
    transport::CostKernel kernel;
    transport::CostMatrix costs;
    base::Stop stop;
    stop.request();
    CHECK_THROWS(base::Stopped, kernel.compute(table.view(), transport::Cost::euclidean,
                                               range(0, 20), range(20, 40), stop, costs));
}
