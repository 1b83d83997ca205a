#include "simplex.h"

#include "textkin/kernels.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace textkin {
namespace {

constexpr std::size_t kRowsPriced = 8; // rows looked at for an entering arc before one is taken
constexpr std::int64_t kPivotsUnasked = 64; // pivots between two looks at the stop

// Above every cost, and far enough from the largest number.
template <class Number> constexpr Number kClosed = std::numeric_limits<Number>::max() / 2 + 1;

// The least of cost[j] - potential[j]; padding never wins.
std::int64_t minimum_reduced(const std::int32_t* cost, const std::int32_t* potential,
                             std::size_t columns) {
    return kernels().minimum_reduced(cost, potential, padded(columns));
}

std::int64_t minimum_reduced(const std::int64_t* cost, const std::int64_t* potential,
                             std::size_t columns) {
    std::int64_t least = cost[0] - potential[0];
    for (std::size_t j = 1; j < columns; ++j) least = std::min(least, cost[j] - potential[j]);
    return least;
}

// The first column where it is reached.
std::size_t find_reduced(const std::int32_t* cost, const std::int32_t* potential,
                         std::int64_t value) {
    return kernels().find_reduced(cost, potential, static_cast<std::int32_t>(value));
}

std::size_t find_reduced(const std::int64_t* cost, const std::int64_t* potential,
                         std::int64_t value) {
    std::size_t j = 0;
    while (cost[j] - potential[j] != value) ++j;
    return j;
}

template <class Value> void grow(std::vector<Value>& values, std::size_t size) {
    if (values.size() < size) values.resize(size);
}

} // namespace

template <class Number> void Simplex<Number>::prepare(const Instance<Number>& instance) {
    problem_ = instance;
    rows_ = instance.rows();
    columns_ = instance.columns();
    first_column_ = padded(rows_);
    nodes_ = first_column_ + padded(columns_);
    words_ = (nodes_ + 63) / 64;
    pivots_ = 0;
    reach_ = 0;
    grow(potential_, nodes_);
    grow(parent_, nodes_);
    grow(flow_, nodes_);
    grow(below_, nodes_ * words_);
    grow(moved_, words_);
    grow(previous_, words_);
    grow(supply_, rows_);
    grow(demand_, columns_);
    grow(closed_, padded(columns_));
    grow(order_, nodes_);
    grow(first_arc_, nodes_);
    std::fill_n(potential_.begin(), nodes_, Number{0});
    std::fill_n(parent_.begin(), nodes_, kNone);

    const auto scale = static_cast<std::int64_t>(rows_) + 1;
    for (std::size_t i = 0; i < rows_; ++i) supply_[i] = instance.supply[i] * scale + 1;
    for (std::size_t j = 0; j < columns_; ++j) demand_[j] = instance.demand[j] * scale;
    demand_[columns_ - 1] += static_cast<std::int64_t>(rows_);
}

// A first tree: the rows take turns, each sending all it can to the cheapest column that still has
// room. Every shipment closes either its row or its column, never both before the last one, so
// there are rows + columns - 1 of them and they form a tree.
template <class Number> void Simplex<Number>::start() {
    arcs_.clear();
    open_rows_.resize(rows_);
    for (std::size_t i = 0; i < rows_; ++i) open_rows_[i] = static_cast<Node>(i);
    std::fill_n(closed_.begin(), padded(columns_), Number{0});
    while (!open_rows_.empty()) {
        std::size_t kept = 0;
        for (const Node row : open_rows_) {
            const auto i = static_cast<std::size_t>(row);
            const Number* cost = problem_.row(i);
            const std::size_t j =
                find_reduced(cost, closed_.data(), minimum_reduced(cost, closed_.data(), columns_));
            const std::int64_t mass = std::min(supply_[i], demand_[j]);
            supply_[i] -= mass;
            demand_[j] -= mass;
            arcs_.push_back({row, static_cast<std::int32_t>(j), mass});
            if (supply_[i] == 0) continue;
            closed_[j] = -kClosed<Number>;
            open_rows_[kept++] = row;
        }
        open_rows_.resize(kept);
    }
}

template <class Number> bool Simplex<Number>::build_tree(std::int64_t potential_limit) {
    // Arcs of a node as a linked list; arc e seen from its row is 2e, from its column 2e + 1.
    std::fill_n(first_arc_.begin(), nodes_, kNone);
    next_arc_.resize(2 * arcs_.size());
    for (std::size_t e = 0; e < arcs_.size(); ++e) {
        const Node ends[2] = {arcs_[e].row, column_node(static_cast<std::size_t>(arcs_[e].column))};
        for (std::size_t side = 0; side < 2; ++side) {
            Node& first = first_arc_[static_cast<std::size_t>(ends[side])];
            next_arc_[2 * e + side] = first;
            first = static_cast<Node>(2 * e + side);
        }
    }
    // Breadth first from the first row.
    std::size_t found = 0;
    order_[found++] = arcs_.front().row;
    for (std::size_t next = 0; next < found; ++next) {
        const Node x = order_[next];
        for (Node a = first_arc_[static_cast<std::size_t>(x)]; a != kNone;
             a = next_arc_[static_cast<std::size_t>(a)]) {
            const Shipment& arc = arcs_[static_cast<std::size_t>(a) / 2];
            const Node y = a % 2 == 1 ? arc.row : column_node(static_cast<std::size_t>(arc.column));
            if (y == parent(x)) continue;
            parent(y) = x;
            flow(y) = arc.mass;
            const std::int64_t value = arc_cost(x, y) - static_cast<std::int64_t>(potential(x));
            reach_ = std::max(reach_, std::abs(value));
            if (reach_ > potential_limit) return false;
            potential(y) = static_cast<Number>(value);
            order_[found++] = y;
        }
    }
    for (std::size_t k = 0; k < found; ++k) {
        const Node x = order_[k];
        std::fill_n(below(x), words_, Word{0});
        below(x)[static_cast<std::size_t>(x) / 64] |= Word{1} << (static_cast<std::size_t>(x) % 64);
    }
    for (std::size_t k = found; k-- > 1;) {
        const Word* from = below(order_[k]);
        Word* to = below(parent(order_[k]));
        for (std::size_t w = 0; w < words_; ++w) to[w] |= from[w];
    }
    return true;
}

// The most negative reduced cost among the next few rows that have one.
template <class Number>
bool Simplex<Number>::price(std::size_t& next_row, std::size_t& row, std::size_t& column,
                            std::int64_t& reduced) const {
    const Number* columns = potential_.data() + first_column_;
    for (std::size_t seen = 0; seen < rows_;) {
        const std::size_t end = std::min(rows_, next_row + kRowsPriced);
        std::int64_t best = 0;
        for (std::size_t i = next_row; i < end; ++i) {
            const std::int64_t value = minimum_reduced(problem_.row(i), columns, columns_) -
                                       static_cast<std::int64_t>(potential_[i]);
            if (value < best) {
                best = value;
                row = i;
            }
        }
        seen += end - next_row;
        next_row = end == rows_ ? 0 : end;
        if (best < 0) {
            reduced = best;
            column = find_reduced(problem_.row(row), columns,
                                  best + static_cast<std::int64_t>(potential_[row]));
            return true;
        }
    }
    return false;
}

// Sends flow around the cycle that the arc closes, until the first tree arc runs dry and leaves.
template <class Number>
void Simplex<Number>::pivot(std::size_t row, std::size_t column, std::int64_t reduced) {
    const Node from = static_cast<Node>(row);
    const Node to = column_node(column);
    const std::size_t to_word = static_cast<std::size_t>(to) / 64;
    const Word to_bit = Word{1} << (static_cast<std::size_t>(to) % 64);

    // Going up from the row, the arcs of rows lose flow; from the column, those of columns.
    std::int64_t from_least = std::numeric_limits<std::int64_t>::max();
    std::int64_t to_least = from_least;
    Node from_leaves = kNone;
    Node to_leaves = kNone;
    Node join = from;
    for (; !(below(join)[to_word] & to_bit); join = parent(join)) {
        if (is_row(join) && flow(join) < from_least) {
            from_least = flow(join);
            from_leaves = join;
        }
    }
    for (Node y = to; y != join; y = parent(y)) {
        if (!is_row(y) && flow(y) < to_least) {
            to_least = flow(y);
            to_leaves = y;
        }
    }
    const bool on_row_side = from_least < to_least;
    const std::int64_t mass = on_row_side ? from_least : to_least;
    for (Node x = from; x != join; x = parent(x)) flow(x) += is_row(x) ? -mass : mass;
    for (Node y = to; y != join; y = parent(y)) flow(y) += is_row(y) ? mass : -mass;

    // The subtree under the leaving arc moves: it is hung up by its end of the entering arc.
    const Node cut = on_row_side ? from_leaves : to_leaves;
    const Node root = on_row_side ? from : to;
    const Node hook = on_row_side ? to : from;
    std::copy_n(below(cut), words_, moved_.begin());
    for (Node x = parent(cut); x != join; x = parent(x)) {
        Word* set = below(x);
        for (std::size_t w = 0; w < words_; ++w) set[w] &= ~moved_[w];
    }
    for (Node x = hook; x != join; x = parent(x)) {
        Word* set = below(x);
        for (std::size_t w = 0; w < words_; ++w) set[w] |= moved_[w];
    }
    // Turn round the arcs between the new root of the subtree and the old one.
    std::fill_n(previous_.begin(), words_, Word{0});
    Node above = hook;
    std::int64_t carried = mass;
    for (Node x = root;;) {
        const Node next = parent(x);
        parent(x) = above;
        std::swap(flow(x), carried);
        Word* set = below(x);
        for (std::size_t w = 0; w < words_; ++w) {
            const Word old = set[w];
            set[w] = moved_[w] & ~previous_[w];
            previous_[w] = old;
        }
        if (x == cut) break;
        above = x;
        x = next;
    }
    // Bring the entering arc's reduced cost to zero.
    const auto shift = static_cast<Number>(is_row(root) ? reduced : -reduced);
    for (std::size_t w = 0; w < words_; ++w) {
        for (Word bits = moved_[w]; bits != 0; bits &= bits - 1) {
            const std::size_t x = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            potential_[x] += x < first_column_ ? shift : -shift;
        }
    }
    ++pivots_;
}

template <class Number>
bool Simplex<Number>::potentials_fit(std::int64_t shift, std::int64_t limit) {
    if (reach_ + shift > limit) {
        reach_ = 0;
        for (std::size_t x = 0; x < nodes_; ++x)
            reach_ = std::max(reach_, std::abs(static_cast<std::int64_t>(potential_[x])));
    }
    reach_ += shift;
    return reach_ <= limit;
}

template <class Number>
Outcome Simplex<Number>::solve(const Instance<Number>& instance, std::int64_t pivot_limit,
                               std::int64_t potential_limit, Stop& stop) {
    prepare(instance);
    start();
    if (!build_tree(potential_limit)) return Outcome::potential_too_large;
    std::size_t next_row = 0;
    std::size_t row = 0;
    std::size_t column = 0;
    std::int64_t reduced = 0;
    while (price(next_row, row, column, reduced)) {
        if (pivots_ >= pivot_limit) return Outcome::pivot_limit;
        if (pivots_ % kPivotsUnasked == 0) stop.throw_if_requested();
        if (!potentials_fit(-reduced, potential_limit)) return Outcome::potential_too_large;
        pivot(row, column, reduced);
    }
    return Outcome::optimal;
}

// A tree arc carries the surplus of the nodes below it. That surplus of the added units is
// (rows below) - (rows, if the last column is below), so what remains divides by rows + 1.
template <class Number> void Simplex<Number>::read(Solution& solution) const {
    const auto scale = static_cast<std::int64_t>(rows_) + 1;
    const std::size_t last = first_column_ + columns_ - 1;
    solution.pivots = pivots_;
    solution.shipments.clear();
    for (std::size_t k = 0; k < rows_ + columns_; ++k) {
        const std::size_t x = k < rows_ ? k : first_column_ + k - rows_;
        if (parent_[x] == kNone) continue;
        const Word* set = below(static_cast<Node>(x));
        std::int64_t added = 0;
        for (std::size_t w = 0; w < first_column_ / 64; ++w) added += std::popcount(set[w]);
        if (const std::size_t rest = first_column_ % 64; rest != 0)
            added += std::popcount(set[first_column_ / 64] & ((Word{1} << rest) - 1));
        if (set[last / 64] >> (last % 64) & 1) added -= static_cast<std::int64_t>(rows_);
        const bool row = x < first_column_;
        const std::int64_t mass = (flow_[x] - (row ? added : -added)) / scale;
        if (mass == 0) continue;
        const Node other = parent_[x];
        solution.shipments.push_back(
            {row ? static_cast<Node>(x) : other,
             static_cast<Node>(column_of(row ? other : static_cast<Node>(x))), mass});
    }
    std::sort(solution.shipments.begin(), solution.shipments.end(),
              [](const Shipment& a, const Shipment& b) {
                  return std::pair(a.row, a.column) < std::pair(b.row, b.column);
              });
    const auto columns = potential_.begin() + static_cast<std::ptrdiff_t>(first_column_);
    solution.row_potential.assign(potential_.begin(),
                                  potential_.begin() + static_cast<std::ptrdiff_t>(rows_));
    solution.column_potential.assign(columns, columns + static_cast<std::ptrdiff_t>(columns_));
}

template class Simplex<std::int32_t>;
template class Simplex<std::int64_t>;

} // namespace textkin
