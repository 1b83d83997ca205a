// Collapsed Gibbs sampling, included after topic_loops.h and under the same rules.

using IntPiece = Pieces<float>::Mask;
typedef std::int32_t StoredIntPiece __attribute__((vector_size(kRegister), aligned(4), may_alias));
static_assert(alignof(StoredIntPiece) == 4);

[[gnu::always_inline]] inline IntPiece load_int_piece(const std::int32_t* from) {
    return *reinterpret_cast<const StoredIntPiece*>(from);
}

#include "base/splitmix64.inc"

// The next number of a stream, uniform from 0 to 1, excluding 1.
[[gnu::always_inline]] inline float next_random(std::uint64_t& state) {
    const std::uint64_t drawn = mixed(state);
    state += kSplitMixIncrement;
    return static_cast<float>(drawn >> 40) * 0x1p-24F;
}

// A topic in proportion to its weight; `lanes` has the sums of weights that are sixteen apart.
// First a lane is drawn, then a topic of the lane. Where no weight is above 0, or rounding leads to
// a lane without any (the padding, say), the topic stays `old`.
[[gnu::always_inline]] inline std::size_t draw(const float* weights, std::size_t width,
                                               const float* lanes, std::size_t old,
                                               std::uint64_t& random) {
    float sums[kLanes]; // from the first lane of each four up to each
    for (std::size_t l = 0; l < kLanes; l += 4) {
        const float pair = lanes[l] + lanes[l + 1];
        sums[l] = lanes[l];
        sums[l + 1] = pair;
        sums[l + 2] = pair + lanes[l + 2];
        sums[l + 3] = pair + (lanes[l + 2] + lanes[l + 3]);
    }
    const float half = sums[3] + sums[7];
    const float most = half + sums[11];
    float at = next_random(random) * (most + sums[15]);
    const float before[4] = {0, sums[3], half, most};
    const std::size_t four =
        (sums[3] <= at ? 1U : 0U) + (half <= at ? 1U : 0U) + (most <= at ? 1U : 0U);
    at -= before[four];
    const float* own = sums + 4 * four;
    const std::size_t step =
        (own[0] <= at ? 1U : 0U) + (own[1] <= at ? 1U : 0U) + (own[2] <= at ? 1U : 0U);
    if (step > 0) at -= own[step - 1];
    std::size_t last =
        4 * four + step; // with a weight; rounding may leave a little over at the end
    for (std::size_t k = last; k < width; k += kLanes) {
        if (weights[k] > 0) {
            last = k;
            if (at < weights[k]) break;
        }
        at -= weights[k];
    }
    return weights[last] > 0 ? last : old;
}

constexpr std::size_t kTokensAhead = 6;

// Each token is taken out of its counts in registers; memory changes only where its topic does.
template <bool Fixed> [[gnu::always_inline]] inline void draw_all(GibbsTokens& t) {
    IntPiece order[kPieces];
    for (std::size_t p = 0; p < kPieces; ++p)
        for (std::size_t l = 0; l < kWidth; ++l)
            order[p][l] = static_cast<std::int32_t>(p * kWidth + l);
    const std::size_t width = t.width;
    std::uint64_t random = t.random;
    for (std::size_t i = 0; i < t.count; ++i) {
        if (i + kTokensAhead < t.count) {
            const std::size_t row = static_cast<std::size_t>(t.words[i + kTokensAhead]) * width;
            if constexpr (Fixed)
                prefetch_bytes_at(t.word_weights + row, width);
            else
                prefetch_bytes_at(t.word_counts + row, width);
        }
        const auto word_at = static_cast<std::size_t>(t.words[i]) * width;
        std::int32_t* in_document =
            t.document_counts + static_cast<std::size_t>(t.documents[i]) * width;
        const std::int32_t old = t.topics[i];
        const auto old_at = static_cast<std::size_t>(old);
        float without = 0;
        if constexpr (!Fixed)
            without =
                static_cast<float>(1 / (static_cast<double>(t.totals[old_at] - 1) + t.beta_sum));
        Piece<float> sums[kPieces];
        for (std::size_t p = 0; p < kPieces; ++p) sums[p] = Piece<float>{};
        for (std::size_t k = 0; k < width; k += kLanes) {
            for (std::size_t p = 0; p < kPieces; ++p) {
                const std::size_t at = k + p * kWidth;
                const IntPiece own = order[p] == old - static_cast<std::int32_t>(k); // -1 or 0
                Piece<float> weight =
                    __builtin_convertvector(load_int_piece(in_document + at) + own, Piece<float>) +
                    t.alpha;
                if constexpr (Fixed) {
                    weight *= load_piece(t.word_weights + word_at + at, 0);
                } else {
                    const Piece<float> words = __builtin_convertvector(
                        load_int_piece(t.word_counts + word_at + at) + own, Piece<float>);
                    const Piece<float> all_without = Piece<float>{} + without;
                    const Piece<float> inverse = own ? all_without : load_piece(t.inverses + at, 0);
                    weight = weight * (words + t.beta) * inverse;
                }
                store_piece(t.scratch + at, 0, weight);
                sums[p] += weight;
            }
        }
        float lanes[kLanes];
        for (std::size_t p = 0; p < kPieces; ++p) store_piece(lanes, p, sums[p]);
        const std::size_t now = draw(t.scratch, width, lanes, old_at, random);
        if (now == old_at) continue;
        t.topics[i] = static_cast<std::int32_t>(now);
        --in_document[old_at];
        ++in_document[now];
        if constexpr (!Fixed) {
            --t.word_counts[word_at + old_at];
            ++t.word_counts[word_at + now];
            --t.totals[old_at];
            ++t.totals[now];
            t.inverses[old_at] = without;
            t.inverses[now] =
                static_cast<float>(1 / (static_cast<double>(t.totals[now]) + t.beta_sum));
        }
    }
    t.random = random;
}

void draw_topics(GibbsTokens& tokens) { draw_all<false>(tokens); }
void draw_topics_of_fixed_words(GibbsTokens& tokens) { draw_all<true>(tokens); }
