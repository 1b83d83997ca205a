// Windows of a torus, compared with sums cell by cell.
#include "base/stop.h"
#include "check.h"
#include "topics/grid_windows.h"

#include <cstddef>
#include <random>
#include <vector>

using namespace textkin;

namespace {

constexpr std::size_t kWordCount = 300; // more than a block

template <class Number> void check_windows(const topics::GridWindows& windows, double tolerance) {
    std::mt19937_64 random(windows.high * 31 + windows.wide);
    std::uniform_real_distribution<double> uniform(0.1, 1);
    const std::size_t size = windows.size();
    const std::size_t width = (size + 15) / 16 * 16;
    std::vector<Number> cells(kWordCount * width);
    std::vector<Number> counts(kWordCount * width);
    for (std::size_t w = 0; w + 1 < kWordCount; ++w) // the last word is in no cell
        for (std::size_t k = 0; k < size; ++k) {
            cells[w * width + k] = static_cast<Number>(uniform(random));
            counts[w * width + k] = static_cast<Number>(uniform(random));
        }
    const std::vector<double> before(size, 0.5);
    std::vector<Number> means(cells.size());
    base::Stop stop;
    topics::window_means(windows, kWordCount, width, cells.data(), before.data(), means.data(), 2,
                         stop);
    std::vector<double> spread(kWordCount * size);
    for (std::size_t w = 0; w < kWordCount; ++w)
        for (std::size_t l = 0; l < size; ++l) {
            double sum = 0;
            std::vector<std::size_t> inside;
            for (std::size_t i = 0; i < windows.high; ++i)
                for (std::size_t j = 0; j < windows.wide; ++j) {
                    const std::size_t row = (l / windows.columns + i) % windows.rows;
                    const std::size_t column = (l % windows.columns + j) % windows.columns;
                    inside.push_back(row * windows.columns + column);
                    sum += 0.5 * static_cast<double>(cells[w * width + inside.back()]);
                }
            const double mean = sum / windows.cells();
            CHECK_NEAR(static_cast<double>(means[w * width + l]), mean, tolerance);
            if (mean > 0)
                for (const std::size_t k : inside)
                    spread[w * size + k] += static_cast<double>(counts[w * width + l]) / mean;
        }
    std::vector<Number> renewed = cells;
    std::vector<double> scale = before;
    std::vector<double> tokens(size);
    topics::renew_cells(windows, kWordCount, width, renewed.data(), scale.data(), counts.data(),
                        {0.25, 0.0}, tokens.data(), 2, stop);
    double all = 0;
    double given = 0;
    for (std::size_t w = 0; w < kWordCount; ++w)
        for (std::size_t k = 0; k < size; ++k) {
            const std::size_t at = w * width + k;
            const double share = 0.5 * static_cast<double>(cells[at]) / windows.cells();
            const bool known = w + 1 < kWordCount;
            const double expected = known ? share * spread[w * size + k] + 0.25 : 0;
            CHECK_NEAR(static_cast<double>(renewed[at]), expected, 20 * tolerance);
            given += static_cast<double>(counts[at]);
        }
    for (std::size_t k = 0; k < size; ++k) {
        all += tokens[k];
        CHECK_NEAR(1 / scale[k], tokens[k] + 0.25 * (kWordCount - 1), 1e-6);
    }
    CHECK_NEAR(all, given, 1e3 * tolerance * given);
}

TEST(windows_of_a_torus) {
    for (const topics::GridWindows& windows :
         {topics::GridWindows{1, 1, 1, 1}, topics::GridWindows{3, 4, 1, 1},
          topics::GridWindows{3, 4, 3, 4}, topics::GridWindows{5, 7, 2, 3},
          topics::GridWindows{6, 5, 5, 4}, topics::GridWindows{1, 9, 1, 7},
          topics::GridWindows{8, 1, 3, 1}}) {
        check_windows<float>(windows, 1e-6);
        check_windows<double>(windows, 1e-14);
    }
}

} // namespace
