// The transportation problem in whole numbers: who sends how much to whom at the least cost.
#pragma once

#include "textkin/stop.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace textkin {

// Costs are whole numbers from 0 to kLargestCost: the pair's largest cost is scaled to it, so that
// rounding changes a cost by less than 1e-8 of the largest.
inline constexpr std::int32_t kLargestCost = std::int32_t{1} << 26;

// Sum of supplies times (rows + 1) stays below this.
inline constexpr std::int64_t kLargestMass = std::int64_t{1} << 62;

// Supplies and demands are positive and have the same sum. Row i of the costs begins at
// cost + i * stride; stride is a multiple of kLanes, and what pads a row is kPadding.
struct Instance {
    std::span<const std::int64_t> supply, demand;
    const std::int32_t* cost = nullptr;
    std::size_t stride = 0;

    [[nodiscard]] std::size_t rows() const { return supply.size(); }
    [[nodiscard]] std::size_t columns() const { return demand.size(); }
    [[nodiscard]] const std::int32_t* row(std::size_t i) const { return cost + i * stride; }
};

inline constexpr std::int32_t kPadding = std::int32_t{1} << 30;

struct Shipment {
    std::int32_t row, column;
    std::int64_t mass;
};

enum class Method : std::uint8_t {
    narrow_simplex, // potentials in 32 bits: the usual way
    wide_simplex,   // potentials in 64 bits: when those of a bad start would not fit
    shortest_paths, // when the simplex took too many pivots: polynomial, slower
};

// An optimal plan and the potentials that prove it: row + column <= cost for every pair, with
// equality wherever something is shipped.
struct Solution {
    std::vector<Shipment> shipments; // by row, then column; positive masses only
    std::vector<std::int64_t> row_potential, column_potential;
    std::int64_t pivots = 0;
    Method method = Method::narrow_simplex;
};

struct TransportLimits {
    // |potential| beyond which the narrow simplex gives way to the wide one.
    std::int64_t narrow_potential = std::int64_t{1} << 29;
    // Pivots beyond which the simplex gives way to shortest paths; negative: as many as the size of
    // the problem ever needed, tenfold.
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
    void solve(const Instance& instance, Solution& solution, Stop& stop,
               const TransportLimits& limits = {});

  private:
    struct Workspace;
    std::unique_ptr<Workspace> workspace_;
};

} // namespace textkin
