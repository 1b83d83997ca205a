#include "textkin/transport.h"

#include "shortest_paths.h"
#include "simplex.h"

#include <utility>

namespace textkin {

struct TransportSolver::Workspace {
    Simplex<std::int32_t> narrow;
    Simplex<std::int64_t> wide;
};

TransportSolver::TransportSolver() : workspace_(std::make_unique<Workspace>()) {}
TransportSolver::TransportSolver(TransportSolver&&) noexcept = default;
TransportSolver& TransportSolver::operator=(TransportSolver&&) noexcept = default;
TransportSolver::~TransportSolver() = default;

void TransportSolver::solve(const Instance& instance, Solution& solution, Stop& stop,
                            const TransportLimits& limits) {
    using Narrow = Simplex<std::int32_t>;
    using Wide = Simplex<std::int64_t>;
    const auto size = static_cast<std::int64_t>(instance.rows() + instance.columns());
    const std::int64_t pivots = limits.pivots >= 0 ? limits.pivots : 1000 + 100 * size;

    const auto narrow = workspace_->narrow.solve(instance, pivots, limits.narrow_potential, stop);
    if (narrow == Narrow::Outcome::optimal) {
        workspace_->narrow.read(solution);
        solution.method = Method::narrow_simplex;
        return;
    }
    if (narrow == Narrow::Outcome::potential_too_large) {
        // A tree of all nodes reaches at most size x the largest cost: far inside 64 bits.
        const std::int64_t enough = (size + 1) * kLargestCost;
        if (workspace_->wide.solve(instance, pivots, enough, stop) == Wide::Outcome::optimal) {
            workspace_->wide.read(solution);
            solution.method = Method::wide_simplex;
            return;
        }
    }
    solve_by_shortest_paths(instance, solution, stop);
    solution.pivots = pivots;
    solution.method = Method::shortest_paths;
}

} // namespace textkin
