#include "text/word_table.h"

#include "base/parallel.h"
#include "store/packed_words.h"
#include "text/word_hash.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace textkin::text {
namespace {

constexpr std::size_t kOwnKey = 8; // the longest word that is its own key
constexpr std::size_t kPrefetchDistance =
    8; // slots are fetched into the cache so many words before
constexpr std::size_t kAtOnce = 4096;
constexpr std::size_t kMostWords = std::numeric_limits<std::int32_t>::max();
constexpr const char* kTooManyWords = "more than 2^31 - 1 distinct words";

// Another one in every process, so that no text can be made to fall into few slots. Numbers do not
// depend on it.
const std::uint64_t kSeed = [] {
    std::random_device device;
    return static_cast<std::uint64_t>(device()) << 32 | device();
}();

// A capacity for `wanted`: many small additions must not each move everything.
std::size_t grown(std::size_t capacity, std::size_t wanted) {
    return wanted <= capacity ? capacity : std::max(wanted, 2 * capacity);
}

// The first eight bytes as a number that sorts as they do.
std::uint64_t leading(std::string_view word) {
    return __builtin_bswap64(load(word.data(), std::min<std::size_t>(word.size(), 8)));
}

} // namespace

WordTable::Key WordTable::key_of(std::string_view word) {
    const auto length = static_cast<std::uint32_t>(word.size());
    if (word.size() <= kOwnKey) return {load(word.data(), word.size()), length};
    return {hash_of(word, kSeed), length};
}

std::int32_t WordTable::find(std::string_view word) const {
    return slots_.empty() ? -1 : slots_[slot_of(word, key_of(word))].number;
}

std::size_t WordTable::first_slot(Key key) const {
    return mix(key.value ^ kSeed) & (slots_.size() - 1);
}

void WordTable::fetch(Key key) const { __builtin_prefetch(slots_.data() + first_slot(key)); }

std::size_t WordTable::slot_of(std::string_view word, Key key) const {
    for (std::size_t at = first_slot(key);; at = (at + 1) & (slots_.size() - 1)) {
        const Slot& slot = slots_[at];
        if (slot.number < 0) return at;
        if (slot.value == key.value && slot.length == key.length &&
            (word.size() <= kOwnKey || (*this)[static_cast<std::size_t>(slot.number)] == word))
            return at;
    }
}

void WordTable::add(std::span<const std::string_view> words,
                    base::UninitializedVector<std::int32_t>& numbers) {
    Key keys[kPrefetchDistance];
    const auto prepare = [&](std::size_t i) {
        if (i >= words.size()) return;
        keys[i % kPrefetchDistance] = key_of(words[i]);
        fetch(keys[i % kPrefetchDistance]);
    };
    make_room(1);
    for (std::size_t i = 0; i < kPrefetchDistance; ++i) prepare(i);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Key key = keys[i % kPrefetchDistance];
        prepare(i + kPrefetchDistance);
        numbers.push_back(add(words[i], key));
    }
}

std::int32_t WordTable::add(std::string_view word, Key key) {
    make_room(1);
    Slot& slot = slots_[slot_of(word, key)];
    if (slot.number < 0) {
        if (size() >= kMostWords) throw std::length_error(kTooManyWords);
        // All room first: if there is no memory for it, the table stays unchanged.
        reserve(1, word.size());
        bytes_.append(word);
        ends_.push_back(bytes_.size());
        keys_.push_back(key);
        slot = {key.value, key.length, static_cast<std::int32_t>(size() - 1)};
    }
    return slot.number;
}

void WordTable::reserve(std::size_t words, std::size_t bytes) {
    const auto grow = [](auto& all, std::size_t wanted) {
        if (wanted > all.capacity()) all.reserve(grown(all.capacity(), wanted));
    };
    grow(bytes_, bytes_.size() + bytes);
    grow(ends_, ends_.size() + words);
    grow(keys_, keys_.size() + words);
}

void WordTable::make_room(std::size_t words) {
    const std::size_t wanted = 2 * (size() + words);
    if (wanted <= slots_.size()) return;
    base::UninitializedVector<Slot> larger(std::max<std::size_t>(64, std::bit_ceil(wanted)));
    slots_.swap(larger);
    fill_slots();
}

// Takes no memory.
void WordTable::fill_slots() {
    std::fill(slots_.begin(), slots_.end(), Slot{0, 0, -1});
    for (std::size_t number = 0; number < size(); ++number) {
        const Key key = keys_[number];
        std::size_t at = first_slot(key);
        while (slots_[at].number >= 0) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = {key.value, key.length, static_cast<std::int32_t>(number)};
    }
}

void WordTable::extend(store::WordArrays words, base::Stop& stop) {
    words.check_ends();
    const std::size_t before = size();
    if (words.size() > kMostWords - before) throw std::length_error(kTooManyWords);
    try {
        make_room(words.size());
        reserve(words.size(), words.bytes.size());
        std::vector<std::string_view> some;
        base::UninitializedVector<std::int32_t> numbers;
        for (std::size_t first = 0; first < words.size(); first += kAtOnce) {
            stop.throw_if_requested();
            some.clear();
            numbers.clear();
            const std::size_t last = std::min(words.size(), first + kAtOnce);
            for (std::size_t number = first; number < last; ++number)
                some.push_back(words.sound(number));
            add(some, numbers);
            for (std::size_t i = 0; i < some.size(); ++i) {
                const auto known = static_cast<std::size_t>(numbers[i]);
                if (known == before + first + i) continue;
                throw std::invalid_argument("Words must be new and distinct; word " +
                                            std::to_string(first + i) + " is the same as word " +
                                            (known < before
                                                 ? std::to_string(known) + " of the table"
                                                 : std::to_string(known - before)) +
                                            ".");
            }
        }
    } catch (...) {
        forget_from(before);
        throw;
    }
}

void WordTable::forget_from(std::size_t number) {
    bytes_.resize(number == 0 ? 0 : ends_[number - 1]);
    ends_.resize(number);
    keys_.resize(number);
    fill_slots();
}

std::vector<std::int32_t> WordTable::merge(const WordTable& other) {
    std::vector<std::int32_t> numbers(other.size());
    make_room(1);
    for (std::size_t i = 0; i < other.size(); ++i) {
        if (i + kPrefetchDistance < other.size()) fetch(other.keys_[i + kPrefetchDistance]);
        numbers[i] = add(other[i], other.keys_[i]);
    }
    return numbers;
}

std::vector<std::int32_t> WordTable::sorted(unsigned threads, base::Stop& stop) const {
    using Entry = std::pair<std::uint64_t, std::int32_t>;
    std::vector<Entry> entries(size());
    for (std::size_t i = 0; i < size(); ++i)
        entries[i] = {leading((*this)[i]), static_cast<std::int32_t>(i)};
    // In UTF-8 the order of bytes is that of code points.
    const auto before = [&](const Entry& a, const Entry& b) {
        if (a.first != b.first) return a.first < b.first;
        return (*this)[static_cast<std::size_t>(a.second)] <
               (*this)[static_cast<std::size_t>(b.second)];
    };
    // Words are distinct, so the order does not depend on the number of parts.
    const std::size_t parts = std::max(1U, std::min(threads, 16U));
    const auto end_of = [&](std::size_t part) {
        return entries.begin() + static_cast<std::ptrdiff_t>(entries.size() * part / parts);
    };
    base::parallel_for(parts, threads, stop, [&](std::size_t part) {
        std::sort(end_of(part), end_of(part + 1), before);
    });
    for (std::size_t part = 1; part < parts; ++part)
        std::inplace_merge(entries.begin(), end_of(part), end_of(part + 1), before);
    std::vector<std::int32_t> numbers(size());
    std::transform(entries.begin(), entries.end(), numbers.begin(),
                   [](const Entry& entry) { return entry.second; });
    return numbers;
}

} // namespace textkin::text
