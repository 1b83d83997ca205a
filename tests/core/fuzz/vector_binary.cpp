// Rows of the binary format of word2vec, read at once and in two blocks.
#include "embed/vector_file.h"
#include "fuzz.h"

#include <cmath>

using namespace textkin;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::size_t dimension = 1 + input.below(6);
    const std::size_t cut = input.below(1 + size);
    const auto most = static_cast<std::int64_t>(input.below(64));
    embed::WordSet words;
    const bool select = input.number<std::uint8_t>() % 4 == 0;
    if (select)
        for (const std::string_view word : {"the", "a", "word", ""}) words.insert(word);
    const embed::WordSet* const wanted = select ? &words : nullptr;
    const std::string_view bytes = input.rest();

    base::Stop stop;
    const embed::VectorRows all = embed::parse_binary(bytes, dimension, most, wanted, stop);
    REQUIRE(all.consumed <= bytes.size() && all.n_lines <= most);
    REQUIRE(all.numbers.size() == all.ends.size() * dimension);
    REQUIRE(all.lines.size() == all.ends.size());
    for (const float number : all.numbers) REQUIRE(std::isfinite(number));
    REQUIRE(all.ends.empty() ? all.words.empty()
                             : all.ends.back() == static_cast<std::int64_t>(all.words.size()));

    embed::VectorRows joined =
        embed::parse_binary(bytes.substr(0, cut), dimension, most, wanted, stop);
    const embed::VectorRows after = embed::parse_binary(bytes.substr(joined.consumed), dimension,
                                                        most - joined.n_lines, wanted, stop);
    joined.numbers.insert(joined.numbers.end(), after.numbers.begin(), after.numbers.end());
    joined.append_all_but_numbers(after);
    REQUIRE(joined.numbers == all.numbers && joined.words == all.words);
    REQUIRE(joined.ends == all.ends && joined.lines == all.lines);
    REQUIRE(joined.n_lines == all.n_lines && joined.consumed == all.consumed);
    return 0;
}
