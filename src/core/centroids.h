// Distances of the centroids of many documents (WCD), the same bits as PairSolver::bounds.
#pragma once

#include "document_rows.h"
#include "textkin/batch.h"
#include "textkin/buffer.h"

#include <memory>
#include <mutex>

namespace textkin {

// Centroids of documents in groups of kCentroidColumns, coordinate by coordinate.
using Centroids = Buffer<double>;

// out[q * rows.size() + row] for each query and document; infinity where one of them is empty.
// `kept`: the centroids of the documents, or nullptr to compute them as they are needed.
void centroid_values(const Space& space, const DocumentRows& rows,
                     std::span<const Document> queries, const Centroids* kept, unsigned threads,
                     Stop& stop, double* out);

// What a searcher remembers of its corpus.
class CentroidStore {
  public:
    // The centroids of all documents, computed at the first call; nullptr if they would take more
    // than `memory` bytes.
    std::shared_ptr<const Centroids> get(const Space& space, const Corpus& corpus,
                                         std::size_t memory, unsigned threads, Stop& stop);

    // Length of the longest vector of a word of the corpus.
    double largest_length(const VectorTable& table, const Corpus& corpus);

  private:
    // Nobody works while holding it: a poll may run Python, and that may search again.
    std::mutex guard_;
    std::shared_ptr<const Centroids> centroids_;
    double largest_ = -1;
};

// Length of the longest vector of some words.
[[nodiscard]] double largest_length(const VectorTable& table, std::span<const std::int32_t> words);

} // namespace textkin
