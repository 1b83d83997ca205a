// Random numbers that are the same everywhere: SplitMix64 (Steele, Lea and Flood 2014).
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin {

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

// The state only counts on; a seed of several numbers is mixed(mixed(a) + b), and so on.
[[nodiscard]] constexpr std::uint64_t next_random(std::uint64_t& state) {
    const std::uint64_t drawn = mixed(state);
    state += 0x9e3779b97f4a7c15;
    return drawn;
}

// Uniformly from 0 to below `below`, which is less than 2^32.
[[nodiscard]] constexpr std::size_t next_below(std::uint64_t& state, std::size_t below) {
    return static_cast<std::size_t>(((next_random(state) >> 32) * below) >> 32);
}

// Uniformly from 0 to 1, 1 left out.
[[nodiscard]] constexpr float next_part(std::uint64_t& state) {
    return static_cast<float>(next_random(state) >> 40) * 0x1p-24F;
}

} // namespace textkin
