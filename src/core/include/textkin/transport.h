// The transportation problem in whole numbers: who sends how much to whom at the least cost.
#pragma once

#include "textkin/stop.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace textkin {

// Costs are whole numbers from 0 up. Narrow ones are quick to work with: the pair's largest cost is
// multiplied by a power of two to lie between half of this and this, so rounding changes a cost by
// less than 1e-8 of the largest.
inline constexpr std::int32_t kLargestNarrowCost = std::int32_t{1} << 27;

// Wide ones are as fine as 64 bits allow: potentials of a tree of `nodes` words stay below 2^60.
[[nodiscard]] constexpr std::int64_t largest_wide_cost(std::size_t nodes) {
    return std::int64_t{1} << (60 - std::bit_width(nodes));
}

// What pads a row of narrow costs up to a multiple of kLanes.
inline constexpr std::int32_t kPadding = std::int32_t{1} << 30;

// Memory that will be needed after the problem: `bytes` from each of these addresses on. It is
// asked for along the way, so that it is near by then. Changes nothing else.
struct Ahead {
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
    Ahead ahead{};

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

// An optimal plan and the potentials that prove it: row + column <= cost for every pair, with
// equality wherever something is shipped.
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
};

class TransportSolver {
  public:
    TransportSolver();
    TransportSolver(TransportSolver&&) noexcept;
    TransportSolver& operator=(TransportSolver&&) noexcept;
    ~TransportSolver();

    // Solves to proven optimality or throws Stopped. Deterministic: the same instance gives the
    // same plan, ties included. Keeps its memory between calls.
    void solve(const Instance<std::int32_t>& instance, Solution& solution, Stop& stop,
               const TransportLimits& limits = {});
    void solve(const Instance<std::int64_t>& instance, Solution& solution, Stop& stop,
               const TransportLimits& limits = {});

  private:
    struct Workspace;
    std::unique_ptr<Workspace> workspace_;
};

} // namespace textkin
