// The unit that rows of numbers are padded to.
#pragma once

#include "textkin/kernels.h"

namespace textkin {

[[nodiscard]] constexpr std::size_t padded(std::size_t n) {
    return (n + kLanes - 1) / kLanes * kLanes;
}

} // namespace textkin
