#include "search/dual_bound.h"

#include "kernels/padding.h"
#include "search/lower_costs.h"

#include <algorithm>

namespace textkin::search {
namespace {

constexpr std::size_t kPanelsOfAPart = 64;
constexpr double kMassRounding = 0x1p-50; // of a mass, which is at most 1, for each entry

} // namespace

void Refiner::start(const Corpus& corpus, const LowerCosts& costs, transport::Cost cost,
                    const transport::Document& query, double slack, std::size_t bytes) {
    for (const std::int32_t place : places_) position_[static_cast<std::size_t>(place)] = 0;
    places_.clear();
    forget_panels();
    corpus_ = &corpus;
    cancels_ = transport::is_metric(cost);
    unit_ = costs.words().unit();
    slack_ = slack;
    const auto known = corpus.words();
    position_.resize(std::max(position_.size(), known.size()));
    transposed_.resize(std::max(transposed_.size(), costs.words().length() / kernels::kPanelWords));
    words_ = query.size();
    if (const std::size_t width = kernels::padded(words_); width != width_) {
        width_ = width;
        parts_.clear();
    }
    most_panels_ = bytes / (kernels::kPanelWords * width_ * sizeof(std::int16_t));
    bytes_ = bytes;
    rows_of_query_.clear();
    shares_.clear();
    for (std::size_t j = 0; j < words_; ++j) {
        rows_of_query_.push_back(costs.row(query.words[j]));
        shares_.push_back(static_cast<double>(query.masses[j]) / static_cast<double>(query.total));
        const auto found = std::lower_bound(known.begin(), known.end(), query.words[j]);
        if (found == known.end() || *found != query.words[j]) continue;
        places_.push_back(static_cast<std::int32_t>(found - known.begin()));
        position_[static_cast<std::size_t>(places_.back())] = static_cast<std::int32_t>(j + 1);
    }
    closed_.grow(width_);
    column_least_.grow(width_);
    rest_.grow(std::max(width_, kernels::padded(corpus.longest())));
    row_least_.grow(kernels::padded(corpus.longest()));
}

void Refiner::forget_panels() {
    for (const std::int32_t panel : panels_) transposed_[static_cast<std::size_t>(panel)] = 0;
    panels_.clear();
}

const std::int16_t* Refiner::costs_of(std::int32_t place) {
    const auto panel = static_cast<std::size_t>(place) / kernels::kPanelWords;
    if (transposed_[panel] == 0) {
        const std::size_t number = panels_.size();
        if (number / kPanelsOfAPart == parts_.size()) {
            base::Buffer<std::int16_t>
                part; // exists only with its memory, also if the allocation fails
            part.grow(kPanelsOfAPart * kernels::kPanelWords * width_);
            parts_.push_back(std::move(part));
        }
        panels_.push_back(static_cast<std::int32_t>(panel));
        transposed_[panel] = static_cast<std::int32_t>(number + 1);
        kernels::kernels().panels.transpose_panel(
            rows_of_query_.data(), words_, panel * kernels::kPanelWords,
            parts_[number / kPanelsOfAPart].data() +
                number % kPanelsOfAPart * kernels::kPanelWords * width_,
            width_);
    }
    return transposed_costs(static_cast<std::size_t>(transposed_[panel] - 1), place);
}

const std::int16_t* Refiner::transposed_costs(std::size_t number, std::int32_t place) const {
    return parts_[number / kPanelsOfAPart].data() +
           (number % kPanelsOfAPart * kernels::kPanelWords +
            static_cast<std::size_t>(place) % kernels::kPanelWords) *
               width_;
}

void Refiner::fetch(std::size_t row) const {
    const auto [block, within] = corpus_->find(row);
    const auto places = corpus_->places();
    for (std::size_t k = block->begin(within); k < block->end(within); ++k) {
        const std::int32_t place = places[static_cast<std::size_t>(block->columns[k])];
        if (place == Corpus::kNowhere) continue;
        const auto number = transposed_[static_cast<std::size_t>(place) / kernels::kPanelWords];
        if (number == 0) continue;
        const std::int16_t* costs = transposed_costs(static_cast<std::size_t>(number - 1), place);
        for (std::size_t j = 0; j < width_; j += 32) __builtin_prefetch(costs + j);
    }
}

// Masses of a document that still have to move, and masses of the query that can still receive.
void Refiner::read(std::size_t row) {
    const auto [block, within] = corpus_->find(row);
    const Columns& columns = corpus_->columns();
    const auto places = corpus_->places();
    const double total = corpus_->total(row);
    const std::size_t entries = block->end(within) - block->begin(within);
    // Masses that cancel may leave rounding errors behind, which have nowhere to go and would be
    // charged the largest cost.
    stray_ = static_cast<double>(entries + words_) * kMassRounding *
             static_cast<double>(kernels::kFarthest);
    // A document may need as many panels as it has words, and all of them until it is done with.
    if (panels_.size() + entries > most_panels_) forget_panels();
    rows_.clear();
    masses_.clear();
    left_ = shares_;
    std::fill_n(closed_.data(), width_, std::int16_t{0});
    for (std::size_t k = block->begin(within); k < block->end(within); ++k) {
        const std::int32_t column = block->columns[k];
        const std::int32_t place = places[static_cast<std::size_t>(column)];
        if (place == Corpus::kNowhere) continue;
        double mass = block->counts[k] * columns.weight(column) / total;
        const std::int32_t shared = position_[static_cast<std::size_t>(place)];
        if (cancels_ && shared != 0) {
            const auto j = static_cast<std::size_t>(shared - 1);
            const double common = std::min(mass, left_[j]);
            mass -= common;
            left_[j] -= common;
            if (left_[j] <= 0) closed_[j] = kernels::kFarthest;
        }
        if (mass <= 0) continue;
        rows_.push_back(costs_of(place));
        masses_.push_back(mass);
    }
}

double Refiner::as_cost(double sum) const {
    return std::max(0.0, (sum - stray_) * unit_ * (1 - 1e-12) - slack_);
}

double Refiner::bound(std::size_t row, double enough) {
    read(row);
    if (rows_.empty()) return 0;
    const kernels::Kernels& run = kernels::kernels();
    const std::size_t count = rows_.size();
    run.duals.least_both_ways(rows_.data(), count, width_, closed_.data(), row_least_.data(),
                              column_least_.data());
    transport::close_columns({closed_.data(), words_}, width_, column_least_.data());
    const double by_rows = transport::weighed(masses_, row_least_.data());
    const double by_columns = transport::weighed(left_, column_least_.data());
    if (const double relaxed = as_cost(std::max(by_rows, by_columns)); relaxed > enough)
        return relaxed;
    run.duals.reduced_columns(rows_.data(), count, width_, row_least_.data(), rest_.data());
    const double first = by_rows + transport::weighed(left_, rest_.data());
    run.duals.reduced_rows(rows_.data(), count, width_, column_least_.data(), closed_.data(),
                           rest_.data());
    const double second = by_columns + transport::weighed(masses_, rest_.data());
    return as_cost(std::max(first, second));
}

double Refiner::sinkhorn_bound(std::size_t row, double enough, base::Stop& stop) {
    read(row);
    const std::size_t count = rows_.size();
    if (!transport::SinkhornBound::pays(count, words_) ||
        transport::SinkhornBound::bytes_needed(count, width_) > bytes_)
        return 0;
    const transport::SmallCosts costs{rows_, words_, width_, closed_.data(), masses_, left_};
    return as_cost(sinkhorn_.bound(costs, (enough + slack_) / unit_, stop));
}

void Refiner::trim(std::size_t bytes) {
    if (parts_.size() * kPanelsOfAPart * kernels::kPanelWords * width_ * sizeof(std::int16_t) +
            (position_.size() + transposed_.size()) * sizeof(std::int32_t) + sinkhorn_.bytes() >
        bytes)
        *this = Refiner{};
}

} // namespace textkin::search
