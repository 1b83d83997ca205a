#include "kernels/baseline.h"

namespace textkin {

const Kernels& kernels() {
    static const Kernels chosen{"baseline", baseline::squared_distances, baseline::minimum_reduced,
                                baseline::find_reduced};
    return chosen;
}

} // namespace textkin
