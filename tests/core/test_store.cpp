#include "check.h"
#include "store/packed_counts.h"
#include "store/packed_words.h"
#include "store/postings.h"
#include "text/word_table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

using namespace textkin;

namespace {

using Row = std::map<std::int32_t, std::uint32_t>;

std::vector<Row> random_rows(std::size_t count, std::uint32_t n_words, std::mt19937_64& random) {
    std::vector<Row> rows(count);
    for (Row& row : rows)
        for (std::uint64_t left = random() % 40; left > 0; --left) {
            const auto key = static_cast<std::int32_t>(random() % n_words);
            row[key] = 1 + static_cast<std::uint32_t>(random() % (random() % 4 == 0 ? 1000 : 2));
        }
    return rows;
}

struct Matrix {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    std::vector<float> counts;
    std::vector<std::int64_t> lengths;

    explicit Matrix(const std::vector<Row>& rows) {
        for (const Row& row : rows) {
            std::int64_t length = 0;
            for (const auto& [key, count] : row) {
                columns.push_back(key);
                counts.push_back(static_cast<float>(count));
                length += count;
            }
            indptr.push_back(static_cast<std::int64_t>(columns.size()));
            lengths.push_back(length);
        }
    }
    [[nodiscard]] store::SortedRows rows(std::size_t n_columns) const {
        return {indptr, columns, n_columns};
    }
};

// The rows with their keys in any order.
text::Counts shuffled(const std::vector<Row>& rows, std::mt19937_64& random) {
    text::Counts counts;
    for (const Row& row : rows) {
        std::vector<std::pair<std::int32_t, std::uint32_t>> entries(row.begin(), row.end());
        std::shuffle(entries.begin(), entries.end(), random);
        for (const auto& [key, count] : entries) {
            counts.keys.push_back(key);
            counts.counts.push_back(count);
        }
        counts.offsets.push_back(static_cast<std::int64_t>(counts.keys.size()));
    }
    return counts;
}

// Words in memory of exactly their size, so that a sanitizer detects access outside.
struct Arrays {
    std::vector<char> bytes;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> slots;

    void add(std::string_view word) {
        bytes.insert(bytes.end(), word.begin(), word.end());
        bytes.shrink_to_fit();
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
        offsets.shrink_to_fit();
    }
    [[nodiscard]] store::WordArrays words() const {
        return {{bytes.data(), bytes.size()}, offsets};
    }
    [[nodiscard]] store::PackedWords packed() const { return {words(), slots}; }
};

Arrays some_words(std::size_t count) {
    Arrays out;
    for (std::size_t i = 0; i < count; ++i)
        out.add("w" + std::to_string(i * i) + (i % 3 == 0 ? "longer than eight" : "\xC3\xA9"));
    base::Stop stop;
    out.slots = store::PackedWords::slots_of(out.words(), stop);
    return out;
}

// Any number, often close to the valid one.
template <class Number> Number any_number(std::mt19937_64& random, std::int64_t near) {
    switch (random() % 4) {
    case 0:
        return static_cast<Number>(random());
    case 1:
        return random() % 2 == 0 ? std::numeric_limits<Number>::min()
                                 : std::numeric_limits<Number>::max();
    default:
        return static_cast<Number>(static_cast<std::uint64_t>(near) + random() % 5 - 2);
    }
}

} // namespace

TEST(counts_are_decoded_from_their_bytes) {
    std::mt19937_64 random(1);
    base::Stop stop;
    for (const std::uint32_t n_words : {1U, 100U, 40000U, 2147483647U}) {
        const auto rows = random_rows(200, n_words, random);
        const store::PackedCounts bytes = store::packed(shuffled(rows, random), stop);
        std::vector<std::string_view> views;
        for (std::size_t row = 0; row < bytes.size(); ++row) views.push_back(bytes[row]);
        const store::UnpackedCounts found = store::unpacked(views, n_words, stop);
        const Matrix expected(rows);
        CHECK(found.offsets == expected.indptr);
        CHECK(std::ranges::equal(found.keys, expected.columns));
        CHECK(std::ranges::equal(found.counts, expected.counts));
        CHECK(found.lengths == expected.lengths);
        CHECK(bytes.lengths == expected.lengths);
        CHECK_THROWS(
            std::invalid_argument,
            static_cast<void>(store::unpacked(
                views, static_cast<std::size_t>(*std::ranges::max_element(expected.columns)),
                stop)));
    }
}

TEST(corrupt_counts_throw_or_give_valid_rows) {
    std::mt19937_64 random(2);
    base::Stop stop;
    constexpr std::size_t kWords = 3000;
    const store::PackedCounts bytes =
        store::packed(shuffled(random_rows(100, kWords, random), random), stop);
    int refused = 0;
    for (int round = 0; round < 20000; ++round) {
        const std::string_view sound = bytes[random() % bytes.size()];
        std::vector<char> row(sound.begin(), sound.end()); // memory of exactly this size
        for (std::uint64_t left = random() % 4; left > 0 && !row.empty(); --left) {
            const std::size_t at = random() % row.size();
            if (random() % 8 == 0)
                row.resize(at);
            else
                row[at] = static_cast<char>(random() % 3 == 0 ? 0xFF : random());
        }
        row.shrink_to_fit();
        const std::string_view view{row.data(), row.size()};
        try {
            const store::UnpackedCounts found = store::unpacked({&view, 1}, kWords, stop);
            CHECK(found.keys.size() <= row.size());
            CHECK(std::ranges::adjacent_find(found.keys, std::greater_equal<>()) ==
                  found.keys.end());
            CHECK(found.keys.empty() || (found.keys.front() >= 0 && found.keys.back() < 3000));
            CHECK(std::ranges::all_of(found.counts,
                                      [](float count) { return count >= 1 && count < 0x1p32F; }));
        } catch (const std::invalid_argument&) {
            ++refused;
        }
    }
    CHECK(refused > 1000 && refused < 19000);
}

TEST(words_are_found_in_arrays) {
    const Arrays arrays = some_words(5000);
    const store::PackedWords words = arrays.packed();
    for (std::size_t i = 0; i < words.size(); ++i) {
        CHECK(words.find(words[i]) == static_cast<std::int32_t>(i));
        CHECK(words.find(std::string(words[i]) + "x") == -1);
    }
    CHECK(words.find("") == -1);
    CHECK(arrays.slots.size() == 16384);
    Arrays none;
    base::Stop stop;
    none.slots = store::PackedWords::slots_of(none.words(), stop);
    CHECK(none.slots == (std::vector<std::int32_t>{-1}));
    CHECK(none.packed().find("") == -1);
}

TEST(word_table_format_is_stable) {
    // Files use it. If this test fails, the format has changed, and so must its version.
    Arrays arrays;
    for (const char* word : {"", "a", "the", "obama", "illinois", "president", "na\xC3\xAFve",
                             "a word of more than sixteen bytes"})
        arrays.add(word);
    base::Stop stop;
    CHECK(store::PackedWords::slots_of(arrays.words(), stop) ==
          (std::vector<std::int32_t>{1, -1, -1, 7, -1, -1, -1, 2, -1, 0, 5, 6, 3, 4, -1, -1}));
}

TEST(arrays_of_words_may_hold_anything) {
    std::mt19937_64 random(3);
    const Arrays sound = some_words(40);
    std::vector<std::string> asked;
    for (std::size_t i = 0; i < 40; ++i) asked.emplace_back(sound.packed()[i]);
    asked.insert(asked.end(), {"", "w0", std::string(100, 'x')});
    int damaged = 0;
    for (int round = 0; round < 3000; ++round) {
        Arrays arrays = sound;
        for (std::uint64_t left = random() % 20; left > 0; --left) {
            const std::size_t word = 1 + random() % 39; // not the ends, which are checked
            arrays.offsets[word] = any_number<std::int64_t>(random, arrays.offsets[word]);
        }
        for (std::uint64_t left = random() % 200; left > 0; --left) {
            std::int32_t& slot = arrays.slots[random() % arrays.slots.size()];
            slot = any_number<std::int32_t>(random, 40);
        }
        if (round % 3 == 0) std::ranges::fill(arrays.slots, any_number<std::int32_t>(random, 40));
        for (std::uint64_t left = random() % 4; left > 0; --left)
            arrays.bytes[random() % arrays.bytes.size()] = static_cast<char>(random());
        const store::PackedWords words = arrays.packed();
        for (const std::string& word : asked) {
            const std::int32_t found = words.find(word);
            CHECK(found < 40);
            if (found >= 0) CHECK(arrays.words()[static_cast<std::size_t>(found)] == word);
        }
        const auto is_damaged = [&](auto&& work) {
            try {
                work();
            } catch (const std::invalid_argument&) {
                ++damaged;
            }
        };
        for (std::size_t i = 0; i < words.size(); ++i)
            is_damaged([&] { CHECK(words[i].size() <= arrays.bytes.size()); });
        base::Stop stop;
        is_damaged([&] {
            arrays.slots = store::PackedWords::slots_of(arrays.words(), stop);
            for (std::size_t i = 0; i < arrays.words().size(); ++i)
                CHECK(arrays.packed().find(arrays.packed()[i]) == static_cast<std::int32_t>(i));
        });
        text::WordTable table;
        table.add("before");
        const int damaged_before = damaged;
        is_damaged([&] { table.extend(arrays.words(), stop); });
        CHECK(table.size() == (damaged == damaged_before ? 41 : 1));
        CHECK(table.find("before") == 0);
        CHECK(table.add("after") == static_cast<std::int32_t>(table.size() - 1));
    }
    CHECK(damaged > 3000);
}

TEST(word_arrays_with_wrong_ends_throw) {
    const Arrays sound = some_words(40);
    const auto refused = [&](auto&& change) {
        Arrays arrays = sound;
        change(arrays);
        CHECK_THROWS(std::invalid_argument, static_cast<void>(arrays.packed()));
    };
    refused([](Arrays& arrays) { arrays.offsets.clear(); });
    refused([](Arrays& arrays) { arrays.offsets.front() = 1; });
    refused([](Arrays& arrays) { arrays.offsets.back() += 1; });
    refused([](Arrays& arrays) { arrays.bytes.pop_back(); });
    refused([](Arrays& arrays) { arrays.slots.clear(); });
    refused([](Arrays& arrays) { arrays.slots.pop_back(); });
    refused([](Arrays& arrays) { arrays.slots.resize(64); });
}

TEST(word_table_adds_packed_words_atomically) {
    const Arrays arrays = some_words(9000); // more than are added at once
    base::Stop stop;
    text::WordTable table;
    table.add("first");
    table.extend(arrays.words(), stop);
    CHECK(table.size() == 9001);
    for (std::size_t i = 0; i < 9000; ++i) {
        CHECK(table[i + 1] == arrays.words()[i]);
        CHECK(table.find(*arrays.words()[i]) == static_cast<std::int32_t>(i + 1));
    }
    Arrays more;
    for (std::size_t i = 0; i < 5000; ++i) more.add("x" + std::to_string(i));
    more.add("w4\xC3\xA9"); // known
    CHECK_THROWS(std::invalid_argument, table.extend(more.words(), stop));
    base::Stop stopped;
    stopped.request();
    CHECK_THROWS(base::Stopped, table.extend(more.words(), stopped));
    CHECK(table.size() == 9001);
    CHECK(table.find("x0") == -1);
    CHECK(table.find("w4\xC3\xA9") == 3);
    CHECK(table.add("x0") == 9001);
}

TEST(postings_are_the_transposed_rows) {
    std::mt19937_64 random(4);
    base::Stop stop;
    for (const std::uint32_t n_words : {1U, 7U, 3000U}) {
        auto rows = random_rows(n_words == 3000 ? 20 : 700, n_words, random);
        rows.emplace_back(); // ends without entries
        const Matrix matrix(rows);
        const store::Postings found =
            store::invert(matrix.rows(n_words), matrix.counts, matrix.lengths, stop);
        std::size_t at = 0;
        std::size_t block = 0;
        std::size_t term = 0;
        for (std::int32_t word = 0; word < static_cast<std::int32_t>(n_words); ++word) {
            std::size_t df = 0;
            for (std::size_t row = 0; row < rows.size(); ++row) {
                const auto entry = rows[row].find(word);
                if (entry == rows[row].end()) continue;
                if (df % store::kPostingBlock == 0) ++block;
                CHECK(found.rows[at] == static_cast<std::int32_t>(row));
                CHECK(found.counts[at] == entry->second);
                CHECK(found.block_counts[block - 1] >= entry->second);
                CHECK(found.block_lengths[block - 1] <= matrix.lengths[row]);
                ++df;
                ++at;
            }
            if (df == 0) continue;
            CHECK(found.terms[term++] == word);
            CHECK(found.offsets[term] == static_cast<std::int64_t>(at));
            CHECK(found.block_offsets[term] == static_cast<std::int64_t>(block));
        }
        CHECK(found.terms.size() == term && found.rows.size() == at);
        CHECK(found.block_counts.size() == block && found.block_lengths.size() == block);
    }
}

TEST(rows_that_may_hold_anything_are_checked_before_they_are_used) {
    std::mt19937_64 random(5);
    base::Stop stop;
    const Matrix sound(random_rows(30, 50, random));
    int refused = 0;
    for (int round = 0; round < 5000; ++round) {
        Matrix matrix = sound;
        if (random() % 2 == 0) {
            const std::size_t row = random() % matrix.indptr.size();
            matrix.indptr[row] = any_number<std::int64_t>(random, matrix.indptr[row]);
        }
        if (random() % 2 == 0) {
            const std::size_t entry = random() % matrix.columns.size();
            matrix.columns[entry] = any_number<std::int32_t>(random, matrix.columns[entry]);
        }
        try {
            matrix.rows(50).check(stop);
            const store::Postings found =
                store::invert(matrix.rows(50), matrix.counts, matrix.lengths, stop);
            CHECK(found.rows.size() == matrix.columns.size());
        } catch (const std::invalid_argument&) {
            ++refused;
        }
    }
    CHECK(refused > 1000 && refused < 5000);
}

TEST(transposing_rows_can_be_stopped) {
    std::mt19937_64 random(6);
    const Matrix matrix(random_rows(30, 50, random));
    base::Stop stop;
    stop.request();
    CHECK_THROWS(base::Stopped, matrix.rows(50).check(stop));
    CHECK_THROWS(base::Stopped, static_cast<void>(store::invert(matrix.rows(50), matrix.counts,
                                                                matrix.lengths, stop)));
}
