#include "search/batch.h"

#include "base/parallel.h"

#include <array>
#include <atomic>
#include <limits>
#include <type_traits>

namespace textkin::search {
namespace {

// Workspaces of threads that have ended, for threads that begin: those of a team live as long as a
// call, and would take all their memory anew for each. No lock that a process could fork with.
constexpr std::size_t kMostSpare = 16;
constexpr std::size_t kBytesSpared = std::size_t{2} << 20; // at most, of each part
std::array<std::atomic<Workspace*>, kMostSpare> spare{};

struct OfThread {
    std::unique_ptr<Workspace> workspace;
    bool taken = false;

    OfThread() {
        for (auto& slot : spare)
            if (slot.load(std::memory_order_relaxed) != nullptr && !workspace)
                workspace.reset(slot.exchange(nullptr, std::memory_order_acq_rel));
        if (!workspace) workspace = std::make_unique<Workspace>();
    }
    OfThread(const OfThread&) = delete;
    OfThread& operator=(const OfThread&) = delete;
    ~OfThread() {
        workspace->trim(kBytesSpared);
        workspace->transport = {};
        workspace->solution = {};
        for (auto& slot : spare) {
            Workspace* none = nullptr;
            if (!slot.compare_exchange_strong(none, workspace.get(), std::memory_order_acq_rel))
                continue;
            static_cast<void>(workspace.release());
            return;
        }
    }
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The distance of a and b, while the vectors of the next two are on their way.
double distance(const Space& space, const transport::Document& a, const transport::Document& b,
                const transport::Document& next_a, const transport::Document& next_b,
                base::Stop& stop) {
    if (a.empty() || b.empty()) return kInfinity;
    WorkspaceLease workspace;
    workspace->solver.prefetch(space.table, next_a, next_b);
    return workspace->solver.distance(space.table, space.cost, a, b, stop);
}

} // namespace

void Workspace::trim(std::size_t bytes) noexcept {
    static_assert(std::is_nothrow_default_constructible_v<transport::PairSolver> &&
                  std::is_nothrow_default_constructible_v<Refiner> &&
                  std::is_nothrow_default_constructible_v<transport::RealCostSolver>);
    solver.trim(bytes);
    refiner.trim(2 * bytes);
}

WorkspaceLease::WorkspaceLease() {
    static thread_local OfThread own;
    if (own.taken) {
        own_ = std::make_unique<Workspace>();
        workspace_ = own_.get();
    } else {
        own.taken = true;
        taken_ = &own.taken;
        workspace_ = own.workspace.get();
    }
}

WorkspaceLease::~WorkspaceLease() {
    if (taken_ == nullptr) return;
    workspace_->trim(transport::kLargeProblem);
    *taken_ = false;
}

void distance_matrix(const Space& space, const transport::Documents& a,
                     const transport::Documents& b, bool symmetric, unsigned threads,
                     base::Stop& stop, std::span<double> out) {
    const std::size_t columns = b.size();
    base::parallel_for(a.size() * columns, threads, stop, [&](std::size_t item) {
        const std::size_t i = item / columns;
        const std::size_t j = item % columns;
        if (symmetric && j < i) return;
        double value = 0;
        if (!symmetric || i != j || a[i].empty()) {
            const transport::Document next = j + 1 < columns ? b[j + 1] : transport::Document{};
            value = distance(space, a[i], b[j], transport::Document{}, next, stop);
        }
        out[item] = value;
        if (symmetric) out[j * columns + i] = value;
    });
}

void distance_pairs(const Space& space, const transport::Documents& a,
                    std::span<const std::int64_t> a_rows, const transport::Documents& b,
                    std::span<const std::int64_t> b_rows, unsigned threads, base::Stop& stop,
                    std::span<double> out) {
    base::parallel_for(out.size(), threads, stop, [&](std::size_t item) {
        const std::size_t next = item + 1 < out.size() ? item + 1 : item;
        const auto at = [](const transport::Documents& documents,
                           std::span<const std::int64_t> rows,
                           std::size_t k) { return documents[static_cast<std::size_t>(rows[k])]; };
        out[item] = distance(space, at(a, a_rows, item), at(b, b_rows, item), at(a, a_rows, next),
                             at(b, b_rows, next), stop);
    });
}

void bound_matrices(const Space& space, const transport::Documents& a,
                    const transport::Documents& b, unsigned threads, base::Stop& stop,
                    std::span<double> out) {
    const std::size_t columns = b.size();
    const std::size_t pairs = a.size() * columns;
    base::parallel_for(pairs, threads, stop, [&](std::size_t item) {
        const transport::Document x = a[item / columns];
        const transport::Document y = b[item % columns];
        transport::Bounds bounds{kInfinity, kInfinity, kInfinity};
        if (!x.empty() && !y.empty()) {
            bounds = WorkspaceLease()->solver.bounds(space.table, space.cost, x, y, stop);
        }
        out[item] = bounds.centroid;
        out[pairs + item] = bounds.source;
        out[2 * pairs + item] = bounds.target;
    });
}

} // namespace textkin::search
