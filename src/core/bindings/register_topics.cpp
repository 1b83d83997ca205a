#include "bindings/bindings.h"

#include "bindings/rows.h"

#include "topics/gibbs.h"
#include "topics/grid_windows.h"
#include "topics/topics.h"

#include <nanobind/stl/pair.h>

#include <utility>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

// Bags, by document and by word, for many steps. The arrays are checked once and kept without a
// copy: the caller must not change them afterwards.
template <class Number> class Mixture {
  public:
    Mixture(Array1<std::int64_t> indptr, Array1<std::int32_t> indices, Array1<Number> counts,
            Array1<std::int64_t> word_indptr, Array1<std::int32_t> documents,
            Array1<std::int64_t> places)
        : indptr_(std::move(indptr)), indices_(std::move(indices)), counts_(std::move(counts)),
          word_indptr_(std::move(word_indptr)), documents_(std::move(documents)),
          places_(std::move(places)) {
        check(word_indptr_.size() > 0, "word_indptr must not be empty");
        const std::size_t n_words = word_indptr_.size() - 1;
        static_cast<void>(checked(indptr_, indices_, counts_, n_words));
        check_rows(view(word_indptr_), view(documents_), indptr_.size() - 1, "word_indptr");
        check(documents_.size() == indices_.size() && places_.size() == indices_.size(),
              "documents and places must be as many as indices");
        for (const std::int64_t place : view(places_))
            check(place >= 0 && static_cast<std::size_t>(place) < indices_.size(),
                  "places must be places of counts");
        shares_.resize(indices_.size());
    }

    double step(const Table<const Number>& topics, const Table<Number>& next_topics,
                const Table<Number>& words, const Values<double>& scale, double topic_prior,
                double word_prior, double least, unsigned threads) {
        const std::size_t width = words.shape(1);
        check_table<Number>(topics, counts().size(), width);
        check_table<Number>(next_topics, counts().size(), width);
        check_table<Number>(words, columns().size(), width);
        check(scale.size() > 0 && scale.size() <= width, "scale must have a number for each topic");
        double logarithm = 0;
        run(counts().size(), nb::none(), [&](base::Stop& stop) {
            logarithm =
                topics::em_step(counts(), columns(), scale.size(), width, topics.data(),
                                next_topics.data(), words.data(), scale.data(), shares_.data(),
                                topics::Priors{topic_prior, word_prior, least}, threads, stop);
        });
        return logarithm;
    }

  private:
    [[nodiscard]] topics::Counts<Number> counts() const {
        return {view(indptr_), view(indices_), view(counts_)};
    }
    [[nodiscard]] topics::Columns columns() const {
        return {view(word_indptr_), view(documents_), view(places_)};
    }

    Array1<std::int64_t> indptr_;
    Array1<std::int32_t> indices_;
    Array1<Number> counts_;
    Array1<std::int64_t> word_indptr_;
    Array1<std::int32_t> documents_;
    Array1<std::int64_t> places_;
    std::vector<Number> shares_;
};

template <class Number> void register_mixture(nb::module_& module, const char* name) {
    nb::class_<Mixture<Number>>(module, name, "Counts that a mixture of topics is fitted to.")
        .def(nb::init<Array1<std::int64_t>, Array1<std::int32_t>, Array1<Number>,
                      Array1<std::int64_t>, Array1<std::int32_t>, Array1<std::int64_t>>(),
             "indptr"_a.noconvert(), "indices"_a.noconvert(), "counts"_a.noconvert(),
             "word_indptr"_a.noconvert(), "documents"_a.noconvert(), "places"_a.noconvert())
        .def("step", &Mixture<Number>::step, "topics"_a.noconvert(), "next_topics"_a.noconvert(),
             "words"_a.noconvert(), "scale"_a.noconvert(), "topic_prior"_a, "word_prior"_a,
             "least"_a, "threads"_a,
             "One step of expectation maximisation; returns the log-likelihood before it.");
    module.def(
        "log_likelihood",
        [](const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
           const Array1<Number>& counts, const Table<const Number>& topics,
           const Table<const Number>& words, const Array1<double>& scale, unsigned threads) {
            const topics::Counts<Number> own = checked(indptr, indices, counts, words.shape(0));
            const std::size_t width = words.shape(1);
            check_table<Number>(topics, own.size(), width);
            check_table<Number>(words, words.shape(0), width);
            check(scale.size() == width, "scale must have a number for each topic and the padding");
            topics::Likelihood found;
            run(own.size(), nb::none(), [&](base::Stop& stop) {
                found = topics::log_likelihood(own, width, topics.data(), words.data(),
                                               scale.data(), threads, stop);
            });
            return std::pair(found.logarithm, found.impossible);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "counts"_a.noconvert(),
        "topics"_a.noconvert(), "words"_a.noconvert(), "scale"_a.noconvert(), "threads"_a,
        "The sum of n log P(w|d), and the counts with P(w|d) = 0, which it leaves out.");
    module.def(
        "fold_in",
        [](const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
           const Array1<Number>& counts, const Table<Number>& topics,
           const Table<const Number>& words, std::size_t n_topics, double power, double topic_prior,
           std::size_t steps, double tolerance, unsigned threads, const nb::object& progress) {
            const topics::Counts<Number> own = checked(indptr, indices, counts, words.shape(0));
            const std::size_t width = words.shape(1);
            check_table<Number>(topics, own.size(), width);
            check_table<Number>(words, words.shape(0), width);
            check(n_topics > 0 && n_topics <= width, "n_topics must be at most the width");
            std::size_t taken = 0;
            run(own.size(), progress, [&](base::Stop& stop) {
                taken = topics::fold_in(own, n_topics, width, topics.data(), words.data(), power,
                                        topic_prior, steps, tolerance, threads, stop);
            });
            return taken;
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "counts"_a.noconvert(),
        "topics"_a.noconvert(), "words"_a.noconvert(), "n_topics"_a, "power"_a, "topic_prior"_a,
        "steps"_a, "tolerance"_a, "threads"_a, "progress"_a.none(),
        "Topics of documents under fixed words, in place; returns the most steps taken.");
}

using Pair = std::pair<std::size_t, std::size_t>;

// Tables of cells and of windows with numbers for each cell, of a window that fits into the grid.
template <class Number, class Cells, class Words>
topics::GridWindows checked_windows(const Cells& cells, const Words& words, std::size_t numbers,
                                    const Pair& shape, const Pair& window) {
    const std::size_t width = cells.shape(1);
    check_table<Number>(words, cells.shape(0), width);
    check(shape.first > 0 && shape.second > 0 && shape.first <= width / shape.second,
          "shape must have at most as many cells as the tables");
    check(window.first > 0 && window.first <= shape.first && window.second > 0 &&
              window.second <= shape.second,
          "window must have from 1 to as many rows and columns as the grid");
    check(numbers == shape.first * shape.second, "scale must have a number for each cell");
    return {shape.first, shape.second, window.first, window.second};
}

template <class Number> void register_windows(nb::module_& module) {
    module.def(
        "window_means",
        [](const Table<const Number>& cells, const Array1<double>& scale,
           const Table<Number>& words, const Pair& shape, const Pair& window, unsigned threads) {
            const topics::GridWindows windows =
                checked_windows<Number>(cells, words, scale.size(), shape, window);
            run(cells.shape(0), nb::none(), [&](base::Stop& stop) {
                topics::window_means(windows, cells.shape(0), cells.shape(1), cells.data(),
                                     scale.data(), words.data(), threads, stop);
            });
        },
        "cells"_a.noconvert(), "scale"_a.noconvert(), "words"_a.noconvert(), "shape"_a, "window"_a,
        "threads"_a, "The mean of the cells of each window of a torus, word by word.");
    module.def(
        "renew_cells",
        [](const Table<Number>& cells, const Values<double>& scale,
           const Table<const Number>& counts, const Values<double>& tokens, const Pair& shape,
           const Pair& window, double word_prior, double least, unsigned threads) {
            const topics::GridWindows windows =
                checked_windows<Number>(cells, counts, scale.size(), shape, window);
            check(tokens.size() == scale.size(), "tokens must have a number for each cell");
            run(cells.shape(0), nb::none(), [&](base::Stop& stop) {
                topics::renew_cells(windows, cells.shape(0), cells.shape(1), cells.data(),
                                    scale.data(), counts.data(), {word_prior, least}, tokens.data(),
                                    threads, stop);
            });
        },
        "cells"_a.noconvert(), "scale"_a.noconvert(), "counts"_a.noconvert(),
        "tokens"_a.noconvert(), "shape"_a, "window"_a, "word_prior"_a, "least"_a, "threads"_a,
        "Cells from the expected counts of windows; the tokens of each cell.");
}

using WholeCounts = Array1<std::int32_t>;

void check_whole(const WholeCounts& counts, std::size_t entries) {
    check(counts.size() == entries, "counts must be as many as indices");
    for (const std::int32_t count : view(counts)) check(count >= 0, "counts must not be negative");
}

void check_prior(double prior) {
    check(prior >= topics::kLeastPrior && prior <= topics::kMostPrior,
          "alpha and beta must be from 1e-12 to 1e12, so that weights fit into float");
}

void register_sampler(nb::module_& module) {
    nb::class_<topics::TopicSampler>(module, "TopicSampler",
                                     "Tokens whose topics are drawn in turn.")
        .def(
            "__init__",
            [](topics::TopicSampler* self, const Array1<std::int64_t>& indptr,
               const Array1<std::int32_t>& indices, const WholeCounts& counts, std::size_t n_words,
               std::size_t n_topics, double alpha, double beta, std::uint64_t seed,
               std::size_t groups) {
                check_rows(view(indptr), view(indices), n_words, "indptr");
                check_whole(counts, indices.size());
                check(n_topics > 0 && n_topics < 1'000'000, "n_topics must be from 1 to 999999");
                check_prior(alpha);
                check_prior(beta);
                check(groups <= 1024, "groups must be at most 1024");
                const nb::gil_scoped_release released;
                new (self) topics::TopicSampler(view(indptr), view(indices), view(counts), n_words,
                                                n_topics, {alpha, beta}, seed, groups);
            },
            "indptr"_a.noconvert(), "indices"_a.noconvert(), "counts"_a.noconvert(), "n_words"_a,
            "n_topics"_a, "alpha"_a, "beta"_a, "seed"_a, "groups"_a = 0)
        .def_prop_ro("n_tokens", &topics::TopicSampler::n_tokens)
        .def_prop_ro("groups", &topics::TopicSampler::groups)
        .def(
            "sweep",
            [](topics::TopicSampler& self, std::size_t times, unsigned threads,
               const nb::object& progress) {
                run(times, progress, [&](base::Stop& stop) { self.sweep(times, threads, stop); });
            },
            "times"_a, "threads"_a, "progress"_a.none(),
            "Draw a new topic for every token, so many times. Not usable after it was stopped.")
        .def("document_counts",
             [](const topics::TopicSampler& self) {
                 return to_numpy(self.document_counts(), self.n_documents(), self.n_topics());
             })
        .def("word_counts",
             [](const topics::TopicSampler& self) {
                 return to_numpy(self.word_counts(), self.n_words(), self.n_topics());
             })
        .def("totals", [](const topics::TopicSampler& self) {
            return to_numpy(self.totals(), self.n_topics());
        });
    module.def(
        "fold_in_by_sampling",
        [](const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
           const WholeCounts& counts, const Array2<float>& weights, double alpha,
           std::size_t burn_in, std::size_t samples, std::uint64_t seed, unsigned threads,
           const nb::object& progress) {
            check_rows(view(indptr), view(indices), weights.shape(0), "indptr");
            check_whole(counts, indices.size());
            const std::size_t n_topics = weights.shape(1);
            check(n_topics > 0 && samples > 0, "there must be topics and samples");
            check_prior(alpha);
            const std::size_t documents = indptr.size() - 1;
            std::vector<double> out(documents * n_topics);
            run(documents, progress, [&](base::Stop& stop) {
                topics::fold_in_by_sampling(view(indptr), view(indices), view(counts),
                                            {weights.data(), weights.size()}, n_topics, alpha,
                                            burn_in, samples, seed, out.data(), threads, stop);
            });
            return to_numpy(std::move(out), documents, n_topics);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "counts"_a.noconvert(),
        "weights"_a.noconvert(), "alpha"_a, "burn_in"_a, "samples"_a, "seed"_a, "threads"_a,
        "progress"_a.none());
}

} // namespace

void register_topics(nb::module_& module) {
    register_mixture<float>(module, "Mixture");
    register_mixture<double>(module, "FineMixture");
    register_windows<float>(module);
    register_windows<double>(module);
    register_sampler(module);
}

} // namespace textkin::bindings
