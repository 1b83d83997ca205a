// Decimal numbers, parsed by three functions whose results must be bit-identical.
#include "base/parse_number.h"
#include "embed/vector_file.h"
#include "fuzz.h"

#include <bit>
#include <cmath>
#include <string>

using namespace textkin;

namespace {

bool is_same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    float first = 0;
    float second = 0;
    float third = 0;
    const char* const after = base::parse_number(begin, end, first);
    REQUIRE(base::parse_number_by_strtof(begin, end, second) == after);
    if (after != nullptr) {
        REQUIRE(after > begin && after <= end);
        REQUIRE(is_same(first, second));
        REQUIRE(embed::parse_float(begin, end, third) == after);
        REQUIRE(is_same(first, third));
    } else {
        const char* const stop = embed::parse_float(begin, end, third);
        REQUIRE(stop == nullptr || *begin == '+');
    }
    return 0;
}
