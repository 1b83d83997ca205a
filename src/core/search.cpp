#include "textkin/search.h"

#include "prefetch.h"
#include "rankings.h"
#include "textkin/parallel.h"

#include <stdexcept>

namespace textkin {
namespace {

// The exact distance of every document: what the other ways are held to.
void search_all(const Space& space, const Corpus& corpus, Query& query, unsigned threads,
                Stop& stop) {
    std::vector<double> distances(corpus.size());
    {
        const Timed timed(query.stats(), Stage::solve);
        parallel_for(
            corpus.size(), threads, stop,
            [&](std::size_t row) {
                if (!query.may_find(row)) return;
                WorkspaceLease workspace;
                const Document document = workspace->reader.read(corpus, row);
                distances[row] = workspace->solver.distance(space.table, space.cost, query.document,
                                                            document, stop);
            },
            false);
    }
    for (std::size_t row = 0; row < corpus.size(); ++row) {
        if (!query.may_find(row)) continue;
        query.nearest.offer(row, distances[row]);
        query.decide(row, Verdict::solved, distances[row]);
    }
}

} // namespace

Searcher::Searcher(const Space& space, const Corpus& corpus)
    : space_(space), corpus_(corpus), centroids_(std::make_unique<CentroidStore>()) {}
Searcher::~Searcher() = default;

void Searcher::search(const Documents& queries, const float* points, const SearchOptions& options,
                      bool record, Stop& stop, SearchResult& out) const {
    Space space = space_;
    space.table.points = points;
    const std::size_t documents = corpus_.size();
    out.hits.assign(queries.size(), {});
    out.stats.assign(queries.size(), {});
    out.verdicts.assign(record ? queries.size() * documents : 0, 0);
    out.values.assign(out.verdicts.size(), 0.0);
    std::vector<Query> all;
    for (std::size_t number = 0; number < queries.size(); ++number) {
        const auto part = [&]<class Number>(std::vector<Number>& values) {
            return record ? std::span<Number>(values).subspan(number * documents, documents)
                          : std::span<Number>();
        };
        all.emplace_back(corpus_, options, number, queries[number], out.stats[number],
                         part(out.verdicts), part(out.values));
    }
    switch (options.algorithm) {
    case Algorithm::prefetch:
        search_by_prefetch(space, corpus_, *centroids_, all, options, stop);
        break;
    case Algorithm::centroid:
    case Algorithm::relaxed:
    case Algorithm::relaxed_query:
    case Algorithm::relaxed_document:
        search_by_bound(space, corpus_, *centroids_, all, options, stop);
        break;
    default:
        for (Query& query : all) {
            if (!query.document.empty()) search_all(space, corpus_, query, options.threads, stop);
            stop.count_finished();
        }
    }
    for (std::size_t number = 0; number < queries.size(); ++number) {
        all[number].decide_the_rest();
        out.hits[number] = all[number].nearest.take();
    }
}

} // namespace textkin
