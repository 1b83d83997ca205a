// The transportation problem in integers: the plan of least cost between supplies and demands.
#pragma once

#include "base/stop.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace textkin::transport {

// Costs are integers from 0. Narrow costs are fast: the largest cost of a pair is multiplied by a
// power of two so that it is between half of this and this. Rounding then changes a cost by less
// than 1e-8 of the largest cost.
inline constexpr std::int32_t kLargestNarrowCost = std::int32_t{1} << 27;

// Wide costs are as fine as 64 bits allow: potentials of a tree of `nodes` words are below 2^60.
[[nodiscard]] constexpr std::int64_t largest_wide_cost(std::size_t nodes) {
    return std::int64_t{1} << (60 - std::bit_width(nodes));
}

// Pads rows of narrow costs to a multiple of kLanes.
inline constexpr std::int32_t kPadding = std::int32_t{1} << 30;

// Memory that is needed after the problem: `bytes` from each of these addresses. The solver
// prefetches it into the cache while it works. This changes no result.
struct Prefetch {
    std::span<const float* const> addresses;
    std::size_t bytes = 0;
};

// Supplies and demands are positive and have the same sum, which stays below 2^62 when multiplied
// by twice the number of rows. Row i of the costs begins at cost + i * stride; stride is a multiple
// of kLanes where costs are narrow.
template <class Number> struct Instance {
    std::span<const std::int64_t> supply, demand;
    const Number* cost = nullptr;
    std::size_t stride = 0;
    Prefetch prefetch{};

    [[nodiscard]] std::size_t rows() const { return supply.size(); }
    [[nodiscard]] std::size_t columns() const { return demand.size(); }
    [[nodiscard]] const Number* row(std::size_t i) const { return cost + i * stride; }
};

struct Shipment {
    std::int32_t row, column;
    std::int64_t mass;
};

enum class Method : std::uint8_t {
    narrow_simplex, // 32 bits: the usual way
    wide_simplex,   // 64 bits: where 32 are too few for the potentials or for the range of costs
    shortest_paths, // where the simplex took too many pivots: polynomial, slower
};

// An optimal plan and the dual potentials that prove it: row + column <= cost for every pair, with
// equality for every pair with a shipment.
struct Solution {
    std::vector<Shipment> shipments; // in no stated order; positive masses only
    std::vector<std::int64_t> row_potential, column_potential;
    std::int64_t pivots = 0;
    Method method = Method::narrow_simplex;
};

struct TransportLimits {
    // |potential| beyond which the narrow simplex gives way to the wide one.
    std::int64_t narrow_potential = std::int64_t{1} << 29;
    // Pivots beyond which the simplex gives way to shortest paths; negative: 1000 and 100 more for
    // each row and column, several times what any problem has needed so far.
    std::int64_t pivots = -1;
    // Whether the narrow simplex chooses its first tree by costs less the means of their rows and
    // columns (above 32 rows or columns). This takes fewer pivots, and many fewer if all rows rank
    // the columns in a similar order; the wide simplex took more of them for random costs. If
    // several plans are optimal, another one can be found.
    bool starts_centered = false;
};

class TransportSolver {
  public:
    // Takes no memory before the first problem, so that a solver can be reset while memory is
    // short.
    TransportSolver() noexcept;
    TransportSolver(TransportSolver&&) noexcept;
    TransportSolver& operator=(TransportSolver&&) noexcept;
    ~TransportSolver();

    // All solve to proven optimality or throw Stopped. Deterministic: the same instance gives the
    // same plan, ties included. The memory is kept between calls.

    // Returns false, with only the number of pivots in `solution`, if 32 bits do not suffice or the
    // simplex takes too many pivots.
    [[nodiscard]] bool solve_narrow(const Instance<std::int32_t>& instance, Solution& solution,
                                    base::Stop& stop, const TransportLimits& limits = {});
    void solve(const Instance<std::int64_t>& instance, Solution& solution, base::Stop& stop,
               const TransportLimits& limits = {});

    void release_narrow() noexcept; // memory of solve_narrow()

  private:
    struct Workspace;
    std::unique_ptr<Workspace> workspace_;

    Workspace& workspace();
};

} // namespace textkin::transport
