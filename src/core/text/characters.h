// Characters as the tokenizer sees them, from a fixed table: the same on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace textkin::text {

enum class Kind : std::uint8_t {
    separator,
    word,       // letters and numbers
    mark,       // combining marks: part of a word, never its beginning
    apostrophe, // part of a word between two of its characters
    dropped,    // invisible: joiners, soft hyphens, variation selectors
    cjk,        // Chinese and Japanese: written without spaces
    southeast,  // Thai, Lao, Khmer, Burmese: so are these
};

enum class Case : std::uint8_t { other, cased, ignorable };

struct Character {
    Kind kind = Kind::separator;
    Case letter_case = Case::other;
    std::uint8_t combining = 0; // canonical combining class
    bool changes = false;       // NFKC may change it, or join it to the character before

    bool operator==(const Character&) const = default;
};

[[nodiscard]] Character character(char32_t code);

// Whether a text is UTF-8; lone surrogates are allowed, as in Python's "surrogatepass".
[[nodiscard]] bool is_utf8(std::string_view text);
// Appends the characters of a UTF-8 text. What is not UTF-8, and lone surrogates, become U+FFFD,
// which separates words.
void decode_utf8(std::string_view text, std::vector<char32_t>& out);
void append_utf8(char32_t code, std::string& out);

// Convert a text to NFKC, after removing invisible characters.
void normalize(std::vector<char32_t>& text);

// Append the lower case of a word by the rules of Unicode, including the final sigma. The result
// may have to be normalized again.
void append_lower(std::span<const char32_t> word, std::vector<char32_t>& out);

} // namespace textkin::text
