// A close lower bound of the distance of one document to a query, from a table of costs.
#pragma once

#include "base/buffer.h"
#include "search/corpus.h"
#include "transport/costs.h"
#include "transport/sinkhorn_bound.h"

#include <vector>

namespace textkin::search {

class LowerCosts;

// Holds one query after another, with memory that it keeps.
//
// Common mass is removed first where the cost is a metric. Then each word of one side goes to its
// nearest on the other; these costs r_i are potentials, and what they leave of the other side,
// v_j = min_i (c_ij - r_i), is a second part: sum_i a_i r_i + sum_j b_j v_j <= distance, by duality
// (one step of coordinate ascent from the relaxed distance). The better of both sides counts.
class Refiner {
  public:
    // `costs` has rows for the words of the query; a bound is lowered by `slack`.
    // What it makes of the rows takes about `bytes` at most.
    void start(const Corpus& corpus, const LowerCosts& costs, transport::Cost cost,
               const transport::Document& query, double slack, std::size_t bytes);

    // Stops early with a bound above `enough`.
    double bound(std::size_t row, double enough);

    // A much closer bound, by a SinkhornBound; stops early with one above `enough`. 0 where the
    // distance is had as soon, or too much memory would be needed.
    double sinkhorn_bound(std::size_t row, double enough, base::Stop& stop);

    // Asks for the costs that bound() will read of a document.
    void fetch(std::size_t row) const;

    // Release the memory if a large query took more than `bytes`.
    void trim(std::size_t bytes);

  private:
    const Corpus* corpus_ = nullptr;
    bool cancels_ = false;
    double unit_ = 1, slack_ = 0;
    std::size_t words_ = 0, width_ = 0; // of the query, and padded
    std::size_t most_panels_ = 0, bytes_ = 0;
    std::vector<const std::int16_t*> rows_of_query_;
    std::vector<double> shares_;         // of the query's words
    std::vector<std::int32_t> position_; // of a place in the query, + 1
    std::vector<std::int32_t> places_;   // where that is not 0
    // Costs as [word][query word], for the panels of words that were looked at.
    std::vector<std::int32_t> transposed_; // number of a panel's part, + 1
    std::vector<std::int32_t> panels_;     // where that is not 0
    std::vector<base::Buffer<std::int16_t>> parts_;
    // Of the document at hand.
    std::vector<const std::int16_t*> rows_;
    std::vector<double> masses_, left_;
    double stray_ = 0; // of rounding errors at most, in units
    base::Buffer<std::int16_t> closed_, row_least_, column_least_, rest_;
    transport::SinkhornBound sinkhorn_;

    [[nodiscard]] double as_cost(double sum) const;
    [[nodiscard]] const std::int16_t* costs_of(std::int32_t place);
    [[nodiscard]] const std::int16_t* transposed_costs(std::size_t number,
                                                       std::int32_t place) const;
    void read(std::size_t row);
    void forget_panels();
};

} // namespace textkin::search
