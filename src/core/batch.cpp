#include "textkin/batch.h"

#include "textkin/parallel.h"

#include <limits>

namespace textkin {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The distance of a and b, while the vectors of the next two are on their way.
double distance(const Space& space, const Document& a, const Document& b, const Document& next_a,
                const Document& next_b, Stop& stop) {
    if (a.empty() || b.empty()) return kInfinity;
    WorkspaceLease workspace;
    workspace->solver.expect(space.table, next_a, next_b);
    return workspace->solver.distance(space.table, space.cost, a, b, stop);
}

} // namespace

WorkspaceLease::WorkspaceLease() {
    static thread_local Workspace kept;
    static thread_local bool taken = false;
    if (taken) {
        own_ = std::make_unique<Workspace>();
        workspace_ = own_.get();
    } else {
        taken = true;
        taken_ = &taken;
        workspace_ = &kept;
    }
}

WorkspaceLease::~WorkspaceLease() {
    if (taken_ == nullptr) return;
    workspace_->solver.trim();
    workspace_->refiner.trim();
    *taken_ = false;
}

void distance_matrix(const Space& space, const Documents& a, const Documents& b, bool symmetric,
                     unsigned threads, Stop& stop, std::span<double> out) {
    const std::size_t columns = b.size();
    parallel_for(a.size() * columns, threads, stop, [&](std::size_t item) {
        const std::size_t i = item / columns;
        const std::size_t j = item % columns;
        if (symmetric && j < i) return;
        double value = 0;
        if (!symmetric || i != j || a[i].empty()) {
            const Document next = j + 1 < columns ? b[j + 1] : Document{};
            value = distance(space, a[i], b[j], Document{}, next, stop);
        }
        out[item] = value;
        if (symmetric) out[j * columns + i] = value;
    });
}

void distance_pairs(const Space& space, const Documents& a, std::span<const std::int64_t> a_rows,
                    const Documents& b, std::span<const std::int64_t> b_rows, unsigned threads,
                    Stop& stop, std::span<double> out) {
    parallel_for(out.size(), threads, stop, [&](std::size_t item) {
        const std::size_t next = item + 1 < out.size() ? item + 1 : item;
        const auto at = [](const Documents& documents, std::span<const std::int64_t> rows,
                           std::size_t k) { return documents[static_cast<std::size_t>(rows[k])]; };
        out[item] = distance(space, at(a, a_rows, item), at(b, b_rows, item), at(a, a_rows, next),
                             at(b, b_rows, next), stop);
    });
}

void bound_matrices(const Space& space, const Documents& a, const Documents& b, unsigned threads,
                    Stop& stop, std::span<double> out) {
    const std::size_t columns = b.size();
    const std::size_t pairs = a.size() * columns;
    parallel_for(pairs, threads, stop, [&](std::size_t item) {
        const Document x = a[item / columns];
        const Document y = b[item % columns];
        Bounds bounds{kInfinity, kInfinity, kInfinity};
        if (!x.empty() && !y.empty()) {
            bounds = WorkspaceLease()->solver.bounds(space.table, space.cost, x, y, stop);
        }
        out[item] = bounds.centroid;
        out[pairs + item] = bounds.source;
        out[2 * pairs + item] = bounds.target;
    });
}

} // namespace textkin
