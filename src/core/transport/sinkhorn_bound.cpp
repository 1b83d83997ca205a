#include "transport/sinkhorn_bound.h"

#include "kernels/kernels.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace textkin::transport {
namespace {

// How soft the plan is whose potentials are looked for, of its mean cost, and how many rounds that
// takes. Each begins with the potentials of the one before.
struct Smoothing {
    double softness;
    std::size_t rounds;
};
constexpr Smoothing kSmoothings[] = {{0.02, 6}, {0.006, 8}};
constexpr double kLeastSoftness = 1e-3; // in units: far below what costs are rounded to

std::int16_t largest_cost(const SmallCosts& costs) {
    std::int16_t largest = 0;
    for (const std::int16_t* row : costs.rows)
        for (std::size_t j = 0; j < costs.words; ++j) largest = std::max(largest, row[j]);
    return largest;
}

} // namespace

double weighed(std::span<const double> masses, const std::int16_t* values) {
    double sum = 0;
    for (std::size_t i = 0; i < masses.size(); ++i)
        sum += masses[i] * static_cast<double>(values[i]);
    return sum;
}

void close_columns(std::span<const std::int16_t> closed, std::size_t width, std::int16_t* values) {
    for (std::size_t j = 0; j < closed.size(); ++j)
        if (closed[j] != 0) values[j] = 0;
    std::fill(values + closed.size(), values + width, std::int16_t{0});
}

double SinkhornBound::bound(const SmallCosts& costs, double enough, base::Stop& stop) {
    lay_out(costs);
    kernels::kernels().duals.least_both_ways(costs.rows.data(), costs.rows.size(), costs.width,
                                             costs.closed, row_least_.data(),
                                             column_values_.data());
    std::copy_n(row_least_.data(), costs.rows.size(), row_values_.data());
    const double first = complete(costs);
    const double mass = std::accumulate(costs.row_masses.begin(), costs.row_masses.end(), 0.0);
    // After common mass is canceled, either side may have any remaining mass.
    const double mean = std::min(first / mass, static_cast<double>(kernels::kFarthest));
    double bound = first;
    for (const Smoothing& smoothing : kSmoothings) {
        const double softness = smoothing.softness * mean;
        if (bound > enough || !(softness > kLeastSoftness)) break;
        smooth(costs, softness, smoothing.rounds, stop);
        bound = std::max(bound, complete(costs));
    }
    return bound;
}

void SinkhornBound::lay_out(const SmallCosts& costs) {
    const std::size_t count = costs.rows.size();
    row_least_.grow(count);
    row_values_.grow(count);
    row_shares_.grow(count);
    row_sums_.grow(count);
    column_values_.grow(costs.width);
    column_shares_.grow(costs.width);
    column_factors_.grow(costs.width);
    column_sums_.grow(costs.width);
    kernel_.grow(count * costs.width); // the last: what bytes() tells is all there
    const auto narrowed = [](double mass) { return static_cast<float>(mass); };
    std::transform(costs.row_masses.begin(), costs.row_masses.end(), row_shares_.data(), narrowed);
    std::transform(costs.column_masses.begin(), costs.column_masses.end(), column_shares_.data(),
                   narrowed);
    std::fill(column_shares_.data() + costs.words, column_shares_.data() + costs.width, 0.0F);
}

double SinkhornBound::complete(const SmallCosts& costs) {
    const kernels::Kernels& run = kernels::kernels();
    run.duals.reduced_columns(costs.rows.data(), costs.rows.size(), costs.width, row_values_.data(),
                              column_values_.data());
    close_columns({costs.closed, costs.words}, costs.width, column_values_.data());
    run.duals.reduced_rows(costs.rows.data(), costs.rows.size(), costs.width, column_values_.data(),
                           costs.closed, row_values_.data());
    return weighed(costs.row_masses, row_values_.data()) +
           weighed(costs.column_masses, column_values_.data());
}

// From potentials that are feasible to smooth ones, which need not be. They are whole numbers so
// that neither they nor what they leave of open columns nor what that leaves of rows needs more
// than 16 bits: not below 0, and above the least cost of a row by at most what the largest cost
// leaves free.
void SinkhornBound::smooth(const SmallCosts& costs, double softness, std::size_t rounds,
                           base::Stop& stop) {
    const kernels::Kernels& run = kernels::kernels();
    const std::size_t count = costs.rows.size();
    run.sinkhorn.sinkhorn_kernel(
        costs.rows.data(), count, costs.width, row_values_.data(), column_values_.data(),
        static_cast<float>(-std::numbers::log2e / softness), kernel_.data());
    const auto sinkhorn_step = [&](float* column_sums) {
        run.sinkhorn.sinkhorn_step(kernel_.data(), count, costs.width, row_shares_.data(),
                                   column_shares_.data(), column_factors_.data(), column_sums,
                                   row_sums_.data());
    };
    std::copy_n(column_shares_.data(), costs.width, column_factors_.data());
    for (std::size_t round = 0; round < rounds; ++round) {
        stop.throw_if_requested();
        sinkhorn_step(column_sums_.data());
    }
    sinkhorn_step(nullptr);
    const auto value = [&](std::size_t i) {
        return row_values_[i] - softness * std::log(static_cast<double>(row_sums_[i]));
    };
    const double room = kernels::kFarthest - largest_cost(costs);
    const auto most = [&](std::size_t i) { // the least cost itself is beyond if no column is open
        return std::min(row_least_[i] + room, static_cast<double>(kernels::kFarthest));
    };
    // All may be moved by the same amount, as both sides have the same mass.
    double move = kernels::kFarthest;
    for (std::size_t i = 0; i < count; ++i) move = std::min(move, most(i) - value(i));
    for (std::size_t i = 0; i < count; ++i)
        row_values_[i] = static_cast<std::int16_t>(std::clamp(value(i) + move, 0.0, most(i)));
}

} // namespace textkin::transport
