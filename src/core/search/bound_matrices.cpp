#include "search/bound_matrices.h"

#include "kernels/padding.h"
#include "search/centroids.h"
#include "search/relaxed_bounds.h"

#include <algorithm>
#include <utility>

namespace textkin::search {
namespace {

constexpr std::size_t kMostAtOnce = 2048; // queries

std::vector<transport::Document> all_of(const transport::Documents& documents) {
    std::vector<transport::Document> out;
    for (std::size_t i = 0; i < documents.size(); ++i) out.push_back(documents[i]);
    return out;
}

// Calls part(values[i, j], values[j, i]) for each i < j, a tile at a time.
template <class Part> void for_mirrored(double* values, std::size_t size, const Part& part) {
    constexpr std::size_t tile = 32;
    for (std::size_t top = 0; top < size; top += tile)
        for (std::size_t left = top; left < size; left += tile)
            for (std::size_t i = top; i < std::min(size, top + tile); ++i)
                for (std::size_t j = std::max(left, i + 1); j < std::min(size, left + tile); ++j)
                    part(values[i * size + j], values[j * size + i]);
}

} // namespace

void centroid_matrix(const Space& space, const transport::Documents& a,
                     const transport::Documents& b, std::size_t memory, unsigned threads,
                     base::Stop& stop, std::span<double> out) {
    const MatrixRows rows(b);
    const std::vector<transport::Document> queries = all_of(a);
    const std::size_t fit = memory / sizeof(double) / space.table.dimension;
    const std::size_t at_once = std::max(fit, kernels::kCentroidRows);
    for (std::size_t first = 0; first < a.size(); first += at_once) {
        const auto some = std::span(queries).subspan(first, std::min(at_once, a.size() - first));
        centroid_values(space, rows, some, nullptr, threads, stop, out.data() + first * b.size());
    }
}

void relaxed_matrix(const Space& space, const transport::Documents& a,
                    const transport::Documents& b, Side side, std::size_t memory, unsigned threads,
                    base::Stop& stop, std::span<double> out) {
    const MatrixRows rows(b);
    const std::vector<transport::Document> queries = all_of(a);
    if (&a == &b) {
        relaxed_values(space, rows, queries, memory, threads, stop, nullptr, out.data());
        if (side == Side::both)
            for_mirrored(out.data(), a.size(),
                         [](double& x, double& y) { x = y = std::max(x, y); });
        if (side == Side::query)
            for_mirrored(out.data(), a.size(), [](double& x, double& y) { std::swap(x, y); });
        return;
    }
    if (side != Side::both) {
        relaxed_values(space, rows, queries, memory, threads, stop,
                       side == Side::query ? out.data() : nullptr,
                       side == Side::query ? nullptr : out.data());
        return;
    }
    const std::size_t columns = b.size();
    const std::size_t at_once =
        std::clamp(memory / 4 / sizeof(double) / std::max<std::size_t>(columns, 1), kernels::kLanes,
                   kMostAtOnce);
    std::vector<double> other(std::min(at_once, a.size()) * columns);
    for (std::size_t first = 0; first < a.size(); first += at_once) {
        const auto some = std::span(queries).subspan(first, std::min(at_once, a.size() - first));
        double* const mine = out.data() + first * columns;
        relaxed_values(space, rows, some, memory - memory / 4, threads, stop, other.data(), mine);
        for (std::size_t k = 0; k < some.size() * columns; ++k)
            mine[k] = std::max(mine[k], other[k]);
    }
}

} // namespace textkin::search
