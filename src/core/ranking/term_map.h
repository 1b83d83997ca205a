// Terms of words: the forms of a word share a term, and stop words have none.
#pragma once

#include "base/stop.h"
#include "ranking/count_matrix.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textkin::ranking {

// Map from words to terms. Functions that take a pointer to a map accept null, which makes each
// word its own term.
class TermMap {
  public:
    // `term_of` has the term of each word, or -1. Throws std::invalid_argument for terms out of
    // range.
    TermMap(std::span<const std::int32_t> term_of, std::size_t n_terms);

    [[nodiscard]] std::size_t n_words() const { return term_of_.size(); }
    [[nodiscard]] std::size_t n_terms() const { return starts_.size() - 1; }
    // The term of a word, or -1 for a stop word and for a word out of range.
    [[nodiscard]] std::int32_t term_of(std::int32_t word) const {
        const auto place = static_cast<std::size_t>(static_cast<std::uint32_t>(word));
        return place < term_of_.size() ? term_of_[place] : -1;
    }
    // The words of a term, ascending.
    [[nodiscard]] std::span<const std::int32_t> words_of(std::int32_t term) const {
        const auto place = static_cast<std::size_t>(term);
        return std::span(words_).subspan(starts_[place], starts_[place + 1] - starts_[place]);
    }

  private:
    std::vector<std::int32_t> term_of_;
    std::vector<std::int32_t> words_; // of each term
    std::vector<std::size_t> starts_;
};

struct TermCount {
    std::int32_t term;
    double count;
};

// A count of a term is at most this number, because postings hold no larger one.
inline constexpr double kLargestCount = 4294967295.0;

// Puts the terms of a row with their counts into `found`, in ascending order.
void collect_terms(const TermMap* map, std::span<const std::int32_t> words,
                   std::span<const float> counts, std::vector<TermCount>& found);

struct PostingList {
    std::span<const std::int32_t> rows; // ascending
    std::span<const std::uint32_t> counts;
};

// The postings of the term at a place in the terms of a part.
[[nodiscard]] PostingList postings_at(const CountMatrix& part, std::size_t place);

// Merges the postings of several words; the result is valid until the next call.
class PostingsMerger {
  public:
    [[nodiscard]] PostingList merge(std::span<PostingList> lists);

  private:
    struct Buffer {
        std::vector<std::int32_t> rows;
        std::vector<std::uint32_t> counts;
    };
    std::array<Buffer, 2> buffers_;
};

// Lists of postings of each term, in the order of parts.
class TermLists {
  public:
    struct List {
        std::uint32_t part;
        std::uint32_t place; // in the terms of the part
    };

    // The words of the parts must be below the number of words of the map, or of terms without one.
    TermLists(std::span<const CountMatrix> parts, const TermMap* map, std::size_t n_terms,
              base::Stop& stop);

    [[nodiscard]] std::size_t n_terms() const { return starts_.size() - 1; }
    [[nodiscard]] std::span<const List> of(std::size_t term) const {
        return std::span(lists_).subspan(starts_[term], starts_[term + 1] - starts_[term]);
    }

  private:
    std::vector<List> lists_;
    std::vector<std::size_t> starts_;
};

// Number of live documents that contain each term, and number of their tokens that have a term.
struct TermStatistics {
    std::vector<std::int64_t> frequencies;
    std::int64_t tokens = 0;
};

// Throws std::invalid_argument for parts that cannot be used, and unless `live` has a value for
// each row.
[[nodiscard]] TermStatistics measure_terms(std::vector<CountMatrix> parts, const TermMap& map,
                                           std::span<const std::uint8_t> live, base::Stop& stop);

} // namespace textkin::ranking
