#include "ranking/count_matrix.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

namespace textkin::ranking {
namespace {

constexpr std::size_t kTermsBetweenPolls = 1 << 8;

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

void check_offsets(const CountMatrix& part, base::Stop& stop) {
    const auto& offsets = part.term_offsets;
    if (offsets.size() != part.terms.size() + 1 || offsets.front() != 0 ||
        offsets.back() != static_cast<std::int64_t>(part.posting_rows.size()) ||
        part.posting_counts.size() != part.posting_rows.size())
        refuse("Postings must have an offset for each term and one more, from 0 to their number, "
               "and a count each.");
    stop.throw_if_requested();
    // All of them before any posting is looked at: only then do they lie within.
    if (std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) != offsets.end())
        refuse("The offsets of postings must ascend.");
    if (std::adjacent_find(part.terms.begin(), part.terms.end(), std::greater_equal<>()) !=
            part.terms.end() ||
        (!part.terms.empty() &&
         (part.terms.front() < 0 || at(part.terms.back()) >= part.rows.n_columns)))
        refuse("The terms of postings must ascend, from 0 at the least to below " +
               std::to_string(part.rows.n_columns) + ".");
}

} // namespace

void CountMatrix::check(base::Stop& stop) const {
    if (checked_columns > 0 && checked_columns <= rows.n_columns) return;
    rows.check(stop);
    if (counts.size() != rows.columns.size())
        refuse("There must be a count for each of the " + std::to_string(rows.columns.size()) +
               " columns; got " + std::to_string(counts.size()) + ".");
    bool sound = true;
    for (const float count : counts) sound &= (count >= 1.0F) & (count < 4294967296.0F);
    for (std::size_t k = 0; sound && k < counts.size(); ++k)
        sound = static_cast<float>(static_cast<std::uint32_t>(counts[k])) == counts[k];
    if (!sound) refuse("Counts must be whole numbers from 1 to below 2^32.");
    check_offsets(*this, stop);
    for (std::size_t term = 0; term < terms.size(); ++term) {
        if (term % kTermsBetweenPolls == 0) stop.throw_if_requested();
        const std::size_t first = at(term_offsets[term]);
        const std::size_t last = at(term_offsets[term + 1]);
        sound = posting_rows[first] >= 0 && at(posting_rows[last - 1]) < rows.size();
        for (std::size_t p = first + 1; p < last; ++p)
            sound &= posting_rows[p - 1] < posting_rows[p];
        for (std::size_t p = first; p < last; ++p) sound &= posting_counts[p] != 0;
        if (!sound)
            refuse("The rows of postings must ascend within a term and be below " +
                   std::to_string(rows.size()) + ", and counts must be above 0; those of word " +
                   std::to_string(terms[term]) + " are not.");
    }
}

} // namespace textkin::ranking
