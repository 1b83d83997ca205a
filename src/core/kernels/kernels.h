// The inner loops, as tables of function pointers: one table for each concern, declared in the
// headers *_kernels.h, and all of them for one instruction set. Each instruction set fills them in
// a separate file of this folder; all other code exists once.
//
// Those files are compiled for CPUs other than the one that runs. Their headers must therefore
// contain no function with a body: if several files compile an inline function or a template, the
// linker keeps an arbitrary copy, which may need another CPU. These headers follow the rule.
#pragma once

#include "kernels/embedding_kernels.h"
#include "kernels/factor_kernels.h"
#include "kernels/mixture_kernels.h"
#include "kernels/search_kernels.h"
#include "kernels/topic_kernels.h"
#include "kernels/transport_kernels.h"

namespace textkin::kernels {

struct Kernels {
    const char* name;

    CostKernels costs;
    SimplexKernels simplex;
    PanelKernels panels;
    BoundKernels bounds;
    CentroidKernels centroids;
    DualKernels duals;
    SinkhornKernels sinkhorn;
    TopicKernels<float> topics;
    TopicKernels<double> fine_topics;
    GibbsKernels gibbs;
    FactorKernels<float> factors;
    FactorKernels<double> fine_factors;
    EmbeddingKernels embeddings;
    MixtureKernels mixtures;
    MixtureKernels square_mixtures; // with squares of the numbers
};

// The kernels in use: those of the best instruction set that this processor has, or of the one
// named by the environment variable TEXTKIN_SIMD, looked at once. Throws std::invalid_argument if
// that names none, or one that the processor lacks.
[[nodiscard]] const Kernels& kernels();

// For tests: the tables that this processor can run, the plainest first, ended by nullptr; and a
// change of the one in use, while nothing else runs.
[[nodiscard]] const Kernels* const* available_kernels();
void use_kernels(const char* name);

} // namespace textkin::kernels
