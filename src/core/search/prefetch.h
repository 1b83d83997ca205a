// Prefetch and prune (Kusner et al. 2015, section 4).
#pragma once

#include "search/centroids.h"
#include "search/query.h"

namespace textkin::search {

// Documents in the order of their centroid distances: the exact distances of the first k, then of
// those among the first m that neither their centroid nor their relaxed distance excludes. With m
// at least the number of documents this is exact. Queries have words.
void search_by_prefetch(const Space& space, const Corpus& corpus, CentroidStore& centroids,
                        std::span<Query* const> queries, const SearchOptions& options,
                        base::Stop& stop);

} // namespace textkin::search
