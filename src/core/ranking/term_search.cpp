#include "ranking/term_search.h"

#include "ranking/term_search_methods.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace textkin::ranking {
namespace {

constexpr std::size_t kTermsBetweenPolls = 1 << 8;
constexpr std::size_t kMostPrunedWords = 2048; // a step of rounding each must leave room for more
// What things take, in the time of a row that is passed over.
constexpr double kScoreCost = 250;
constexpr double kPostingCost = 4;

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

std::vector<CountMatrix> checked(std::vector<CountMatrix> parts, std::size_t n_words,
                                 base::Stop& stop) {
    for (CountMatrix& part : parts) {
        part.rows.n_columns = n_words;
        part.check(stop);
    }
    return parts;
}

std::vector<std::size_t> starts_of(std::span<const CountMatrix> parts) {
    std::vector<std::size_t> starts{0};
    for (const CountMatrix& part : parts) starts.push_back(starts.back() + part.rows.size());
    return starts;
}

const TermMap* checked_map(const TermMap* map, const WeightFormula& formula) {
    if (map != nullptr && map->n_terms() != formula.word_weights.size())
        refuse("There must be a weight for each of the " + std::to_string(map->n_terms()) +
               " terms; got " + std::to_string(formula.word_weights.size()) + ".");
    return map;
}

// The words in ascending order, each once.
std::vector<QueryWord> sorted(std::span<const QueryWord> query, std::size_t n_words) {
    for (const QueryWord& query_word : query) {
        if (query_word.word < 0 || at(query_word.word) >= n_words)
            refuse("Words of a query must be at least 0 and below " + std::to_string(n_words) +
                   "; got " + std::to_string(query_word.word) + ".");
        if (!std::isfinite(query_word.weight)) refuse("The weights of a query must be finite.");
    }
    std::vector<QueryWord> words(query.begin(), query.end());
    std::stable_sort(words.begin(), words.end(),
                     [](const QueryWord& a, const QueryWord& b) { return a.word < b.word; });
    std::size_t kept = 0;
    for (const QueryWord& query_word : words) {
        if (kept > 0 && words[kept - 1].word == query_word.word)
            words[kept - 1].weight += query_word.weight;
        else
            words[kept++] = query_word;
    }
    words.resize(kept);
    std::erase_if(words, [](const QueryWord& query_word) { return query_word.weight == 0; });
    return words;
}

} // namespace

TermSearch::TermSearch(std::vector<CountMatrix> parts, std::span<const std::uint8_t> live,
                       WeightFormula formula, base::Stop& stop, const TermMap* map)
    : map_(checked_map(map, formula)),
      parts_(checked(std::move(parts),
                     map == nullptr ? formula.word_weights.size() : map->n_words(), stop)),
      starts_(starts_of(parts_)), live_(live.begin(), live.end()),
      weights_(parts_, map_, std::move(formula), stop) {
    if (live_.size() != size())
        refuse("live must have a value for each of the " + std::to_string(size()) + " rows; got " +
               std::to_string(live_.size()) + ".");
    fill(stop);
}

// Puts the postings of each term one after another, window by window.
void TermSearch::fill(base::Stop& stop) {
    struct Weighted {
        std::size_t row;
        double weight;
    };
    const TermLists lists(parts_, map_, n_terms(), stop);
    std::size_t most = 0;
    for (const CountMatrix& part : parts_) most += part.posting_rows.size();
    largest_.assign(n_terms(), 0.0);
    offsets_.assign(n_terms() + 1, 0);
    run_offsets_.assign(n_terms() + 1, 0);
    postings_.reserve(most);
    PostingsMerger merger;
    std::vector<PostingList> merged;
    base::UninitializedVector<Weighted> weighted;
    for (std::size_t term = 0; term < n_terms(); ++term) {
        if (term % kTermsBetweenPolls == 0) stop.throw_if_requested();
        const double word_weight = weights_.word_weight(static_cast<std::int32_t>(term));
        const auto all = word_weight == 0 ? std::span<const TermLists::List>{} : lists.of(term);
        weighted.clear();
        double largest = 0;
        bool finite = true;
        for (std::size_t first = 0; first < all.size();) {
            const std::size_t p = all[first].part;
            merged.clear();
            for (; first < all.size() && all[first].part == p; ++first)
                merged.push_back(postings_at(parts_[p], all[first].place));
            const PostingList postings = merger.merge(merged);
            for (std::size_t k = 0; k < postings.rows.size(); ++k) {
                const std::size_t row = starts_[p] + at(postings.rows[k]);
                const double weight = std::abs(weights_(postings.counts[k], row, word_weight));
                finite &= weight <= std::numeric_limits<double>::max();
                if (live_[row] == 0) continue;
                largest = std::max(largest, weight);
                weighted.push_back({row, weight});
            }
        }
        if (!finite) refuse("The weights of documents are too large for double.");
        largest_[term] = largest;
        const double to_whole = largest > 0 ? kLargestImpact / largest : 0.0;
        std::size_t window = std::numeric_limits<std::size_t>::max();
        for (const Weighted& one : weighted) {
            // The quotient is rounded, and may be infinite where the largest is tiny.
            const double whole = std::ceil(one.weight * to_whole * (1 + 1e-12));
            const auto impact = static_cast<std::uint32_t>(
                whole >= 1 ? std::min(whole, kLargestImpact) : (whole == 0 ? 1.0 : kLargestImpact));
            if (one.row / kWindow != window) {
                window = one.row / kWindow;
                runs_.push_back({static_cast<std::uint32_t>(window), 0});
            }
            postings_.push_back(static_cast<std::uint32_t>(one.row % kWindow) << 16 | impact);
            runs_.back().end = static_cast<std::int64_t>(postings_.size());
        }
        offsets_[term + 1] = static_cast<std::int64_t>(postings_.size());
        run_offsets_[term + 1] = static_cast<std::int64_t>(runs_.size());
    }
    runs_.shrink_to_fit();
}

std::size_t TermSearch::part_of(std::size_t row) const {
    return static_cast<std::size_t>(std::upper_bound(starts_.begin() + 1, starts_.end(), row) -
                                    starts_.begin()) -
           1;
}

TermSearch::QueryWords::QueryWords(std::span<const QueryWord> terms, const TermMap* map)
    : counts(map == nullptr ? 0 : terms.size(), 0.0), terms_(terms) {
    for (std::size_t t = 0; t < terms.size(); ++t) {
        const auto words = map == nullptr ? std::span<const std::int32_t>(&terms[t].word, 1)
                                          : map->words_of(terms[t].word);
        for (const std::int32_t word : words) {
            forms_.push_back({word, static_cast<std::uint32_t>(t)});
            bits_[place(word)] |= bit(word);
        }
    }
    if (map != nullptr) std::ranges::sort(forms_, {}, &Form::word);
}

std::size_t TermSearch::QueryWords::find(std::int32_t word) const {
    const auto found = std::ranges::lower_bound(forms_, word, {}, &Form::word);
    return found != forms_.end() && found->word == word ? found->term : terms_.size();
}

double TermSearch::score(std::size_t row, QueryWords& query) const {
    const std::size_t p = part_of(row);
    const store::SortedRows& rows = parts_[p].rows;
    const std::size_t last = rows.end(row - starts_[p]);
    const auto terms = query.terms();
    double sum = 0;
    const auto add = [&](const QueryWord& query_word, double count) {
        const double word_weight = weights_.word_weight(query_word.word);
        if (word_weight != 0) sum += query_word.weight * weights_(count, row, word_weight);
    };
    for (std::size_t k = rows.begin(row - starts_[p]); k < last; ++k) {
        const std::int32_t word = rows.columns[k];
        if (!query.may_have(word)) continue;
        // A file that was changed since it was checked may hold any number: only words of the query
        // are known to have weights.
        const std::size_t term = query.find(word);
        if (term == terms.size()) continue;
        const auto count = static_cast<double>(parts_[p].counts[k]);
        if (map_ == nullptr)
            add(terms[term], count);
        else
            query.counts[term] = std::min(query.counts[term] + count, kLargestCount);
    }
    if (map_ != nullptr)
        for (std::size_t t = 0; t < terms.size(); ++t)
            if (const double count = std::exchange(query.counts[t], 0.0); count > 0)
                add(terms[t], count);
    return sum;
}

// Fetches where the entries of a row are, or the entries.
void TermSearch::prefetch(std::size_t row, bool entries) const {
    const std::size_t p = part_of(row);
    const CountMatrix& part = parts_[p];
    if (entries) {
        const std::size_t first = part.rows.begin(row - starts_[p]);
        for (std::size_t k = 0; k < 64; k += 16)
            __builtin_prefetch(part.rows.columns.data() + first + k);
        __builtin_prefetch(part.counts.data() + first);
        __builtin_prefetch(part.counts.data() + first + 32);
    } else {
        __builtin_prefetch(part.rows.indptr.data() + (row - starts_[p]));
        weights_.prefetch(row);
    }
}

void TermSearch::words_of(std::size_t row, std::vector<std::int32_t>& words,
                          std::vector<double>& weights) const {
    words.clear();
    weights.clear();
    const std::size_t p = part_of(row);
    const store::SortedRows& rows = parts_[p].rows;
    const std::size_t first = rows.begin(row - starts_[p]);
    const std::size_t size = rows.end(row - starts_[p]) - first;
    std::vector<TermCount> terms;
    collect_terms(map_, rows.columns.subspan(first, size), parts_[p].counts.subspan(first, size),
                  terms);
    for (const TermCount& one : terms) {
        if (one.term < 0 || at(one.term) >= n_terms()) continue; // of a file that was changed
        const double weight = weights_(one.count, row, weights_.word_weight(one.term));
        if (weight == 0) continue;
        words.push_back(one.term);
        weights.push_back(weight);
    }
}

TermSearchCounts TermSearch::best(std::span<const QueryWord> query, std::size_t k, double threshold,
                                  std::span<const std::uint8_t> allowed, TermSearchMethod method,
                                  std::vector<FoundRow>& found, base::Stop& stop) const {
    if (!allowed.empty() && allowed.size() != size())
        refuse("allowed must have a value for each of the " + std::to_string(size()) +
               " rows; got " + std::to_string(allowed.size()) + ".");
    const std::vector<QueryWord> words = sorted(query, n_terms());
    TermSearchCounts counts;
    for (const QueryWord& query_word : words)
        counts.postings += offsets_[at(query_word.word) + 1] - offsets_[at(query_word.word)];
    found.clear();
    if (k > 0 && counts.postings > 0) {
        const auto postings = static_cast<double>(counts.postings);
        const bool many = std::min(static_cast<double>(k), postings) * kScoreCost >
                          postings * kPostingCost + static_cast<double>(size());
        const bool prunes =
            method == TermSearchMethod::pruned || (method == TermSearchMethod::automatic && !many);
        // Where many documents have nearly the same score, as duplicates do, bounds tell little.
        const double most = (postings * kPostingCost + static_cast<double>(size())) / kScoreCost;
        const std::int64_t most_scored =
            method == TermSearchMethod::automatic
                ? static_cast<std::int64_t>(most) +
                      2 * static_cast<std::int64_t>(
                              std::min(k, static_cast<std::size_t>(counts.postings)))
                : std::numeric_limits<std::int64_t>::max();
        bool done = false;
        if (prunes && words.size() <= kMostPrunedWords) {
            BestRows best(k, threshold, found);
            done = PrunedSearch(*this, words, allowed, best, counts, most_scored).run(stop);
            if (done) best.finish();
        }
        if (!done) {
            BestRows best(k, threshold, found);
            counts.touched = counts.postings;
            counts.scored = 0;
            DenseSearch(*this, words, allowed, best, counts).run(stop);
            best.finish();
        }
    }
    return counts;
}

} // namespace textkin::ranking
