// Latent Dirichlet allocation by collapsed Gibbs sampling (Griffiths and Steyvers 2004).
#pragma once

#include "base/stop.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textkin::topics {

// Products of counts, priors and their inverses stay within the range of float with these.
constexpr double kLeastPrior = 1e-12;
constexpr double kMostPrior = 1e12;

struct Dirichlet {
    double alpha; // of the topics of a document
    double beta;  // of the words of a topic
};

// Tokens and their topics. Large corpora are cut into groups of documents and groups of words; a
// sweep goes through the groups so that cells which share neither documents nor words run side by
// side. Their counts of documents and words are always up to date; only the total of each topic is,
// within such a round, that of the round's begin and of the own cell (Yan, Xu and Qi 2009). The
// number of groups follows from the number of tokens, never from that of threads, and each cell has
// random numbers of its own: any number of threads gives the same topics. With one group the
// sampler is exact.
class TopicSampler {
  public:
    // Counts are whole numbers of at least 0; priors are from kLeastPrior to kMostPrior. `groups`
    // 0: by the number of tokens.
    TopicSampler(std::span<const std::int64_t> starts, std::span<const std::int32_t> words,
                 std::span<const std::int32_t> counts, std::size_t n_words, std::size_t n_topics,
                 Dirichlet prior, std::uint64_t seed, std::size_t groups = 0);

    // Draws a new topic for every token, so many times.
    void sweep(std::size_t times, unsigned threads, base::Stop& stop);

    [[nodiscard]] std::size_t n_tokens() const { return topics_.size(); }
    [[nodiscard]] std::size_t n_topics() const { return n_topics_; }
    [[nodiscard]] std::size_t n_documents() const { return n_documents_; }
    [[nodiscard]] std::size_t n_words() const { return n_words_; }
    [[nodiscard]] std::size_t groups() const { return groups_; }

    // Tokens of each document or word with each topic, row by row without padding.
    [[nodiscard]] std::vector<std::int32_t> document_counts() const;
    [[nodiscard]] std::vector<std::int32_t> word_counts() const;
    [[nodiscard]] std::vector<std::int64_t> totals() const {
        return {totals_.begin(), totals_.begin() + static_cast<std::ptrdiff_t>(n_topics_)};
    }

  private:
    void run_cell(std::size_t cell, std::vector<std::int64_t>& totals, base::Stop& stop);
    [[nodiscard]] std::uint64_t stream(std::size_t cell) const;

    std::size_t n_documents_;
    std::size_t n_words_;
    std::size_t n_topics_;
    std::size_t width_;
    std::size_t groups_;
    Dirichlet prior_;
    std::uint64_t seed_;
    std::uint64_t sweeps_ = 0;
    std::vector<std::size_t> cells_; // where the tokens of each cell begin
    std::vector<std::int32_t> documents_;
    std::vector<std::int32_t> words_;
    std::vector<std::int32_t> topics_;
    std::vector<std::int32_t> document_counts_;
    std::vector<std::int32_t> word_counts_;
    std::vector<std::int64_t> totals_; // width_, as the loops read them
};

// P(k|d) of documents under fixed words: `weights` has a row of `n_topics` numbers for each word,
// in proportion to P(w|k). Each document is drawn on its own, from the same random numbers, so
// that it gets the same answer in any company; the mean of the sweeps after `burn_in` counts. Words
// without weight are left out; a document without others gets equal parts.
void fold_in_by_sampling(std::span<const std::int64_t> starts, std::span<const std::int32_t> words,
                         std::span<const std::int32_t> counts, std::span<const float> weights,
                         std::size_t n_topics, double alpha, std::size_t burn_in,
                         std::size_t samples, std::uint64_t seed, double* out, unsigned threads,
                         base::Stop& stop);

} // namespace textkin::topics
