#include "bindings/bindings.h"

#include "bindings/rows.h"

#include "embed/embed.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <optional>
#include <string>
#include <tuple>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

constexpr std::size_t kMostNegative = 1000;
constexpr std::size_t kMostWindow = 1'000'000;
constexpr double kMostRate = 1e6; // of alpha: products with it stay in the range of float

using Ids = Array1<std::int32_t>;
using Offsets = Array1<std::int64_t>;
using Row = Array1<float>;
template <class Number> using Vectors = Table<Number>;

void check_counts(std::span<const std::int64_t> counts, std::size_t negative) {
    check(negative <= kMostNegative, "negative must be at most 1000");
    check(counts.size() <= std::size_t{1} << 30, "there must be at most 2^30 words");
    std::int64_t sum = 0;
    for (const std::int64_t count : counts) {
        check(count >= 0 && count <= embed::kMostTokens - sum,
              "counts must be at least 0, and 2^60 at most in all");
        sum += count;
    }
    check(negative == 0 || counts.empty() || sum > 0, "some count must be above 0");
}

embed::Predictor predictor_named(const std::string& name) {
    if (name == "skipgram") return embed::Predictor::skip_gram;
    if (name == "cbow") return embed::Predictor::cbow;
    if (name == "dbow") return embed::Predictor::dbow;
    if (name == "dm") return embed::Predictor::dm;
    refuse("mode must be 'skipgram', 'cbow', 'dbow' or 'dm'; got '" + name + "'.");
}

embed::EmbedOptions checked_options(const std::string& mode, bool train_words, bool mean,
                                    std::size_t window, bool dynamic_window, std::size_t epochs,
                                    double alpha, double min_alpha) {
    check(window >= 1 && window <= kMostWindow, "window must be from 1 to 1000000");
    check(epochs <= 1'000'000, "epochs must be at most 1000000");
    for (const double rate : {alpha, min_alpha})
        check(rate >= 0 && rate <= kMostRate, "alpha and min_alpha must be from 0 to 1e6");
    return {predictor_named(mode), train_words, mean,  window,
            dynamic_window,        epochs,      alpha, min_alpha};
}

// The texts and the tables, whose shapes must agree.
template <class Number>
embed::Documents checked_documents(const Ids& ids, const Offsets& offsets,
                                   const embed::OutputLayer& layer, const Row& keep,
                                   const Vectors<Number>& words, const Vectors<Number>& outputs,
                                   const std::optional<Vectors<float>>& documents) {
    const std::size_t n_words = layer.n_words();
    check_rows(view(offsets), view(ids), n_words, "offsets");
    check(keep.size() == n_words, "keep must have a number for each word");
    for (const float part : view(keep))
        check(part >= 0 && part <= 1, "keep must be probabilities, from 0 to 1");
    const std::size_t dimension = words.shape(1);
    check(dimension >= 1 && dimension <= std::size_t{1} << 20,
          "vectors must have 1 to 2^20 dimensions");
    check(words.shape(0) == n_words, "words must have a row for each count");
    check(outputs.shape(0) == layer.n_outputs() && outputs.shape(1) == dimension,
          "outputs must have a row for each word, or each inner node of the tree (one less), and "
          "as many columns as words");
    if (documents)
        check(documents->shape(0) + 1 == offsets.size() && documents->shape(1) == dimension,
              "documents must have a row for each document, and as many columns as words");
    return {view(ids), view(offsets)};
}

[[noreturn]] void diverged(double alpha) {
    refuse("The training diverged: vectors are no longer finite. Give finite vectors to begin "
           "with, and an alpha below " +
           nb::cast<std::string>(nb::repr(nb::float_(alpha))) + ".");
}

template <class Any> bool all_finite(const Any& table) {
    const float* numbers = table.data();
    for (std::size_t i = 0; i < table.size(); ++i)
        if (!std::isfinite(numbers[i])) return false;
    return true;
}

void register_layer(nb::module_& module) {
    nb::class_<embed::OutputLayer>(module, "OutputLayer",
                                   "What words are predicted by: words drawn in proportion to "
                                   "count^0.75, or with `negative` 0 the nodes of a Huffman tree.")
        .def(
            "__init__",
            [](embed::OutputLayer* self, const Array1<std::int64_t>& counts, std::size_t negative) {
                check_counts(view(counts), negative);
                const nb::gil_scoped_release released;
                new (self) embed::OutputLayer(view(counts), negative);
            },
            "counts"_a.noconvert(), "negative"_a)
        .def_prop_ro("n_words", &embed::OutputLayer::n_words)
        .def_prop_ro("n_outputs", &embed::OutputLayer::n_outputs,
                     "Rows of the table of outputs: the words, or the inner nodes, one less.")
        .def_prop_ro("negative", &embed::OutputLayer::negative)
        .def(
            "draw",
            [](const embed::OutputLayer& self, std::size_t count, std::uint64_t seed) {
                check(self.noise().size() > 0, "a layer without negative words draws none");
                std::vector<std::int32_t> drawn(count);
                std::uint64_t random = base::mixed(seed);
                for (std::int32_t& word : drawn) word = self.noise().draw(random);
                return to_numpy(std::move(drawn), count);
            },
            "count"_a, "seed"_a, "For tests: words as the training draws them.")
        .def(
            "paths",
            [](const embed::OutputLayer& self) {
                embed::Paths paths = self.paths();
                const std::size_t starts = paths.starts.size();
                const std::size_t nodes = paths.nodes.size();
                return std::make_tuple(to_numpy(std::move(paths.starts), starts),
                                       to_numpy(std::move(paths.nodes), nodes),
                                       to_numpy(std::move(paths.right), nodes));
            },
            "For each word the inner nodes from the root to it, and 1 where the way goes right: "
            "where the path of each begins, and the end; the nodes; the sides.");
}

} // namespace

void register_embed(nb::module_& module) {
    register_layer(module);
    module.def(
        "train_embeddings",
        [](const Ids& ids, const Offsets& offsets, const embed::OutputLayer& layer, const Row& keep,
           const Vectors<float>& words, const Vectors<float>& outputs,
           const std::optional<Vectors<float>>& documents, const std::string& mode,
           bool train_words, bool mean, std::size_t window, bool dynamic_window, std::size_t epochs,
           double alpha, double min_alpha, std::uint64_t seed, unsigned threads,
           const nb::object& progress) {
            const embed::EmbedOptions options = checked_options(
                mode, train_words, mean, window, dynamic_window, epochs, alpha, min_alpha);
            const embed::Documents texts =
                checked_documents(ids, offsets, layer, keep, words, outputs, documents);
            const bool wanted = options.predictor == embed::Predictor::dbow ||
                                options.predictor == embed::Predictor::dm;
            check(documents.has_value() == wanted,
                  "documents must be given for 'dbow' and 'dm', and only for them");
            check(all_finite(words) && all_finite(outputs) &&
                      (!documents || all_finite(*documents)),
                  "vectors must be finite to begin with");
            bool finite = true;
            run(texts.ids.size() * epochs, progress, [&](base::Stop& stop) {
                finite = embed::train_embeddings(texts, layer, view(keep), options,
                                                 {words.data(), outputs.data(),
                                                  documents ? documents->data() : nullptr,
                                                  words.shape(1)},
                                                 seed, threads, stop);
            });
            if (!finite) diverged(alpha);
        },
        "ids"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "layer"_a,
        "keep"_a.noconvert(), "words"_a.noconvert(), "outputs"_a.noconvert(),
        "documents"_a.noconvert().none(), "mode"_a, "train_words"_a, "mean"_a, "window"_a,
        "dynamic_window"_a, "epochs"_a, "alpha"_a, "min_alpha"_a, "seed"_a, "threads"_a,
        "progress"_a.none(),
        "Train the tables in place, by 'skipgram', 'cbow', 'dbow' or 'dm'. ValueError if numbers "
        "do not stay finite; then, and when stopped, the tables stay as they were.");
    module.def(
        "infer_documents",
        [](const Ids& ids, const Offsets& offsets, const embed::OutputLayer& layer, const Row& keep,
           const Vectors<const float>& words, const Vectors<const float>& outputs,
           const Vectors<float>& documents, const std::string& mode, bool mean, std::size_t window,
           bool dynamic_window, std::size_t epochs, double alpha, double min_alpha,
           const Array1<std::uint64_t>& seeds, unsigned threads, const nb::object& progress) {
            const embed::EmbedOptions options = checked_options(
                mode, false, mean, window, dynamic_window, epochs, alpha, min_alpha);
            check(options.predictor == embed::Predictor::dbow ||
                      options.predictor == embed::Predictor::dm,
                  "mode must be 'dbow' or 'dm' where documents are inferred");
            const embed::Documents texts = checked_documents<const float>(
                ids, offsets, layer, keep, words, outputs, Vectors<float>(documents));
            check(seeds.size() == texts.size(), "seeds must have a number for each document");
            bool finite = true;
            run(texts.ids.size() * epochs, progress, [&](base::Stop& stop) {
                finite = embed::infer_documents(
                    texts, layer, view(keep), options,
                    {words.data(), outputs.data(), documents.data(), words.shape(1)}, view(seeds),
                    threads, stop);
            });
            if (!finite) diverged(alpha);
        },
        "ids"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "layer"_a,
        "keep"_a.noconvert(), "words"_a.noconvert(), "outputs"_a.noconvert(),
        "documents"_a.noconvert(), "mode"_a, "mean"_a, "window"_a, "dynamic_window"_a, "epochs"_a,
        "alpha"_a, "min_alpha"_a, "seeds"_a.noconvert(), "threads"_a, "progress"_a.none(),
        "Train the documents alone, in place; words and outputs are only read. Each document gets "
        "the same bits in any company and on any number of threads.");
    module.def(
        "take_embedding_step",
        [](const Vectors<float>& inputs, const Ids& input_rows, const Vectors<float>& outputs,
           const Ids& output_rows, const Row& labels, double rate, bool mean,
           bool first_input_only) {
            const std::size_t dimension = inputs.shape(1);
            check(dimension > 0 && outputs.shape(1) == dimension, "tables must have one width");
            check(input_rows.size() > 0, "there must be an input");
            check(labels.size() == output_rows.size(), "labels must be as many as outputs");
            for (const std::int32_t row : view(input_rows))
                check(row >= 0 && static_cast<std::size_t>(row) < inputs.shape(0),
                      "input_rows must be rows of inputs");
            for (const std::int32_t row : view(output_rows))
                check(row >= 0 && static_cast<std::size_t>(row) < outputs.shape(0),
                      "output_rows must be rows of outputs");
            embed::take_one_step(inputs.data(), inputs.shape(0), view(input_rows), outputs.data(),
                                 outputs.shape(0), view(output_rows), view(labels), dimension,
                                 static_cast<float>(rate), mean, first_input_only);
        },
        "inputs"_a.noconvert(), "input_rows"_a.noconvert(), "outputs"_a.noconvert(),
        "output_rows"_a.noconvert(), "labels"_a.noconvert(), nb::kw_only(), "rate"_a, "mean"_a,
        "first_input_only"_a, "For tests: one step of the training, on rows of two tables.");
}

} // namespace textkin::bindings
