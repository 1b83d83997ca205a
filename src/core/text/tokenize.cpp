#include "text/tokenize.h"

#include "text/characters.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace textkin::text {
namespace {

constexpr std::size_t kGroup = 64; // bytes whose flags fit into one number

// Which of the bytes from `bytes` on are letters or digits: one bit each, the first the lowest.
std::uint64_t word_bits(const char* bytes) {
    std::uint64_t bits = 0;
#ifdef __SSE2__
    for (std::size_t k = 0; k < kGroup; k += 16) {
        const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + k));
        const auto within = [](__m128i values, char first, char size) {
            const __m128i from_first = _mm_sub_epi8(values, _mm_set1_epi8(first));
            const __m128i last = _mm_set1_epi8(static_cast<char>(size - 1));
            return _mm_cmpeq_epi8(_mm_min_epu8(from_first, last), from_first);
        };
        const __m128i lower = _mm_or_si128(here, _mm_set1_epi8(0x20));
        const __m128i flags = _mm_or_si128(within(lower, 'a', 26), within(here, '0', 10));
        bits |= static_cast<std::uint64_t>(_mm_movemask_epi8(flags)) << k;
    }
#else
    for (std::size_t k = 0; k < kGroup; ++k) {
        const auto byte = static_cast<unsigned char>(bytes[k]);
        const bool is_word = (byte | 0x20U) - 'a' < 26U || byte - '0' < 10U;
        bits |= static_cast<std::uint64_t>(is_word) << k;
    }
#endif
    return bits;
}

bool is_unspaced(Kind kind) { return kind == Kind::cjk || kind == Kind::southeast; }

} // namespace

std::span<const std::string_view> Tokenizer::operator()(std::string_view text) {
    words_.clear();
    // Whole groups, and one more: every word ends before the end.
    bytes_.resize((text.size() / kGroup + 2) * kGroup);
    unsigned char all = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        all |= byte;
        const bool is_capital = lowercase_ && byte >= 'A' && byte <= 'Z';
        bytes_[i] = static_cast<char>(is_capital ? byte + 32 : byte);
    }
    std::fill(bytes_.begin() + static_cast<std::ptrdiff_t>(text.size()), bytes_.end(), ' ');
    if (all < 0x80)
        split_ascii();
    else
        split(text);
    return words_;
}

void Tokenizer::split_ascii() {
    const char* const bytes = bytes_.data();
    const std::size_t groups = bytes_.size() / kGroup;
    bits_.resize(groups);
    for (std::size_t g = 0; g < groups; ++g) bits_[g] = word_bits(bytes + g * kGroup);
    // The first place from `at` on that is in a word (flip 0), or is not (flip ~0).
    const auto next = [&](std::size_t at, std::uint64_t flip) {
        std::size_t g = at / kGroup;
        std::uint64_t left = (bits_[g] ^ flip) >> at % kGroup << at % kGroup;
        while (left == 0 && ++g < groups) left = bits_[g] ^ flip;
        return left == 0 ? bytes_.size()
                         : g * kGroup + static_cast<std::size_t>(std::countr_zero(left));
    };
    for (std::size_t start = next(0, 0); start < bytes_.size();) {
        std::size_t end = next(start, ~std::uint64_t{0});
        std::size_t following = next(end, 0);
        while (bytes[end] == '\'' && following == end + 1) {
            end = next(following, ~std::uint64_t{0});
            following = next(end, 0);
        }
        words_.emplace_back(bytes + start, end - start);
        start = following;
    }
}

void Tokenizer::split(std::string_view text) {
    characters_.clear();
    decode_utf8(text, characters_);
    normalize(characters_);
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
std::size_t Tokenizer::spaced_word(std::size_t start) {
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
std::size_t Tokenizer::unspaced_run(std::size_t start) {
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

void Tokenizer::append_word(std::size_t start, std::size_t end) {
    std::span<const char32_t> word(characters_.data() + start, end - start);
    if (lowercase_) {
        lower_.clear();
        append_lower(word, lower_);
        normalize(
            lower_); // a small letter may have a form with its accent where a capital has none
        word = lower_;
    }
    for (const char32_t code : word) append_utf8(code, bytes_);
    ends_.push_back(bytes_.size());
}

} // namespace textkin::text
