#include "base/row_starts.h"
#include "bindings/bindings.h"
#include "transport/documents.h"

#include <cmath>
#include <string>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

[[noreturn]] void refuse(const std::string& message) { throw nb::value_error(message.c_str()); }

transport::Documents make_documents(const Array1<std::int64_t>& indptr,
                                    const Array1<std::int32_t>& indices,
                                    const Array1<double>& weights, std::int64_t columns) {
    const auto starts = view(indptr);
    const auto words = view(indices);
    const auto values = view(weights);
    if (words.size() != values.size())
        refuse("There must be a weight for each index; got " + std::to_string(words.size()) +
               " indices and " + std::to_string(values.size()) + " weights.");
    base::check_row_starts(starts, words.size());
    for (std::size_t row = 0; row + 1 < starts.size(); ++row) {
        for (auto k = static_cast<std::size_t>(starts[row]);
             k < static_cast<std::size_t>(starts[row + 1]); ++k) {
            if (words[k] < 0 || words[k] >= columns)
                refuse("Column numbers must be at least 0 and below " + std::to_string(columns) +
                       "; row " + std::to_string(row) + " has " + std::to_string(words[k]) + ".");
            if (k > static_cast<std::size_t>(starts[row]) && words[k - 1] >= words[k])
                refuse("Column numbers must ascend in every row; those of row " +
                       std::to_string(row) + " do not (call sum_duplicates() on the matrix).");
            if (!std::isfinite(values[k]) || values[k] < 0)
                refuse("Word weights must be finite and not negative; row " + std::to_string(row) +
                       " has " + std::to_string(values[k]) + " in column " +
                       std::to_string(words[k]) + ".");
        }
    }
    return transport::Documents(starts, words, values);
}

} // namespace

void register_documents(nb::module_& module) {
    nb::class_<transport::Documents>(
        module, "Documents", "Rows of a CSR matrix of word weights, held with whole-number masses.")
        .def(
            "__init__",
            [](transport::Documents* self, const Array1<std::int64_t>& indptr,
               const Array1<std::int32_t>& indices, const Array1<double>& weights,
               std::int64_t columns) {
                new (self) transport::Documents(make_documents(indptr, indices, weights, columns));
            },
            "indptr"_a.noconvert(), "indices"_a.noconvert(), "weights"_a.noconvert(), "columns"_a)
        .def("__len__", &transport::Documents::size)
        .def(
            "words",
            [](const transport::Documents& self, std::size_t row) {
                if (row >= self.size()) throw nb::index_error("row out of range");
                const transport::Document document = self[row];
                return to_numpy(
                    std::vector<std::int32_t>(document.words.begin(), document.words.end()),
                    document.size());
            },
            "row"_a, "Words of a row that weigh something, ascending.")
        .def(
            "shares",
            [](const transport::Documents& self) {
                std::vector<std::int64_t> starts{0};
                std::vector<std::int32_t> words;
                std::vector<double> shares;
                for (std::size_t row = 0; row < self.size(); ++row) {
                    const transport::Document document = self[row];
                    words.insert(words.end(), document.words.begin(), document.words.end());
                    for (const std::int64_t mass : document.masses)
                        shares.push_back(static_cast<double>(mass) /
                                         static_cast<double>(document.total));
                    starts.push_back(static_cast<std::int64_t>(words.size()));
                }
                const std::size_t rows = starts.size();
                const std::size_t count = words.size();
                return nb::make_tuple(to_numpy(std::move(starts), rows),
                                      to_numpy(std::move(words), count),
                                      to_numpy(std::move(shares), count));
            },
            nb::sig("def shares(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], "
                    "NDArray[numpy.float64]]"),
            "Rows of a CSR matrix again: starts, words, and what of its row each word is.")
        .def(
            "empty_rows",
            [](const transport::Documents& self) {
                std::vector<std::int64_t> rows;
                for (std::size_t row = 0; row < self.size(); ++row)
                    if (self[row].empty()) rows.push_back(static_cast<std::int64_t>(row));
                const std::size_t count = rows.size();
                return to_numpy(std::move(rows), count);
            },
            "Rows without any word.");
}

} // namespace textkin::bindings
