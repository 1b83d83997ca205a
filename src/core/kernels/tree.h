// What the simplex method works on, as plain numbers. Nothing here has a body: see
// textkin/kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin {

enum class Outcome : std::uint8_t { optimal, potential_too_large, pivot_limit, stopped };

// A node of the tree: row i is node i, column j is node first_column + j.
using Node = std::uint32_t;
inline constexpr Node kNoNode = ~Node{0};

// A problem, the tree of its present basis, and room for the work. Number: what costs and
// potentials are kept in.
template <class Number> struct Tree {
    struct Candidate {
        Node row, column;
        Number cost;
    };

    // The problem. Rows of costs begin every `stride` numbers and are read up to `width`; what lies
    // behind the last column is never the least.
    std::size_t rows, columns;
    const Number* cost;
    std::size_t stride, width;
    std::int64_t pivot_limit, potential_limit;
    bool (*stopped)(void* stop);
    void* stop;
    const float* const* ahead; // `ahead_count` times `ahead_bytes` that somebody needs next
    std::size_t ahead_count, ahead_bytes;

    // The tree. Columns' nodes start at a multiple of kLanes, and so do numbers of nodes.
    std::size_t first_column, nodes;
    std::size_t words; // of 64 bits in a set of nodes
    Number* potential;
    Node* parent;
    std::int64_t* flow;   // of the arc to the parent
    std::uint64_t* below; // the set of nodes under each node, itself included
    std::int64_t pivots;
    std::int64_t reach; // no |potential| is larger

    // Room for `words` words of a set, or as many numbers as said.
    std::uint64_t *moved, *previous;
    Node *from_path, *to_path;           // nodes
    std::int64_t* left;                  // nodes: mass that the start has not yet shipped
    Number *closed, *nearest, *arc_cost; // width, first_column, nodes
    Node* order;                         // nodes
};

} // namespace textkin
