// One-sided relaxations (RWMD) of many queries against many documents, the same bits as
// PairSolver::bounds gives for each pair.
//
// The costs of all words of the queries to all words of the documents are computed once, a block of
// query words at a time. A document's side is then one sum over its words of the least cost to any
// word of the query; the query's side takes the minima over the document's words first.
#pragma once

#include "search/batch.h"
#include "search/document_rows.h"

#include <vector>

namespace textkin::search {

// The words that some documents have, and where among them a word is.
struct LiveWords {
    std::vector<std::int32_t> words;  // ascending
    std::vector<std::int32_t> places; // of each word up to the last one; -1 for the others

    explicit LiveWords(std::vector<std::int32_t> all);
};

// A document by the places of its words.
struct PlacedDocument {
    std::vector<std::int32_t> places;
    std::vector<double> masses;

    void assign(const transport::Document& document, const LiveWords& live);
};

// Marks the rows of a cost matrix where one pair alone might be computed on another scale: where
// costs are extreme, or vanish although the vectors differ. Returns whether there is one. `columns`
// has as many words as the matrix has columns.
bool mark_extreme(const transport::VectorTable& table, transport::Cost cost,
                  const transport::CostMatrix& costs, std::span<const std::int32_t> rows,
                  std::span<const std::int32_t> columns, std::uint8_t* marks);

struct RelaxedTimes {
    double table = 0, bound = 0; // seconds
};

// query_side[q * rows.size() + row]: each word of the query goes to the nearest word of the
// document; document_side: the reverse. Either may be nullptr. Infinity if one of them is empty.
// Takes about `memory` bytes in addition to the results, but at least 128 for each word of the
// documents.
RelaxedTimes relaxed_values(const Space& space, const DocumentRows& rows,
                            std::span<const transport::Document> queries, std::size_t memory,
                            unsigned threads, base::Stop& stop, double* query_side,
                            double* document_side);

} // namespace textkin::search
