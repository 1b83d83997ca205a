#include "base/parse_number.h"

#include <charconv>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <locale.h>
#include <string>
#include <string_view>
#include <system_error>
#ifdef __APPLE__
#include <xlocale.h>
#endif

namespace textkin::base {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

const char* skip_digits(const char* p, const char* end) {
    while (p != end && is_digit(*p)) ++p;
    return p;
}

// The end of `word` in lower case letters at p; p if another word is there.
const char* skip_word(const char* p, const char* end, std::string_view word) {
    if (static_cast<std::size_t>(end - p) < word.size()) return p;
    for (std::size_t k = 0; k < word.size(); ++k)
        if (lower(p[k]) != word[k]) return p;
    return p + word.size();
}

const char* end_of_special(const char* p, const char* end) {
    for (const std::string_view word : {"infinity", "inf"})
        if (const char* stop = skip_word(p, end, word); stop != p) return stop;
    const char* stop = skip_word(p, end, "nan");
    if (stop == p) return nullptr;
    if (stop != end && *stop == '(') { // "nan(...)", of letters, digits, and underscores
        const char* q = stop + 1;
        while (q != end && (is_digit(*q) || (lower(*q) >= 'a' && lower(*q) <= 'z') || *q == '_'))
            ++q;
        if (q != end && *q == ')') return q + 1;
    }
    return stop;
}

const char* end_of_number(const char* begin, const char* end) {
    const char* p = begin;
    if (p != end && *p == '-') ++p;
    const char* const first = p;
    p = skip_digits(p, end);
    std::ptrdiff_t digits = p - first;
    if (p != end && *p == '.') {
        const char* const places = p + 1;
        p = skip_digits(places, end);
        digits += p - places;
    }
    if (digits == 0) return end_of_special(first, end);
    if (p != end && lower(*p) == 'e') {
        const char* q = p + 1;
        if (q != end && (*q == '-' || *q == '+')) ++q;
        const char* const stop = skip_digits(q, end);
        if (stop != q) p = stop;
    }
    return p;
}

// For the decimal point, in any locale of the program.
float nearest_float(const char* text) {
#ifdef _WIN32
    static const _locale_t plain = _create_locale(LC_ALL, "C");
    return _strtof_l(text, nullptr, plain);
#else
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", locale_t{});
    return strtof_l(text, nullptr, plain);
#endif
}

} // namespace

const char* parse_number_by_strtof(const char* begin, const char* end, float& value) {
    const char* const stop = end_of_number(begin, end);
    if (stop == nullptr) return nullptr;
    const auto length = static_cast<std::size_t>(stop - begin);
    char short_text[64];
    if (length < sizeof short_text) {
        std::memcpy(short_text, begin, length);
        short_text[length] = '\0';
        value = nearest_float(short_text);
    } else {
        value = nearest_float(std::string(begin, stop).c_str());
    }
    return stop;
}

const char* parse_number(const char* begin, const char* end, float& value) {
#ifdef __cpp_lib_to_chars
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc{}) return stop;
    if (error != std::errc::result_out_of_range) return nullptr;
    // from_chars does not say whether the number is too large or too small.
#endif
    return parse_number_by_strtof(begin, end, value);
}

} // namespace textkin::base
