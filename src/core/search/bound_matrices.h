// Lower bounds of all pairs of documents, the same bits as for each pair alone.
#pragma once

#include "search/batch.h"

#include <cstdint>
#include <span>

namespace textkin::search {

// out[i * b.size() + j]: the distance of the centroids of a[i] and b[j], as Bounds::centroid;
// infinity if one of them is empty. Takes about `memory` bytes in addition to the result.
void centroid_matrix(const Space& space, const transport::Documents& a,
                     const transport::Documents& b, std::size_t memory, unsigned threads,
                     base::Stop& stop, std::span<double> out);

enum class Side : std::uint8_t { query, document, both }; // both: the larger of them

// The same for one-sided relaxations: a[i] is the query, b[j] the document. Half of the work if
// both are the same object. Takes about `memory` bytes in addition to the result, but at least 128
// for each word of b.
void relaxed_matrix(const Space& space, const transport::Documents& a,
                    const transport::Documents& b, Side side, std::size_t memory, unsigned threads,
                    base::Stop& stop, std::span<double> out);

} // namespace textkin::search
