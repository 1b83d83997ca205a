#include "embed/output_layer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace textkin::embed {

AliasTable::AliasTable(std::span<const double> weights) : slots_(weights.size()) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double scale = static_cast<double>(weights.size()) / sum;
    std::vector<double> left(weights.size()); // of each item, in slots
    std::vector<std::int32_t> small;
    std::vector<std::int32_t> large;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        left[i] = weights[i] * scale;
        (left[i] < 1 ? small : large).push_back(static_cast<std::int32_t>(i));
    }
    const auto fill = [&](std::int32_t item, std::int32_t other) {
        const auto at = static_cast<std::size_t>(item);
        slots_[at].own = static_cast<std::uint32_t>(std::min(left[at] * 0x1p32, 0x1p32 - 1));
        slots_[at].other = other;
    };
    while (!small.empty() && !large.empty()) {
        const std::int32_t less = small.back();
        const std::int32_t more = large.back();
        small.pop_back();
        fill(less, more);
        double& rest = left[static_cast<std::size_t>(more)];
        rest -= 1 - left[static_cast<std::size_t>(less)];
        if (rest < 1) {
            large.pop_back();
            small.push_back(more);
        }
    }
    // The remaining items fill their slots except for rounding, and keep them whole. An item of
    // weight 0 among them gives its slot to an item with a weight.
    const auto any = static_cast<std::int32_t>(std::max_element(weights.begin(), weights.end()) -
                                               weights.begin());
    for (const auto& rest : {large, small})
        for (const std::int32_t item : rest)
            fill(item, weights[static_cast<std::size_t>(item)] > 0 ? item : any);
}

Paths huffman_paths(std::span<const std::int64_t> counts) {
    const std::size_t n = counts.size();
    Paths paths;
    paths.starts.assign(n + 1, 0);
    if (n < 2) return paths;
    // Words by count, and inner nodes as they are made: both ascend, so the smallest of all is at
    // the front of one.
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return counts[a] < counts[b]; });
    const std::size_t inner = n - 1;
    std::vector<std::int64_t> sums(inner);
    std::vector<std::size_t> parents(n + inner); // of words, then of inner nodes
    std::vector<std::uint8_t> right(n + inner);
    std::size_t next_word = 0;
    std::size_t next_inner = 0;
    for (std::size_t made = 0; made < inner; ++made) {
        for (const bool side : {false, true}) {
            const bool word = next_inner == made ||
                              (next_word < n && counts[order[next_word]] <= sums[next_inner]);
            const std::size_t node = word ? order[next_word] : n + next_inner;
            sums[made] += word ? counts[order[next_word++]] : sums[next_inner++];
            parents[node] = made;
            right[node] = side ? 1 : 0;
        }
    }
    std::vector<std::int64_t> depths(inner);
    for (std::size_t node = inner - 1; node-- > 0;) depths[node] = depths[parents[n + node]] + 1;
    for (std::size_t w = 0; w < n; ++w)
        paths.starts[w + 1] = paths.starts[w] + depths[parents[w]] + 1;
    paths.nodes.resize(static_cast<std::size_t>(paths.starts[n]));
    paths.right.resize(paths.nodes.size());
    for (std::size_t w = 0; w < n; ++w) {
        std::size_t node = w;
        for (auto at = static_cast<std::size_t>(paths.starts[w + 1]);
             at-- > static_cast<std::size_t>(paths.starts[w]);) {
            paths.nodes[at] = static_cast<std::int32_t>(parents[node]);
            paths.right[at] = right[node];
            node = n + parents[node];
        }
    }
    return paths;
}

OutputLayer::OutputLayer(std::span<const std::int64_t> counts, std::size_t negative)
    : n_words_(counts.size()), negative_(negative), most_outputs_(negative + 1) {
    if (negative > 0) {
        std::vector<double> weights(counts.size());
        std::transform(counts.begin(), counts.end(), weights.begin(), [](std::int64_t count) {
            return std::pow(static_cast<double>(count), 0.75);
        });
        noise_ = AliasTable(weights);
        return;
    }
    paths_ = huffman_paths(counts);
    for (std::size_t w = 0; w < n_words_; ++w)
        most_outputs_ = std::max(most_outputs_,
                                 static_cast<std::size_t>(paths_.starts[w + 1] - paths_.starts[w]));
}

std::size_t OutputLayer::n_outputs() const {
    return negative_ > 0 || n_words_ == 0 ? n_words_ : n_words_ - 1;
}

std::size_t OutputLayer::outputs_of(std::int32_t word, std::uint64_t& random, std::int32_t* outputs,
                                    float* labels) const {
    if (negative_ > 0) {
        outputs[0] = word;
        labels[0] = 1;
        std::size_t count = 1;
        for (std::size_t i = 0; i < negative_; ++i) {
            const std::int32_t drawn = noise_.draw(random);
            outputs[count] = drawn; // overwritten by the next if it does not count
            labels[count] = 0;
            count += drawn != word ? 1 : 0;
        }
        return count;
    }
    const auto begin = static_cast<std::size_t>(paths_.starts[static_cast<std::size_t>(word)]);
    const auto end = static_cast<std::size_t>(paths_.starts[static_cast<std::size_t>(word) + 1]);
    for (std::size_t at = begin; at < end; ++at) {
        outputs[at - begin] = paths_.nodes[at];
        labels[at - begin] = paths_.right[at] != 0 ? 0.0F : 1.0F;
    }
    return end - begin;
}

} // namespace textkin::embed
