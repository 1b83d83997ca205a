#include "text/counting.h"

#include "base/parallel.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace textkin::text {
namespace {

constexpr std::size_t kDocumentsAtOnce = 512;

// Key and count in one number: sorting by key is sorting numbers.
class Entry {
  public:
    Entry(std::int32_t key, std::uint32_t count)
        : packed_(static_cast<std::uint64_t>(key) << 32 | count) {}

    [[nodiscard]] std::int32_t key() const { return static_cast<std::int32_t>(packed_ >> 32); }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(packed_); }
    void add(std::uint32_t count) { packed_ += count; } // a document has fewer than 2^32 words
    bool operator<(const Entry& other) const { return packed_ < other.packed_; }

  private:
    std::uint64_t packed_;
};

// Adds up counts by key, keeping the order in which keys came.
class Adder {
  public:
    // `keys`: how many keys will come, with repetitions. A long document repeats its words, so
    // there are fewer slots at first, and more as new keys come.
    void begin(std::size_t keys) {
        entries_.clear();
        make_slots(std::bit_ceil(2 * std::min(keys, kKeysAtFirst) + 2));
    }

    void add(std::int32_t key, std::uint32_t count) {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = first_slot(key);; at = (at + 1) & mask) {
            std::int32_t& slot = slots_[at];
            if (slot < 0) {
                slot = static_cast<std::int32_t>(entries_.size());
                entries_.emplace_back(key, count);
                if (2 * entries_.size() + 2 > slots_.size()) make_slots(2 * slots_.size());
                return;
            }
            Entry& entry = entries_[static_cast<std::size_t>(slot)];
            if (entry.key() == key) {
                entry.add(count);
                return;
            }
        }
    }

    [[nodiscard]] std::vector<Entry>& entries() { return entries_; }

  private:
    static constexpr std::size_t kKeysAtFirst = std::size_t{1} << 15;

    [[nodiscard]] std::size_t first_slot(std::int32_t key) const {
        return static_cast<std::uint32_t>(key) * 0x9E3779B97F4A7C15U >> shift_;
    }
    // `count` slots, a power of two, with the entries so far.
    void make_slots(std::size_t count) {
        shift_ = 64 - std::countr_zero(count);
        slots_.assign(count, -1);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            std::size_t at = first_slot(entries_[i].key());
            while (slots_[at] >= 0) at = (at + 1) & (count - 1);
            slots_[at] = static_cast<std::int32_t>(i);
        }
    }

    std::vector<std::int32_t> slots_; // at most half in use
    int shift_ = 63;                  // leaves as many high bits of a product as number the slots
    std::vector<Entry> entries_;
};

void append_row(Counts& counts, std::span<const Entry> entries) {
    for (const Entry& entry : entries) {
        counts.keys.push_back(entry.key());
        counts.counts.push_back(entry.count());
    }
    counts.offsets.push_back(static_cast<std::int64_t>(counts.keys.size()));
}

// Sorts the entries by key and adds up those of one key.
void append_sorted(Counts& counts, std::vector<Entry>& entries) {
    std::sort(entries.begin(), entries.end());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (kept > 0 && entries[kept - 1].key() == entries[i].key())
            entries[kept - 1].add(entries[i].count());
        else
            entries[kept++] = entries[i];
    append_row(counts, {entries.data(), kept});
}

// Keeps the `most` keys with the highest counts, the first among equals, and moves the others.
void keep_most(std::size_t most, Adder& adder, std::vector<Entry>& entries,
               std::vector<Entry>& others) {
    adder.begin(entries.size());
    for (const Entry& entry : entries) adder.add(entry.key(), entry.count());
    entries = adder.entries();
    if (entries.size() <= most) return;
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.count() > b.count(); });
    const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(most);
    others.assign(middle, entries.end());
    entries.erase(middle, entries.end());
}

// Runs `work(first, last, part)` over blocks of rows; the parts are in order.
template <class Part, class Work>
std::vector<Part> by_blocks(std::size_t rows, unsigned threads, base::Stop& stop, Work work) {
    std::vector<Part> parts((rows + kDocumentsAtOnce - 1) / kDocumentsAtOnce);
    base::parallel_for(parts.size(), threads, stop, [&](std::size_t block) {
        const std::size_t first = block * kDocumentsAtOnce;
        Part own; // filled here: adjacent elements of `parts` would share cache lines
        work(first, std::min(rows, first + kDocumentsAtOnce), own);
        parts[block] = std::move(own);
    });
    return parts;
}

// Puts parts under one another; `counts_of(part)` are the counts of a part.
template <class Part, class CountsOf, class Number>
Counts joined(const std::vector<Part>& parts, CountsOf counts_of, unsigned threads,
              base::Stop& stop, base::UninitializedVector<Number>& numbers) {
    Counts all;
    std::vector<std::size_t> starts;
    std::size_t entries = 0;
    for (const Part& part : parts) {
        const Counts& counts = counts_of(part);
        for (std::size_t row = 0; row < counts.size(); ++row)
            all.offsets.push_back(static_cast<std::int64_t>(entries) + counts.offsets[row + 1]);
        starts.push_back(entries);
        entries += counts.keys.size();
    }
    all.keys.resize(entries);
    numbers.resize(entries);
    base::parallel_for(parts.size(), threads, stop, [&](std::size_t block) {
        const Counts& counts = counts_of(parts[block]);
        std::copy(counts.keys.begin(), counts.keys.end(), all.keys.data() + starts[block]);
        std::transform(counts.counts.begin(), counts.counts.end(), numbers.data() + starts[block],
                       [](std::uint32_t count) { return static_cast<Number>(count); });
    });
    return all;
}

} // namespace

Counts count_words(const Tokens& tokens, unsigned threads, base::Stop& stop) {
    const auto parts = by_blocks<Counts>(
        tokens.size(), threads, stop, [&](std::size_t first, std::size_t last, Counts& part) {
            Adder adder;
            for (std::size_t document = first; document < last; ++document) {
                const auto words = tokens[document];
                adder.begin(words.size());
                for (const std::int32_t word : words) adder.add(word, 1);
                append_row(part, adder.entries());
            }
        });
    base::UninitializedVector<std::uint32_t> numbers;
    Counts all = joined(
        parts, [](const Counts& part) -> const Counts& { return part; }, threads, stop, numbers);
    all.counts = std::move(numbers);
    return all;
}

void add_statistics(const Counts& counts, std::span<std::int64_t> totals,
                    std::span<std::int64_t> documents) {
    for (std::size_t i = 0; i < counts.keys.size(); ++i) {
        const auto word = static_cast<std::size_t>(counts.keys[i]);
        totals[word] += static_cast<std::int64_t>(counts.counts[i]);
        ++documents[word];
    }
}

Bags to_bags(const Counts& counts, std::span<const std::int32_t> column_of, std::size_t most,
             unsigned threads, base::Stop& stop) {
    const auto parts = by_blocks<Bags>(
        counts.size(), threads, stop, [&](std::size_t first, std::size_t last, Bags& part) {
            Adder adder;
            std::vector<Entry> entries;
            std::vector<Entry> unknown;
            std::vector<Entry> cut;
            for (std::size_t row = first; row < last; ++row) {
                const auto start = static_cast<std::size_t>(counts.offsets[row]);
                const auto end = static_cast<std::size_t>(counts.offsets[row + 1]);
                entries.clear();
                unknown.clear();
                for (std::size_t i = start; i < end; ++i) {
                    const std::int32_t word = counts.keys[i];
                    const std::int32_t column = column_of[static_cast<std::size_t>(word)];
                    if (column >= 0)
                        entries.emplace_back(column, counts.counts[i]);
                    else if (column == kUnknown)
                        unknown.emplace_back(word, counts.counts[i]);
                }
                append_row(part.unknown, unknown);
                cut.clear();
                if (most != 0 && entries.size() > most) keep_most(most, adder, entries, cut);
                append_sorted(part.known, entries);
                append_sorted(part.cut, cut);
            }
        });
    const auto all = [&](Counts Bags::* member, auto& numbers) {
        return joined(
            parts, [member](const Bags& part) -> const Counts& { return part.*member; }, threads,
            stop, numbers);
    };
    Bags bags;
    bags.known = all(&Bags::known, bags.weights);
    for (Counts Bags::* const member : {&Bags::unknown, &Bags::cut}) {
        base::UninitializedVector<std::uint32_t> numbers;
        bags.*member = all(member, numbers);
        (bags.*member).counts = std::move(numbers);
    }
    return bags;
}

} // namespace textkin::text
