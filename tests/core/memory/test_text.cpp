// Text when memory runs out.
#include "memory.h"
#include "text/counting.h"
#include "text/word_table.h"

#include <vector>

using namespace textkin;

TEST(word_table_add_without_memory_keeps_numbers_and_words) {
    text::WordTable table;
    std::vector<std::string> words;
    for (int i = 0; i < 300; ++i)
        words.push_back((i % 2 == 0 ? "a word of more than eight bytes " : "w") +
                        std::to_string(i));
    std::size_t known = 0;
    memory::fail_at_each(
        [&](long) {
            for (; known < words.size(); ++known) table.add(words[known]);
        },
        [&](long) {
            CHECK(table.size() == known);
            for (std::size_t i = 0; i < known; ++i) {
                CHECK(table.find(words[i]) == static_cast<std::int32_t>(i));
                CHECK(table[i] == words[i]);
            }
            if (known < words.size()) CHECK(table.find(words[known]) < 0);
        });
    CHECK(table.size() == words.size());
}

TEST(count_words_of_one_long_text_takes_memory_for_its_different_words) {
    text::Tokens tokens;
    for (int i = 0; i < 3'000'000; ++i) tokens.ids.push_back(i % 1000 * 7);
    tokens.end_document();
    base::Stop stop;
    memory::reset_peak();
    const std::size_t before = memory::in_use();
    const text::Counts counts = text::count_words(tokens, 1, stop);
    CHECK(memory::peak() - before < (std::size_t{1} << 20));
    CHECK(counts.keys.size() == 1000);
    for (std::size_t i = 0; i < counts.keys.size(); ++i) {
        CHECK(counts.keys[i] == static_cast<std::int32_t>(7 * i));
        CHECK(counts.counts[i] == 3000);
    }
}

TEST(count_words_of_many_different_words_counts_each) {
    // More than there are slots at first.
    text::Tokens tokens;
    for (int round = 0; round < 2; ++round)
        for (std::int32_t i = 200'000; i-- > 0;) tokens.ids.push_back(i);
    tokens.end_document();
    base::Stop stop;
    const text::Counts counts = text::count_words(tokens, 1, stop);
    CHECK(counts.keys.size() == 200'000);
    for (std::size_t i = 0; i < counts.keys.size(); ++i) {
        CHECK(counts.keys[i] == 199'999 - static_cast<std::int32_t>(i));
        CHECK(counts.counts[i] == 2);
    }
}
