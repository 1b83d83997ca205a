// One side of a weighted factorization while the other is fixed: for each row of entries x_j,
// observed at some of the factors p_j, the q that minimizes
//
//     sum over observed (p_j q - x_j)^2 + w sum over all others (p_j q)^2 + lambda |q|^2.
//
// With G = w P^T P + lambda I = L L^T, computed once, and rows a_j = L^-1 p_j, the minimum is
// q = L^-T y with y = (I + (1 - w) A^T A)^-1 A^T x = A^T (I + (1 - w) A A^T)^-1 x over the observed
// rows: whichever of the two systems is smaller is solved.
//
// Tables have a row for each factor and `width` numbers a row, padded with zeros to 64 bytes.
#pragma once

#include "base/buffer.h"
#include "base/stop.h"
#include "topics/topics.h"

#include <cstddef>
#include <vector>

namespace textkin::topics {

struct Weights {
    double missing;        // w, from 0 to 1
    double regularization; // lambda, above 0
};

template <class Number> class FactorSolver {
  public:
    FactorSolver(const Number* factors, std::size_t rows, std::size_t dimensions, std::size_t width,
                 Weights weights, unsigned threads, base::Stop& stop);

    // Of factors that are only some of all: `gram` is P^T P of all, of which j >= i is read.
    FactorSolver(std::vector<double> gram, const Number* factors, std::size_t rows,
                 std::size_t dimensions, std::size_t width, Weights weights, unsigned threads,
                 base::Stop& stop);

    // Write a row of `out` for each row of entries, NaN if numbers leave their range. Returns the
    // minimized sum, including lambda |p|^2 of all factors. The same bits alone and in a batch, and
    // for any number of threads.
    double solve(const Counts<Number>& entries, Number* out, unsigned threads,
                 base::Stop& stop) const;

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t width() const { return width_; }

  private:
    struct Scratch;

    double solve_row(const Counts<Number>& entries, std::size_t row, Scratch& scratch,
                     Number* y) const;
    bool solve_short(const Counts<Number>& entries, std::size_t begin, std::size_t count,
                     Scratch& scratch, Number* y) const;
    bool solve_long(const Counts<Number>& entries, std::size_t begin, std::size_t count,
                    Scratch& scratch, Number* y) const;
    void gather(const Counts<Number>& entries, std::size_t begin, std::size_t count,
                Scratch& scratch) const;

    std::size_t rows_;
    std::size_t dimensions_;
    std::size_t width_;
    Weights weights_;
    double penalty_ = 0;
    base::Buffer<Number> placed_; // the rows a_j
    base::Buffer<Number> back_;   // L^-1, a row for each dimension
};

// P^T P over all rows of a table, `dimensions` numbers a row; what is below the diagonal is 0.
template <class Number>
std::vector<double> gram_of(const Number* table, std::size_t rows, std::size_t dimensions,
                            std::size_t width, unsigned threads, base::Stop& stop);

// Every row times a matrix that is padded like the table, in place.
template <class Number>
void multiply_rows(Number* table, std::size_t rows, const Number* matrix, std::size_t dimensions,
                   std::size_t width, unsigned threads, base::Stop& stop);

} // namespace textkin::topics
