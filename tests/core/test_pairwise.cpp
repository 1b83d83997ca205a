// Sums over shared words, and edit distances, compared with textbook tables.
#include "check.h"
#include "ranking/pairwise.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace textkin;

namespace {

using Rows = std::vector<std::vector<double>>;

struct Stored {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;

    [[nodiscard]] ranking::SparseRows view() const { return {starts, columns, values}; }
};

Stored stored(const Rows& rows) {
    Stored kept;
    for (const auto& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column)
            if (row[column] != 0) {
                kept.columns.push_back(static_cast<std::int32_t>(column));
                kept.values.push_back(row[column]);
            }
        kept.starts.push_back(static_cast<std::int64_t>(kept.columns.size()));
    }
    return kept;
}

Rows random_rows(std::mt19937_64& random, std::size_t count, std::size_t words) {
    std::uniform_int_distribution<int> entry(-4, 4);
    Rows rows(count, std::vector<double>(words));
    for (auto& row : rows)
        for (double& value : row) value = random() % 3 == 0 ? entry(random) : 0;
    return rows;
}

Rows transposed(const Rows& rows, std::size_t words) {
    Rows transposed(words, std::vector<double>(rows.size()));
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::size_t word = 0; word < words; ++word) transposed[word][row] = rows[row][word];
    return transposed;
}

using Symbols = std::vector<std::int32_t>;

double textbook(const Symbols& a, const Symbols& b) {
    std::vector<std::size_t> above(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::vector<std::size_t> row(b.size() + 1, i);
        for (std::size_t j = 1; j <= b.size(); ++j)
            row[j] = std::min({above[j] + 1, row[j - 1] + 1,
                               above[j - 1] + static_cast<std::size_t>(a[i - 1] != b[j - 1])});
        above = row;
    }
    return static_cast<double>(above.back());
}

struct Joined {
    std::vector<std::int64_t> starts{0};
    Symbols symbols;

    explicit Joined(const std::vector<Symbols>& sequences) {
        for (const Symbols& sequence : sequences) {
            symbols.insert(symbols.end(), sequence.begin(), sequence.end());
            starts.push_back(static_cast<std::int64_t>(symbols.size()));
        }
    }
    [[nodiscard]] ranking::Sequences view() const { return {starts, symbols}; }
};

TEST(shared_sums_equal_sums_over_all_words) {
    std::mt19937_64 random(1);
    constexpr std::size_t words = 9;
    const Rows a = random_rows(random, 7, words);
    const Rows b = random_rows(random, 5, words);
    const Stored rows = stored(a);
    const Stored postings = stored(transposed(b, words));
    for (const ranking::Sharing sharing : {ranking::Sharing::product, ranking::Sharing::overlap}) {
        std::vector<double> out(a.size() * b.size(), -1);
        base::Stop stop;
        ranking::shared_sums(rows.view(), postings.view(), b.size(), sharing, stop, out);
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < b.size(); ++j) {
                double sum = 0;
                for (std::size_t w = 0; w < words; ++w) {
                    const double x = a[i][w];
                    const double y = b[j][w];
                    sum += sharing == ranking::Sharing::product
                               ? x * y
                               : std::abs(x) + std::abs(y) - std::abs(x - y);
                }
                CHECK(out[i * b.size() + j] == sum);
            }
    }
}

TEST(edit_distances_equal_the_textbook) {
    std::mt19937_64 random(2);
    constexpr std::size_t symbols = 6;
    std::vector<Symbols> sequences;
    for (const std::size_t length : {0, 1, 2, 5, 63, 64, 65, 127, 128, 129, 200})
        for (int repeat = 0; repeat < 2; ++repeat) {
            Symbols sequence(length);
            for (std::int32_t& symbol : sequence)
                symbol = static_cast<std::int32_t>(random() % symbols);
            sequences.push_back(sequence);
        }
    const Joined joined(sequences);
    std::vector<double> out(sequences.size() * sequences.size());
    base::Stop stop;
    ranking::edit_distances(joined.view(), joined.view(), symbols, stop, out);
    for (std::size_t i = 0; i < sequences.size(); ++i)
        for (std::size_t j = 0; j < sequences.size(); ++j)
            CHECK(out[i * sequences.size() + j] == textbook(sequences[i], sequences[j]));
}

TEST(long_sequences_can_be_stopped) {
    const Joined joined({Symbols(100, 0), Symbols(100, 1)});
    std::vector<double> out(4);
    base::Stop stop;
    stop.request();
    CHECK_THROWS(base::Stopped,
                 ranking::edit_distances(joined.view(), joined.view(), 2, stop, out));
}

} // namespace
