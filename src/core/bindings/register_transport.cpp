#include "bindings/array_views.h"

#include "search/batch.h"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace textkin::bindings {
namespace {

using namespace nb::literals;
using Masses = View<double, 1>;
using Costs = View<double, 2>;

// Problems of so many costs are solved, in microseconds, with the interpreter lock held: to give it
// back and take it again would be a good part of their time.
constexpr std::size_t kMostHeld = 1024;

// Keeps what has mass. True if that is everything.
bool leave_out_nothing(search::Workspace::Side& side) {
    const std::size_t count = side.masses.size();
    side.positions.clear();
    for (std::size_t i = 0; i < count; ++i) {
        if (side.masses[i] == 0) continue;
        side.masses[side.positions.size()] = side.masses[i];
        side.positions.push_back(i);
    }
    side.masses.resize(side.positions.size());
    return side.masses.size() == count;
}

// Four at a time: each comparison has to wait for the one before it.
template <class CostOf>
double largest_cost(std::size_t rows, std::size_t columns, const CostOf& cost) {
    double most[4] = {0, 0, 0, 0};
    for (std::size_t i = 0; i < rows; ++i) {
        std::size_t j = 0;
        for (; j + 4 <= columns; j += 4)
            for (std::size_t k = 0; k < 4; ++k) most[k] = std::max(most[k], cost(i, j + k));
        for (; j < columns; ++j) most[0] = std::max(most[0], cost(i, j));
    }
    return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
}

// A problem in whole masses, solved; the plan and its potentials stay in the workspace.
struct Solved {
    search::Workspace::Side &rows, &columns;
    std::int64_t total = 0;
    double cost = 0; // of the plan, for a total mass of one
    double unit = 1; // of the potentials

    Solved(const Masses& source, const Masses& target, const Costs& costs,
           const transport::TransportLimits& limits, std::uint64_t memory,
           search::Workspace& workspace);
};

Solved::Solved(const Masses& source, const Masses& target, const Costs& costs,
               const transport::TransportLimits& limits, std::uint64_t memory,
               search::Workspace& workspace)
    : rows(workspace.sources), columns(workspace.targets) {
    if (source.shape(0) != costs.shape(0) || target.shape(0) != costs.shape(1))
        throw nb::value_error(
            "The costs must have a row for each source and a column for each target.");
    rows.masses.resize(source.shape(0));
    columns.masses.resize(target.shape(0));
    const std::int64_t row_total =
        transport::whole_masses_of_fractions(source.numbers(), rows.masses);
    const std::int64_t column_total =
        transport::whole_masses_of_fractions(target.numbers(), columns.masses);
    if (row_total == 0 || column_total == 0)
        throw nb::value_error("Some mass must be positive on both sides.");
    total = transport::to_common_total(rows.masses, row_total, columns.masses, column_total);
    const bool all_rows = leave_out_nothing(rows);
    const bool all_columns = leave_out_nothing(columns);
    const std::size_t n = rows.masses.size();
    const std::size_t m = columns.masses.size();
    const auto work = [&](base::Stop& stop) {
        stop.memory().set_limit(memory);
        const transport::Reservation reservation(transport::solver_bytes(n, m), n, m, stop);
        const auto solve = [&](const auto& cost_at, double top) {
            cost = workspace.transport.solve_capped(rows.masses, columns.masses, cost_at, top,
                                                    workspace.solution, stop, limits);
        };
        const auto chosen = [&](std::size_t i, std::size_t j) {
            return costs(rows.positions[i], columns.positions[j]);
        };
        // As they lie, which takes fewer steps to read.
        const auto all = [given = costs.data(), m](std::size_t i, std::size_t j) {
            return given[i * m + j];
        };
        const bool as_they_lie = all_rows && all_columns;
        const double largest = as_they_lie ? largest_cost(n, m, all) : largest_cost(n, m, chosen);
        if (largest > 0x1p-900 && largest < 0x1p900) {
            if (as_they_lie)
                solve(all, largest);
            else
                solve(chosen, largest);
            return;
        }
        // In parts of the largest, so that costs of any size can be rounded.
        unit = largest;
        solve(
            [&](std::size_t i, std::size_t j) { return largest > 0 ? chosen(i, j) / largest : 0; },
            1.0);
    };
    if (n * m <= kMostHeld) {
        base::Stop stop;
        work(stop);
    } else {
        run(1, nb::none(), work);
    }
    cost = cost / static_cast<double>(total) * unit;
}

// Release the memory of a large problem.
void trim(const Solved& solved, search::Workspace& workspace) {
    if (transport::solver_bytes(solved.rows.masses.size(), solved.columns.masses.size()) <=
        transport::kLargeProblem)
        return;
    workspace.sources = workspace.targets = {};
    workspace.transport = transport::RealCostSolver{};
    workspace.solution = transport::Solution{};
}

double transport_cost(const Masses& source, const Masses& target, const Costs& cost) {
    search::WorkspaceLease workspace;
    const Solved solved(source, target, cost, {.starts_centered = true}, 0, *workspace);
    trim(solved, *workspace);
    return solved.cost;
}

auto solve(const Masses& source, const Masses& target, const Costs& cost, std::int64_t pivot_limit,
           std::int64_t potential_limit, std::uint64_t memory) {
    transport::TransportLimits limits;
    limits.pivots = pivot_limit;
    limits.starts_centered = true;
    if (potential_limit >= 0)
        limits.narrow_potential = std::min(limits.narrow_potential, potential_limit);
    search::WorkspaceLease lease;
    search::Workspace& workspace = *lease;
    const Solved solved(source, target, cost, limits, memory, workspace);
    transport::Solution& solution = workspace.solution;
    std::sort(solution.shipments.begin(), solution.shipments.end(),
              [](const transport::Shipment& x, const transport::Shipment& y) {
                  return std::pair(x.row, x.column) < std::pair(y.row, y.column);
              });
    std::vector<std::int32_t> from, to;
    std::vector<double> mass;
    for (const transport::Shipment& s : solution.shipments) {
        from.push_back(
            static_cast<std::int32_t>(solved.rows.positions[static_cast<std::size_t>(s.row)]));
        to.push_back(static_cast<std::int32_t>(
            solved.columns.positions[static_cast<std::size_t>(s.column)]));
        mass.push_back(static_cast<double>(s.mass) / static_cast<double>(solved.total));
    }
    // Potentials for the given costs: u as found, then v as large as every cost allows, for the
    // sources and targets without mass too.
    std::vector<double> u(source.shape(0), std::numeric_limits<double>::infinity());
    std::vector<double> v(target.shape(0), std::numeric_limits<double>::infinity());
    for (std::size_t j = 0; j < solved.columns.positions.size(); ++j)
        v[solved.columns.positions[j]] =
            workspace.transport.column_potential(solution, j) * solved.unit;
    for (std::size_t i = 0; i < u.size(); ++i)
        for (const std::size_t column : solved.columns.positions)
            u[i] = std::min(u[i], cost(i, column) - v[column]);
    for (std::size_t j = 0; j < v.size(); ++j) {
        if (std::isfinite(v[j])) continue;
        for (std::size_t i = 0; i < u.size(); ++i) v[j] = std::min(v[j], cost(i, j) - u[i]);
    }
    const std::size_t count = mass.size();
    const std::int64_t pivots = solution.pivots;
    const transport::Method method = solution.method;
    trim(solved, workspace);
    return std::tuple(to_numpy(std::move(from), count), to_numpy(std::move(to), count),
                      to_numpy(std::move(mass), count), to_numpy(std::move(u), source.shape(0)),
                      to_numpy(std::move(v), target.shape(0)), pivots, method);
}

} // namespace

void register_transport(nb::module_& module) {
    nb::enum_<transport::Method>(module, "Method", "How a transport problem was solved.")
        .value("narrow_simplex", transport::Method::narrow_simplex)
        .value("wide_simplex", transport::Method::wide_simplex)
        .value("shortest_paths", transport::Method::shortest_paths);
    module.def("transport_cost", &transport_cost, "source"_a.noconvert(), "target"_a.noconvert(),
               "cost"_a.noconvert(),
               "The least cost of one transport problem, without its plan: what benchmarks time.");
    module.def(
        "solve_transport", &solve, "source"_a.noconvert(), "target"_a.noconvert(),
        "cost"_a.noconvert(), "pivot_limit"_a = -1, "potential_limit"_a = -1, "memory"_a = 0,
        "Optimal plan of one transport problem: source, target and mass of each shipment, the "
        "potentials of both sides, the pivots and the method. `memory` limits the bytes of the "
        "solver; 0: half of the memory of the machine or of the cgroup.");
}

} // namespace textkin::bindings
