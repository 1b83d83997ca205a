#include "search/corpus.h"

#include "base/row_starts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace textkin::search {
namespace {

constexpr std::size_t kRowsBetweenPolls = 1 << 8;

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

bool is_whole(double value) { return value == std::floor(value); }

std::string place(std::size_t block, std::size_t row) {
    return "row " + std::to_string(row) + " of block " + std::to_string(block);
}

void check_shape(const Block& block, std::size_t number) {
    if (block.columns.size() != block.counts.size())
        refuse("There must be a count for each column; block " + std::to_string(number) + " has " +
               std::to_string(block.columns.size()) + " columns and " +
               std::to_string(block.counts.size()) + " counts.");
    base::check_row_starts(block.indptr, block.columns.size(), "indptr",
                           " of block " + std::to_string(number));
    if (!block.live.empty() && block.live.size() != block.rows())
        refuse("A row mask must have a value for each row; that of block " +
               std::to_string(number) + " has " + std::to_string(block.live.size()) + " for " +
               std::to_string(block.rows()) + " rows.");
}

} // namespace

Corpus::Corpus(std::vector<Block> blocks, Columns columns, std::size_t table_rows, base::Stop* stop)
    : blocks_(std::move(blocks)), columns_(columns) {
    if (columns_.words.empty() && columns_.count > table_rows)
        refuse("There must be a vector for each of the " + std::to_string(columns_.count) +
               " columns; got " + std::to_string(table_rows) + ".");
    if (!columns_.words.empty() && columns_.words.size() != columns_.count)
        refuse("The column map must have a value for each of the " +
               std::to_string(columns_.count) + " columns; got " +
               std::to_string(columns_.words.size()) + ".");
    if (!columns_.weights.empty() && columns_.weights.size() != columns_.count)
        refuse("There must be a weight for each of the " + std::to_string(columns_.count) +
               " columns; got " + std::to_string(columns_.weights.size()) + ".");
    for (const std::int32_t word : columns_.words)
        if (word < -1 || (word >= 0 && static_cast<std::size_t>(word) >= table_rows))
            refuse("The column map must hold rows of the vectors or -1; got " +
                   std::to_string(word) + " with " + std::to_string(table_rows) + " vectors.");
    for (const double weight : columns_.weights)
        if (!std::isfinite(weight) || weight < 0)
            refuse("Weights of columns must be finite and not negative.");

    places_.assign(columns_.count, kNowhere);
    for (std::size_t number = 0; number < blocks_.size(); ++number)
        add(blocks_[number], number, stop);

    // Until here places_ only marks the columns that are used.
    for (std::size_t c = 0; c < places_.size(); ++c)
        if (places_[c] != kNowhere) words_.push_back(columns_.word(static_cast<std::int32_t>(c)));
    std::sort(words_.begin(), words_.end());
    words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
    for (std::size_t c = 0; c < places_.size(); ++c)
        if (places_[c] != kNowhere)
            places_[c] = static_cast<std::int32_t>(
                std::lower_bound(words_.begin(), words_.end(),
                                 columns_.word(static_cast<std::int32_t>(c))) -
                words_.begin());
}

void Corpus::add(const Block& block, std::size_t number, base::Stop* stop) {
    check_shape(block, number);
    starts_.push_back(totals_.size());
    for (std::size_t row = 0; row < block.rows(); ++row) {
        if (stop != nullptr && row % kRowsBetweenPolls == 0) stop->throw_if_requested();
        double total = 0;
        std::size_t length = 0;
        const bool live = block.is_live(row);
        for (std::size_t k = block.begin(row); k < block.end(row); ++k) {
            const std::int32_t column = block.columns[k];
            const double count = block.counts[k];
            if (column < 0 || static_cast<std::size_t>(column) >= columns_.count)
                refuse("Column numbers must be at least 0 and below " +
                       std::to_string(columns_.count) + "; " + place(number, row) + " has " +
                       std::to_string(column) + ".");
            if (!std::isfinite(count) || count < 0)
                refuse("Word weights must be finite and not negative; " + place(number, row) +
                       " has " + std::to_string(count) + " in column " + std::to_string(column) +
                       ".");
            if (!live || columns_.word(column) < 0) continue;
            const double weight = count * columns_.weight(column);
            if (weight <= 0) continue;
            total += weight;
            ++length;
            has_counts_ = has_counts_ && is_whole(count) && is_whole(columns_.weight(column));
            places_[static_cast<std::size_t>(column)] = 0;
        }
        if (!std::isfinite(total))
            refuse("The weights of a document must have a finite sum; those of " +
                   place(number, row) + " have none.");
        totals_.push_back(total);
        longest_ = std::max(longest_, length);
        has_counts_ = has_counts_ && total <= static_cast<double>(transport::kLargestCountTotal);
    }
}

std::pair<const Block*, std::size_t> Corpus::find(std::size_t row) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), row);
    const auto number = static_cast<std::size_t>(after - starts_.begin()) - 1;
    return {&blocks_[number], row - starts_[number]};
}

bool Corpus::is_live(std::size_t row) const {
    const auto [block, within] = find(row);
    return block->is_live(within);
}

transport::Document DocumentReader::read(const Corpus& corpus, std::size_t row) {
    const auto [block, within] = corpus.find(row);
    const std::size_t begin = block->begin(within);
    const std::size_t length = block->end(within) - begin;
    const Columns& columns = corpus.columns();
    constexpr std::size_t any = std::numeric_limits<std::int32_t>::max();
    if (columns.words.empty() && columns.weights.empty()) {
        const auto words = block->columns.subspan(begin, length);
        const bool taken =
            block->counts.wide.empty()
                ? document_.assign(words, block->counts.narrow.subspan(begin, length), any)
                : document_.assign(words, block->counts.wide.subspan(begin, length), any);
        if (taken) return document_.view();
    }
    // Columns may lie in another order than their words, and share them: by word, then by place.
    keys_.clear();
    for (std::size_t k = 0; k < length; ++k) {
        const std::int32_t word = columns.word(block->columns[begin + k]);
        if (word >= 0) keys_.push_back(static_cast<std::uint64_t>(word) << 32 | k);
    }
    std::sort(keys_.begin(), keys_.end());
    words_.clear();
    weights_.clear();
    // Counts with the same word and weight are added before they are multiplied, so that the weight
    // is bit-identical to that of one column for the word.
    double counts = 0;
    double weight = 0;
    double others = 0;
    for (const std::uint64_t key : keys_) {
        const auto word = static_cast<std::int32_t>(key >> 32);
        const std::size_t k = begin + (key & 0xffffffffU);
        const double next = columns.weight(block->columns[k]);
        if (words_.empty() || words_.back() != word) {
            words_.push_back(word);
            weights_.push_back(0);
            counts = others = 0;
        } else if (next != weight) {
            others += counts * weight;
            counts = 0;
        }
        counts += block->counts[k];
        weight = next;
        weights_.back() = others + counts * weight;
    }
    document_.assign(std::span<const std::int32_t>(words_), std::span<const double>(weights_), any);
    return document_.view();
}

} // namespace textkin::search
