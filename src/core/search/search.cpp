#include "search/search.h"

#include "base/parallel.h"
#include "search/bound_search.h"
#include "search/exact_search.h"
#include "search/prefetch.h"
#include "search/query.h"

namespace textkin::search {
namespace {

// The exact distance of every document: what the other ways are held to.
void search_all(const Space& space, const Corpus& corpus, Query& query, unsigned threads,
                base::Stop& stop) {
    std::vector<double> distances(corpus.size());
    {
        const Timed timed(query.stats(), Stage::solve);
        base::parallel_for(
            corpus.size(), threads, stop,
            [&](std::size_t row) {
                if (!query.may_find(row)) return;
                WorkspaceLease workspace;
                const transport::Document document = workspace->reader.read(corpus, row);
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

// The rows that are kept, for one search at a time. A concurrent search, in another thread or from
// a callback of the search itself, does not use them; all share the vectors from which rows are
// computed.
class Searcher::Loan {
  public:
    Loan(const Searcher& searcher, std::size_t memory, base::Stop& stop)
        : searcher_(searcher), mine_(!searcher.lent_.test_and_set(std::memory_order_acquire)) {
        try {
            const std::shared_ptr<const WordCosts> words = searcher.word_costs(memory, stop);
            std::unique_ptr<LowerCosts>& rows = mine_ ? searcher.rows_ : own_;
            // Rows of a copy of the vectors that is too large for this search go with it.
            if (!rows || &rows->words() != words.get()) rows = std::make_unique<LowerCosts>(words);
            rows_ = rows.get();
        } catch (...) {
            give_back();
            throw;
        }
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() { give_back(); }

    LowerCosts& operator*() { return *rows_; }

  private:
    const Searcher& searcher_;
    bool mine_;
    std::unique_ptr<LowerCosts> own_;
    LowerCosts* rows_ = nullptr;

    void give_back() {
        if (mine_) searcher_.lent_.clear(std::memory_order_release);
    }
};

// Has a copy of the vectors if and only if `memory` has room for one, so that a search with little
// memory leaves later ones as fast as they were.
std::shared_ptr<const WordCosts> Searcher::word_costs(std::size_t memory, base::Stop& stop) const {
    const std::size_t share = memory / 8;
    {
        const std::lock_guard taken(guard_);
        if (word_costs_ && !word_costs_->differs_with(share)) return word_costs_;
    }
    // Not under the lock: a poll may search on this thread.
    auto made = std::make_shared<const WordCosts>(space_, corpus_, share, &stop);
    const std::lock_guard taken(guard_);
    word_costs_ = made;
    return made;
}

void Searcher::prepare(std::size_t memory, base::Stop& stop) const {
    if (!corpus_.words().empty()) static_cast<void>(word_costs(memory, stop));
}

void Searcher::search(const transport::Documents& queries, const float* points,
                      const SearchOptions& options, bool record, base::Stop& stop,
                      SearchResult& out) const {
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
        Loan costs(*this, options.memory, stop);
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

} // namespace textkin::search
