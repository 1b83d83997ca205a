#include "embed/vector_file.h"

#include "base/parallel.h"
#include "base/parse_number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace textkin::embed {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20; // bytes that one thread takes at a time
constexpr std::size_t kRowsBetweenPolls = 1024;      // binary rows between two looks at the stop

bool is_gap(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* skip_gap(const char* p, const char* end) {
    while (p != end && is_gap(*p)) ++p;
    return p;
}

const char* skip_field(const char* p, const char* end) {
    while (p != end && !is_gap(*p)) ++p;
    return p;
}

constexpr double kTens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Reads up to 8 digits at once, without a branch for each: the lengths of numbers are what a
// processor cannot guess. Returns how many there are; at least 8 bytes must be readable.
unsigned eight_digits(const char* p, std::uint64_t& value) {
    std::uint64_t x = 0;
    std::memcpy(&x, p, sizeof x);
    x ^= 0x3030303030303030U; // digits turn into 0..9, everything else is larger
    const std::uint64_t others = ((x + 0x7676767676767676U) | x) & 0x8080808080808080U;
    const auto count = static_cast<unsigned>(std::countr_zero(others)) / 8; // 8 if there are none
    if (count == 0) return 0;
    x <<= 64 - 8 * count;  // zeros in front
    x = 10 * x + (x >> 8); // two digits, then four, then eight
    value = (((x & 0x000000ff000000ffU) * 0x000f424000000064U) +
             (((x >> 16) & 0x000000ff000000ffU) * 0x0000271000000001U)) >>
            32;
    return count;
}

// Plain decimals, as in most vector files, faster than parse_number. Digits below 2^53 and a power
// of ten up to 10^22 are exact doubles, so their quotient is rounded once (Clinger 1990). Rounding
// it again to float gives the nearest float unless the quotient is next to the midpoint of two
// floats, to which it may have been rounded. Returns nullptr for such quotients and for all other
// formats.
const char* plain_float(const char* p, const char* end, float& number) {
    static_assert(std::endian::native == std::endian::little);
    const bool negative = p != end && *p == '-';
    p += negative ? 1 : 0;
    const char* first = p;
    std::uint64_t digits = 0;
    for (; p != end && is_digit(*p); ++p) digits = 10 * digits + static_cast<unsigned>(*p - '0');
    std::ptrdiff_t length = p - first;
    std::ptrdiff_t places = 0;
    if (p != end && *p == '.') {
        const char* point = p++;
        if (end - p >= 8) {
            std::uint64_t some = 0;
            const unsigned count = eight_digits(p, some);
            digits = digits * static_cast<std::uint64_t>(kTens[count]) + some;
            p += count;
        }
        for (; p != end && is_digit(*p); ++p)
            digits = 10 * digits + static_cast<unsigned>(*p - '0');
        places = p - point - 1;
        length += places;
    }
    // 19 digits fit into 64 bits, so `digits` did not wrap round
    if (length == 0 || length > 19 || digits >= (std::uint64_t{1} << 53)) return nullptr;
    if (p != end && (*p == 'e' || *p == 'E')) return nullptr;
    const double value = static_cast<double>(digits) / kTens[places];
    const auto bits = std::bit_cast<std::uint64_t>(value);
    constexpr std::uint64_t kMiddle = std::uint64_t{1} << 28; // of the 29 bits that a float drops
    const bool beside_middle = (bits & (2 * kMiddle - 1)) - (kMiddle - 1) <= 2;
    if (beside_middle || (digits != 0 && value < std::numeric_limits<float>::min())) return nullptr;
    number = static_cast<float>(negative ? -value : value);
    return p;
}

// The numbers of one row: nothing wrong, or what is.
bool sound(const float* row, std::size_t dimension, Fault& fault) {
    // Bits instead of isfinite and comparisons: one pass that the compiler can vectorize.
    std::uint32_t any = 0;
    bool finite = true;
    for (std::size_t k = 0; k < dimension; ++k) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, row + k, sizeof bits);
        bits &= 0x7fffffffU;
        any |= bits;
        finite &= bits < 0x7f800000U;
    }
    if (finite && any != 0) return true;
    fault = finite ? Fault::zero : Fault::not_finite;
    return false;
}

class LineReader {
  public:
    LineReader(std::size_t dimension, const WordSet* wanted, VectorRows& out)
        : dimension_(dimension), wanted_(wanted), out_(out) {}

    void read(std::string_view line, std::int64_t number) {
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        const char* begin = line.data();
        const char* end = begin + line.size();
        while (end != begin && is_gap(end[-1])) --end;
        if (begin == end) return;
        ++out_.n_entries;
        const char* word_end = skip_field(begin, end);
        if (wanted_ && word_end != begin && !wanted_->may_start_with({begin, word_end})) return;

        // Nearly every line is a word without spaces and d numbers, read from the left.
        const std::size_t start = out_.numbers.size();
        out_.numbers.resize(start + dimension_);
        Fault fault{};
        bool good = begin != word_end && numbers(word_end, end, start);
        if (!good) good = from_the_right(begin, end, start, word_end, fault);
        if (good && wanted_ && !wanted_->contains({begin, word_end})) {
            out_.numbers.resize(start);
            return;
        }
        good = good && sound(out_.numbers.data() + start, dimension_, fault);
        if (!good) {
            out_.numbers.resize(start);
            out_.count(fault, number);
            return;
        }
        begin = skip_gap(begin, word_end);
        out_.words.append(begin, word_end);
        out_.ends.push_back(static_cast<std::int64_t>(out_.words.size()));
        out_.lines.push_back(number);
    }

  private:
    // Exactly d numbers from `p` to the end of the line, each after a gap.
    bool numbers(const char* p, const char* end, std::size_t start) {
        float* row = out_.numbers.data() + start;
        for (std::size_t k = 0; k < dimension_; ++k) {
            const char* field = skip_gap(p, end);
            if (field == p || field == end) return false;
            p = parse_float(field, end, row[k]);
            if (p == nullptr || (p != end && !is_gap(*p))) return false;
        }
        return p == end;
    }

    // The last d fields are the numbers, whatever is left of them the word.
    bool from_the_right(const char* begin, const char* end, std::size_t start,
                        const char*& word_end, Fault& fault) {
        const char* p = end;
        for (std::size_t k = 0; k < dimension_; ++k) {
            while (p != begin && is_gap(p[-1])) --p;
            if (p == begin) {
                fault = Fault::fields;
                return false;
            }
            while (p != begin && !is_gap(p[-1])) --p;
        }
        const char* first = p;
        while (p != begin && is_gap(p[-1])) --p;
        if (p == begin) { // no word: left empty, or a line of too few fields
            fault = first == begin ? Fault::fields : Fault::empty;
            return false;
        }
        if (!numbers(p, end, start)) {
            fault = Fault::number;
            return false;
        }
        if (surplus_number(skip_gap(begin, p), p, end)) {
            fault = Fault::fields;
            return false;
        }
        word_end = p;
        return true;
    }

    // A word with spaces whose last field is a number is rather a line with too many of them. Only
    // a whole number before decimal ones, as in "windows 10", belongs to the word.
    static bool surplus_number(const char* begin, const char* word_end, const char* end) {
        const char* field = word_end;
        while (field != begin && !is_gap(field[-1])) --field;
        if (field == begin || !(is_digit(word_end[-1]) || word_end[-1] == '.')) return false;
        float ignored = 0;
        return parse_float(field, word_end, ignored) == word_end &&
               (has_decimal(field, word_end) || !has_decimal(word_end, end));
    }

    static bool has_decimal(const char* p, const char* end) {
        return std::any_of(p, end, [](char c) { return c == '.' || c == 'e' || c == 'E'; });
    }

    std::size_t dimension_;
    const WordSet* wanted_;
    VectorRows& out_;
};

VectorRows parse_piece(std::string_view piece, std::size_t dimension, const WordSet* wanted) {
    VectorRows out;
    out.numbers.reserve(piece.size() / 8); // about what a number takes; more come by growing
    LineReader reader(dimension, wanted, out);
    while (!piece.empty()) {
        const std::size_t length = std::min(piece.find('\n'), piece.size());
        reader.read(piece.substr(0, length), out.n_lines++);
        piece.remove_prefix(std::min(length + 1, piece.size()));
    }
    return out;
}

// Pieces of whole lines of about the same size.
std::vector<std::string_view> cut(std::string_view lines) {
    std::vector<std::string_view> pieces;
    while (!lines.empty()) {
        std::size_t size = lines.size();
        if (size > kPiece) size = std::min(lines.find('\n', kPiece - 1), size - 1) + 1;
        pieces.push_back(lines.substr(0, size));
        lines.remove_prefix(size);
    }
    return pieces;
}

} // namespace

void VectorRows::count(Fault fault, std::int64_t line) {
    FaultCount& found = faults[static_cast<std::size_t>(fault)];
    if (found.count++ == 0) found.first = line;
}

void VectorRows::append_all_but_numbers(const VectorRows& other) {
    const auto offset = static_cast<std::int64_t>(words.size());
    words += other.words;
    for (const std::int64_t end : other.ends) ends.push_back(offset + end);
    for (const std::int64_t line : other.lines) lines.push_back(n_lines + line);
    for (std::size_t k = 0; k < kFaults; ++k) {
        if (faults[k].count == 0 && other.faults[k].count > 0)
            faults[k].first = n_lines + other.faults[k].first;
        faults[k].count += other.faults[k].count;
    }
    n_lines += other.n_lines;
    n_entries += other.n_entries;
    consumed += other.consumed;
}

void WordSet::insert(std::string_view word) {
    const auto gap = std::find_if(word.begin(), word.end(), is_gap);
    if (gap != word.end()) first_fields_.emplace(word.begin(), gap);
    words_.emplace(word);
}

const char* parse_float(const char* begin, const char* end, float& number) {
    if (const char* stop = plain_float(begin, end, number)) return stop;
    const char* p = begin;
    if (p != end && *p == '+') { // parse_number takes no plus
        ++p;
        if (p == end || !(is_digit(*p) || *p == '.')) return nullptr;
    }
    return base::parse_number(p, end, number);
}

VectorRows parse_text(std::string_view block, std::size_t dimension, bool final,
                      const WordSet* wanted, unsigned threads, base::Stop& stop) {
    if (!final) block = block.substr(0, block.rfind('\n') + 1); // npos + 1 is 0: no line is whole
    const std::vector<std::string_view> pieces = cut(block);
    std::vector<VectorRows> parts(pieces.size());
    base::parallel_for(pieces.size(), threads, stop, [&](std::size_t k) {
        parts[k] = parse_piece(pieces[k], dimension, wanted);
    });
    VectorRows out;
    std::vector<std::size_t> starts;
    std::size_t numbers = 0;
    for (const VectorRows& part : parts) {
        starts.push_back(numbers);
        numbers += part.numbers.size();
        out.append_all_but_numbers(part);
    }
    out.numbers.resize(numbers);
    base::parallel_for(parts.size(), threads, stop, [&](std::size_t k) {
        std::copy(parts[k].numbers.begin(), parts[k].numbers.end(),
                  out.numbers.begin() + static_cast<std::ptrdiff_t>(starts[k]));
        parts[k].numbers = {};
    });
    out.consumed = block.size();
    return out;
}

VectorRows parse_binary(std::string_view block, std::size_t dimension, std::int64_t most,
                        const WordSet* wanted, base::Stop& stop) {
    VectorRows out;
    if (!wanted) out.numbers.reserve(block.size() / sizeof(float));
    std::vector<float> row(dimension);
    const std::size_t bytes = dimension * sizeof(float);
    std::size_t position = 0;
    while (out.n_lines < most) {
        if (static_cast<std::size_t>(out.n_lines) % kRowsBetweenPolls == 0)
            stop.throw_if_requested();
        std::size_t start = position;
        while (start < block.size() && block[start] == '\n') ++start; // some writers end rows so
        const std::size_t space = block.find(' ', start);
        if (space == std::string_view::npos || block.size() - space - 1 < bytes) break;
        const std::string_view word = block.substr(start, space - start);
        position = space + 1 + bytes;
        const std::int64_t line = out.n_lines++;
        if (wanted && !wanted->contains(word)) continue;
        std::memcpy(row.data(), block.data() + space + 1, bytes);
        Fault fault = Fault::empty;
        if (word.empty() || !sound(row.data(), dimension, fault)) {
            out.count(fault, line);
            continue;
        }
        out.numbers.insert(out.numbers.end(), row.begin(), row.end());
        out.words += word;
        out.ends.push_back(static_cast<std::int64_t>(out.words.size()));
        out.lines.push_back(line);
    }
    out.n_entries = out.n_lines;
    out.consumed = position;
    return out;
}

} // namespace textkin::embed
