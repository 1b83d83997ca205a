#include "check.h"
#include "text/characters.h"
#include "text/counting.h"
#include "text/tokenize.h"
#include "text/tokens.h"
#include "text/word_table.h"

#include <map>
#include <random>
#include <string>

using namespace textkin;

namespace {

std::vector<std::string> words_of(std::string_view text, bool lowercase = true) {
    text::Tokenizer split(lowercase);
    const auto found = split(text);
    return {found.begin(), found.end()};
}

// Texts of a few thousand words, some of them long or not ASCII, in more than one chunk.
std::vector<std::string> random_texts(std::size_t count) {
    std::mt19937_64 random(7);
    std::vector<std::string> texts(count);
    for (std::string& text : texts)
        for (std::uint64_t left = random() % 400; left > 0; --left) {
            const std::uint64_t word = random() % 3000;
            text += "w" + std::to_string(word * word);
            if (word % 5 == 0) text += "longer'than'eight";
            if (word % 11 == 0) text += "\xC3\xA9";
            text += word % 3 == 0 ? ", " : " ";
        }
    return texts;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
    return {texts.begin(), texts.end()};
}

} // namespace

TEST(tokenizer_splits_bytes_that_are_not_text) {
    CHECK(words_of("a\xFF"
                   "b \xC3 c\xE4\xB8 d\xF4\x90\x80\x80 e\xED\xA0\x80"
                   "f \xC0\xAF g\xF0\x80\x80\x80") ==
          (std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g"}));
    std::mt19937_64 random(3);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes(random() % 40, ' ');
        for (char& byte : bytes) byte = static_cast<char>(random());
        for (const std::string& word : words_of(bytes)) CHECK(!word.empty());
    }
}

TEST(tokenizer_reuses_the_memory_of_a_text) {
    text::Tokenizer split(true);
    CHECK(split("One TWO").size() == 2);
    CHECK(split("\xC3\x89t\xC3\xA9").front() == "\xC3\xA9t\xC3\xA9");
    CHECK(split("x'y'").front() == "x'y");
    CHECK(split("").empty());
}

TEST(normal_form_of_every_character_alone_is_stable) {
    for (char32_t code = 0; code < 0x110000; ++code) {
        std::vector<char32_t> once{code};
        text::normalize(once);
        std::vector<char32_t> twice = once;
        text::normalize(twice);
        CHECK(once == twice);
    }
}

TEST(word_table_numbers_words_in_order) {
    text::WordTable table;
    std::map<std::string, std::int32_t> slow;
    std::mt19937_64 random(5);
    for (int round = 0; round < 20000; ++round) {
        std::string word(random() % 14, 'x');
        for (char& byte : word) byte = static_cast<char>('a' + random() % 3);
        const auto [at, is_new] = slow.try_emplace(word, static_cast<std::int32_t>(slow.size()));
        CHECK(table.find(word) == (is_new ? -1 : at->second));
        CHECK(table.add(word) == at->second);
        CHECK(table[static_cast<std::size_t>(at->second)] == word);
    }
    CHECK(table.size() == slow.size());
    std::vector<std::int32_t> order;
    for (const auto& [word, number] : slow) order.push_back(number);
    base::Stop stop;
    for (const unsigned threads : {1U, 3U}) CHECK(table.sorted(threads, stop) == order);
    CHECK(table.find(std::string("a\0", 2)) == -1);
    CHECK(table.add(std::string("a\0", 2)) != table.add("a"));
}

TEST(tokens_do_not_depend_on_the_number_of_threads) {
    const auto texts = random_texts(3000);
    const auto views = views_of(texts);
    base::Stop stop;
    text::WordTable one;
    const text::Tokens expected = text::tokenize(views, true, 1, stop, one);
    for (const unsigned threads : {2U, 4U}) {
        text::WordTable many;
        const text::Tokens found = text::tokenize(views, true, threads, stop, many);
        CHECK(found.ids == expected.ids);
        CHECK(found.offsets == expected.offsets);
        CHECK(many.size() == one.size());
        text::WordTable pairs_one;
        text::WordTable pairs_many;
        CHECK(text::joined_runs(expected, one, 1, 2, 1, stop, pairs_one).ids ==
              text::joined_runs(found, many, 1, 2, threads, stop, pairs_many).ids);
    }
}

TEST(counting_does_not_depend_on_the_number_of_threads) {
    const auto texts = random_texts(1500);
    base::Stop stop;
    text::WordTable table;
    const text::Tokens tokens = text::tokenize(views_of(texts), true, 1, stop, table);
    std::vector<std::int32_t> column_of(table.size());
    for (std::size_t word = 0; word < column_of.size(); ++word)
        column_of[word] = word % 9 == 0   ? text::kUnknown
                          : word % 7 == 0 ? text::kLeftOut
                                          : static_cast<std::int32_t>(word / 2);
    const text::Bags expected =
        text::to_bags(text::count_words(tokens, 1, stop), column_of, 50, 1, stop);
    const text::Bags found =
        text::to_bags(text::count_words(tokens, 3, stop), column_of, 50, 3, stop);
    const auto same = [](const text::Counts& a, const text::Counts& b) {
        return a.offsets == b.offsets && a.keys == b.keys && a.counts == b.counts;
    };
    CHECK(same(expected.known, found.known));
    CHECK(expected.weights == found.weights);
    CHECK(same(expected.unknown, found.unknown));
    CHECK(same(expected.cut, found.cut));
    double sum = 0;
    for (const float weight : found.weights) sum += static_cast<double>(weight);
    for (const text::Counts* part : {&found.unknown, &found.cut})
        for (const auto count : part->counts) sum += count;
    double expected_sum = 0;
    for (const std::int32_t id : tokens.ids)
        expected_sum += column_of[static_cast<std::size_t>(id)] != text::kLeftOut ? 1 : 0;
    CHECK(sum == expected_sum);
}

TEST(phrases_are_joined_from_the_left_the_longest_first) {
    using Sequence = std::vector<std::string_view>;
    text::Phrases phrases;
    phrases.add(Sequence{"new", "york"}, "New_York");
    phrases.add(Sequence{"new", "york", "times"}, "New_York_Times");
    phrases.add(Sequence{"new", "york"}, "new-york"); // known already
    phrases.add(Sequence{"times"}, "Times");          // not a sequence
    CHECK(phrases.size() == 2);
    CHECK(phrases.has_name("New_York"));
    CHECK(!phrases.has_name("new"));
    text::WordTable words;
    base::Stop stop;
    const std::vector<std::string_view> texts{"new york new york times new", "york", "new york"};
    const text::Tokens joined = phrases.join(text::tokenize(texts, true, 1, stop, words), words);
    std::vector<std::string> found;
    for (const std::int32_t id : joined.ids)
        found.emplace_back(words[static_cast<std::size_t>(id)]);
    CHECK(found ==
          (std::vector<std::string>{"New_York", "New_York_Times", "new", "york", "New_York"}));
    CHECK(joined.offsets == (std::vector<std::int64_t>{0, 3, 4, 5}));
}

TEST(counting_time_is_linear_in_the_words) {
    // Two runs of numbers that are a table's size apart must not fall into the same slots: with
    // linear probing that would take the square of their length.
    constexpr std::int32_t kRun = 1 << 19;
    text::Tokens tokens;
    for (std::int32_t id = 0; id < kRun; ++id) {
        tokens.ids.push_back(id);
        tokens.ids.push_back(id + 4 * kRun);
    }
    tokens.end_document();
    base::Stop stop;
    CHECK(text::count_words(tokens, 1, stop).keys.size() == 2 * kRun);
}
