#include "bindings.h"

#include "textkin/documents.h"
#include "textkin/rounded.h"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

// Positive masses only, with the positions they had.
struct Side {
    std::vector<std::int64_t> masses;
    std::vector<std::int32_t> positions;

    explicit Side(const std::vector<std::int64_t>& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i] == 0) continue;
            masses.push_back(all[i]);
            positions.push_back(static_cast<std::int32_t>(i));
        }
    }
};

auto solve(const Array1<double>& source, const Array1<double>& target, const Array2<double>& cost,
           std::int64_t pivot_limit, std::int64_t potential_limit) {
    if (source.size() != cost.shape(0) || target.size() != cost.shape(1))
        throw nb::value_error(
            "The costs must have a row for each source and a column for each target.");
    std::vector<std::int64_t> a(source.size());
    std::vector<std::int64_t> b(target.size());
    const std::int64_t a_total = whole_masses(view(source), a);
    const std::int64_t b_total = whole_masses(view(target), b);
    if (a_total == 0 || b_total == 0)
        throw nb::value_error("Some mass must be positive on both sides.");
    const std::int64_t total = to_common_total(a, a_total, b, b_total);
    const Side rows(a);
    const Side columns(b);
    const std::size_t n = rows.masses.size();
    const std::size_t m = columns.masses.size();
    check_size(n, m);
    const auto given = [&](std::size_t i, std::size_t j) {
        return cost(static_cast<std::size_t>(rows.positions[i]),
                    static_cast<std::size_t>(columns.positions[j]));
    };
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) largest = std::max(largest, given(i, j));
    // In parts of the largest, so that costs of any size can be rounded.
    const auto part = [&](std::size_t i, std::size_t j) {
        return largest > 0 ? given(i, j) / largest : 0;
    };
    TransportLimits limits;
    limits.pivots = pivot_limit;
    if (potential_limit >= 0)
        limits.narrow_potential = std::min(limits.narrow_potential, potential_limit);
    Solution solution;
    RoundedSolver solver;
    run(1, nb::none(), [&](Stop& stop) {
        solver.solve(rows.masses, columns.masses, part, 1, solution, stop, limits);
    });

    std::sort(solution.shipments.begin(), solution.shipments.end(),
              [](const Shipment& x, const Shipment& y) {
                  return std::pair(x.row, x.column) < std::pair(y.row, y.column);
              });
    std::vector<std::int32_t> from, to;
    std::vector<double> mass;
    for (const Shipment& s : solution.shipments) {
        from.push_back(rows.positions[static_cast<std::size_t>(s.row)]);
        to.push_back(columns.positions[static_cast<std::size_t>(s.column)]);
        mass.push_back(static_cast<double>(s.mass) / static_cast<double>(total));
    }
    // Potentials for the given costs: u as found, then v as large as every cost allows, for the
    // sources and targets without mass too.
    std::vector<double> u(source.size(), std::numeric_limits<double>::infinity());
    std::vector<double> v(target.size(), std::numeric_limits<double>::infinity());
    for (std::size_t j = 0; j < m; ++j)
        v[static_cast<std::size_t>(columns.positions[j])] =
            solver.column_potential(solution, j) * largest;
    for (std::size_t i = 0; i < u.size(); ++i)
        for (std::size_t j = 0; j < m; ++j) {
            const auto column = static_cast<std::size_t>(columns.positions[j]);
            u[i] = std::min(u[i], cost(i, column) - v[column]);
        }
    for (std::size_t j = 0; j < v.size(); ++j) {
        if (std::isfinite(v[j])) continue;
        for (std::size_t i = 0; i < u.size(); ++i) v[j] = std::min(v[j], cost(i, j) - u[i]);
    }
    const std::size_t count = mass.size();
    return std::tuple(to_numpy(std::move(from), count), to_numpy(std::move(to), count),
                      to_numpy(std::move(mass), count), to_numpy(std::move(u), source.size()),
                      to_numpy(std::move(v), target.size()), solution.pivots, solution.method);
}

} // namespace

void register_transport(nb::module_& module) {
    nb::enum_<Method>(module, "Method", "How a transport problem was solved.")
        .value("narrow_simplex", Method::narrow_simplex)
        .value("wide_simplex", Method::wide_simplex)
        .value("shortest_paths", Method::shortest_paths);
    module.def(
        "solve_transport", &solve, "source"_a.noconvert(), "target"_a.noconvert(),
        "cost"_a.noconvert(), "pivot_limit"_a = -1, "potential_limit"_a = -1,
        "Optimal plan of one transport problem: source, target and mass of each shipment, the "
        "potentials of both sides, the pivots and the method.");
}

} // namespace textkin::bindings
