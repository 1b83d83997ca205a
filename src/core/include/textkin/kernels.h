// The inner loops, behind one table of function pointers. Each instruction set fills the table in
// a file of its own under kernels/; everything else is written once, above this line.
//
// Those files are compiled for processors that the machine may not be. What they include must
// therefore hold no function with a body: of an inline function or a template that several files
// compile, the linker keeps any one copy, and that could be one for the wrong processor. This
// header keeps to it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin {

// Rows of numbers for the kernels begin at a multiple of 64 bytes and are padded to a multiple of
// so many numbers, on every processor.
inline constexpr std::size_t kLanes = 16;

// Points for the distance kernel come in multiples of these.
inline constexpr std::size_t kTileRows = 2;
inline constexpr std::size_t kTileColumns = 4;

template <class Number> struct Tree; // kernels/tree.h
enum class Outcome : std::uint8_t;

struct Kernels {
    const char* name;

    // The simplex method, from a problem to the best tree.
    Outcome (*solve)(Tree<std::int32_t>& tree);

    // out[i * out_stride + j]: the squared Euclidean distance of points a[i] and b[j].
    //
    // Sums of squared differences: 13 terms at most one after another in float, three such sums
    // added in float, the rest in double. In units of 2^-24, squaring a rounded difference makes an
    // error of at most 2, thirteen terms 13 (with or without fused additions), two more additions
    // 2, and rounding the result 1: 18 in all, 1.1e-6 relative, and 6e-7 for the root of it,
    // rounded once more. That holds whatever the dimension, and however small the distance is as
    // long as squares of differences stay in the range of float (differences above 1e-19).
    void (*squared_distances)(const float* const* a, std::size_t rows, const float* const* b,
                              std::size_t columns, std::size_t dimension, float* out,
                              std::size_t out_stride);

    // values[k] * factor, and the square root of that where asked for, in place; returns the
    // largest. All are at least 0; `count` is a multiple of kLanes.
    float (*finish_costs)(float* values, std::size_t count, float factor, bool root);

    // values[k] * scale to the nearest whole number; `scale` is a power of two. `count` is a
    // multiple of kLanes.
    void (*round_costs)(const float* values, std::size_t count, float scale, std::int32_t* out);

    // The rest are loops of `solve`, here for tests.
    //
    // out[i]: the minimum over `columns` (a multiple of kLanes) of cost[i * stride + j] -
    // offset[j].
    void (*row_minima)(const std::int32_t* cost, std::size_t stride, std::size_t rows,
                       const std::int32_t* offset, std::size_t columns, std::int32_t* out);

    // The first j below `columns` (a multiple of kLanes) with cost[j] - offset[j] == value; there
    // is one.
    std::size_t (*find_reduced)(const std::int32_t* cost, const std::int32_t* offset,
                                std::size_t columns, std::int32_t value);

    // values[x] += amount for each x in the set (bit x % 64 of word x / 64) from `begin` to `end`,
    // multiples of kLanes.
    void (*add_where)(std::int32_t* values, const std::uint64_t* set, std::size_t begin,
                      std::size_t end, std::int32_t amount);
};

// The kernels in use: those of the best instruction set that this processor has, or of the one
// named by the environment variable TEXTKIN_SIMD, looked at once. Throws std::invalid_argument if
// that names none, or one that the processor lacks.
[[nodiscard]] const Kernels& kernels();

// For tests: the tables that this processor can run, the plainest first, ended by nullptr; and a
// change of the one in use, while nothing else runs.
[[nodiscard]] const Kernels* const* available_kernels();
void use_kernels(const char* name);

} // namespace textkin
