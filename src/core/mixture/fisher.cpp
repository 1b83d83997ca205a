#include "mixture/fisher.h"

#include "base/buffer.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "kernels/kernels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

namespace textkin::mixture {
namespace {

constexpr std::size_t kDocuments = 16; // that a thread takes at once
// Words whose vectors are summed up in float; such sums are added in double, so that long documents
// are as exact as short ones.
constexpr std::size_t kChunk = 512;
// A vector that is shorter than this part of the terms that it is the difference of is rounding.
constexpr double kLeastPart = 1e-6;

// Memory of one thread.
struct Scratch {
    std::vector<double> parts;       // of the words in the document
    std::vector<std::int32_t> rows;  // of each component: words that it has a share in,
    base::Buffer<float> weights;     // and what they weigh there
    std::vector<std::size_t> counts; // how many
    std::vector<double> shares;      // g_i
    base::Buffer<float> sums;        // of a chunk
    std::vector<double> totals;      // S_i, and Q_i
    std::vector<double> vector;
};

// c_w: divided by the largest first, so that no sum overflows or vanishes. Returns the weight of
// the document.
double read_parts(std::span<const double> counts, std::vector<double>& parts) {
    const double largest = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
    if (!(largest > 0)) return 0;
    parts.resize(counts.size());
    double sum = 0;
    for (std::size_t j = 0; j < counts.size(); ++j) sum += parts[j] = counts[j] / largest;
    for (double& part : parts) part /= sum;
    return largest * sum;
}

// The words of each component, those without a share left out, and g_i.
void sort_by_component(std::span<const std::int32_t> own, const MixtureWords& words,
                       Scratch& scratch) {
    const std::size_t n = words.n_components;
    scratch.rows.resize(std::max(scratch.rows.size(), n * own.size()));
    scratch.weights.grow(n * own.size());
    scratch.counts.assign(n, 0);
    scratch.shares.assign(n, 0);
    for (std::size_t j = 0; j < own.size(); ++j) {
        const auto word = static_cast<std::size_t>(own[j]);
        const float* shares = words.shares + word * n;
        const float* point = words.points + word * words.width;
        for (std::size_t k = 0; k < words.width; k += 16) __builtin_prefetch(point + k);
        for (std::size_t i = 0; i < n; ++i) {
            const double share = scratch.parts[j] * static_cast<double>(shares[i]);
            const auto weight = static_cast<float>(share);
            const std::size_t at = i * own.size() + scratch.counts[i];
            scratch.rows[at] = own[j];
            scratch.weights[at] = weight;
            scratch.counts[i] += weight > 0 ? 1 : 0; // otherwise the next one takes the place
            scratch.shares[i] += share;
        }
    }
}

// In eight sums, which do not wait for each other.
double product_of(const double* a, const double* b, std::size_t count) {
    double sums[8] = {};
    std::size_t k = 0;
    for (; k + 8 <= count; k += 8)
        for (std::size_t l = 0; l < 8; ++l) sums[l] += a[k + l] * b[k + l];
    for (; k < count; ++k) sums[k % 8] += a[k] * b[k];
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
           ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

// S_i, and Q_i after it, into `totals`.
void sum_up(const MixtureWords& words, const std::int32_t* rows, const float* weights,
            std::size_t count, Scratch& scratch) {
    scratch.sums.grow(words.width);
    scratch.totals.assign(words.width, 0);
    for (std::size_t from = 0; from < count; from += kChunk) {
        const std::size_t taken = std::min(kChunk, count - from);
        kernels::kernels().topics.near_sums(words.points, words.width, rows + from, weights + from,
                                            taken, scratch.sums.data());
        for (std::size_t k = 0; k < words.width; ++k)
            scratch.totals[k] += static_cast<double>(scratch.sums[k]);
    }
}

// Write the parts of one component to their places in the vector. Returns the square of their
// length before the centers are subtracted.
double write_parts(const FisherParts& parts, std::size_t component, double share,
                   const double* totals, double* vector) {
    const std::size_t d = parts.dimension;
    const std::size_t at = component * d;
    double square = 0;
    if (!parts.mean_scale.empty()) {
        const double along =
            parts.directions.empty() ? share : product_of(parts.directions.data() + at, totals, d);
        double* own = vector + at;
        for (std::size_t k = 0; k < d; ++k) own[k] = parts.mean_scale[at + k] * totals[k];
        square += product_of(own, own, d);
        for (std::size_t k = 0; k < d; ++k) own[k] -= parts.mean_centre[at + k] * along;
        vector += parts.mean_scale.size();
    }
    if (!parts.square_scale.empty()) {
        double* own = vector + at;
        for (std::size_t k = 0; k < d; ++k) own[k] = parts.square_scale[at + k] * totals[d + k];
        square += product_of(own, own, d);
        for (std::size_t k = 0; k < d; ++k)
            own[k] += parts.square_centre[at + k] * share - parts.square_slope[at + k] * totals[k];
        vector += parts.square_scale.size();
    }
    if (!parts.weight_scale.empty()) {
        const double term = parts.weight_scale[component] * share;
        square += term * term;
        vector[component] = term - parts.weight_centre[component];
    }
    return square;
}

// False if a number leaves the range of float.
bool finish_vector(std::vector<double>& vector, double length, double square,
                   const FisherFinish& finish, float* out) {
    double scale = 1;
    if (finish.unit &&
        product_of(vector.data(), vector.data(), vector.size()) <= kLeastPart * kLeastPart * square)
        std::fill(vector.begin(), vector.end(), 0.0); // or its direction would be anything
    if (!finish.unit && finish.length_power != 0) scale = std::pow(length, finish.length_power);
    if (finish.power == 0.5) {
        scale = std::sqrt(scale);
        for (double& value : vector) value = std::copysign(std::sqrt(std::abs(value)), value);
    } else if (finish.power != 1) {
        scale = std::pow(scale, finish.power);
        for (double& value : vector)
            value = std::copysign(std::pow(std::abs(value), finish.power), value);
    }
    if (finish.unit) {
        const double squares = product_of(vector.data(), vector.data(), vector.size());
        scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
    }
    bool fits = true;
    for (std::size_t k = 0; k < vector.size(); ++k) {
        const double value = vector[k] * scale;
        fits &= std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max());
        out[k] = static_cast<float>(value);
    }
    return fits;
}

} // namespace

bool fisher_vectors(const topics::Counts<double>& documents, const MixtureWords& words,
                    const FisherParts& parts, const FisherFinish& finish, float* out,
                    unsigned threads, base::Stop& stop) {
    std::atomic<bool> fits = true;
    base::ScratchPool<Scratch> pool;
    const auto encode = [&](std::size_t row, Scratch& scratch) {
        const auto begin = static_cast<std::size_t>(documents.starts[row]);
        const std::size_t count = static_cast<std::size_t>(documents.starts[row + 1]) - begin;
        float* own = out + row * parts.size();
        const double length = read_parts(documents.values.subspan(begin, count), scratch.parts);
        if (!(length > 0)) {
            std::fill_n(own, parts.size(), 0.0F);
            return;
        }
        sort_by_component(documents.words.subspan(begin, count), words, scratch);
        scratch.vector.resize(parts.size());
        double square = 0;
        for (std::size_t i = 0; i < words.n_components; ++i) {
            sum_up(words, scratch.rows.data() + i * count, scratch.weights.data() + i * count,
                   scratch.counts[i], scratch);
            square += write_parts(parts, i, scratch.shares[i], scratch.totals.data(),
                                  scratch.vector.data());
        }
        if (!finish_vector(scratch.vector, length, square, finish, own)) fits = false;
    };
    base::parallel_for((documents.size() + kDocuments - 1) / kDocuments, threads, stop,
                       [&](std::size_t block) {
                           const auto scratch = pool.take();
                           const std::size_t begin = block * kDocuments;
                           const std::size_t end = std::min(documents.size(), begin + kDocuments);
                           for (std::size_t row = begin; row < end; ++row) encode(row, *scratch);
                           stop.count_finished(end - begin); // documents, not blocks
                       },
                       false);
    return fits;
}

} // namespace textkin::mixture
