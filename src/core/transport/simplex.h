// The primal network simplex on a dense bipartite graph.
//
// The basis is a spanning tree, rooted, with the flow of a node's tree arc kept at the node. Every
// node also knows the set of nodes below it as a bitset, which replaces the usual thread, depth and
// child lists: the join of a cycle is the first ancestor whose set holds the other end, and cutting
// or hanging a subtree is an and-not or an or along a path.
//
// No degenerate pivots, hence no cycling: supplies are multiplied by a power of two above the
// number of rows, each row then gets one unit more and the last column `rows` units more. No proper
// part of the rows can then match a part of the columns, so every basic flow is positive and every
// pivot lowers the cost (Orden 1956; Charnes 1952). The plan of the original problem is read off
// the last tree exactly.
//
// The least reduced costs of several rows make a list of candidates; the best of it enters, the
// others follow as long as their reduced costs, looked at again, are negative. So the matrix is
// read once for several pivots.
//
// The loops are in kernels/simplex_loops.h, compiled for each instruction set; here is the memory.
#pragma once

#include "base/buffer.h"
#include "kernels/simplex_tree.h"
#include "transport/transport.h"

namespace textkin::transport {

// Number: what costs and potentials are kept in.
template <class Number> class Simplex {
  public:
    // Throws Stopped.
    kernels::Outcome solve(const Instance<Number>& instance, std::int64_t pivot_limit,
                           std::int64_t potential_limit, bool starts_centered, base::Stop& stop);
    void read(Solution& solution) const;
    [[nodiscard]] std::int64_t pivots() const { return tree_.pivots; }

  private:
    kernels::Tree<Number> tree_{};
    int shift_ = 0; // supplies are multiplied by 2^shift_, which is more than the rows

    base::Buffer<Number> potential_, closed_, nearest_, arc_cost_;
    base::Buffer<kernels::Node> parent_, from_path_, to_path_, order_;
    base::Buffer<std::int64_t> flow_, left_;
    base::Buffer<std::uint64_t> below_, moved_, previous_;

    void prepare(const Instance<Number>& instance);
};

} // namespace textkin::transport
