// Layout of the arrays that kernels work on. No function here has a body: see kernels/kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin::kernels {

// Rows of numbers start at a multiple of 64 bytes and are padded to a multiple of this many
// numbers, on every CPU.
inline constexpr std::size_t kLanes = 16;

// Points for the distance kernel come in multiples of these.
inline constexpr std::size_t kTileRows = 2;
inline constexpr std::size_t kTileColumns = 4;

// Words of the vocabulary that a search processes at a time. Costs are integers of at most
// kFarthest.
inline constexpr std::size_t kPanelWords = 16;
inline constexpr std::int16_t kFarthest = 32767;
inline constexpr float kLargestShort = 32767.0F;
// Below this the underflow of single products could matter.
inline constexpr float kLeastSquare = 1e-30F;

// Centroids for the kernel of their distances come in groups of these.
inline constexpr std::size_t kCentroidRows = 4;
inline constexpr std::size_t kCentroidColumns = 8;

} // namespace textkin::kernels
