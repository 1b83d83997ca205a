#include "bindings/array_views.h"

#include "kernels/kernels.h"
#include "search/batch.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <string>
#include <string_view>

namespace textkin::bindings {
namespace {

using namespace nb::literals;
using Table = Array2<float>;

template <class Vectors> search::Space space(const Vectors& table, std::string_view cost) {
    static_cast<void>(kernels::kernels()); // throws if TEXTKIN_SIMD is invalid before threads start
    return {{table.data(), table.shape(0), table.shape(1)}, cost_named(cost)};
}

// Documents check columns against the table they were made for; this checks a different table.
void check_rows(const Table& table, const transport::Documents& documents) {
    for (std::size_t row = 0; row < documents.size(); ++row) {
        const transport::Document document = documents[row];
        if (!document.empty() && static_cast<std::size_t>(document.words.back()) >= table.shape(0))
            throw nb::value_error("The documents name words beyond the last row of the vectors.");
    }
}

auto matrix(const Table& table, const transport::Documents& a, const transport::Documents& b,
            const std::string& cost, std::uint64_t memory, unsigned threads,
            const nb::object& progress) {
    check_rows(table, a);
    check_rows(table, b);
    const search::Space where = space(table, cost);
    std::vector<double> out(a.size() * b.size());
    const auto work = [&](base::Stop& stop) {
        search::distance_matrix(where, a, b, &a == &b, threads, stop, out);
    };
    run(out.size(), progress, work, memory);
    return to_numpy(std::move(out), a.size(), b.size());
}

auto pairs(const Table& table, const transport::Documents& a, const Array1<std::int64_t>& a_rows,
           const transport::Documents& b, const Array1<std::int64_t>& b_rows,
           const std::string& cost, std::uint64_t memory, unsigned threads,
           const nb::object& progress) {
    check_rows(table, a);
    check_rows(table, b);
    if (a_rows.size() != b_rows.size())
        throw nb::value_error(
            "There must be as many rows of the first documents as of the second.");
    for (std::size_t k = 0; k < a_rows.size(); ++k)
        if (a_rows(k) < 0 || a_rows(k) >= static_cast<std::int64_t>(a.size()) || b_rows(k) < 0 ||
            b_rows(k) >= static_cast<std::int64_t>(b.size()))
            throw nb::value_error("A row number lies outside of the documents.");
    const search::Space where = space(table, cost);
    std::vector<double> out(a_rows.size());
    const auto work = [&](base::Stop& stop) {
        search::distance_pairs(where, a, view(a_rows), b, view(b_rows), threads, stop, out);
    };
    run(out.size(), progress, work, memory);
    const std::size_t count = out.size();
    return to_numpy(std::move(out), count);
}

// Read a bag of one row in SciPy's form. Returns false for unusual input.
bool read_bag(nb::handle indptr, nb::handle indices, nb::handle weights, std::size_t rows,
              transport::OwnedDocument& out) {
    const auto with_indices = [&]<class Index>(Index) {
        View<Index, 1> starts;
        View<Index, 1> words;
        if (!starts.look_at(indptr) || !words.look_at(indices)) return false;
        if (starts.shape(0) != 2 || starts.data()[0] != 0 || starts.data()[1] < 0) return false;
        const auto count = static_cast<std::size_t>(starts.data()[1]);
        const auto with_weights = [&]<class Weight>(Weight) {
            View<Weight, 1> values;
            if (!values.look_at(weights)) return false;
            if (words.shape(0) < count || values.shape(0) < count) return false;
            return out.assign(words.numbers().first(count), values.numbers().first(count), rows);
        };
        return with_weights(double{}) || with_weights(float{});
    };
    return with_indices(std::int32_t{}) || with_indices(std::int64_t{});
}

std::optional<double> distance_of_bags(const View<float, 2>& table, nb::handle a_indptr,
                                       nb::handle a_indices, nb::handle a_weights,
                                       nb::handle b_indptr, nb::handle b_indices,
                                       nb::handle b_weights, const std::string& cost,
                                       std::uint64_t memory) {
    const search::Space where = space(table, cost);
    search::WorkspaceLease workspace;
    if (!read_bag(a_indptr, a_indices, a_weights, table.shape(0), workspace->a) ||
        !read_bag(b_indptr, b_indices, b_weights, table.shape(0), workspace->b))
        return std::nullopt;
    double out = 0;
    const auto work = [&](base::Stop& stop) {
        out = workspace->solver.distance(where.table, where.cost, workspace->a.view(),
                                         workspace->b.view(), stop);
    };
    run(1, nb::none(), work, memory);
    return out;
}

auto bounds(const Table& table, const transport::Documents& a, const transport::Documents& b,
            const std::string& cost, std::uint64_t memory, unsigned threads,
            const nb::object& progress) {
    check_rows(table, a);
    check_rows(table, b);
    const search::Space where = space(table, cost);
    std::vector<double> out(3 * a.size() * b.size());
    const auto work = [&](base::Stop& stop) {
        search::bound_matrices(where, a, b, threads, stop, out);
    };
    run(a.size() * b.size(), progress, work, memory);
    return to_numpy(std::move(out), 3, a.size(), b.size());
}

transport::Explanation explain(const Table& table, const transport::Documents& a, std::size_t a_row,
                               const transport::Documents& b, std::size_t b_row,
                               const std::string& cost, std::uint64_t memory,
                               const nb::object& progress) {
    check_rows(table, a);
    check_rows(table, b);
    if (a_row >= a.size() || b_row >= b.size() || a[a_row].empty() || b[b_row].empty())
        throw nb::value_error("Both documents must exist and have words.");
    const search::Space where = space(table, cost);
    transport::Explanation out;
    const auto work = [&](base::Stop& stop) {
        out = search::WorkspaceLease()->solver.explain(where.table, where.cost, a[a_row], b[b_row],
                                                       stop);
    };
    run(1, progress, work, memory);
    return out;
}

template <class Number, class Member>
auto column(const transport::Explanation& explanation, Member member) {
    std::vector<Number> values;
    for (const transport::Move& move : explanation.moves) values.push_back(move.*member);
    const std::size_t count = values.size();
    return to_numpy(std::move(values), count);
}

auto doubles(const std::vector<double>& values) {
    return to_numpy(std::vector<double>(values), values.size());
}

} // namespace

transport::Cost cost_named(std::string_view name) {
    if (name == "euclidean") return transport::Cost::euclidean;
    if (name == "sqeuclidean") return transport::Cost::squared_euclidean;
    if (name == "cosine") return transport::Cost::cosine;
    throw nb::value_error("cost must be 'euclidean', 'sqeuclidean' or 'cosine'.");
}

void register_mover(nb::module_& module) {
    // The arrays are copies that own their numbers; by default a property would borrow them.
    constexpr auto copy = nb::rv_policy::move;
    using E = transport::Explanation;
    nb::class_<E>(module, "Explanation", "The flow and the potentials of one pair.")
        .def_ro("distance", &E::distance)
        .def_ro("pivots", &E::pivots)
        .def_ro("solved", &E::solved)
        .def_ro("method", &E::method)
        .def_prop_ro(
            "source", [](const E& e) { return column<std::int32_t>(e, &transport::Move::source); },
            copy)
        .def_prop_ro(
            "target", [](const E& e) { return column<std::int32_t>(e, &transport::Move::target); },
            copy)
        .def_prop_ro(
            "mass", [](const E& e) { return column<double>(e, &transport::Move::mass); }, copy)
        .def_prop_ro(
            "cost", [](const E& e) { return column<double>(e, &transport::Move::cost); }, copy)
        .def_prop_ro(
            "source_masses", [](const E& e) { return doubles(e.source_masses); }, copy)
        .def_prop_ro(
            "target_masses", [](const E& e) { return doubles(e.target_masses); }, copy)
        .def_prop_ro(
            "source_potentials", [](const E& e) { return doubles(e.source_potentials); }, copy)
        .def_prop_ro(
            "target_potentials", [](const E& e) { return doubles(e.target_potentials); }, copy);

    // In each of these functions `memory` limits the bytes of the transport problems that its
    // threads solve at the same time; 0: half of the memory of the machine or of the cgroup.
    module.def("distance_matrix", &matrix, "table"_a.noconvert(), "a"_a, "b"_a, "cost"_a,
               "memory"_a, "threads"_a, "progress"_a.none(),
               "Exact distances of all pairs; half the work when both are the same object.");
    module.def("distance_pairs", &pairs, "table"_a.noconvert(), "a"_a, "a_rows"_a.noconvert(),
               "b"_a, "b_rows"_a.noconvert(), "cost"_a, "memory"_a, "threads"_a,
               "progress"_a.none(), "Exact distances of the named pairs of rows.");
    module.def(
        "distance_of_bags", &distance_of_bags, "table"_a.noconvert(), "a_indptr"_a, "a_indices"_a,
        "a_weights"_a, "b_indptr"_a, "b_indices"_a, "b_weights"_a, "cost"_a, "memory"_a,
        nb::sig("def distance_of_bags(table: NDArray[numpy.float32], "
                "a_indptr: NDArray[numpy.generic], a_indices: NDArray[numpy.generic], "
                "a_weights: NDArray[numpy.generic], b_indptr: NDArray[numpy.generic], "
                "b_indices: NDArray[numpy.generic], b_weights: NDArray[numpy.generic], "
                "cost: str, memory: int) -> float | None"),
        "The exact distance of two bags of one row in canonical CSR form; None for anything that "
        "needs a closer look, such as a bag that is empty or wrong.");
    module.def("bound_matrices", &bounds, "table"_a.noconvert(), "a"_a, "b"_a, "cost"_a, "memory"_a,
               "threads"_a, "progress"_a.none(),
               "Centroid, source and target bounds of all pairs.");
    module.def("explain", &explain, "table"_a.noconvert(), "a"_a, "a_row"_a, "b"_a, "b_row"_a,
               "cost"_a, "memory"_a, "progress"_a.none(),
               "The flow and the potentials of one pair of rows.");
}

} // namespace textkin::bindings
