#include "textkin/transport.h"

#include "shortest_paths.h"
#include "simplex.h"

#include <algorithm>

namespace textkin {

namespace {

template <class Number>
std::int64_t most_pivots(const Instance<Number>& instance, const TransportLimits& limits) {
    if (limits.pivots >= 0) return limits.pivots;
    return 1000 + 100 * static_cast<std::int64_t>(instance.rows() + instance.columns());
}

} // namespace

struct TransportSolver::Workspace {
    Simplex<std::int32_t> narrow;
    Simplex<std::int64_t> wide;
};

TransportSolver::TransportSolver() : workspace_(std::make_unique<Workspace>()) {}
TransportSolver::TransportSolver(TransportSolver&&) noexcept = default;
TransportSolver& TransportSolver::operator=(TransportSolver&&) noexcept = default;
TransportSolver::~TransportSolver() = default;

void TransportSolver::solve(const Instance<std::int32_t>& instance, Solution& solution, Stop& stop,
                            const TransportLimits& limits) {
    Simplex<std::int32_t>& narrow = workspace_->narrow;
    if (narrow.solve(instance, most_pivots(instance, limits), limits.narrow_potential, stop) ==
        Outcome::optimal) {
        narrow.read(solution);
        solution.method = Method::narrow_simplex;
        return;
    }
    std::vector<std::int64_t> costs(instance.rows() * instance.columns());
    for (std::size_t i = 0; i < instance.rows(); ++i)
        std::copy_n(instance.row(i), instance.columns(),
                    costs.begin() + static_cast<std::ptrdiff_t>(i * instance.columns()));
    solve(
        Instance<std::int64_t>{instance.supply, instance.demand, costs.data(), instance.columns()},
        solution, stop, limits);
}

void TransportSolver::solve(const Instance<std::int64_t>& instance, Solution& solution, Stop& stop,
                            const TransportLimits& limits) {
    Simplex<std::int64_t>& wide = workspace_->wide;
    // Costs are chosen so that the potentials of any tree fit.
    constexpr std::int64_t no_limit = std::int64_t{1} << 61;
    if (wide.solve(instance, most_pivots(instance, limits), no_limit, stop) == Outcome::optimal) {
        wide.read(solution);
        solution.method = Method::wide_simplex;
        return;
    }
    solve_by_shortest_paths(instance, solution, stop);
    solution.pivots = wide.pivots();
    solution.method = Method::shortest_paths;
}

} // namespace textkin
