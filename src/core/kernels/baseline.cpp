// Kernels in portable vector code: what every x86-64 or arm64 processor runs.
#include "kernels/embedding_steps.h"
#include "kernels/gibbs_tokens.h"
#include "kernels/instruction_sets.h"
#include "kernels/simplex_tree.h"

namespace textkin::kernels {
namespace {

constexpr std::size_t kWidth = 4;

using Floats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(16)));
using Ints = std::int32_t __attribute__((vector_size(16)));
// The same where they lie in memory among plain numbers.
typedef float StoredFloats __attribute__((vector_size(16), aligned(4), may_alias));
static_assert(alignof(StoredFloats) == 4);
typedef std::int32_t StoredInts __attribute__((vector_size(16), aligned(4), may_alias));
static_assert(alignof(StoredInts) == 4);

inline Floats zeros() { return Floats{}; }
inline Floats load(const float* from) { return *reinterpret_cast<const StoredFloats*>(from); }
inline Floats keep(Floats value) { return value; }
// The first `count` of a register; zeros in the other lanes, which are not read.
struct Part {
    std::size_t count;
    explicit Part(std::size_t numbers) : count(numbers) {}
    [[nodiscard]] Floats load(const float* from) const {
        return Floats{from[0], count > 1 ? from[1] : 0, count > 2 ? from[2] : 0, 0};
    }
};
inline void store(float* to, Floats value) { *reinterpret_cast<StoredFloats*>(to) = value; }
inline Floats all(float value) { return Floats{value, value, value, value}; }
inline Floats add_square(Floats difference, Floats sum) { return sum + difference * difference; }
inline Floats square_root(Floats value) {
    return Floats{__builtin_sqrtf(value[0]), __builtin_sqrtf(value[1]), __builtin_sqrtf(value[2]),
                  __builtin_sqrtf(value[3])};
}
inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }
inline float largest_of(Floats value) {
    const float a = value[0] > value[1] ? value[0] : value[1];
    const float b = value[2] > value[3] ? value[2] : value[3];
    return a > b ? a : b;
}

inline Doubles widen(Floats value) {
    const Doubles low{static_cast<double>(value[0]), static_cast<double>(value[1])};
    const Doubles high{static_cast<double>(value[2]), static_cast<double>(value[3])};
    return low + high;
}
// The sums over the lanes of four registers, as four floats.
inline void store_four_sums(const Doubles* sums, float* out) {
    for (std::size_t k = 0; k < 4; ++k) out[k] = static_cast<float>(sums[k][0] + sums[k][1]);
}

inline Ints load(const std::int32_t* from) { return *reinterpret_cast<const StoredInts*>(from); }
inline void store(std::int32_t* to, Ints value) { *reinterpret_cast<StoredInts*>(to) = value; }
inline Ints keep(Ints value) { return value; }
inline Ints all(std::int32_t value) { return Ints{value, value, value, value}; }
inline Ints smaller(Ints a, Ints b) { return a < b ? a : b; }
inline Ints times_32(Ints a) { return a * 32; }
// In each lane, x where a < b, otherwise y.
inline Ints if_less(Ints a, Ints b, Ints x, Ints y) { return a < b ? x : y; }
inline std::int32_t least_of(Ints value) {
    const std::int32_t a = value[0] < value[1] ? value[0] : value[1];
    const std::int32_t b = value[2] < value[3] ? value[2] : value[3];
    return a < b ? a : b;
}
inline unsigned equal(Ints a, Ints b) {
    const Ints bits = (a == b) & Ints{1, 2, 4, 8};
    return static_cast<unsigned>(bits[0] | bits[1] | bits[2] | bits[3]);
}
// Values are at least 0 and below 2^31: in double adding a half is exact.
inline Ints nearest(Floats value) {
    Ints out;
    for (std::size_t k = 0; k < kWidth; ++k)
        out[k] = static_cast<std::int32_t>(static_cast<double>(value[k]) + 0.5);
    return out;
}
// The lanes whose bit is set, and 0 in the others.
inline Ints where(unsigned bits, Ints value) {
    const Ints own{1, 2, 4, 8};
    return ((all(static_cast<std::int32_t>(bits)) & own) == own) & value;
}

inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
inline Floats multiply_add(Floats a, Floats b, Floats sum) { return sum + a * b; }

constexpr std::size_t kShortWidth = 8;
using Shorts = std::int16_t __attribute__((vector_size(16)));
typedef std::int16_t StoredShorts __attribute__((vector_size(16), aligned(2), may_alias));
static_assert(alignof(StoredShorts) == 2);
inline Shorts load_shorts(const std::int16_t* from) {
    return *reinterpret_cast<const StoredShorts*>(from);
}
inline void store_shorts(Shorts value, std::int16_t* to) {
    *reinterpret_cast<StoredShorts*>(to) = value;
}
// Rounded down.
inline void store_shorts(const Floats* values, std::int16_t* to) {
    for (std::size_t k = 0; k < kPanelWords; ++k)
        to[k] = static_cast<std::int16_t>(values[k / kWidth][k % kWidth]);
}
inline Shorts all_shorts(std::int16_t value) {
    return Shorts{value, value, value, value, value, value, value, value};
}
inline Shorts smaller(Shorts a, Shorts b) { return a < b ? a : b; }
inline Shorts either(Shorts a, Shorts b) { return a | b; }
inline std::int16_t least_of(Shorts value) {
    std::int16_t least = value[0];
    for (std::size_t k = 1; k < kShortWidth; ++k) least = value[k] < least ? value[k] : least;
    return least;
}

#include "kernels/transport_loops.h"

#include "kernels/search_loops.h"

// Sixteen sums as four: those that are eight apart, then those that are four apart.
inline FourFloats folded(const Floats* sums) { return (sums[0] + sums[2]) + (sums[1] + sums[3]); }

#include "kernels/sinkhorn_loops.h"

#include "kernels/bound_loops.h"

#include "kernels/topic_loops.h"

inline Piece<float> spread(float value) { return Piece<float>{value, value, value, value}; }
inline Piece<double> spread(double value) { return Piece<double>{value, value}; }
template <class Vector> inline Vector fused(Vector a, Vector b, Vector sum) { return sum + a * b; }

#include "kernels/factor_loops.h"

#include "kernels/gibbs_loops.h"

// The sums over the lanes of eight registers.
inline void store_eight_sums(const Piece<float>* sums, float* out) {
    for (std::size_t k = 0; k < 8; k += 4) {
        const Piece<float> first = __builtin_shufflevector(sums[k], sums[k + 1], 0, 4, 1, 5) +
                                   __builtin_shufflevector(sums[k], sums[k + 1], 2, 6, 3, 7);
        const Piece<float> second = __builtin_shufflevector(sums[k + 2], sums[k + 3], 0, 4, 1, 5) +
                                    __builtin_shufflevector(sums[k + 2], sums[k + 3], 2, 6, 3, 7);
        store_piece(out + k, 0,
                    __builtin_shufflevector(first, second, 0, 1, 4, 5) +
                        __builtin_shufflevector(first, second, 2, 3, 6, 7));
    }
}

#include "kernels/embed_loops.h"

#include "kernels/mixture_loops.h"

} // namespace

const Kernels kBaselineKernels{
    .name = "baseline",
#include "kernels/table_entries.inc"
};

} // namespace textkin::kernels
