#include "store/packed_words.h"

#include "base/uninitialized_vector.h"
#include "text/characters.h"
#include "text/word_hash.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <string>

namespace textkin::store {
namespace {

constexpr std::size_t kPrefetchDistance =
    8; // slots are fetched into the cache so many words before
constexpr std::size_t kWordsBetweenPolls = 256;
constexpr std::size_t kMostWords = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

} // namespace

std::optional<std::string_view> WordArrays::operator[](std::size_t number) const {
    // Read once: a mapped file may change under us.
    const std::int64_t start = offsets[number];
    const std::int64_t end = offsets[number + 1];
    if (start < 0 || end < start || static_cast<std::size_t>(end) > bytes.size()) return {};
    return bytes.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start));
}

void WordArrays::check_ends() const {
    if (offsets.empty() || offsets.front() != 0 ||
        offsets.back() != static_cast<std::int64_t>(bytes.size()))
        refuse("offsets must begin with 0 and end with the number of bytes, " +
               std::to_string(bytes.size()) + "; got " +
               (offsets.empty()
                    ? "none"
                    : std::to_string(offsets.front()) + " and " + std::to_string(offsets.back())) +
               ".");
    if (size() > kMostWords)
        refuse("There can be 2^31 - 1 words at most; got " + std::to_string(size()) + ".");
}

std::string_view WordArrays::sound(std::size_t number) const {
    const auto damaged = [number](const char* why) {
        refuse("Word " + std::to_string(number) + " is damaged: " + why + ".");
    };
    const auto word = (*this)[number];
    if (!word) damaged("its offsets decrease or lie outside of the bytes");
    if (!text::is_utf8(*word)) damaged("it is not UTF-8");
    return *word;
}

PackedWords::PackedWords(WordArrays words, std::span<const std::int32_t> slots)
    : words_(words), slots_(slots) {
    words_.check_ends();
    if (!std::has_single_bit(slots_.size()) || slots_.size() / 2 < words_.size())
        refuse("slots must be a power of two, at least twice as many as the " +
               std::to_string(words_.size()) + " words; got " + std::to_string(slots_.size()) +
               ".");
}

std::int32_t PackedWords::find(std::string_view word) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = text::hash_of(word, kPackedSeed) & mask;
    // A table from an untrusted file may have no free slot.
    for (std::size_t looked = 0; looked <= mask; ++looked, at = (at + 1) & mask) {
        const std::int32_t number = slots_[at];
        if (number < 0) return -1;
        if (static_cast<std::size_t>(number) < size() &&
            words_[static_cast<std::size_t>(number)] == word)
            return number;
    }
    return -1;
}

std::vector<std::int32_t> PackedWords::slots_of(WordArrays words, base::Stop& stop) {
    words.check_ends();
    // The high half of the hash, stored with the number, distinguishes most words without reading
    // them.
    struct Slot {
        std::uint32_t tag;
        std::int32_t number;
    };
    base::UninitializedVector<Slot> slots(std::bit_ceil(std::max<std::size_t>(1, 2 * words.size())),
                                          Slot{0, -1});
    const std::size_t mask = slots.size() - 1;
    std::uint64_t hashes[kPrefetchDistance];
    const auto prepare = [&](std::size_t number) {
        if (number >= words.size()) return;
        const std::uint64_t hash = text::hash_of(words.sound(number), kPackedSeed);
        hashes[number % kPrefetchDistance] = hash;
        __builtin_prefetch(slots.data() + (hash & mask));
    };
    for (std::size_t number = 0; number < kPrefetchDistance; ++number) prepare(number);
    for (std::size_t number = 0; number < words.size(); ++number) {
        if (number % kWordsBetweenPolls == 0) stop.throw_if_requested();
        const std::uint64_t hash = hashes[number % kPrefetchDistance];
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        prepare(number + kPrefetchDistance);
        std::size_t at = hash & mask;
        for (; slots[at].number >= 0; at = (at + 1) & mask)
            if (slots[at].tag == tag &&
                words[static_cast<std::size_t>(slots[at].number)] == words[number])
                refuse("Words must be distinct; word " + std::to_string(number) +
                       " is the same as word " + std::to_string(slots[at].number) + ".");
        slots[at] = {tag, static_cast<std::int32_t>(number)};
    }
    std::vector<std::int32_t> numbers(slots.size());
    std::transform(slots.begin(), slots.end(), numbers.begin(),
                   [](const Slot& slot) { return slot.number; });
    return numbers;
}

} // namespace textkin::store
