#include "simplex.h"

#include "textkin/lanes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace textkin {
namespace {

constexpr std::int64_t kPivotsUnasked = 64; // pivots between two looks at the stop

constexpr int kShareOfBest = 4; // a candidate promises at least a fourth of what the best does

// Above every cost, and far enough from the largest number.
template <class Number> constexpr Number kClosed = std::numeric_limits<Number>::max() / 2 + 1;

// Of each row the least cost[j] - offset[j]; padding never wins.
void row_minima(const std::int32_t* cost, std::size_t stride, std::size_t rows,
                const std::int32_t* offset, std::size_t columns, std::int32_t* out) {
    kernels().row_minima(cost, stride, rows, offset, padded(columns), out);
}

void row_minima(const std::int64_t* cost, std::size_t stride, std::size_t rows,
                const std::int64_t* offset, std::size_t columns, std::int64_t* out) {
    for (std::size_t i = 0; i < rows; ++i, cost += stride) {
        out[i] = cost[0] - offset[0];
        for (std::size_t j = 1; j < columns; ++j) out[i] = std::min(out[i], cost[j] - offset[j]);
    }
}

// The first column where it is reached.
std::size_t find_reduced(const std::int32_t* cost, const std::int32_t* offset, std::size_t columns,
                         std::int32_t value) {
    return kernels().find_reduced(cost, offset, padded(columns), value);
}

std::size_t find_reduced(const std::int64_t* cost, const std::int64_t* offset, std::size_t,
                         std::int64_t value) {
    std::size_t j = 0;
    while (cost[j] - offset[j] != value) ++j;
    return j;
}

void add_where(std::int32_t* values, const std::uint64_t* set, std::size_t begin, std::size_t end,
               std::int32_t amount) {
    kernels().add_where(values, set, begin, end, amount);
}

void add_where(std::int64_t* values, const std::uint64_t* set, std::size_t begin, std::size_t end,
               std::int64_t amount) {
    for (std::size_t x = begin; x < end; ++x)
        if (set[x / 64] >> (x % 64) & 1) values[x] += amount;
}

} // namespace

template <class Number> void Simplex<Number>::prepare(const Instance<Number>& instance) {
    problem_ = instance;
    rows_ = instance.rows();
    columns_ = instance.columns();
    first_column_ = padded(rows_);
    nodes_ = first_column_ + padded(columns_);
    words_ = std::bit_ceil((nodes_ + 63) / 64); // few lengths, which pivot() knows in advance
    if (words_ > 8) words_ = (nodes_ + 63) / 64;
    pivots_ = 0;
    reach_ = 0;
    potential_.grow(nodes_);
    parent_.grow(nodes_);
    flow_.grow(nodes_);
    below_.grow(nodes_ * words_);
    moved_.grow(words_);
    previous_.grow(words_);
    from_.nodes.grow(nodes_);
    to_.nodes.grow(nodes_);
    supply_.grow(rows_);
    demand_.grow(columns_);
    closed_.grow(padded(columns_));
    nearest_.grow(first_column_);
    nothing_.grow(first_column_);
    nearest_column_.grow(rows_);
    order_.grow(nodes_);
    first_arc_.grow(nodes_);
    next_arc_.grow(2 * nodes_);
    arcs_.grow(nodes_);
    std::fill_n(potential_.data(), nodes_, Number{0});
    std::fill_n(parent_.data(), nodes_, kNone);

    const auto scale = static_cast<std::int64_t>(rows_) + 1;
    for (std::size_t i = 0; i < rows_; ++i) supply_[i] = instance.supply[i] * scale + 1;
    for (std::size_t j = 0; j < columns_; ++j) demand_[j] = instance.demand[j] * scale;
    demand_[columns_ - 1] += static_cast<std::int64_t>(rows_);
}

// A first tree: again and again the cheapest arc of those whose row and column are both open takes
// all it can. Every shipment closes either its row or its column, never both before the last one,
// so there are rows + columns - 1 of them and they form a tree. A row's nearest column is looked
// for again only when the row is the best and that column has closed in the meantime: the nearest
// open one can only be farther.
template <class Number> void Simplex<Number>::start() {
    std::fill_n(closed_.data(), padded(columns_), Number{0});
    std::fill_n(nothing_.data(), first_column_, Number{0});
    row_minima(problem_.cost, problem_.stride, rows_, closed_.data(), columns_, nearest_.data());
    std::fill(nearest_.data() + rows_, nearest_.data() + first_column_,
              std::numeric_limits<Number>::max());
    for (std::size_t i = 0; i < rows_; ++i)
        nearest_column_[i] =
            static_cast<Node>(find_reduced(problem_.row(i), closed_.data(), columns_, nearest_[i]));
    arc_count_ = 0;
    for (;;) {
        Number least = 0;
        row_minima(nearest_.data(), 0, 1, nothing_.data(), rows_, &least);
        const std::size_t i = find_reduced(nearest_.data(), nothing_.data(), rows_, least);
        auto j = static_cast<std::size_t>(nearest_column_[i]);
        if (closed_[j] != 0) {
            row_minima(problem_.row(i), 0, 1, closed_.data(), columns_, &nearest_[i]);
            j = find_reduced(problem_.row(i), closed_.data(), columns_, nearest_[i]);
            nearest_column_[i] = static_cast<Node>(j);
            if (nearest_[i] != least) continue;
        }
        const std::int64_t mass = std::min(supply_[i], demand_[j]);
        supply_[i] -= mass;
        demand_[j] -= mass;
        arcs_[arc_count_++] = {static_cast<Node>(i), static_cast<Node>(j), mass};
        if (arc_count_ == rows_ + columns_ - 1) return;
        if (supply_[i] == 0)
            nearest_[i] = std::numeric_limits<Number>::max();
        else
            closed_[j] = -kClosed<Number>;
    }
}

// From the last arc outwards every arc of the start is at most as dear as those before it on its
// way: sums of such costs with turning signs, the potentials, are never above the largest cost.
template <class Number> bool Simplex<Number>::build_tree(std::int64_t potential_limit) {
    // Arcs of a node as a linked list; arc e seen from its row is 2e, from its column 2e + 1.
    std::fill_n(first_arc_.data(), nodes_, kNone);
    for (std::size_t e = 0; e < arc_count_; ++e) {
        const Node ends[2] = {arcs_[e].row, column_node(static_cast<std::size_t>(arcs_[e].column))};
        for (std::size_t side = 0; side < 2; ++side) {
            Node& first = first_arc_[static_cast<std::size_t>(ends[side])];
            next_arc_[2 * e + side] = first;
            first = static_cast<Node>(2 * e + side);
        }
    }
    // Breadth first.
    std::size_t found = 0;
    order_[found++] = arcs_[arc_count_ - 1].row;
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

// Lists the best arcs of the next few rows, as far as their reduced costs are negative and not much
// smaller than the best one's.
template <class Number> bool Simplex<Number>::price(std::size_t& next_row) {
    const Number* columns = potential_.data() + first_column_;
    Number least[kRowsPriced];
    for (std::size_t seen = 0; seen < rows_;) {
        const std::size_t count = std::min(rows_ - next_row, kRowsPriced);
        row_minima(problem_.row(next_row), problem_.stride, count, columns, columns_, least);
        // Those that promise little beside the best would mostly be dropped again. Which ones
        // remain cannot be foreseen, so they are listed without a branch.
        Number best = 0;
        for (std::size_t k = 0; k < count; ++k) {
            least[k] -= potential_[next_row + k];
            best = std::min(best, least[k]);
        }
        const Number worst = std::min<Number>(best / kShareOfBest, -1);
        candidate_count_ = 0;
        for (std::size_t k = 0; k < count; ++k) {
            candidates_[candidate_count_] = {static_cast<Node>(next_row + k), kNone, least[k]};
            candidate_count_ += least[k] <= worst ? 1 : 0;
        }
        for (std::size_t k = 0; k < candidate_count_; ++k) {
            Candidate& candidate = candidates_[k];
            const Number* row = problem_.row(static_cast<std::size_t>(candidate.row));
            const Number value = // what was subtracted above
                candidate.cost + potential_[static_cast<std::size_t>(candidate.row)];
            const std::size_t j = find_reduced(row, columns, columns_, value);
            candidate = {candidate.row, column_node(j), row[j]};
        }
        seen += count;
        next_row = next_row + count == rows_ ? 0 : next_row + count;
        if (candidate_count_ > 0) return true;
    }
    return false;
}

// Takes the candidate with the most negative reduced cost, which it returns, out of the list, and
// those that have none any more. 0: none has.
template <class Number> std::int64_t Simplex<Number>::take_best(Candidate& best) {
    std::size_t kept = 0;
    std::size_t place = 0;
    std::int64_t least = 0;
    for (std::size_t k = 0; k < candidate_count_; ++k) {
        const Candidate candidate = candidates_[k];
        const std::int64_t value = reduced(candidate);
        place = value < least ? kept : place;
        least = std::min(least, value);
        candidates_[kept] = candidate;
        kept += value < 0 ? 1 : 0;
    }
    candidate_count_ = kept;
    if (kept == 0) return 0;
    best = candidates_[place];
    candidates_[place] = candidates_[--candidate_count_];
    return least;
}

// Goes up from a node to the first one that has `other` below it.
template <class Number> void Simplex<Number>::climb(Node from, Node other, Path& path) {
    const Word* sets = below_.data() + static_cast<std::size_t>(other) / 64;
    const std::size_t shift = static_cast<std::size_t>(other) % 64;
    Node* nodes = path.nodes.data();
    std::size_t length = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::size_t narrowest = 0;
    for (Node x = from; !(sets[static_cast<std::size_t>(x) * words_] >> shift & 1); x = parent(x)) {
        const std::int64_t mass =
            length % 2 == 0 ? flow(x) : std::numeric_limits<std::int64_t>::max();
        narrowest = mass < least ? length : narrowest;
        least = std::min(least, mass);
        nodes[length++] = x;
    }
    path.length = length;
    path.narrowest = narrowest;
    path.least = least;
}

// Sends flow around the cycle that the arc closes, until the first tree arc runs dry and leaves.
// Words: how many a bitset has, or 0 for any number.
template <class Number>
template <std::size_t Words>
void Simplex<Number>::pivot(const Candidate& entering, std::int64_t value) {
    const std::size_t words = Words != 0 ? Words : words_;
    const Node from = entering.row;
    const Node to = entering.column;
    // Rows and columns take turns. Going up from the row, the arcs of rows lose flow; from the
    // column, those of columns: on both sides the first, the third and so on.
    climb(from, to, from_);
    climb(to, from, to_);
    const bool on_row_side = from_.least < to_.least;
    const Path& cut_path = on_row_side ? from_ : to_;
    const Path& hook_path = on_row_side ? to_ : from_;
    const std::int64_t mass = cut_path.least;

    // The subtree under the leaving arc moves: it is hung up by its end of the entering arc.
    const std::size_t cut = cut_path.narrowest;
    Word* moved = moved_.data();
    Word* previous = previous_.data();
    std::copy_n(below(cut_path.nodes[cut]), words, moved);
    for (std::size_t k = 0; k < hook_path.length; ++k) {
        const Node x = hook_path.nodes[k];
        flow(x) += k % 2 == 0 ? -mass : mass;
        Word* set = below(x);
        for (std::size_t w = 0; w < words; ++w) set[w] |= moved[w];
    }
    for (std::size_t k = cut + 1; k < cut_path.length; ++k) {
        const Node x = cut_path.nodes[k];
        flow(x) += k % 2 == 0 ? -mass : mass;
        Word* set = below(x);
        for (std::size_t w = 0; w < words; ++w) set[w] &= ~moved[w];
    }
    // Turn round the arcs between the new root of the subtree and the old one.
    std::fill_n(previous, words, Word{0});
    Node above = on_row_side ? to : from;
    std::int64_t carried = mass;
    for (std::size_t k = 0; k <= cut; ++k) {
        const Node x = cut_path.nodes[k];
        const std::int64_t next = flow(x) + (k % 2 == 0 ? -mass : mass);
        parent(x) = above;
        flow(x) = carried;
        carried = next;
        above = x;
        Word* set = below(x);
        for (std::size_t w = 0; w < words; ++w) {
            const Word old = set[w];
            set[w] = moved[w] & ~previous[w];
            previous[w] = old;
        }
    }
    // Bring the entering arc's reduced cost to zero.
    const auto shift = static_cast<Number>(on_row_side ? value : -value);
    add_where(potential_.data(), moved, 0, first_column_, shift);
    add_where(potential_.data(), moved, first_column_, nodes_, static_cast<Number>(-shift));
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
template <std::size_t Words>
Outcome Simplex<Number>::improve(std::int64_t pivot_limit, std::int64_t potential_limit,
                                 Stop& stop) {
    std::size_t next_row = 0;
    Candidate entering{};
    while (price(next_row)) {
        while (const std::int64_t gain = take_best(entering)) {
            if (pivots_ >= pivot_limit) return Outcome::pivot_limit;
            if (pivots_ % kPivotsUnasked == 0) stop.throw_if_requested();
            if (!potentials_fit(-gain, potential_limit)) return Outcome::potential_too_large;
            pivot<Words>(entering, gain);
        }
    }
    return Outcome::optimal;
}

template <class Number>
Outcome Simplex<Number>::solve(const Instance<Number>& instance, std::int64_t pivot_limit,
                               std::int64_t potential_limit, Stop& stop) {
    prepare(instance);
    start();
    if (!build_tree(potential_limit)) return Outcome::potential_too_large;
    switch (words_) {
    case 1:
        return improve<1>(pivot_limit, potential_limit, stop);
    case 2:
        return improve<2>(pivot_limit, potential_limit, stop);
    case 4:
        return improve<4>(pivot_limit, potential_limit, stop);
    case 8:
        return improve<8>(pivot_limit, potential_limit, stop);
    default:
        return improve<0>(pivot_limit, potential_limit, stop);
    }
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
    const Number* columns = potential_.data() + first_column_;
    solution.row_potential.assign(potential_.data(), potential_.data() + rows_);
    solution.column_potential.assign(columns, columns + columns_);
}

template class Simplex<std::int32_t>;
template class Simplex<std::int64_t>;

} // namespace textkin
