// What a word is predicted by: itself against drawn words, or a path through a Huffman tree.
#pragma once

#include "base/random.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textkin::embed {

// Draws items in proportion to weights, each in constant time (Walker 1977, Vose 1991).
class AliasTable {
  public:
    AliasTable() = default;
    // Weights are finite, at least 0, and not all 0. An item of weight 0 is never drawn; the
    // probabilities of others are met to 2^-32.
    explicit AliasTable(std::span<const double> weights);

    [[nodiscard]] std::size_t size() const { return slots_.size(); }
    [[nodiscard]] std::int32_t draw(std::uint64_t& random) const {
        const std::uint64_t drawn = base::next_random(random);
        const auto at = static_cast<std::size_t>(((drawn >> 32) * slots_.size()) >> 32);
        const Slot slot = slots_[at];
        // All ones where the item is the other: a branch would be mistaken half of the time.
        const std::uint32_t other =
            0U - static_cast<std::uint32_t>(static_cast<std::uint32_t>(drawn) >= slot.own);
        return static_cast<std::int32_t>((static_cast<std::uint32_t>(at) & ~other) |
                                         (static_cast<std::uint32_t>(slot.other) & other));
    }

  private:
    struct Slot {
        std::uint32_t own; // in 2^-32 parts of the slot
        std::int32_t other;
    };
    std::vector<Slot> slots_;
};

// The inner nodes from the root to each word, and whether the way goes right there.
struct Paths {
    std::vector<std::int64_t> starts; // of each word, and the end
    std::vector<std::int32_t> nodes;
    std::vector<std::uint8_t> right;
};

// Huffman's tree over counts of at least 0 whose sum is at most kMostTokens. Of the two nodes that
// become one, the smaller is the left; of equal ones words come before inner nodes, and both in
// their order. Inner nodes are numbered as they are made: the root is the last.
[[nodiscard]] Paths huffman_paths(std::span<const std::int64_t> counts);
constexpr std::int64_t kMostTokens = std::int64_t{1} << 60;

// With `negative` above 0 each word has an output, and learns against so many words drawn in
// proportion to count^0.75; with 0 each inner node of Huffman's tree has one.
class OutputLayer {
  public:
    // Counts are as huffman_paths takes them; where words are drawn, not all are 0.
    OutputLayer(std::span<const std::int64_t> counts, std::size_t negative);

    [[nodiscard]] std::size_t n_words() const { return n_words_; }
    [[nodiscard]] std::size_t n_outputs() const;
    [[nodiscard]] std::size_t negative() const { return negative_; }
    [[nodiscard]] std::size_t most_outputs() const { return most_outputs_; } // of one word
    [[nodiscard]] const AliasTable& noise() const { return noise_; }
    [[nodiscard]] const Paths& paths() const { return paths_; }

    // Writes the outputs of a word and their labels, 1 or 0, and tells how many; a drawn word that
    // is the word itself is left out.
    std::size_t outputs_of(std::int32_t word, std::uint64_t& random, std::int32_t* outputs,
                           float* labels) const;

  private:
    std::size_t n_words_;
    std::size_t negative_;
    std::size_t most_outputs_;
    AliasTable noise_;
    Paths paths_;
};

} // namespace textkin::embed
