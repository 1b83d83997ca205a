#include "transport/real_cost_solver.h"

namespace textkin::transport {

// The kernel multiplies in float, so the power of two must be one there.
void round_rows(const CostMatrix& cost, std::size_t rows, std::size_t columns, int exponent,
                std::int32_t* out) {
    if (exponent > 120 || exponent < -120)
        return round_rows<CostMatrix>(cost, rows, columns, exponent, out);
    kernels::kernels().costs.round_costs(cost.values.data(), rows * cost.stride,
                                         static_cast<float>(std::ldexp(1.0, exponent)), out);
}

} // namespace textkin::transport
