#include "textkin/pairwise.h"

#include <algorithm>
#include <cmath>

namespace textkin {
namespace {

constexpr std::size_t kColumnsBetweenLooks = 1024; // at the clock, for Ctrl-C

struct Product {
    double operator()(double a, double b) const { return a * b; }
};

struct Overlap {
    double operator()(double a, double b) const {
        return (a > 0) == (b > 0) ? 2 * std::min(std::abs(a), std::abs(b)) : 0.0;
    }
};

template <class Share>
void add_shared(const SparseRows& rows, const SparseRows& postings, std::size_t n_documents,
                Share share, Stop& stop, std::span<double> out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        stop.throw_if_requested();
        double* sums = out.data() + row * n_documents;
        const auto end = static_cast<std::size_t>(rows.starts[row + 1]);
        for (auto at = static_cast<std::size_t>(rows.starts[row]); at < end; ++at) {
            const double value = rows.values[at];
            const auto word = static_cast<std::size_t>(rows.columns[at]);
            const std::int32_t* const documents = postings.columns.data();
            const double* const values = postings.values.data();
            const std::int64_t last = postings.starts[word + 1];
            for (std::int64_t p = postings.starts[word]; p < last; ++p)
                sums[documents[p]] += share(value, values[p]);
        }
    }
}

// The edit distances of one sequence to others, 64 cells of the table at a time: a column is held
// as the signs of the differences between its neighbouring cells (Myers 1999, with Hyyrö's carries
// between blocks of 64 rows, 2003).
class BitColumns {
  public:
    explicit BitColumns(std::size_t n_symbols) : slots_(n_symbols, -1) {}

    void set_pattern(std::span<const std::int32_t> pattern) {
        for (const std::int32_t symbol : pattern_) slots_[static_cast<std::size_t>(symbol)] = -1;
        pattern_ = pattern;
        blocks_ = (pattern.size() + 63) / 64;
        masks_.assign(blocks_, 0); // of all symbols that the pattern lacks
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            std::int32_t& slot = slots_[static_cast<std::size_t>(pattern[i])];
            if (slot < 0) {
                slot = static_cast<std::int32_t>(masks_.size() / blocks_);
                masks_.resize(masks_.size() + blocks_, 0);
            }
            masks_[static_cast<std::size_t>(slot) * blocks_ + i / 64] |= std::uint64_t{1}
                                                                         << (i % 64);
        }
    }

    [[nodiscard]] std::size_t distance_to(std::span<const std::int32_t> text, Stop& stop) {
        if (pattern_.empty()) return text.size();
        up_.assign(blocks_, ~std::uint64_t{0});
        down_.assign(blocks_, 0);
        std::size_t distance = pattern_.size();
        const unsigned last = (pattern_.size() - 1) % 64;
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (at % kColumnsBetweenLooks == 0) stop.throw_if_requested();
            const std::int32_t slot = slots_[static_cast<std::size_t>(text[at])];
            const std::uint64_t* mask =
                masks_.data() + static_cast<std::size_t>(std::max(slot, 0)) * blocks_;
            std::uint64_t more = 1; // how the cell above the block differs from the column before
            std::uint64_t less = 0;
            for (std::size_t b = 0; b < blocks_; ++b) {
                const std::uint64_t up = up_[b];
                const std::uint64_t down = down_[b];
                const std::uint64_t vertical = mask[b] | down;
                const std::uint64_t equal = mask[b] | less;
                const std::uint64_t horizontal = (((equal & up) + up) ^ up) | equal;
                std::uint64_t rises = down | ~(horizontal | up);
                std::uint64_t falls = up & horizontal;
                if (b + 1 == blocks_) {
                    distance += (rises >> last) & 1;
                    distance -= (falls >> last) & 1;
                }
                const std::uint64_t more_below = rises >> 63;
                const std::uint64_t less_below = falls >> 63;
                rises = (rises << 1) | more;
                falls = (falls << 1) | less;
                up_[b] = falls | ~(vertical | rises);
                down_[b] = rises & vertical;
                more = more_below;
                less = less_below;
            }
        }
        return distance;
    }

  private:
    std::span<const std::int32_t> pattern_;
    std::size_t blocks_ = 0;
    std::vector<std::int32_t> slots_; // which mask a symbol has; -1: none, as for the empty slot 0
    std::vector<std::uint64_t> masks_;
    std::vector<std::uint64_t> up_;
    std::vector<std::uint64_t> down_;
};

} // namespace

void shared_sums(const SparseRows& rows, const SparseRows& postings, std::size_t n_documents,
                 Sharing sharing, Stop& stop, std::span<double> out) {
    if (sharing == Sharing::product)
        add_shared(rows, postings, n_documents, Product{}, stop, out);
    else
        add_shared(rows, postings, n_documents, Overlap{}, stop, out);
}

void edit_distances(const Sequences& a, const Sequences& b, std::size_t n_symbols, Stop& stop,
                    std::span<double> out) {
    BitColumns columns(n_symbols);
    for (std::size_t i = 0; i < a.size(); ++i) {
        columns.set_pattern(a[i]);
        for (std::size_t j = 0; j < b.size(); ++j)
            out[i * b.size() + j] = static_cast<double>(columns.distance_to(b[j], stop));
    }
}

} // namespace textkin
