// A transport problem whose costs are real numbers, solved in whole ones.
#pragma once

#include "textkin/kernels.h"
#include "textkin/transport.h"

#include <algorithm>
#include <limits>

namespace textkin {

// The most memory that the solution of one problem may take.
inline constexpr std::size_t kMostBytes = std::size_t{8} << 30;

// Bytes that a problem takes: its costs twice over, and a set of nodes for each node.
[[nodiscard]] constexpr std::size_t bytes_needed(std::size_t rows, std::size_t columns) {
    const std::size_t nodes = padded(rows) + padded(columns);
    return 8 * rows * padded(columns) + nodes * nodes / 8;
}

// Throws std::length_error for a problem above kMostBytes, before memory is asked for.
void check_size(std::size_t rows, std::size_t columns);

// Rounds the costs to narrow whole numbers first. Where the plan then costs so little beside the
// largest cost that this rounding could matter, it solves again with wide ones.
class RoundedSolver {
  public:
    // cost(i, j) >= 0, none above `largest`. Returns the cost of the plan, with masses as given.
    template <class CostOf>
    double solve(std::span<const std::int64_t> supply, std::span<const std::int64_t> demand,
                 const CostOf& cost, double largest, Solution& solution, Stop& stop,
                 const TransportLimits& limits = {});

    // What the potential of a column is worth in the costs that were given.
    [[nodiscard]] double column_potential(const Solution& solution, std::size_t j) const {
        return static_cast<double>(solution.column_potential[j]) * unit_;
    }

  private:
    TransportSolver solver_;
    std::vector<std::int32_t> narrow_;
    std::vector<std::int64_t> wide_;
    double unit_ = 0;

    template <class Number, class CostOf>
    void round(const CostOf& cost, std::size_t rows, std::size_t columns, std::size_t stride,
               double largest, Number to, std::vector<Number>& out) {
        const double scale = largest > 0 ? static_cast<double>(to) / largest : 0;
        unit_ = largest / static_cast<double>(to);
        if (out.size() < rows * stride) out.resize(rows * stride);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j)
                out[i * stride + j] = std::min(to, static_cast<Number>(cost(i, j) * scale + 0.5));
    }
};

template <class CostOf>
double RoundedSolver::solve(std::span<const std::int64_t> supply,
                            std::span<const std::int64_t> demand, const CostOf& cost,
                            double largest, Solution& solution, Stop& stop,
                            const TransportLimits& limits) {
    const std::size_t rows = supply.size();
    const std::size_t columns = demand.size();
    const auto plan_cost = [&] {
        double sum = 0;
        for (const Shipment& s : solution.shipments)
            sum += static_cast<double>(s.mass) *
                   cost(static_cast<std::size_t>(s.row), static_cast<std::size_t>(s.column));
        return sum;
    };

    const std::size_t stride = padded(columns);
    round(cost, rows, columns, stride, largest, kLargestNarrowCost, narrow_);
    for (std::size_t i = 0; i < rows; ++i)
        std::fill_n(narrow_.begin() + static_cast<std::ptrdiff_t>(i * stride + columns),
                    stride - columns, kPadding);
    solver_.solve(Instance<std::int32_t>{supply, demand, narrow_.data(), stride}, solution, stop,
                  limits);
    const double sum = plan_cost();
    // Rounding moves the cost of a plan by at most half a unit of mass and cost; so does it that of
    // the best plan. Together that is 2^-26 of the largest cost: below 5e-7 of this plan's, if it
    // costs a 32nd of the largest. If not, the potentials may still prove as much.
    double mass = 0;
    for (const std::int64_t m : supply) mass += static_cast<double>(m);
    if (sum >= largest / 32 * mass) return sum;
    double proven = 0;
    for (std::size_t j = 0; j < columns; ++j)
        proven += static_cast<double>(demand[j]) * column_potential(solution, j);
    for (std::size_t i = 0; i < rows; ++i) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < columns; ++j)
            least = std::min(least, cost(i, j) - column_potential(solution, j));
        proven += static_cast<double>(supply[i]) * least;
    }
    if (sum - proven <= 5e-7 * sum) return sum;

    round(cost, rows, columns, columns, largest, largest_wide_cost(rows + columns), wide_);
    const std::int64_t pivots = solution.pivots;
    solver_.solve(Instance<std::int64_t>{supply, demand, wide_.data(), columns}, solution, stop,
                  limits);
    solution.pivots += pivots;
    return plan_cost();
}

} // namespace textkin
