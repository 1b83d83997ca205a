// Random numbers that are the same on every platform.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin::base {

#include "base/splitmix64.inc"

// The next number of a stream. A seed of several numbers is mixed(mixed(a) + b), and so on.
[[nodiscard]] constexpr std::uint64_t next_random(std::uint64_t& state) {
    const std::uint64_t drawn = mixed(state);
    state += kSplitMixIncrement;
    return drawn;
}

// A uniform integer from 0 to below `below`, which is less than 2^32.
[[nodiscard]] constexpr std::size_t next_below(std::uint64_t& state, std::size_t below) {
    return static_cast<std::size_t>(((next_random(state) >> 32) * below) >> 32);
}

// A uniform number from 0 to 1, excluding 1.
[[nodiscard]] constexpr float next_part(std::uint64_t& state) {
    return static_cast<float>(next_random(state) >> 40) * 0x1p-24F;
}

} // namespace textkin::base
