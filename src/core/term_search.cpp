#include "textkin/term_search.h"

#include "term_search_methods.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace textkin {
namespace {

constexpr std::size_t kTermsBetweenPolls = 1 << 8;
constexpr std::size_t kMostPrunedWords = 2048; // a step of rounding each must leave room for more
// What things take, in the time of a row that is passed over.
constexpr double kScoreCost = 250;
constexpr double kPostingCost = 4;

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

std::vector<CountedPart> checked(std::vector<CountedPart> parts, std::size_t n_words, Stop& stop) {
    for (CountedPart& part : parts) {
        part.rows.n_columns = n_words;
        part.check(stop);
    }
    return parts;
}

std::vector<std::size_t> starts_of(std::span<const CountedPart> parts) {
    std::vector<std::size_t> starts{0};
    for (const CountedPart& part : parts) starts.push_back(starts.back() + part.rows.size());
    return starts;
}

// The words in ascending order, each once.
std::vector<QueryWord> sorted(std::span<const QueryWord> query, std::size_t n_words) {
    for (const QueryWord& asked : query) {
        if (asked.word < 0 || at(asked.word) >= n_words)
            refuse("Words of a query must be at least 0 and below " + std::to_string(n_words) +
                   "; got " + std::to_string(asked.word) + ".");
        if (!std::isfinite(asked.weight)) refuse("The weights of a query must be finite.");
    }
    std::vector<QueryWord> words(query.begin(), query.end());
    std::stable_sort(words.begin(), words.end(),
                     [](const QueryWord& a, const QueryWord& b) { return a.word < b.word; });
    std::size_t kept = 0;
    for (const QueryWord& asked : words) {
        if (kept > 0 && words[kept - 1].word == asked.word)
            words[kept - 1].weight += asked.weight;
        else
            words[kept++] = asked;
    }
    words.resize(kept);
    std::erase_if(words, [](const QueryWord& asked) { return asked.weight == 0; });
    return words;
}

} // namespace

TermSearch::TermSearch(std::vector<CountedPart> parts, std::span<const std::uint8_t> live,
                       WeightFormula formula, Stop& stop)
    : parts_(checked(std::move(parts), formula.word_weights.size(), stop)),
      starts_(starts_of(parts_)), live_(live.begin(), live.end()),
      weights_(parts_, std::move(formula), stop) {
    if (live_.size() != size())
        refuse("live must have a value for each of the " + std::to_string(size()) + " rows; got " +
               std::to_string(live_.size()) + ".");
    measure(stop);
    fill(live_, stop);
}

// Counts the postings of each word and finds its largest weight.
void TermSearch::measure(Stop& stop) {
    largest_.assign(n_words(), 0.0);
    offsets_.assign(n_words() + 1, 0);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        const CountedPart& part = parts_[p];
        for (std::size_t term = 0; term < part.terms.size(); ++term) {
            if (term % kTermsBetweenPolls == 0) stop.throw_if_requested();
            const std::size_t word = at(part.terms[term]);
            const double word_weight = weights_.word_weight(part.terms[term]);
            if (word_weight == 0) continue;
            double largest = largest_[word];
            bool finite = true;
            std::int64_t count = 0;
            for (auto k = part.term_offsets[term]; k < part.term_offsets[term + 1]; ++k) {
                const std::size_t row = starts_[p] + at(part.posting_rows[at(k)]);
                const double weight =
                    std::abs(weights_(part.posting_counts[at(k)], row, word_weight));
                finite &= weight <= std::numeric_limits<double>::max();
                const bool lives = live_[row] != 0;
                largest = lives ? std::max(largest, weight) : largest;
                count += lives ? 1 : 0;
            }
            if (!finite) refuse("The weights of documents are too large for double.");
            largest_[word] = largest;
            offsets_[word + 1] += count;
        }
    }
    for (std::size_t word = 0; word < n_words(); ++word) offsets_[word + 1] += offsets_[word];
}

// Puts the postings of each word one after another, window by window.
void TermSearch::fill(std::span<const std::uint8_t> live, Stop& stop) {
    postings_.resize(at(offsets_.back()));
    FilledLater<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
    // The runs of a word are made part by part, so they are counted first.
    FilledLater<std::int32_t> last_window(n_words(), -1);
    const auto each = [&](auto&& term_of, auto&& posting_of) {
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            const CountedPart& part = parts_[p];
            for (std::size_t term = 0; term < part.terms.size(); ++term) {
                if (term % kTermsBetweenPolls == 0) stop.throw_if_requested();
                const std::size_t word = at(part.terms[term]);
                const double word_weight = weights_.word_weight(part.terms[term]);
                if (word_weight == 0) continue;
                term_of(word, word_weight);
                for (auto k = part.term_offsets[term]; k < part.term_offsets[term + 1]; ++k) {
                    const std::size_t row = starts_[p] + at(part.posting_rows[at(k)]);
                    if (live[row] != 0)
                        posting_of(word, row, part.posting_counts[at(k)], word_weight);
                }
            }
        }
    };
    run_offsets_.assign(n_words() + 1, 0);
    double to_whole = 0;
    each([&](std::size_t word,
             double) { to_whole = largest_[word] > 0 ? kLargestImpact / largest_[word] : 0.0; },
         [&](std::size_t word, std::size_t row, std::uint32_t count, double word_weight) {
             // The quotient is rounded, and may be infinite where the largest is tiny.
             const double exact = std::abs(weights_(count, row, word_weight)) * to_whole;
             const double whole = std::ceil(exact * (1 + 1e-12));
             const auto impact =
                 static_cast<std::uint32_t>(whole >= 1 ? std::min(whole, kLargestImpact)
                                                       : (whole == 0 ? 1.0 : kLargestImpact));
             const auto window = static_cast<std::int32_t>(row / kWindow);
             postings_[at(next[word]++)] = static_cast<std::uint32_t>(row % kWindow) << 16 | impact;
             if (last_window[word] != window) {
                 last_window[word] = window;
                 ++run_offsets_[word + 1];
             }
         });
    for (std::size_t word = 0; word < n_words(); ++word)
        run_offsets_[word + 1] += run_offsets_[word];
    runs_.resize(at(run_offsets_.back()));
    FilledLater<std::int64_t> next_run(run_offsets_.begin(), run_offsets_.end() - 1);
    std::copy(offsets_.begin(), offsets_.end() - 1, next.begin());
    std::fill(last_window.begin(), last_window.end(), -1);
    each([](std::size_t, double) {},
         [&](std::size_t word, std::size_t row, std::uint32_t, double) {
             const auto window = static_cast<std::int32_t>(row / kWindow);
             if (last_window[word] != window) {
                 last_window[word] = window;
                 runs_[at(next_run[word]++)].window = static_cast<std::uint32_t>(window);
             }
             runs_[at(next_run[word] - 1)].end = ++next[word];
         });
}

std::size_t TermSearch::part_of(std::size_t row) const {
    return static_cast<std::size_t>(std::upper_bound(starts_.begin() + 1, starts_.end(), row) -
                                    starts_.begin()) -
           1;
}

const QueryWord* TermSearch::Asked::find(std::int32_t word) const {
    const auto place = std::ranges::lower_bound(words_, word, {}, &QueryWord::word);
    return place != words_.end() && place->word == word ? &*place : nullptr;
}

double TermSearch::score(std::size_t row, const Asked& query) const {
    const std::size_t p = part_of(row);
    const SortedRows& rows = parts_[p].rows;
    const std::size_t last = rows.end(row - starts_[p]);
    double sum = 0;
    for (std::size_t k = rows.begin(row - starts_[p]); k < last; ++k) {
        const std::int32_t word = rows.columns[k];
        if (!query.may_have(word)) continue;
        const QueryWord* const asked = query.find(word);
        const double word_weight = weights_.word_weight(word);
        if (asked == nullptr || word_weight == 0) continue;
        sum += asked->weight * weights_(static_cast<double>(parts_[p].counts[k]), row, word_weight);
    }
    return sum;
}

// Fetches where the entries of a row are, or the entries.
void TermSearch::prefetch(std::size_t row, bool entries) const {
    const std::size_t p = part_of(row);
    const CountedPart& part = parts_[p];
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
    const SortedRows& rows = parts_[p].rows;
    for (std::size_t k = rows.begin(row - starts_[p]); k < rows.end(row - starts_[p]); ++k) {
        const double weight = weights_(static_cast<double>(parts_[p].counts[k]), row,
                                       weights_.word_weight(rows.columns[k]));
        if (weight == 0) continue;
        words.push_back(rows.columns[k]);
        weights.push_back(weight);
    }
}

TermSearchCounts TermSearch::best(std::span<const QueryWord> query, std::size_t k, double threshold,
                                  std::span<const std::uint8_t> allowed, TermSearchMethod method,
                                  std::vector<FoundRow>& found, Stop& stop) const {
    if (!allowed.empty() && allowed.size() != size())
        refuse("allowed must have a value for each of the " + std::to_string(size()) +
               " rows; got " + std::to_string(allowed.size()) + ".");
    const std::vector<QueryWord> words = sorted(query, n_words());
    TermSearchCounts counts;
    for (const QueryWord& asked : words)
        counts.postings += offsets_[at(asked.word) + 1] - offsets_[at(asked.word)];
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

} // namespace textkin
