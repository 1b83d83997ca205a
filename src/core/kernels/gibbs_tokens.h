// Tokens whose topics are drawn one after another. Nothing here has a body: see kernels/kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin::kernels {

struct GibbsTokens {
    // Of each token.
    const std::int32_t* documents;
    const std::int32_t* words;
    std::int32_t* topics;
    std::size_t count;

    // How many tokens of each document, of each word, and in all, have a topic: rows of `width`
    // numbers, a multiple of kLanes, with zeros after the topics.
    std::int32_t* document_counts;
    std::int32_t* word_counts;
    std::int64_t* totals;
    std::size_t width;

    // 1 / (totals + beta_sum) of each topic, which the loop keeps up; 0 after the topics.
    float* inverses;
    // With fixed words: P(w|k), or anything in proportion to it for each word; 0 after the topics.
    const float* word_weights;

    float alpha;
    float beta;
    double beta_sum;
    std::uint64_t random; // state of the generator
    float* scratch;       // `width` numbers
};

} // namespace textkin::kernels
