#include "search/bound_search.h"

#include "base/parallel.h"
#include "search/relaxed_bounds.h"

namespace textkin::search {
namespace {

std::vector<transport::Document> documents_of(std::span<Query* const> queries) {
    std::vector<transport::Document> out;
    for (const Query* query : queries) out.push_back(query->document);
    return out;
}

void share_time(std::span<Query* const> queries, Stage stage, double seconds) {
    for (Query* query : queries)
        query->stats().seconds[static_cast<std::size_t>(stage)] +=
            seconds / static_cast<double>(queries.size());
}

// The values of each query, those of the document's side after those of the query's.
void measure_relaxed(const Space& space, const Corpus& corpus, std::span<Query* const> queries,
                     const SearchOptions& options, base::Stop& stop, std::vector<double>& values) {
    const std::size_t count = queries.size() * corpus.size();
    const Algorithm by = options.algorithm;
    double* const query_side = by == Algorithm::relaxed_document ? nullptr : values.data();
    double* const document_side = by == Algorithm::relaxed_query ? nullptr
                                  : by == Algorithm::relaxed     ? values.data() + count
                                                                 : values.data();
    const RelaxedTimes times =
        relaxed_values(space, CorpusRows(corpus, options.mask), documents_of(queries),
                       options.memory / 2, options.threads, stop, query_side, document_side);
    if (by == Algorithm::relaxed)
        for (std::size_t k = 0; k < count; ++k) values[k] = std::max(values[k], values[count + k]);
    share_time(queries, Stage::table, times.table);
    share_time(queries, Stage::bound, times.bound);
}

} // namespace

void measure_centroids(const Space& space, const Corpus& corpus, CentroidStore& centroids,
                       std::span<Query* const> queries, const SearchOptions& options,
                       base::Stop& stop, double* values) {
    const auto began = std::chrono::steady_clock::now();
    const auto kept = centroids.get(space, corpus, options.memory / 2, options.threads, stop);
    centroid_values(space, CorpusRows(corpus, options.mask), documents_of(queries), kept.get(),
                    options.threads, stop, values);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    share_time(queries, Stage::bound, taken.count());
}

void search_by_bound(const Space& space, const Corpus& corpus, CentroidStore& centroids,
                     std::span<Query* const> queries, const SearchOptions& options,
                     base::Stop& stop) {
    const std::size_t documents = corpus.size();
    const std::size_t values_each = options.algorithm == Algorithm::relaxed ? 2 : 1;
    in_batches(queries, documents, values_each, options.memory,
               [&](std::span<Query* const> some, std::vector<double>& values) {
                   if (options.algorithm == Algorithm::centroid)
                       measure_centroids(space, corpus, centroids, some, options, stop,
                                         values.data());
                   else
                       measure_relaxed(space, corpus, some, options, stop, values);
                   base::parallel_for(some.size(), options.threads, stop, [&](std::size_t q) {
                       Query& query = *some[q];
                       const Timed timed(query.stats(), Stage::order);
                       for (std::size_t row = 0; row < documents; ++row) {
                           if (!query.may_find(row)) continue;
                           const double value = values[q * documents + row];
                           query.nearest.offer(row, value);
                           query.decide(row, Verdict::solved, value);
                       }
                   });
               });
}

} // namespace textkin::search
