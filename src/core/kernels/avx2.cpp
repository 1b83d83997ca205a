// Kernels for AVX2 with FMA. See transport_loops.h for what may be included here.
#include "kernels/embedding_steps.h"
#include "kernels/gibbs_tokens.h"
#include "kernels/instruction_sets.h"
#include "kernels/simplex_tree.h"

#include <immintrin.h>

namespace textkin::kernels {
namespace {

constexpr std::size_t kWidth = 8;

using Floats = __m256;
using Doubles = __m256d;
struct Ints {
    __m256i lanes;
};

inline Floats zeros() { return _mm256_setzero_ps(); }
inline Floats load(const float* from) { return _mm256_loadu_ps(from); }
// Holds a value in a register: the compiler would rather load it again for each use, and loads
// are what is scarce.
inline Floats keep(Floats value) {
    asm("" : "+x"(value));
    return value;
}
// The first `count` of a register; zeros in the other lanes, which are not read.
struct Part {
    __m256i lanes;
    explicit Part(std::size_t count)
        : lanes(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                                   _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))) {}
    [[nodiscard]] Floats load(const float* from) const { return _mm256_maskload_ps(from, lanes); }
};
inline void store(float* to, Floats value) { _mm256_storeu_ps(to, value); }
inline Floats all(float value) { return _mm256_set1_ps(value); }
inline Floats add_square(Floats difference, Floats sum) {
    return _mm256_fmadd_ps(difference, difference, sum);
}
inline Floats square_root(Floats value) { return _mm256_sqrt_ps(value); }
inline Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
inline float largest_of(Floats value) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

inline Doubles widen(Floats value) {
    return _mm256_cvtps_pd(_mm256_castps256_ps128(value)) +
           _mm256_cvtps_pd(_mm256_extractf128_ps(value, 1));
}
// The sums over the lanes of four registers, as four floats.
inline void store_four_sums(const Doubles* sums, float* out) {
    const __m256d low = _mm256_hadd_pd(sums[0], sums[1]);
    const __m256d high = _mm256_hadd_pd(sums[2], sums[3]);
    const __m256d crossed = _mm256_permute2f128_pd(low, high, 0x21);
    const __m256d straight = _mm256_blend_pd(low, high, 0b1100);
    _mm_storeu_ps(out, _mm256_cvtpd_ps(crossed + straight));
}

inline Ints load(const std::int32_t* from) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
}
inline void store(std::int32_t* to, Ints value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value.lanes);
}
inline Ints keep(Ints value) {
    asm("" : "+x"(value.lanes));
    return value;
}
inline Ints all(std::int32_t value) { return {_mm256_set1_epi32(value)}; }
inline Ints operator+(Ints a, Ints b) { return {_mm256_add_epi32(a.lanes, b.lanes)}; }
inline Ints operator-(Ints a, Ints b) { return {_mm256_sub_epi32(a.lanes, b.lanes)}; }
inline Ints smaller(Ints a, Ints b) { return {_mm256_min_epi32(a.lanes, b.lanes)}; }
inline Ints operator|(Ints a, Ints b) { return {_mm256_or_si256(a.lanes, b.lanes)}; }
inline Ints times_32(Ints a) { return {_mm256_slli_epi32(a.lanes, 5)}; }
// In each lane, x where a < b, otherwise y.
inline Ints if_less(Ints a, Ints b, Ints x, Ints y) {
    return {_mm256_blendv_epi8(y.lanes, x.lanes, _mm256_cmpgt_epi32(b.lanes, a.lanes))};
}
inline std::int32_t least_of(Ints value) {
    __m128i four = _mm_min_epi32(_mm256_castsi256_si128(value.lanes),
                                 _mm256_extracti128_si256(value.lanes, 1));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0b01001110));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0b10110001));
    return _mm_cvtsi128_si32(four);
}
inline unsigned equal(Ints a, Ints b) {
    return static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a.lanes, b.lanes))));
}
inline Ints nearest(Floats value) { return {_mm256_cvtps_epi32(value)}; }
// The lanes whose bit is set, and 0 in the others.
inline Ints where(unsigned bits, Ints value) {
    const __m256i own = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i chosen = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), own);
    return {_mm256_and_si256(_mm256_cmpeq_epi32(chosen, own), value.lanes)};
}

inline Floats smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }
inline Floats multiply_add(Floats a, Floats b, Floats sum) { return _mm256_fmadd_ps(a, b, sum); }

constexpr std::size_t kShortWidth = 16;
struct Shorts {
    __m256i lanes;
};
inline Shorts load_shorts(const std::int16_t* from) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
}
inline void store_shorts(Shorts value, std::int16_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value.lanes);
}
// Rounded down.
inline void store_shorts(const Floats* values, std::int16_t* to) {
    const __m256i mixed =
        _mm256_packs_epi32(_mm256_cvttps_epi32(values[0]), _mm256_cvttps_epi32(values[1]));
    store_shorts({_mm256_permute4x64_epi64(mixed, 0b11011000)}, to);
}
inline Shorts all_shorts(std::int16_t value) { return {_mm256_set1_epi16(value)}; }
inline Shorts smaller(Shorts a, Shorts b) { return {_mm256_min_epi16(a.lanes, b.lanes)}; }
inline Shorts either(Shorts a, Shorts b) { return {_mm256_or_si256(a.lanes, b.lanes)}; }
inline Shorts operator-(Shorts a, Shorts b) { return {_mm256_sub_epi16(a.lanes, b.lanes)}; }
// None is negative, so that the one instruction that finds the least of eight serves.
inline std::int16_t least_of(Shorts value) {
    const __m128i eight = _mm_min_epi16(_mm256_castsi256_si128(value.lanes),
                                        _mm256_extracti128_si256(value.lanes, 1));
    return static_cast<std::int16_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(eight)));
}

#include "kernels/transport_loops.h"

#include "kernels/search_loops.h"

// Sixteen sums as four: those that are eight apart, then those that are four apart.
inline FourFloats folded(const Floats* sums) {
    const __m256 eight = sums[0] + sums[1];
    return _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
}

#include "kernels/sinkhorn_loops.h"

#include "kernels/bound_loops.h"

#include "kernels/topic_loops.h"

inline Piece<float> spread(float value) { return _mm256_set1_ps(value); }
inline Piece<double> spread(double value) { return _mm256_set1_pd(value); }
inline Piece<float> fused(Piece<float> a, Piece<float> b, Piece<float> sum) {
    return _mm256_fmadd_ps(a, b, sum);
}
inline Piece<double> fused(Piece<double> a, Piece<double> b, Piece<double> sum) {
    return _mm256_fmadd_pd(a, b, sum);
}

#include "kernels/factor_loops.h"

#include "kernels/gibbs_loops.h"

// The sums over the lanes of eight registers.
inline void store_eight_sums(const Piece<float>* sums, float* out) {
    const __m256 low =
        _mm256_hadd_ps(_mm256_hadd_ps(sums[0], sums[1]), _mm256_hadd_ps(sums[2], sums[3]));
    const __m256 high =
        _mm256_hadd_ps(_mm256_hadd_ps(sums[4], sums[5]), _mm256_hadd_ps(sums[6], sums[7]));
    _mm256_storeu_ps(out, _mm256_permute2f128_ps(low, high, 0x20) +
                              _mm256_permute2f128_ps(low, high, 0x31));
}

#include "kernels/embed_loops.h"

#include "kernels/mixture_loops.h"

} // namespace

const Kernels kAvx2Kernels{
    .name = "avx2",
#include "kernels/table_entries.inc"
};

} // namespace textkin::kernels
