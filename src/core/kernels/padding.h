// Padding of rows of numbers to full registers.
#pragma once

#include "kernels/kernels.h"

namespace textkin::kernels {

// `n`, rounded up to a multiple of `unit`.
[[nodiscard]] constexpr std::size_t padded(std::size_t n, std::size_t unit = kLanes) {
    return (n + unit - 1) / unit * unit;
}

} // namespace textkin::kernels
