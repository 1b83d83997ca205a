#include "embed/embed.h"

#include "base/buffer.h"
#include "base/parallel.h"
#include "base/uninitialized_vector.h"
#include "kernels/embedding_steps.h"
#include "kernels/padding.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace textkin::embed {
namespace {

constexpr std::size_t kMostWords = 10'000; // of a piece of text that is walked through at once
constexpr std::size_t kStepsAtOnce = 32;   // the rows of so many stay close to the processor

// A table as the kernel takes it: rows padded with zeros to 64 bytes.
class PaddedRows {
  public:
    PaddedRows(const float* from, std::size_t rows, std::size_t dimension)
        : rows_(from == nullptr ? 0 : rows), dimension_(dimension),
          width_(kernels::padded(dimension)), memory_(rows_ * width_ + kernels::kLanes) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        first_ = memory_.data() + (64 - address % 64) % 64 / sizeof(float);
        for (std::size_t row = 0; row < rows_; ++row) {
            std::copy_n(from + row * dimension_, dimension_, (*this)[row]);
            std::fill_n((*this)[row] + dimension_, width_ - dimension_, 0.0F);
        }
    }
    float* operator[](std::size_t row) { return first_ + row * width_; }

    [[nodiscard]] bool finite() const {
        return std::all_of(first_, first_ + rows_ * width_,
                           [](float x) { return std::isfinite(x); });
    }
    void copy_to(float* to) const {
        for (std::size_t row = 0; row < rows_; ++row)
            std::copy_n(first_ + row * width_, dimension_, to + row * dimension_);
    }

  private:
    std::size_t rows_;
    std::size_t dimension_;
    std::size_t width_;
    base::UninitializedVector<float> memory_;
    float* first_;
};

bool uses_words(const EmbedOptions& options) {
    return options.predictor != Predictor::dbow || options.train_words;
}

// Makes steps of text and hands them to the kernel, some at a time. `Rows` tells where the rows of
// words and outputs are.
template <class Rows> class Walker {
  public:
    using Take = void (*)(const kernels::EmbeddingSteps&);

    Walker(const OutputLayer& layer, std::span<const float> keep, const EmbedOptions& options,
           Rows rows, std::size_t dimension, Take take, base::Stop& stop)
        : layer_(layer), keep_(keep), options_(options), rows_(rows), dimension_(dimension),
          take_(take), stop_(stop), outputs_(kStepsAtOnce * layer.most_outputs()),
          places_(layer.most_outputs()), labels_(outputs_.size() + kernels::kLanes) {
        const std::size_t width = kernels::padded(dimension);
        scratch_.grow(2 * width + kernels::padded(layer.most_outputs()));
        std::fill_n(scratch_.data(), scratch_.size(), 0.0F);
    }

    // Steps for a run of words of one document; rate_at(words) tells the rate after so many.
    template <class RateAt>
    void walk(std::span<const std::int32_t> ids, float* document, std::uint64_t& random,
              const RateAt& rate_at) {
        kept_.clear();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const float part = keep_[static_cast<std::size_t>(ids[i])];
            if (part >= 1 || base::next_part(random) < part) kept_.push_back({ids[i], i});
        }
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            if (steps_ == 0) rate_ = rate_at(kept_[i].place);
            switch (options_.predictor) {
            case Predictor::skip_gram:
                predict_window(i, random, rate_at);
                break;
            case Predictor::dbow:
                if (options_.train_words) predict_window(i, random, rate_at);
                add_input(document);
                predict(kept_[i].word, random);
                break;
            case Predictor::cbow:
            case Predictor::dm:
                if (options_.predictor == Predictor::dm) add_input(document);
                for_window(i, random, [&](const Kept& near) { add_input(rows_.word(near.word)); });
                if (inputs_.size() > taken_inputs()) predict(kept_[i].word, random);
                break;
            }
        }
        finish();
    }

  private:
    struct Kept {
        std::int32_t word;
        std::size_t place;
    };

    template <class Visit>
    void for_window(std::size_t i, std::uint64_t& random, const Visit& visit) {
        const std::size_t reach = options_.dynamic_window
                                      ? 1 + base::next_below(random, options_.window)
                                      : options_.window;
        const std::size_t begin = i > reach ? i - reach : 0;
        const std::size_t end = std::min(kept_.size(), i + reach + 1);
        for (std::size_t j = begin; j < end; ++j)
            if (j != i) visit(kept_[j]);
    }

    template <class RateAt>
    void predict_window(std::size_t i, std::uint64_t& random, const RateAt& rate_at) {
        for_window(i, random, [&](const Kept& near) {
            if (steps_ == 0) rate_ = rate_at(kept_[i].place);
            add_input(rows_.word(kept_[i].word));
            predict(near.word, random);
        });
    }

    [[nodiscard]] std::size_t taken_inputs() const {
        return steps_ > 0 ? input_ends_[steps_ - 1] : 0;
    }
    void add_input(float* row) { inputs_.push_back(row); }

    // Ends a step: its inputs predict this word.
    void predict(std::int32_t word, std::uint64_t& random) {
        const std::size_t begin = steps_ > 0 ? output_ends_[steps_ - 1] : 0;
        const std::size_t count =
            layer_.outputs_of(word, random, places_.data(), labels_.data() + begin);
        for (std::size_t j = 0; j < count; ++j) outputs_[begin + j] = rows_.output(places_[j]);
        input_ends_[steps_] = static_cast<std::uint32_t>(inputs_.size());
        output_ends_[steps_] = static_cast<std::uint32_t>(begin + count);
        if (++steps_ == kStepsAtOnce) finish();
    }

    void finish() {
        if (steps_ > 0) {
            const std::size_t width = kernels::padded(dimension_);
            take_({.count = steps_,
                   .inputs = inputs_.data(),
                   .input_ends = input_ends_,
                   .outputs = outputs_.data(),
                   .labels = labels_.data(),
                   .output_ends = output_ends_,
                   .dimension = dimension_,
                   .rate = rate_,
                   .mean = options_.mean,
                   .hidden = scratch_.data(),
                   .error = scratch_.data() + width,
                   .slopes = scratch_.data() + 2 * width});
            steps_ = 0;
            inputs_.clear();
        }
        stop_.throw_if_requested();
    }

    const OutputLayer& layer_;
    std::span<const float> keep_;
    const EmbedOptions& options_;
    Rows rows_;
    std::size_t dimension_;
    Take take_;
    base::Stop& stop_;
    std::vector<Kept> kept_;
    float rate_ = 0;
    std::size_t steps_ = 0;
    std::vector<float*> inputs_;
    std::uint32_t input_ends_[kStepsAtOnce];
    std::vector<float*> outputs_;
    std::uint32_t output_ends_[kStepsAtOnce];
    std::vector<std::int32_t> places_;
    std::vector<float> labels_;
    base::Buffer<float> scratch_;
};

// What a thread takes at once: short documents together, long ones in pieces.
struct Piece {
    std::size_t document; // the first
    std::size_t begin;    // words
    std::size_t end;
};

std::vector<Piece> pieces_of(std::span<const std::int64_t> offsets) {
    std::vector<Piece> pieces;
    for (std::size_t d = 0; d + 1 < offsets.size(); ++d) {
        auto begin = static_cast<std::size_t>(offsets[d]);
        const auto end = static_cast<std::size_t>(offsets[d + 1]);
        if (begin == end) continue;
        if (!pieces.empty() && end - pieces.back().begin <= kMostWords) {
            pieces.back().end = end;
            continue;
        }
        for (; begin < end; begin += kMostWords)
            pieces.push_back({d, begin, std::min(end, begin + kMostWords)});
    }
    return pieces;
}

// The words of each document in a piece.
template <class Visit>
void for_documents(const Documents& documents, const Piece& piece, const Visit& visit) {
    std::size_t d = piece.document;
    for (std::size_t begin = piece.begin; begin < piece.end; ++d) {
        const std::size_t end =
            std::min(piece.end, static_cast<std::size_t>(documents.offsets[d + 1]));
        if (begin == end) continue;
        visit(d, begin, documents.ids.subspan(begin, end - begin));
        begin = end;
    }
}

// The rate after `done` of `all` words.
float rate_after(const EmbedOptions& options, double done, double all) {
    return static_cast<float>(options.alpha + (options.min_alpha - options.alpha) * (done / all));
}

struct Trained {
    PaddedRows* words;
    PaddedRows* outputs;
    [[nodiscard]] float* word(std::int32_t id) const {
        return (*words)[static_cast<std::size_t>(id)];
    }
    [[nodiscard]] float* output(std::int32_t id) const {
        return (*outputs)[static_cast<std::size_t>(id)];
    }
};

// The kernel that trains the first inputs alone reads these and writes none.
struct Fixed {
    const VectorTables<const float>* tables;
    [[nodiscard]] float* word(std::int32_t id) const {
        return const_cast<float*>(tables->words) + static_cast<std::size_t>(id) * tables->dimension;
    }
    [[nodiscard]] float* output(std::int32_t id) const {
        return const_cast<float*>(tables->outputs) +
               static_cast<std::size_t>(id) * tables->dimension;
    }
};

} // namespace

bool train_embeddings(const Documents& documents, const OutputLayer& layer,
                      std::span<const float> keep, const EmbedOptions& options,
                      const VectorTables<float>& tables, std::uint64_t seed, unsigned threads,
                      base::Stop& stop) {
    const std::size_t dimension = tables.dimension;
    PaddedRows words(uses_words(options) ? tables.words : nullptr, layer.n_words(), dimension);
    PaddedRows outputs(tables.outputs, layer.n_outputs(), dimension);
    PaddedRows own(tables.documents, documents.size(), dimension);
    const std::vector<Piece> pieces = pieces_of(documents.offsets);
    const auto tokens = static_cast<double>(documents.ids.size());
    const auto all = tokens * static_cast<double>(options.epochs);
    base::parallel_for(
        pieces.size() * options.epochs, threads, stop,
        [&](std::size_t item) {
            const std::size_t epoch = item / pieces.size();
            const Piece& piece = pieces[item % pieces.size()];
            std::uint64_t random =
                base::mixed(base::mixed(base::mixed(seed) + epoch) + piece.begin);
            Walker walker(layer, keep, options, Trained{&words, &outputs}, dimension,
                          kernels::kernels().embeddings.train_vectors, stop);
            for_documents(documents, piece,
                          [&](std::size_t d, std::size_t begin, std::span<const std::int32_t> ids) {
                              const double before =
                                  static_cast<double>(epoch) * tokens + static_cast<double>(begin);
                              walker.walk(ids, tables.documents != nullptr ? own[d] : nullptr,
                                          random, [&](std::size_t place) {
                                              return rate_after(options,
                                                                before + static_cast<double>(place),
                                                                all);
                                          });
                          });
            stop.count_finished(piece.end - piece.begin);
        },
        false);
    if (!words.finite() || !outputs.finite() || !own.finite()) return false;
    words.copy_to(tables.words);
    outputs.copy_to(tables.outputs);
    own.copy_to(tables.documents);
    return true;
}

bool infer_documents(const Documents& documents, const OutputLayer& layer,
                     std::span<const float> keep, const EmbedOptions& options,
                     const VectorTables<const float>& tables, std::span<const std::uint64_t> seeds,
                     unsigned threads, base::Stop& stop) {
    EmbedOptions own_options = options;
    own_options.train_words = false;
    PaddedRows own(tables.documents, documents.size(), tables.dimension);
    base::parallel_for(
        documents.size(), threads, stop,
        [&](std::size_t d) {
            const auto begin = static_cast<std::size_t>(documents.offsets[d]);
            const auto ids = documents.ids.subspan(
                begin, static_cast<std::size_t>(documents.offsets[d + 1]) - begin);
            Walker walker(layer, keep, own_options, Fixed{&tables}, tables.dimension,
                          kernels::kernels().embeddings.train_first_inputs, stop);
            const auto tokens = static_cast<double>(ids.size());
            const double all = tokens * static_cast<double>(options.epochs);
            for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) {
                std::uint64_t random = base::mixed(base::mixed(seeds[d]) + epoch);
                for (std::size_t at = 0; at < ids.size(); at += kMostWords) {
                    const double before =
                        static_cast<double>(epoch) * tokens + static_cast<double>(at);
                    walker.walk(ids.subspan(at, std::min(kMostWords, ids.size() - at)), own[d],
                                random, [&](std::size_t place) {
                                    return rate_after(options, before + static_cast<double>(place),
                                                      all);
                                });
                }
                stop.count_finished(ids.size());
            }
        },
        false);
    if (!own.finite()) return false;
    own.copy_to(tables.documents);
    return true;
}

void take_one_step(float* inputs, std::size_t n_inputs, std::span<const std::int32_t> input_rows,
                   float* outputs, std::size_t n_outputs, std::span<const std::int32_t> output_rows,
                   std::span<const float> labels, std::size_t dimension, float rate, bool mean,
                   bool first_input_only) {
    PaddedRows padded_inputs(inputs, n_inputs, dimension);
    PaddedRows padded_outputs(outputs, n_outputs, dimension);
    std::vector<float*> from;
    std::vector<float*> to;
    for (const std::int32_t row : input_rows)
        from.push_back(first_input_only && !from.empty()
                           ? inputs + static_cast<std::size_t>(row) * dimension
                           : padded_inputs[static_cast<std::size_t>(row)]);
    for (const std::int32_t row : output_rows)
        to.push_back(first_input_only ? outputs + static_cast<std::size_t>(row) * dimension
                                      : padded_outputs[static_cast<std::size_t>(row)]);
    std::vector<float> own_labels(labels.begin(), labels.end());
    own_labels.resize(labels.size() + kernels::kLanes);
    const auto input_end = static_cast<std::uint32_t>(from.size());
    const auto output_end = static_cast<std::uint32_t>(to.size());
    std::vector<float> hidden(kernels::padded(dimension));
    std::vector<float> error(kernels::padded(dimension));
    std::vector<float> slopes(kernels::padded(to.size()));
    const kernels::EmbeddingSteps step{.count = 1,
                                       .inputs = from.data(),
                                       .input_ends = &input_end,
                                       .outputs = to.data(),
                                       .labels = own_labels.data(),
                                       .output_ends = &output_end,
                                       .dimension = dimension,
                                       .rate = rate,
                                       .mean = mean,
                                       .hidden = hidden.data(),
                                       .error = error.data(),
                                       .slopes = slopes.data()};
    if (first_input_only)
        kernels::kernels().embeddings.train_first_inputs(step);
    else
        kernels::kernels().embeddings.train_vectors(step);
    padded_inputs.copy_to(inputs);
    if (!first_input_only) padded_outputs.copy_to(outputs);
}

} // namespace textkin::embed
