// Kernels for 64-bit ARM: NEON, which every such CPU has, with fused multiply-add.
// See transport_loops.h for what may be included here.
#include "kernels/embedding_steps.h"
#include "kernels/gibbs_tokens.h"
#include "kernels/instruction_sets.h"
#include "kernels/simplex_tree.h"

#include <arm_neon.h>

namespace textkin::kernels {
namespace {

constexpr std::size_t kWidth = 4;

using Floats = float32x4_t;
using Doubles = float64x2_t;
using Ints = int32x4_t;

inline Floats zeros() { return vdupq_n_f32(0); }
inline Floats load(const float* from) { return vld1q_f32(from); }
// Hold a value in a register: the compiler would otherwise load it again for each use.
inline Floats keep(Floats value) {
    asm("" : "+w"(value));
    return value;
}
// The first `count` of a register; zeros in the other lanes, which are not read.
struct Part {
    std::size_t count;
    explicit Part(std::size_t numbers) : count(numbers) {}
    [[nodiscard]] Floats load(const float* from) const {
        Floats value = vsetq_lane_f32(from[0], vdupq_n_f32(0), 0);
        if (count > 1) value = vsetq_lane_f32(from[1], value, 1);
        if (count > 2) value = vsetq_lane_f32(from[2], value, 2);
        return value;
    }
};
inline void store(float* to, Floats value) { vst1q_f32(to, value); }
inline Floats all(float value) { return vdupq_n_f32(value); }
inline Floats add_square(Floats difference, Floats sum) {
    return vfmaq_f32(sum, difference, difference);
}
inline Floats square_root(Floats value) { return vsqrtq_f32(value); }
inline Floats larger(Floats a, Floats b) { return vmaxq_f32(a, b); }
inline float largest_of(Floats value) { return vmaxvq_f32(value); }

inline Doubles widen(Floats value) {
    return vaddq_f64(vcvt_f64_f32(vget_low_f32(value)), vcvt_high_f64_f32(value));
}
// The sums over the lanes of four registers, as four floats.
inline void store_four_sums(const Doubles* sums, float* out) {
    vst1_f32(out, vcvt_f32_f64(vpaddq_f64(sums[0], sums[1])));
    vst1_f32(out + 2, vcvt_f32_f64(vpaddq_f64(sums[2], sums[3])));
}

inline Ints load(const std::int32_t* from) { return vld1q_s32(from); }
inline void store(std::int32_t* to, Ints value) { vst1q_s32(to, value); }
inline Ints keep(Ints value) {
    asm("" : "+w"(value));
    return value;
}
inline Ints all(std::int32_t value) { return vdupq_n_s32(value); }
inline Ints smaller(Ints a, Ints b) { return vminq_s32(a, b); }
inline Ints times_32(Ints a) { return vshlq_n_s32(a, 5); }
// In each lane, x where a < b, otherwise y.
inline Ints if_less(Ints a, Ints b, Ints x, Ints y) { return vbslq_s32(vcltq_s32(a, b), x, y); }
inline std::int32_t least_of(Ints value) { return vminvq_s32(value); }
// Bit k is the bit of lane k.
inline uint32x4_t lane_bits() { return uint32x4_t{1, 2, 4, 8}; }
inline unsigned equal(Ints a, Ints b) {
    return vaddvq_u32(vandq_u32(vceqq_s32(a, b), lane_bits()));
}
inline Ints nearest(Floats value) { return vcvtnq_s32_f32(value); }
// The lanes whose bit is set, and 0 in the others.
inline Ints where(unsigned bits, Ints value) {
    return vandq_s32(vreinterpretq_s32_u32(vtstq_u32(vdupq_n_u32(bits), lane_bits())), value);
}

inline Floats smaller(Floats a, Floats b) { return vminq_f32(a, b); }
inline Floats multiply_add(Floats a, Floats b, Floats sum) { return vfmaq_f32(sum, a, b); }

constexpr std::size_t kShortWidth = 8;
using Shorts = int16x8_t;
inline Shorts load_shorts(const std::int16_t* from) { return vld1q_s16(from); }
inline void store_shorts(Shorts value, std::int16_t* to) { vst1q_s16(to, value); }
// Rounded down: no value is negative.
inline void store_shorts(const Floats* values, std::int16_t* to) {
    for (std::size_t k = 0; k < kPanelWords / kShortWidth; ++k)
        vst1q_s16(to + k * kShortWidth, vcombine_s16(vqmovn_s32(vcvtq_s32_f32(values[2 * k])),
                                                     vqmovn_s32(vcvtq_s32_f32(values[2 * k + 1]))));
}
inline Shorts all_shorts(std::int16_t value) { return vdupq_n_s16(value); }
inline Shorts smaller(Shorts a, Shorts b) { return vminq_s16(a, b); }
inline Shorts either(Shorts a, Shorts b) { return vorrq_s16(a, b); }
inline std::int16_t least_of(Shorts value) { return vminvq_s16(value); }

#include "kernels/transport_loops.h"

#include "kernels/search_loops.h"

// Sixteen sums as four: those that are eight apart, then those that are four apart.
inline FourFloats folded(const Floats* sums) { return (sums[0] + sums[2]) + (sums[1] + sums[3]); }

#include "kernels/sinkhorn_loops.h"

#include "kernels/bound_loops.h"

#include "kernels/topic_loops.h"

inline Piece<float> spread(float value) { return vdupq_n_f32(value); }
inline Piece<double> spread(double value) { return vdupq_n_f64(value); }
inline Piece<float> fused(Piece<float> a, Piece<float> b, Piece<float> sum) {
    return vfmaq_f32(sum, a, b);
}
inline Piece<double> fused(Piece<double> a, Piece<double> b, Piece<double> sum) {
    return vfmaq_f64(sum, a, b);
}

#include "kernels/factor_loops.h"

#include "kernels/gibbs_loops.h"

// The sums over the lanes of eight registers.
inline void store_eight_sums(const Piece<float>* sums, float* out) {
    for (std::size_t k = 0; k < 8; k += 4)
        vst1q_f32(out + k, vpaddq_f32(vpaddq_f32(sums[k], sums[k + 1]),
                                      vpaddq_f32(sums[k + 2], sums[k + 3])));
}

#include "kernels/embed_loops.h"

#include "kernels/mixture_loops.h"

} // namespace

const Kernels kNeonKernels{
    .name = "neon",
#include "kernels/table_entries.inc"
};

} // namespace textkin::kernels
