// Steps in the training of word and document vectors, one after another. Nothing here has a body:
// see kernels/kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin::kernels {

// A step has inputs v_1 ... v_n, rows of words and documents, and outputs u_1 ... u_m with labels 1
// (expected) or 0. Their sum h, or with `mean` their mean, predicts the labels: the step climbs
// the sum over j of log sigmoid(u_j . h) where the label is 1, of log sigmoid(-u_j . h) elsewhere,
// by `rate` times its slope. With `mean` each input moves as far as h should, which is n times its
// own slope: so do the released programs of word2vec, and the rates in use are made for it.
struct EmbeddingSteps {
    std::size_t count;
    float* const* inputs;
    const std::uint32_t* input_ends; // of each step
    float* const* outputs;
    const float* labels; // kLanes more may be read
    const std::uint32_t* output_ends;
    std::size_t dimension;
    float rate;
    bool mean;

    float* hidden; // so many numbers as a row has, padded
    float* error;  // the same
    float* slopes; // as many as the most outputs of a step, padded
};

} // namespace textkin::kernels
