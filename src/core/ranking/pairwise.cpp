#include "ranking/pairwise.h"

#include <algorithm>
#include <cmath>

namespace textkin::ranking {
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
                Share share, base::Stop& stop, std::span<double> out) {
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

constexpr std::uint8_t kRise = 1; // a step by +1; kFall is -1, and 0 is none
constexpr std::uint8_t kFall = 2;

// Up to 64 rows of the tables of edit distances between one sequence and others. A column is held
// as the signs of the differences of adjacent cells (Myers 1999); the rows below need only the
// differences along the lowest row (Hyyrö 2003), one per column of each text. The memory is that of
// the symbols and of the texts, for any length of the pattern.
class BitRows {
  public:
    explicit BitRows(std::size_t n_symbols) : masks_(n_symbols, 0) {}

    void set_rows(std::span<const std::int32_t> rows) {
        for (const std::int32_t symbol : rows_) masks_[static_cast<std::size_t>(symbol)] = 0;
        rows_ = rows;
        for (std::size_t i = 0; i < rows.size(); ++i)
            masks_[static_cast<std::size_t>(rows[i])] |= std::uint64_t{1} << i;
    }

    // `steps` has for each column how the cell above these rows differs from the one before it,
    // and then how the lowest of these rows does.
    void cross(std::span<const std::int32_t> text, std::span<std::uint8_t> steps,
               base::Stop& stop) const {
        std::uint64_t up = ~std::uint64_t{0};
        std::uint64_t down = 0;
        const auto lowest = static_cast<unsigned>(rows_.size() - 1);
        const std::uint64_t* const masks = masks_.data(); // which writes of bytes cannot change
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (at % kColumnsBetweenLooks == 0) stop.throw_if_requested();
            const std::uint64_t mask = masks[static_cast<std::size_t>(text[at])];
            const std::uint64_t more = steps[at] & 1U;
            const std::uint64_t less = steps[at] >> 1;
            const std::uint64_t vertical = mask | down;
            const std::uint64_t equal = mask | less;
            const std::uint64_t horizontal = (((equal & up) + up) ^ up) | equal;
            std::uint64_t rises = down | ~(horizontal | up);
            std::uint64_t falls = up & horizontal;
            steps[at] =
                static_cast<std::uint8_t>(((rises >> lowest) & 1) | ((falls >> lowest) & 1) << 1);
            rises = (rises << 1) | more;
            falls = (falls << 1) | less;
            up = falls | ~(vertical | rises);
            down = rises & vertical;
        }
    }

  private:
    std::span<const std::int32_t> rows_;
    std::vector<std::uint64_t> masks_; // of each symbol: in which rows it is
};

} // namespace

void shared_sums(const SparseRows& rows, const SparseRows& postings, std::size_t n_documents,
                 Sharing sharing, base::Stop& stop, std::span<double> out) {
    if (sharing == Sharing::product)
        add_shared(rows, postings, n_documents, Product{}, stop, out);
    else
        add_shared(rows, postings, n_documents, Overlap{}, stop, out);
}

void edit_distances(const Sequences& a, const Sequences& b, std::size_t n_symbols, base::Stop& stop,
                    std::span<double> out) {
    BitRows bits(n_symbols);
    std::vector<std::uint8_t> steps(b.symbols.size());
    const auto steps_of = [&](std::size_t j) {
        return std::span(steps).subspan(static_cast<std::size_t>(b.starts[j]), b[j].size());
    };
    for (std::size_t i = 0; i < a.size(); ++i) {
        const std::span<const std::int32_t> pattern = a[i];
        double* const distances = out.data() + i * b.size();
        std::fill(steps.begin(), steps.end(), kRise); // the row of the empty pattern
        for (std::size_t first = 0; first < pattern.size(); first += 64) {
            bits.set_rows(
                pattern.subspan(first, std::min<std::size_t>(pattern.size() - first, 64)));
            for (std::size_t j = 0; j < b.size(); ++j) bits.cross(b[j], steps_of(j), stop);
        }
        for (std::size_t j = 0; j < b.size(); ++j) {
            auto distance = static_cast<std::int64_t>(pattern.size());
            for (const std::uint8_t step : steps_of(j)) distance += (step & kRise) - (step / kFall);
            distances[j] = static_cast<double>(distance);
        }
    }
}

} // namespace textkin::ranking
