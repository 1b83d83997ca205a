// Lower bounds of the costs from words of queries to all words of a corpus, in 16 bits.
//
// A row holds, for one word of a query, its cost to every word that a live document has, as a whole
// number of small units, rounded down. Rows come from dot products in float, with squares that are
// smaller than the true ones by more than all rounding together can amount to; so an entry never
// exceeds the cost in exact arithmetic, and a bound made of entries never exceeds the distance.
#pragma once

#include "textkin/batch.h"
#include "textkin/buffer.h"
#include "textkin/corpus.h"

#include <unordered_map>

namespace textkin {

class LowerCosts {
  public:
    LowerCosts(const Space& space, const Corpus& corpus);

    // The cost that an entry of 1 stands for.
    [[nodiscard]] double unit() const { return unit_; }
    // No word of the query has a higher cost to any word of the corpus.
    [[nodiscard]] double reach(const VectorTable& table, const Document& query) const;
    // Entries of a row, a multiple of kPanelWords; those beyond the last word are never nearer than
    // real ones, but mean nothing.
    [[nodiscard]] std::size_t length() const { return length_; }
    // Rows that fit so many bytes.
    [[nodiscard]] std::size_t rows_in(std::size_t bytes) const {
        return bytes / (length_ * sizeof(std::int16_t));
    }

    // Has rows for all `words` (with repetitions; `table` also knows words beyond the vectors), at
    // most `most` different ones. Rows of earlier calls are kept while there is
    // room; words that are wanted most stay longest.
    void prepare(const VectorTable& table, std::span<const std::int32_t> words, std::size_t most,
                 unsigned threads, Stop& stop);
    // Of a word of the last call of prepare().
    [[nodiscard]] const std::int16_t* row(std::int32_t word) const {
        return slots_[slot_of_.at(word)].values.data();
    }

    // Computes the rows of any words to where `out` points.
    void compute(const VectorTable& table, std::span<const std::int32_t> words,
                 std::span<std::int16_t* const> out, unsigned threads, Stop& stop) const;

  private:
    static constexpr std::int32_t kNoWord = -1;
    struct Slot {
        Buffer<std::int16_t> values;
        std::int32_t word = kNoWord;
        std::uint64_t used = 0;   // the last call that wanted it
        std::uint64_t wanted = 0; // how often, lately
    };

    const Corpus& corpus_;
    Cost cost_;
    std::size_t dimension_, length_;
    double shrink_ = 1;  // what squares are multiplied by
    double longest_ = 0; // of the corpus's words
    double power_ = 1;   // of two: what vectors are multiplied by
    double far_ = 0;     // length, so scaled, of points that are too far from all words
    float scale_ = 1;    // entries a unit of cost of such vectors
    double unit_ = 1;
    Buffer<float> squares_; // of the corpus's words

    std::vector<Slot> slots_;
    std::unordered_map<std::int32_t, std::size_t> slot_of_;
    std::uint64_t calls_ = 0, wanted_ = 0;

    void choose_scale(std::vector<double>& norms);
    [[nodiscard]] double norm(const float* vector) const;
    [[nodiscard]] std::vector<std::size_t> free_slots(std::size_t count, std::size_t most);
};

} // namespace textkin
