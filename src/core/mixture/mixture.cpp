#include "mixture/mixture.h"

#include "kernels/kernels.h"
#include "kernels/padding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace textkin::mixture {
namespace {

constexpr std::size_t kBlock = 128;  // rows: they stay in cache for both halves of a step
constexpr std::size_t kEights = 8;   // that rows of terms come in
constexpr float kLeastShare = 1e-8F; // a sixth of the rounding of 1

// Where no fewer than one of so many shares count, a product of matrices is quicker.
constexpr std::size_t kDenser = 2;

using kernels::padded;

} // namespace

// Memory of one call.
struct MixtureStep::Scratch {
    base::Buffer<float> terms;
    base::Buffer<float> tops;
    base::Buffer<float> totals;
    // Of each component: rows of the block that it has a share in, the shares, how many.
    base::Buffer<std::int32_t> rows;
    base::Buffer<float> shares;
    std::vector<std::size_t> counts;
    base::Buffer<float> first;
    base::Buffer<float> second;
    // Where most shares count: all of them, the rows with their squares, and the product of both.
    base::Buffer<float> dense;
    base::Buffer<float> points;
    base::Buffer<float> product;
};

MixtureStep::MixtureStep(std::span<const double> offset, std::span<const double> linear,
                         std::span<const double> quadratic, bool hard)
    : n_components_(offset.size()), dimension_(linear.size() / offset.size()),
      width_(padded(offset.size(), kernels::kLanes)),
      base_(*std::max_element(offset.begin(), offset.end())), squares_(!quadratic.empty()),
      hard_(hard) {
    offset_.grow(width_);
    // What fills the last panel has no part in anything.
    std::fill_n(offset_.data(), width_, -std::numeric_limits<float>::infinity());
    for (std::size_t k = 0; k < n_components_; ++k)
        offset_[k] = static_cast<float>(offset[k] - base_);
    const std::size_t step = (squares_ ? 2 : 1) * kernels::kLanes;
    panels_.grow(width_ / kernels::kLanes * dimension_ * step);
    std::fill_n(panels_.data(), width_ / kernels::kLanes * dimension_ * step, 0.0F);
    for (std::size_t k = 0; k < n_components_; ++k) {
        float* own = panels_.data() + k / kernels::kLanes * dimension_ * step + k % kernels::kLanes;
        for (std::size_t j = 0; j < dimension_; ++j, own += step) {
            own[0] = static_cast<float>(linear[k * dimension_ + j]);
            if (squares_) own[kernels::kLanes] = static_cast<float>(quadratic[k * dimension_ + j]);
        }
    }
}

void MixtureStep::fill_terms(const float* values, std::size_t rows, Scratch& scratch) const {
    float* terms = scratch.terms.data();
    for (std::size_t row = 0; row < padded(rows, kEights); ++row)
        std::copy_n(offset_.data(), width_, terms + row * width_);
    const kernels::MixtureKernels& own =
        squares_ ? kernels::kernels().square_mixtures : kernels::kernels().mixtures;
    own.add_terms(values, rows, dimension_, panels_.data(), width_, terms);
}

void MixtureStep::share_out(const double* weights, std::size_t rows, Scratch& scratch, double* logs,
                            double* counts) const {
    kernels::kernels().mixtures.exponentials(scratch.terms.data(), padded(rows, kEights), width_,
                                             scratch.tops.data(), scratch.totals.data());
    scratch.counts.assign(n_components_, 0);
    for (std::size_t row = 0; row < rows; ++row) {
        const float* own = scratch.terms.data() + row * width_;
        const float total = scratch.totals[row];
        const double top = static_cast<double>(scratch.tops[row]);
        if (std::isnan(total)) {
            logs[row] = std::numeric_limits<double>::quiet_NaN();
            continue;
        }
        if (hard_) {
            logs[row] = base_ + top;
            const float* best = std::find(own, own + n_components_ - 1, 1.0F); // the first
            const auto k = static_cast<std::size_t>(best - own);
            const std::size_t at = k * kBlock + scratch.counts[k]++;
            scratch.rows[at] = static_cast<std::int32_t>(row);
            scratch.shares[at] = static_cast<float>(weights[row]);
            continue;
        }
        logs[row] = base_ + (top + std::log(static_cast<double>(total)));
        const float scale = static_cast<float>(weights[row] / static_cast<double>(total));
        const float least = kLeastShare * total;
        for (std::size_t k = 0; k < n_components_; ++k) {
            const std::size_t at = k * kBlock + scratch.counts[k];
            const bool counted = own[k] > least;
            scratch.rows[at] = static_cast<std::int32_t>(row);
            scratch.shares[at] = own[k] * scale;
            scratch.counts[k] += counted ? 1 : 0; // otherwise the next one takes the place
        }
    }
    for (std::size_t k = 0; k < n_components_; ++k)
        for (std::size_t i = 0; i < scratch.counts[k]; ++i)
            counts[k] += static_cast<double>(scratch.shares[k * kBlock + i]);
}

// Component by component, over the rows that it has a share in.
void MixtureStep::add_listed(const float* values, Scratch& scratch, const MixtureSums& sums) const {
    const kernels::Kernels& run = kernels::kernels();
    const kernels::MixtureKernels& own = squares_ ? run.square_mixtures : run.mixtures;
    for (std::size_t k = 0; k < n_components_; ++k) {
        if (scratch.counts[k] == 0) continue;
        own.share_sums(values, dimension_, scratch.rows.data() + k * kBlock,
                       scratch.shares.data() + k * kBlock, scratch.counts[k], scratch.first.data(),
                       scratch.second.data());
        run.centroids.add_scaled(scratch.first.data(), 1, dimension_, sums.first + k * dimension_);
        if (squares_)
            run.centroids.add_scaled(scratch.second.data(), 1, dimension_,
                                     sums.second + k * dimension_);
    }
}

// As one product of matrices, with zeros for shares that do not count.
void MixtureStep::add_product(const float* values, std::size_t rows, Scratch& scratch,
                              const MixtureSums& sums) const {
    const kernels::Kernels& run = kernels::kernels();
    const std::size_t half = padded(dimension_, kernels::kLanes);
    const std::size_t width = (squares_ ? 2 : 1) * half;
    scratch.dense.grow(n_components_ * kBlock);
    scratch.points.grow(kBlock * width);
    scratch.product.grow(n_components_ * width);
    std::fill_n(scratch.dense.data(), n_components_ * kBlock, 0.0F);
    for (std::size_t k = 0; k < n_components_; ++k)
        for (std::size_t i = k * kBlock; i < k * kBlock + scratch.counts[k]; ++i)
            scratch.dense[k * kBlock + static_cast<std::size_t>(scratch.rows[i])] =
                scratch.shares[i];
    for (std::size_t row = 0; row < rows; ++row) {
        const float* x = values + row * dimension_;
        float* own = scratch.points.data() + row * width;
        for (std::size_t j = 0; j < dimension_; ++j) own[j] = x[j];
        std::fill(own + dimension_, own + half, 0.0F);
        if (!squares_) continue;
        for (std::size_t j = 0; j < half; ++j) own[half + j] = own[j] * own[j];
    }
    run.factors.multiply({.left = scratch.dense.data(),
                          .left_row = kBlock,
                          .left_step = 1,
                          .rows = n_components_,
                          .right = scratch.points.data(),
                          .count = rows,
                          .width = width,
                          .out = scratch.product.data()});
    for (std::size_t k = 0; k < n_components_; ++k) {
        const float* own = scratch.product.data() + k * width;
        run.centroids.add_scaled(own, 1, dimension_, sums.first + k * dimension_);
        if (squares_)
            run.centroids.add_scaled(own + half, 1, dimension_, sums.second + k * dimension_);
    }
}

void MixtureStep::add(const float* values, std::span<const double> weights, double* logs,
                      const MixtureSums& sums, base::Stop& stop) const {
    Scratch scratch;
    scratch.terms.grow(kBlock * width_);
    scratch.tops.grow(kBlock);
    scratch.totals.grow(kBlock);
    scratch.rows.grow(kBlock * n_components_);
    scratch.shares.grow(kBlock * n_components_);
    scratch.first.grow(padded(dimension_, kernels::kLanes));
    scratch.second.grow(padded(dimension_, kernels::kLanes));
    for (std::size_t row = 0; row < weights.size(); row += kBlock) {
        stop.throw_if_requested();
        const std::size_t rows = std::min(kBlock, weights.size() - row);
        const float* own = values + row * dimension_;
        fill_terms(own, rows, scratch);
        share_out(weights.data() + row, rows, scratch, logs + row, sums.counts);
        const std::size_t counted =
            std::accumulate(scratch.counts.begin(), scratch.counts.end(), std::size_t{0});
        if (kDenser * counted < rows * n_components_)
            add_listed(own, scratch, sums);
        else
            add_product(own, rows, scratch, sums);
    }
}

} // namespace textkin::mixture
