// Distinct words in arrays, such as mapped files.
//
// Word w is bytes[offsets[w]] to bytes[offsets[w + 1] - 1], in UTF-8. `slots` is a hash table with
// open addressing: a power of two of slots, at most half in use, each with the number of a word or
// -1. The search for a word starts at the slot hash_of(word, kPackedSeed) modulo the number of
// slots, and continues to the first free slot. Both functions of word_hash.h and the seed are part
// of the file format and must not change. Because they are public, an attacker can choose words
// that collide: lookups are then slow, but still correct. `WordTable`, for texts, has a random
// seed.
#pragma once

#include "base/stop.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace textkin::store {

inline constexpr std::uint64_t kPackedSeed = 0x9E3779B97F4A7C15U;

// Words as they lie in arrays.
struct WordArrays {
    std::string_view bytes;
    std::span<const std::int64_t> offsets; // one more than words

    [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
    // A word; none where the offsets point outside of the bytes.
    [[nodiscard]] std::optional<std::string_view> operator[](std::size_t number) const;

    // Both throw std::invalid_argument: where the number of offsets, or the first or the last of
    // them, cannot be right; and where there is no sound word.
    void check_ends() const;
    [[nodiscard]] std::string_view sound(std::size_t number) const;
};

// Finds words in arrays that may hold anything: wrong ones give wrong answers and errors, but are
// never read outside of their ends.
class PackedWords {
  public:
    // Throws std::invalid_argument for arrays whose sizes cannot be right.
    PackedWords(WordArrays words, std::span<const std::int32_t> slots);

    [[nodiscard]] std::size_t size() const { return words_.size(); }
    // The number of a word, or -1.
    [[nodiscard]] std::int32_t find(std::string_view word) const;
    // Throws std::invalid_argument where there is no sound word.
    [[nodiscard]] std::string_view operator[](std::size_t number) const {
        return words_.sound(number);
    }

    // The table of these words. Throws std::invalid_argument if they are not sound or not distinct.
    [[nodiscard]] static std::vector<std::int32_t> slots_of(WordArrays words, base::Stop& stop);

  private:
    WordArrays words_;
    std::span<const std::int32_t> slots_;
};

} // namespace textkin::store
