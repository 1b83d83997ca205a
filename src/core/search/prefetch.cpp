#include "search/prefetch.h"

#include "base/parallel.h"
#include "base/scratch.h"
#include "kernels/padding.h"
#include "search/bound_search.h"
#include "search/relaxed_bounds.h"

#include <cmath>

namespace textkin::search {
namespace {

// Documents are judged in rounds, all of a round by the k-th distance at its beginning: the same
// decisions on any number of threads. Rounds grow, since that distance soon changes little.
constexpr std::size_t kFirstRound = 16;
constexpr std::size_t kLongestRound = 256;

constexpr std::size_t kWordsAtOnce = 64; // whose costs a thread computes

// How far a bound can lie above the reported distance for other reasons than its own looseness.
//
// Masses are rounded to multiples of 2^-44 of a document where counts meet other weights, by 2^-45
// for each word, and as much again for the word that takes the rest; sums of doubles lose far less.
// Moved over the largest cost, that is at most 2^-44 a word of either document; four times that is
// taken. Costs are within 6e-7 of the exact ones, squares within 1.2e-6: centroids are compared
// with sums of such costs. The relaxed distance is summed up from the same costs as the distance.
class Margins {
  public:
    Margins(transport::Cost cost, std::size_t words, double largest_length)
        : cost_(cost), lost_(static_cast<double>(words) * 0x1p-42) {
        reach_ = 2 * largest_length;
        largest_cost_ = cost == transport::Cost::euclidean ? reach_ : reach_ * reach_;
    }

    // What the optimum is at least, by the centroids.
    [[nodiscard]] double by_centroids(double value) const {
        // For the distance of centroids, under any cost.
        const bool root = cost_ == transport::Cost::euclidean;
        const double distance = (root ? value : std::sqrt(value)) - lost_ * reach_;
        if (distance <= 0) return 0;
        return (root ? distance : distance * distance) * (1 - 1.5e-6) - lost_ * largest_cost_;
    }
    [[nodiscard]] double by_relaxation(double value) const {
        return value * (1 - 1e-9) - lost_ * largest_cost_;
    }

  private:
    transport::Cost cost_;
    double lost_, reach_ = 0, largest_cost_ = 0;
};

// The costs of the words of one query to words of documents, computed when first needed.
class QueryTable {
  public:
    // Without room for all words, documents are measured one by one.
    QueryTable(const Space& space, const LiveWords& live, const transport::Document& query,
               std::size_t memory)
        : space_(space), live_(live), query_(query), stride_(kernels::padded(query.size())) {
        if (live.words.size() > memory / sizeof(float) / stride_) return;
        costs_.grow(live.words.size() * stride_);
        least_.resize(live.words.size());
        extreme_.assign(live.words.size(), 0);
        states_.assign(live.words.size(), State::unknown);
    }

    [[nodiscard]] bool has_room() const { return !states_.empty(); }

    // Notes words whose costs are needed.
    void want(std::span<const std::int32_t> places) {
        for (const std::int32_t place : places) {
            State& state = states_[static_cast<std::size_t>(place)];
            if (state != State::unknown) continue;
            state = State::wanted;
            wanted_.push_back(place);
        }
    }

    void compute(unsigned threads, base::Stop& stop) {
        base::parallel_for((wanted_.size() + kWordsAtOnce - 1) / kWordsAtOnce, threads, stop,
                           [&](std::size_t item) {
                               const auto scratch = scratch_.take();
                               const std::size_t begin = item * kWordsAtOnce;
                               fill(std::span(wanted_).subspan(
                                        begin, std::min(kWordsAtOnce, wanted_.size() - begin)),
                                    *scratch, stop);
                           },
                           false);
        for (const std::int32_t place : wanted_)
            states_[static_cast<std::size_t>(place)] = State::known;
        wanted_.clear();
    }

    // The larger of both sides; negative if the pair has to be measured alone.
    [[nodiscard]] double relaxed(const PlacedDocument& document, double total,
                                 base::Buffer<float>& nearest) const {
        double there = 0;
        for (std::size_t i = 0; i < document.places.size(); ++i) {
            const auto place = static_cast<std::size_t>(document.places[i]);
            if (extreme_[place] != 0) return -1;
            there += document.masses[i] * static_cast<double>(least_[place]);
        }
        nearest.grow(stride_);
        kernels::kernels().bounds.column_minima(costs_.data(), stride_, document.places.data(),
                                                document.places.size(), stride_, nearest.data());
        double here = 0;
        for (std::size_t j = 0; j < query_.size(); ++j)
            here += static_cast<double>(query_.masses[j]) * static_cast<double>(nearest[j]);
        return std::max(there * (1.0 / total), here * (1.0 / static_cast<double>(query_.total)));
    }

  private:
    enum class State : std::uint8_t { unknown, wanted, known };
    struct Scratch {
        transport::CostKernel kernel;
        transport::CostMatrix costs;
        std::vector<std::int32_t> words;
        std::vector<std::uint8_t> marks;
    };

    const Space& space_;
    const LiveWords& live_;
    const transport::Document& query_;
    std::size_t stride_;
    base::Buffer<float>
        costs_; // a row for each live word; memory that is not written costs nothing
    std::vector<float> least_;
    std::vector<std::uint8_t> extreme_;
    std::vector<State> states_;
    std::vector<std::int32_t> wanted_;
    base::ScratchPool<Scratch> scratch_;

    void fill(std::span<const std::int32_t> places, Scratch& scratch, base::Stop& stop) {
        scratch.words.clear();
        for (const std::int32_t place : places)
            scratch.words.push_back(live_.words[static_cast<std::size_t>(place)]);
        scratch.marks.assign(places.size(), 0);
        scratch.kernel.compute(space_.table, space_.cost, scratch.words, query_.words, stop,
                               scratch.costs);
        mark_extreme(space_.table, space_.cost, scratch.costs, scratch.words, query_.words,
                     scratch.marks.data());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto place = static_cast<std::size_t>(places[i]);
            const float* row = scratch.costs.row(i);
            std::copy_n(row, stride_, costs_.data() + place * stride_);
            least_[place] = *std::min_element(row, row + query_.size());
            extreme_[place] = scratch.marks[i];
        }
    }
};

// One query with its centroid distances.
class Prefetch {
  public:
    Prefetch(const Space& space, const Corpus& corpus, const LiveWords& live,
             const Margins& margins, Query& query, const double* centroids,
             const SearchOptions& options, std::size_t memory, unsigned threads, base::Stop& stop)
        : space_(space), corpus_(corpus), live_(live), margins_(margins), query_(query),
          centroids_(centroids), options_(options), threads_(threads), stop_(stop),
          table_(space, live, query.document, memory) {}

    void run() {
        put_in_order();
        const std::size_t looked_at = options_.k == 0 ? 0 : std::min(options_.m, order_.size());
        std::size_t at = 0;
        for (std::size_t round = kFirstRound; at < looked_at;) {
            stop_.throw_if_requested();
            // The first k before anything else: nothing can be excluded without them.
            const bool first = at == 0 && options_.k < looked_at;
            const std::size_t length = first ? options_.k : round;
            std::size_t end = std::min(looked_at, at + length);
            if (!first) round = std::min(2 * round, kLongestRound);
            // They are in order: where one is excluded, all that follow are.
            const auto cut = std::find_if(begin(at), begin(end), [this](std::size_t row) {
                return query_.nearest.excludes(margins_.by_centroids(centroids_[row]));
            });
            const bool done = cut != begin(end);
            end = static_cast<std::size_t>(cut - order_.begin());
            judge(at, end);
            at = end;
            if (done) break;
        }
        for (; at < looked_at; ++at) decide(at, Verdict::centroid);
        for (; at < order_.size(); ++at) decide(at, Verdict::not_reached);
    }

  private:
    struct Scratch {
        PlacedDocument placed;
        base::Buffer<float> nearest;
    };

    const Space& space_;
    const Corpus& corpus_;
    const LiveWords& live_;
    const Margins& margins_;
    Query& query_;
    const double* centroids_;
    const SearchOptions& options_;
    unsigned threads_;
    base::Stop& stop_;
    QueryTable table_;
    std::vector<std::size_t> order_;
    std::vector<double> values_;
    base::ScratchPool<Scratch> scratch_;

    std::vector<std::size_t>::iterator begin(std::size_t at) {
        return order_.begin() + static_cast<std::ptrdiff_t>(at);
    }
    void decide(std::size_t at, Verdict verdict) {
        query_.decide(order_[at], verdict, centroids_[order_[at]]);
    }

    void put_in_order() {
        const Timed timed(query_.stats(), Stage::order);
        for (std::size_t row = 0; row < corpus_.size(); ++row)
            if (query_.may_find(row)) order_.push_back(row);
        const auto before = [this](std::size_t a, std::size_t b) {
            return centroids_[a] != centroids_[b] ? centroids_[a] < centroids_[b] : a < b;
        };
        const auto end = begin(std::min(options_.m, order_.size()));
        if (end != order_.end()) std::nth_element(order_.begin(), end, order_.end(), before);
        std::sort(order_.begin(), end, before);
    }

    void judge(std::size_t at, std::size_t end) {
        if (at == end) return;
        values_.assign(end - at, 0.0);
        std::vector<std::size_t> left; // which have to be solved
        const bool bounded = std::isfinite(query_.nearest.limit());
        if (bounded) relax(at, end);
        for (std::size_t k = at; k < end; ++k) {
            const double bound = values_[k - at];
            if (bounded && query_.nearest.excludes(margins_.by_relaxation(bound)))
                query_.decide(order_[k], Verdict::relaxed, bound);
            else
                left.push_back(k);
        }
        {
            const Timed timed(query_.stats(), Stage::solve);
            base::parallel_for(
                left.size(), threads_, stop_,
                [&](std::size_t i) {
                    WorkspaceLease workspace;
                    const transport::Document document =
                        workspace->reader.read(corpus_, order_[left[i]]);
                    values_[left[i] - at] = workspace->solver.distance(
                        space_.table, space_.cost, query_.document, document, stop_);
                },
                false);
        }
        for (const std::size_t k : left) {
            query_.nearest.offer(order_[k], values_[k - at]);
            query_.decide(order_[k], Verdict::solved, values_[k - at]);
        }
    }

    // The relaxed distances of a round.
    void relax(std::size_t at, std::size_t end) {
        if (table_.has_room()) {
            const Timed timed(query_.stats(), Stage::table);
            DocumentReader reader;
            PlacedDocument placed;
            for (std::size_t k = at; k < end; ++k) {
                placed.assign(reader.read(corpus_, order_[k]), live_);
                table_.want(placed.places);
            }
            table_.compute(threads_, stop_);
        }
        const Timed timed(query_.stats(), Stage::bound);
        base::parallel_for(
            end - at, threads_, stop_,
            [&](std::size_t i) {
                const auto scratch = scratch_.take();
                WorkspaceLease workspace;
                const transport::Document document =
                    workspace->reader.read(corpus_, order_[at + i]);
                double value = -1;
                if (table_.has_room()) {
                    scratch->placed.assign(document, live_);
                    value = table_.relaxed(scratch->placed, static_cast<double>(document.total),
                                           scratch->nearest);
                }
                if (value < 0) {
                    const transport::Bounds bounds = workspace->solver.bounds(
                        space_.table, space_.cost, query_.document, document, stop_);
                    value = std::max(bounds.source, bounds.target);
                }
                values_[i] = value;
            },
            false);
    }
};

} // namespace

void search_by_prefetch(const Space& space, const Corpus& corpus, CentroidStore& centroids,
                        std::span<Query* const> queries, const SearchOptions& options,
                        base::Stop& stop) {
    const LiveWords live(CorpusRows(corpus).words());
    const double corpus_length = centroids.largest_length(space.table, corpus);
    in_batches(
        queries, corpus.size(), 1, options.memory / 2,
        [&](std::span<Query* const> some, std::vector<double>& values) {
            measure_centroids(space, corpus, centroids, some, options, stop, values.data());
            const bool one = some.size() == 1;
            const std::size_t memory =
                options.memory / 4 / (one ? 1 : std::max(options.threads, 1U));
            base::parallel_for(some.size(), one ? 1 : options.threads, stop, [&](std::size_t q) {
                Query& query = *some[q];
                const Margins margins(
                    space.cost, query.document.size() + corpus.longest(),
                    std::max(corpus_length, largest_length(space.table, query.document.words)));
                Prefetch(space, corpus, live, margins, query, values.data() + q * corpus.size(),
                         options, memory, one ? options.threads : 1, stop)
                    .run();
            });
        });
}

} // namespace textkin::search
