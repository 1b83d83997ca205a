#include "transport/transport.h"

#include "transport/shortest_paths.h"
#include "transport/simplex.h"

namespace textkin::transport {

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

TransportSolver::TransportSolver() noexcept = default;
TransportSolver::TransportSolver(TransportSolver&&) noexcept = default;
TransportSolver& TransportSolver::operator=(TransportSolver&&) noexcept = default;
TransportSolver::~TransportSolver() = default;

TransportSolver::Workspace& TransportSolver::workspace() {
    if (!workspace_) workspace_ = std::make_unique<Workspace>();
    return *workspace_;
}

bool TransportSolver::solve_narrow(const Instance<std::int32_t>& instance, Solution& solution,
                                   base::Stop& stop, const TransportLimits& limits) {
    Simplex<std::int32_t>& narrow = workspace().narrow;
    const kernels::Outcome outcome =
        narrow.solve(instance, most_pivots(instance, limits), limits.narrow_potential,
                     limits.starts_centered, stop);
    if (outcome != kernels::Outcome::optimal) {
        solution.pivots = narrow.pivots();
        return false;
    }
    narrow.read(solution);
    solution.method = Method::narrow_simplex;
    return true;
}

void TransportSolver::release_narrow() noexcept { workspace_->narrow = {}; }

void TransportSolver::solve(const Instance<std::int64_t>& instance, Solution& solution,
                            base::Stop& stop, const TransportLimits& limits) {
    Simplex<std::int64_t>& wide = workspace().wide;
    // Costs are chosen so that the potentials of any tree fit.
    constexpr std::int64_t no_limit = std::int64_t{1} << 61;
    if (wide.solve(instance, most_pivots(instance, limits), no_limit, false, stop) ==
        kernels::Outcome::optimal) {
        wide.read(solution);
        solution.method = Method::wide_simplex;
        return;
    }
    const std::int64_t pivots = wide.pivots();
    wide = {}; // releases its memory
    solve_by_shortest_paths(instance, solution, stop);
    solution.pivots = pivots;
    solution.method = Method::shortest_paths;
}

} // namespace textkin::transport
