// Best-first search: from coarse bounds of all documents to the exact nearest documents of a query.
#pragma once

#include "search/lower_costs.h"
#include "search/query.h"

#include <condition_variable>
#include <mutex>
#include <queue>

namespace textkin::search {

// A lower bound for every document: one number every `stride`, in units that keep costs of any size
// inside the range of float.
struct CheapBounds {
    const float* values = nullptr;
    std::size_t stride = 1;
    double unit = 1;

    double operator[](std::size_t row) const {
        return static_cast<double>(values[row * stride]) * unit;
    }
};

// Takes the document with the least bound again and again: refines the bound if it is a cheap one,
// sharpens it if it was refined already and that is less work than the distance, computes the
// distance if nothing else is left, until the least bound is too far. Several threads may do so
// together; what they find never depends on who took what.
class BestFirstSearch {
  public:
    // `costs` may be nullptr: no table then, and a bound is refined by the costs of the pair.
    BestFirstSearch(const Space& space, const Corpus& corpus, const LowerCosts* costs,
                    CheapBounds bounds, double slack, Query& query);

    // What is made of the costs takes about `bytes` at most.
    void run(unsigned threads, std::size_t bytes, base::Stop& stop);

  private:
    struct Candidate {
        double bound;
        std::size_t row;
        bool sharp = false; // or not worth it
        // The nearest on top; of equal ones the first row.
        bool operator<(const Candidate& other) const {
            return bound != other.bound ? bound > other.bound : row > other.row;
        }
    };

    const Space& space_;
    const Corpus& corpus_;
    const LowerCosts* costs_;
    CheapBounds bounds_;
    double slack_;
    Query& query_;

    std::mutex guard_;
    std::condition_variable changed_;
    std::size_t in_flight_ = 0; // tasks that may still change what is to do
    bool failed_ = false;

    std::vector<Candidate> cheap_; // by bound, as far as listed
    std::size_t next_ = 0;         // in cheap_
    bool all_listed_ = false;      // all that could matter
    std::size_t listed_ = 0;
    std::int64_t findable_ = 0;
    bool sharpens_ = false;
    std::priority_queue<Candidate> refined_;

    void list_more();
    void work(unsigned threads, std::size_t bytes, base::Stop& stop);
    [[nodiscard]] double cheapest() const;
    [[nodiscard]] double least_refined() const;
    // A bound above `enough` need not be closer.
    void refine(Workspace& workspace, std::vector<Candidate>& some, double enough,
                base::Stop& stop) const;
    [[nodiscard]] double solve(Workspace& workspace, std::size_t row, base::Stop& stop) const;
};

} // namespace textkin::search
