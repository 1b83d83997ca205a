// Loops of topic models, compared with plain loops, and the samplers.
#include "check.h"
#include "kernels/gibbs_tokens.h"
#include "kernels/kernels.h"
#include "topics/gibbs.h"
#include "topics/topics.h"

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using namespace textkin;

namespace {

using Random = std::mt19937_64;

template <class Number> std::vector<Number> numbers(Random& random, std::size_t count) {
    std::vector<Number> values(count);
    for (Number& value : values)
        value = static_cast<Number>(std::uniform_real_distribution<double>(0, 1)(random));
    return values;
}

template <class Number>
void check_loops(const kernels::TopicKernels<Number>& run, std::size_t width, double tolerance) {
    Random random(width);
    const std::size_t rows = 50;
    const auto table = numbers<Number>(random, rows * width);
    const auto point = numbers<Number>(random, width);
    for (const std::size_t count : {0u, 1u, 7u, 40u}) {
        std::vector<std::int32_t> which(count);
        std::vector<std::int64_t> places(count);
        for (std::size_t j = 0; j < count; ++j) {
            which[j] = static_cast<std::int32_t>(random() % rows);
            places[j] = static_cast<std::int64_t>(random() % (count + 3));
        }
        const auto weights = numbers<Number>(random, count + 3);
        std::vector<Number> products(count);
        std::vector<Number> near(width);
        std::vector<Number> far(width);
        run.products(point.data(), table.data(), width, which.data(), count, count,
                     products.data());
        run.near_sums(table.data(), width, which.data(), weights.data(), count, near.data());
        run.far_sums(table.data(), width, which.data(), weights.data(), places.data(), count, count,
                     far.data());
        for (std::size_t j = 0; j < count; ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < width; ++k)
                sum += static_cast<double>(point[k]) *
                       static_cast<double>(table[static_cast<std::size_t>(which[j]) * width + k]);
            CHECK_NEAR(static_cast<double>(products[j]), sum, tolerance * sum);
        }
        for (std::size_t k = 0; k < width; ++k) {
            double one = 0;
            double other = 0;
            for (std::size_t j = 0; j < count; ++j) {
                const auto x =
                    static_cast<double>(table[static_cast<std::size_t>(which[j]) * width + k]);
                one += x * static_cast<double>(weights[j]);
                other += x * static_cast<double>(weights[static_cast<std::size_t>(places[j])]);
            }
            CHECK_NEAR(static_cast<double>(near[k]), one, tolerance * one);
            CHECK_NEAR(static_cast<double>(far[k]), other, tolerance * other);
        }
    }
}

} // namespace

TEST(topics_rows_of_every_width) {
    for (const std::size_t vectors : {1u, 2u, 3u, 4u, 5u, 7u, 9u}) {
        check_loops(kernels::kernels().topics, vectors * 16, 1e-5);
        check_loops(kernels::kernels().fine_topics, vectors * 8, 1e-13);
    }
}

TEST(topics_logarithms) {
    Random random(1);
    for (const std::size_t count : {0u, 1u, 5u, 8u, 1000u}) {
        std::vector<double> values(count);
        double expected = 0;
        double size = 0;
        for (double& value : values) {
            value = std::exp(std::uniform_real_distribution<double>(-600, 600)(random));
            expected += 2 * std::log(value);
            size += std::abs(2 * std::log(value));
        }
        const std::vector<double> weights(count, 2.0);
        CHECK_NEAR(kernels::kernels().fine_topics.log_sum(weights.data(), values.data(), count),
                   expected, 4e-16 * size);
    }
    // Close to 1, where a logarithm is small; 1 itself; and skipped values.
    for (const double x : {1.0, 1 + 1e-9, 1 - 1e-9, 1.4142135623730951, 0.70710678118654752, 2.0}) {
        const double one = 1;
        CHECK_NEAR(kernels::kernels().fine_topics.log_sum(&one, &x, 1), std::log(x),
                   3e-16 * std::abs(std::log(x)));
    }
    const float weights[] = {1, 5, 2};
    const float values[] = {0.5F, 0, 1};
    CHECK_NEAR(kernels::kernels().topics.log_sum(weights, values, 3), std::log(0.5), 1e-16);
}

TEST(topics_conditional_of_a_token) {
    // K = 2, V = 3, alpha = beta = 1; without the token n_d = (2, 1), n_kw = (3, 0), n_k = (5, 4):
    // weights (1.5, 2/7), so (0.84, 0.16).
    constexpr int kDraws = 20000;
    int first = 0;
    std::uint64_t random = 7;
    for (int draw = 0; draw < kDraws; ++draw) {
        std::int32_t topic = draw % 2;
        std::vector<std::int32_t> in_document(16);
        std::vector<std::int32_t> of_word(16);
        std::vector<std::int64_t> totals{5, 4};
        in_document[0] = 2;
        in_document[1] = 1;
        of_word[0] = 3;
        const auto own = static_cast<std::size_t>(topic);
        ++in_document[own];
        ++of_word[own];
        ++totals[own];
        std::vector<float> inverses(16);
        for (std::size_t k = 0; k < 2; ++k) inverses[k] = 1 / (static_cast<float>(totals[k]) + 3);
        std::vector<float> scratch(16);
        const std::int32_t zero = 0;
        kernels::GibbsTokens tokens{&zero,
                                    &zero,
                                    &topic,
                                    1,
                                    in_document.data(),
                                    of_word.data(),
                                    totals.data(),
                                    16,
                                    inverses.data(),
                                    nullptr,
                                    1,
                                    1,
                                    3,
                                    random,
                                    scratch.data()};
        kernels::kernels().gibbs.draw_topics(tokens);
        random = tokens.random;
        CHECK_NEAR(scratch[0], 1.5, 1e-6);
        CHECK_NEAR(scratch[1], 2.0 / 7, 1e-7);
        CHECK_NEAR(scratch[2], 0, 0);
        CHECK(in_document[0] + in_document[1] == 4);
        CHECK(of_word[static_cast<std::size_t>(topic)] == (topic == 0 ? 4 : 1));
        CHECK(totals[0] + totals[1] == 10);
        for (std::size_t k = 0; k < 2; ++k)
            CHECK_NEAR(inverses[k], 1 / (static_cast<double>(totals[k]) + 3), 1e-7);
        first += topic == 0;
    }
    CHECK_NEAR(static_cast<double>(first) / kDraws, 0.84, 4 * std::sqrt(0.84 * 0.16 / kDraws));
}

TEST(topics_sampler_keeps_its_counts_on_threads) {
    Random random(3);
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> words;
    std::vector<std::int32_t> counts;
    for (int d = 0; d < 60; ++d) {
        for (std::int32_t w = static_cast<std::int32_t>(random() % 4); w < 40;
             w += 1 + static_cast<std::int32_t>(random() % 5)) {
            words.push_back(w);
            counts.push_back(static_cast<std::int32_t>(random() % 4));
        }
        starts.push_back(static_cast<std::int64_t>(words.size()));
    }
    std::vector<std::int32_t> found;
    for (const unsigned threads : {1u, 2u, 5u}) {
        topics::TopicSampler sampler(starts, words, counts, 40, 20, {0.1, 0.01}, 5, 8);
        base::Stop stop;
        sampler.sweep(6, threads, stop);
        const auto of_words = sampler.word_counts();
        if (found.empty()) found = of_words;
        CHECK(of_words == found);
        CHECK(std::accumulate(of_words.begin(), of_words.end(), std::size_t{0}) ==
              sampler.n_tokens());
        const auto of_documents = sampler.document_counts();
        for (std::size_t k = 0; k < 20; ++k) {
            std::int64_t total = 0;
            for (std::size_t d = 0; d < 60; ++d) total += of_documents[d * 20 + k];
            CHECK(total == sampler.totals()[k]);
        }
    }
}

// The bindings reject such priors; with them, the loops must not write beyond the topics either.
TEST(tokens_without_weight_keep_their_topics) {
    const std::vector<std::int64_t> starts{0, 1, 2, 3, 4};
    const std::vector<std::int32_t> words{0, 1, 2, 3};
    const std::vector<std::int32_t> counts{1, 1, 1, 1};
    topics::TopicSampler sampler(starts, words, counts, 4, 2, {1e-25, 1e-25}, 0);
    const auto before = sampler.document_counts();
    base::Stop stop;
    sampler.sweep(3, 1, stop);
    CHECK(sampler.document_counts() == before);
    CHECK(sampler.totals().size() == 2);
    CHECK(sampler.totals()[0] + sampler.totals()[1] == 4);
}

TEST(topics_steps_do_not_depend_on_threads) {
    Random random(9);
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> words;
    for (int d = 0; d < 300; ++d) {
        for (std::int32_t w = 0; w < 700; w += 1 + static_cast<std::int32_t>(random() % 60))
            words.push_back(w);
        starts.push_back(static_cast<std::int64_t>(words.size()));
    }
    const auto values = numbers<float>(random, words.size());
    std::vector<std::int64_t> word_starts(701);
    for (const std::int32_t w : words) ++word_starts[static_cast<std::size_t>(w) + 1];
    std::partial_sum(word_starts.begin(), word_starts.end(), word_starts.begin());
    std::vector<std::int32_t> documents(words.size());
    std::vector<std::int64_t> places(words.size());
    auto next = word_starts;
    for (std::size_t d = 0; d + 1 < starts.size(); ++d)
        for (auto j = static_cast<std::size_t>(starts[d]);
             j < static_cast<std::size_t>(starts[d + 1]); ++j) {
            const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(words[j])]++);
            documents[at] = static_cast<std::int32_t>(d);
            places[at] = static_cast<std::int64_t>(j);
        }
    const auto start_topics = numbers<float>(random, 300 * 32);
    const auto start_words = numbers<float>(random, 700 * 32);
    std::vector<float> found;
    for (const unsigned threads : {1u, 2u, 5u}) {
        auto topics = start_topics;
        auto table = start_words;
        std::vector<float> after(topics.size());
        std::vector<float> shares(words.size());
        std::vector<double> scale(32, 0.01);
        base::Stop stop;
        double before = -1e300;
        for (int step = 0; step < 5; ++step) {
            const double now = topics::em_step<float>(
                {starts, words, values}, {word_starts, documents, places}, 32, 32, topics.data(),
                after.data(), table.data(), scale.data(), shares.data(), {0, 0, 0}, threads, stop);
            if (step > 1) CHECK(now >= before - 1e-6 * std::abs(before));
            before = now;
            topics.swap(after);
        }
        if (found.empty()) found = table;
        CHECK(table == found);
        const topics::Likelihood last = topics::log_likelihood<float>(
            {starts, words, values}, 32, topics.data(), table.data(), scale.data(), threads, stop);
        CHECK(last.logarithm >= before);
        CHECK_NEAR(last.impossible, 0, 0);
    }
}

TEST(topic_sampler_polls_within_a_cell_and_samples_the_same_topics) {
    // One long document: one cell, in several pieces.
    Random random(17);
    std::vector<std::int32_t> words, counts;
    for (std::int32_t w = 0; w < 500; ++w) {
        words.push_back(w);
        counts.push_back(static_cast<std::int32_t>(1 + random() % 100));
    }
    const std::vector<std::int64_t> starts{0, 500};
    const auto sample = [&](base::Stop& stop) {
        topics::TopicSampler sampler(starts, words, counts, 500, 10, {0.1, 0.01}, 3);
        CHECK(sampler.groups() == 1);
        sampler.sweep(3, 1, stop);
        return sampler.word_counts();
    };
    base::Stop none;
    const auto expected = sample(none);
    int asked = 0;
    base::Stop counting([&](std::size_t) { return ++asked < 0; },
                        base::Stop::Clock::duration::zero());
    CHECK(sample(counting) == expected);
    CHECK(asked > 3 * 5); // more than once per cell
    asked = 0;
    base::Stop stopping([&](std::size_t) { return ++asked > 3; },
                        base::Stop::Clock::duration::zero());
    CHECK_THROWS(base::Stopped, static_cast<void>(sample(stopping)));
}
