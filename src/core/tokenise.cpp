#include "textkin/tokenise.h"

#include "textkin/characters.h"

#include <array>

namespace textkin {
namespace {

constexpr bool is_word(unsigned char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= 'a' && byte <= 'z');
}

constexpr auto kIsWord = [] {
    std::array<bool, 256> flags{};
    for (std::size_t byte = 0; byte < flags.size(); ++byte)
        flags[byte] = is_word(static_cast<unsigned char>(byte));
    return flags;
}();

bool is_unspaced(Kind kind) { return kind == Kind::cjk || kind == Kind::southeast; }

} // namespace

std::span<const std::string_view> Tokeniser::operator()(std::string_view text) {
    words_.clear();
    bytes_.resize(text.size() + 1);
    unsigned char all = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        all |= byte;
        const bool is_capital = lowercase_ && byte >= 'A' && byte <= 'Z';
        bytes_[i] = static_cast<char>(is_capital ? byte + 32 : byte);
    }
    bytes_[text.size()] = ' '; // so that every word ends before the end
    if (all < 0x80)
        split_ascii(text.size());
    else
        split(text);
    return words_;
}

void Tokeniser::split_ascii(std::size_t length) {
    const char* const bytes = bytes_.data();
    const auto in_word = [&](std::size_t at) { return kIsWord[static_cast<unsigned char>(bytes[at])]; };
    for (std::size_t at = 0; at < length;) {
        if (!in_word(at)) {
            ++at;
            continue;
        }
        const std::size_t start = at;
        for (;; ++at) {
            while (in_word(at)) ++at;
            if (bytes[at] != '\'' || !in_word(at + 1)) break;
        }
        words_.emplace_back(bytes + start, at - start);
    }
}

void Tokeniser::split(std::string_view text) {
    characters_.clear();
    decode_utf8(text, characters_);
    normalise(characters_);
    bytes_.clear();
    ends_.clear();
    for (std::size_t at = 0; at < characters_.size();) {
        const Kind kind = character(characters_[at]).kind;
        if (kind == Kind::word)
            at = spaced_word(at);
        else if (is_unspaced(kind))
            at = unspaced_run(at);
        else
            ++at;
    }
    std::size_t start = 0;
    for (const std::size_t end : ends_) {
        words_.emplace_back(bytes_.data() + start, end - start);
        start = end;
    }
}

// Takes the word that begins at `start`; returns where it ends.
std::size_t Tokeniser::spaced_word(std::size_t start) {
    const auto kind = [&](std::size_t at) {
        return at < characters_.size() ? character(characters_[at]).kind : Kind::separator;
    };
    std::size_t end = start;
    for (;;) {
        while (kind(end) == Kind::word || kind(end) == Kind::mark) ++end;
        if (kind(end) != Kind::apostrophe || kind(end + 1) != Kind::word) break;
        characters_[end++] = U'\'';
    }
    append_word(start, end);
    return end;
}

// Takes the pairs of characters of the run that begins at `start`; returns where it ends.
std::size_t Tokeniser::unspaced_run(std::size_t start) {
    const Kind script = character(characters_[start]).kind;
    units_.clear();
    std::size_t at = start;
    for (; at < characters_.size(); ++at) {
        const Kind kind = character(characters_[at]).kind;
        if (kind == script)
            units_.push_back(at);
        else if (kind != Kind::mark)
            break;
    }
    units_.push_back(at);
    if (units_.size() == 2) append_word(start, at);
    for (std::size_t k = 0; k + 2 < units_.size(); ++k) append_word(units_[k], units_[k + 2]);
    return at;
}

void Tokeniser::append_word(std::size_t start, std::size_t end) {
    if (lowercase_)
        append_lower(characters_.data() + start, end - start, bytes_);
    else
        for (std::size_t at = start; at < end; ++at) append_utf8(characters_[at], bytes_);
    ends_.push_back(bytes_.size());
}

} // namespace textkin
