// Documents by their position, wherever they lie.
#pragma once

#include "search/corpus.h"

#include <algorithm>
#include <vector>

namespace textkin::search {

class DocumentRows {
  public:
    DocumentRows() = default;
    DocumentRows(const DocumentRows&) = delete;
    DocumentRows& operator=(const DocumentRows&) = delete;
    virtual ~DocumentRows() = default;

    [[nodiscard]] virtual std::size_t size() const = 0;
    [[nodiscard]] virtual bool has_words(std::size_t row) const = 0;
    // Empty if it has no words. Valid until the reader's next document.
    virtual transport::Document read(std::size_t row, DocumentReader& reader) const = 0;
    // All words that any of them has, ascending.
    [[nodiscard]] virtual std::vector<std::int32_t> words() const = 0;
};

// Those of a corpus that are live and not masked.
class CorpusRows final : public DocumentRows {
  public:
    explicit CorpusRows(const Corpus& corpus, std::span<const std::uint8_t> mask = {})
        : corpus_(corpus), mask_(mask) {}

    [[nodiscard]] std::size_t size() const override { return corpus_.size(); }
    [[nodiscard]] bool has_words(std::size_t row) const override {
        return corpus_.total(row) > 0 && (mask_.empty() || mask_[row] != 0);
    }
    transport::Document read(std::size_t row, DocumentReader& reader) const override {
        return has_words(row) ? reader.read(corpus_, row) : transport::Document{};
    }
    [[nodiscard]] std::vector<std::int32_t> words() const override {
        return {corpus_.words().begin(), corpus_.words().end()};
    }

  private:
    const Corpus& corpus_;
    std::span<const std::uint8_t> mask_;
};

// Those of a matrix that is held with whole-number masses.
class MatrixRows final : public DocumentRows {
  public:
    explicit MatrixRows(const transport::Documents& documents) : documents_(documents) {}

    [[nodiscard]] std::size_t size() const override { return documents_.size(); }
    [[nodiscard]] bool has_words(std::size_t row) const override {
        return !documents_[row].empty();
    }
    transport::Document read(std::size_t row, DocumentReader& /*reader*/) const override {
        return documents_[row];
    }
    [[nodiscard]] std::vector<std::int32_t> words() const override {
        std::vector<std::uint8_t> used;
        for (std::size_t row = 0; row < documents_.size(); ++row)
            for (const std::int32_t word : documents_[row].words) {
                const auto number = static_cast<std::size_t>(word);
                if (number >= used.size()) used.resize(std::max(number + 1, 2 * used.size()));
                used[number] = 1;
            }
        std::vector<std::int32_t> out;
        for (std::size_t number = 0; number < used.size(); ++number)
            if (used[number] != 0) out.push_back(static_cast<std::int32_t>(number));
        return out;
    }

  private:
    const transport::Documents& documents_;
};

} // namespace textkin::search
