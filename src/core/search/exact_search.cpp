#include "search/exact_search.h"

#include "base/parallel.h"
#include "kernels/padding.h"
#include "search/best_first_search.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace textkin::search {
namespace {

constexpr std::size_t kTogether = 8;      // queries whose bounds are computed in one pass
constexpr std::size_t kRowsAtOnce = 512;  // documents of a pass that a thread takes
constexpr std::size_t kMostQueries = 512; // that share one preparation of rows

// Masses of documents are rounded to 2^-44 of their sum, or to nothing at all; so the distance of
// the rounded ones may be lower by as much, times the words and the largest cost.
constexpr double kMassError = 0x1p-43;

// From here on, sums of products are considered as exact as float: the loss of single products near
// the end of its range is negligible compared with them.
constexpr double kLeastSum = 0x1p-90;

// To float; what it has not all its digits for becomes 0, which can only lower a bound.
float narrowed(double value) {
    return value < static_cast<double>(std::numeric_limits<float>::min())
               ? 0.0F
               : static_cast<float>(value);
}

// The queries that share a pass over the corpus.
class Group {
  public:
    Group(const Space& space, const Corpus& corpus, const LowerCosts& costs,
          std::span<Query* const> queries, bool has_rows)
        : space_(space), corpus_(corpus), costs_(costs), queries_(queries), has_rows_(has_rows),
          lanes_(queries.size() == 1 ? 1 : kTogether) {}

    // `bytes` for rows that are not kept, and for what is made of those that are.
    void search(std::size_t bytes, unsigned threads, base::Stop& stop) {
        double seconds = 0;
        {
            const Timed timed(seconds);
            find_nearest_words(bytes, threads, stop);
            bound_documents(threads, stop);
        }
        for (std::size_t q = 0; q < queries_.size(); ++q) {
            Query& query = *queries_[q];
            query.stats().seconds[static_cast<std::size_t>(Stage::bound)] +=
                seconds / static_cast<double>(queries_.size());
            BestFirstSearch(space_, corpus_, has_rows_ ? &costs_ : nullptr,
                            {bounds_.data() + q, lanes_, costs_.words().unit()}, slack(query),
                            query)
                .run(threads, bytes, stop);
        }
    }

  private:
    const Space& space_;
    const Corpus& corpus_;
    const LowerCosts& costs_;
    std::span<Query* const> queries_;
    bool has_rows_;
    std::size_t lanes_;
    base::Buffer<std::int16_t> least_;
    std::vector<float> values_; // [column][query]: weight x cost to the nearest word of the query
    std::vector<float> bounds_; // [row][query], in units of the costs

    [[nodiscard]] double slack(const Query& query) const {
        // Counts need no rounding where the product of their sums is small enough.
        if (corpus_.has_counts() && query.document.total <= transport::kLargestCountTotal) return 0;
        const auto words = static_cast<double>(query.document.size() + corpus_.longest());
        return words * kMassError * costs_.words().reach(space_.table, query.document);
    }

    // The cost from each word of the corpus to the nearest word of the query.
    void nearest_words(const transport::Document& query, std::size_t row_bytes, unsigned threads,
                       base::Stop& stop) {
        std::vector<const std::int16_t*> rows;
        if (has_rows_) {
            for (const std::int32_t word : query.words) rows.push_back(costs_.row(word));
            kernels::kernels().bounds.least_of_rows(rows.data(), rows.size(),
                                                    costs_.words().length(), least_.data());
            return;
        }
        // Some words at a time: their rows are not kept.
        const std::size_t most =
            std::clamp<std::size_t>(costs_.rows_in(row_bytes), 1, query.size());
        std::vector<base::Buffer<std::int16_t>> made(most);
        std::vector<std::int16_t*> to;
        for (base::Buffer<std::int16_t>& row : made) {
            row.grow(costs_.words().length());
            to.push_back(row.data());
        }
        std::fill_n(least_.data(), costs_.words().length(), kernels::kFarthest);
        for (std::size_t first = 0; first < query.size(); first += most) {
            const std::size_t count = std::min(most, query.size() - first);
            costs_.words().compute(space_.table, query.words.subspan(first, count),
                                   std::span(to).first(count), threads, stop);
            rows.assign(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(count));
            rows.push_back(least_.data());
            kernels::kernels().bounds.least_of_rows(rows.data(), rows.size(),
                                                    costs_.words().length(), least_.data());
        }
    }

    void find_nearest_words(std::size_t row_bytes, unsigned threads, base::Stop& stop) {
        const auto places = corpus_.places();
        const Columns& columns = corpus_.columns();
        values_.assign(places.size() * lanes_, 0.0F);
        least_.grow(costs_.words().length());
        for (std::size_t q = 0; q < queries_.size(); ++q) {
            stop.throw_if_requested();
            nearest_words(queries_[q]->document, row_bytes, threads, stop);
            for (std::size_t c = 0; c < places.size(); ++c)
                if (places[c] != Corpus::kNowhere)
                    values_[c * lanes_ + q] =
                        narrowed(static_cast<double>(least_[static_cast<std::size_t>(places[c])]) *
                                 columns.weight(static_cast<std::int32_t>(c)));
        }
    }

    // Each word of a document to the nearest word of the query: sum of count x value over the
    // total.
    void bound_documents(unsigned threads, base::Stop& stop) {
        bounds_.resize(corpus_.size() * lanes_);
        struct Part {
            const Block* block;
            std::size_t first, last, position;
        };
        std::vector<Part> parts;
        for (std::size_t b = 0; b < corpus_.blocks().size(); ++b) {
            const Block& block = corpus_.blocks()[b];
            for (std::size_t row = 0; row < block.rows(); row += kRowsAtOnce)
                parts.push_back({&block, row, std::min(block.rows(), row + kRowsAtOnce),
                                 corpus_.start(b) + row});
        }
        std::vector<double> slacks;
        for (const Query* query : queries_) slacks.push_back(slack(*query));
        base::parallel_for(
            parts.size(), threads, stop,
            [&](std::size_t item) {
                const Part& part = parts[item];
                float* sums = bounds_.data() + part.position * lanes_;
                weigh(*part.block, part.first, part.last, sums);
                for (std::size_t row = part.first; row < part.last; ++row) {
                    const double total = corpus_.total(part.position + row - part.first);
                    finish(sums + (row - part.first) * lanes_, total,
                           part.block->end(row) - part.block->begin(row), slacks);
                }
            },
            false);
    }

    void weigh(const Block& block, std::size_t first, std::size_t last, float* sums) const {
        const auto run = lanes_ == 1 ? kernels::kernels().bounds.weigh_rows
                                     : kernels::kernels().bounds.weigh_rows_eightfold;
        if (block.counts.wide.empty()) {
            run(block.indptr.data() + first, last - first, block.columns.data(),
                block.counts.narrow.data(), values_.data(), sums);
            return;
        }
        // In double: the same with a copy in float.
        std::vector<float> narrow;
        std::vector<std::int64_t> starts{0};
        for (std::size_t row = first; row < last; ++row) {
            for (std::size_t k = block.begin(row); k < block.end(row); ++k)
                narrow.push_back(narrowed(block.counts.wide[k]));
            starts.push_back(static_cast<std::int64_t>(narrow.size()));
        }
        run(starts.data(), last - first, block.columns.data() + block.begin(first), narrow.data(),
            values_.data(), sums);
    }

    // A sum of n products is off by n + 1 roundings at most, the weights by one more, the bound by
    // another.
    void finish(float* sums, double total, std::size_t words,
                const std::vector<double>& slacks) const {
        const double keep = 1 - (static_cast<double>(words) + 8) * 0x1p-24;
        for (std::size_t q = 0; q < queries_.size(); ++q) {
            const double sum = static_cast<double>(sums[q]);
            double bound = 0;
            if (total <= 0)
                bound = std::numeric_limits<double>::infinity();
            else if (std::isfinite(sum) && sum >= kLeastSum)
                bound = std::max(0.0, sum / total * keep - slacks[q] / costs_.words().unit());
            sums[q] = static_cast<float>(bound * (1 - 0x1p-23));
        }
    }
};

} // namespace

void search_automatically(const Space& space, const Corpus& corpus, LowerCosts& costs,
                          std::span<Query* const> queries, const SearchOptions& options,
                          base::Stop& stop) {
    // Half for rows of costs that are kept, an eighth for a copy of the vectors (see Searcher), an
    // eighth for bounds of all documents, a quarter for what is made of rows.
    const std::size_t most_rows = costs.rows_in(options.memory / 2);
    const std::size_t lane_share = options.memory / 8;
    const std::size_t made_share = options.memory / 4;
    const std::size_t lane_bytes = (corpus.size() + corpus.places().size()) * sizeof(float);
    // Each of these threads has bounds of its own.
    const auto most_threads = static_cast<unsigned>(std::clamp<std::size_t>(
        lane_share / std::max<std::size_t>(lane_bytes, 1), 1, std::max(options.threads, 1U)));
    std::vector<std::int32_t> words;
    std::unordered_set<std::int32_t> different;
    for (std::size_t first = 0; first < queries.size();) {
        words.clear();
        different.clear();
        std::size_t last = first;
        for (; last < queries.size() && last - first < kMostQueries; ++last) {
            const auto& more = queries[last]->document.words;
            for (const std::int32_t word : more) different.insert(word);
            if (different.size() > most_rows) break;
            words.insert(words.end(), more.begin(), more.end());
        }
        const bool has_rows = last > first;
        if (!has_rows) last = first + 1; // more words than there is room for rows
        const std::size_t count = last - first;
        double seconds = 0;
        {
            const Timed timed(seconds);
            costs.prepare(space.table, words, most_rows, options.threads, stop);
        }
        for (Query* query : queries.subspan(first, count))
            query->stats().seconds[static_cast<std::size_t>(Stage::table)] +=
                seconds / static_cast<double>(count);

        // Several queries: each thread takes some; one: all threads work on it.
        const bool share_out = most_threads > 1 && count >= most_threads;
        const unsigned takers = share_out ? most_threads : 1;
        const std::size_t wanted = share_out ? count / (2 * takers) : count;
        const bool fit = lane_bytes * kTogether * takers <= lane_share;
        const std::size_t size = has_rows && fit && wanted > 1 ? std::min(kTogether, wanted) : 1;
        const std::size_t groups = (count + size - 1) / size;
        const auto body = [&](std::size_t group) {
            const std::size_t begin = first + group * size;
            const auto some = queries.subspan(begin, std::min(size, last - begin));
            Group(space, corpus, costs, some, has_rows)
                .search(made_share / takers, share_out ? 1 : options.threads, stop);
            stop.count_finished(some.size());
        };
        if (share_out)
            base::parallel_for(groups, takers, stop, body, false);
        else
            for (std::size_t group = 0; group < groups; ++group) body(group);
        first = last;
    }
}

} // namespace textkin::search
