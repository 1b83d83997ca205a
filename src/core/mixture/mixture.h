// A step of expectation maximization in float, for mixtures whose log(weight times density) is
// offset_k + sum over j of x_j (linear_kj + x_j quadratic_kj).
#pragma once

#include "base/buffer.h"
#include "base/stop.h"

#include <cstddef>
#include <span>

namespace textkin::mixture {

// What the rows of a step add up to: tables have a row for each component.
struct MixtureSums {
    double* counts; // sum of w g
    double* first;  // sum of w g x
    double* second; // sum of w g x^2, where the mixture has squares
};

class MixtureStep {
  public:
    // `linear` and `quadratic` have a row for each component; without squares `quadratic` is empty.
    MixtureStep(std::span<const double> offset, std::span<const double> linear,
                std::span<const double> quadratic, bool hard);

    // Writes log p(x) of each row, or the largest term of it if `hard`, and adds posteriors g times
    // weights w to the sums; those of at most 1e-8 are left out, which float would hardly see. Of
    // a row with terms that are no numbers the logarithm is NaN, or infinite. Sums are made in
    // float over blocks of rows, and those added in double: where rows are cut matters, but no
    // company does. Several threads may call it at once.
    void add(const float* values, std::span<const double> weights, double* logs,
             const MixtureSums& sums, base::Stop& stop) const;

    [[nodiscard]] std::size_t n_components() const { return n_components_; }
    [[nodiscard]] std::size_t dimension() const { return dimension_; }
    [[nodiscard]] bool squares() const { return squares_; }

  private:
    struct Scratch;

    void fill_terms(const float* values, std::size_t rows, Scratch& scratch) const;
    void share_out(const double* weights, std::size_t rows, Scratch& scratch, double* logs,
                   double* counts) const;
    void add_listed(const float* values, Scratch& scratch, const MixtureSums& sums) const;
    void add_product(const float* values, std::size_t rows, Scratch& scratch,
                     const MixtureSums& sums) const;

    std::size_t n_components_;
    std::size_t dimension_;
    std::size_t width_; // of terms
    double base_;       // the largest offset, which is taken from all
    bool squares_;
    bool hard_;
    base::Buffer<float> offset_;
    base::Buffer<float> panels_;
};

} // namespace textkin::mixture
