#include "topics/topics.h"

#include "base/parallel.h"
#include "kernels/kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace textkin::topics {
namespace {

// Sums are computed in blocks of this size, for any number of threads.
constexpr std::size_t kDocuments = 64;
constexpr std::size_t kWords = 256;

std::size_t blocks(std::size_t count, std::size_t size) { return (count + size - 1) / size; }

template <class Number> const kernels::TopicKernels<Number>& loops();
template <> const kernels::TopicKernels<float>& loops<float>() { return kernels::kernels().topics; }
template <> const kernels::TopicKernels<double>& loops<double>() {
    return kernels::kernels().fine_topics;
}

// The words of one document.
template <class Number> struct Words {
    const std::int32_t* rows;
    const Number* values;
    std::size_t count;
    std::size_t readable; // of the rows, those of later documents included

    Words(const Counts<Number>& counts, std::size_t document)
        : rows(counts.words.data() + counts.starts[document]),
          values(counts.values.data() + counts.starts[document]),
          count(static_cast<std::size_t>(counts.starts[document + 1] - counts.starts[document])),
          readable(counts.words.size() - static_cast<std::size_t>(counts.starts[document])) {}
};

// n / P(w|d), or 0 where that is not possible.
template <class Number>
void divide(const Number* values, const Number* products, std::size_t count, Number* shares) {
    for (std::size_t j = 0; j < count; ++j)
        shares[j] = products[j] > 0 ? values[j] / products[j] : Number{0};
}

template <class Number>
void scaled(const Number* topics, const double* scale, std::size_t n_topics, Number* out) {
    for (std::size_t k = 0; k < n_topics; ++k)
        out[k] = static_cast<Number>(static_cast<double>(topics[k]) * scale[k]);
}

} // namespace

template <class Number>
double em_step(const Counts<Number>& counts, const Columns& columns, std::size_t n_topics,
               std::size_t width, const Number* topics, Number* next_topics, Number* words,
               double* scale, Number* shares, const Priors& priors, unsigned threads,
               base::Stop& stop) {
    const kernels::TopicKernels<Number>& run = loops<Number>();
    const std::size_t document_blocks = blocks(counts.size(), kDocuments);
    std::vector<double> logarithms(document_blocks);
    base::parallel_for(document_blocks, threads, stop, [&](std::size_t block) {
        std::vector<Number> point(width);
        std::vector<Number> sums(width);
        std::vector<Number> products;
        const std::size_t end = std::min(counts.size(), (block + 1) * kDocuments);
        for (std::size_t d = block * kDocuments; d < end; ++d) {
            const Words<Number> own(counts, d);
            Number* c = shares + counts.starts[d];
            products.resize(own.count);
            scaled(topics + d * width, scale, n_topics, point.data());
            run.products(point.data(), words, width, own.rows, own.count, own.readable,
                         products.data());
            divide(own.values, products.data(), own.count, c);
            run.near_sums(words, width, own.rows, c, own.count, sums.data());
            run.renew_topics(sums.data(), point.data(), n_topics, priors.topic, topics + d * width,
                             next_topics + d * width);
            logarithms[block] += run.log_sum(own.values, products.data(), own.count);
        }
    });
    const std::size_t word_blocks = blocks(columns.size(), kWords);
    std::vector<double> totals(word_blocks * n_topics);
    base::parallel_for(word_blocks, threads, stop, [&](std::size_t block) {
        std::vector<Number> sums(width);
        double* total = totals.data() + block * n_topics;
        const std::size_t end = std::min(columns.size(), (block + 1) * kWords);
        for (std::size_t w = block * kWords; w < end; ++w) {
            const auto begin = static_cast<std::size_t>(columns.starts[w]);
            const std::size_t count = static_cast<std::size_t>(columns.starts[w + 1]) - begin;
            run.far_sums(topics, width, columns.documents.data() + begin, shares,
                         columns.places.data() + begin, count, columns.documents.size() - begin,
                         sums.data());
            Number* row = words + w * width;
            if (count == 0) { // a word that no document has is none of the model
                std::fill_n(row, n_topics, Number{0});
                continue;
            }
            run.renew_words(sums.data(), scale, n_topics, priors.word, priors.least, row, total);
        }
    });
    for (std::size_t k = 0; k < n_topics; ++k) {
        double total = 0;
        for (std::size_t block = 0; block < word_blocks; ++block)
            total += totals[block * n_topics + k];
        scale[k] = total > 0 ? 1 / total : 0;
    }
    double logarithm = 0;
    for (const double part : logarithms) logarithm += part;
    return logarithm;
}

template <class Number>
Likelihood log_likelihood(const Counts<Number>& counts, std::size_t width, const Number* topics,
                          const Number* words, const double* scale, unsigned threads,
                          base::Stop& stop) {
    const kernels::TopicKernels<Number>& run = loops<Number>();
    std::vector<Likelihood> parts(blocks(counts.size(), kDocuments));
    base::parallel_for(parts.size(), threads, stop, [&](std::size_t block) {
        std::vector<Number> point(width);
        std::vector<Number> products;
        const std::size_t end = std::min(counts.size(), (block + 1) * kDocuments);
        for (std::size_t d = block * kDocuments; d < end; ++d) {
            const Words<Number> own(counts, d);
            products.resize(own.count);
            scaled(topics + d * width, scale, width, point.data());
            run.products(point.data(), words, width, own.rows, own.count, own.readable,
                         products.data());
            parts[block].logarithm += run.log_sum(own.values, products.data(), own.count);
            for (std::size_t j = 0; j < own.count; ++j)
                if (!(products[j] > 0))
                    parts[block].impossible += static_cast<double>(own.values[j]);
        }
    });
    Likelihood all;
    for (const Likelihood& part : parts) {
        all.logarithm += part.logarithm;
        all.impossible += part.impossible;
    }
    return all;
}

template <class Number>
std::size_t fold_in(const Counts<Number>& counts, std::size_t n_topics, std::size_t width,
                    Number* topics, const Number* words, double power, double topic_prior,
                    std::size_t steps, double tolerance, unsigned threads, base::Stop& stop) {
    const kernels::TopicKernels<Number>& run = loops<Number>();
    std::vector<std::size_t> taken(counts.size());
    base::parallel_for(counts.size(), threads, stop, [&](std::size_t d) {
        const Words<Number> own(counts, d);
        Number* current = topics + d * width;
        if (own.count == 0) return;
        // The rows of the document lie together, so that the steps find them near.
        std::vector<Number> table(own.count * width);
        std::vector<std::int32_t> rows(own.count);
        for (std::size_t j = 0; j < own.count; ++j) {
            rows[j] = static_cast<std::int32_t>(j);
            std::copy_n(words + static_cast<std::size_t>(own.rows[j]) * width, width,
                        table.data() + j * width);
        }
        std::vector<Number> point(width);
        std::vector<Number> sums(width);
        std::vector<Number> next(width);
        std::vector<Number> products(own.count);
        std::vector<Number> shares(own.count);
        double change = tolerance + 1;
        while (taken[d] < steps && change > tolerance && !stop.requested()) {
            for (std::size_t k = 0; k < n_topics; ++k)
                point[k] =
                    power < 1
                        ? static_cast<Number>(std::pow(static_cast<double>(current[k]), power))
                        : current[k];
            run.products(point.data(), table.data(), width, rows.data(), own.count, own.count,
                         products.data());
            divide(own.values, products.data(), own.count, shares.data());
            run.near_sums(table.data(), width, rows.data(), shares.data(), own.count, sums.data());
            if (!std::any_of(shares.begin(), shares.end(), [](Number c) { return c > 0; })) return;
            run.renew_topics(sums.data(), point.data(), n_topics, topic_prior, current,
                             next.data());
            change = 0;
            for (std::size_t k = 0; k < n_topics; ++k)
                change = std::max(change, static_cast<double>(std::abs(next[k] - current[k])));
            std::copy_n(next.data(), n_topics, current);
            ++taken[d];
        }
    });
    return taken.empty() ? 0 : *std::max_element(taken.begin(), taken.end());
}

#define TEXTKIN_TOPICS(Number)                                                                     \
    template double em_step(const Counts<Number>&, const Columns&, std::size_t, std::size_t,       \
                            const Number*, Number*, Number*, double*, Number*, const Priors&,      \
                            unsigned, base::Stop&);                                                \
    template Likelihood log_likelihood(const Counts<Number>&, std::size_t, const Number*,          \
                                       const Number*, const double*, unsigned, base::Stop&);       \
    template std::size_t fold_in(const Counts<Number>&, std::size_t, std::size_t, Number*,         \
                                 const Number*, double, double, std::size_t, double, unsigned,     \
                                 base::Stop&);
TEXTKIN_TOPICS(float)
TEXTKIN_TOPICS(double)

} // namespace textkin::topics
