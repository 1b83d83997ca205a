// Hashes of words, for tables with open addressing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace textkin::text {

// Words are loaded as numbers whose low byte comes first.
static_assert(std::endian::native == std::endian::little);

template <class Number> std::uint64_t load(const char* from) {
    Number value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Up to eight bytes as one number, the missing ones zero; with loads of fixed sizes, which are
// quick.
inline std::uint64_t load(const char* from, std::size_t bytes) {
    if (bytes >= 8) return load<std::uint64_t>(from);
    if (bytes >= 4)
        return load<std::uint32_t>(from) | load<std::uint32_t>(from + bytes - 4) << 8 * (bytes - 4);
    if (bytes == 0) return 0;
    return load<std::uint8_t>(from) | load<std::uint8_t>(from + bytes / 2) << 8 * (bytes / 2) |
           load<std::uint8_t>(from + bytes - 1) << 8 * (bytes - 1);
}

// Part of a file format, as is hash_of: see packed_words.h.
inline std::uint64_t mix(std::uint64_t value) {
    value ^= value >> 32;
    value *= 0xD6E8FEB86659FD93U;
    value ^= value >> 32;
    value *= 0xD6E8FEB86659FD93U;
    return value ^ value >> 32;
}

inline std::uint64_t hash_of(std::string_view word, std::uint64_t seed) {
    std::uint64_t value = seed + word.size();
    const char* from = word.data();
    std::size_t left = word.size();
    for (; left > 8; left -= 8, from += 8) value = mix(value ^ load<std::uint64_t>(from));
    return mix(value ^ load(from, left));
}

} // namespace textkin::text
