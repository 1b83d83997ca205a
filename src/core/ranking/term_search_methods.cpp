#include "ranking/term_search_methods.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace textkin::ranking {
namespace {

constexpr std::size_t kBlock = 64;         // rows whose largest sum is looked at
constexpr std::size_t kFew = kWindow / 16; // postings that are gone through twice instead
constexpr std::int64_t kLook = 8000;  // postings that are added in the time of a look at all sums
constexpr std::size_t kHeaped = 64;   // so few of the best are found soonest with a heap
constexpr std::int32_t kRoom = 16383; // the largest sum
constexpr std::int16_t kNotAllowed = -16384; // stays below 0, whatever is added
constexpr std::int32_t kRoundings = 4;       // a term's sum is above the truth by less than so many
constexpr std::int64_t kPostingsPerScore = 400; // that are added up in the time of a score

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kPrefetchDistance =
    3;                           // candidates whose memory is fetched before it is wanted
constexpr double kTiny = 1e-290; // and less has too few digits

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

bool before(const FoundRow& a, const FoundRow& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
}

} // namespace

void BestRows::add(double score, std::size_t row) {
    if (!(score >= bar_ && score > 0)) return; // written so that NaN is not added
    const FoundRow found{static_cast<std::int64_t>(row), score};
    if (found_.size() == k_) {
        if (!before(found, found_.front())) return;
        std::pop_heap(found_.begin(), found_.end(), before);
        found_.back() = found;
    } else {
        found_.push_back(found);
    }
    std::push_heap(found_.begin(), found_.end(), before);
    if (found_.size() == k_) bar_ = std::max(bar_, found_.front().score);
}

void BestRows::finish() { std::sort(found_.begin(), found_.end(), before); }

void DenseSearch::run(base::Stop& stop) {
    std::vector<double> sums;
    std::vector<PostingList> lists;
    PostingsMerger merger;
    for (std::size_t p = 0; p < all_.parts_.size(); ++p) {
        const CountMatrix& part = all_.parts_[p];
        const std::size_t start = all_.starts_[p];
        sums.assign(part.rows.size(), 0.0);
        bool any = false;
        for (const QueryWord& query_word : words_) {
            stop.throw_if_requested();
            const double word_weight = all_.weights_.word_weight(query_word.word);
            if (word_weight == 0) continue;
            lists.clear();
            const auto words = all_.map_ == nullptr
                                   ? std::span<const std::int32_t>(&query_word.word, 1)
                                   : all_.map_->words_of(query_word.word);
            for (const std::int32_t word : words) {
                const auto place = std::lower_bound(part.terms.begin(), part.terms.end(), word);
                if (place != part.terms.end() && *place == word)
                    lists.push_back(postings_at(part, at(place - part.terms.begin())));
            }
            const PostingList postings = merger.merge(lists);
            for (std::size_t k = 0; k < postings.rows.size(); ++k) {
                const std::size_t row = at(postings.rows[k]);
                if (row >= sums.size()) continue; // a file that was changed since it was checked
                sums[row] +=
                    query_word.weight * all_.weights_(postings.counts[k], start + row, word_weight);
            }
            any |= !lists.empty();
        }
        if (!any) continue;
        stop.throw_if_requested();
        for (std::size_t row = 0; row < sums.size(); ++row) {
            if (sums[row] == 0 || all_.live_[start + row] == 0) continue;
            if (!allowed_.empty() && allowed_[start + row] == 0) continue;
            ++counts_.scored;
            best_.add(sums[row], start + row);
        }
    }
}

PrunedSearch::PrunedSearch(const TermSearch& all, std::span<const QueryWord> words,
                           std::span<const std::uint8_t> allowed, BestRows& best,
                           TermSearchCounts& counts, std::int64_t most_scored)
    : all_(all), words_(words), asked_(words, all.map_), allowed_(allowed), best_(best),
      counts_(counts), most_scored_(most_scored) {
    if (space_.sums.empty()) space_.sums.assign(kWindow, 0);
}

// Chooses the scale, and puts the terms in the order of what they can add.
bool PrunedSearch::weigh() {
    double total = 0;
    space_.terms.clear();
    for (const QueryWord& query_word : words_) {
        const std::size_t word = at(query_word.word);
        const double most = std::abs(query_word.weight) * all_.largest_[word];
        if (all_.run_offsets_[word] == all_.run_offsets_[word + 1]) continue;
        if (!(most >= kTiny && all_.largest_[word] >= kTiny)) return false;
        const bool negative =
            (query_word.weight < 0) != (all_.weights_.word_weight(query_word.word) < 0);
        total += most;
        space_.terms.push_back({most, negative, 0, 0, at(all_.run_offsets_[word]),
                                at(all_.run_offsets_[word + 1]), all_.offsets_[word]});
    }
    const auto terms = static_cast<std::int32_t>(space_.terms.size());
    scale_ = (kRoom - 3 * terms) / total;
    if (!(total <= 1 / kTiny)) return false;
    for (Term& term : space_.terms) {
        const double exact = term.most * scale_ * (65536.0 / kLargestImpact);
        term.factor =
            static_cast<std::uint32_t>(term.negative ? std::floor(term.most * scale_ * (1 - 1e-9))
                                                     : std::ceil(exact * (1 + 1e-9)) + 1);
        term.top = static_cast<std::int32_t>(std::ceil(exact)) + 2;
    }
    std::sort(space_.terms.begin(), space_.terms.end(),
              [](const Term& a, const Term& b) { return a.most > b.most; });
    return true;
}

bool PrunedSearch::run(base::Stop& stop) {
    if (!weigh()) return false;
    try {
        look_at_all(stop);
    } catch (...) { // memory may have run out in the midst of a window
        std::ranges::fill(space_.sums, std::int16_t{0});
        throw;
    }
    return counts_.scored <= most_scored_;
}

void PrunedSearch::look_at_all(base::Stop& stop) {
    const std::size_t n_windows = (all_.size() + kWindow - 1) / kWindow;
    for (std::size_t window = 0; window < n_windows; ++window) {
        stop.throw_if_requested();
        look(window);
        if (counts_.scored > most_scored_) return;
    }
}

// The bar as a sum: rows below it are not wanted.
std::int32_t PrunedSearch::bar() const {
    const double whole = std::floor(best_.bar() * scale_ * (1 - 1e-9));
    return std::max(estimate_, static_cast<std::int32_t>(std::min<double>(whole, kRoom + 1)));
}

void PrunedSearch::look(std::size_t window) {
    space_.here.clear();
    std::int64_t postings = 0;
    for (Term& term : space_.terms) {
        if (term.run == term.last_run || all_.runs_[term.run].window != window) continue;
        const std::int64_t end = all_.runs_[term.run++].end;
        const std::uint32_t* const all = all_.postings_.data();
        space_.here.push_back({&term, all + term.first, all + end});
        postings += end - term.first;
        term.first = end;
    }
    if (space_.here.empty()) return;
    const std::size_t first = window * kWindow;
    if (at(postings) <= kFew)
        look_at_few(first);
    else
        look_at_many(first, std::min(kWindow, all_.size() - first), postings);
}

void PrunedSearch::add_up(const Here& here) {
    std::int16_t* const sums = space_.sums.data();
    const std::uint32_t factor = here.term->factor;
    if (here.term->negative) {
        for (const std::uint32_t* p = here.begin; p != here.end; ++p) {
            const std::uint32_t least = (*p & 0xFFFF) - 1; // an impact is 1 or more
            sums[*p >> 16] = static_cast<std::int16_t>(
                sums[*p >> 16] - static_cast<std::int32_t>(least * factor >> 16));
        }
    } else {
        for (const std::uint32_t* p = here.begin; p != here.end; ++p)
            sums[*p >> 16] = static_cast<std::int16_t>(
                sums[*p >> 16] +
                static_cast<std::int32_t>(((*p & 0xFFFF) * factor + 0xFFFF) >> 16));
    }
    counts_.touched += here.end - here.begin;
}

void PrunedSearch::look_at_few(std::size_t first) {
    for (const Here& here : space_.here) add_up(here);
    space_.candidates.clear();
    const std::int32_t bar = this->bar();
    for (const Here& here : space_.here)
        for (const std::uint32_t* p = here.begin; p != here.end; ++p) {
            const std::uint32_t row = *p >> 16;
            const std::int32_t sum = std::exchange(space_.sums[row], std::int16_t{0});
            if (sum >= bar && (allowed_.empty() || allowed_[first + row] != 0))
                space_.candidates.push_back({sum, row});
        }
    offer(first, 0, kRoundings * static_cast<std::int32_t>(space_.here.size()));
}

void PrunedSearch::look_at_many(std::size_t first, std::size_t count, std::int64_t postings) {
    space_.block_most.resize((count + kBlock - 1) / kBlock);
    if (!allowed_.empty())
        for (std::size_t row = 0; row < count; ++row)
            space_.sums[row] = allowed_[first + row] != 0 ? std::int16_t{0} : kNotAllowed;
    std::int32_t can_add = 0;  // what the terms that are left can add
    std::int32_t can_take = 0; // or take away
    for (const Here& here : space_.here)
        (here.term->negative ? can_take : can_add) += here.term->top;
    std::int32_t roundings = 0;
    std::int32_t reached = 0; // at most
    std::int64_t summed = 0;
    std::int64_t since = 0; // postings added since the last look at sums
    std::size_t terms = 0;
    while (terms < space_.here.size()) {
        const Here& here = space_.here[terms++];
        (here.term->negative ? can_take : can_add) -= here.term->top;
        reached += here.term->negative ? 0 : here.term->top;
        roundings += kRoundings;
        add_up(here);
        const std::int64_t size = here.end - here.begin;
        postings -= size;
        summed += size;
        since += size;
        const bool last = terms == space_.here.size();
        const bool few = at(summed) <= kFew;
        if (!last) { // a look must pay
            const std::int64_t cost = few ? summed : kLook;
            const Here& next = space_.here[terms];
            const bool soon = since < cost && next.end - next.begin <= 4 * cost;
            if (soon || postings <= 2 * cost || can_add >= reached) continue;
        }
        since = 0;
        if (few)
            measure_rows(terms, roundings + can_take);
        else
            measure_blocks(roundings + can_take);
        if (!last && can_add >= bar()) continue;
        // The scores of a few documents may be had sooner than the sums of all.
        const std::int64_t most = last ? kAll : postings / kPostingsPerScore;
        if (few ? gather_few(terms, bar() - can_add, most) : gather(bar() - can_add, most)) {
            offer(first, can_add, roundings + can_take);
            break;
        }
    }
    if (at(summed) <= kFew && allowed_.empty()) {
        for (std::size_t t = 0; t < terms; ++t)
            for (const std::uint32_t* p = space_.here[t].begin; p != space_.here[t].end; ++p)
                space_.sums[*p >> 16] = 0;
    } else {
        std::fill_n(space_.sums.data(), count, std::int16_t{0});
    }
}

// Finds the largest sum of each block. The k-th largest of them is no larger than that of all rows.
void PrunedSearch::measure_blocks(std::int32_t uncertain) {
    for (std::size_t block = 0; block < space_.block_most.size(); ++block) {
        const std::int16_t* const sums = space_.sums.data() + block * kBlock;
        std::int16_t most = sums[0];
        for (std::size_t i = 1; i < kBlock; ++i) most = std::max(most, sums[i]);
        space_.block_most[block] = most;
    }
    space_.ranked = space_.block_most;
    raise_estimate(uncertain);
}

// The rows of a term differ, so the same holds for their sums.
void PrunedSearch::measure_rows(std::size_t terms, std::int32_t uncertain) {
    for (std::size_t t = 0; t < terms; ++t) {
        space_.ranked.clear();
        for (const std::uint32_t* p = space_.here[t].begin; p != space_.here[t].end; ++p)
            if (space_.sums[*p >> 16] > estimate_) space_.ranked.push_back(space_.sums[*p >> 16]);
        raise_estimate(uncertain);
    }
}

// By the k-th largest of some sums; what is true is less by at most `uncertain`.
void PrunedSearch::raise_estimate(std::int32_t uncertain) {
    if (best_.k() > space_.ranked.size()) return;
    const auto end = space_.ranked.begin() + static_cast<std::ptrdiff_t>(best_.k());
    if (best_.k() <= kHeaped)
        std::partial_sort(space_.ranked.begin(), end, space_.ranked.end(), std::greater<>());
    else
        std::nth_element(space_.ranked.begin(), end - 1, space_.ranked.end(), std::greater<>());
    estimate_ = std::max(estimate_, *(end - 1) - uncertain);
}

// As `gather`, by the postings of the first terms, which all rows with a sum are among.
bool PrunedSearch::gather_few(std::size_t terms, std::int32_t bar, std::int64_t most) {
    auto& candidates = space_.candidates;
    candidates.clear();
    for (std::size_t t = 0; t < terms; ++t)
        for (const std::uint32_t* p = space_.here[t].begin; p != space_.here[t].end; ++p)
            if (space_.sums[*p >> 16] >= bar)
                candidates.push_back({space_.sums[*p >> 16], *p >> 16});
    std::ranges::sort(candidates, {}, &Candidate::row);
    // Clang 14 rejects std::ranges::unique of GCC's library.
    candidates.erase(
        std::unique(candidates.begin(), candidates.end(),
                    [](const Candidate& a, const Candidate& b) { return a.row == b.row; }),
        candidates.end());
    return static_cast<std::int64_t>(candidates.size()) <= most;
}

// Collects the rows whose sum is not below the bar; false if they are more than `most`.
bool PrunedSearch::gather(std::int32_t bar, std::int64_t most) {
    space_.candidates.clear();
    for (std::size_t block = 0; block < space_.block_most.size(); ++block) {
        if (space_.block_most[block] < bar) continue;
        for (std::size_t row = block * kBlock; row < (block + 1) * kBlock; ++row)
            if (space_.sums[row] >= bar)
                space_.candidates.push_back({space_.sums[row], static_cast<std::uint32_t>(row)});
        if (static_cast<std::int64_t>(space_.candidates.size()) > most) return false;
    }
    return true;
}

// Computes the scores of candidates, the most promising first.
void PrunedSearch::offer(std::size_t first, std::int32_t missing, std::int32_t uncertain) {
    auto& candidates = space_.candidates;
    const auto larger = [](const Candidate& a, const Candidate& b) {
        return a.sum != b.sum ? a.sum > b.sum : a.row < b.row;
    };
    if (candidates.size() > best_.k()) {
        const auto kth = candidates.begin() + static_cast<std::ptrdiff_t>(best_.k() - 1);
        std::nth_element(candidates.begin(), kth, candidates.end(), larger);
        estimate_ = std::max(estimate_, kth->sum - uncertain);
        std::erase_if(candidates, [least = bar() - missing](const Candidate& candidate) {
            return candidate.sum < least;
        });
    }
    std::sort(candidates.begin(), candidates.end(), larger);
    const auto prefetch = [&](std::size_t next, bool entries) {
        if (next < candidates.size()) all_.prefetch(first + candidates[next].row, entries);
    };
    for (std::size_t i = 0; i < kPrefetchDistance; ++i) prefetch(i, false);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].sum + missing < bar()) break;
        prefetch(i + 2 * kPrefetchDistance, false);
        prefetch(i + kPrefetchDistance, true);
        if (++counts_.scored > most_scored_) break;
        best_.add(all_.score(first + candidates[i].row, asked_), first + candidates[i].row);
    }
}

} // namespace textkin::ranking
