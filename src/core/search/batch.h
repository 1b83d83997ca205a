// Distances and bounds of many pairs on several threads, bit-identical to those of single pairs.
#pragma once

#include "search/corpus.h"
#include "search/dual_bound.h"
#include "transport/pair_solver.h"

namespace textkin::search {

// A vector table and a cost function.
struct Space {
    transport::VectorTable table;
    transport::Cost cost = transport::Cost::euclidean;
};

// out[i * b.size() + j] for all pairs; infinity where a document is empty. With `symmetric` (a and
// b are the same documents) half of the pairs are solved and the diagonal is 0.
void distance_matrix(const Space& space, const transport::Documents& a,
                     const transport::Documents& b, bool symmetric, unsigned threads,
                     base::Stop& stop, std::span<double> out);

// out[k] for the pairs (a_rows[k], b_rows[k]).
void distance_pairs(const Space& space, const transport::Documents& a,
                    std::span<const std::int64_t> a_rows, const transport::Documents& b,
                    std::span<const std::int64_t> b_rows, unsigned threads, base::Stop& stop,
                    std::span<double> out);

// Three matrices one after another: centroid, source, target.
void bound_matrices(const Space& space, const transport::Documents& a,
                    const transport::Documents& b, unsigned threads, base::Stop& stop,
                    std::span<double> out);

// Solver and scratch memory for one pair.
struct Workspace {
    transport::PairSolver solver;
    transport::OwnedDocument a, b; // for a pair that is not part of a batch
    // For a search.
    DocumentReader reader;
    Refiner refiner;
    // For a problem with costs of its own: positive masses only, with the positions they had.
    struct Side {
        std::vector<std::int64_t> masses;
        std::vector<std::size_t> positions;
    };
    Side sources, targets;
    transport::RealCostSolver transport;
    transport::Solution solution;

    // Releases the memory of parts that hold more than `bytes`. Takes none: destructors call it.
    void trim(std::size_t bytes) noexcept;
};

// The workspace of this thread, with the memory of its earlier pairs, or of a thread that has
// ended. A poll may run Python, and that may call textkin again on the same thread, in the middle
// of a pair: it gets a workspace of its own.
class WorkspaceLease {
  public:
    WorkspaceLease();
    ~WorkspaceLease();
    WorkspaceLease(const WorkspaceLease&) = delete;
    WorkspaceLease& operator=(const WorkspaceLease&) = delete;

    Workspace* operator->() { return workspace_; }
    Workspace& operator*() { return *workspace_; }

  private:
    Workspace* workspace_ = nullptr;
    bool* taken_ = nullptr;
    std::unique_ptr<Workspace> own_;
};

} // namespace textkin::search
