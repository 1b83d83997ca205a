#include "search/centroids.h"

#include "base/parallel.h"
#include "base/scratch.h"
#include "kernels/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace textkin::search {
namespace {

constexpr std::size_t kGroupsAtOnce = 8; // that a thread takes
constexpr std::size_t kPrefetchDistance =
    2; // rows of the table are asked for before they are needed

constexpr std::size_t groups_of(std::size_t documents) {
    return (documents + kernels::kCentroidColumns - 1) / kernels::kCentroidColumns;
}

// One step for each word, as for a single pair.
void add_up(const transport::VectorTable& table, const transport::Document& document,
            std::vector<double>& sum) {
    sum.assign(table.dimension, 0.0);
    const kernels::Kernels& run = kernels::kernels();
    for (std::size_t i = 0; i < document.size(); ++i) {
        if (i + kPrefetchDistance < document.size()) {
            const float* next = table.row(document.words[i + kPrefetchDistance]);
            for (std::size_t k = 0; k < table.dimension; k += kernels::kLanes)
                __builtin_prefetch(next + k);
        }
        const double share =
            static_cast<double>(document.masses[i]) / static_cast<double>(document.total);
        run.centroids.add_scaled(table.row(document.words[i]), share, table.dimension, sum.data());
    }
}

struct Scratch {
    DocumentReader reader;
    std::vector<double> sum;
    Centroids group;
};

void fill_group(const transport::VectorTable& table, const DocumentRows& rows, std::size_t group,
                Scratch& scratch, double* out) {
    for (std::size_t j = 0; j < kernels::kCentroidColumns; ++j) {
        const std::size_t row = group * kernels::kCentroidColumns + j;
        const transport::Document document =
            row < rows.size() ? rows.read(row, scratch.reader) : transport::Document{};
        add_up(table, document, scratch.sum);
        for (std::size_t k = 0; k < table.dimension; ++k)
            out[k * kernels::kCentroidColumns + j] = scratch.sum[k];
    }
}

// By Jensen's inequality the squares are bounded by the square.
double finished(transport::Cost cost, double square) {
    if (cost == transport::Cost::euclidean) return std::sqrt(square);
    return cost == transport::Cost::cosine ? square / 2 : square;
}

} // namespace

void centroid_values(const Space& space, const DocumentRows& rows,
                     std::span<const transport::Document> queries, const Centroids* kept,
                     unsigned threads, base::Stop& stop, double* out) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::size_t dimension = space.table.dimension;
    const std::size_t tiles =
        (queries.size() + kernels::kCentroidRows - 1) / kernels::kCentroidRows;
    std::vector<double> points(tiles * kernels::kCentroidRows * dimension, 0.0);
    base::ScratchPool<Scratch> pool;
    base::parallel_for(
        queries.size(), threads, stop,
        [&](std::size_t q) {
            const auto scratch = pool.take();
            add_up(space.table, queries[q], scratch->sum);
            std::copy(scratch->sum.begin(), scratch->sum.end(),
                      points.begin() + static_cast<std::ptrdiff_t>(q * dimension));
        },
        false);
    const std::size_t groups = groups_of(rows.size());
    const auto measure = [&](std::size_t group, Scratch& scratch) {
        const double* others = nullptr;
        if (kept != nullptr) {
            others = kept->data() + group * dimension * kernels::kCentroidColumns;
        } else {
            scratch.group.grow(dimension * kernels::kCentroidColumns);
            fill_group(space.table, rows, group, scratch, scratch.group.data());
            others = scratch.group.data();
        }
        const std::size_t first = group * kernels::kCentroidColumns;
        const std::size_t count = std::min(kernels::kCentroidColumns, rows.size() - first);
        bool empty[kernels::kCentroidColumns];
        for (std::size_t j = 0; j < count; ++j) empty[j] = !rows.has_words(first + j);
        for (std::size_t tile = 0; tile < tiles; ++tile) {
            alignas(64) double squares[kernels::kCentroidRows * kernels::kCentroidColumns];
            kernels::kernels().centroids.centroid_squares(
                points.data() + tile * kernels::kCentroidRows * dimension, others, dimension,
                squares);
            const std::size_t last = std::min(queries.size(), (tile + 1) * kernels::kCentroidRows);
            for (std::size_t q = tile * kernels::kCentroidRows; q < last; ++q) {
                const double* mine =
                    squares + (q % kernels::kCentroidRows) * kernels::kCentroidColumns;
                for (std::size_t j = 0; j < count; ++j)
                    out[q * rows.size() + first + j] =
                        empty[j] || queries[q].empty() ? infinity : finished(space.cost, mine[j]);
            }
        }
    };
    base::parallel_for((groups + kGroupsAtOnce - 1) / kGroupsAtOnce, threads, stop,
                       [&](std::size_t item) {
                           const auto scratch = pool.take();
                           const std::size_t end = std::min(groups, (item + 1) * kGroupsAtOnce);
                           for (std::size_t group = item * kGroupsAtOnce; group < end; ++group)
                               measure(group, *scratch);
                       },
                       false);
}

std::shared_ptr<const Centroids> CentroidStore::get(const Space& space, const Corpus& corpus,
                                                    std::size_t memory, unsigned threads,
                                                    base::Stop& stop) {
    const std::size_t group_size = space.table.dimension * kernels::kCentroidColumns;
    const std::size_t groups = groups_of(corpus.size());
    if (groups > memory / sizeof(double) / group_size) return nullptr;
    {
        const std::lock_guard lock(guard_);
        if (centroids_) return centroids_;
    }
    const auto made = std::make_shared<Centroids>();
    made->grow(groups * group_size);
    const CorpusRows rows(corpus);
    base::ScratchPool<Scratch> pool;
    base::parallel_for(
        groups, threads, stop,
        [&](std::size_t group) {
            const auto scratch = pool.take();
            fill_group(space.table, rows, group, *scratch, made->data() + group * group_size);
        },
        false);
    const std::lock_guard lock(guard_);
    if (!centroids_) centroids_ = made;
    return centroids_;
}

double CentroidStore::largest_length(const transport::VectorTable& table, const Corpus& corpus) {
    {
        const std::lock_guard lock(guard_);
        if (largest_ >= 0) return largest_;
    }
    const double found = textkin::search::largest_length(table, corpus.words());
    const std::lock_guard lock(guard_);
    largest_ = found;
    return found;
}

double largest_length(const transport::VectorTable& table, std::span<const std::int32_t> words) {
    double largest = 0;
    for (const std::int32_t word : words) {
        const float* x = table.row(word);
        double square = 0;
        for (std::size_t k = 0; k < table.dimension; ++k)
            square += static_cast<double>(x[k]) * static_cast<double>(x[k]);
        largest = std::max(largest, square);
    }
    return std::sqrt(largest);
}

} // namespace textkin::search
