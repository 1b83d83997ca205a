#pragma once

#include "textkin/kernels.h"

namespace textkin::baseline {

void squared_distances(const float* point, const float* packed, std::size_t dimension, double* out);
std::int32_t minimum_reduced(const std::int32_t* cost, const std::int32_t* offset,
                             std::size_t columns);
std::size_t find_reduced(const std::int32_t* cost, const std::int32_t* offset, std::int32_t value);

} // namespace textkin::baseline
