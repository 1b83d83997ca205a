// Heap of the nearest documents that a search has found so far.
#pragma once

#include "search/search.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace textkin::search {

// The relative error of a reported distance, compared with the optimum of the linear program, is
// below this (1.2e-6 for squared costs, see transport.md); a lower bound of the optimum may exceed
// the reported distance by as much.
inline constexpr double kReportedError = 2e-6;

// Keeps the k nearest within a radius; of equally far ones the first rows.
class NearestHits {
  public:
    NearestHits(std::size_t k, double radius) : k_(k), radius_(radius) {}

    // What is farther cannot be among them any more.
    [[nodiscard]] double limit() const {
        if (k_ == 0) return -std::numeric_limits<double>::infinity();
        return hits_.size() < k_ ? radius_ : hits_.front().distance;
    }
    // Whether all of so many documents are found, however far they are.
    [[nodiscard]] bool takes_all(std::size_t count) const {
        return k_ >= count && radius_ == std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] bool full() const { return hits_.size() >= k_; }

    // Whether a document whose optimum is at least `bound` has no chance: its reported distance
    // would be above the limit, and equality is not enough.
    [[nodiscard]] bool excludes(double bound) const {
        return bound * (1 - kReportedError) > limit();
    }

    void offer(std::size_t row, double distance) {
        if (!(distance <= radius_) || k_ == 0) return;
        const Hit hit{static_cast<std::int64_t>(row), distance};
        if (full()) {
            if (!before(hit, hits_.front())) return;
            std::pop_heap(hits_.begin(), hits_.end(), before);
            hits_.back() = hit;
        } else {
            hits_.push_back(hit);
        }
        std::push_heap(hits_.begin(), hits_.end(), before);
    }

    // By distance, then by row. Nothing is left.
    [[nodiscard]] std::vector<Hit> take() {
        std::sort_heap(hits_.begin(), hits_.end(), before);
        return std::move(hits_);
    }

  private:
    std::size_t k_;
    double radius_;
    std::vector<Hit> hits_; // a heap, the farthest first

    static bool before(const Hit& a, const Hit& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
    }
};

} // namespace textkin::search
