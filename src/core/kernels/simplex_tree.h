// Data of the simplex method, as plain numbers. Nothing here has a body: see kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace textkin::kernels {

enum class Outcome : std::uint8_t { optimal, potential_too_large, pivot_limit, stopped };

// A node of the tree: row i is node i, column j is node first_column + j.
using Node = std::uint32_t;
inline constexpr Node kNoNode = ~Node{0};

// A problem, the tree of its current basis, and scratch memory. Number: type of costs and
// potentials.
template <class Number> struct Tree {
    struct Candidate {
        Node row, column;
        Number cost;
    };

    // The problem. Rows of costs start every `stride` numbers and are read up to `width`; numbers
    // after the last column are never the minimum.
    std::size_t rows, columns;
    const Number* cost;
    std::size_t stride, width;
    std::int64_t pivot_limit, potential_limit;
    bool (*stopped)(void* stop);
    void* stop;
    bool starts_centered; // whether the start compares costs less the means of rows and columns
    const float* const*
        prefetch; // `prefetch_count` times `prefetch_bytes` of memory that the caller needs next
    std::size_t prefetch_count, prefetch_bytes;

    // The tree. The nodes of columns start at a multiple of kLanes, and the number of nodes is one.
    std::size_t first_column, nodes;
    std::size_t words; // of 64 bits in a set of nodes
    Number* potential;
    Node* parent;
    std::int64_t* flow;   // of the arc to the parent
    std::uint64_t* below; // the set of nodes under each node, itself included
    std::int64_t pivots;
    std::int64_t reach; // no |potential| is larger

    // Scratch memory: `words` words of a set, or the number of elements in the comment.
    std::uint64_t *moved, *previous;
    Node *from_path, *to_path;           // nodes
    std::int64_t* left;                  // nodes: mass that the start has not yet shipped
    Number *closed, *nearest, *arc_cost; // width, first_column, nodes
    Node* order;                         // nodes
};

} // namespace textkin::kernels
