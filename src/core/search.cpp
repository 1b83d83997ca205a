#include "textkin/search.h"

#include "automatic.h"
#include "prefetch.h"
#include "query.h"
#include "rankings.h"
#include "textkin/parallel.h"

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
    all.reserve(queries.size());
    std::vector<Query*> with_words;
    for (std::size_t number = 0; number < queries.size(); ++number) {
        const auto part = [&]<class Number>(std::vector<Number>& values) {
            return record ? std::span<Number>(values).subspan(number * documents, documents)
                          : std::span<Number>();
        };
        all.emplace_back(corpus_, options, number, queries[number], out.stats[number],
                         part(out.verdicts), part(out.values));
        if (queries[number].empty() || corpus_.words().empty())
            stop.count_finished();
        else
            with_words.push_back(&all.back());
    }
    if (options.algorithm == Algorithm::automatic && !with_words.empty()) {
        // Whoever comes while another search uses the rows makes rows of its own.
        const std::unique_lock taken(guard_, std::try_to_lock);
        std::unique_ptr<LowerCosts> own;
        std::unique_ptr<LowerCosts>& costs = taken.owns_lock() ? costs_ : own;
        if (!costs) costs = std::make_unique<LowerCosts>(space_, corpus_);
        search_automatically(space, corpus_, *costs, with_words, options, stop);
    } else if (options.algorithm == Algorithm::prefetch) {
        search_by_prefetch(space, corpus_, *centroids_, with_words, options, stop);
    } else if (ranks_by_bound(options.algorithm)) {
        search_by_bound(space, corpus_, *centroids_, with_words, options, stop);
    } else {
        for (Query* query : with_words) {
            search_all(space, corpus_, *query, options.threads, stop);
            stop.count_finished();
        }
    }
    for (std::size_t number = 0; number < queries.size(); ++number) {
        all[number].decide_the_rest();
        out.hits[number] = all[number].nearest.take();
    }
}

} // namespace textkin
