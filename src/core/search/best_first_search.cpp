#include "search/best_first_search.h"

#include "base/parallel.h"

#include <algorithm>
#include <limits>

namespace textkin::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kFirstList = 64;
constexpr std::size_t kWorthAThread = 16; // documents
constexpr auto kPollInterval = std::chrono::milliseconds(20);
constexpr std::size_t kRefinedTogether = 8; // by one of several threads

} // namespace

BestFirstSearch::BestFirstSearch(const Space& space, const Corpus& corpus, const LowerCosts* costs,
                                 CheapBounds bounds, double slack, Query& query)
    : space_(space), corpus_(corpus), costs_(costs), bounds_(bounds), slack_(slack), query_(query) {
    for (std::size_t row = 0; row < corpus.size(); ++row) findable_ += query.may_find(row) ? 1 : 0;
    sharpens_ = costs != nullptr && !query.nearest.takes_all(static_cast<std::size_t>(findable_));
}

// The documents that come next by their cheap bounds: some while nothing is known of the limit,
// then all that it does not exclude.
void BestFirstSearch::list_more() {
    const Timed timed(query_.stats(), Stage::order);
    const bool know_limit = query_.nearest.limit() < kInfinity;
    const std::size_t most = know_limit ? corpus_.size() : std::max(kFirstList, 4 * listed_);
    const Candidate last = cheap_.empty() ? Candidate{-1, 0, false} : cheap_.back();
    const bool first = cheap_.empty();
    cheap_.clear();
    next_ = 0;
    all_listed_ = true;
    // As a heap the farthest is on top, and leaves when there are too many.
    const auto nearer = [](const Candidate& a, const Candidate& b) { return b < a; };
    double threshold = kInfinity;
    for (std::size_t row = 0; row < corpus_.size(); ++row) {
        const double bound = bounds_[row];
        if (bound > threshold) {
            all_listed_ = false;
            continue;
        }
        const Candidate here{bound, row, false};
        if ((!first && !(here < last)) || !query_.may_find(row)) continue;
        if (know_limit) {
            if (!query_.nearest.excludes(bound)) cheap_.push_back(here);
            continue;
        }
        cheap_.push_back(here);
        std::push_heap(cheap_.begin(), cheap_.end(), nearer);
        if (cheap_.size() > most) {
            std::pop_heap(cheap_.begin(), cheap_.end(), nearer);
            cheap_.pop_back();
            threshold = cheap_.front().bound;
            all_listed_ = false;
        }
    }
    std::sort(cheap_.begin(), cheap_.end(), nearer);
    listed_ += cheap_.size();
}

double BestFirstSearch::cheapest() const {
    if (next_ < cheap_.size()) return cheap_[next_].bound;
    if (all_listed_) return kInfinity;
    return cheap_.empty() ? 0 : cheap_.back().bound; // at least
}

double BestFirstSearch::least_refined() const {
    return refined_.empty() ? kInfinity : refined_.top().bound;
}

void BestFirstSearch::refine(Workspace& workspace, std::vector<Candidate>& some, double enough,
                             base::Stop& stop) const {
    for (Candidate& candidate : some) {
        double bound = 0;
        if (costs_ != nullptr) {
            bound = workspace.refiner.bound(candidate.row, enough);
        } else {
            const transport::Document document = workspace.reader.read(corpus_, candidate.row);
            const transport::Bounds both =
                workspace.solver.bounds(space_.table, space_.cost, query_.document, document, stop);
            bound = std::max(both.source, both.target) * (1 - kReportedError) - slack_;
        }
        candidate.bound = std::max(candidate.bound, bound);
        candidate.sharp = !sharpens_;
    }
}

double BestFirstSearch::solve(Workspace& workspace, std::size_t row, base::Stop& stop) const {
    const transport::Document document = workspace.reader.read(corpus_, row);
    return workspace.solver.distance(space_.table, space_.cost, query_.document, document, stop);
}

void BestFirstSearch::work(unsigned threads, std::size_t bytes, base::Stop& stop) {
    WorkspaceLease workspace;
    if (costs_ != nullptr)
        workspace->refiner.start(corpus_, *costs_, space_.cost, query_.document, slack_,
                                 bytes / threads);
    std::vector<Candidate> some;
    NearestHits& nearest = query_.nearest;
    std::unique_lock lock(guard_);
    while (!failed_) {
        // A look at the stop may run Python: not while the others wait for the lock.
        lock.unlock();
        stop.throw_if_requested();
        lock.lock();
        const double cheap = cheapest();
        const double refined = least_refined();
        if (cheap < kInfinity && cheap <= refined) {
            if (nearest.excludes(cheap)) {
                all_listed_ = true;
                next_ = cheap_.size();
                continue;
            }
            if (next_ == cheap_.size()) {
                list_more();
                continue;
            }
            some.clear();
            const std::size_t together = threads > 1 ? kRefinedTogether : 1;
            while (some.size() < together && next_ < cheap_.size() &&
                   cheap_[next_].bound <= refined)
                some.push_back(cheap_[next_++]);
            query_.stats().refined += static_cast<std::int64_t>(some.size());
            ++in_flight_;
            double seconds = 0;
            const double enough = nearest.limit() * (1 + 2 * kReportedError);
            const std::size_t after = next_ < cheap_.size() ? cheap_[next_].row : kNone;
            lock.unlock();
            {
                const Timed timed(seconds);
                if (costs_ != nullptr && after != kNone) workspace->refiner.fetch(after);
                refine(*workspace, some, enough, stop);
            }
            lock.lock();
            query_.stats().seconds[static_cast<std::size_t>(Stage::refine)] += seconds;
            --in_flight_;
            for (const Candidate& candidate : some)
                if (nearest.excludes(candidate.bound))
                    query_.decide(candidate.row, Verdict::refined, candidate.bound);
                else
                    refined_.push(candidate);
            changed_.notify_all();
        } else if (refined < kInfinity) {
            Candidate candidate = refined_.top();
            refined_.pop();
            if (nearest.excludes(candidate.bound)) {
                query_.decide(candidate.row, Verdict::refined, candidate.bound);
                continue;
            }
            ++in_flight_;
            double seconds = 0;
            if (!candidate.sharp) {
                const double enough = nearest.limit() * (1 + 2 * kReportedError);
                lock.unlock();
                {
                    const Timed timed(seconds);
                    candidate.bound =
                        std::max(candidate.bound,
                                 workspace->refiner.sinkhorn_bound(candidate.row, enough, stop));
                    candidate.sharp = true;
                }
                lock.lock();
                query_.stats().seconds[static_cast<std::size_t>(Stage::refine)] += seconds;
                --in_flight_;
                if (nearest.excludes(candidate.bound))
                    query_.decide(candidate.row, Verdict::refined, candidate.bound);
                else
                    refined_.push(candidate);
                changed_.notify_all();
                continue;
            }
            double distance = 0;
            lock.unlock();
            {
                const Timed timed(seconds);
                distance = solve(*workspace, candidate.row, stop);
            }
            lock.lock();
            query_.stats().seconds[static_cast<std::size_t>(Stage::solve)] += seconds;
            --in_flight_;
            nearest.offer(candidate.row, distance);
            query_.decide(candidate.row, Verdict::solved, distance);
            changed_.notify_all();
        } else if (in_flight_ > 0) {
            changed_.wait_for(lock, kPollInterval); // only the first thread can see Ctrl-C
        } else {
            changed_.notify_all();
            return;
        }
    }
}

void BestFirstSearch::run(unsigned threads, std::size_t bytes, base::Stop& stop) {
    const auto most = static_cast<std::size_t>(findable_) / kWorthAThread + 1;
    threads = static_cast<unsigned>(std::min<std::size_t>(std::max(threads, 1U), most));
    if (query_.records())
        for (std::size_t row = 0; row < corpus_.size(); ++row)
            if (query_.may_find(row)) query_.record(row, Verdict::document_side, bounds_[row]);
    const auto guarded = [&](std::size_t) {
        try {
            work(threads, bytes, stop);
        } catch (...) {
            // The others must not wait for what this one was doing.
            const std::lock_guard lock(guard_);
            failed_ = true;
            changed_.notify_all();
            throw;
        }
    };
    base::parallel_for(threads, threads, stop, guarded, false);
    query_.stats().verdicts[static_cast<std::size_t>(Verdict::document_side)] +=
        findable_ - query_.stats().refined;
}

} // namespace textkin::search
