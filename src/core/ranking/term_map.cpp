#include "ranking/term_map.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace textkin::ranking {
namespace {

constexpr std::size_t kTermsBetweenPolls = 1 << 8;
constexpr std::size_t kInserted = 64; // so few terms, nearly in order, are sorted by insertion

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

std::uint32_t added(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t sum = a + b;
    return sum < a ? UINT32_MAX : sum;
}

void sort_terms(std::vector<TermCount>& terms) {
    if (terms.size() > kInserted) {
        std::ranges::sort(terms, {}, &TermCount::term);
        return;
    }
    for (std::size_t i = 1; i < terms.size(); ++i) {
        const TermCount moved = terms[i];
        std::size_t j = i;
        for (; j > 0 && moved.term < terms[j - 1].term; --j) terms[j] = terms[j - 1];
        terms[j] = moved;
    }
}

} // namespace

TermMap::TermMap(std::span<const std::int32_t> term_of, std::size_t n_terms)
    : term_of_(term_of.begin(), term_of.end()), starts_(n_terms + 1, 0) {
    const auto size = static_cast<std::int64_t>(n_terms);
    for (const std::int32_t term : term_of_) {
        if (term < -1 || term >= size)
            refuse("Terms of words must be at least -1 and below " + std::to_string(n_terms) +
                   "; got " + std::to_string(term) + ".");
        if (term >= 0) ++starts_[at(term) + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    words_.resize(starts_.back());
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t word = 0; word < term_of_.size(); ++word)
        if (term_of_[word] >= 0)
            words_[next[at(term_of_[word])]++] = static_cast<std::int32_t>(word);
}

void collect_terms(const TermMap* map, std::span<const std::int32_t> words,
                   std::span<const float> counts, std::vector<TermCount>& found) {
    found.clear();
    if (map == nullptr) {
        for (std::size_t k = 0; k < words.size(); ++k)
            found.push_back({words[k], static_cast<double>(counts[k])});
        return;
    }
    for (std::size_t k = 0; k < words.size(); ++k) {
        const std::int32_t term = map->term_of(words[k]);
        if (term >= 0) found.push_back({term, static_cast<double>(counts[k])});
    }
    sort_terms(found);
    std::size_t kept = 0;
    for (const TermCount& one : found) {
        if (kept > 0 && found[kept - 1].term == one.term)
            found[kept - 1].count = std::min(found[kept - 1].count + one.count, kLargestCount);
        else
            found[kept++] = one;
    }
    found.resize(kept);
}

PostingList postings_at(const CountMatrix& part, std::size_t place) {
    const std::size_t first = at(part.term_offsets[place]);
    const std::size_t size = at(part.term_offsets[place + 1]) - first;
    return {part.posting_rows.subspan(first, size), part.posting_counts.subspan(first, size)};
}

PostingList PostingsMerger::merge(std::span<PostingList> lists) {
    if (lists.empty()) return {};
    // The shortest first, so that few postings are copied often.
    std::ranges::sort(lists, {}, [](const PostingList& list) { return list.rows.size(); });
    PostingList merged = lists.front();
    for (std::size_t next = 1; next < lists.size(); ++next) {
        const PostingList& other = lists[next];
        Buffer& out = buffers_[next % 2];
        const std::size_t a_size = merged.rows.size();
        const std::size_t b_size = other.rows.size();
        out.rows.resize(a_size + b_size);
        out.counts.resize(a_size + b_size);
        std::size_t a = 0;
        std::size_t b = 0;
        std::size_t end = 0;
        while (a < a_size && b < b_size) { // without branches, which would be mispredicted
            const std::int32_t a_row = merged.rows[a];
            const std::int32_t b_row = other.rows[b];
            const bool takes_a = a_row <= b_row;
            const bool takes_b = b_row <= a_row;
            out.rows[end] = takes_a ? a_row : b_row;
            out.counts[end++] =
                added(takes_a ? merged.counts[a] : 0, takes_b ? other.counts[b] : 0);
            a += takes_a ? 1 : 0;
            b += takes_b ? 1 : 0;
        }
        for (; a < a_size; ++a, ++end) {
            out.rows[end] = merged.rows[a];
            out.counts[end] = merged.counts[a];
        }
        for (; b < b_size; ++b, ++end) {
            out.rows[end] = other.rows[b];
            out.counts[end] = other.counts[b];
        }
        merged = {std::span<const std::int32_t>(out.rows).first(end),
                  std::span<const std::uint32_t>(out.counts).first(end)};
    }
    return merged;
}

TermLists::TermLists(std::span<const CountMatrix> parts, const TermMap* map, std::size_t n_terms,
                     base::Stop& stop)
    : starts_(n_terms + 1, 0) {
    const auto each = [&](auto&& visit) {
        for (std::size_t p = 0; p < parts.size(); ++p) {
            stop.throw_if_requested();
            for (std::size_t place = 0; place < parts[p].terms.size(); ++place) {
                const std::int32_t word = parts[p].terms[place];
                const std::int32_t term = map == nullptr ? word : map->term_of(word);
                // A file that was changed since it was checked may hold any number.
                if (term >= 0 && at(term) < n_terms) visit(at(term), p, place);
            }
        }
    };
    each([&](std::size_t term, std::size_t, std::size_t) { ++starts_[term + 1]; });
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    lists_.resize(starts_.back());
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    each([&](std::size_t term, std::size_t part, std::size_t place) {
        if (next[term] < starts_[term + 1])
            lists_[next[term]++] = {static_cast<std::uint32_t>(part),
                                    static_cast<std::uint32_t>(place)};
    });
}

TermStatistics measure_terms(std::vector<CountMatrix> parts, const TermMap& map,
                             std::span<const std::uint8_t> live, base::Stop& stop) {
    std::vector<std::size_t> starts{0};
    for (CountMatrix& part : parts) {
        part.rows.n_columns = map.n_words();
        part.check(stop);
        starts.push_back(starts.back() + part.rows.size());
    }
    if (live.size() != starts.back())
        refuse("live must have a value for each of the " + std::to_string(starts.back()) +
               " rows; got " + std::to_string(live.size()) + ".");
    const TermLists lists(parts, &map, map.n_terms(), stop);
    TermStatistics found;
    found.frequencies.assign(map.n_terms(), 0);
    std::vector<std::uint8_t> seen(live.size(), 0);
    for (std::size_t term = 0; term < map.n_terms(); ++term) {
        if (term % kTermsBetweenPolls == 0) stop.throw_if_requested();
        const auto all = lists.of(term);
        std::int64_t frequency = 0;
        for (std::size_t first = 0; first < all.size();) { // lists of one part
            std::size_t last = first + 1;
            while (last < all.size() && all[last].part == all[first].part) ++last;
            const CountMatrix& part = parts[all[first].part];
            const std::size_t start = starts[all[first].part];
            for (std::size_t list = first; list < last; ++list) {
                const PostingList postings = postings_at(part, all[list].place);
                for (std::size_t k = 0; k < postings.rows.size(); ++k) {
                    const std::size_t row = start + at(postings.rows[k]);
                    const bool is_live = live[row] != 0;
                    found.tokens += is_live ? postings.counts[k] : 0;
                    frequency += is_live && seen[row] == 0 ? 1 : 0;
                    if (last - first > 1) seen[row] = 1;
                }
            }
            if (last - first > 1)
                for (std::size_t list = first; list < last; ++list)
                    for (const std::int32_t row : postings_at(part, all[list].place).rows)
                        seen[start + at(row)] = 0;
            first = last;
        }
        found.frequencies[term] = frequency;
    }
    return found;
}

} // namespace textkin::ranking
