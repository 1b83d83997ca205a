#include "store/postings.h"

#include "base/row_starts.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace textkin::store {
namespace {

constexpr std::size_t kEntriesBetweenPolls = 1 << 16;
constexpr std::size_t kPrefetchDistance = 12;

// Asks now and then, by the number of entries done.
class Polls {
  public:
    explicit Polls(base::Stop& stop) : stop_(stop) {}
    void at(std::size_t entry) {
        if (entry < next_) return;
        stop_.throw_if_requested();
        next_ = entry + kEntriesBetweenPolls;
    }

  private:
    base::Stop& stop_;
    std::size_t next_ = 0;
};

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::string name(std::size_t row) { return "row " + std::to_string(row); }

// Looks at a row that is known to be wrong again, to say what is.
[[noreturn]] void refuse_row(const SortedRows& rows, std::size_t row) {
    for (std::size_t k = rows.begin(row); k < rows.end(row); ++k) {
        const std::int32_t column = rows.columns[k];
        if (column < 0 || static_cast<std::size_t>(column) >= rows.n_columns)
            refuse("Column numbers must be at least 0 and below " + std::to_string(rows.n_columns) +
                   "; " + name(row) + " has " + std::to_string(column) + ".");
        if (k > rows.begin(row) && rows.columns[k - 1] >= column)
            refuse("The columns of a row must ascend; " + name(row) + " has " +
                   std::to_string(rows.columns[k - 1]) + " before " + std::to_string(column) + ".");
    }
    refuse("The columns of " + name(row) + " changed while they were looked at.");
}

void check_sizes(const SortedRows& rows, std::span<const float> counts,
                 std::span<const std::int64_t> lengths) {
    if (counts.size() != rows.columns.size())
        refuse("There must be a count for each of the " + std::to_string(rows.columns.size()) +
               " columns; got " + std::to_string(counts.size()) + ".");
    if (lengths.size() != rows.size())
        refuse("There must be a length for each of the " + std::to_string(rows.size()) +
               " rows; got " + std::to_string(lengths.size()) + ".");
    const auto negative = std::find_if(lengths.begin(), lengths.end(),
                                       [](std::int64_t length) { return length < 0; });
    if (negative != lengths.end())
        refuse("Lengths must not be negative; that of " +
               name(static_cast<std::size_t>(negative - lengths.begin())) + " is " +
               std::to_string(*negative) + ".");
}

void check_counts(std::span<const float> counts, std::size_t row) {
    constexpr float kAllWhole = 8388608.0F; // from 2^23 on a float has no fraction
    const auto sound = [](float count) {    // written so that NaN is not
        const float rounded = (count + kAllWhole) - kAllWhole;
        return (count >= 1.0F) & (count < 4294967296.0F) &
               ((rounded == count) | (count >= kAllWhole));
    };
    bool all_sound = true;
    for (const float count : counts) all_sound &= sound(count);
    if (all_sound) return;
    const float wrong = *std::find_if_not(counts.begin(), counts.end(), sound);
    refuse("Counts must be whole numbers from 1 to below 2^32; " + name(row) + " has " +
           std::to_string(wrong) + ".");
}

// How often each column occurs, up to the last one that does.
base::UninitializedVector<std::int64_t> occurrences(const SortedRows& rows, base::Stop& stop) {
    std::int32_t last = -1;
    for (std::size_t row = 0; row < rows.size(); ++row)
        if (rows.begin(row) < rows.end(row)) last = std::max(last, rows.columns[rows.end(row) - 1]);
    base::UninitializedVector<std::int64_t> found(static_cast<std::size_t>(last + 1), 0);
    for (std::size_t first = 0; first < rows.columns.size(); first += kEntriesBetweenPolls) {
        stop.throw_if_requested();
        const std::size_t count = std::min(kEntriesBetweenPolls, rows.columns.size() - first);
        for (const std::int32_t column : rows.columns.subspan(first, count))
            ++found[static_cast<std::size_t>(column)];
    }
    return found;
}

// Makes places of occurrences: where the first posting of a column comes.
void lay_out(base::UninitializedVector<std::int64_t>& places, Postings& out) {
    const std::size_t terms =
        places.size() - static_cast<std::size_t>(std::count(places.begin(), places.end(), 0));
    out.terms.reserve(terms);
    out.offsets.reserve(terms + 1);
    out.block_offsets.reserve(terms + 1);
    constexpr auto block = static_cast<std::int64_t>(kPostingBlock);
    std::int64_t postings = 0;
    std::int64_t blocks = 0;
    out.offsets.push_back(0);
    out.block_offsets.push_back(0);
    for (std::size_t column = 0; column < places.size(); ++column) {
        const std::int64_t occurs = std::exchange(places[column], postings);
        if (occurs == 0) continue;
        out.terms.push_back(static_cast<std::int32_t>(column));
        out.offsets.push_back(postings += occurs);
        out.block_offsets.push_back(blocks += (occurs + block - 1) / block);
    }
}

// Puts entries where they belong. Nearly all of them miss the caches: the column's place is fetched
// some entries before it is wanted, and the memory there some entries later.
void fill(const SortedRows& rows, std::span<const float> counts,
          base::UninitializedVector<std::int64_t>& places, Postings& out, base::Stop& stop) {
    const std::size_t entries = rows.columns.size();
    out.rows.resize(entries);
    out.counts.resize(entries);
    const auto place_of = [&](std::size_t k) -> std::int64_t& {
        return places[static_cast<std::size_t>(rows.columns[k])];
    };
    Polls polls(stop);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        polls.at(rows.begin(row));
        check_counts(counts.subspan(rows.begin(row), rows.end(row) - rows.begin(row)), row);
        for (std::size_t k = rows.begin(row); k < rows.end(row); ++k) {
            if (k + 2 * kPrefetchDistance < entries) {
                __builtin_prefetch(&place_of(k + 2 * kPrefetchDistance), 1);
                __builtin_prefetch(out.rows.data() + place_of(k + kPrefetchDistance), 1);
                __builtin_prefetch(out.counts.data() + place_of(k + kPrefetchDistance), 1);
            }
            const auto at = static_cast<std::size_t>(place_of(k)++);
            out.rows[at] = static_cast<std::int32_t>(row);
            out.counts[at] = static_cast<std::uint32_t>(counts[k]);
        }
    }
}

void summarize(std::span<const std::int64_t> lengths, Postings& out, base::Stop& stop) {
    const auto blocks = static_cast<std::size_t>(out.block_offsets.back());
    out.block_counts.reserve(blocks);
    out.block_lengths.reserve(blocks);
    Polls polls(stop);
    for (std::size_t term = 0; term < out.terms.size(); ++term) {
        const auto last = static_cast<std::size_t>(out.offsets[term + 1]);
        auto k = static_cast<std::size_t>(out.offsets[term]);
        polls.at(k);
        while (k < last) {
            const std::size_t end = std::min(last, k + kPostingBlock);
            std::uint32_t most = 0;
            std::int64_t shortest = std::numeric_limits<std::uint32_t>::max();
            for (; k < end; ++k) {
                most = std::max(most, out.counts[k]);
                shortest = std::min(shortest, lengths[static_cast<std::size_t>(out.rows[k])]);
            }
            out.block_counts.push_back(most);
            out.block_lengths.push_back(static_cast<std::uint32_t>(shortest));
        }
    }
}

} // namespace

void SortedRows::check(base::Stop& stop) const {
    base::check_row_starts(indptr, columns.size());
    if (size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        refuse("There can be 2^31 - 1 rows at most; got " + std::to_string(size()) + ".");
    Polls polls(stop);
    for (std::size_t row = 0; row < size(); ++row) {
        const std::size_t first = begin(row);
        const std::size_t last = end(row);
        polls.at(first);
        if (first == last) continue;
        bool ascend = true;
        for (std::size_t k = first + 1; k < last; ++k) ascend &= columns[k - 1] < columns[k];
        if (!ascend || columns[first] < 0 ||
            static_cast<std::size_t>(columns[last - 1]) >= n_columns)
            refuse_row(*this, row);
    }
}

Postings invert(const SortedRows& rows, std::span<const float> counts,
                std::span<const std::int64_t> lengths, base::Stop& stop) {
    rows.check(stop);
    check_sizes(rows, counts, lengths);
    base::UninitializedVector<std::int64_t> places = occurrences(rows, stop);
    Postings out;
    lay_out(places, out);
    fill(rows, counts, places, out, stop);
    summarize(lengths, out, stop);
    return out;
}

} // namespace textkin::store
