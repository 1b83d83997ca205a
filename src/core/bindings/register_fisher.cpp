#include "bindings/bindings.h"

#include "bindings/rows.h"

#include "mixture/fisher.h"

#include <span>

namespace textkin::bindings {
namespace {

using namespace nb::literals;

// A table with a row for each component, or an empty one.
std::span<const double> part(const Array2<double>& table, std::size_t n_components,
                             std::size_t dimension) {
    if (table.size() == 0) return {};
    check(table.shape(0) == n_components && table.shape(1) == dimension,
          "parts must have a row for each component, and a number for each dimension");
    return {table.data(), table.size()};
}

} // namespace

void register_fisher(nb::module_& module) {
    module.def(
        "fisher_vectors",
        [](const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
           const Array1<double>& counts, const Table<const float>& points,
           const Array2<float>& shares, std::size_t dimension, const Array2<double>& mean_scale,
           const Array2<double>& mean_centre, const Array2<double>& directions,
           const Array2<double>& square_scale, const Array2<double>& square_slope,
           const Array2<double>& square_centre, const Array1<double>& weight_scale,
           const Array1<double>& weight_centre, double length_power, double power, bool unit,
           const Table<float>& out, unsigned threads, const nb::object& progress) {
            const std::size_t n = shares.shape(1);
            check_table<float>(points, shares.shape(0), points.shape(1));
            const topics::Counts<double> documents =
                checked(indptr, indices, counts, shares.shape(0));
            const mixture::MixtureWords words{points.data(), points.shape(1), shares.data(), n};
            const mixture::FisherParts parts{
                .dimension = dimension,
                .mean_scale = part(mean_scale, n, dimension),
                .mean_centre = part(mean_centre, n, dimension),
                .directions = part(directions, n, dimension),
                .square_scale = part(square_scale, n, dimension),
                .square_slope = part(square_slope, n, dimension),
                .square_centre = part(square_centre, n, dimension),
                .weight_scale = view(weight_scale),
                .weight_centre = view(weight_centre),
            };
            check(dimension > 0 &&
                      points.shape(1) >= (parts.square_scale.empty() ? 1 : 2) * dimension,
                  "points must have all dimensions, and squares where these are wanted");
            check(parts.mean_centre.size() == parts.mean_scale.size() &&
                      (parts.directions.empty() ||
                       parts.directions.size() == parts.mean_scale.size()) &&
                      parts.square_slope.size() == parts.square_scale.size() &&
                      parts.square_centre.size() == parts.square_scale.size() &&
                      (parts.weight_scale.empty() || parts.weight_scale.size() == n) &&
                      parts.weight_centre.size() == parts.weight_scale.size(),
                  "the tables of a part must all be given, or none of them");
            check(out.shape(0) == documents.size() && out.shape(1) == parts.size(),
                  "out must have a row for each document, with all parts");
            bool fits = true;
            run(documents.size(), progress, [&](base::Stop& stop) {
                fits = mixture::fisher_vectors(documents, words, parts, {length_power, power, unit},
                                               out.data(), threads, stop);
            });
            return fits;
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "counts"_a.noconvert(),
        "points"_a.noconvert(), "shares"_a.noconvert(), "dimension"_a, "mean_scale"_a.noconvert(),
        "mean_centre"_a.noconvert(), "directions"_a.noconvert(), "square_scale"_a.noconvert(),
        "square_slope"_a.noconvert(), "square_centre"_a.noconvert(), "weight_scale"_a.noconvert(),
        "weight_centre"_a.noconvert(), "length_power"_a, "power"_a, "unit"_a, "out"_a.noconvert(),
        "threads"_a, "progress"_a.none(),
        "Fill a row of `out` for each document; returns whether all numbers fit into float32.");
}

} // namespace textkin::bindings
