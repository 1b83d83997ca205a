// Counts as bytes: untrusted bytes are unpacked or rejected, and counts survive a round trip.
#include "store/packed_counts.h"
#include "fuzz.h"

#include <numeric>
#include <stdexcept>
#include <vector>

using namespace textkin;

namespace {

text::Counts counts_of(const store::UnpackedCounts& rows) {
    text::Counts out;
    out.offsets = rows.offsets;
    out.keys = rows.keys;
    for (const float count : rows.counts) out.counts.push_back(static_cast<std::uint32_t>(count));
    return out;
}

void check(const store::UnpackedCounts& rows, std::size_t n_rows, std::size_t n_words) {
    REQUIRE(rows.offsets.size() == n_rows + 1 && rows.lengths.size() == n_rows);
    REQUIRE(rows.offsets.front() == 0);
    REQUIRE(rows.offsets.back() == static_cast<std::int64_t>(rows.keys.size()));
    REQUIRE(rows.keys.size() == rows.counts.size());
    for (std::size_t row = 0; row < n_rows; ++row) {
        REQUIRE(rows.offsets[row] <= rows.offsets[row + 1]);
        std::int32_t last = -1;
        for (auto k = static_cast<std::size_t>(rows.offsets[row]);
             k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k) {
            REQUIRE(rows.keys[k] > last && static_cast<std::size_t>(rows.keys[k]) < n_words);
            REQUIRE(rows.counts[k] >= 1 && rows.counts[k] < 4294967296.0F);
            last = rows.keys[k];
        }
        REQUIRE(rows.lengths[row] >= 0);
    }
}

std::vector<std::string_view> views(const store::PackedCounts& packed) {
    std::vector<std::string_view> out;
    for (std::size_t row = 0; row < packed.size(); ++row) out.push_back(packed[row]);
    return out;
}

void unpack_untrusted(fuzz::Input& input) {
    base::Stop stop;
    const std::size_t n_words = input.number<std::uint32_t>() & 0x7fffffffU;
    std::vector<std::string_view> rows(input.below(5));
    for (std::string_view& row : rows) row = input.bytes(input.below(64));
    if (!rows.empty()) rows.back() = input.rest();
    try {
        const store::UnpackedCounts found = store::unpacked(rows, n_words, stop);
        check(found, rows.size(), n_words);
        const store::PackedCounts packed = store::packed(counts_of(found), stop);
        const store::UnpackedCounts again = store::unpacked(views(packed), n_words, stop);
        REQUIRE(again.keys == found.keys && again.counts == found.counts);
        REQUIRE(again.offsets == found.offsets);
    } catch (const std::invalid_argument&) { // the bytes are corrupt
    }
}

void renumber_untrusted(fuzz::Input& input) {
    base::Stop stop;
    std::vector<std::int32_t> numbers(1 + input.below(100));
    std::iota(numbers.begin(), numbers.end(), 0);
    for (std::size_t k = numbers.size(); k > 1; --k)
        std::swap(numbers[k - 1], numbers[input.below(k)]);
    if (input.number<std::uint8_t>() % 4 == 0) numbers[0] = -1;
    const std::string_view row = input.rest();
    try {
        const store::PackedCounts other = store::renumbered(std::span(&row, 1), numbers, stop);
        const store::UnpackedCounts before =
            store::unpacked(std::span(&row, 1), numbers.size(), stop);
        const store::UnpackedCounts after = store::unpacked(views(other), numbers.size(), stop);
        REQUIRE(after.lengths == before.lengths && after.keys.size() == before.keys.size());
    } catch (const std::invalid_argument&) { // the bytes are corrupt
    }
}

void round_trip(fuzz::Input& input) {
    base::Stop stop;
    text::Counts counts;
    std::vector<std::int64_t> lengths;
    while (input.left() > 0 && counts.size() < 8) {
        std::int64_t key = -1;
        std::int64_t length = 0;
        for (std::size_t n = input.below(12); n > 0; --n) {
            key += 1 + static_cast<std::int64_t>(input.number<std::uint32_t>() >> input.below(32));
            if (key > 0x7ffffffe) break;
            const std::uint32_t count = (input.number<std::uint32_t>() >> input.below(32)) | 1U;
            counts.keys.push_back(static_cast<std::int32_t>(key));
            counts.counts.push_back(count);
            length += count;
        }
        counts.offsets.push_back(static_cast<std::int64_t>(counts.keys.size()));
        lengths.push_back(length);
    }
    const store::PackedCounts packed = store::packed(counts, stop);
    REQUIRE(packed.lengths == lengths);
    const store::UnpackedCounts found = store::unpacked(views(packed), 0x7fffffff, stop);
    check(found, counts.size(), 0x7fffffff);
    REQUIRE(found.keys == counts.keys && found.offsets == counts.offsets);
    REQUIRE(found.lengths == lengths);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    switch (input.number<std::uint8_t>() % 4) {
    case 0:
        round_trip(input);
        break;
    case 1:
        renumber_untrusted(input);
        break;
    default:
        unpack_untrusted(input);
    }
    return 0;
}
