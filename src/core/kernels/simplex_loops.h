// The loops of the simplex method, for every kind of number and every instruction set.
//
// A file that includes this one defines before, in the same unnamed namespace, for its Number
//   nearest_column, row_minima, find_reduced, add_where
// as transport_loops.h does for int32 and simplex.cpp for int64. The rules are those of
// transport_loops.h: nothing of the standard library that has a body may be used. See
// transport/simplex.h for the method.

constexpr std::size_t kRowsPriced = 32; // rows that make a list of candidates
constexpr int kShareOfBest = 4;         // a candidate promises at least a fourth of the best
constexpr std::int64_t kPivotsBetweenPolls = 64; // pivots between two looks at the stop
constexpr std::size_t kArcsBetweenPolls = 64;    // arcs of the start between two looks at the stop
constexpr std::int64_t kEndless = INT64_MAX;

// The arcs whose row and column are both open, for the start. A row's nearest column is looked for
// again only when the row is the best: the nearest open one can only be farther. With
// `starts_centered`, costs count less the means of their row and of their column, which are kept in
// the potentials of the nodes until the tree has some; otherwise these are 0.
template <class Number> struct OpenArcs {
    // Above every cost, and far enough from the largest number.
    static constexpr Number kClosed = Number{1} << (8 * sizeof(Number) - 2);
    static constexpr Number kLargest = kClosed - 1 + kClosed;

    Tree<Number>& t;

    explicit OpenArcs(Tree<Number>& tree) : t(tree) {
        for (std::size_t x = 0; x < t.nodes; ++x) t.potential[x] = 0;
        if (t.starts_centered) find_means();
        for (std::size_t j = 0; j < t.width; ++j) t.closed[j] = t.potential[t.first_column + j];
        row_minima(t.cost, t.stride, t.rows, t.closed, t.width, t.nearest);
        for (std::size_t i = 0; i < t.rows; ++i) t.nearest[i] -= t.potential[i];
        for (std::size_t i = t.rows; i < t.first_column; ++i) t.nearest[i] = kLargest;
    }
    void find_cheapest(std::size_t& i, std::size_t& j) {
        Number least;
        Number found;
        do {
            i = nearest_row(t.nearest, t.first_column, least);
            j = nearest_column(t.cost + i * t.stride, t.closed, t.width, found);
            found -= t.potential[i];
            t.nearest[i] = found;
        } while (found != least);
    }
    void close(std::size_t i, std::size_t j, bool row) {
        t.nearest[i] = row ? kLargest : t.nearest[i];
        t.closed[j] = t.potential[t.first_column + j] - (row ? 0 : kClosed);
    }

  private:
    // The means of rows and columns, rounded. The flows are not used yet, and hold the sums.
    void find_means() {
        std::int64_t* sums = t.flow + t.first_column;
        for (std::size_t j = 0; j < t.columns; ++j) sums[j] = 0;
        for (std::size_t i = 0; i < t.rows; ++i) {
            const Number* row = t.cost + i * t.stride;
            std::int64_t sum = 0;
            for (std::size_t j = 0; j < t.columns; ++j) {
                sum += row[j];
                sums[j] += row[j];
            }
            t.potential[i] = static_cast<Number>(sum / static_cast<std::int64_t>(t.columns));
        }
        for (std::size_t j = 0; j < t.columns; ++j)
            t.potential[t.first_column + j] =
                static_cast<Number>(sums[j] / static_cast<std::int64_t>(t.rows));
    }
};

// Words: how many a set has, or 0 for any number.
template <class Number, std::size_t Words> struct SimplexLoops {
    using Word = std::uint64_t;
    using Candidate = typename Tree<Number>::Candidate;

    // Nodes from one end of the entering arc up to, but without, the join.
    struct Path {
        Node* nodes;
        std::size_t length;
        // Of every other arc, beginning with the first, the one with the least flow: these lose.
        std::size_t narrowest;
        std::int64_t least;
    };

    Tree<Number>& t;
    Candidate candidates[kRowsPriced];
    std::size_t candidate_count;

    [[nodiscard]] std::size_t words() const { return Words != 0 ? Words : t.words; }
    [[nodiscard]] Word* below(Node x) const { return t.below + x * words(); }
    [[nodiscard]] const Number* cost_row(std::size_t i) const { return t.cost + i * t.stride; }

    // The start waits for one thing after another; memory can come in the meantime.
    void prefetch_bytes_at(const float* numbers) const {
        const char* bytes = reinterpret_cast<const char*>(numbers);
        for (std::size_t k = 0; k < t.prefetch_bytes; k += 64) __builtin_prefetch(bytes + k);
    }

    // A first tree: again and again the cheapest arc of those whose row and column are both open
    // takes all it can. Every shipment closes either its row or its column, never both before the
    // last one, so there are rows + columns - 1 of them. What closes has all its other arcs behind
    // it and hangs, with all below it, from the end that stays open. Returns false if it is
    // stopped.
    template <class Arcs> [[nodiscard]] bool start(Arcs& open) {
        const auto own = [&](std::size_t x) {
            Word* set = below(static_cast<Node>(x));
            for (std::size_t w = 0; w < words(); ++w) set[w] = 0;
            set[x / 64] = Word{1} << (x % 64);
        };
        for (std::size_t i = 0; i < t.rows; ++i) own(i);
        for (std::size_t j = 0; j < t.columns; ++j) own(t.first_column + j);
        const std::size_t arcs = t.rows + t.columns - 1;
        for (std::size_t count = 0;;) {
            std::size_t i = 0;
            std::size_t j = 0;
            open.find_cheapest(i, j);
            if (count < t.prefetch_count) prefetch_bytes_at(t.prefetch[count]);
            const auto row = static_cast<Node>(i);
            const auto column = static_cast<Node>(t.first_column + j);
            const std::int64_t supply = t.left[row];
            const std::int64_t demand = t.left[column];
            const bool closes_row = supply < demand; // never equal before the last one
            const Node x = closes_row ? row : column;
            const Node y = closes_row ? column : row;
            const std::int64_t mass = closes_row ? supply : demand;
            t.left[y] -= mass;
            t.parent[x] = y;
            t.flow[x] = mass;
            t.order[count] = x;
            t.arc_cost[count] = cost_row(i)[j];
            Word* to = below(y);
            const Word* set = below(x);
            for (std::size_t w = 0; w < words(); ++w) to[w] |= set[w];
            if (++count == arcs) {
                t.parent[y] = kNoNode;
                t.potential[y] = 0;
                return true;
            }
            if (count % kArcsBetweenPolls == 0 && t.stopped(t.stop)) return false;
            open.close(i, j, closes_row);
        }
    }

    // From the last arc outward, an arc of the initial tree never costs more than the arcs before
    // it on its path. The potentials are alternating sums of such costs, so they never exceed the
    // largest cost. Of centered costs, which may be negative, this holds for four times as much.
    [[nodiscard]] bool find_potentials() {
        for (std::size_t k = t.rows; k < t.first_column; ++k) t.potential[k] = 0;
        for (std::size_t k = t.first_column + t.columns; k < t.nodes; ++k) t.potential[k] = 0;
        Number reach = 0;
        for (std::size_t k = t.rows + t.columns - 1; k-- > 0;) {
            const Node x = t.order[k];
            const Number value = t.arc_cost[k] - t.potential[t.parent[x]];
            t.potential[x] = value;
            const Number size = value < 0 ? -value : value;
            reach = size > reach ? size : reach;
        }
        t.reach = reach;
        return t.reach <= t.potential_limit;
    }

    // Lists the best arcs of the next few rows, as far as their reduced costs are negative and not
    // much smaller than the best one's.
    [[nodiscard]] bool price(std::size_t& next_row) {
        const Number* columns = t.potential + t.first_column;
        Number least[kRowsPriced];
        for (std::size_t seen = 0; seen < t.rows;) {
            const std::size_t left = t.rows - next_row;
            const std::size_t count = left < kRowsPriced ? left : kRowsPriced;
            row_minima(cost_row(next_row), t.stride, count, columns, t.width, least);
            // Candidates with small reduced costs would mostly be dropped later. Which ones remain
            // is unpredictable, so they are listed without a branch.
            Number best = 0;
            for (std::size_t k = 0; k < count; ++k) {
                least[k] -= t.potential[next_row + k];
                best = least[k] < best ? least[k] : best;
            }
            const Number share = best / kShareOfBest;
            const Number worst = share < -1 ? share : -1;
            candidate_count = 0;
            for (std::size_t k = 0; k < count; ++k) {
                candidates[candidate_count] = {static_cast<Node>(next_row + k), kNoNode, least[k]};
                candidate_count += least[k] <= worst ? 1 : 0;
            }
            for (std::size_t k = 0; k < candidate_count; ++k) {
                Candidate& candidate = candidates[k];
                const Number* row = cost_row(candidate.row);
                const Number value = candidate.cost + t.potential[candidate.row];
                const std::size_t j = find_reduced(row, columns, t.width, value);
                candidate.column = static_cast<Node>(t.first_column + j);
                candidate.cost = row[j];
            }
            seen += count;
            next_row = next_row + count == t.rows ? 0 : next_row + count;
            if (candidate_count > 0) return true;
        }
        return false;
    }

    // Takes the candidate with the most negative reduced cost, which it returns, out of the list,
    // and those that have none any more. 0: none has.
    [[nodiscard]] Number take_best(Candidate& best) {
        std::size_t kept = 0;
        std::size_t place = 0;
        Number least = 0;
        for (std::size_t k = 0; k < candidate_count; ++k) {
            const Candidate candidate = candidates[k];
            const Number value =
                candidate.cost - t.potential[candidate.row] - t.potential[candidate.column];
            place = value < least ? kept : place;
            least = value < least ? value : least;
            candidates[kept] = candidate;
            kept += value < 0 ? 1 : 0;
        }
        candidate_count = kept;
        if (kept == 0) return 0;
        best = candidates[place];
        candidates[place] = candidates[--candidate_count];
        return least;
    }

    // Goes up from a node to the first one that has `other` below it.
    void climb(Node from, Node other, Path& path) const {
        const Word* sets = t.below + other / 64;
        const std::size_t shift = other % 64;
        std::size_t length = 0;
        std::int64_t least = kEndless;
        std::size_t narrowest = 0;
        for (Node x = from; !(sets[x * words()] >> shift & 1); x = t.parent[x]) {
            const std::int64_t mass = length % 2 == 0 ? t.flow[x] : kEndless;
            narrowest = mass < least ? length : narrowest;
            least = mass < least ? mass : least;
            path.nodes[length++] = x;
        }
        path.length = length;
        path.narrowest = narrowest;
        path.least = least;
    }

    // Sends flow around the cycle that the arc closes, until the first tree arc runs dry and
    // leaves.
    void pivot(const Candidate& entering, Number value) {
        const Node from = entering.row;
        const Node to = entering.column;
        // Rows and columns take turns. Going up from the row, the arcs of rows lose flow; from the
        // column, those of columns: on both sides the first, the third and so on.
        Path row_path{t.from_path, 0, 0, 0};
        Path column_path{t.to_path, 0, 0, 0};
        climb(from, to, row_path);
        climb(to, from, column_path);
        const bool on_row_side = row_path.least < column_path.least;
        const Path& cut_path = on_row_side ? row_path : column_path;
        const Path& hook_path = on_row_side ? column_path : row_path;
        const std::int64_t mass = cut_path.least;

        // The subtree under the leaving arc moves: it is hung up by its end of the entering arc.
        const std::size_t cut = cut_path.narrowest;
        Word* moved = t.moved;
        Word* previous = t.previous;
        const Word* leaving = below(cut_path.nodes[cut]);
        for (std::size_t w = 0; w < words(); ++w) moved[w] = leaving[w];
        for (std::size_t k = 0; k < hook_path.length; ++k) {
            const Node x = hook_path.nodes[k];
            t.flow[x] += k % 2 == 0 ? -mass : mass;
            Word* set = below(x);
            for (std::size_t w = 0; w < words(); ++w) set[w] |= moved[w];
        }
        for (std::size_t k = cut + 1; k < cut_path.length; ++k) {
            const Node x = cut_path.nodes[k];
            t.flow[x] += k % 2 == 0 ? -mass : mass;
            Word* set = below(x);
            for (std::size_t w = 0; w < words(); ++w) set[w] &= ~moved[w];
        }
        // Turn round the arcs between the new root of the subtree and the old one.
        for (std::size_t w = 0; w < words(); ++w) previous[w] = 0;
        Node above = on_row_side ? to : from;
        std::int64_t carried = mass;
        for (std::size_t k = 0; k <= cut; ++k) {
            const Node x = cut_path.nodes[k];
            const std::int64_t next = t.flow[x] + (k % 2 == 0 ? -mass : mass);
            t.parent[x] = above;
            t.flow[x] = carried;
            carried = next;
            above = x;
            Word* set = below(x);
            for (std::size_t w = 0; w < words(); ++w) {
                const Word old = set[w];
                set[w] = moved[w] & ~previous[w];
                previous[w] = old;
            }
        }
        // Bring the entering arc's reduced cost to zero.
        const Number shift = on_row_side ? value : -value;
        add_where(t.potential, moved, 0, t.first_column, shift);
        add_where(t.potential, moved, t.first_column, t.nodes, -shift);
        ++t.pivots;
    }

    [[nodiscard]] bool potentials_fit(std::int64_t shift) {
        if (t.reach + shift > t.potential_limit) {
            t.reach = 0;
            for (std::size_t x = 0; x < t.nodes; ++x) {
                const std::int64_t value = t.potential[x];
                const std::int64_t size = value < 0 ? -value : value;
                t.reach = size > t.reach ? size : t.reach;
            }
        }
        t.reach += shift;
        return t.reach <= t.potential_limit;
    }

    // A pivot, unless something speaks against it.
    [[nodiscard]] Outcome step(const Candidate& entering, Number gain) {
        if (t.pivots >= t.pivot_limit) return Outcome::pivot_limit;
        if (t.pivots % kPivotsBetweenPolls == kPivotsBetweenPolls - 1 && t.stopped(t.stop))
            return Outcome::stopped;
        if (!potentials_fit(-gain)) return Outcome::potential_too_large;
        pivot(entering, gain);
        return Outcome::optimal;
    }

    [[nodiscard]] Outcome solve() {
        OpenArcs<Number> open(t);
        if (!start(open)) return Outcome::stopped;
        if (!find_potentials()) return Outcome::potential_too_large;
        std::size_t next_row = 0;
        Candidate entering{};
        while (price(next_row))
            while (const Number gain = take_best(entering))
                if (const Outcome end = step(entering, gain); end != Outcome::optimal) return end;
        return Outcome::optimal;
    }

    // A small problem: one look at all arcs is cheaper than a list of candidates.
    template <class Small> [[nodiscard]] Outcome solve_small() {
        typename Small::OpenArcs open(t);
        if (!start(open)) return Outcome::stopped;
        if (!find_potentials()) return Outcome::potential_too_large;
        Candidate entering{};
        while (const Number gain = Small::find_best(t, entering.row, entering.column))
            if (const Outcome end = step(entering, gain); end != Outcome::optimal) return end;
        return Outcome::optimal;
    }
};

template <std::size_t Words, class Number> Outcome solve_with_words(Tree<Number>& tree) {
    SimplexLoops<Number, Words> simplex{tree, {}, 0};
    return simplex.solve();
}

template <class Small, class Number> Outcome solve_small(Tree<Number>& tree) {
    SimplexLoops<Number, 1> simplex{tree, {}, 0};
    return simplex.template solve_small<Small>();
}

template <class Number> Outcome solve_tree(Tree<Number>& tree) {
    switch (tree.words) {
    case 1:
        return solve_with_words<1>(tree);
    case 2:
        return solve_with_words<2>(tree);
    case 4:
        return solve_with_words<4>(tree);
    case 8:
        return solve_with_words<8>(tree);
    default:
        return solve_with_words<0>(tree);
    }
}
