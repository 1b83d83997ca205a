#include "transport/simplex.h"

#include "kernels/padding.h"

#include <algorithm>
#include <bit>

namespace textkin::transport {
namespace {

// The plain loops for wide numbers, of which rows have no padding.

void row_minima(const std::int64_t* cost, std::size_t stride, std::size_t rows,
                const std::int64_t* offset, std::size_t columns, std::int64_t* out) {
    for (std::size_t i = 0; i < rows; ++i, cost += stride) {
        out[i] = cost[0] - offset[0];
        for (std::size_t j = 1; j < columns; ++j) out[i] = std::min(out[i], cost[j] - offset[j]);
    }
}

std::size_t find_reduced(const std::int64_t* cost, const std::int64_t* offset, std::size_t,
                         std::int64_t value) {
    std::size_t j = 0;
    while (cost[j] - offset[j] != value) ++j;
    return j;
}

std::size_t nearest_column(const std::int64_t* cost, const std::int64_t* offset,
                           std::size_t columns, std::int64_t& least) {
    row_minima(cost, 0, 1, offset, columns, &least);
    return find_reduced(cost, offset, columns, least);
}

std::size_t nearest_row(const std::int64_t* values, std::size_t rows, std::int64_t& least) {
    const std::int64_t* found = std::min_element(values, values + rows);
    least = *found;
    return static_cast<std::size_t>(found - values);
}

void add_where(std::int64_t* values, const std::uint64_t* set, std::size_t begin, std::size_t end,
               std::int64_t amount) {
    for (std::size_t x = begin; x < end; ++x)
        if (set[x / 64] >> (x % 64) & 1) values[x] += amount;
}

// The names that the loops use.
using kernels::kNoNode;
using kernels::Node;
using kernels::Outcome;
using kernels::Tree;

#include "kernels/simplex_loops.h"

Outcome solve_by_loops(Tree<std::int32_t>& tree) { return kernels::kernels().simplex.solve(tree); }
Outcome solve_by_loops(Tree<std::int64_t>& tree) { return solve_tree(tree); }

} // namespace

template <class Number> void Simplex<Number>::prepare(const Instance<Number>& instance) {
    constexpr bool narrow = sizeof(Number) == sizeof(std::int32_t);
    const std::size_t rows = instance.rows();
    const std::size_t columns = instance.columns();
    const std::size_t first_column = kernels::padded(rows);
    const std::size_t nodes = first_column + kernels::padded(columns);
    const std::size_t needed = (nodes + 63) / 64;
    // Few lengths, which the loops know in advance.
    const std::size_t words = needed > 8 ? needed : std::bit_ceil(needed);
    if (nodes > nearest_.size()) {
        potential_.grow(nodes);
        parent_.grow(nodes);
        flow_.grow(nodes);
        left_.grow(nodes);
        from_path_.grow(nodes);
        to_path_.grow(nodes);
        order_.grow(nodes);
        arc_cost_.grow(nodes);
        closed_.grow(nodes);
        moved_.grow(words);
        previous_.grow(words);
        nearest_.grow(nodes); // the last: were there no memory for another, it would be seen above
    }
    below_.grow(nodes * words);
    tree_.rows = rows;
    tree_.columns = columns;
    tree_.cost = instance.cost;
    tree_.stride = instance.stride;
    tree_.width = narrow ? kernels::padded(columns) : columns;
    tree_.first_column = first_column;
    tree_.nodes = nodes;
    tree_.words = words;
    tree_.potential = potential_.data();
    tree_.parent = parent_.data();
    tree_.flow = flow_.data();
    tree_.below = below_.data();
    tree_.pivots = 0;
    tree_.moved = moved_.data();
    tree_.previous = previous_.data();
    tree_.from_path = from_path_.data();
    tree_.to_path = to_path_.data();
    tree_.left = left_.data();
    tree_.closed = closed_.data();
    tree_.nearest = nearest_.data();
    tree_.arc_cost = arc_cost_.data();
    tree_.order = order_.data();

    shift_ = static_cast<int>(std::bit_width(rows));
    std::int64_t* supply = left_.data();
    std::int64_t* demand = left_.data() + first_column;
    for (std::size_t i = 0; i < rows; ++i) supply[i] = (instance.supply[i] << shift_) + 1;
    for (std::size_t j = 0; j < columns; ++j) demand[j] = instance.demand[j] << shift_;
    demand[columns - 1] += static_cast<std::int64_t>(rows);
}

template <class Number>
kernels::Outcome Simplex<Number>::solve(const Instance<Number>& instance, std::int64_t pivot_limit,
                                        std::int64_t potential_limit, bool starts_centered,
                                        base::Stop& stop) {
    if (stop.was_requested()) throw base::Stopped{};
    prepare(instance);
    tree_.prefetch = instance.prefetch.addresses.data();
    tree_.prefetch_count = instance.prefetch.addresses.size();
    tree_.prefetch_bytes = instance.prefetch.bytes;
    tree_.pivot_limit = pivot_limit;
    tree_.potential_limit = potential_limit;
    tree_.starts_centered = starts_centered;
    tree_.stopped = [](void* object) { return static_cast<base::Stop*>(object)->requested(); };
    tree_.stop = &stop;
    const kernels::Outcome outcome = solve_by_loops(tree_);
    if (outcome == kernels::Outcome::stopped) throw base::Stopped{};
    return outcome;
}

// A tree arc carries the surplus of the nodes below it. That surplus of the added units is
// (rows below) - (rows, if the last column is below): between -rows and 0 with the last column,
// between 0 and rows without it. What it is a part of 2^shift_ of is therefore rounded off or up.
template <class Number> void Simplex<Number>::read(Solution& solution) const {
    const std::size_t rows = tree_.rows;
    const std::size_t first_column = tree_.first_column;
    const std::size_t last = first_column + tree_.columns - 1;
    const std::uint64_t* has_last = tree_.below + last / 64;
    const std::int64_t most = (std::int64_t{1} << shift_) - 1;
    solution.pivots = tree_.pivots;
    solution.shipments.resize(rows + tree_.columns);
    Shipment* out = solution.shipments.data();
    const auto list = [&](std::size_t begin, std::size_t end, bool row) {
        for (std::size_t x = begin; x < end; ++x) {
            const kernels::Node other = tree_.parent[x];
            const bool with_last = has_last[x * tree_.words] >> (last % 64) & 1;
            const std::int64_t mass = (tree_.flow[x] + (with_last == row ? most : 0)) >> shift_;
            const std::size_t i = row ? x : other;
            const std::size_t j = (row ? other : x) - first_column;
            *out = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), mass};
            out += other != kernels::kNoNode && mass != 0 ? 1 : 0;
        }
    };
    list(0, rows, true);
    list(first_column, last + 1, false);
    solution.shipments.resize(static_cast<std::size_t>(out - solution.shipments.data()));
    const Number* columns = tree_.potential + first_column;
    solution.row_potential.assign(tree_.potential, tree_.potential + rows);
    solution.column_potential.assign(columns, columns + tree_.columns);
}

template class Simplex<std::int32_t>;
template class Simplex<std::int64_t>;

} // namespace textkin::transport
