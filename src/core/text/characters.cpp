#include "text/characters.h"

#include <algorithm>
#include <span>
#include <utility>

namespace textkin::text {
namespace {

constexpr char32_t kEnd = 0x110000;
constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;

// Hangul syllables are composed by arithmetic (Unicode standard, section 3.12).
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

struct Range {
    char32_t first, last;
    Character what;
};

struct Composition {
    char32_t first, second, both;
};

#define RANGE(first, last, kind, letter_case, combining, changes)                                  \
    {first, last, {Kind::kind, Case::letter_case, combining, changes != 0}},
#define LOWER(...)
#define DECOMPOSE(...)
#define COMPOSE(...)
constexpr Range kRanges[] = {
#include "text/characters.inc"
};
#undef RANGE
#undef LOWER
#define RANGE(...)
// One character and what becomes of it, closed by a zero.
#define LOWER(...) __VA_ARGS__, 0,
constexpr char32_t kLower[] = {
#include "text/characters.inc"
};
#undef LOWER
#undef DECOMPOSE
#define LOWER(...)
#define DECOMPOSE(...) __VA_ARGS__, 0,
constexpr char32_t kDecompositions[] = {
#include "text/characters.inc"
};
#undef DECOMPOSE
#undef COMPOSE
#define DECOMPOSE(...)
#define COMPOSE(first, second, both) {first, second, both},
constexpr Composition kCompositions[] = {
#include "text/characters.inc"
};
#undef RANGE
#undef LOWER
#undef DECOMPOSE
#undef COMPOSE

// Where to find a character among entries of several numbers, closed by zeros.
class Mappings {
  public:
    explicit Mappings(std::span<const char32_t> numbers) : numbers_(numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (i == 0 || numbers[i - 1] == 0) starts_.push_back(static_cast<std::uint32_t>(i));
    }

    // What becomes of `code`; empty if it stays as it is.
    [[nodiscard]] std::span<const char32_t> operator[](char32_t code) const {
        const auto at = std::lower_bound(
            starts_.begin(), starts_.end(), code,
            [&](std::uint32_t start, char32_t wanted) { return numbers_[start] < wanted; });
        if (at == starts_.end() || numbers_[*at] != code) return {};
        const auto* const first = numbers_.data() + *at + 1;
        return {first, std::find(first, numbers_.data() + numbers_.size(), U'\0')};
    }

  private:
    std::span<const char32_t> numbers_;
    std::vector<std::uint32_t> starts_;
};

// The table, laid out on first use: the distinct entries, and which one each character has.
struct Table {
    std::vector<Character> entries{Character{}};
    std::vector<std::uint8_t> entry_of = std::vector<std::uint8_t>(kEnd, 0);
    Mappings lower{kLower};
    Mappings decompositions{kDecompositions};

    Table() {
        for (const Range& range : kRanges) {
            const auto found = std::find(entries.begin(), entries.end(), range.what);
            const auto entry = static_cast<std::uint8_t>(found - entries.begin());
            if (found == entries.end()) entries.push_back(range.what);
            std::fill(entry_of.begin() + range.first, entry_of.begin() + range.last + 1, entry);
        }
    }
};

const Table& table() {
    static const Table made;
    return made;
}

struct Decoded {
    char32_t code;
    std::size_t length; // 0: these bytes are no UTF-8
};

// The character at a place of a text, which may be a lone surrogate.
Decoded decoded(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const char32_t lead = byte(at);
    if (lead < 0x80) return {lead, 1};
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t code = lead & (0x7FU >> length);
    bool sound = lead >= 0xC2 && lead <= 0xF4;
    for (std::size_t k = 1; k < length; ++k) {
        sound = sound && (byte(at + k) & 0xC0U) == 0x80;
        code = code << 6 | (byte(at + k) & 0x3FU);
    }
    constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    sound = sound && code >= kSmallest[length] && code < kEnd;
    return {code, sound ? length : 0};
}

// The character that `first` and `second` make together, or 0.
char32_t composed(char32_t first, char32_t second) {
    if (first - kLeads < kLeadCount && second - kVowels < kVowelCount)
        return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
    if (first - kSyllables < kSyllableCount && (first - kSyllables) % kTailCount == 0 &&
        second - (kTails + 1) < kTailCount - 1)
        return first + (second - kTails);
    const auto* const at = std::lower_bound(
        std::begin(kCompositions), std::end(kCompositions), std::pair(first, second),
        [](const Composition& c, const std::pair<char32_t, char32_t>& p) {
            return std::pair(c.first, c.second) < p;
        });
    return at != std::end(kCompositions) && at->first == first && at->second == second ? at->both
                                                                                       : 0;
}

// Decomposes one character; a Hangul syllable stays, for it would only be composed again.
void append_decomposed(char32_t code, std::vector<char32_t>& out) {
    const auto parts = table().decompositions[code];
    if (parts.empty())
        out.push_back(code);
    else
        out.insert(out.end(), parts.begin(), parts.end());
}

// Sort the marks after `start` into canonical order.
void reorder(std::vector<char32_t>& text, std::size_t start) {
    const auto combining = [](char32_t code) { return character(code).combining; };
    for (std::size_t i = start; i < text.size();) {
        if (combining(text[i]) == 0) {
            ++i;
            continue;
        }
        std::size_t end = i + 1;
        while (end < text.size() && combining(text[end]) != 0) ++end;
        std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(i),
                         text.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](char32_t a, char32_t b) { return combining(a) < combining(b); });
        i = end;
    }
}

// Joins characters after `start` to the starter before them where a composed form exists.
void compose(std::vector<char32_t>& text, std::size_t start) {
    constexpr auto kNone = static_cast<std::size_t>(-1);
    std::size_t starter = kNone;
    std::size_t kept = start;
    unsigned last = 0; // combining class of the character kept last, after the starter
    for (std::size_t i = start; i < text.size(); ++i) {
        const char32_t code = text[i];
        const unsigned combining = character(code).combining;
        const bool next_to_starter = starter != kNone && kept == starter + 1;
        if (starter != kNone && (next_to_starter || (last != 0 && last < combining))) {
            if (const char32_t both = composed(text[starter], code)) {
                text[starter] = both;
                continue;
            }
        }
        if (combining == 0) starter = kept;
        last = combining;
        text[kept++] = code;
    }
    text.resize(kept);
}

} // namespace

Character character(char32_t code) {
    const Table& all = table();
    return code < kEnd ? all.entries[all.entry_of[code]] : Character{};
}

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const Decoded one = decoded(text, i);
        if (one.length == 0) return false;
        i += one.length;
    }
    return true;
}

void decode_utf8(std::string_view text, std::vector<char32_t>& out) {
    for (std::size_t i = 0; i < text.size();) {
        const auto [code, length] = decoded(text, i);
        const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
        out.push_back(length > 0 && !is_surrogate ? code : kReplacement);
        i += std::max<std::size_t>(1, length);
    }
}

void append_utf8(char32_t code, std::string& out) {
    const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    }
}

void normalize(std::vector<char32_t>& text) {
    const auto first = std::find_if(text.begin(), text.end(), [](char32_t code) {
        const Character what = character(code);
        return what.changes || what.kind == Kind::dropped;
    });
    if (first == text.end()) return;
    std::vector<char32_t> out(text.begin(), first);
    out.reserve(text.size());
    const auto end = text.end();
    for (auto at = first; at != end;) {
        // A stretch begins with the last character that stays, to which what follows may be joined.
        const std::size_t start = out.empty() ? 0 : out.size() - 1;
        bool any = false;
        for (; at != end; ++at) {
            const Character what = character(*at);
            if (what.kind == Kind::dropped) continue;
            if (!what.changes) break;
            append_decomposed(*at, out);
            any = true;
        }
        if (any) {
            reorder(out, start);
            compose(out, start);
        }
        for (; at != end; ++at) {
            const Character what = character(*at);
            if (what.changes || what.kind == Kind::dropped) break;
            out.push_back(*at);
        }
    }
    text.swap(out);
}

void append_lower(std::span<const char32_t> word, std::vector<char32_t>& out) {
    const auto case_of = [&](std::size_t i) { return character(word[i]).letter_case; };
    const auto is_final = [&](std::size_t sigma) {
        std::size_t before = sigma;
        while (before > 0 && case_of(before - 1) == Case::ignorable) --before;
        if (before == 0 || case_of(before - 1) != Case::cased) return false;
        std::size_t after = sigma + 1;
        while (after < word.size() && case_of(after) == Case::ignorable) ++after;
        return after == word.size() || case_of(after) != Case::cased;
    };
    for (std::size_t i = 0; i < word.size(); ++i) {
        const char32_t code = word[i];
        if (code < 0x80) {
            out.push_back(code - U'A' < 26 ? code + 32 : code);
        } else if (code == kCapitalSigma && is_final(i)) {
            out.push_back(kFinalSigma);
        } else {
            const auto lower = table().lower[code];
            if (lower.empty()) out.push_back(code);
            out.insert(out.end(), lower.begin(), lower.end());
        }
    }
}

} // namespace textkin::text
