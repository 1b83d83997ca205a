// Exact distances of candidates that the caller selected, the most promising first.
#include "base/parallel.h"
#include "search/nearest_hits.h"
#include "search/search.h"

#include <deque>

namespace textkin::search {
namespace {

// A query and those of its candidates that are left.
struct QueryState {
    QueryState(std::size_t k, double limit, std::size_t begin, std::size_t finish)
        : nearest(k, limit), next(begin), end(finish) {}

    std::mutex guard;
    NearestHits nearest;
    std::size_t next, end;
    std::int64_t solved = 0;
};

} // namespace

void Searcher::solve(const transport::Documents& queries, const Candidates& candidates,
                     std::size_t k, unsigned threads, base::Stop& stop,
                     std::vector<std::vector<Hit>>& hits, std::vector<std::int64_t>& solved) const {
    std::deque<QueryState> all; // a mutex stays where it is
    for (std::size_t q = 0; q < candidates.queries.size(); ++q)
        all.emplace_back(k, candidates.limits[q], static_cast<std::size_t>(candidates.starts[q]),
                         static_cast<std::size_t>(candidates.starts[q + 1]));
    // The next candidate that has a chance; they are in order, so after one that has none, none.
    const auto take = [&](QueryState& state) {
        const std::lock_guard lock(state.guard);
        if (state.next == state.end) return candidates.rows.size();
        if (state.nearest.excludes(candidates.bounds[state.next])) {
            state.next = state.end;
            return candidates.rows.size();
        }
        return state.next++;
    };
    // Above this a distance need not be known.
    const auto enough = [](QueryState& state) {
        const std::lock_guard lock(state.guard);
        return state.nearest.limit() * (1 + 2 * kReportedError);
    };
    // Every thread begins with queries of its own, and helps with those of the others at the end.
    const std::size_t team = std::max(threads, 1U);
    base::parallel_for(
        team, threads, stop,
        [&](std::size_t thread) {
            WorkspaceLease workspace;
            for (std::size_t step = 0; step < all.size(); ++step) {
                const std::size_t q = (thread * all.size() / team + step) % all.size();
                for (std::size_t c = take(all[q]); c < candidates.rows.size(); c = take(all[q])) {
                    stop.throw_if_requested();
                    const auto row = static_cast<std::size_t>(candidates.rows[c]);
                    const transport::Document document = workspace->reader.read(corpus_, row);
                    const transport::Document query =
                        queries[static_cast<std::size_t>(candidates.queries[q])];
                    const double distance = workspace->solver.distance(
                        space_.table, space_.cost, query, document, stop, enough(all[q]));
                    if (!(distance < std::numeric_limits<double>::infinity())) continue;
                    const std::lock_guard lock(all[q].guard);
                    ++all[q].solved;
                    all[q].nearest.offer(row, distance);
                }
            }
        },
        false);
    hits.clear();
    solved.clear();
    for (QueryState& state : all) {
        hits.push_back(state.nearest.take());
        solved.push_back(state.solved);
    }
}

} // namespace textkin::search
