#include "transport/memory.h"

#include "kernels/padding.h"
#include "kernels/simplex_tree.h"
#include "transport/transport.h"

#include <algorithm>
#include <bit>
#include <string>
#include <thread>

namespace textkin::transport {
namespace {

constexpr auto kWait = std::chrono::milliseconds(1);

std::uint64_t simplex_bytes(std::uint64_t nodes, std::uint64_t number) {
    const std::uint64_t words = std::bit_ceil((nodes + 63) / 64);
    const std::uint64_t sets = nodes > 512 ? (nodes + 63) / 64 : words;
    return nodes * (4 * number + 4 * sizeof(kernels::Node) + 2 * sizeof(std::int64_t)) +
           8 * sets * (nodes + 2);
}

} // namespace

std::uint64_t solver_bytes(std::size_t rows, std::size_t columns) {
    const std::uint64_t stride = kernels::padded(columns);
    const std::uint64_t nodes = kernels::padded(rows) + stride;
    const std::uint64_t narrow = 4 * rows * stride + simplex_bytes(nodes, 4);
    const std::uint64_t wide = 8 * rows * columns + simplex_bytes(nodes, 8);
    // A search of shortest paths has the flow, and a few numbers per node.
    const std::uint64_t paths = 16 * rows * columns + 64 * nodes;
    // Each of up to two shipments per node, and the potentials; a vector that grows has its old
    // memory for a moment.
    const std::uint64_t solution = 2 * nodes * (2 * sizeof(Shipment) + 2 * sizeof(std::int64_t));
    return std::max(std::max(narrow, wide), paths) + solution;
}

std::uint64_t pair_bytes(std::size_t rows, std::size_t columns, std::size_t dimension) {
    const std::uint64_t points = rows + columns + kernels::kTileRows + kernels::kTileColumns;
    const std::uint64_t costs = 4 * (rows + kernels::kTileRows) * kernels::padded(columns);
    return costs + points * (4 * kernels::padded(dimension) + 128) + solver_bytes(rows, columns);
}

void Reservation::reserve(std::uint64_t bytes, std::size_t rows, std::size_t columns) {
    base::MemoryBudget& budget = stop_.memory();
    if (bytes > budget.limit())
        throw base::MemoryLimitError(
            "Exact transport between " + std::to_string(rows) + " and " + std::to_string(columns) +
            " distinct words or points can take " + base::format_bytes(bytes) + "; the limit is " +
            base::format_bytes(budget.limit()) +
            ". Keep fewer words (max_words_per_document), or pass a larger memory=.");
    while (!budget.try_reserve(bytes)) {
        stop_.throw_if_requested();
        std::this_thread::sleep_for(kWait);
    }
    bytes_ = bytes;
}

} // namespace textkin::transport
