// The tables that the files of this folder fill. Nothing here has a body: see kernels/kernels.h.
#pragma once

#include "kernels/kernels.h"

namespace textkin::kernels {

extern const Kernels kBaselineKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
extern const Kernels kNeonKernels;

} // namespace textkin::kernels
