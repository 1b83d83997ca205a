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
//
// The least reduced costs of several rows make a list of candidates; the best of it enters, the
// others follow as long as their reduced costs, looked at again, are negative. So the matrix is
// read once for several pivots.
#pragma once

#include "textkin/buffer.h"
#include "textkin/transport.h"

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
    static constexpr std::size_t kRowsPriced = 32; // rows that make a list of candidates

    struct Candidate {
        Node row, column;
        Number cost;
    };
    // Nodes from one end of the entering arc up to, but without, the join.
    struct Path {
        Buffer<Node> nodes;
        std::size_t length = 0;
        // Of every other arc, beginning with the first, the one with the least flow: these lose.
        std::size_t narrowest = 0;
        std::int64_t least = 0;
    };

    Instance<Number> problem_{};
    std::size_t rows_ = 0, columns_ = 0;
    std::size_t first_column_ = 0, nodes_ = 0; // columns' nodes start at a multiple of kLanes
    std::size_t words_ = 0;                    // 64-bit words in a bitset
    std::int64_t pivots_ = 0;
    std::int64_t reach_ = 0; // no |potential| is larger

    Buffer<Number> potential_;
    Buffer<Node> parent_;
    Buffer<std::int64_t> flow_; // of the arc to the parent
    Buffer<Word> below_, moved_, previous_;
    Path from_, to_;
    Candidate candidates_[kRowsPriced];
    std::size_t candidate_count_ = 0;
    // For the start only.
    Buffer<std::int64_t> supply_, demand_;
    Buffer<Number> closed_, nearest_, nothing_;
    Buffer<Node> nearest_column_, order_, first_arc_, next_arc_;
    Buffer<Shipment> arcs_;
    std::size_t arc_count_ = 0;

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
    [[nodiscard]] std::int64_t reduced(const Candidate& arc) const {
        return static_cast<std::int64_t>(arc.cost) -
               static_cast<std::int64_t>(potential_[static_cast<std::size_t>(arc.row)]) -
               static_cast<std::int64_t>(potential_[static_cast<std::size_t>(arc.column)]);
    }

    void prepare(const Instance<Number>& instance);
    void start();
    [[nodiscard]] bool build_tree(std::int64_t potential_limit);
    [[nodiscard]] bool price(std::size_t& next_row);
    [[nodiscard]] std::int64_t take_best(Candidate& best);
    void climb(Node from, Node other, Path& path);
    template <std::size_t Words> void pivot(const Candidate& entering, std::int64_t value);
    [[nodiscard]] bool potentials_fit(std::int64_t shift, std::int64_t limit);
    template <std::size_t Words>
    Outcome improve(std::int64_t pivot_limit, std::int64_t potential_limit, Stop& stop);
};

} // namespace textkin
