// Solver of transport problems whose costs are real numbers, which it rounds to integers.
#pragma once

#include "kernels/padding.h"
#include "transport/costs.h"
#include "transport/memory.h"
#include "transport/transport.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace textkin::transport {

// Of a plan, relative: how much more than the best plan it may cost.
inline constexpr double kProvenError = 5e-7;

// Rounds the costs to 32-bit integers first. If the plan then costs so little compared with the
// largest cost that this rounding could matter, it solves again with 64-bit integers.
class RealCostSolver {
  public:
    // cost(i, j) >= 0, none above `largest`. Returns the cost of the plan, with masses as given.
    template <class CostOf>
    double solve(std::span<const std::int64_t> supply, std::span<const std::int64_t> demand,
                 const CostOf& cost, double largest, Solution& solution, base::Stop& stop,
                 const TransportLimits& limits = {}, const Prefetch& prefetch = {});

    // The same if some costs may be so large that all others are negligible, such as costs that
    // forbid a pair. The problem is solved again with capped costs until the plan is proven to be
    // as good as that of solve(), or no cost is above the cap.
    //
    // If a plan uses no cost above `most`, the best plan uses no cost above min(rows, columns) *
    // most: the two differ by cycles, in each of which the other plan has fewer arcs. So the best
    // plan under costs that are capped there uses no capped cost, and is the best under all costs.
    // The factor 2 allows for rounding.
    template <class CostOf>
    double solve_capped(std::span<const std::int64_t> supply, std::span<const std::int64_t> demand,
                        const CostOf& cost, double largest, Solution& solution, base::Stop& stop,
                        const TransportLimits& limits = {});

    // What the potential of a column is worth in the costs that were given.
    [[nodiscard]] double column_potential(const Solution& solution, std::size_t j) const {
        return static_cast<double>(solution.column_potential[j]) * unit_;
    }

  private:
    TransportSolver solver_;
    base::Buffer<std::int32_t> narrow_;
    base::Buffer<std::int64_t> wide_;
    double unit_ = 0;

    // The cost of the plan less the bound that the potentials prove.
    template <class CostOf>
    [[nodiscard]] double gap(std::span<const std::int64_t> supply,
                             std::span<const std::int64_t> demand, const CostOf& cost,
                             const Solution& solution, double plan_cost) const;
    template <class CostOf>
    void round_narrow(const CostOf& cost, std::size_t rows, std::size_t columns, double largest);
    template <class CostOf>
    void round_wide(const CostOf& cost, std::size_t rows, std::size_t columns, double largest);
};

// cost(i, j) * 2^exponent to the nearest whole number, in rows of padded(columns); what pads them
// is left as it is or overwritten.
template <class CostOf>
void round_rows(const CostOf& cost, std::size_t rows, std::size_t columns, int exponent,
                std::int32_t* out) {
    const auto round_all = [&](auto scaled) {
        for (std::size_t i = 0; i < rows; ++i, out += kernels::padded(columns))
            for (std::size_t j = 0; j < columns; ++j)
                out[j] = static_cast<std::int32_t>(scaled(cost(i, j)) + 0.5);
    };
    if (exponent > 1000) { // more than a double can be
        round_all([&](double value) { return std::ldexp(value, exponent); });
        return;
    }
    const double scale = std::ldexp(1.0, exponent);
    round_all([&](double value) { return value * scale; });
}
void round_rows(const CostMatrix& cost, std::size_t rows, std::size_t columns, int exponent,
                std::int32_t* out);

template <class CostOf>
void RealCostSolver::round_narrow(const CostOf& cost, std::size_t rows, std::size_t columns,
                                  double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent); // largest < 2^exponent
    exponent = std::countr_zero(static_cast<std::uint32_t>(kLargestNarrowCost)) - exponent;
    unit_ = std::ldexp(1.0, -exponent);
    const std::size_t stride = kernels::padded(columns);
    narrow_.grow(rows * stride);
    round_rows(cost, rows, columns, exponent, narrow_.data());
    for (std::size_t i = 0; i < rows; ++i) {
        std::int32_t* row = narrow_.data() + i * stride;
        for (std::size_t j = columns; j < stride; ++j) row[j] = kPadding;
    }
}

template <class CostOf>
void RealCostSolver::round_wide(const CostOf& cost, std::size_t rows, std::size_t columns,
                                double largest) {
    const std::int64_t to = largest_wide_cost(rows + columns);
    const double scale = largest > 0 ? static_cast<double>(to) / largest : 0;
    unit_ = largest / static_cast<double>(to);
    wide_.grow(rows * columns);
    const auto round_all = [&](auto scaled) {
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j)
                wide_[i * columns + j] =
                    std::min(to, static_cast<std::int64_t>(scaled(cost(i, j)) + 0.5));
    };
    if (std::isfinite(scale))
        round_all([&](double value) { return value * scale; });
    else
        round_all([&](double value) { return value / largest * static_cast<double>(to); });
}

template <class CostOf>
double RealCostSolver::gap(std::span<const std::int64_t> supply,
                           std::span<const std::int64_t> demand, const CostOf& cost,
                           const Solution& solution, double plan_cost) const {
    double proven = 0;
    for (std::size_t j = 0; j < demand.size(); ++j)
        proven += static_cast<double>(demand[j]) * column_potential(solution, j);
    for (std::size_t i = 0; i < supply.size(); ++i) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < demand.size(); ++j)
            least = std::min(least, cost(i, j) - column_potential(solution, j));
        proven += static_cast<double>(supply[i]) * least;
    }
    return plan_cost - proven;
}

template <class CostOf>
double RealCostSolver::solve_capped(std::span<const std::int64_t> supply,
                                    std::span<const std::int64_t> demand, const CostOf& cost,
                                    double largest, Solution& solution, base::Stop& stop,
                                    const TransportLimits& limits) {
    double sum = solve(supply, demand, cost, largest, solution, stop, limits);
    double cap = largest;
    std::int64_t pivots = 0;
    // A narrow solution is proven, or costs so much that rounding cannot matter.
    while (solution.method != Method::narrow_simplex &&
           gap(supply, demand, cost, solution, sum) > kProvenError * sum) {
        double most = 0;
        for (const Shipment& s : solution.shipments)
            most = std::max(
                most, cost(static_cast<std::size_t>(s.row), static_cast<std::size_t>(s.column)));
        const double next = 2 * most * static_cast<double>(std::min(supply.size(), demand.size()));
        if (!(next > 0 && next < cap / 2)) break;
        cap = next;
        pivots += solution.pivots;
        sum = solve(
            supply, demand, [&](std::size_t i, std::size_t j) { return std::min(cost(i, j), cap); },
            cap, solution, stop, limits);
    }
    solution.pivots += pivots;
    return sum;
}

template <class CostOf>
double RealCostSolver::solve(std::span<const std::int64_t> supply,
                             std::span<const std::int64_t> demand, const CostOf& cost,
                             double largest, Solution& solution, base::Stop& stop,
                             const TransportLimits& limits, const Prefetch& prefetch) {
    const std::size_t rows = supply.size();
    const std::size_t columns = demand.size();
    const auto plan_cost = [&] {
        double sum = 0;
        for (const Shipment& s : solution.shipments)
            sum += static_cast<double>(s.mass) *
                   cost(static_cast<std::size_t>(s.row), static_cast<std::size_t>(s.column));
        return sum;
    };

    round_narrow(cost, rows, columns, largest);
    if (solver_.solve_narrow({supply, demand, narrow_.data(), kernels::padded(columns), prefetch},
                             solution, stop, limits)) {
        const double sum = plan_cost();
        // Rounding changes the cost of a plan by at most half a unit per unit of mass; the same
        // holds for the best plan. Together these are 2^-26 of the largest cost, which is below
        // 5e-7 of the cost of this plan if that is at least a 32nd of the largest. Otherwise, the
        // potentials may still prove this.
        double mass = 0;
        for (const std::int64_t m : supply) mass += static_cast<double>(m);
        if (sum >= largest / 32 * mass) return sum;
        if (gap(supply, demand, cost, solution, sum) <= kProvenError * sum) return sum;
    }

    if (solver_bytes(rows, columns) > kLargeProblem) {
        narrow_ = {};
        solver_.release_narrow();
    }
    round_wide(cost, rows, columns, largest);
    const std::int64_t pivots = solution.pivots;
    solver_.solve(Instance<std::int64_t>{supply, demand, wide_.data(), columns}, solution, stop,
                  limits);
    solution.pivots += pivots;
    return plan_cost();
}

} // namespace textkin::transport
