// Rows of entries and padded tables, as arguments of topic models and factorizations.
#pragma once

#include "base/row_starts.h"
#include "bindings/bindings.h"
#include "topics/topics.h"

#include <string>

namespace textkin::bindings {

template <class Number>
using Table = nb::ndarray<Number, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Number>
using Values = nb::ndarray<Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

[[noreturn]] inline void refuse(const std::string& message) {
    throw nb::value_error(message.c_str());
}

// Rows of entries: `starts` from 0 to their number, never falling; numbers from 0 to below `below`.
inline void check_rows(std::span<const std::int64_t> starts, std::span<const std::int32_t> numbers,
                       std::size_t below, const char* name) {
    base::check_row_starts(starts, numbers.size(), name);
    for (const std::int32_t number : numbers)
        if (number < 0 || static_cast<std::size_t>(number) >= below)
            refuse("Entries must be at least 0 and below " + std::to_string(below) + "; got " +
                   std::to_string(number) + ".");
}

inline void check(bool holds, const char* what) {
    if (!holds) refuse(std::string(what) + ".");
}

template <class Number>
topics::Counts<Number> checked(const Array1<std::int64_t>& indptr,
                               const Array1<std::int32_t>& indices, const Array1<Number>& counts,
                               std::size_t n_words) {
    check_rows(view(indptr), view(indices), n_words, "indptr");
    check(counts.size() == indices.size(), "counts must be as many as indices");
    return {view(indptr), view(indices), view(counts)};
}

// Tables of so many rows, padded to 64 bytes.
template <class Number, class Any>
void check_table(const Any& table, std::size_t rows, std::size_t width) {
    check(table.shape(0) == rows && table.shape(1) == width,
          "tables must have a row for each document or word, all of one width");
    check(width > 0 && width % (64 / sizeof(Number)) == 0,
          "rows of tables must be padded to a multiple of 64 bytes");
}

} // namespace textkin::bindings
