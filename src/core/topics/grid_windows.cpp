#include "topics/grid_windows.h"

#include "base/parallel.h"

#include <algorithm>
#include <vector>

namespace textkin::topics {
namespace {

// Sums are computed in blocks of this size, for any number of threads.
constexpr std::size_t kWords = 256;

std::size_t blocks(std::size_t count) { return (count + kWords - 1) / kWords; }

// The sums of windows for one word. Sums of 1, 2, 4, ... cells are made of each other, and those of
// a window of them: no more work than by differences of running sums, but nothing cancels, so no
// sum of a small window suffers from large numbers elsewhere, or falls below 0. The order of the
// additions is the same all over the torus.
class WindowSums {
  public:
    explicit WindowSums(const GridWindows& windows)
        : windows_(windows), pitch_(windows.columns + windows.wide - 1),
          across_(windows.rows * pitch_), lines_(across_.size()),
          down_((windows.rows + windows.high - 1) * windows.columns) {}

    // out[l] = sum of in[i] over the cells i of the window that begins at l.
    void over_cells(const double* in, double* out) { add(in, out, 0, 0); }

    // out[i] = sum of in[l] over the windows l that have the cell i.
    void over_windows(const double* in, double* out) {
        add(in, out, windows_.columns - (windows_.wide - 1), windows_.rows - (windows_.high - 1));
    }

  private:
    // Rows and columns are repeated beyond the edge that they leave the grid by; which is where
    // they begin, at `column` and `row`.
    void add(const double* in, double* out, std::size_t column, std::size_t row) {
        const std::size_t columns = windows_.columns;
        for (std::size_t r = 0; r < windows_.rows; ++r) {
            const double* from = in + r * columns;
            double* to = across_.data() + r * pitch_;
            std::size_t at = column % columns;
            for (std::size_t done = 0; done < pitch_; at = 0) {
                const std::size_t count = std::min(columns - at, pitch_ - done);
                std::copy_n(from + at, count, to + done);
                done += count;
            }
        }
        runs(across_.data(), lines_.data(), across_.size(), 1, windows_.wide);
        for (std::size_t j = 0; j < windows_.rows + windows_.high - 1; ++j)
            std::copy_n(lines_.data() + (row + j) % windows_.rows * pitch_, columns,
                        down_.data() + j * columns);
        runs(down_.data(), out, down_.size(), columns, windows_.high);
    }

    // out[j] = sum of in[j + i * unit] over i below `length`, where all of these are; `in` is lost.
    static void runs(double* in, double* out, std::size_t size, std::size_t unit,
                     std::size_t length) {
        const std::size_t wanted = size - (length - 1) * unit;
        std::size_t covered = 0;
        for (std::size_t span = 1; covered < length; span *= 2) { // in has sums of `span`
            if ((length & span) != 0) {
                const double* from = in + covered * unit;
                if (covered == 0)
                    std::copy_n(from, wanted, out);
                else
                    for (std::size_t j = 0; j < wanted; ++j) out[j] += from[j];
                covered += span;
            }
            if (covered == length) break;
            const std::size_t left = size - (2 * span - 1) * unit;
            const double* next = in + span * unit;
            for (std::size_t j = 0; j < left; ++j) in[j] += next[j];
        }
    }

    GridWindows windows_;
    std::size_t pitch_;
    std::vector<double> across_;
    std::vector<double> lines_;
    std::vector<double> down_;
};

// What cells and windows of one word are, from the counts of its cells.
template <class Number> class WordInWindows {
  public:
    explicit WordInWindows(const GridWindows& windows)
        : cells(windows.size()), means(windows.size()), sums(windows), part_(1 / windows.cells()) {}

    void read(const Number* row, const double* scale) {
        for (std::size_t k = 0; k < cells.size(); ++k)
            cells[k] = static_cast<double>(row[k]) * scale[k];
        sums.over_cells(cells.data(), means.data());
        // In the stored precision, so that the numbers are bit-identical to those of the
        // expectation step.
        for (double& mean : means) mean = static_cast<double>(static_cast<Number>(mean * part_));
    }

    std::vector<double> cells;
    std::vector<double> means;
    WindowSums sums;

  private:
    double part_;
};

} // namespace

template <class Number>
void window_means(const GridWindows& windows, std::size_t n_words, std::size_t width,
                  const Number* cells, const double* scale, Number* words, unsigned threads,
                  base::Stop& stop) {
    base::parallel_for(blocks(n_words), threads, stop, [&](std::size_t block) {
        WordInWindows<Number> word(windows);
        const std::size_t end = std::min(n_words, (block + 1) * kWords);
        for (std::size_t w = block * kWords; w < end; ++w) {
            word.read(cells + w * width, scale);
            std::transform(word.means.begin(), word.means.end(), words + w * width,
                           [](double mean) { return static_cast<Number>(mean); });
        }
    });
}

template <class Number>
void renew_cells(const GridWindows& windows, std::size_t n_words, std::size_t width, Number* cells,
                 double* scale, const Number* counts, const CellPriors& priors, double* tokens,
                 unsigned threads, base::Stop& stop) {
    const std::size_t size = windows.size();
    const double part = 1 / windows.cells();
    std::vector<double> totals(blocks(n_words) * size);
    std::vector<double> own(totals.size());
    base::parallel_for(blocks(n_words), threads, stop, [&](std::size_t block) {
        WordInWindows<Number> word(windows);
        std::vector<double> ratios(size);
        std::vector<double> spread(size);
        double* total = totals.data() + block * size;
        double* mine = own.data() + block * size;
        const std::size_t end = std::min(n_words, (block + 1) * kWords);
        for (std::size_t w = block * kWords; w < end; ++w) {
            Number* row = cells + w * width;
            if (std::all_of(row, row + size, [](Number cell) { return cell == 0; })) continue;
            word.read(row, scale);
            const Number* expected = counts + w * width;
            for (std::size_t k = 0; k < size; ++k)
                ratios[k] =
                    word.means[k] > 0 ? static_cast<double>(expected[k]) / word.means[k] : 0.0;
            word.sums.over_windows(ratios.data(), spread.data());
            for (std::size_t k = 0; k < size; ++k) {
                const double value = word.cells[k] * part * spread[k];
                const double kept = value < priors.least ? 0 : value;
                row[k] = static_cast<Number>(kept + priors.word);
                mine[k] += kept;
                total[k] += kept + priors.word;
            }
        }
    });
    for (std::size_t k = 0; k < size; ++k) {
        double total = 0;
        tokens[k] = 0;
        for (std::size_t at = k; at < totals.size(); at += size) {
            total += totals[at];
            tokens[k] += own[at];
        }
        scale[k] = total > 0 ? 1 / total : 0;
    }
}

#define TEXTKIN_WINDOWS(Number)                                                                    \
    template void window_means(const GridWindows&, std::size_t, std::size_t, const Number*,        \
                               const double*, Number*, unsigned, base::Stop&);                     \
    template void renew_cells(const GridWindows&, std::size_t, std::size_t, Number*, double*,      \
                              const Number*, const CellPriors&, double*, unsigned, base::Stop&);
TEXTKIN_WINDOWS(float)
TEXTKIN_WINDOWS(double)

} // namespace textkin::topics
