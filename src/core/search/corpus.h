// The documents that a search looks through: a list of blocks whose memory belongs to others.
#pragma once

#include "base/stop.h"
#include "transport/documents.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace textkin::search {

// Counts or other weights, in float or in double.
struct BlockCounts {
    std::span<const float> narrow;
    std::span<const double> wide;

    BlockCounts(std::span<const float> values) : narrow(values) {}
    BlockCounts(std::span<const double> values) : wide(values) {}
    [[nodiscard]] std::size_t size() const { return narrow.size() + wide.size(); }
    double operator[](std::size_t k) const {
        return wide.empty() ? static_cast<double>(narrow[k]) : wide[k];
    }
};

// Rows of a CSR matrix. Columns of a row may come in any order.
struct Block {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> columns;
    BlockCounts counts;
    std::span<const std::uint8_t> live; // 0: this row is not there; empty: all are

    [[nodiscard]] std::size_t rows() const { return indptr.size() - 1; }
    [[nodiscard]] std::size_t begin(std::size_t row) const {
        return static_cast<std::size_t>(indptr[row]);
    }
    [[nodiscard]] std::size_t end(std::size_t row) const {
        return static_cast<std::size_t>(indptr[row + 1]);
    }
    [[nodiscard]] bool is_live(std::size_t row) const { return live.empty() || live[row] != 0; }
};

// What the columns of all blocks mean.
struct Columns {
    std::size_t count = 0;
    std::span<const std::int32_t> words; // row of the vector table, -1: none; empty: the column
    std::span<const double> weights;     // what counts are multiplied by; empty: 1

    [[nodiscard]] std::int32_t word(std::int32_t column) const {
        return words.empty() ? column : words[static_cast<std::size_t>(column)];
    }
    [[nodiscard]] double weight(std::int32_t column) const {
        return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(column)];
    }
};

// Blocks one after another; a document is known by its position among all rows.
class Corpus {
  public:
    static constexpr std::int32_t kNowhere = -1;

    // Throws std::invalid_argument for blocks that are not what they should be: they may come from
    // a file, and everything after this trusts them; Stopped if `stop` asks for it. `table_rows`:
    // of the vectors.
    Corpus(std::vector<Block> blocks, Columns columns, std::size_t table_rows,
           base::Stop* stop = nullptr);

    [[nodiscard]] std::size_t size() const { return totals_.size(); }
    [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
    [[nodiscard]] const Columns& columns() const { return columns_; }
    // Position of the first row of a block.
    [[nodiscard]] std::size_t start(std::size_t block) const { return starts_[block]; }

    // All that a document weighs; 0 for one that is empty or not live.
    [[nodiscard]] double total(std::size_t row) const { return totals_[row]; }
    [[nodiscard]] bool is_live(std::size_t row) const;
    [[nodiscard]] std::size_t longest() const { return longest_; } // most words of a document
    // Whether all that documents weigh are counts whose masses need no rounding.
    [[nodiscard]] bool has_counts() const { return has_counts_; }

    // The words that live documents have, ascending, and where among them the word of a column is.
    [[nodiscard]] std::span<const std::int32_t> words() const { return words_; }
    [[nodiscard]] std::span<const std::int32_t> places() const { return places_; }

    [[nodiscard]] std::pair<const Block*, std::size_t> find(std::size_t row) const;

  private:
    std::vector<Block> blocks_;
    Columns columns_;
    std::vector<std::size_t> starts_;
    std::vector<double> totals_;
    std::vector<std::int32_t> words_, places_;
    std::size_t longest_ = 0;
    bool has_counts_ = true;

    void add(const Block& block, std::size_t number, base::Stop* stop);
};

// Reads documents of a corpus one after another with memory that it keeps.
class DocumentReader {
  public:
    // Valid until the next call. The document is not empty.
    transport::Document read(const Corpus& corpus, std::size_t row);

  private:
    transport::OwnedDocument document_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::int32_t> words_;
    std::vector<double> weights_;
};

} // namespace textkin::search
