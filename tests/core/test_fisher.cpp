// Sums over the words of documents, compared with plain sums in double.
#include "check.h"
#include "kernels/kernels.h"
#include "mixture/fisher.h"

#include <cmath>
#include <random>
#include <vector>

using namespace textkin;

namespace {

using Random = std::mt19937_64;

double number(Random& random) { return std::uniform_real_distribution<double>(-1, 1)(random); }

std::vector<double> table(Random& random, std::size_t size) {
    std::vector<double> values(size);
    for (double& value : values) value = number(random);
    return values;
}

// Words of a mixture, and documents of 0, 1, ... words, some with thousands.
struct Collection {
    std::size_t dimension;
    std::size_t width;
    std::size_t n_components;
    std::vector<float> points;
    std::vector<float> shares;
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> words;
    std::vector<double> counts;

    Collection(Random& random, std::size_t d, std::size_t n)
        : dimension(d), width((2 * d + 15) / 16 * 16), n_components(n) {
        constexpr std::size_t n_words = 3000;
        points.resize(n_words * width);
        for (std::size_t w = 0; w < n_words; ++w) {
            for (std::size_t k = 0; k < d; ++k) {
                const auto x = static_cast<float>(number(random));
                points[w * width + k] = x;
                points[w * width + d + k] = x * x;
            }
            for (std::size_t i = 0; i < n; ++i) // a third of them are zero
                shares.push_back(std::max(0.0F, static_cast<float>(number(random) + 0.3)));
        }
        for (const std::size_t length : {0u, 1u, 2u, 7u, 100u, 511u, 512u, 513u, 3000u}) {
            for (std::size_t j = 0; j < length; ++j) {
                words.push_back(static_cast<std::int32_t>(j * n_words / length));
                counts.push_back(static_cast<double>(random() % 4)); // 0 among them
            }
            starts.push_back(static_cast<std::int64_t>(words.size()));
        }
    }
    [[nodiscard]] topics::Counts<double> documents() const { return {starts, words, counts}; }
    [[nodiscard]] mixture::MixtureWords mixture() const {
        return {points.data(), width, shares.data(), n_components};
    }
};

struct Tables {
    std::vector<double> a, b, c, d, e, f, g, h;

    Tables(Random& random, std::size_t size, std::size_t n)
        : a(table(random, size)), b(table(random, size)), c(table(random, size)),
          d(table(random, size)), e(table(random, size)), f(table(random, size)),
          g(table(random, n)), h(table(random, n)) {}
    [[nodiscard]] mixture::FisherParts parts(std::size_t dimension, bool directed) const {
        return {dimension, a, b, directed ? std::span<const double>(c) : std::span<const double>(),
                d,         e, f, g,
                h};
    }
};

// Definition for one document.
std::vector<double> plain(const Collection& all, std::size_t row, const mixture::FisherParts& parts,
                          const mixture::FisherFinish& finish) {
    double length = 0;
    const auto begin = static_cast<std::size_t>(all.starts[row]);
    const auto end = static_cast<std::size_t>(all.starts[row + 1]);
    for (std::size_t at = begin; at < end; ++at) length += all.counts[at];
    std::vector<double> vector(parts.size());
    if (length == 0) return vector;
    const std::size_t d = parts.dimension;
    const std::size_t n = all.n_components;
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> sums(2 * d);
        double share = 0;
        for (std::size_t at = begin; at < end; ++at) {
            const auto word = static_cast<std::size_t>(all.words[at]);
            const double weight =
                all.counts[at] / length * static_cast<double>(all.shares[word * n + i]);
            share += weight;
            for (std::size_t k = 0; k < 2 * d; ++k)
                sums[k] += weight * static_cast<double>(all.points[word * all.width + k]);
        }
        double along = share;
        if (!parts.directions.empty()) {
            along = 0;
            for (std::size_t k = 0; k < d; ++k) along += parts.directions[i * d + k] * sums[k];
        }
        for (std::size_t k = 0; k < d; ++k) {
            const std::size_t at = i * d + k;
            vector[at] = parts.mean_scale[at] * sums[k] - parts.mean_centre[at] * along;
            vector[n * d + at] = parts.square_scale[at] * sums[d + k] -
                                 parts.square_slope[at] * sums[k] + parts.square_centre[at] * share;
        }
        vector[2 * n * d + i] = parts.weight_scale[i] * share - parts.weight_centre[i];
    }
    double squares = 0;
    for (double& value : vector) {
        value *= std::pow(length, finish.length_power);
        value = std::copysign(std::pow(std::abs(value), finish.power), value);
        squares += value * value;
    }
    if (finish.unit)
        for (double& value : vector) value /= std::sqrt(squares);
    return vector;
}

} // namespace

TEST(fisher_vectors_match_their_definition) {
    Random random(5);
    for (const std::size_t d : {1u, 8u, 33u}) {
        for (const std::size_t n : {1u, 3u, 15u}) {
            const Collection all(random, d, n);
            const Tables tables(random, n * d, n);
            for (const bool directed : {false, true}) {
                const mixture::FisherParts parts = tables.parts(d, directed);
                for (const mixture::FisherFinish finish :
                     {mixture::FisherFinish{0, 1, false}, mixture::FisherFinish{1, 1, false},
                      mixture::FisherFinish{0.5, 0.5, false},
                      mixture::FisherFinish{0.5, 0.7, false}, mixture::FisherFinish{0, 0.5, true},
                      mixture::FisherFinish{1, 1, true}}) {
                    const std::size_t rows = all.starts.size() - 1;
                    std::vector<float> found(rows * parts.size(), 7.0F);
                    base::Stop stop;
                    CHECK(mixture::fisher_vectors(all.documents(), all.mixture(), parts, finish,
                                                  found.data(), 1, stop));
                    CHECK(stop.finished() == rows);
                    for (std::size_t row = 0; row < rows; ++row) {
                        const auto wanted = plain(all, row, parts, finish);
                        double largest = 0;
                        for (const double value : wanted)
                            largest = std::max(largest, std::abs(value));
                        // A root is steep near 0, where sums are rounded.
                        const double tolerance = (finish.power < 1 ? 2e-3 : 1e-5) * largest;
                        for (std::size_t k = 0; k < wanted.size(); ++k)
                            CHECK_NEAR(static_cast<double>(found[row * wanted.size() + k]),
                                       wanted[k], tolerance);
                    }
                }
            }
        }
    }
}

TEST(fisher_vectors_with_every_instruction_set_and_any_threads) {
    Random random(6);
    const Collection all(random, 20, 4);
    const Tables tables(random, 80, 4);
    const mixture::FisherParts parts = tables.parts(20, true);
    const std::size_t rows = all.starts.size() - 1;
    std::vector<float> first;
    for (auto kernel = kernels::available_kernels(); *kernel != nullptr; ++kernel) {
        kernels::use_kernels((*kernel)->name);
        for (const unsigned threads : {1u, 2u, 5u}) {
            std::vector<float> found(rows * parts.size());
            base::Stop stop;
            CHECK(mixture::fisher_vectors(all.documents(), all.mixture(), parts, {0.5, 0.5, false},
                                          found.data(), threads, stop));
            if (first.empty()) first = found;
            CHECK(found == first);
        }
    }
}

TEST(fisher_vectors_report_numbers_that_are_too_large) {
    Random random(7);
    Collection all(random, 4, 2);
    const Tables tables(random, 8, 2);
    const mixture::FisherParts parts = tables.parts(4, false);
    for (double& count : all.counts) count *= 1e300;
    std::vector<float> found((all.starts.size() - 1) * parts.size());
    base::Stop stop;
    CHECK(!mixture::fisher_vectors(all.documents(), all.mixture(), parts, {1, 1, false},
                                   found.data(), 1, stop));
    CHECK(mixture::fisher_vectors(all.documents(), all.mixture(), parts, {0, 1, false},
                                  found.data(), 1, stop));
    CHECK(mixture::fisher_vectors(all.documents(), all.mixture(), parts, {1, 1, true}, found.data(),
                                  1, stop));
    for (const float value : found) CHECK(std::abs(value) <= 1.0F);
}
