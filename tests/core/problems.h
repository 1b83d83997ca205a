// Transportation problems for tests, optimality checks, and reference solvers.
#pragma once

#include "check.h"
#include "kernels/padding.h"
#include "transport/transport.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace problems {

using textkin::transport::Instance;
using textkin::transport::Shipment;
using textkin::transport::Solution;
using Random = std::mt19937_64;
using Masses = std::vector<std::int64_t>;
// A mass of 2^44 times a cost of 2^26 leaves 64 bits.
__extension__ typedef __int128 Objective;

struct Problem {
    Masses supply, demand;
    std::vector<std::int32_t> cost;
    std::size_t stride = 0;

    [[nodiscard]] std::size_t rows() const { return supply.size(); }
    [[nodiscard]] std::size_t columns() const { return demand.size(); }
    [[nodiscard]] std::int32_t at(std::size_t i, std::size_t j) const {
        return cost[i * stride + j];
    }
    [[nodiscard]] Instance<std::int32_t> instance() const {
        return {supply, demand, cost.data(), stride};
    }
};

// The problem with cost_of(i, j) as costs.
template <class CostOf> Problem make(Masses supply, Masses demand, CostOf cost_of) {
    Problem p;
    p.supply = std::move(supply);
    p.demand = std::move(demand);
    p.stride = textkin::kernels::padded(p.columns());
    p.cost.assign(p.rows() * p.stride, textkin::transport::kPadding);
    for (std::size_t i = 0; i < p.rows(); ++i)
        for (std::size_t j = 0; j < p.columns(); ++j)
            p.cost[i * p.stride + j] = static_cast<std::int32_t>(cost_of(i, j));
    return p;
}

inline std::int64_t below(Random& random, std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

// `count` positive masses with a given total.
inline Masses random_masses(Random& random, std::size_t count, std::int64_t total) {
    std::vector<std::int64_t> cuts(count + 1, 0);
    const std::int64_t free = total - static_cast<std::int64_t>(count);
    for (std::size_t i = 1; i < count; ++i) cuts[i] = below(random, free + 1);
    cuts[count] = free;
    std::sort(cuts.begin(), cuts.end());
    Masses masses(count);
    for (std::size_t i = 0; i < count; ++i) masses[i] = 1 + cuts[i + 1] - cuts[i];
    return masses;
}

// Costs from 0 to `largest`, inclusive.
inline Problem random_problem(Random& random, std::size_t rows, std::size_t columns,
                              std::int64_t total, std::int64_t largest) {
    Masses supply = random_masses(random, rows, total);
    Masses demand = random_masses(random, columns, total);
    return make(std::move(supply), std::move(demand),
                [&](std::size_t, std::size_t) { return below(random, largest + 1); });
}

// Solves with narrow costs, or with the same costs in 64 bits if 32 bits do not suffice.
inline void solve(textkin::transport::TransportSolver& solver, const Problem& p, Solution& solution,
                  textkin::base::Stop& stop,
                  const textkin::transport::TransportLimits& limits = {}) {
    if (solver.solve_narrow(p.instance(), solution, stop, limits)) return;
    const std::vector<std::int64_t> costs(p.cost.begin(), p.cost.end());
    solver.solve(Instance<std::int64_t>{p.supply, p.demand, costs.data(), p.stride}, solution, stop,
                 limits);
}

inline Objective objective(const Problem& p, const Solution& solution) {
    Objective sum = 0;
    for (const Shipment& s : solution.shipments)
        sum += static_cast<Objective>(s.mass) *
               p.at(static_cast<std::size_t>(s.row), static_cast<std::size_t>(s.column));
    return sum;
}

// Checks of a solution, including, by duality, that it is optimal.
inline void check_proof(const Problem& p, const Solution& solution) {
    const std::vector<std::int64_t>& u = solution.row_potential;
    const std::vector<std::int64_t>& v = solution.column_potential;
    CHECK(u.size() == p.rows() && v.size() == p.columns());
    if (u.size() != p.rows() || v.size() != p.columns()) return;
    Masses sent(p.rows(), 0);
    Masses received(p.columns(), 0);
    std::vector<char> used(p.rows() * p.columns(), 0);
    for (const Shipment& s : solution.shipments) {
        const auto i = static_cast<std::size_t>(s.row);
        const auto j = static_cast<std::size_t>(s.column);
        CHECK(i < p.rows() && j < p.columns());
        if (i >= p.rows() || j >= p.columns()) return;
        CHECK(s.mass > 0);
        CHECK(!used[i * p.columns() + j]);
        CHECK(u[i] + v[j] == p.at(i, j));
        used[i * p.columns() + j] = 1;
        sent[i] += s.mass;
        received[j] += s.mass;
    }
    CHECK(sent == p.supply);
    CHECK(received == p.demand);
    bool feasible = true;
    for (std::size_t i = 0; i < p.rows(); ++i)
        for (std::size_t j = 0; j < p.columns(); ++j)
            feasible = feasible && u[i] + v[j] <= p.at(i, j);
    CHECK(feasible);
}

inline bool same(const Solution& a, const Solution& b) {
    return a.row_potential == b.row_potential && a.column_potential == b.column_potential &&
           a.pivots == b.pivots && a.method == b.method &&
           std::equal(a.shipments.begin(), a.shipments.end(), b.shipments.begin(),
                      b.shipments.end(), [](const Shipment& x, const Shipment& y) {
                          return x.row == y.row && x.column == y.column && x.mass == y.mass;
                      });
}

// Least cost by the textbook: while mass remains, send as much as fits along a shortest path
// of the residual graph, found by relaxing all arcs until nothing changes (Bellman and Ford).
inline Objective least_cost(const Problem& p) {
    constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 4;
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    const std::size_t n = p.rows();
    const std::size_t m = p.columns();
    Masses supply = p.supply;
    Masses demand = p.demand;
    Masses flow(n * m, 0);
    auto left = std::accumulate(supply.begin(), supply.end(), std::int64_t{0});
    Objective sum = 0;
    while (left > 0) {
        std::vector<std::int64_t> to_row(n, far);
        std::vector<std::int64_t> to_column(m, far);
        std::vector<std::size_t> row_from(n, none); // none: start of the path
        std::vector<std::size_t> column_from(m, none);
        for (std::size_t i = 0; i < n; ++i)
            if (supply[i] > 0) to_row[i] = 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < m; ++j) {
                    if (to_row[i] < far && to_row[i] + p.at(i, j) < to_column[j]) {
                        to_column[j] = to_row[i] + p.at(i, j);
                        column_from[j] = i;
                        changed = true;
                    }
                    if (flow[i * m + j] > 0 && to_column[j] < far &&
                        to_column[j] - p.at(i, j) < to_row[i]) {
                        to_row[i] = to_column[j] - p.at(i, j);
                        row_from[i] = j;
                        changed = true;
                    }
                }
            }
        }
        std::size_t end = none;
        for (std::size_t j = 0; j < m; ++j)
            if (demand[j] > 0 && (end == none || to_column[j] < to_column[end])) end = j;
        std::int64_t mass = demand[end];
        std::size_t first = column_from[end];
        for (; row_from[first] != none; first = column_from[row_from[first]])
            mass = std::min(mass, flow[first * m + row_from[first]]);
        mass = std::min(mass, supply[first]);
        for (std::size_t j = end;;) {
            const std::size_t i = column_from[j];
            flow[i * m + j] += mass;
            if (row_from[i] == none) break;
            j = row_from[i];
            flow[i * m + j] -= mass;
        }
        supply[first] -= mass;
        demand[end] -= mass;
        left -= mass;
        sum += static_cast<Objective>(mass) * to_column[end];
    }
    return sum;
}

// Least cost of unit masses, by trying all orders.
inline Objective least_assignment(const Problem& p) {
    std::vector<std::size_t> order(p.rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Objective best = -1;
    do {
        Objective sum = 0;
        for (std::size_t i = 0; i < order.size(); ++i) sum += p.at(i, order[i]);
        if (best < 0 || sum < best) best = sum;
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

} // namespace problems
