// Decimal numbers in text.
#pragma once

namespace textkin::base {

// Parse the decimal number at the start of [begin, end), as std::from_chars does: an optional
// minus, digits with an optional point and exponent, "inf", "infinity", or "nan", and no other
// form. `value` becomes the nearest float, ties to even; infinity if it is too large, and 0 if it
// is too small. Returns the end of the number, or nullptr if there is none.
[[nodiscard]] const char* parse_number(const char* begin, const char* end, float& value);

// The same by strtof of the C library, for standard libraries without from_chars for float.
[[nodiscard]] const char* parse_number_by_strtof(const char* begin, const char* end, float& value);

} // namespace textkin::base
