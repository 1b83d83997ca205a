// Vectors of words and documents from the words around: skip-gram and CBOW (Mikolov and others
// 2013), PV-DBOW and PV-DM (Le and Mikolov 2014), by stochastic gradient ascent.
#pragma once

#include "base/stop.h"
#include "embed/output_layer.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace textkin::embed {

enum class Predictor : std::uint8_t {
    skip_gram, // a word predicts each word of its window
    cbow,      // the words of the window together predict the word
    dbow,      // the document predicts each of its words
    dm,        // the document and the words of the window together predict the word
};

// Words of documents in their order: those of document d from offsets[d] to offsets[d + 1].
struct Documents {
    std::span<const std::int32_t> ids;
    std::span<const std::int64_t> offsets;

    [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
};

struct EmbedOptions {
    Predictor predictor = Predictor::skip_gram;
    bool train_words = false;   // with dbow: skip-gram too
    bool mean = true;           // cbow, dm: of the inputs, not the sum
    std::size_t window = 5;     // words to each side, at least 1 and below 2^31
    bool dynamic_window = true; // for each word a number from 1 to `window`
    std::size_t epochs = 5;
    double alpha = 0.025; // falls to min_alpha, in proportion to the words that were seen
    double min_alpha = 1e-4;
};

// Rows of `dimension` numbers, one after another: of each word, output and document.
template <class Number> struct VectorTables {
    Number* words;
    Number* outputs;
    float* documents; // nullptr for skip_gram and cbow
    std::size_t dimension;
};

// Trains all tables. A word w of the text is passed over with probability 1 - keep[w], before the
// windows are made. Windows end with their document, and every 10,000 words.
//
// Random numbers follow from `seed`, the epoch and the place in the text, never from the thread.
// One thread gives the same bits each time; several work on the same rows without locks.
//
// Stop counts words, `epochs` times those of the text. Returns whether all numbers are finite. If
// they are not, or the call is stopped, the tables stay as they were: the work is done on copies.
[[nodiscard]] bool train_embeddings(const Documents& documents, const OutputLayer& layer,
                                    std::span<const float> keep, const EmbedOptions& options,
                                    const VectorTables<float>& tables, std::uint64_t seed,
                                    unsigned threads, base::Stop& stop);

// Trains the documents alone, by dbow or dm: words and outputs are only read, and need not be
// padded or copied. Each document is by itself, with random numbers from its own seed and a rate
// that falls with its own words: it gets the same bits in any company, on any number of threads.
// Returns whether all numbers of the documents are finite; if not they stay as they were.
[[nodiscard]] bool infer_documents(const Documents& documents, const OutputLayer& layer,
                                   std::span<const float> keep, const EmbedOptions& options,
                                   const VectorTables<const float>& tables,
                                   std::span<const std::uint64_t> seeds, unsigned threads,
                                   base::Stop& stop);

// One step of the kernels on rows of small tables, for tests: see EmbeddingSteps.
void take_one_step(float* inputs, std::size_t n_inputs, std::span<const std::int32_t> input_rows,
                   float* outputs, std::size_t n_outputs, std::span<const std::int32_t> output_rows,
                   std::span<const float> labels, std::size_t dimension, float rate, bool mean,
                   bool first_input_only);

} // namespace textkin::embed
