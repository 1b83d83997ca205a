// Small vector tables and documents for tests, and reference costs of words.
#pragma once

#include "transport/costs.h"
#include "transport/documents.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace corpus {

inline constexpr textkin::transport::Cost kCosts[] = {textkin::transport::Cost::euclidean,
                                                      textkin::transport::Cost::squared_euclidean,
                                                      textkin::transport::Cost::cosine};

struct Table {
    std::vector<float> data;
    std::size_t dimension = 1;

    [[nodiscard]] textkin::transport::VectorTable view() const {
        return {data.data(), data.size() / dimension, dimension};
    }
};

// Unit vectors if the cost requires them.
inline Table random_table(std::mt19937_64& random, std::size_t rows, std::size_t dimension,
                          textkin::transport::Cost cost) {
    std::normal_distribution<float> normal;
    Table table{std::vector<float>(rows * dimension), dimension};
    for (float& x : table.data) x = normal(random);
    if (cost != textkin::transport::Cost::cosine) return table;
    for (std::size_t i = 0; i < rows; ++i) {
        float square = 0;
        for (std::size_t k = 0; k < dimension; ++k)
            square += table.data[i * dimension + k] * table.data[i * dimension + k];
        for (std::size_t k = 0; k < dimension; ++k)
            table.data[i * dimension + k] /= std::sqrt(square);
    }
    return table;
}

// Cost in long double, without code of the core.
inline double cost_of(const Table& table, textkin::transport::Cost cost, std::int32_t a,
                      std::int32_t b) {
    const textkin::transport::VectorTable view = table.view();
    long double square = 0;
    for (std::size_t k = 0; k < table.dimension; ++k) {
        const long double d =
            static_cast<long double>(view.row(a)[k]) - static_cast<long double>(view.row(b)[k]);
        square += d * d;
    }
    if (cost == textkin::transport::Cost::euclidean) return static_cast<double>(std::sqrt(square));
    return static_cast<double>(cost == textkin::transport::Cost::cosine ? square / 2 : square);
}

inline double largest_cost(const Table& table, textkin::transport::Cost cost,
                           const textkin::transport::Document& a,
                           const textkin::transport::Document& b) {
    double largest = 0;
    for (const std::int32_t x : a.words)
        for (const std::int32_t y : b.words)
            largest = std::max(largest, cost_of(table, cost, x, y));
    return largest;
}

inline bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

inline bool same_bits(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// Words with their weights, in ascending order of words.
using Weights = std::vector<std::pair<std::int32_t, double>>;

inline textkin::transport::Documents documents(const std::vector<Weights>& rows) {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<double> weights;
    for (const Weights& row : rows) {
        for (const auto& [word, weight] : row) {
            indices.push_back(word);
            weights.push_back(weight);
        }
        indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
    return {indptr, indices, weights};
}

// About `share` of the words, at least one, with counts or fractional weights.
inline Weights random_document(std::mt19937_64& random, std::size_t words, double share,
                               bool counts) {
    std::uniform_real_distribution<double> uniform;
    Weights row;
    while (row.empty())
        for (std::size_t w = 0; w < words; ++w)
            if (uniform(random) < share)
                row.emplace_back(static_cast<std::int32_t>(w),
                                 counts ? 1.0 + static_cast<double>(random() % 4)
                                        : 0.01 + uniform(random));
    return row;
}

} // namespace corpus
