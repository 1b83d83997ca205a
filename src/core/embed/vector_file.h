// Word vectors as files hold them: lines of text (GloVe, word2vec, fastText), or word2vec's binary
// rows. A caller reads the file in blocks and hands each over; nothing is allocated beyond a small
// multiple of the bytes that came.
#pragma once

#include "base/stop.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace textkin::embed {

// Leaves new numbers as they are: each is written before it is read, and zeros would cost a pass.
template <class Number> struct Unfilled : std::allocator<Number> {
    template <class Other> struct rebind {
        using other = Unfilled<Other>;
    };
    template <class Other> void construct(Other*) noexcept {}
    template <class Other, class... Values> void construct(Other* at, Values&&... values) {
        ::new (static_cast<void*>(at)) Other(std::forward<Values>(values)...);
    }
};
using Numbers = std::vector<float, Unfilled<float>>;

// What may be wrong with a line or a row; each has a policy of the caller's.
enum class Fault : std::uint8_t { fields, number, not_finite, zero, empty };
inline constexpr std::size_t kFaults = 5;

struct FaultCount {
    std::int64_t count = 0;
    std::int64_t first = -1; // line or row within the block
};

// The sound rows of a block, in their order, and what was wrong with the others.
struct VectorRows {
    Numbers numbers;                 // row after row
    std::string words;               // one after another
    std::vector<std::int64_t> ends;  // of each word in `words`
    std::vector<std::int64_t> lines; // of each word within the block
    std::array<FaultCount, kFaults> faults{};
    std::int64_t n_lines = 0;
    std::int64_t n_entries = 0; // lines that hold anything
    std::size_t consumed = 0;   // bytes of the block that were whole lines or rows

    void append_all_but_numbers(const VectorRows& other);
    void count(Fault fault, std::int64_t line);
};

// The words to keep, of a file that holds many more.
class WordSet {
  public:
    void insert(std::string_view word);
    [[nodiscard]] bool contains(std::string_view word) const { return words_.contains(word); }
    // False only if no kept word, spaces included, starts with this field.
    [[nodiscard]] bool may_start_with(std::string_view field) const {
        return words_.contains(field) || first_fields_.contains(field);
    }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    using Set = std::unordered_set<std::string, Hash, std::equal_to<>>;
    Set words_;
    Set first_fields_; // of words with spaces inside
};

// Reads one number, correctly rounded to float: what is too large turns infinite, what is too small
// zero. Returns where it ends, or nullptr if no number starts here.
const char* parse_float(const char* begin, const char* end, float& number);

// Read whole lines "word x1 ... xd" with fields separated by spaces or tabs. The word is everything
// before the last d fields, so it may contain spaces. The last line counts as whole if `final`.
// Empty lines are skipped. With `wanted`, lines of other words are skipped without parsing their
// numbers.
VectorRows parse_text(std::string_view block, std::size_t dimension, bool final,
                      const WordSet* wanted, unsigned threads, base::Stop& stop);

// Reads word2vec's binary rows: the word, a space, d little-endian floats. Stops before a row that
// the block does not hold whole, and after `most` rows.
VectorRows parse_binary(std::string_view block, std::size_t dimension, std::int64_t most,
                        const WordSet* wanted, base::Stop& stop);

} // namespace textkin::embed
