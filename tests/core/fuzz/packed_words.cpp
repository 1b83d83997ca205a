// Words in arrays: untrusted arrays never cause a read beyond their ends, and tables that the core
// makes find every word.
#include "store/packed_words.h"
#include "fuzz.h"
#include "text/characters.h"
#include "text/word_table.h"

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace textkin;

namespace {

// Every word is found under its number, no other word is found, and a WordTable accepts the words.
void check_table(const store::WordArrays& words, const std::vector<std::int32_t>& slots) {
    const store::PackedWords table(words, slots);
    std::set<std::string_view> distinct;
    for (std::size_t number = 0; number < words.size(); ++number) {
        const std::string_view word = table[number];
        REQUIRE(text::is_utf8(word));
        REQUIRE(distinct.insert(word).second);
        REQUIRE(table.find(word) == static_cast<std::int32_t>(number));
    }
    for (const std::string_view word : {"", "a", "word"})
        REQUIRE(distinct.contains(word) || table.find(word) == -1);
    base::Stop stop;
    text::WordTable numbered;
    numbered.extend(words, stop);
    REQUIRE(numbered.size() == words.size());
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const bool is_wild = input.number<std::uint8_t>() % 2 == 0;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> slots(std::size_t{1} << input.below(7));
    const std::size_t words = input.below(20);
    offsets.push_back(is_wild ? input.number<std::int8_t>() : 0);
    for (std::size_t k = 0; k < words; ++k) {
        const std::int64_t step =
            is_wild ? input.number<std::int8_t>() : static_cast<std::int64_t>(input.below(10));
        offsets.push_back(offsets.back() + step);
    }
    if (is_wild && input.number<std::uint8_t>() % 8 == 0 && words > 0)
        offsets[words / 2] = input.number<std::int64_t>();
    for (std::int32_t& slot : slots)
        slot = is_wild ? input.number<std::int8_t>() : static_cast<std::int32_t>(-1);
    const std::string bytes(input.rest()); // a copy: reads beyond its end are detected
    offsets.back() = static_cast<std::int64_t>(bytes.size());
    const store::WordArrays arrays{bytes, offsets};
    base::Stop stop;
    try {
        const store::PackedWords table(arrays, slots);
        for (const std::string_view word : {"", "a", "ab", "\xc3\xa9", "word"}) {
            const std::int32_t number = table.find(word);
            REQUIRE(number >= -1 && number < static_cast<std::int64_t>(table.size()));
            if (number >= 0) REQUIRE(arrays[static_cast<std::size_t>(number)] == word);
        }
        for (std::size_t number = 0; number < table.size(); ++number)
            static_cast<void>(table[number]);
    } catch (const std::invalid_argument&) { // corrupt arrays
    }
    std::vector<std::int32_t> found;
    try {
        found = store::PackedWords::slots_of(arrays, stop);
    } catch (const std::invalid_argument&) {
        return 0;
    }
    check_table(arrays, found);
    return 0;
}
