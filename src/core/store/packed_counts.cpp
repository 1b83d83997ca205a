#include "store/packed_counts.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace textkin::store {
namespace {

constexpr std::size_t kRowsBetweenPolls = 256;
constexpr std::size_t kMostBytesOfEntry = 10; // two numbers of 32 bits
constexpr std::uint64_t kMostCount = std::numeric_limits<std::uint32_t>::max();
constexpr float kMostAsFloat = 4294967040.0F; // the largest below 2^32

char* append(char* out, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) *out++ = static_cast<char>(number | 0x80);
    *out++ = static_cast<char>(number);
    return out;
}

[[noreturn]] void refuse(std::size_t row, const std::string& why) {
    throw std::invalid_argument("The packed counts of row " + std::to_string(row) +
                                " are damaged: " + why + ".");
}

// The numbers of one row, one after another.
class Numbers {
  public:
    Numbers(std::string_view bytes, std::size_t row)
        : at_(reinterpret_cast<const unsigned char*>(bytes.data())), end_(at_ + bytes.size()),
          row_(row) {}

    [[nodiscard]] bool at_end() const { return at_ == end_; }
    [[nodiscard]] std::uint64_t next() {
        std::uint64_t number = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (at_ == end_) refuse(row_, "they are cut short");
            const std::uint64_t byte = *at_++;
            // The tenth byte has room for one bit, and none may follow it.
            if (shift == 63 && byte > 1) refuse(row_, "a number has more than 64 bits");
            number |= (byte & 0x7F) << shift;
            if (byte < 0x80) return number;
        }
    }

  private:
    const unsigned char* at_;
    const unsigned char* end_;
    std::size_t row_;
};

// Every number has one byte below 0x80 and every entry a number: no row has more entries than such
// bytes.
std::size_t most_entries(std::string_view bytes) {
    return static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), [](char byte) {
        return static_cast<unsigned char>(byte) < 0x80;
    }));
}

} // namespace

PackedCounts packed(const text::Counts& counts, base::Stop& stop) {
    PackedCounts out;
    out.offsets.reserve(counts.size() + 1);
    out.lengths.reserve(counts.size());
    std::vector<std::uint64_t> entries; // key and count in one number, which sorts as its key
    for (std::size_t row = 0; row < counts.size(); ++row) {
        if (row % kRowsBetweenPolls == 0) stop.throw_if_requested();
        entries.clear();
        const auto end = static_cast<std::size_t>(counts.offsets[row + 1]);
        for (auto k = static_cast<std::size_t>(counts.offsets[row]); k < end; ++k)
            entries.push_back(static_cast<std::uint64_t>(counts.keys[k]) << 32 | counts.counts[k]);
        std::sort(entries.begin(), entries.end());

        const std::size_t start = out.bytes.size();
        out.bytes.resize(start + kMostBytesOfEntry * entries.size());
        char* at = out.bytes.data() + start;
        std::uint64_t next_key = 0;
        std::int64_t length = 0;
        for (const std::uint64_t entry : entries) {
            const std::uint64_t key = entry >> 32;
            const std::uint64_t count = entry & kMostCount;
            at = append(at, (key - next_key) << 1 | (count > 1 ? 1 : 0));
            if (count > 1) at = append(at, count - 2);
            next_key = key + 1;
            length += static_cast<std::int64_t>(count);
        }
        out.bytes.resize(static_cast<std::size_t>(at - out.bytes.data()));
        out.offsets.push_back(out.bytes.size());
        out.lengths.push_back(length);
    }
    return out;
}

namespace {

// Call `take` with each entry of a row, (key, count). Throws for keys from `n_words` on.
template <class Take>
void for_each_entry(std::string_view bytes, std::size_t row, std::size_t n_words, Take take) {
    std::uint64_t next_key = 0;
    for (Numbers numbers(bytes, row); !numbers.at_end();) {
        const std::uint64_t first = numbers.next();
        const std::uint64_t key = next_key + (first >> 1); // 63 bits and 31: no overflow
        if (key >= n_words)
            refuse(row, "they name word " + std::to_string(key) + " of " + std::to_string(n_words) +
                            " words");
        std::uint64_t count = 1;
        if ((first & 1) != 0) {
            const std::uint64_t more = numbers.next();
            if (more > kMostCount - 2) refuse(row, "a count is above 2^32 - 1");
            count = more + 2;
        }
        take(key, count);
        next_key = key + 1;
    }
}

} // namespace

UnpackedCounts unpacked(std::span<const std::string_view> rows, std::size_t n_words,
                        base::Stop& stop) {
    std::size_t room = 0;
    for (const std::string_view bytes : rows) room += most_entries(bytes);
    UnpackedCounts out;
    out.offsets.reserve(rows.size() + 1);
    out.lengths.reserve(rows.size());
    out.keys.resize(room);
    out.counts.resize(room);
    std::size_t entry = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (row % kRowsBetweenPolls == 0) stop.throw_if_requested();
        std::int64_t length = 0;
        for_each_entry(rows[row], row, n_words, [&](std::uint64_t key, std::uint64_t count) {
            out.keys[entry] = static_cast<std::int32_t>(key);
            out.counts[entry] = std::min(static_cast<float>(count), kMostAsFloat);
            length += static_cast<std::int64_t>(count);
            ++entry;
        });
        out.offsets.push_back(static_cast<std::int64_t>(entry));
        out.lengths.push_back(length);
    }
    out.keys.resize(entry);
    out.counts.resize(entry);
    return out;
}

PackedCounts renumbered(std::span<const std::string_view> rows,
                        std::span<const std::int32_t> number_of, base::Stop& stop) {
    text::Counts all;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (row % kRowsBetweenPolls == 0) stop.throw_if_requested();
        for_each_entry(rows[row], row, number_of.size(),
                       [&](std::uint64_t key, std::uint64_t count) {
                           if (number_of[key] < 0)
                               refuse(row, "word " + std::to_string(key) + " has no other number");
                           all.keys.push_back(number_of[key]);
                           all.counts.push_back(static_cast<std::uint32_t>(count));
                       });
        all.offsets.push_back(static_cast<std::int64_t>(all.keys.size()));
    }
    return packed(all, stop);
}

} // namespace textkin::store
