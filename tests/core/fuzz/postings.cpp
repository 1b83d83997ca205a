// Postings of CSR rows, compared with a simple reference implementation.
#include "store/postings.h"
#include "fuzz.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace textkin;

namespace {

struct Rows {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    std::vector<float> counts;
    std::vector<std::int64_t> lengths;
};

Rows valid_rows(fuzz::Input& input, std::size_t n_columns) {
    Rows out;
    const std::size_t rows = input.below(200);
    for (std::size_t row = 0; row < rows; ++row) {
        std::size_t column = input.below(n_columns);
        for (std::size_t n = input.below(6); n > 0 && column < n_columns; --n) {
            out.columns.push_back(static_cast<std::int32_t>(column));
            out.counts.push_back(static_cast<float>(1 + input.below(1000)));
            column += 1 + input.below(8);
        }
        out.indptr.push_back(static_cast<std::int64_t>(out.columns.size()));
        out.lengths.push_back(
            static_cast<std::int64_t>(input.number<std::uint64_t>() >> (1 + input.below(60))));
    }
    return out;
}

Rows wild_rows(fuzz::Input& input) {
    Rows out;
    out.indptr.clear();
    for (std::size_t n = input.below(10); n > 0; --n)
        out.indptr.push_back(input.number<std::int8_t>());
    for (std::size_t n = input.below(20); n > 0; --n)
        out.columns.push_back(input.number<std::int8_t>());
    if (input.number<std::uint8_t>() % 2 == 0 && !out.indptr.empty()) {
        out.indptr.front() = 0;
        out.indptr.back() = static_cast<std::int64_t>(out.columns.size());
    }
    const bool few = input.number<std::uint8_t>() % 8 == 0;
    out.counts.resize(out.columns.size() - (few && !out.columns.empty() ? 1 : 0));
    for (float& count : out.counts)
        count = input.number<std::uint8_t>() % 4 == 0 ? input.number<float>()
                                                      : input.number<std::uint8_t>();
    out.lengths.resize(out.indptr.empty() ? 0 : out.indptr.size() - 1);
    for (std::int64_t& length : out.lengths) length = input.number<std::int16_t>();
    return out;
}

void compare(const Rows& rows, const store::Postings& found) {
    std::map<std::int32_t, std::vector<std::pair<std::int32_t, std::uint32_t>>> lists;
    for (std::size_t row = 0; row + 1 < rows.indptr.size(); ++row)
        for (auto k = static_cast<std::size_t>(rows.indptr[row]);
             k < static_cast<std::size_t>(rows.indptr[row + 1]); ++k)
            lists[rows.columns[k]].emplace_back(static_cast<std::int32_t>(row),
                                                static_cast<std::uint32_t>(rows.counts[k]));
    REQUIRE(found.terms.size() == lists.size());
    std::size_t term = 0;
    std::size_t at = 0;
    std::size_t block = 0;
    for (const auto& [column, list] : lists) {
        REQUIRE(found.terms[term] == column);
        REQUIRE(found.offsets[term] == static_cast<std::int64_t>(at));
        REQUIRE(found.block_offsets[term] == static_cast<std::int64_t>(block));
        for (std::size_t first = 0; first < list.size(); first += store::kPostingBlock, ++block) {
            std::uint32_t most = 0;
            std::int64_t shortest = std::numeric_limits<std::uint32_t>::max();
            const std::size_t last = std::min(first + store::kPostingBlock, list.size());
            for (std::size_t k = first; k < last; ++k, ++at) {
                REQUIRE(found.rows[at] == list[k].first && found.counts[at] == list[k].second);
                most = std::max(most, list[k].second);
                shortest =
                    std::min(shortest, rows.lengths[static_cast<std::size_t>(list[k].first)]);
            }
            REQUIRE(found.block_counts[block] == most);
            REQUIRE(found.block_lengths[block] == static_cast<std::uint32_t>(shortest));
        }
        ++term;
    }
    REQUIRE(found.rows.size() == at && found.block_counts.size() == block);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const bool is_valid = input.number<std::uint8_t>() % 2 == 0;
    const std::size_t n_columns = 1 + input.below(100);
    const Rows rows = is_valid ? valid_rows(input, n_columns) : wild_rows(input);
    base::Stop stop;
    try {
        const store::Postings found =
            store::invert({rows.indptr, rows.columns, n_columns}, rows.counts, rows.lengths, stop);
        compare(rows, found);
    } catch (const std::invalid_argument&) {
        REQUIRE(!is_valid);
    }
    return 0;
}
