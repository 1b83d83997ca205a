#include "bindings/bindings.h"

#include "kernels/kernels.h"
#include "search/bound_matrices.h"

#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

namespace textkin::bindings {
namespace {

using namespace nb::literals;
using Table = Array2<float>;

search::Space checked_space(const Table& table, const transport::Documents& a,
                            const transport::Documents& b, std::string_view cost) {
    static_cast<void>(kernels::kernels()); // throws if TEXTKIN_SIMD is invalid before threads start
    for (const transport::Documents* documents : {&a, &b})
        for (std::size_t row = 0; row < documents->size(); ++row) {
            const transport::Document document = (*documents)[row];
            if (!document.empty() &&
                static_cast<std::size_t>(document.words.back()) >= table.shape(0))
                throw nb::value_error(
                    "The documents name words beyond the last row of the vectors.");
        }
    return {{table.data(), table.shape(0), table.shape(1)}, cost_named(cost)};
}

search::Side side_named(std::string_view name) {
    if (name == "query") return search::Side::query;
    if (name == "document") return search::Side::document;
    if (name == "both") return search::Side::both;
    throw nb::value_error("side must be 'both', 'query' or 'document'.");
}

auto centroids(const Table& table, const transport::Documents& a, const transport::Documents& b,
               const std::string& cost, std::size_t memory, unsigned threads) {
    const search::Space space = checked_space(table, a, b, cost);
    std::vector<double> out(a.size() * b.size());
    run(a.size(), nb::none(), [&](base::Stop& stop) {
        search::centroid_matrix(space, a, b, memory, threads, stop, out);
    });
    return to_numpy(std::move(out), a.size(), b.size());
}

auto relaxed(const Table& table, const transport::Documents& a, const transport::Documents& b,
             const std::string& cost, const std::string& side, std::size_t memory,
             unsigned threads) {
    const search::Space space = checked_space(table, a, b, cost);
    const search::Side which = side_named(side);
    std::vector<double> out(a.size() * b.size());
    run(a.size(), nb::none(), [&](base::Stop& stop) {
        search::relaxed_matrix(space, a, b, which, memory, threads, stop, out);
    });
    return to_numpy(std::move(out), a.size(), b.size());
}

} // namespace

void register_rankings(nb::module_& module) {
    module.def("centroid_matrix", &centroids, "table"_a.noconvert(), "a"_a, "b"_a, "cost"_a,
               "memory"_a, "threads"_a, "Distances of the centroids of all pairs.");
    module.def("relaxed_matrix", &relaxed, "table"_a.noconvert(), "a"_a, "b"_a, "cost"_a, "side"_a,
               "memory"_a, "threads"_a,
               "One-sided relaxations of all pairs: of the words of the first ('query'), of the "
               "second ('document'), or the larger of the two ('both').");
}

} // namespace textkin::bindings
