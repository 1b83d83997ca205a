// Kernels of embeddings. No function here has a body: see kernels/kernels.h.
#pragma once

#include "kernels/layout.h"

namespace textkin::kernels {

struct EmbeddingSteps; // kernels/embedding_steps.h

// Training of word and document vectors.
struct EmbeddingKernels {
    // Takes the steps in order. The first changes all inputs and outputs, rows padded with zeros to
    // 64 bytes; other threads may do the same at once. The second changes the first input of each
    // step, which is padded so, and only reads the other rows, which end with their numbers.
    void (*train_vectors)(const EmbeddingSteps& steps);
    void (*train_first_inputs)(const EmbeddingSteps& steps);
};

} // namespace textkin::kernels
