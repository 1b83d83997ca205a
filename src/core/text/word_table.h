// Distinct words and their numbers.
#pragma once

#include "base/stop.h"
#include "base/uninitialized_vector.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace textkin::store {
struct WordArrays;
}

namespace textkin::text {

// Words numbered in the order in which they were first added.
class WordTable {
  public:
    // The number of a word, which is added if it is new.
    std::int32_t add(std::string_view word) { return add(word, key_of(word)); }
    // Adds many words and appends their numbers; quicker than one by one.
    void add(std::span<const std::string_view> words,
             base::UninitializedVector<std::int32_t>& numbers);
    // The number of a word, or -1.
    [[nodiscard]] std::int32_t find(std::string_view word) const;

    [[nodiscard]] std::size_t size() const { return ends_.size(); }
    // A word; valid until the next one is added.
    [[nodiscard]] std::string_view operator[](std::size_t number) const {
        const std::size_t start = number == 0 ? 0 : ends_[number - 1];
        return {bytes_.data() + start, ends_[number] - start};
    }

    // Adds the words of another table, in their order; returns their numbers here.
    std::vector<std::int32_t> merge(const WordTable& other);
    // Adds words that are not in the table yet. Throws std::invalid_argument, and leaves the table
    // as it was, if one is, or comes twice, or is no UTF-8 (lone surrogates are allowed).
    void extend(store::WordArrays words, base::Stop& stop);
    // The bytes and the ends of all words.
    [[nodiscard]] std::string_view bytes() const { return bytes_; }
    [[nodiscard]] std::span<const std::size_t> ends() const { return ends_; }
    // The numbers of all words, in the order of the words' code points.
    [[nodiscard]] std::vector<std::int32_t> sorted(unsigned threads, base::Stop& stop) const;

  private:
    // A word of up to eight bytes is its own key, so that most words are found without looking at
    // their letters again; of a longer one the key is a hash.
    struct Key {
        std::uint64_t value;
        std::uint32_t length;
    };
    struct Slot {
        std::uint64_t value;
        std::uint32_t length;
        std::int32_t number; // -1: free
    };

    [[nodiscard]] static Key key_of(std::string_view word);
    [[nodiscard]] std::size_t first_slot(Key key) const;
    void fetch(Key key) const;
    std::int32_t add(std::string_view word, Key key);
    [[nodiscard]] std::size_t slot_of(std::string_view word, Key key) const;
    void reserve(std::size_t words, std::size_t bytes); // room for more of both
    void make_room(std::size_t words);                  // slots for more
    void fill_slots();
    void forget_from(std::size_t number);

    std::string bytes_;
    std::vector<std::size_t> ends_;
    std::vector<Key> keys_;
    base::UninitializedVector<Slot> slots_; // a power of two of them, at most half in use
};

} // namespace textkin::text
