// The Word Mover's Distance of a pair of documents (Kusner et al. 2015), its lower bounds, its flow
// and the potentials that prove it.
#pragma once

#include "transport/costs.h"
#include "transport/documents.h"
#include "transport/real_cost_solver.h"
#include "transport/sinkhorn_bound.h"

#include <limits>

namespace textkin::transport {

// One move of an explanation: positions of the words in the two documents, its fraction of the
// total mass, and the cost per unit of mass.
struct Move {
    std::int32_t source, target;
    double mass, cost;
};

struct Explanation {
    double distance = 0;
    std::vector<Move> moves; // by source, then target; costs x masses add up to the distance
    std::vector<double> source_masses, target_masses; // each adds up to 1
    // source + target <= cost for every pair of words; times the masses, the distance again.
    std::vector<double> source_potentials, target_potentials;
    std::int64_t pivots = 0;
    Method method = Method::narrow_simplex;
    bool solved = false; // false: nothing was left for the solver to decide
};

struct Bounds {
    double centroid = 0; // of the centroids: Euclidean, squared, or half the square, as the cost
    double source = 0;   // every source word goes to its nearest target word
    double target = 0;   // every target word gets its mass from the nearest source word
};

// Solves pairs one after another and reuses its memory. Not for concurrent use.
class PairSolver {
  public:
    // Both documents must have words. Bit-identical if they are swapped. Returns infinity if a
    // bound shows that the distance is above `enough`.
    double distance(const VectorTable& table, Cost cost, const Document& a, const Document& b,
                    base::Stop& stop, double enough = std::numeric_limits<double>::infinity());
    Explanation explain(const VectorTable& table, Cost cost, const Document& source,
                        const Document& target, base::Stop& stop);
    Bounds bounds(const VectorTable& table, Cost cost, const Document& a, const Document& b,
                  base::Stop& stop);

    // Set the pair that follows the next distance: its vectors are prefetched while that distance
    // is computed. This changes no result.
    void prefetch(const VectorTable& table, const Document& a, const Document& b);

    // Releases the memory if the largest pair since the last release can have taken more than
    // `bytes`.
    void trim(std::uint64_t bytes) noexcept;

  private:
    // Words of one side that still have mass to move, with their positions in the document.
    struct Side {
        std::vector<std::int32_t> words, positions;
        std::vector<std::int64_t> masses;

        void resize(std::size_t count);
        [[nodiscard]] std::size_t size() const { return words.size(); }
    };
    struct Kept {
        std::int32_t a, b;
        std::int64_t mass;
    };

    CostKernel kernel_;
    RealCostSolver transport_;
    CostMatrix costs_;
    std::vector<std::int64_t> a_masses_, b_masses_;
    Side a_, b_;
    std::vector<Kept> kept_;
    std::vector<const float*> prefetch_;
    Solution solution_;
    // For bounds: costs in 16 bits, and masses.
    SinkhornBound sinkhorn_;
    base::Buffer<std::int16_t> small_costs_;
    std::vector<const std::int16_t*> small_rows_;
    std::vector<std::int16_t> none_closed_;
    std::vector<double> a_shares_, b_shares_;
    std::int64_t total_ = 0;
    bool solved_ = false;
    std::uint64_t held_ = 0; // bytes that the largest pair so far can have taken

    // Reserves the memory of a large pair; its end releases the memory of the solver first.
    class LargePair;

    void split(const Document& a, const Document& b, bool cancel_common_mass);
    [[nodiscard]] double solve(const VectorTable& table, Cost cost, bool is_large, base::Stop& stop,
                               double enough = std::numeric_limits<double>::infinity());
    [[nodiscard]] double sinkhorn_bound(double enough, base::Stop& stop);
    void ship_directly();
    [[nodiscard]] double cost_of(const Shipment& shipment) const;
    [[nodiscard]] std::vector<double> column_potentials(const VectorTable& table, Cost cost,
                                                        bool is_large, base::Stop& stop);
    [[nodiscard]] std::vector<double> best_potentials(const VectorTable& table, Cost cost,
                                                      std::span<const std::int32_t> of,
                                                      const std::vector<double>& v,
                                                      base::Stop& stop) const;
};

} // namespace textkin::transport
