// A lower bound that is nearly the distance, for much less than the distance takes.
#pragma once

#include "base/buffer.h"
#include "base/stop.h"

#include <cstdint>
#include <span>

namespace textkin::transport {

// Mass to move from rows to columns, all of it. Costs are whole numbers from 0 to kFarthest in some
// unit; a row has `width` of them, padded(words), of which those from `words` on mean nothing. A
// column is open (closed[j] is 0) or closed (kFarthest), and closed ones have no mass.
struct SmallCosts {
    std::span<const std::int16_t* const> rows;
    std::size_t words, width;
    const std::int16_t* closed;
    std::span<const double> row_masses, column_masses; // of rows, and of `words` columns
};

// Solutions of the dual problem, sum_i a_i u_i + sum_j b_j v_j with u_i + v_j <= c_ij.
//
// One solution is the minimum of each row, completed by the c-transform v_j = min_i (c_ij - u_i).
// Further steps of this kind do not improve it: each potential is as large as the others allow.
// Under entropic regularization, the plan is spread more evenly and the potentials are smooth; a
// few iterations of Sinkhorn scaling find them (Cuturi, "Sinkhorn Distances", NIPS 2013). Completed
// by the c-transform, they are feasible for the original problem, even if inexact, and nearly
// optimal.
//
// The memory is kept from one problem to the next.
class SinkhornBound {
  public:
    // Whether this is less work than the distance.
    [[nodiscard]] static bool pays(std::size_t rows, std::size_t words) {
        return rows * words >= kWorthIt;
    }
    // About what a problem needs.
    [[nodiscard]] static std::size_t bytes_needed(std::size_t rows, std::size_t width) {
        return rows * width * sizeof(float);
    }

    // In units; stops early with one above `enough`.
    double bound(const SmallCosts& costs, double enough, base::Stop& stop);

    [[nodiscard]] std::size_t bytes() const { return kernel_.size() * sizeof(float); }

  private:
    static constexpr std::size_t kWorthIt = 300; // costs

    base::Buffer<std::int16_t> row_least_, row_values_, column_values_;
    base::Buffer<float> kernel_, row_shares_, column_shares_, column_factors_, column_sums_,
        row_sums_;

    void lay_out(const SmallCosts& costs);
    // Makes potentials of both sides of those of the rows, and returns their sum.
    double complete(const SmallCosts& costs);
    void smooth(const SmallCosts& costs, double softness, std::size_t rounds, base::Stop& stop);
};

// Nothing goes to closed columns and those beyond the last, and what they promise must not stand in
// the way of the others.
void close_columns(std::span<const std::int16_t> closed, std::size_t width, std::int16_t* values);

// The sum of masses times values.
double weighed(std::span<const double> masses, const std::int16_t* values);

} // namespace textkin::transport
