// The tokenizer, on any bytes and on valid UTF-8; ASCII text also by the code for other text.
#include "fuzz.h"
#include "text/characters.h"
#include "text/tokenize.h"
#include "text/tokens.h"

#include <string>
#include <vector>

using namespace textkin;

namespace {

std::vector<std::string> words_of(text::Tokenizer& split, std::string_view text) {
    std::vector<std::string> out;
    for (const std::string_view word : split(text)) out.emplace_back(word);
    return out;
}

bool is_ascii(std::string_view text) {
    for (const char c : text)
        if (static_cast<unsigned char>(c) >= 0x80) return false;
    return true;
}

// A valid text of characters that the input selects, in planes where letters are.
std::string valid_text(fuzz::Input& input) {
    static constexpr char32_t starts[] = {0x20,   0x41,   0xC0,   0x300,  0x370,   0x590,  0x900,
                                          0xE00,  0x1100, 0x1E00, 0x2000, 0x3040,  0x4E00, 0xAC00,
                                          0xD800, 0xFB00, 0xFE00, 0xFF00, 0x1D400, 0x1F300};
    std::string out;
    while (input.left() > 0) {
        const std::uint8_t plane = input.number<std::uint8_t>();
        text::append_utf8(starts[plane % std::size(starts)] + input.number<std::uint8_t>(), out);
    }
    return out;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::uint8_t options = input.number<std::uint8_t>();
    const bool lowercase = (options & 1) != 0;
    const std::string text = (options & 2) != 0 ? valid_text(input) : std::string(input.rest());
    if ((options & 2) != 0) REQUIRE(text::is_utf8(text));

    text::Tokenizer split(lowercase);
    const std::vector<std::string> words = words_of(split, text);
    for (const std::string& word : words) {
        REQUIRE(!word.empty() && text::is_utf8(word));
        if (is_ascii(word)) REQUIRE(word.find(' ') == std::string::npos);
    }
    REQUIRE(words_of(split, text) == words); // buffers of the last call change nothing
    if (is_ascii(text)) {
        std::vector<std::string> longer = words_of(split, text + " \xC3\xA9");
        REQUIRE(!longer.empty() && longer.back() == "\xC3\xA9");
        longer.pop_back();
        REQUIRE(longer == words);
    }

    base::Stop stop;
    text::WordTable table;
    const std::string_view one = text;
    const text::Tokens tokens = text::tokenize(std::span(&one, 1), lowercase, 1, stop, table);
    REQUIRE(tokens.ids.size() == words.size());
    for (std::size_t k = 0; k < words.size(); ++k)
        REQUIRE(table[static_cast<std::size_t>(tokens.ids[k])] == words[k]);
    return 0;
}
