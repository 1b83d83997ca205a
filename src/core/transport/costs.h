// The cost of moving each word of one document to each word of another.
#pragma once

#include "base/buffer.h"
#include "base/stop.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace textkin::transport {

enum class Cost : std::uint8_t {
    euclidean,         // |x - y|, the paper's: a metric
    squared_euclidean, // |x - y|^2
    cosine,            // 1 - cos(x, y) as |x - y|^2 / 2: expects vectors of unit length
};

[[nodiscard]] constexpr bool is_metric(Cost cost) { return cost == Cost::euclidean; }

// Word vectors, one per row; words beyond the last row are rows of `points`.
struct VectorTable {
    const float* data = nullptr;
    std::size_t rows = 0;
    std::size_t dimension = 0;
    const float* points = nullptr;

    [[nodiscard]] const float* row(std::int32_t word) const {
        const auto number = static_cast<std::size_t>(word);
        return number < rows ? data + number * dimension : points + (number - rows) * dimension;
    }
};

// A rows x columns matrix of costs; a row begins every `stride` numbers, a multiple of kLanes. The
// cost is value x unit: the unit keeps vectors of any size inside the range of float.
struct CostMatrix {
    base::Buffer<float> values;
    std::size_t rows = 0, columns = 0, stride = 0;
    float largest = 0;
    double unit = 1;

    [[nodiscard]] const float* row(std::size_t i) const { return values.data() + i * stride; }
    [[nodiscard]] float at(std::size_t i, std::size_t j) const { return row(i)[j]; }
    double operator()(std::size_t i, std::size_t j) const { return static_cast<double>(at(i, j)); }
};

// Computes the costs of all pairs of words with the same kernel in every call, so that the costs of
// two documents are bit-identical alone and in a batch. Reuses its memory.
class CostKernel {
  public:
    void compute(const VectorTable& table, Cost cost, std::span<const std::int32_t> rows,
                 std::span<const std::int32_t> columns, base::Stop& stop, CostMatrix& out);

  private:
    // Addresses of the vectors of some words: in the table, or copies.
    struct Points {
        base::Buffer<const float*> at;
        base::Buffer<float> copies;

        // Copies are multiplied by 2^exponent, which is 0 otherwise.
        void gather(const VectorTable& table, std::span<const std::int32_t> words,
                    std::size_t count, bool copied, int exponent);
    };
    Points rows_, columns_;

    void fill(const VectorTable& table, Cost cost, std::span<const std::int32_t> rows,
              std::span<const std::int32_t> columns, int exponent, base::Stop& stop,
              CostMatrix& out);
};

} // namespace textkin::transport
