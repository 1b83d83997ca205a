#include "textkin/words.h"

#include "textkin/parallel.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

// Words are loaded as numbers whose low byte comes first.
static_assert(std::endian::native == std::endian::little);

namespace textkin {
namespace {

constexpr std::size_t kOwnKey = 8; // the longest word that is its own key
constexpr std::size_t kAhead = 8;  // slots are fetched into the cache so many words before

template <class Number> std::uint64_t load(const char* from) {
    Number value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Up to eight bytes as one number, the missing ones zero; with loads of fixed sizes, which are
// quick.
std::uint64_t load(const char* from, std::size_t bytes) {
    if (bytes >= 8) return load<std::uint64_t>(from);
    if (bytes >= 4)
        return load<std::uint32_t>(from) | load<std::uint32_t>(from + bytes - 4) << 8 * (bytes - 4);
    if (bytes == 0) return 0;
    return load<std::uint8_t>(from) | load<std::uint8_t>(from + bytes / 2) << 8 * (bytes / 2) |
           load<std::uint8_t>(from + bytes - 1) << 8 * (bytes - 1);
}

std::uint64_t mix(std::uint64_t value) {
    value ^= value >> 32;
    value *= 0xD6E8FEB86659FD93U;
    value ^= value >> 32;
    value *= 0xD6E8FEB86659FD93U;
    return value ^ value >> 32;
}

// Another one in every process, so that no text can be made to fall into few slots. Numbers do not
// depend on it.
const std::uint64_t kSeed = [] {
    std::random_device device;
    return static_cast<std::uint64_t>(device()) << 32 | device();
}();

// The first eight bytes as a number that sorts as they do.
std::uint64_t leading(std::string_view word) {
    return __builtin_bswap64(load(word.data(), std::min<std::size_t>(word.size(), 8)));
}

} // namespace

WordTable::Key WordTable::key_of(std::string_view word) {
    const auto length = static_cast<std::uint32_t>(word.size());
    if (word.size() <= kOwnKey) return {load(word.data(), word.size()), length};
    std::uint64_t value = kSeed + word.size();
    const char* from = word.data();
    std::size_t left = word.size();
    for (; left > 8; left -= 8, from += 8) value = mix(value ^ load<std::uint64_t>(from));
    return {mix(value ^ load(from, left)), length};
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
    if (slots_.empty()) grow();
    for (std::size_t i = 0; i < kAhead; ++i) prepare(i);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Key key = keys[i % kAhead];
        prepare(i + kAhead);
        numbers.push_back(add(words[i], key));
    }
}

std::int32_t WordTable::add(std::string_view word, Key key) {
    if (2 * (size() + 1) > slots_.size()) grow();
    Slot& slot = slots_[slot_of(word, key)];
    if (slot.number < 0) {
        if (size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw std::length_error("more than 2^31 - 1 distinct words");
        slot = {key.value, key.length, static_cast<std::int32_t>(size())};
        bytes_.append(word);
        ends_.push_back(bytes_.size());
        keys_.push_back(key);
    }
    return slot.number;
}

void WordTable::grow() {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), Slot{0, 0, -1});
    for (std::size_t number = 0; number < size(); ++number) {
        const Key key = keys_[number];
        std::size_t at = first_slot(key);
        while (slots_[at].number >= 0) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = {key.value, key.length, static_cast<std::int32_t>(number)};
    }
}

std::vector<std::int32_t> WordTable::merge(const WordTable& other) {
    std::vector<std::int32_t> numbers(other.size());
    if (slots_.empty()) grow();
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
