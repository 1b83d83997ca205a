// Mixtures of topics: P(w|d) = sum over k of P(w|k) P(k|d), fitted to counts by expectation
// maximization over the entries that are not zero.
//
// A table of topics has a row for each document or word and `width` numbers per row, one for each
// topic, padded with zeros to 64 bytes. Words hold expected counts, which `scale` converts to
// probabilities: P(w|k) = words[w][k] * scale[k].
#pragma once

#include "base/stop.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace textkin::topics {

// Counts of words, document by document; rows ascend, and so do the words of a row.
template <class Number> struct Counts {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> words;
    std::span<const Number> values;

    [[nodiscard]] std::size_t size() const { return starts.size() - 1; }
};

// The same entries word by word: the document of each, and its place among the values above.
struct Columns {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> documents;
    std::span<const std::int64_t> places;

    [[nodiscard]] std::size_t size() const { return starts.size() - 1; }
};

struct Priors {
    double topic; // pseudo-counts of each topic in a document
    double word;  // of each word in a topic
    double least; // expected counts below this become 0: numbers that only fade slow everything
};

// One step of expectation maximization: reads `topics` and `words` with `scale`, writes
// `next_topics`, and changes `words` and `scale`; the padding stays 0. `shares` is as long as the
// values. Returns the sum of n log P(w|d) before the step, excluding entries with P(w|d) = 0.
template <class Number>
double em_step(const Counts<Number>& counts, const Columns& columns, std::size_t n_topics,
               std::size_t width, const Number* topics, Number* next_topics, Number* words,
               double* scale, Number* shares, const Priors& priors, unsigned threads,
               base::Stop& stop);

// The sum of n log P(w|d); entries with P(w|d) = 0 are left out, and their counts are summed up.
struct Likelihood {
    double logarithm = 0;
    double impossible = 0;
};
template <class Number>
Likelihood log_likelihood(const Counts<Number>& counts, std::size_t width, const Number* topics,
                          const Number* words, const double* scale, unsigned threads,
                          base::Stop& stop);

// P(k|d) of documents under fixed words, from the start that is in `topics`: at most `steps` steps,
// until no P(k|d) changes by more than `tolerance`. `words` are probabilities, or powers of them
// where `power` is not 1: then each step begins from the same powers of P(k|d). A document without
// a word that has a probability keeps its start. Returns the most steps that any document took.
template <class Number>
std::size_t fold_in(const Counts<Number>& counts, std::size_t n_topics, std::size_t width,
                    Number* topics, const Number* words, double power, double topic_prior,
                    std::size_t steps, double tolerance, unsigned threads, base::Stop& stop);

} // namespace textkin::topics
