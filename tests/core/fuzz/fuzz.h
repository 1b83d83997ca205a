// Helpers of the fuzz targets. Each target is one file that defines LLVMFuzzerTestOneInput.
//
// A target checks more than memory errors: it compares results with a simple reference
// implementation, or with another way to the same result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Abort, which both drivers report together with the input, if a condition does not hold.
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: REQUIRE(%s)\n", __FILE__, __LINE__, #condition);          \
            std::abort();                                                                          \
        }                                                                                          \
    } while (false)

namespace fuzz {

// Reads numbers from an input; after its end, zeros.
class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}

    [[nodiscard]] std::size_t left() const { return left_; }

    template <class Number> Number number() {
        Number out{};
        const std::size_t size = left_ < sizeof out ? left_ : sizeof out;
        if (size > 0) std::memcpy(&out, at_, size);
        skip(size);
        return out;
    }
    // A number from 0 to below `end`.
    std::size_t below(std::size_t end) { return number<std::uint16_t>() % end; }

    std::string_view bytes(std::size_t most) {
        const std::size_t size = left_ < most ? left_ : most;
        const std::string_view out(reinterpret_cast<const char*>(at_), size);
        skip(size);
        return out;
    }
    std::string_view rest() { return bytes(left_); }

  private:
    const std::uint8_t* at_;
    std::size_t left_;

    void skip(std::size_t size) {
        at_ += size;
        left_ -= size;
    }
};

} // namespace fuzz
