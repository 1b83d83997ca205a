// Lower bounds of the costs from words of queries to all words of a corpus, in 16 bits.
//
// A row holds, for one word of a query, its cost to every word that a live document has, as a whole
// number of small units, rounded down. Rows come from dot products in float, with squares that are
// smaller than the true ones by more than all rounding together can amount to; so an entry never
// exceeds the cost in exact arithmetic, and a bound made of entries never exceeds the distance.
#pragma once

#include "base/buffer.h"
#include "search/batch.h"
#include "search/corpus.h"

#include <memory>
#include <unordered_map>
#include <utility>

namespace textkin::search {

// The factor that keeps lower costs below the true costs, for vectors of `dimension` numbers of
// which one side has moved by at most `moved` of its length. With it in place of 1, the squares of
// two vectors less twice their product, all computed in float, never exceed the square of their
// distance.
[[nodiscard]] double shrinking_factor(std::size_t dimension, double moved);

// What the costs to the words of a corpus are computed from. Nothing in it changes.
class WordCosts {
  public:
    // A copy of the vectors in 16 bits is made if it takes at most `bytes`: half of what would have
    // to be read for every query otherwise, in the order in which it is read.
    // Throws Stopped if `stop` asks for it.
    WordCosts(const Space& space, const Corpus& corpus, std::size_t bytes,
              base::Stop* stop = nullptr);

    // The cost that an entry of 1 stands for.
    [[nodiscard]] double unit() const { return unit_; }
    // No word of the query has a higher cost to any word of the corpus.
    [[nodiscard]] double reach(const transport::VectorTable& table,
                               const transport::Document& query) const;
    // Entries of a row, a multiple of kPanelWords; those beyond the last word are never nearer than
    // real ones, but mean nothing.
    [[nodiscard]] std::size_t length() const { return length_; }
    [[nodiscard]] std::size_t bytes_of_copy() const {
        return packed_.size() * sizeof(std::int16_t);
    }
    // Return true if a new object with `bytes` for the copy would gain or lose it.
    [[nodiscard]] bool differs_with(std::size_t bytes) const {
        return (packed_.size() > 0) != fits(bytes);
    }

    // Computes the rows of `words` (`table` also knows words beyond the vectors) to where `out`
    // points.
    void compute(const transport::VectorTable& table, std::span<const std::int32_t> words,
                 std::span<std::int16_t* const> out, unsigned threads, base::Stop& stop) const;

  private:
    const Corpus& corpus_;
    transport::Cost cost_;
    std::size_t dimension_, length_;
    double shrink_ = 1;  // what squares are multiplied by
    double longest_ = 0; // of the corpus's words
    double power_ = 1;   // of two: what vectors are multiplied by
    double far_ = 0;     // length, so scaled, of points that are too far from all words
    float scale_ = 1;    // entries a unit of cost of such vectors
    double unit_ = 1;
    base::Buffer<float> squares_;       // of the corpus's words
    base::Buffer<std::int16_t> packed_; // panels of their vectors, if there is room
    base::Buffer<float> steps_;         // what 1 means there, scaled

    void choose_scale(std::vector<double> norms);
    [[nodiscard]] double norm(const float* vector) const;
    [[nodiscard]] bool fits(std::size_t bytes) const {
        return length_ * dimension_ * sizeof(std::int16_t) <= bytes;
    }
    [[nodiscard]] double pack(const transport::VectorTable& table, const std::vector<double>& norms,
                              base::Stop* stop);
    [[nodiscard]] const float* word(const transport::VectorTable& table, std::size_t place) const;
    void panel(const transport::VectorTable& table, std::size_t number, float* out) const;
};

// Rows of costs that are kept for the queries that follow.
class LowerCosts {
  public:
    explicit LowerCosts(std::shared_ptr<const WordCosts> words) : words_(std::move(words)) {}

    [[nodiscard]] const WordCosts& words() const { return *words_; }
    // Rows that fit so many bytes.
    [[nodiscard]] std::size_t rows_in(std::size_t bytes) const {
        return bytes / (words_->length() * sizeof(std::int16_t));
    }

    // Has rows for all `words` (with repetitions), at most `most` different ones. Rows of earlier
    // calls are kept while there is room; words that are wanted most stay longest.
    void prepare(const transport::VectorTable& table, std::span<const std::int32_t> words,
                 std::size_t most, unsigned threads, base::Stop& stop);
    // Of a word of the last call of prepare().
    [[nodiscard]] const std::int16_t* row(std::int32_t word) const {
        return slots_[slot_of_.at(word)].values.data();
    }

  private:
    static constexpr std::int32_t kNoWord = -1;
    struct Slot {
        base::Buffer<std::int16_t> values;
        std::int32_t word = kNoWord;
        std::uint64_t used = 0;   // the last call that wanted it
        std::uint64_t wanted = 0; // how often, lately
    };

    std::shared_ptr<const WordCosts> words_;
    std::vector<Slot> slots_;
    std::unordered_map<std::int32_t, std::size_t> slot_of_;
    std::uint64_t calls_ = 0, wanted_ = 0;

    [[nodiscard]] std::vector<std::size_t> free_slots(std::size_t count, std::size_t most);
};

} // namespace textkin::search
