#include "search/lower_costs.h"

#include "base/parallel.h"
#include "kernels/padding.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace textkin::search {
namespace {

constexpr std::size_t kPanelsAtOnce = 8; // of vectors that stay in the second cache
constexpr std::size_t kWordsBetweenPolls = 1 << 8;
constexpr std::size_t kPointsAtOnce = 48; // meet them before the next ones do

// The longest vectors may be rare: what is farther than three median lengths counts as just that.
constexpr double kMedianLengths = 3;

// A vector that is this short compared with the longest counts as zero: with a point of length up
// to 4, this changes a square by less than kLeastSquare. The steps of longer vectors are in the
// range of float.
constexpr double kNothing = 1e-31;
static_assert(8 * kNothing < static_cast<double>(kernels::kLeastSquare));

constexpr std::uint64_t kMemory = 64; // words asked for, a slot, before counts are halved

struct Panels {
    base::Buffer<float> vectors;
};

Panels& panels_of_this_thread() {
    static thread_local Panels kept;
    return kept;
}

} // namespace

// The product of d numbers, summed up in float in any order, is off by at most g |x| |y|, where
// g = d u / (1 - d u) and u = 2^-24 (Higham, "Accuracy and Stability of Numerical Algorithms",
// 2002, section 3.1). If x is replaced by a vector that is r |x| away from it, the product changes
// by at most r |x| |y|, and its rounding grows by the factor 1 + r: together by e = g (1 + r) + r
// times |x| |y|. Twice the product is then off by at most e (|x|^2 + |y|^2). The squares as float,
// their sum and the difference add less than (4 + 2 e) u of |x|^2 + |y|^2, and terms of u^2; 16 u
// covers them as long as e is below 4.
double shrinking_factor(std::size_t dimension, double moved) {
    constexpr double unit = 0x1p-24;
    const double roundings = static_cast<double>(dimension) * unit;
    if (roundings > 0.5)
        throw std::length_error("Vectors must have at most 2^23 dimensions; got " +
                                std::to_string(dimension) + ".");
    const double product = roundings / (1 - roundings);
    return 1 - (product * (1 + moved) + moved) - 16 * unit;
}

WordCosts::WordCosts(const Space& space, const Corpus& corpus, std::size_t bytes, base::Stop* stop)
    : corpus_(corpus), cost_(space.cost), dimension_(space.table.dimension),
      length_((corpus.words().size() + kernels::kPanelWords - 1) / kernels::kPanelWords *
              kernels::kPanelWords) {
    std::vector<double> norms(length_);
    for (std::size_t i = 0; i < length_; ++i) {
        if (stop != nullptr && i % kWordsBetweenPolls == 0) stop->throw_if_requested();
        norms[i] = norm(word(space.table, i));
    }
    longest_ = *std::max_element(norms.begin(), norms.end());
    choose_scale(norms);
    const double moved = fits(bytes) ? pack(space.table, norms, stop) : 0.0;
    shrink_ = shrinking_factor(dimension_, moved * (1 + 1e-9));
    squares_.grow(length_);
    for (std::size_t i = 0; i < length_; ++i)
        squares_[i] = static_cast<float>(power_ * norms[i] * power_ * norms[i] * shrink_);
}

// The vector of a word of the corpus; beyond the last one, that one again.
const float* WordCosts::word(const transport::VectorTable& table, std::size_t place) const {
    const auto words = corpus_.words();
    return table.row(words[std::min(place, words.size() - 1)]);
}

// Fills packed_; returns how far, relative to its length, a vector has moved at most.
double WordCosts::pack(const transport::VectorTable& table, const std::vector<double>& norms,
                       base::Stop* stop) {
    packed_.grow(length_ * dimension_);
    steps_.grow(length_);
    const auto scale = static_cast<float>(power_);
    double farthest = 0;
    for (std::size_t i = 0; i < length_; ++i) {
        if (stop != nullptr && i % kWordsBetweenPolls == 0) stop->throw_if_requested();
        const float* vector = word(table, i);
        float largest = 0;
        if (power_ * norms[i] > kNothing)
            for (std::size_t k = 0; k < dimension_; ++k)
                largest = std::max(largest, std::fabs(vector[k] * scale));
        const float step = largest / kernels::kLargestShort;
        steps_[i] = step;
        const float inverse = step > 0 ? 1 / step : 0;
        std::int16_t* out = packed_.data() +
                            i / kernels::kPanelWords * kernels::kPanelWords * dimension_ +
                            i % kernels::kPanelWords;
        double moved = 0;
        for (std::size_t k = 0; k < dimension_; ++k) {
            const float value = vector[k] * scale;
            const float rounded = std::clamp(value * inverse + (value < 0 ? -0.5F : 0.5F),
                                             -kernels::kLargestShort, kernels::kLargestShort);
            const auto entry = static_cast<std::int16_t>(rounded);
            out[k * kernels::kPanelWords] = entry;
            const double off =
                static_cast<double>(static_cast<float>(entry) * step) - static_cast<double>(value);
            moved += off * off;
        }
        if (largest > 0) farthest = std::max(farthest, std::sqrt(moved) / (power_ * norms[i]));
    }
    return farthest;
}

void WordCosts::panel(const transport::VectorTable& table, std::size_t number, float* out) const {
    if (packed_.size() > 0) {
        kernels::kernels().panels.unpack_panel(
            packed_.data() + number * kernels::kPanelWords * dimension_,
            steps_.data() + number * kernels::kPanelWords, dimension_, out);
        return;
    }
    const float* vectors[kernels::kPanelWords];
    for (std::size_t w = 0; w < kernels::kPanelWords; ++w)
        vectors[w] = word(table, number * kernels::kPanelWords + w);
    kernels::kernels().panels.pack_panel(vectors, dimension_, static_cast<float>(power_), out);
}

double WordCosts::norm(const float* vector) const {
    double square = 0;
    for (std::size_t k = 0; k < dimension_; ++k)
        square += static_cast<double>(vector[k]) * static_cast<double>(vector[k]);
    return std::sqrt(square);
}

void WordCosts::choose_scale(std::vector<double> norms) {
    const auto middle = norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2);
    std::nth_element(norms.begin(), middle, norms.end());
    int exponent = 0;
    std::frexp(longest_, &exponent); // longest_ < 2^exponent
    power_ = std::ldexp(1.0, std::clamp(-exponent, -140, 120));
    const double length = std::max(std::min(longest_, kMedianLengths * *middle), 1e-9 * longest_);
    double most = 2 * power_ * length;
    if (!(most > 0)) most = 1;
    far_ = power_ * longest_ + most;
    if (cost_ != transport::Cost::euclidean) most *= most;
    // The entry comes out lower by more than the rounding of root and product.
    constexpr double safety = 1 - 0x1p-21;
    scale_ = static_cast<float>(static_cast<double>(kernels::kFarthest) / most * safety);
    unit_ = most / static_cast<double>(kernels::kFarthest) / power_;
    if (cost_ != transport::Cost::euclidean) unit_ /= power_;
    if (cost_ == transport::Cost::cosine) unit_ /= 2; // half of the square
}

double WordCosts::reach(const transport::VectorTable& table,
                        const transport::Document& query) const {
    double most = 0;
    for (const std::int32_t word : query.words) most = std::max(most, norm(table.row(word)));
    most += longest_;
    if (cost_ == transport::Cost::euclidean) return most;
    return cost_ == transport::Cost::cosine ? most * most / 2 : most * most;
}

void WordCosts::compute(const transport::VectorTable& table, std::span<const std::int32_t> words,
                        std::span<std::int16_t* const> out, unsigned threads,
                        base::Stop& stop) const {
    const std::size_t stride = kernels::padded(dimension_);
    const auto scale = static_cast<float>(power_);
    base::Buffer<float> points;
    points.grow(words.size() * stride);
    std::vector<float> squares;
    std::vector<std::int16_t*> rows;
    std::size_t count = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const float* vector = table.row(words[i]);
        const double scaled = power_ * norm(vector);
        if (scaled > far_) {
            std::fill_n(out[i], length_, kernels::kFarthest);
            continue;
        }
        float* to = points.data() + count++ * stride;
        for (std::size_t k = 0; k < dimension_; ++k) to[k] = vector[k] * scale;
        squares.push_back(static_cast<float>(scaled * scaled * shrink_));
        rows.push_back(out[i]);
    }
    const kernels::Kernels& run = kernels::kernels();
    const std::size_t panels = length_ / kernels::kPanelWords;
    const std::size_t items = (panels + kPanelsAtOnce - 1) / kPanelsAtOnce;
    const auto body = [&](std::size_t item) {
        const std::size_t first = item * kPanelsAtOnce;
        const std::size_t last = std::min(panels, first + kPanelsAtOnce);
        base::Buffer<float>& packed = panels_of_this_thread().vectors;
        const std::size_t size = kernels::kPanelWords * dimension_;
        packed.grow(kPanelsAtOnce * size);
        for (std::size_t number = first; number < last; ++number)
            panel(table, number, packed.data() + (number - first) * size);
        for (std::size_t p = 0; p < count; p += kPointsAtOnce)
            for (std::size_t number = first; number < last; ++number)
                run.panels.lower_costs(
                    points.data() + p * stride, std::min(kPointsAtOnce, count - p), stride,
                    dimension_, packed.data() + (number - first) * size,
                    squares_.data() + number * kernels::kPanelWords, squares.data() + p, scale_,
                    cost_ == transport::Cost::euclidean, rows.data() + p,
                    number * kernels::kPanelWords);
    };
    if (count > 0) base::parallel_for(items, threads, stop, body, false);
}

// Slots for more rows: new ones while there is room, then those that were wanted least: words
// follow Zipf's law, so that the most frequent ones serve nearly every query.
std::vector<std::size_t> LowerCosts::free_slots(std::size_t count, std::size_t most) {
    std::vector<std::size_t> free;
    while (free.size() < count && slots_.size() < most) {
        free.push_back(slots_.size());
        slots_.emplace_back();
        slots_.back().values.grow(words_->length());
    }
    if (free.size() == count) return free;
    std::vector<std::size_t> old;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
        if (slots_[slot].word != kNoWord && slots_[slot].used < calls_) old.push_back(slot);
    std::sort(old.begin(), old.end(),
              [this](std::size_t a, std::size_t b) { return slots_[a].wanted < slots_[b].wanted; });
    for (const std::size_t slot : old) {
        if (free.size() == count) break;
        slot_of_.erase(slots_[slot].word);
        free.push_back(slot);
    }
    return free;
}

void LowerCosts::prepare(const transport::VectorTable& table, std::span<const std::int32_t> words,
                         std::size_t most, unsigned threads, base::Stop& stop) {
    // A smaller allowance than before; points of their own, which mean others in another call; and
    // rows that were never filled because a call was stopped or had no memory.
    const auto is_stale = [&](const Slot& slot) {
        return slot.word == kNoWord || static_cast<std::size_t>(slot.word) >= table.rows;
    };
    if (slots_.size() > most || slot_of_.size() != slots_.size() ||
        std::any_of(slots_.begin(), slots_.end(), is_stale)) {
        if (slots_.size() > most)
            slots_.clear();
        else
            std::erase_if(slots_, is_stale);
        slot_of_.clear();
        for (std::size_t slot = 0; slot < slots_.size(); ++slot) slot_of_[slots_[slot].word] = slot;
    }
    ++calls_;
    wanted_ += words.size();
    if (wanted_ > kMemory * slots_.size()) { // what was frequent long ago need not be so now
        wanted_ = 0;
        for (Slot& slot : slots_) slot.wanted /= 2;
    }
    const auto want = [this](Slot& slot) {
        slot.used = calls_;
        ++slot.wanted;
    };
    std::vector<std::int32_t> missing;
    for (const std::int32_t word : words) {
        const auto known = slot_of_.find(word);
        if (known == slot_of_.end())
            missing.push_back(word);
        else
            want(slots_[known->second]);
    }
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    const std::vector<std::size_t> taken = free_slots(missing.size(), most);
    std::vector<std::int16_t*> rows;
    for (const std::size_t slot : taken) {
        slots_[slot].word = kNoWord; // until it is filled
        slots_[slot].wanted = 0;
        want(slots_[slot]);
        rows.push_back(slots_[slot].values.data());
    }
    words_->compute(table, missing, rows, threads, stop);
    for (std::size_t i = 0; i < missing.size(); ++i) {
        slot_of_[missing[i]] = taken[i];
        slots_[taken[i]].word = missing[i];
    }
}

} // namespace textkin::search
