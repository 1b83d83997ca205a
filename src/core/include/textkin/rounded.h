// A transport problem whose costs are real numbers, solved in whole ones.
#pragma once

#include "textkin/costs.h"
#include "textkin/lanes.h"
#include "textkin/transport.h"

#include <algorithm>
#include <cmath>
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
                 const TransportLimits& limits = {}, const Ahead& ahead = {});

    // What the potential of a column is worth in the costs that were given.
    [[nodiscard]] double column_potential(const Solution& solution, std::size_t j) const {
        return static_cast<double>(solution.column_potential[j]) * unit_;
    }

  private:
    TransportSolver solver_;
    Buffer<std::int32_t> narrow_;
    Buffer<std::int64_t> wide_;
    double unit_ = 0;

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
    const double scale = std::ldexp(1.0, exponent);
    for (std::size_t i = 0; i < rows; ++i, out += padded(columns))
        for (std::size_t j = 0; j < columns; ++j)
            out[j] = static_cast<std::int32_t>(cost(i, j) * scale + 0.5);
}
void round_rows(const CostMatrix& cost, std::size_t rows, std::size_t columns, int exponent,
                std::int32_t* out);

template <class CostOf>
void RoundedSolver::round_narrow(const CostOf& cost, std::size_t rows, std::size_t columns,
                                 double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent); // largest < 2^exponent
    exponent = std::bit_width(static_cast<std::uint32_t>(kLargestNarrowCost)) - 1 - exponent;
    unit_ = std::ldexp(1.0, -exponent);
    const std::size_t stride = padded(columns);
    narrow_.grow(rows * stride);
    round_rows(cost, rows, columns, exponent, narrow_.data());
    for (std::size_t i = 0; i < rows; ++i) {
        std::int32_t* row = narrow_.data() + i * stride;
        for (std::size_t j = columns; j < stride; ++j) row[j] = kPadding;
    }
}

template <class CostOf>
void RoundedSolver::round_wide(const CostOf& cost, std::size_t rows, std::size_t columns,
                               double largest) {
    const std::int64_t to = largest_wide_cost(rows + columns);
    const double scale = largest > 0 ? static_cast<double>(to) / largest : 0;
    unit_ = largest / static_cast<double>(to);
    wide_.grow(rows * columns);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            wide_[i * columns + j] =
                std::min(to, static_cast<std::int64_t>(cost(i, j) * scale + 0.5));
}

template <class CostOf>
double RoundedSolver::solve(std::span<const std::int64_t> supply,
                            std::span<const std::int64_t> demand, const CostOf& cost,
                            double largest, Solution& solution, Stop& stop,
                            const TransportLimits& limits, const Ahead& ahead) {
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
    solver_.solve(Instance<std::int32_t>{supply, demand, narrow_.data(), padded(columns), ahead},
                  solution, stop, limits);
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

    round_wide(cost, rows, columns, largest);
    const std::int64_t pivots = solution.pivots;
    solver_.solve(Instance<std::int64_t>{supply, demand, wide_.data(), columns}, solution, stop,
                  limits);
    solution.pivots += pivots;
    return plan_cost();
}

} // namespace textkin
