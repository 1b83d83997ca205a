#include "topics/gibbs.h"

#include "base/parallel.h"
#include "base/random.h"
#include "kernels/gibbs_tokens.h"
#include "kernels/padding.h"

#include <algorithm>
#include <numeric>

namespace textkin::topics {
namespace {

constexpr std::size_t kGroups = 16;
constexpr std::size_t kTokensBetweenPolls = 1 << 12;
constexpr std::size_t kManyTokens = std::size_t{1} << 17; // below, one group

using base::mixed;
using base::next_below;

// The group of each document: runs of about as many tokens.
std::vector<std::size_t> groups_of_documents(const std::vector<std::size_t>& tokens,
                                             std::size_t groups) {
    const std::size_t all = std::accumulate(tokens.begin(), tokens.end(), std::size_t{0});
    std::vector<std::size_t> found(tokens.size());
    std::size_t before = 0;
    for (std::size_t d = 0; d < tokens.size(); ++d) {
        found[d] = all > 0 ? std::min(groups - 1, before * groups / all) : 0;
        before += tokens[d];
    }
    return found;
}

// The group of each word: the most frequent first, always to the group with the fewest tokens.
std::vector<std::size_t> groups_of_words(const std::vector<std::size_t>& tokens,
                                         std::size_t groups) {
    std::vector<std::size_t> order(tokens.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return tokens[a] > tokens[b]; });
    std::vector<std::size_t> load(groups);
    std::vector<std::size_t> found(tokens.size());
    for (const std::size_t w : order) {
        const auto least = std::min_element(load.begin(), load.end());
        *least += tokens[w];
        found[w] = static_cast<std::size_t>(least - load.begin());
    }
    return found;
}

// Draws the tokens in their order, some at a time, and asks in between. Throws Stopped.
void draw_in_pieces(kernels::GibbsTokens& tokens, void (*draw)(kernels::GibbsTokens&),
                    base::Stop& stop) {
    kernels::GibbsTokens piece = tokens;
    for (std::size_t first = 0; first < tokens.count; first += kTokensBetweenPolls) {
        if (first > 0) stop.throw_if_requested();
        piece.documents = tokens.documents + first;
        piece.words = tokens.words + first;
        piece.topics = tokens.topics + first;
        piece.count = std::min(kTokensBetweenPolls, tokens.count - first);
        draw(piece);
    }
    tokens.random = piece.random;
}

std::vector<std::int32_t> without_padding(const std::vector<std::int32_t>& rows, std::size_t count,
                                          std::size_t width, std::size_t kept) {
    std::vector<std::int32_t> out(count * kept);
    for (std::size_t row = 0; row < count; ++row)
        std::copy_n(rows.data() + row * width, kept, out.data() + row * kept);
    return out;
}

} // namespace

TopicSampler::TopicSampler(std::span<const std::int64_t> starts,
                           std::span<const std::int32_t> words,
                           std::span<const std::int32_t> counts, std::size_t n_words,
                           std::size_t n_topics, Dirichlet prior, std::uint64_t seed,
                           std::size_t groups)
    : n_documents_(starts.size() - 1), n_words_(n_words), n_topics_(n_topics),
      width_(kernels::padded(n_topics)), groups_(groups), prior_(prior), seed_(seed),
      document_counts_(n_documents_ * width_), word_counts_(n_words * width_), totals_(width_) {
    std::vector<std::size_t> of_document(n_documents_);
    std::vector<std::size_t> of_word(n_words);
    const auto each_entry = [&](const auto& visit) {
        for (std::size_t d = 0; d < n_documents_; ++d)
            for (std::int64_t j = starts[d]; j < starts[d + 1]; ++j)
                visit(d, static_cast<std::size_t>(words[static_cast<std::size_t>(j)]),
                      static_cast<std::size_t>(counts[static_cast<std::size_t>(j)]));
    };
    each_entry([&](std::size_t d, std::size_t w, std::size_t n) {
        of_document[d] += n;
        of_word[w] += n;
    });
    const std::size_t tokens =
        std::accumulate(of_document.begin(), of_document.end(), std::size_t{0});
    if (groups_ == 0) groups_ = tokens < kManyTokens ? 1 : kGroups;
    const auto rows = groups_of_documents(of_document, groups_);
    const auto columns = groups_of_words(of_word, groups_);
    const auto cell_of = [&](std::size_t d, std::size_t w) {
        return rows[d] * groups_ + columns[w];
    };
    cells_.resize(groups_ * groups_ + 1);
    each_entry(
        [&](std::size_t d, std::size_t w, std::size_t n) { cells_[cell_of(d, w) + 1] += n; });
    std::partial_sum(cells_.begin(), cells_.end(), cells_.begin());
    documents_.resize(tokens);
    words_.resize(tokens);
    topics_.resize(tokens);
    std::vector<std::size_t> next(cells_.begin(), cells_.end() - 1);
    each_entry([&](std::size_t d, std::size_t w, std::size_t n) {
        std::size_t& at = next[cell_of(d, w)];
        std::fill_n(documents_.begin() + static_cast<std::ptrdiff_t>(at), n,
                    static_cast<std::int32_t>(d));
        std::fill_n(words_.begin() + static_cast<std::ptrdiff_t>(at), n,
                    static_cast<std::int32_t>(w));
        at += n;
    });
    std::uint64_t random = mixed(seed_);
    for (std::size_t i = 0; i < tokens; ++i) {
        const std::size_t topic = next_below(random, n_topics_);
        topics_[i] = static_cast<std::int32_t>(topic);
        ++document_counts_[static_cast<std::size_t>(documents_[i]) * width_ + topic];
        ++word_counts_[static_cast<std::size_t>(words_[i]) * width_ + topic];
        ++totals_[topic];
    }
}

std::uint64_t TopicSampler::stream(std::size_t cell) const {
    return mixed(mixed(mixed(seed_) + sweeps_ + 1) + cell);
}

void TopicSampler::run_cell(std::size_t cell, std::vector<std::int64_t>& totals, base::Stop& stop) {
    const double beta_sum = prior_.beta * static_cast<double>(n_words_);
    std::vector<float> inverses(width_);
    std::vector<float> scratch(width_);
    for (std::size_t k = 0; k < n_topics_; ++k)
        inverses[k] = static_cast<float>(1 / (static_cast<double>(totals[k]) + beta_sum));
    const std::size_t begin = cells_[cell];
    kernels::GibbsTokens tokens{
        .documents = documents_.data() + begin,
        .words = words_.data() + begin,
        .topics = topics_.data() + begin,
        .count = cells_[cell + 1] - begin,
        .document_counts = document_counts_.data(),
        .word_counts = word_counts_.data(),
        .totals = totals.data(),
        .width = width_,
        .inverses = inverses.data(),
        .word_weights = nullptr,
        .alpha = static_cast<float>(prior_.alpha),
        .beta = static_cast<float>(prior_.beta),
        .beta_sum = beta_sum,
        .random = stream(cell),
        .scratch = scratch.data(),
    };
    draw_in_pieces(tokens, kernels::kernels().gibbs.draw_topics, stop);
}

void TopicSampler::sweep(std::size_t times, unsigned threads, base::Stop& stop) {
    std::vector<std::vector<std::int64_t>> own(groups_);
    for (std::size_t time = 0; time < times; ++time, ++sweeps_) {
        for (std::size_t round = 0; round < groups_; ++round) {
            base::parallel_for(
                groups_, threads, stop,
                [&](std::size_t row) {
                    own[row] = totals_;
                    run_cell(row * groups_ + (row + round) % groups_, own[row], stop);
                },
                false);
            const std::vector<std::int64_t> before = totals_;
            for (const auto& after : own)
                for (std::size_t k = 0; k < n_topics_; ++k) totals_[k] += after[k] - before[k];
        }
        stop.count_finished();
    }
}

std::vector<std::int32_t> TopicSampler::document_counts() const {
    return without_padding(document_counts_, n_documents_, width_, n_topics_);
}

std::vector<std::int32_t> TopicSampler::word_counts() const {
    return without_padding(word_counts_, n_words_, width_, n_topics_);
}

void fold_in_by_sampling(std::span<const std::int64_t> starts, std::span<const std::int32_t> words,
                         std::span<const std::int32_t> counts, std::span<const float> weights,
                         std::size_t n_topics, double alpha, std::size_t burn_in,
                         std::size_t samples, std::uint64_t seed, double* out, unsigned threads,
                         base::Stop& stop) {
    const std::size_t width = kernels::padded(n_topics);
    base::parallel_for(starts.size() - 1, threads, stop, [&](std::size_t d) {
        // The rows of the document's words, padded; words without weight are left out.
        std::vector<float> rows;
        std::vector<std::int32_t> own_words;
        for (auto j = static_cast<std::size_t>(starts[d]);
             j < static_cast<std::size_t>(starts[d + 1]); ++j) {
            const float* row = weights.data() + static_cast<std::size_t>(words[j]) * n_topics;
            if (!std::any_of(row, row + n_topics, [](float x) { return x > 0; })) continue;
            const auto word = static_cast<std::int32_t>(rows.size() / width);
            rows.insert(rows.end(), row, row + n_topics);
            rows.resize((static_cast<std::size_t>(word) + 1) * width);
            own_words.insert(own_words.end(), static_cast<std::size_t>(counts[j]), word);
        }
        const std::size_t tokens = own_words.size();
        double* theta = out + d * n_topics;
        std::fill_n(theta, n_topics, tokens > 0 ? 0.0 : 1.0 / static_cast<double>(n_topics));
        if (tokens == 0) return;
        std::uint64_t random = mixed(seed);
        std::vector<std::int32_t> topics(tokens);
        std::vector<std::int32_t> in_document(width);
        for (std::int32_t& topic : topics) {
            topic = static_cast<std::int32_t>(next_below(random, n_topics));
            ++in_document[static_cast<std::size_t>(topic)];
        }
        const std::vector<std::int32_t> one_document(tokens);
        std::vector<float> scratch(width);
        kernels::GibbsTokens t{
            .documents = one_document.data(),
            .words = own_words.data(),
            .topics = topics.data(),
            .count = tokens,
            .document_counts = in_document.data(),
            .word_counts = nullptr,
            .totals = nullptr,
            .width = width,
            .inverses = nullptr,
            .word_weights = rows.data(),
            .alpha = static_cast<float>(alpha),
            .beta = 0,
            .beta_sum = 0,
            .random = random,
            .scratch = scratch.data(),
        };
        const double whole = static_cast<double>(tokens) + alpha * static_cast<double>(n_topics);
        for (std::size_t time = 0; time < burn_in + samples && !stop.requested(); ++time) {
            draw_in_pieces(t, kernels::kernels().gibbs.draw_topics_of_fixed_words, stop);
            if (time < burn_in) continue;
            for (std::size_t k = 0; k < n_topics; ++k)
                theta[k] += (in_document[k] + alpha) / whole / static_cast<double>(samples);
        }
    });
}

} // namespace textkin::topics
