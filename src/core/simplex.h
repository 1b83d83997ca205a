// The primal network simplex on a dense bipartite graph.
//
// The basis is a spanning tree, rooted, with the flow of a node's tree arc kept at the node. Every
// node also knows the set of nodes below it as a bitset, which replaces the usual thread, depth and
// child lists: the join of a cycle is the first ancestor whose set holds the other end, and cutting
// or hanging a subtree is an and-not or an or along a path.
//
// No degenerate pivots, hence no cycling: supplies are multiplied by rows + 1, each row then gets
// one unit more and the last column `rows` units more. No proper part of the rows can then match a
// part of the columns, so every basic flow is positive and every pivot lowers the cost (Orden 1956;
// Charnes 1952). The plan of the original problem is read off the last tree exactly.
#pragma once

#include "textkin/transport.h"

#include <bit>
#include <cstdlib>
#include <limits>

namespace textkin {

enum class Outcome : std::uint8_t { optimal, potential_too_large, pivot_limit };

// Number: what costs and potentials are kept in.
template <class Number> class Simplex {
  public:
    Outcome solve(const Instance<Number>& instance, std::int64_t pivot_limit,
                  std::int64_t potential_limit, Stop& stop);
    void read(Solution& solution) const;
    [[nodiscard]] std::int64_t pivots() const { return pivots_; }

  private:
    using Word = std::uint64_t;
    using Node = std::int32_t;
    static constexpr Node kNone = -1;

    Instance<Number> problem_{};
    std::size_t rows_ = 0, columns_ = 0;
    std::size_t first_column_ = 0, nodes_ = 0; // columns' nodes start at a multiple of kLanes
    std::size_t words_ = 0;                    // 64-bit words in a bitset
    std::int64_t pivots_ = 0;
    std::int64_t reach_ = 0; // no |potential| is larger

    std::vector<Number> potential_;
    std::vector<Node> parent_;
    std::vector<std::int64_t> flow_; // of the arc to the parent
    std::vector<Word> below_, moved_, previous_;
    // For the start only.
    std::vector<std::int64_t> supply_, demand_;
    std::vector<Number> closed_;
    std::vector<Node> order_, open_rows_, first_arc_, next_arc_;
    std::vector<Shipment> arcs_;

    [[nodiscard]] bool is_row(Node x) const { return static_cast<std::size_t>(x) < first_column_; }
    [[nodiscard]] Node column_node(std::size_t j) const {
        return static_cast<Node>(first_column_ + j);
    }
    [[nodiscard]] std::size_t column_of(Node x) const {
        return static_cast<std::size_t>(x) - first_column_;
    }
    [[nodiscard]] Word* below(Node x) {
        return below_.data() + static_cast<std::size_t>(x) * words_;
    }
    [[nodiscard]] const Word* below(Node x) const {
        return below_.data() + static_cast<std::size_t>(x) * words_;
    }
    Number& potential(Node x) { return potential_[static_cast<std::size_t>(x)]; }
    Node& parent(Node x) { return parent_[static_cast<std::size_t>(x)]; }
    std::int64_t& flow(Node x) { return flow_[static_cast<std::size_t>(x)]; }
    [[nodiscard]] std::int64_t arc_cost(Node a, Node b) const {
        if (!is_row(a)) std::swap(a, b);
        return problem_.row(static_cast<std::size_t>(a))[column_of(b)];
    }

    void prepare(const Instance<Number>& instance);
    void start();
    [[nodiscard]] bool build_tree(std::int64_t potential_limit);
    [[nodiscard]] bool price(std::size_t& next_row, std::size_t& row, std::size_t& column,
                             std::int64_t& reduced) const;
    void pivot(std::size_t row, std::size_t column, std::int64_t reduced);
    [[nodiscard]] bool potentials_fit(std::int64_t shift, std::int64_t limit);
};

} // namespace textkin
