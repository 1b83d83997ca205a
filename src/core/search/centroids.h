// Distances of the centroids of many documents (WCD), the same bits as PairSolver::bounds.
#pragma once

#include "base/buffer.h"
#include "search/batch.h"
#include "search/document_rows.h"

#include <memory>
#include <mutex>

namespace textkin::search {

// Centroids of documents in groups of kCentroidColumns, coordinate by coordinate.
using Centroids = base::Buffer<double>;

// out[q * rows.size() + row] for each query and document; infinity where one of them is empty.
// `kept`: the centroids of the documents, or nullptr to compute them as they are needed.
void centroid_values(const Space& space, const DocumentRows& rows,
                     std::span<const transport::Document> queries, const Centroids* kept,
                     unsigned threads, base::Stop& stop, double* out);

// What a searcher remembers of its corpus.
class CentroidStore {
  public:
    // The centroids of all documents, computed at the first call; nullptr if they would take more
    // than `memory` bytes.
    std::shared_ptr<const Centroids> get(const Space& space, const Corpus& corpus,
                                         std::size_t memory, unsigned threads, base::Stop& stop);

    // Length of the longest vector of a word of the corpus.
    double largest_length(const transport::VectorTable& table, const Corpus& corpus);

  private:
    // No work is done while it is locked: a poll may run Python, which may search again.
    std::mutex guard_;
    std::shared_ptr<const Centroids> centroids_;
    double largest_ = -1;
};

// Length of the longest vector of some words.
[[nodiscard]] double largest_length(const transport::VectorTable& table,
                                    std::span<const std::int32_t> words);

} // namespace textkin::search
