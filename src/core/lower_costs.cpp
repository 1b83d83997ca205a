#include "lower_costs.h"

#include "textkin/lanes.h"
#include "textkin/parallel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace textkin {
namespace {

constexpr std::size_t kPanelsAtOnce = 8;  // of vectors that stay in the second cache
constexpr std::size_t kPointsAtOnce = 48; // meet them before the next ones do

// The longest vectors may be rare: what is farther than three median lengths counts as just that.
constexpr double kMedianLengths = 3;

// A vector so short beside the longest is as good as zero: with a point at most 4 long that changes
// a square by less than kLeastSquare. Longer ones have steps in the range of float.
constexpr double kNothing = 1e-31;
static_assert(8 * kNothing < static_cast<double>(kLeastSquare));

constexpr std::uint64_t kMemory = 64; // words asked for, a slot, before counts are halved

struct Panels {
    Buffer<float> vectors;
};

Panels& panels_of_this_thread() {
    static thread_local Panels kept;
    return kept;
}

} // namespace

WordCosts::WordCosts(const Space& space, const Corpus& corpus, std::size_t bytes)
    : corpus_(corpus), cost_(space.cost), dimension_(space.table.dimension),
      length_((corpus.words().size() + kPanelWords - 1) / kPanelWords * kPanelWords) {
    std::vector<double> norms(length_);
    for (std::size_t i = 0; i < length_; ++i) norms[i] = norm(word(space.table, i));
    longest_ = *std::max_element(norms.begin(), norms.end());
    choose_scale(norms);
    // The product of two vectors is off by (d + 1) 2^-24 |x| |y| at most, twice that by as much
    // times |x|^2 + |y|^2; sums and differences of squares and product, and the squares as float,
    // add some units of 2^-24 of the same. If x is replaced by something that is r |x| away from
    // it, the product changes by r |x| |y| at most.
    shrink_ = 1 - (static_cast<double>(dimension_) + 16) * 0x1p-24;
    if (length_ * dimension_ * sizeof(std::int16_t) <= bytes)
        shrink_ -= pack(space.table, norms) * (1 + 1e-9);
    squares_.grow(length_);
    for (std::size_t i = 0; i < length_; ++i)
        squares_[i] = static_cast<float>(power_ * norms[i] * power_ * norms[i] * shrink_);
}

// The vector of a word of the corpus; beyond the last one, that one again.
const float* WordCosts::word(const VectorTable& table, std::size_t place) const {
    const auto words = corpus_.words();
    return table.row(words[std::min(place, words.size() - 1)]);
}

// Fills packed_; returns how far, relative to its length, a vector has moved at most.
double WordCosts::pack(const VectorTable& table, const std::vector<double>& norms) {
    packed_.grow(length_ * dimension_);
    steps_.grow(length_);
    const auto scale = static_cast<float>(power_);
    double farthest = 0;
    for (std::size_t i = 0; i < length_; ++i) {
        const float* vector = word(table, i);
        float largest = 0;
        if (power_ * norms[i] > kNothing)
            for (std::size_t k = 0; k < dimension_; ++k)
                largest = std::max(largest, std::fabs(vector[k] * scale));
        const float step = largest / kLargestShort;
        steps_[i] = step;
        const float inverse = step > 0 ? 1 / step : 0;
        std::int16_t* out =
            packed_.data() + i / kPanelWords * kPanelWords * dimension_ + i % kPanelWords;
        double moved = 0;
        for (std::size_t k = 0; k < dimension_; ++k) {
            const float value = vector[k] * scale;
            const float rounded = std::clamp(value * inverse + (value < 0 ? -0.5F : 0.5F),
                                             -kLargestShort, kLargestShort);
            const auto entry = static_cast<std::int16_t>(rounded);
            out[k * kPanelWords] = entry;
            const double off =
                static_cast<double>(static_cast<float>(entry) * step) - static_cast<double>(value);
            moved += off * off;
        }
        if (largest > 0) farthest = std::max(farthest, std::sqrt(moved) / (power_ * norms[i]));
    }
    return farthest;
}

void WordCosts::panel(const VectorTable& table, std::size_t number, float* out) const {
    if (packed_.size() > 0) {
        kernels().unpack_panel(packed_.data() + number * kPanelWords * dimension_,
                               steps_.data() + number * kPanelWords, dimension_, out);
        return;
    }
    const float* vectors[kPanelWords];
    for (std::size_t w = 0; w < kPanelWords; ++w)
        vectors[w] = word(table, number * kPanelWords + w);
    kernels().pack_panel(vectors, dimension_, static_cast<float>(power_), out);
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
    if (cost_ != Cost::euclidean) most *= most;
    // The entry comes out lower by more than the rounding of root and product.
    constexpr double safety = 1 - 0x1p-21;
    scale_ = static_cast<float>(static_cast<double>(kFarthest) / most * safety);
    unit_ = most / static_cast<double>(kFarthest) / power_;
    if (cost_ != Cost::euclidean) unit_ /= power_;
    if (cost_ == Cost::cosine) unit_ /= 2; // half of the square
}

double WordCosts::reach(const VectorTable& table, const Document& query) const {
    double most = 0;
    for (const std::int32_t word : query.words) most = std::max(most, norm(table.row(word)));
    most += longest_;
    if (cost_ == Cost::euclidean) return most;
    return cost_ == Cost::cosine ? most * most / 2 : most * most;
}

void WordCosts::compute(const VectorTable& table, std::span<const std::int32_t> words,
                        std::span<std::int16_t* const> out, unsigned threads, Stop& stop) const {
    const std::size_t stride = padded(dimension_);
    const auto scale = static_cast<float>(power_);
    Buffer<float> points;
    points.grow(words.size() * stride);
    std::vector<float> squares;
    std::vector<std::int16_t*> rows;
    std::size_t count = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const float* vector = table.row(words[i]);
        const double scaled = power_ * norm(vector);
        if (scaled > far_) {
            std::fill_n(out[i], length_, kFarthest);
            continue;
        }
        float* to = points.data() + count++ * stride;
        for (std::size_t k = 0; k < dimension_; ++k) to[k] = vector[k] * scale;
        squares.push_back(static_cast<float>(scaled * scaled * shrink_));
        rows.push_back(out[i]);
    }
    const Kernels& run = kernels();
    const std::size_t panels = length_ / kPanelWords;
    const std::size_t items = (panels + kPanelsAtOnce - 1) / kPanelsAtOnce;
    const auto body = [&](std::size_t item) {
        const std::size_t first = item * kPanelsAtOnce;
        const std::size_t last = std::min(panels, first + kPanelsAtOnce);
        Buffer<float>& packed = panels_of_this_thread().vectors;
        const std::size_t size = kPanelWords * dimension_;
        packed.grow(kPanelsAtOnce * size);
        for (std::size_t number = first; number < last; ++number)
            panel(table, number, packed.data() + (number - first) * size);
        for (std::size_t p = 0; p < count; p += kPointsAtOnce)
            for (std::size_t number = first; number < last; ++number)
                run.lower_costs(points.data() + p * stride, std::min(kPointsAtOnce, count - p),
                                stride, dimension_, packed.data() + (number - first) * size,
                                squares_.data() + number * kPanelWords, squares.data() + p, scale_,
                                cost_ == Cost::euclidean, rows.data() + p, number * kPanelWords);
    };
    if (count > 0) parallel_for(items, threads, stop, body, false);
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

void LowerCosts::prepare(const VectorTable& table, std::span<const std::int32_t> words,
                         std::size_t most, unsigned threads, Stop& stop) {
    // A smaller allowance than before; points of their own, which mean others in another call; and
    // rows that were never filled because a call was stopped.
    const auto is_stale = [&](const Slot& slot) {
        return slot.word == kNoWord || static_cast<std::size_t>(slot.word) >= table.rows;
    };
    if (slots_.size() > most || std::any_of(slots_.begin(), slots_.end(), is_stale)) {
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
        slots_[taken[i]].word = missing[i];
        slot_of_[missing[i]] = taken[i];
    }
}

} // namespace textkin
