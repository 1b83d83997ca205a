#include "textkin/words.h"

#include "textkin/packed_words.h"
#include "textkin/parallel.h"
#include "word_hash.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace textkin {
namespace {

constexpr std::size_t kOwnKey = 8; // the longest word that is its own key
constexpr std::size_t kAhead = 8;  // slots are fetched into the cache so many words before
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

void WordTable::add(std::span<const std::string_view> words, FilledLater<std::int32_t>& numbers) {
    Key keys[kAhead];
    const auto prepare = [&](std::size_t i) {
        if (i >= words.size()) return;
        keys[i % kAhead] = key_of(words[i]);
        fetch(keys[i % kAhead]);
    };
    make_room(1);
    for (std::size_t i = 0; i < kAhead; ++i) prepare(i);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Key key = keys[i % kAhead];
        prepare(i + kAhead);
        numbers.push_back(add(words[i], key));
    }
}

std::int32_t WordTable::add(std::string_view word, Key key) {
    make_room(1);
    Slot& slot = slots_[slot_of(word, key)];
    if (slot.number < 0) {
        if (size() >= kMostWords) throw std::length_error(kTooManyWords);
        slot = {key.value, key.length, static_cast<std::int32_t>(size())};
        bytes_.append(word);
        ends_.push_back(bytes_.size());
        keys_.push_back(key);
    }
    return slot.number;
}

void WordTable::make_room(std::size_t words) {
    const std::size_t wanted = 2 * (size() + words);
    if (wanted > slots_.size()) fill_slots(std::max<std::size_t>(64, std::bit_ceil(wanted)));
}

void WordTable::fill_slots(std::size_t count) {
    slots_.assign(count, Slot{0, 0, -1});
    for (std::size_t number = 0; number < size(); ++number) {
        const Key key = keys_[number];
        std::size_t at = first_slot(key);
        while (slots_[at].number >= 0) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = {key.value, key.length, static_cast<std::int32_t>(number)};
    }
}

void WordTable::extend(WordArrays words, Stop& stop) {
    words.check_ends();
    const std::size_t before = size();
    if (words.size() > kMostWords - before) throw std::length_error(kTooManyWords);
    try {
        make_room(words.size());
        bytes_.reserve(grown(bytes_.capacity(), bytes_.size() + words.bytes.size()));
        ends_.reserve(grown(ends_.capacity(), before + words.size()));
        keys_.reserve(grown(keys_.capacity(), before + words.size()));
        std::vector<std::string_view> some;
        FilledLater<std::int32_t> numbers;
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
    fill_slots(slots_.size());
}

std::vector<std::int32_t> WordTable::merge(const WordTable& other) {
    std::vector<std::int32_t> numbers(other.size());
    make_room(1);
    for (std::size_t i = 0; i < other.size(); ++i) {
        if (i + kAhead < other.size()) fetch(other.keys_[i + kAhead]);
        numbers[i] = add(other[i], other.keys_[i]);
    }
    return numbers;
}

std::vector<std::int32_t> WordTable::sorted(unsigned threads, Stop& stop) const {
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
    // Words are distinct: there is one order, whatever the number of parts.
    const std::size_t parts = std::max(1U, std::min(threads, 16U));
    const auto end_of = [&](std::size_t part) {
        return entries.begin() + static_cast<std::ptrdiff_t>(entries.size() * part / parts);
    };
    parallel_for(parts, threads, stop,
                 [&](std::size_t part) { std::sort(end_of(part), end_of(part + 1), before); });
    for (std::size_t part = 1; part < parts; ++part)
        std::inplace_merge(entries.begin(), end_of(part), end_of(part + 1), before);
    std::vector<std::int32_t> numbers(size());
    std::transform(entries.begin(), entries.end(), numbers.begin(),
                   [](const Entry& entry) { return entry.second; });
    return numbers;
}

} // namespace textkin
