// Training of word and document vectors: sampling, the tree, one step compared with its
// formula, and the trainer.
#include "check.h"
#include "embed/embed.h"

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

using namespace textkin;

namespace {

using Random = std::mt19937_64;

std::vector<float> numbers(Random& random, std::size_t count, double most) {
    std::vector<float> values(count);
    for (float& value : values)
        value = static_cast<float>(std::uniform_real_distribution<double>(-most, most)(random));
    return values;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Objective of a step.
double objective(const std::vector<float>& inputs, const std::vector<std::int32_t>& input_rows,
                 const std::vector<float>& outputs, const std::vector<std::int32_t>& output_rows,
                 const std::vector<float>& labels, std::size_t dimension, bool mean) {
    double sum = 0;
    for (std::size_t j = 0; j < output_rows.size(); ++j) {
        double product = 0;
        for (std::size_t k = 0; k < dimension; ++k) {
            double hidden = 0;
            for (const std::int32_t row : input_rows)
                hidden +=
                    static_cast<double>(inputs[static_cast<std::size_t>(row) * dimension + k]);
            if (mean) hidden /= static_cast<double>(input_rows.size());
            product +=
                hidden * static_cast<double>(
                             outputs[static_cast<std::size_t>(output_rows[j]) * dimension + k]);
        }
        sum += std::log(sigmoid(labels[j] > 0 ? product : -product));
    }
    return sum;
}

// A small text: words of two topics that never meet in a document.
struct Corpus {
    std::vector<std::int32_t> ids;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> counts = std::vector<std::int64_t>(20);
    std::vector<float> keep = std::vector<float>(20, 1.0F);

    explicit Corpus(std::size_t documents, std::size_t length = 12) {
        Random random(7);
        for (std::size_t d = 0; d < documents; ++d) {
            for (std::size_t i = 0; i < length; ++i) {
                const std::size_t word = random() % 10 + 10 * (d % 2);
                ids.push_back(static_cast<std::int32_t>(word));
                ++counts[word];
            }
            offsets.push_back(static_cast<std::int64_t>(ids.size()));
        }
    }
    [[nodiscard]] embed::Documents view() const { return {ids, offsets}; }
};

struct Tables {
    std::size_t dimension;
    std::vector<float> words;
    std::vector<float> outputs;
    std::vector<float> documents;

    Tables(const Corpus& corpus, const embed::OutputLayer& layer, std::size_t width)
        : dimension(width) {
        Random random(3);
        words = numbers(random, layer.n_words() * width, 0.5 / static_cast<double>(width));
        outputs.assign(layer.n_outputs() * width, 0);
        documents = numbers(random, corpus.view().size() * width, 0.5 / static_cast<double>(width));
    }
    bool operator==(const Tables&) const = default;

    bool train(const Corpus& corpus, const embed::OutputLayer& layer,
               const embed::EmbedOptions& options, unsigned threads, base::Stop& stop) {
        const bool of_documents = options.predictor == embed::Predictor::dbow ||
                                  options.predictor == embed::Predictor::dm;
        return embed::train_embeddings(
            corpus.view(), layer, corpus.keep, options,
            {words.data(), outputs.data(), of_documents ? documents.data() : nullptr, dimension}, 5,
            threads, stop);
    }
};

constexpr embed::Predictor kPredictors[] = {embed::Predictor::skip_gram, embed::Predictor::cbow,
                                            embed::Predictor::dbow, embed::Predictor::dm};

} // namespace

TEST(embed_words_are_sampled_by_weight) {
    const std::vector<double> weights{3, 0, 1, 0.5, 0, 5.5};
    const embed::AliasTable table(weights);
    std::vector<double> found(weights.size());
    std::uint64_t random = 1;
    const int draws = 1'000'000;
    for (int i = 0; i < draws; ++i) found[static_cast<std::size_t>(table.draw(random))] += 1;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] > 0)
            CHECK_NEAR(found[i] / draws, weights[i] / 10, 0.003); // six standard deviations
        else
            CHECK(found[i] == 0);
    }
    const embed::AliasTable one(std::vector<double>{0, 1e-300, 0});
    for (int i = 0; i < 100; ++i) CHECK(one.draw(random) == 1);
}

// METHODS 9.1: three leaves, activations 0.3 at the root and -1.2 below.
TEST(embed_tree_of_three) {
    const embed::Paths paths = embed::huffman_paths(std::vector<std::int64_t>{3, 2, 2});
    const double activations[] = {-1.2, 0.3}; // the root is the last
    const double wanted[] = {0.5744425, 0.0985060, 0.3270515};
    for (std::size_t w = 0; w < 3; ++w) {
        double probability = 1;
        for (auto at = static_cast<std::size_t>(paths.starts[w]);
             at < static_cast<std::size_t>(paths.starts[w + 1]); ++at) {
            const double x = activations[paths.nodes[at]];
            probability *= sigmoid(paths.right[at] != 0 ? -x : x);
        }
        CHECK_NEAR(probability, wanted[w], 5e-8);
    }
}

TEST(embed_tree_has_the_minimum_length) {
    Random random(11);
    for (std::size_t n = 0; n < 60; ++n) {
        std::vector<std::int64_t> counts(n);
        for (std::int64_t& count : counts) count = static_cast<std::int64_t>(random() % 20);
        const embed::Paths paths = embed::huffman_paths(counts);
        CHECK(paths.starts.size() == n + 1);
        std::int64_t length = 0;
        double all = 0;
        std::set<std::vector<std::uint8_t>> codes;
        for (std::size_t w = 0; w < n; ++w) {
            const std::int64_t depth = paths.starts[w + 1] - paths.starts[w];
            length += depth * counts[w];
            all += std::pow(2, -static_cast<double>(depth));
            codes.insert(
                {paths.right.begin() + paths.starts[w], paths.right.begin() + paths.starts[w + 1]});
            if (n > 1)
                CHECK(paths.nodes[static_cast<std::size_t>(paths.starts[w])] ==
                      static_cast<std::int32_t>(n) - 2);
        }
        CHECK(codes.size() == n);
        if (n > 0) CHECK(all == 1); // a complete tree
        // The sum over merges of the two smallest weights is the minimum length.
        std::multiset<std::int64_t> left(counts.begin(), counts.end());
        std::int64_t least = 0;
        while (left.size() > 1) {
            const std::int64_t two = *left.begin() + *std::next(left.begin());
            left.erase(left.begin());
            left.erase(left.begin());
            left.insert(two);
            least += two;
        }
        CHECK(length == least);
    }
}

// A step is `rate` times the gradient of the objective, by finite differences.
TEST(embed_step_follows_the_gradient) {
    Random random(5);
    for (const std::size_t dimension : {1u, 3u, 8u, 17u, 33u}) {
        for (const std::size_t n_outputs : {1u, 2u, 6u, 9u, 20u}) {
            for (const std::size_t n_inputs : {1u, 4u}) {
                const bool mean = random() % 2 == 0;
                const auto inputs = numbers(random, n_inputs * dimension, 1);
                const auto outputs = numbers(random, n_outputs * dimension, 1);
                std::vector<std::int32_t> input_rows(n_inputs);
                std::vector<std::int32_t> output_rows(n_outputs);
                std::vector<float> labels(n_outputs);
                for (std::size_t i = 0; i < n_inputs; ++i)
                    input_rows[i] = static_cast<std::int32_t>(i);
                for (std::size_t j = 0; j < n_outputs; ++j) {
                    output_rows[j] = static_cast<std::int32_t>(j);
                    labels[j] = static_cast<float>(random() % 2);
                }
                auto new_inputs = inputs;
                auto new_outputs = outputs;
                const float rate = 0.5;
                embed::take_one_step(new_inputs.data(), n_inputs, input_rows, new_outputs.data(),
                                     n_outputs, output_rows, labels, dimension, rate, mean, false);
                const auto slope = [&](bool of_inputs, std::size_t at) {
                    const float h = 1e-2F;
                    double sum = 0;
                    for (const float sign : {-1.0F, 1.0F}) {
                        auto a = inputs;
                        auto b = outputs;
                        (of_inputs ? a : b)[at] += sign * h;
                        sum += static_cast<double>(sign) *
                               objective(a, input_rows, b, output_rows, labels, dimension, mean);
                    }
                    return sum / (2 * static_cast<double>(h));
                };
                // Each input of a mean moves as far as the mean.
                const double times = mean ? static_cast<double>(n_inputs) : 1;
                for (std::size_t at = 0; at < inputs.size(); ++at)
                    CHECK_NEAR(static_cast<double>(new_inputs[at] - inputs[at]),
                               0.5 * times * slope(true, at), 2e-3 * times);
                for (std::size_t at = 0; at < outputs.size(); ++at)
                    CHECK_NEAR(static_cast<double>(new_outputs[at] - outputs[at]),
                               0.5 * slope(false, at), 2e-3);
                // The same for the first input only, with everything else unchanged.
                auto only = inputs;
                auto fixed = outputs;
                embed::take_one_step(only.data(), n_inputs, input_rows, fixed.data(), n_outputs,
                                     output_rows, labels, dimension, rate, mean, true);
                CHECK(fixed == outputs);
                for (std::size_t at = 0; at < inputs.size(); ++at)
                    CHECK_NEAR(static_cast<double>(only[at]),
                               static_cast<double>(at < dimension ? new_inputs[at] : inputs[at]),
                               1e-6);
            }
        }
    }
}

TEST(embed_step_accepts_any_number) {
    const float infinite = std::numeric_limits<float>::infinity();
    for (const float value : {0.0F, 1e-40F, 30.0F, 1e10F, 1e38F, infinite, -infinite,
                              std::numeric_limits<float>::quiet_NaN()}) {
        for (const float label : {0.0F, 1.0F}) {
            std::vector<float> input{value};
            std::vector<float> output{1};
            const std::vector<std::int32_t> row{0};
            embed::take_one_step(input.data(), 1, row, output.data(), 1, row,
                                 std::vector<float>{label}, 1, 0.1F, false, false);
            // sigmoid(value) in double, except beyond the bounds; NaN counts as the upper bound.
            const double x =
                std::isnan(value) ? -30 : std::clamp(static_cast<double>(value), -30.0, 30.0);
            const double slope = 0.1 * (static_cast<double>(label) - sigmoid(x));
            if (std::isfinite(value))
                CHECK_NEAR(static_cast<double>(input[0]) - static_cast<double>(value), slope,
                           1e-8 + 1e-7 * std::abs(static_cast<double>(value)));
        }
    }
}

TEST(embed_separates_topics) {
    const Corpus corpus(200);
    for (const std::size_t negative : {0u, 5u}) {
        const embed::OutputLayer layer(corpus.counts, negative);
        for (const embed::Predictor predictor : kPredictors) {
            Tables tables(corpus, layer, 10);
            base::Stop stop;
            embed::EmbedOptions options;
            options.predictor = predictor;
            options.train_words = true;
            options.epochs = 10;
            options.alpha = 0.1;
            CHECK(tables.train(corpus, layer, options, 1, stop));
            CHECK(stop.finished() == 10 * corpus.ids.size());
            const auto cosine = [&](std::size_t a, std::size_t b) {
                double both = 0;
                double left = 0;
                double right = 0;
                for (std::size_t k = 0; k < 10; ++k) {
                    const double x = static_cast<double>(tables.words[a * 10 + k]);
                    const double y = static_cast<double>(tables.words[b * 10 + k]);
                    both += x * y;
                    left += x * x;
                    right += y * y;
                }
                return both / std::sqrt(left * right);
            };
            double same = 0;
            double other = 0;
            for (std::size_t a = 0; a < 20; ++a)
                for (std::size_t b = 0; b < a; ++b)
                    (a / 10 == b / 10 ? same : other) +=
                        cosine(a, b) / (a / 10 == b / 10 ? 90 : 100);
            CHECK(same > other + 0.3);
        }
    }
}

TEST(embed_one_thread_is_bit_identical) {
    const Corpus corpus(3000); // several pieces
    Corpus thinned = corpus;
    std::fill(thinned.keep.begin(), thinned.keep.end(), 0.5F);
    const embed::OutputLayer layer(corpus.counts, 3);
    for (const embed::Predictor predictor : kPredictors) {
        embed::EmbedOptions options;
        options.predictor = predictor;
        options.epochs = 2;
        Tables first(corpus, layer, 7);
        Tables second = first;
        Tables third = first;
        Tables fourth = first;
        base::Stop stop;
        CHECK(first.train(thinned, layer, options, 1, stop));
        CHECK(second.train(thinned, layer, options, 1, stop));
        CHECK(first == second);
        CHECK(third.train(corpus, layer, options, 1, stop));
        CHECK(first != third);
        // Several threads race, but read the same text.
        CHECK(fourth.train(thinned, layer, options, 3, stop));
        double apart = 0;
        for (std::size_t at = 0; at < first.outputs.size(); ++at)
            apart = std::max(apart,
                             static_cast<double>(std::abs(first.outputs[at] - fourth.outputs[at])));
        CHECK(apart < 1);
    }
}

TEST(embed_documents_are_inferred_independently) {
    const Corpus corpus(40);
    for (const std::size_t negative : {0u, 5u}) {
        const embed::OutputLayer layer(corpus.counts, negative);
        for (const embed::Predictor predictor : {embed::Predictor::dbow, embed::Predictor::dm}) {
            embed::EmbedOptions options;
            options.predictor = predictor;
            options.epochs = 3;
            Tables trained(corpus, layer, 19);
            base::Stop stop;
            CHECK(trained.train(corpus, layer, options, 1, stop));
            const Tables before = trained;
            std::vector<std::uint64_t> seeds(40);
            for (std::size_t d = 0; d < 40; ++d) seeds[d] = d * d;
            const auto infer = [&](const embed::Documents& texts,
                                   std::span<const std::uint64_t> own, std::vector<float> documents,
                                   unsigned threads) {
                CHECK(embed::infer_documents(
                    texts, layer, corpus.keep, options,
                    {trained.words.data(), trained.outputs.data(), documents.data(), 19}, own,
                    threads, stop));
                return documents;
            };
            const auto together = infer(corpus.view(), seeds, trained.documents, 1);
            CHECK(together != trained.documents);
            CHECK(together == infer(corpus.view(), seeds, trained.documents, 4));
            for (std::size_t d = 0; d < 40; ++d) {
                const std::span<const std::int32_t> ids(corpus.ids.data() + d * 12, 12);
                const std::vector<std::int64_t> offsets{0, 12};
                const auto at = static_cast<std::ptrdiff_t>(d * 19);
                const auto alone =
                    infer({ids, offsets}, {seeds.data() + d, 1},
                          {trained.documents.begin() + at, trained.documents.begin() + at + 19}, 1);
                CHECK(std::equal(alone.begin(), alone.end(), together.begin() + at));
            }
            CHECK(trained == before);
        }
    }
}

TEST(embed_stop_leaves_tables_unchanged) {
    const Corpus corpus(4000);
    const embed::OutputLayer layer(corpus.counts, 5);
    for (const unsigned threads : {1u, 3u}) {
        Tables tables(corpus, layer, 16);
        const Tables before = tables;
        embed::EmbedOptions options;
        options.epochs = 1000;
        int asked = 0;
        base::Stop stop([&](std::size_t) { return ++asked == 2; }, std::chrono::milliseconds(1));
        CHECK_THROWS(base::Stopped,
                     static_cast<void>(tables.train(corpus, layer, options, threads, stop)));
        CHECK(stop.finished() < 1000 * corpus.ids.size());
        CHECK(tables == before);
    }
    Tables tables(corpus, layer, 16);
    const Tables before = tables;
    embed::EmbedOptions options;
    options.alpha = 1e6;
    options.mean = false;
    options.predictor = embed::Predictor::cbow;
    base::Stop stop;
    CHECK(!tables.train(corpus, layer, options, 1, stop)); // diverged
    CHECK(tables == before);
}

TEST(embed_edges) {
    base::Stop stop;
    // No words, one word, an empty document, a document without sampled words.
    const std::vector<std::int64_t> none;
    const embed::OutputLayer empty(none, 0);
    CHECK(empty.n_outputs() == 0);
    CHECK(embed::train_embeddings({{}, std::vector<std::int64_t>{0}}, empty, {}, {},
                                  {nullptr, nullptr, nullptr, 4}, 1, 1, stop));
    for (const std::size_t negative : {0u, 2u}) {
        const embed::OutputLayer one(std::vector<std::int64_t>{4}, negative);
        for (const embed::Predictor predictor : kPredictors) {
            embed::EmbedOptions options;
            options.predictor = predictor;
            std::vector<float> words(4, 0.5F);
            std::vector<float> outputs(one.n_outputs() * 4);
            std::vector<float> documents(12, 0.5F);
            const std::vector<std::int32_t> ids{0, 0, 0, 0};
            const std::vector<std::int64_t> offsets{0, 0, 4, 4};
            for (const float keep : {1.0F, 0.0F}) {
                CHECK(embed::train_embeddings(
                    {ids, offsets}, one, std::vector<float>{keep}, options,
                    {words.data(), outputs.data(), documents.data(), 4}, 1, 2, stop));
                CHECK(std::all_of(documents.begin(), documents.begin() + 4,
                                  [](float x) { return x == 0.5F; }));
            }
        }
    }
}
