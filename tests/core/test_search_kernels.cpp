// Loops of the search, compared with plain loops.
#include "base/buffer.h"
#include "check.h"
#include "kernels/padding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace textkin;

namespace {

using Random = std::mt19937_64;

float real(Random& random) { return std::uniform_real_distribution<float>(-1, 1)(random); }

std::int16_t entry(Random& random, int most) {
    return static_cast<std::int16_t>(std::uniform_int_distribution<int>(0, most)(random));
}

// Rows of costs with gaps in memory.
struct Rows {
    std::vector<std::vector<std::int16_t>> values;
    std::vector<const std::int16_t*> pointers;

    Rows(Random& random, std::size_t count, std::size_t length, int most)
        : values(count, std::vector<std::int16_t>(length)) {
        for (auto& row : values) {
            for (std::int16_t& value : row) value = entry(random, most);
            pointers.push_back(row.data());
        }
    }
};

} // namespace

TEST(search_kernels_lower_costs_and_panels) {
    const kernels::Kernels& run = kernels::kernels();
    Random random(1);
    for (const std::size_t dimension : {1u, 3u, 4u, 30u, 301u}) {
        for (const std::size_t count : {1u, 2u, 5u, 6u, 7u, 12u, 25u}) {
            for (const bool root : {false, true}) {
                const std::size_t stride = kernels::padded(dimension);
                std::vector<std::vector<float>> words(kernels::kPanelWords,
                                                      std::vector<float>(dimension));
                std::vector<const float*> pointers;
                for (auto& word : words) {
                    for (float& x : word) x = real(random);
                    pointers.push_back(word.data());
                }
                base::Buffer<float> panel;
                panel.grow(dimension * kernels::kPanelWords);
                run.panels.pack_panel(pointers.data(), dimension, 0.5F, panel.data());
                for (std::size_t w = 0; w < kernels::kPanelWords; ++w)
                    for (std::size_t k = 0; k < dimension; ++k)
                        CHECK(!(panel[k * kernels::kPanelWords + w] < words[w][k] / 2) &&
                              !(panel[k * kernels::kPanelWords + w] > words[w][k] / 2));

                std::vector<std::int16_t> packed(dimension * kernels::kPanelWords);
                std::vector<float> steps(kernels::kPanelWords);
                for (std::size_t w = 0; w < kernels::kPanelWords; ++w) {
                    steps[w] = 1.0F / 1024 / static_cast<float>(w + 1);
                    for (std::size_t k = 0; k < dimension; ++k)
                        packed[k * kernels::kPanelWords + w] = static_cast<std::int16_t>(
                            std::lround(words[w][k] * 1024 * static_cast<float>(w + 1)));
                }
                base::Buffer<float> unpacked;
                unpacked.grow(dimension * kernels::kPanelWords);
                run.panels.unpack_panel(packed.data(), steps.data(), dimension, unpacked.data());
                for (std::size_t x = 0; x < packed.size(); ++x)
                    CHECK_NEAR(static_cast<double>(unpacked[x]),
                               static_cast<double>(static_cast<float>(packed[x]) *
                                                   steps[x % kernels::kPanelWords]),
                               0.0);

                std::vector<float> points(count * stride);
                std::vector<float> squares(kernels::kPanelWords);
                std::vector<float> point_squares(count);
                for (std::size_t w = 0; w < kernels::kPanelWords; ++w)
                    for (std::size_t k = 0; k < dimension; ++k)
                        squares[w] += panel[k * kernels::kPanelWords + w] *
                                      panel[k * kernels::kPanelWords + w];
                for (std::size_t p = 0; p < count; ++p)
                    for (std::size_t k = 0; k < dimension; ++k) {
                        float& x = points[p * stride + k];
                        x = p == 0 ? panel[k * kernels::kPanelWords]
                                   : real(random); // one is a word
                        point_squares[p] += x * x;
                    }
                std::vector<std::vector<std::int16_t>> out(
                    count, std::vector<std::int16_t>(3 * kernels::kPanelWords, -1));
                std::vector<std::int16_t*> to;
                for (auto& row : out) to.push_back(row.data());
                constexpr float scale = 900; // some are beyond the farthest
                run.panels.lower_costs(points.data(), count, stride, dimension, panel.data(),
                                       squares.data(), point_squares.data(), scale, root, to.data(),
                                       kernels::kPanelWords);
                for (std::size_t p = 0; p < count; ++p) {
                    for (std::size_t w = 0; w < kernels::kPanelWords; ++w) {
                        double square = 0;
                        for (std::size_t k = 0; k < dimension; ++k)
                            square += std::pow(
                                static_cast<double>(points[p * stride + k]) -
                                    static_cast<double>(panel[k * kernels::kPanelWords + w]),
                                2);
                        const double truth =
                            std::min(900 * (root ? std::sqrt(square) : square), 32767.0);
                        const auto got = static_cast<double>(out[p][kernels::kPanelWords + w]);
                        CHECK_NEAR(got, truth - 0.5, 0.5 + (root && square < 1e-3 ? 2 : 0.2));
                        CHECK(out[p][w] == -1 && out[p][2 * kernels::kPanelWords + w] == -1);
                    }
                }
            }
        }
    }
}

TEST(search_kernels_row_minima_and_transposed_panels) {
    const kernels::Kernels& run = kernels::kernels();
    Random random(2);
    for (const std::size_t count : {1u, 7u, 8u, 9u, 16u, 37u}) {
        for (const std::size_t length : {16u, 48u, 64u, 144u}) {
            const Rows rows(random, count, length, kernels::kFarthest);
            std::vector<std::int16_t> least(length + 1, -1);
            run.bounds.least_of_rows(rows.pointers.data(), count, length, least.data());
            CHECK(least[length] == -1);
            const std::size_t stride = kernels::padded(count);
            std::vector<std::int16_t> transposed(kernels::kPanelWords * stride + 1, -1);
            run.panels.transpose_panel(rows.pointers.data(), count, length - kernels::kPanelWords,
                                       transposed.data(), stride);
            CHECK(transposed.back() == -1);
            for (std::size_t x = 0; x < length; ++x) {
                std::int16_t expected = kernels::kFarthest;
                for (const auto& row : rows.values) expected = std::min(expected, row[x]);
                CHECK(least[x] == expected);
            }
            for (std::size_t w = 0; w < kernels::kPanelWords; ++w)
                for (std::size_t j = 0; j < stride; ++j)
                    CHECK(transposed[w * stride + j] ==
                          (j < count ? rows.values[j][length - kernels::kPanelWords + w]
                                     : kernels::kFarthest));
        }
    }
}

TEST(search_kernels_weigh_rows) {
    const kernels::Kernels& run = kernels::kernels();
    Random random(3);
    constexpr std::size_t columns = 50;
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> places;
    std::vector<float> counts;
    for (std::size_t row = 0; row < 30; ++row) {
        for (std::size_t k = 0; k < row; ++k) {
            places.push_back(static_cast<std::int32_t>(random() % columns));
            counts.push_back(static_cast<float>(random() % 5));
        }
        starts.push_back(static_cast<std::int64_t>(places.size()));
    }
    std::vector<float> values(8 * columns);
    for (float& value : values) value = static_cast<float>(random() % 1000); // sums are exact
    std::vector<float> one(columns);
    for (std::size_t c = 0; c < columns; ++c) one[c] = values[8 * c];
    constexpr std::size_t first = 3; // rows may start anywhere
    const std::size_t rows = starts.size() - 1 - first;
    std::vector<float> sums(rows + 1, -1);
    std::vector<float> eights(8 * rows + 1, -1);
    run.bounds.weigh_rows(starts.data() + first, rows, places.data(), counts.data(), one.data(),
                          sums.data());
    run.bounds.weigh_rows_eightfold(starts.data() + first, rows, places.data(), counts.data(),
                                    values.data(), eights.data());
    CHECK(sums.back() < 0 && eights.back() < 0);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t q = 0; q < 8; ++q) {
            double truth = 0;
            for (auto k = starts[first + row]; k < starts[first + row + 1]; ++k) {
                const auto e = static_cast<std::size_t>(k);
                truth += static_cast<double>(counts[e]) *
                         static_cast<double>(values[8 * static_cast<std::size_t>(places[e]) + q]);
            }
            CHECK_NEAR(static_cast<double>(eights[8 * row + q]), truth, 0.0);
            if (q == 0) CHECK_NEAR(static_cast<double>(sums[row]), truth, 0.0);
        }
    }
}

TEST(search_kernels_minima_and_reduced_costs) {
    const kernels::Kernels& run = kernels::kernels();
    Random random(4);
    for (const int most : {3, 32767}) {
        for (const std::size_t width : {16u, 32u, 48u, 96u, 112u, 208u}) {
            for (const std::size_t count : {1u, 2u, 9u}) {
                const Rows rows(random, count, width, most);
                std::vector<std::int16_t> closed(width);
                for (std::int16_t& value : closed)
                    value = random() % 4 == 0 ? kernels::kFarthest : 0;
                closed[random() % width] = 0;
                std::vector<std::int16_t> row_least(count + 1, -1);
                std::vector<std::int16_t> column_least(width + 1, -1);
                run.duals.least_both_ways(rows.pointers.data(), count, width, closed.data(),
                                          row_least.data(), column_least.data());
                std::vector<std::int16_t> open_rows(count, kernels::kFarthest);
                std::vector<std::int16_t> columns(width, kernels::kFarthest);
                for (std::size_t i = 0; i < count; ++i)
                    for (std::size_t j = 0; j < width; ++j) {
                        columns[j] = std::min(columns[j], rows.values[i][j]);
                        if (closed[j] == 0)
                            open_rows[i] = std::min(open_rows[i], rows.values[i][j]);
                    }
                CHECK(std::equal(open_rows.begin(), open_rows.end(), row_least.begin()));
                CHECK(std::equal(columns.begin(), columns.end(), column_least.begin()));
                CHECK(row_least.back() == -1 && column_least.back() == -1);

                // Potentials of rows must leave nothing negative: their minima over all columns.
                std::vector<std::int16_t> all(count, kernels::kFarthest);
                for (std::size_t i = 0; i < count; ++i)
                    all[i] = *std::min_element(rows.values[i].begin(), rows.values[i].end());
                std::vector<std::int16_t> left(width + 1, -1);
                run.duals.reduced_columns(rows.pointers.data(), count, width, all.data(),
                                          left.data());
                std::vector<std::int16_t> rest(count + 1, -1);
                run.duals.reduced_rows(rows.pointers.data(), count, width, columns.data(),
                                       closed.data(), rest.data());
                CHECK(left.back() == -1 && rest.back() == -1);
                for (std::size_t j = 0; j < width; ++j) {
                    int expected = kernels::kFarthest;
                    for (std::size_t i = 0; i < count; ++i)
                        expected = std::min(expected, rows.values[i][j] - all[i]);
                    CHECK(left[j] == expected);
                }
                for (std::size_t i = 0; i < count; ++i) {
                    int expected = kernels::kFarthest;
                    for (std::size_t j = 0; j < width; ++j)
                        expected = std::min(
                            expected,
                            (closed[j] != 0 ? kernels::kFarthest : rows.values[i][j]) - columns[j]);
                    CHECK(rest[i] == expected);
                }
            }
        }
    }
}

TEST(search_kernels_closeness_and_balance) {
    const kernels::Kernels& run = kernels::kernels();
    Random random(5);
    for (const std::size_t width : {16u, 32u, 48u, 208u}) {
        for (const std::size_t count : {1u, 3u, 4u, 9u}) {
            const Rows rows(random, count, width, 32767);
            std::vector<std::int16_t> row_values(count);
            std::vector<std::int16_t> column_values(width);
            for (std::int16_t& value : row_values) value = entry(random, 9000);
            for (std::int16_t& value : column_values) value = entry(random, 9000);
            const double scale = -1.0 / 500;
            base::Buffer<float> close;
            close.grow(count * width + kernels::kLanes);
            close[count * width] = -1;
            for (std::size_t i = 0; i < count; ++i) // what would not fit 16 bits is not asked for
                for (std::size_t j = 0; j < width; ++j)
                    if (rows.values[i][j] - row_values[i] - column_values[j] < -32768)
                        column_values[j] = 0;
            run.sinkhorn.sinkhorn_kernel(rows.pointers.data(), count, width, row_values.data(),
                                         column_values.data(), static_cast<float>(scale),
                                         close.data());
            CHECK(close[count * width] < 0);
            std::vector<double> plain(count * width);
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t j = 0; j < width; ++j) {
                    const double power = std::min(
                        0.0, scale * (rows.values[i][j] - row_values[i] - column_values[j]));
                    plain[i * width + j] = power < -64 ? 0 : std::exp2(power);
                    CHECK_NEAR(static_cast<double>(close[i * width + j]), plain[i * width + j],
                               plain[i * width + j] * 6e-5 + 1e-19);
                }
            std::vector<float> row_masses(count);
            std::vector<float> column_masses(width);
            for (float& mass : row_masses) mass = real(random) + 1.5F;
            for (float& mass : column_masses) mass = random() % 4 == 0 ? 0 : real(random) + 1.5F;
            base::Buffer<float> factors;
            base::Buffer<float> sums;
            std::vector<float> row_sums(count + 1, -1);
            factors.grow(width);
            sums.grow(width);
            std::copy(column_masses.begin(), column_masses.end(), factors.data());
            for (int round = 0; round <= 3; ++round)
                run.sinkhorn.sinkhorn_step(close.data(), count, width, row_masses.data(),
                                           column_masses.data(), factors.data(),
                                           round < 3 ? sums.data() : nullptr, row_sums.data());
            CHECK(row_sums[count] < 0);
            std::vector<double> columns(column_masses.begin(), column_masses.end());
            std::vector<double> row_factors(count);
            for (int round = 0; round <= 3; ++round) {
                for (std::size_t i = 0; i < count; ++i) {
                    double sum = 0;
                    for (std::size_t j = 0; j < width; ++j)
                        sum += plain[i * width + j] * columns[j];
                    row_factors[i] = static_cast<double>(row_masses[i]) / std::max(sum, 1e-30);
                    if (round == 3)
                        CHECK_NEAR(static_cast<double>(row_sums[i]), std::max(sum, 1e-30),
                                   sum * 1e-3 + 1e-29);
                }
                for (std::size_t j = 0; j < width; ++j) {
                    double sum = 0;
                    for (std::size_t i = 0; i < count; ++i)
                        sum += plain[i * width + j] * row_factors[i];
                    columns[j] = static_cast<double>(column_masses[j]) / std::max(sum, 1e-30);
                }
            }
        }
    }
}
