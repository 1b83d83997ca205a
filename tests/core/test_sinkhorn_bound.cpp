// Sinkhorn bounds never exceed the optimum, for any costs.
#include "kernels/kernels.h"
#include "problems.h"
#include "transport/sinkhorn_bound.h"

#include <cmath>

using namespace textkin;
using problems::below;
using problems::Random;

namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr std::int64_t kLargest[] = {
    0, 1, 2, 50, 1000, 16384, kernels::kFarthest - 1, kernels::kFarthest};
constexpr int kKinds = 5;

// Rows of costs up to `largest`, and columns some of which are closed.
struct Problem {
    std::size_t words, width;
    std::vector<std::vector<std::int16_t>> costs;
    std::vector<std::int16_t> closed;
    std::vector<std::size_t> open; // columns
    std::vector<double> row_masses, column_masses;

    Problem(Random& random, std::size_t rows, std::size_t columns, std::int64_t largest, int kind)
        : words(columns), width(kernels::padded(columns)), closed(width, 0), row_masses(rows, 0.0),
          column_masses(columns, 0.0) {
        std::vector<std::int64_t> at(columns);
        for (std::int64_t& place : at) place = below(random, largest + 1);
        const std::size_t every = 1 + random() % 3; // 1: all columns are open
        for (std::size_t j = 0; j < columns; ++j) {
            if (every > 1 && random() % every == 0) closed[j] = kernels::kFarthest;
            if (closed[j] == 0) open.push_back(j);
        }
        for (std::size_t i = 0; i < rows; ++i) {
            std::vector<std::int16_t>& row = costs.emplace_back(width, kernels::kFarthest);
            const std::int64_t own = below(random, largest + 1);
            for (std::size_t j = 0; j < columns; ++j) {
                std::int64_t value = below(random, largest + 1);
                if (kind == 1) value = random() % 2 == 0 ? largest : 0;
                if (kind == 2) value = std::abs(own - at[j]);
                if (kind == 3) value = random() % 20 == 0 ? 0 : largest;
                if (kind == 4) value = random() % 20 == 0 ? largest : below(random, 2);
                row[j] = static_cast<std::int16_t>(value);
            }
        }
    }

    double bound(transport::SinkhornBound& sinkhorn, base::Stop& stop, double enough = kFar) const {
        std::vector<const std::int16_t*> rows;
        for (const std::vector<std::int16_t>& row : costs) rows.push_back(row.data());
        return sinkhorn.bound({rows, words, width, closed.data(), row_masses, column_masses},
                              enough, stop);
    }
};

} // namespace

TEST(search_sharpener_bounds_never_exceed_the_optimum) {
    Random random(21);
    transport::SinkhornBound sinkhorn;
    transport::TransportSolver solver;
    transport::Solution solution;
    base::Stop stop;
    for (int round = 0; round < 1500; ++round) {
        const std::size_t rows = 1 + random() % 30;
        Problem some(random, rows, 1 + random() % 50, kLargest[round % 8], round % kKinds);
        if (some.open.empty()) continue;
        const auto most = static_cast<std::int64_t>(std::max(rows, some.open.size()));
        const std::int64_t total = most + below(random, round % 3 == 0 ? 1 << 30 : 20);
        const auto exact = problems::make(
            problems::random_masses(random, rows, total),
            problems::random_masses(random, some.open.size(), total),
            [&](std::size_t i, std::size_t k) { return some.costs[i][some.open[k]]; });
        const auto share = [total](std::int64_t mass) {
            return static_cast<double>(mass) / static_cast<double>(total);
        };
        for (std::size_t i = 0; i < rows; ++i) some.row_masses[i] = share(exact.supply[i]);
        for (std::size_t k = 0; k < some.open.size(); ++k)
            some.column_masses[some.open[k]] = share(exact.demand[k]);
        problems::solve(solver, exact, solution, stop);
        const double optimum =
            static_cast<double>(problems::objective(exact, solution)) / static_cast<double>(total);
        const double rounding =
            static_cast<double>(rows + some.words) * 0x1p-50 * kernels::kFarthest;
        for (const double enough : {kFar, optimum / 2})
            CHECK(some.bound(sinkhorn, stop, enough) <= optimum + rounding);
    }
}

// After canceling, almost equal documents leave at most a rounding error, on either side,
// and may find no column open. Sanitizers see numbers that do not fit.
TEST(search_sharpener_accepts_remains_of_canceled_mass) {
    Random random(22);
    constexpr double sizes[] = {1, 1e-17, 1e-30, 1e-44, 1e-300, 5e-324};
    transport::SinkhornBound sinkhorn;
    base::Stop stop;
    for (int round = 0; round < 1000; ++round) {
        Problem some(random, 1 + random() % 30, 1 + random() % 50, kLargest[round % 8],
                     round % kKinds);
        if (round % 3 == 0) {
            std::fill_n(some.closed.data(), some.words, kernels::kFarthest);
            some.open.clear();
        }
        for (double& mass : some.row_masses) mass = sizes[round % 6];
        for (const std::size_t j : some.open) some.column_masses[j] = sizes[random() % 6];
        const double found = some.bound(sinkhorn, stop);
        CHECK(found >= 0);
        CHECK(found <=
              kernels::kFarthest * static_cast<double>(some.row_masses.size() + some.words));
    }
}

TEST(search_sharpener_can_be_stopped) {
    Random random(23);
    Problem some(random, 20, 20, 1000, 2);
    some.closed.assign(some.width, 0);
    for (double& mass : some.row_masses) mass = 0.05;
    for (double& mass : some.column_masses) mass = 0.05;
    transport::SinkhornBound sinkhorn;
    base::Stop stop;
    const double bound = some.bound(sinkhorn, stop);
    base::Stop stopped;
    stopped.request();
    CHECK_THROWS(base::Stopped, some.bound(sinkhorn, stopped));
    CHECK_NEAR(some.bound(sinkhorn, stop), bound, 0.0);
}
