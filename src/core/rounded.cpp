#include "textkin/rounded.h"

#include <stdexcept>
#include <string>

namespace textkin {

void check_size(std::size_t rows, std::size_t columns) {
    if (bytes_needed(rows, columns) <= kMostBytes) return;
    throw std::length_error(
        "Documents with " + std::to_string(rows) + " and " + std::to_string(columns) +
        " different words are too long for an exact comparison, which would take " +
        std::to_string(bytes_needed(rows, columns) >> 30) + " GiB; at most " +
        std::to_string(kMostBytes >> 30) +
        " are allowed. Cut them, as with max_words_per_document.");
}

// The kernel multiplies in float, so the power of two must be one there.
void round_rows(const CostMatrix& cost, std::size_t rows, std::size_t columns, int exponent,
                std::int32_t* out) {
    if (exponent > 120 || exponent < -120)
        return round_rows<CostMatrix>(cost, rows, columns, exponent, out);
    kernels().round_costs(cost.values.data(), rows * cost.stride,
                          static_cast<float>(std::ldexp(1.0, exponent)), out);
}

} // namespace textkin
