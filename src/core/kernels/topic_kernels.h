// Kernels of topic models. No function here has a body: see kernels/kernels.h.
#pragma once

#include "kernels/layout.h"

namespace textkin::kernels {

struct GibbsTokens; // kernels/gibbs_tokens.h

// Smaller probabilities become 0: numbers that decay further become subnormal, which is slow.
inline constexpr double kLeastTopic = 1e-15;

// Loops over tables of topics: rows of `width` numbers, a multiple of 64 bytes. The same bits on
// every processor.
template <class Number> struct TopicKernels {
    // out[j]: the product of `point` and row rows[j]. Of the rows, `readable` may be looked at, so
    // that those which come next are asked for.
    void (*products)(const Number* point, const Number* table, std::size_t width,
                     const std::int32_t* rows, std::size_t count, std::size_t readable,
                     Number* out);

    // out: the sum of weights[j] times row rows[j], in order, where rows and weights were used just
    // before; and of weights[places[j]] times row rows[j], where they are far away.
    void (*near_sums)(const Number* table, std::size_t width, const std::int32_t* rows,
                      const Number* weights, std::size_t count, Number* out);
    void (*far_sums)(const Number* table, std::size_t width, const std::int32_t* rows,
                     const Number* weights, const std::int64_t* places, std::size_t count,
                     std::size_t readable, Number* out);

    // What the topics of a document become: sums[k] * point[k] and the prior, in parts of 1, and 0
    // below kLeastTopic; they stay as they were where all of it is 0.
    void (*renew_topics)(const Number* sums, const Number* point, std::size_t n_topics,
                         double prior, const Number* before, Number* after);

    // What the counts of a word become: row[k] * scale[k] * sums[k], 0 below `least`, and the
    // prior; totals[k] grows by that.
    void (*renew_words)(const Number* sums, const double* scale, std::size_t n_topics, double prior,
                        double least, Number* row, double* totals);

    // The sum of weights[j] log(values[j]) over values above 0.
    double (*log_sum)(const Number* weights, const Number* values, std::size_t count);
};

// Collapsed Gibbs sampling.
struct GibbsKernels {
    // Draws a new topic for each token in order, from counts without the token; the second with
    // fixed probabilities of the words. The same topics on every processor.
    void (*draw_topics)(GibbsTokens& tokens);
    void (*draw_topics_of_fixed_words)(GibbsTokens& tokens);
};

} // namespace textkin::kernels
