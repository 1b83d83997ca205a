// Documents as numbered words in their order, and what is made of them.
#pragma once

#include "base/stop.h"
#include "base/uninitialized_vector.h"
#include "text/word_table.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace textkin::text {

// Document d has the words ids[offsets[d]] to ids[offsets[d + 1] - 1].
struct Tokens {
    base::UninitializedVector<std::int32_t> ids;
    std::vector<std::int64_t> offsets{0};

    [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
    [[nodiscard]] std::span<const std::int32_t> operator[](std::size_t document) const {
        return {ids.data() + offsets[document],
                static_cast<std::size_t>(offsets[document + 1] - offsets[document])};
    }
    void end_document() { offsets.push_back(static_cast<std::int64_t>(ids.size())); }
};

// The words of texts (UTF-8), added to `table`. Numbers follow the order of the texts, on any
// number of threads.
[[nodiscard]] Tokens tokenize(std::span<const std::string_view> texts, bool lowercase,
                              unsigned threads, base::Stop& stop, WordTable& table);

// The same documents with word w replaced by number_of[w], or left out where that is negative.
[[nodiscard]] Tokens replaced(const Tokens& tokens, std::span<const std::int32_t> number_of);

// Runs of `shortest` to `longest` words, joined by spaces and added to `grams`: of each document
// the shortest first, as scikit-learn orders them.
[[nodiscard]] Tokens joined_runs(const Tokens& tokens, const WordTable& words, std::size_t shortest,
                                 std::size_t longest, unsigned threads, base::Stop& stop,
                                 WordTable& grams);

// Sequences of words that stand for one word, such as new york for New_York.
class Phrases {
  public:
    // Of two names for the same sequence the first counts. Sequences of fewer than two words are
    // left out.
    void add(std::span<const std::string_view> sequence, std::string_view name);
    [[nodiscard]] std::size_t size() const { return names_.size(); }
    [[nodiscard]] bool has_name(std::string_view word) const { return names_.find(word) >= 0; }

    // The documents with each sequence replaced by its name, which is added to the words: from left
    // to right, the longest first.
    [[nodiscard]] Tokens join(const Tokens& tokens, WordTable& words) const;

  private:
    static constexpr std::int32_t kNone = -1;
    [[nodiscard]] std::int32_t next(std::int32_t node, std::int32_t piece) const;

    WordTable pieces_;
    WordTable names_;
    std::unordered_map<std::uint64_t, std::int32_t> edges_; // (node, piece) to node
    std::vector<std::int32_t> name_of_{kNone};              // of the nodes; node 0 is the root
};

} // namespace textkin::text
