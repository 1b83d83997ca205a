// The inner loops, behind one table of function pointers. Each instruction set fills the table in
// a file of its own under kernels/; everything else is written once, above this line.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin {

// Columns of a cost matrix, and points packed for the distance kernel, come in groups of so many.
inline constexpr std::size_t kLanes = 16;

[[nodiscard]] constexpr std::size_t padded(std::size_t n) {
    return (n + kLanes - 1) / kLanes * kLanes;
}

struct Kernels {
    const char* name;

    // Squared Euclidean distances of one point to kLanes packed points: packed[k * kLanes + lane].
    // Sums of differences, in blocks of 16 float products added in double, so that each result is
    // within 1.2e-6 relative of the exact one, whatever the dimension, and however small it is as
    // long as squares of differences stay in the range of float (differences above 1e-19).
    void (*squared_distances)(const float* point, const float* packed, std::size_t dimension,
                              double* out);

    // The minimum over `columns` (a multiple of kLanes) of cost[j] - offset[j].
    std::int32_t (*minimum_reduced)(const std::int32_t* cost, const std::int32_t* offset,
                                    std::size_t columns);

    // The first j with cost[j] - offset[j] == value; there is one.
    std::size_t (*find_reduced)(const std::int32_t* cost, const std::int32_t* offset,
                                std::int32_t value);
};

// The kernels of this processor, chosen once.
[[nodiscard]] const Kernels& kernels();

} // namespace textkin
