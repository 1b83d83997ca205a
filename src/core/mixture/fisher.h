// Fisher vectors: how the words of a document would change a mixture that words are drawn from.
//
// With shares g_w(i), the probability of component i for word w, and the part c_w that a word has
// in a document, everything follows from
//
//     g_i = sum of c_w g_w(i),    S_i = sum of c_w g_w(i) x_w,    Q_i = the same of squares x_w^2.
#pragma once

#include "base/stop.h"
#include "topics/topics.h"

#include <cstddef>
#include <span>

namespace textkin::mixture {

// Words of a mixture, a row each.
struct MixtureWords {
    const float* points; // d coordinates, and their squares after them if these are wanted
    std::size_t width;   // numbers a row of points: padded with zeros to 64 bytes
    const float* shares; // of the components
    std::size_t n_components;
};

// What is made of the sums, for each of the components; tables have d numbers a row, and none are
// empty parts.
struct FisherParts {
    std::size_t dimension; // d
    // scale S_i - center along, where `along` is g_i, or the product of direction and S_i.
    std::span<const double> mean_scale;
    std::span<const double> mean_centre;
    std::span<const double> directions;
    // square_scale Q_i - square_slope S_i + square_centre g_i.
    std::span<const double> square_scale;
    std::span<const double> square_slope;
    std::span<const double> square_centre;
    // scale g_i - center, one number each.
    std::span<const double> weight_scale;
    std::span<const double> weight_centre;

    [[nodiscard]] std::size_t size() const {
        return mean_scale.size() + square_scale.size() + weight_scale.size();
    }
};

// What is done with a vector in the end, in this order.
struct FisherFinish {
    double length_power; // times the weight of the document to this power
    double power;        // sign(v) |v|^power
    bool unit;           // divided by its length, which leaves nothing of the first; zeros where
                         // the vector is but rounding
};

// A row of `out` for each document, of means, then squares, then weights; zeros for a document
// without weight. False if a number left the range of float. A document gives the same bits in any
// company, and for any number of threads.
bool fisher_vectors(const topics::Counts<double>& documents, const MixtureWords& words,
                    const FisherParts& parts, const FisherFinish& finish, float* out,
                    unsigned threads, base::Stop& stop);

} // namespace textkin::mixture
