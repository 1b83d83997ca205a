// Decimal numbers in text: the two implementations round correctly and accept the same forms.
#include "base/parse_number.h"
#include "check.h"

#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

using namespace textkin;

namespace {

struct Parsed {
    std::ptrdiff_t length; // -1 if there is no number
    float value;
};

using Parser = const char*(const char*, const char*, float&);

Parsed parsed(Parser* parser, const std::string& text) {
    float value = 7;
    const char* const stop = parser(text.data(), text.data() + text.size(), value);
    return {stop == nullptr ? -1 : stop - text.data(), value};
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

void check_both(const std::string& text, std::ptrdiff_t length, float value) {
    for (Parser* parser : {base::parse_number, base::parse_number_by_strtof}) {
        const Parsed found = parsed(parser, text);
        CHECK(found.length == length);
        if (length < 0) continue;
        if (std::isnan(value))
            CHECK(std::isnan(found.value));
        else
            CHECK(same_bits(found.value, value));
    }
}

std::string shown(const char* format, double value) {
    char text[512];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

} // namespace

TEST(parse_number_reads_the_forms_of_from_chars) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    check_both("1.5", 3, 1.5F);
    check_both("-1.5e1 ", 6, -15.0F);
    check_both(".5", 2, 0.5F);
    check_both("5.", 2, 5.0F);
    check_both("-0", 2, -0.0F);
    check_both("1e", 1, 1.0F);
    check_both("1e+x", 1, 1.0F);
    check_both("1E-2", 4, 0.01F);
    check_both("0x10", 1, 0.0F);
    check_both("1,5", 1, 1.0F);
    check_both("INF", 3, infinity);
    check_both("-infinity", 9, -infinity);
    check_both("infinit", 3, infinity);
    check_both("nan(1_a)", 8, nan);
    check_both("NaN(1-a)", 3, nan);
    for (const char* none : {"", "-", "+1", " 1", ".", "-.", "e5", "x", "in", "na", "--1"})
        check_both(none, -1, 0);
}

TEST(parse_number_reads_no_byte_after_the_end) {
    const std::string text = "1.25e17";
    float value = 0;
    for (Parser* parser : {base::parse_number, base::parse_number_by_strtof}) {
        CHECK(parser(text.data(), text.data() + 4, value) == text.data() + 4);
        CHECK(value == 1.25F);
        CHECK(parser(text.data(), text.data() + 6, value) == text.data() + 6);
        CHECK(value == 12.5F);
    }
}

TEST(parse_number_out_of_range) {
    const float infinity = std::numeric_limits<float>::infinity();
    check_both("1e39", 4, infinity);
    check_both("-1e99999999999999999999", 23, -infinity);
    check_both("1e-60", 5, 0.0F);
    check_both("-1e-999", 7, -0.0F);
    check_both("1e-45", 5, std::numeric_limits<float>::denorm_min());
    check_both(std::string("1").append(400, '0'), 401, infinity);
    check_both(std::string("0.").append(400, '0').append("1"), 403, 0.0F);
    check_both(std::string("0.").append(400, '0').append("1e401"), 407, 1.0F);
}

// A float next to the middle of two others is decided by its last digits.
TEST(parse_number_rounds_to_the_nearest_float_ties_to_even) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 50'000; ++i) {
        const auto bits = static_cast<std::uint32_t>(random()) & 0x7fffffffU;
        float a = 0;
        float b = 0;
        std::memcpy(&a, &bits, sizeof a);
        const std::uint32_t next = bits + 1;
        std::memcpy(&b, &next, sizeof b);
        if (!std::isfinite(a) || !std::isfinite(b)) continue;
        const double middle = (static_cast<double>(a) + static_cast<double>(b)) / 2; // exact
        const std::string text = shown("%.160e", middle);
        const auto length = static_cast<std::ptrdiff_t>(text.size());
        check_both(text, length, (bits & 1) == 0 ? a : b);
        std::string above = text;
        above.insert(above.begin() + static_cast<std::ptrdiff_t>(text.find('e')), '1');
        check_both(above, length + 1, b);
        check_both(shown("%.9g", static_cast<double>(a)),
                   static_cast<std::ptrdiff_t>(shown("%.9g", static_cast<double>(a)).size()), a);
    }
}

TEST(parse_number_ignores_the_locale) {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    // Locales with a decimal comma, where the system has them.
    for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "C"})
        if (std::setlocale(LC_ALL, name) != nullptr) check_both("2.5", 3, 2.5F);
    std::setlocale(LC_ALL, before.c_str());
}
