// Topics that are windows of a grid: a torus of cells with a distribution of words each, and for
// each cell the window that begins there and goes on to the right and down, over the edges. Its
// topic is the mean of its cells.
//
// Tables are those of topics.h, with a row for each word and a number for each cell, row by row of
// the grid. Cells hold expected counts; `scale` makes probabilities of them.
#pragma once

#include "base/stop.h"

#include <cstddef>

namespace textkin::topics {

struct GridWindows {
    std::size_t rows;
    std::size_t columns;
    std::size_t high; // of a window: at least 1, at most `rows`
    std::size_t wide; // at least 1, at most `columns`

    [[nodiscard]] std::size_t size() const { return rows * columns; }
    [[nodiscard]] double cells() const {
        return static_cast<double>(high) * static_cast<double>(wide);
    }
};

// The topic of each window: the mean of cells * scale; the padding stays as it is.
template <class Number>
void window_means(const GridWindows& windows, std::size_t n_words, std::size_t width,
                  const Number* cells, const double* scale, Number* words, unsigned threads,
                  base::Stop& stop);

struct CellPriors {
    double word;  // pseudo-counts of each word in a cell
    double least; // expected counts below this become 0
};

// The maximization step of cells: `counts` are the expected counts of words in windows whose topics
// were the means of `cells`. A token of a window is in each of its cells in proportion to the
// cell's part of the mean. Changes `cells` and `scale`, and writes the sum of the expected counts
// of each cell, excluding the priors, to `tokens`. A word that is in no cell is skipped.
template <class Number>
void renew_cells(const GridWindows& windows, std::size_t n_words, std::size_t width, Number* cells,
                 double* scale, const Number* counts, const CellPriors& priors, double* tokens,
                 unsigned threads, base::Stop& stop);

} // namespace textkin::topics
