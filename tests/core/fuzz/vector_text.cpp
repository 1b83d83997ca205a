// Lines of word vectors, read at once and in two blocks.
#include "embed/vector_file.h"
#include "fuzz.h"

#include <cmath>
#include <limits>

using namespace textkin;

namespace {

// Compares bits, because the numbers of rejected lines may be NaN.
bool same_numbers(const embed::Numbers& a, const embed::Numbers& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void check(const embed::VectorRows& rows, std::size_t dimension, std::size_t size) {
    REQUIRE(rows.consumed <= size);
    REQUIRE(rows.numbers.size() == rows.ends.size() * dimension);
    REQUIRE(rows.lines.size() == rows.ends.size());
    std::int64_t end = 0;
    for (const std::int64_t next : rows.ends) {
        REQUIRE(next > end);
        end = next;
    }
    REQUIRE(end == static_cast<std::int64_t>(rows.words.size()));
    std::int64_t line = -1;
    for (const std::int64_t next : rows.lines) {
        REQUIRE(next > line && next < rows.n_lines);
        line = next;
    }
    for (const float number : rows.numbers) REQUIRE(std::isfinite(number));
}

std::int64_t rejected(const embed::VectorRows& rows) {
    std::int64_t sum = 0;
    for (const embed::FaultCount& fault : rows.faults) sum += fault.count;
    return sum;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::size_t dimension = 1 + input.below(6);
    const std::size_t cut = input.below(1 + size);
    embed::WordSet words;
    const bool select = input.number<std::uint8_t>() % 4 == 0;
    if (select)
        for (const std::string_view word : {"the", "a b", "word", "\xff"}) words.insert(word);
    const embed::WordSet* const wanted = select ? &words : nullptr;
    const std::string_view text = input.rest();

    base::Stop stop;
    const embed::VectorRows all = embed::parse_text(text, dimension, true, wanted, 1, stop);
    check(all, dimension, text.size());
    REQUIRE(all.consumed == text.size());
    const auto kept = static_cast<std::int64_t>(all.ends.size());
    REQUIRE(select ? kept + rejected(all) <= all.n_entries : kept + rejected(all) == all.n_entries);

    const std::string_view block = text.substr(0, cut);
    embed::VectorRows joined = embed::parse_text(block, dimension, false, wanted, 1, stop);
    check(joined, dimension, block.size());
    const embed::VectorRows after =
        embed::parse_text(text.substr(joined.consumed), dimension, true, wanted, 1, stop);
    joined.numbers.insert(joined.numbers.end(), after.numbers.begin(), after.numbers.end());
    joined.append_all_but_numbers(after);
    REQUIRE(same_numbers(joined.numbers, all.numbers));
    REQUIRE(joined.words == all.words && joined.ends == all.ends && joined.lines == all.lines);
    REQUIRE(joined.n_lines == all.n_lines && joined.n_entries == all.n_entries);
    for (std::size_t k = 0; k < embed::kFaults; ++k) {
        REQUIRE(joined.faults[k].count == all.faults[k].count);
        REQUIRE(joined.faults[k].first == all.faults[k].first);
    }
    return 0;
}
