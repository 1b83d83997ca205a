#include "bindings/bindings.h"

#include "bindings/rows.h"

#include "kernels/kernels.h"
#include "mixture/mixture.h"

#include <nanobind/stl/optional.h>

#include <optional>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

bool is_table(const Table<double>& table, const mixture::MixtureStep& step) {
    return table.shape(0) == step.n_components() && table.shape(1) == step.dimension();
}

} // namespace

void register_mixture(nb::module_& module) {
    nb::class_<mixture::MixtureStep>(module, "MixtureStep",
                                     "A step of expectation maximisation in single precision.")
        .def(
            "__init__",
            [](mixture::MixtureStep* self, const Array1<double>& offset,
               const Array2<double>& linear, const std::optional<Array2<double>>& quadratic,
               bool hard) {
                check(offset.size() > 0 && linear.shape(1) > 0,
                      "there must be a component and a dimension");
                check(linear.shape(0) == offset.size() &&
                          (!quadratic || (quadratic->shape(0) == offset.size() &&
                                          quadratic->shape(1) == linear.shape(1))),
                      "tables must have a row for each component, all of one width");
                static_cast<void>(kernels::kernels()); // throws if TEXTKIN_SIMD is invalid
                std::span<const double> squares;
                if (quadratic) squares = {quadratic->data(), quadratic->size()};
                new (self) mixture::MixtureStep(view(offset), {linear.data(), linear.size()},
                                                squares, hard);
            },
            "offset"_a.noconvert(), "linear"_a.noconvert(), "quadratic"_a.noconvert().none(),
            "hard"_a)
        .def(
            "add",
            [](const mixture::MixtureStep& self, const Array2<float>& values,
               const Array1<double>& weights, const Values<double>& logs,
               const Values<double>& counts, const Table<double>& first,
               const std::optional<Table<double>>& second, const nb::object& progress) {
                check(values.shape(1) == self.dimension(),
                      "values must have a column for each dimension");
                check(weights.size() == values.shape(0) && logs.size() == values.shape(0),
                      "weights and logs must be as many as rows");
                check(counts.size() == self.n_components() && is_table(first, self) &&
                          second.has_value() == self.squares() &&
                          (!second || is_table(*second, self)),
                      "sums must have a row for each component");
                const mixture::MixtureSums sums{counts.data(), first.data(),
                                                second ? second->data() : nullptr};
                run(weights.size(), progress, [&](base::Stop& stop) {
                    self.add(values.data(), view(weights), logs.data(), sums, stop);
                });
            },
            "values"_a.noconvert(), "weights"_a.noconvert(), "logs"_a.noconvert(),
            "counts"_a.noconvert(), "first"_a.noconvert(), "second"_a.noconvert().none(),
            "progress"_a.none(), "Write the logarithms of rows, and add their parts to the sums.");
}

} // namespace textkin::bindings
