// Kernels of matrix factorization. No function here has a body: see kernels/kernels.h.
#pragma once

#include "kernels/layout.h"

namespace textkin::kernels {

// Which numbers of a matrix may differ from 0: all, those with j >= i, or those with j <= i.
enum class Shape : std::uint8_t { full, upper, lower };

// A product of matrices: out[i][j] becomes, or grows by, the sum over k below `count` of
// left[i * left_row + k * left_step] * right[k][j], in the order of k. Rows of `right` and `out`
// have `width` numbers, a multiple of 64 bytes.
template <class Number> struct Product {
    const Number* left;
    std::size_t left_row;
    std::size_t left_step;
    std::size_t rows; // of `left` and `out`
    const Number* right;
    std::size_t count;
    std::size_t width;
    Number* out;
    bool adds = false;
    bool upper = false; // whether only j >= i is wanted; the rest of `out` may become anything
    Shape right_shape = Shape::full;
};

// Loops of matrix factorization. A row gives the same bits alone and in a batch.
template <class Number> struct FactorKernels {
    void (*multiply)(const Product<Number>& product);

    // out[i * stride + j] for j >= i: `factor` times the product of rows i and j, and 1 more where
    // they are the same; 0 from `count` to `stride`, a multiple of 64 bytes.
    void (*pair_products)(const Number* rows, std::size_t count, std::size_t width, Number factor,
                          Number* out, std::size_t stride);

    // Solves M x = b for a symmetric positive definite M, of which only j >= i is read, and whose
    // rows are padded with zeros to `stride`; `x` holds b first, padded likewise. M is lost. False
    // if M is not positive definite.
    bool (*solve_positive)(Number* matrix, std::size_t count, std::size_t stride, Number* x);
};

} // namespace textkin::kernels
