// Searches that look at bounds: rankings by a bound alone.
#pragma once

#include "search/centroids.h"
#include "search/query.h"

namespace textkin::search {

[[nodiscard]] constexpr bool ranks_by_bound(Algorithm algorithm) {
    return algorithm == Algorithm::centroid || algorithm == Algorithm::relaxed ||
           algorithm == Algorithm::relaxed_query || algorithm == Algorithm::relaxed_document;
}

// The documents with the smallest bounds; the bound is what is reported. Queries have words.
void search_by_bound(const Space& space, const Corpus& corpus, CentroidStore& centroids,
                     std::span<Query* const> queries, const SearchOptions& options,
                     base::Stop& stop);

// Calls part(queries, values) for a few queries at a time, so that the values of all documents for
// each (`values_each` of them a document) take about half of the memory.
template <class Part>
void in_batches(std::span<Query* const> queries, std::size_t documents, std::size_t values_each,
                std::size_t memory, const Part& part) {
    const std::size_t bytes = std::max<std::size_t>(documents * values_each * sizeof(double), 1);
    const std::size_t at_once = std::max<std::size_t>(memory / 2 / bytes, 1);
    std::vector<double> values;
    for (std::size_t first = 0; first < queries.size(); first += at_once) {
        const auto some = queries.subspan(first, std::min(at_once, queries.size() - first));
        values.resize(some.size() * documents * values_each);
        part(some, values);
    }
}

// The centroid distances of all documents, with the time it took shared among the queries.
void measure_centroids(const Space& space, const Corpus& corpus, CentroidStore& centroids,
                       std::span<Query* const> queries, const SearchOptions& options,
                       base::Stop& stop, double* values);

} // namespace textkin::search
