#include "bindings/bindings.h"

#include "bindings/rows.h"

#include "topics/factors.h"

#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>
#include <vector>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

template <class Number> void register_solver(nb::module_& module, const char* name) {
    using Solver = topics::FactorSolver<Number>;
    nb::class_<Solver>(module, name, "One side of a factorisation, found while the other stays.")
        .def(
            "__init__",
            [](Solver* self, const Table<const Number>& factors, std::size_t dimensions,
               double missing_weight, double regularization, unsigned threads,
               const std::optional<Array2<double>>& gram) {
                check_table<Number>(factors, factors.shape(0), factors.shape(1));
                check(dimensions > 0 && dimensions <= factors.shape(1),
                      "dimensions must be at most the width");
                check(missing_weight >= 0 && missing_weight <= 1,
                      "missing_weight must be from 0 to 1");
                check(regularization > 0, "regularization must be above 0");
                check(!gram || (gram->shape(0) == dimensions && gram->shape(1) == dimensions),
                      "gram must have a row and a column for each dimension");
                construct_in(self, [&](base::Stop& stop) {
                    const topics::Weights weights{missing_weight, regularization};
                    if (gram)
                        return Solver({gram->data(), gram->data() + gram->size()}, factors.data(),
                                      factors.shape(0), dimensions, factors.shape(1), weights,
                                      threads, stop);
                    return Solver(factors.data(), factors.shape(0), dimensions, factors.shape(1),
                                  weights, threads, stop);
                });
            },
            "factors"_a.noconvert(), "dimensions"_a, "missing_weight"_a, "regularization"_a,
            "threads"_a, "gram"_a.noconvert().none() = nb::none(),
            "`gram` is the sum over all factors where these are only some of them.")
        .def(
            "solve",
            [](const Solver& self, const Array1<std::int64_t>& indptr,
               const Array1<std::int32_t>& indices, const Array1<Number>& values,
               const Table<Number>& out, unsigned threads, const nb::object& progress) {
                const topics::Counts<Number> entries =
                    checked(indptr, indices, values, self.rows());
                check_table<Number>(out, entries.size(), self.width());
                double objective = 0;
                run(entries.size(), progress, [&](base::Stop& stop) {
                    objective = self.solve(entries, out.data(), threads, stop);
                });
                return objective;
            },
            "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
            "out"_a.noconvert(), "threads"_a, "progress"_a.none(),
            "A row of `out` for each row of entries; returns the objective.");
    module.def(
        "gram_of",
        [](const Table<const Number>& table, std::size_t dimensions, unsigned threads) {
            check_table<Number>(table, table.shape(0), table.shape(1));
            check(dimensions > 0 && dimensions <= table.shape(1),
                  "dimensions must be at most the width");
            std::vector<double> sums;
            run(0, nb::none(), [&](base::Stop& stop) {
                sums = topics::gram_of(table.data(), table.shape(0), dimensions, table.shape(1),
                                       threads, stop);
            });
            return to_numpy(std::move(sums), dimensions, dimensions);
        },
        "table"_a.noconvert(), "dimensions"_a, "threads"_a,
        "The sum of the products of every row with itself; only what is above the diagonal.");
    module.def(
        "multiply_rows",
        [](const Table<Number>& table, const Table<const Number>& matrix, unsigned threads) {
            check_table<Number>(table, table.shape(0), table.shape(1));
            check_table<Number>(matrix, matrix.shape(0), table.shape(1));
            check(matrix.shape(0) <= table.shape(1), "matrix must have a row for each dimension");
            run(0, nb::none(), [&](base::Stop& stop) {
                topics::multiply_rows(table.data(), table.shape(0), matrix.data(), matrix.shape(0),
                                      table.shape(1), threads, stop);
            });
        },
        "table"_a.noconvert(), "matrix"_a.noconvert(), "threads"_a,
        "Every row of the table times a matrix, in place.");
}

} // namespace

void register_factors(nb::module_& module) {
    register_solver<float>(module, "FactorSolver");
    register_solver<double>(module, "FineFactorSolver");
}

} // namespace textkin::bindings
