// Bounds of many documents, compared with bounds of single pairs, and searches that use them.
#include "base/buffer.h"
#include "check.h"
#include "corpus.h"
#include "search/bound_matrices.h"
#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

using namespace textkin;
using corpus::kCosts;
using corpus::same_bits;
using corpus::Table;
using corpus::Weights;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr search::Algorithm kRankings[] = {search::Algorithm::centroid, search::Algorithm::relaxed,
                                           search::Algorithm::relaxed_query,
                                           search::Algorithm::relaxed_document};

// Rows with a few words each; every seventh is empty.
std::vector<Weights> random_rows(std::mt19937_64& random, std::size_t count, std::size_t words) {
    std::vector<Weights> rows;
    for (std::size_t i = 0; i < count; ++i)
        rows.push_back(i % 7 == 6 ? Weights{}
                                  : corpus::random_document(random, words, 0.1, i % 2 == 0));
    return rows;
}

// Rows as blocks, with their memory.
class Store {
  public:
    Store(const std::vector<Weights>& rows, std::size_t words, std::size_t blocks) {
        const std::size_t each = (rows.size() + blocks - 1) / blocks;
        parts_.resize(blocks);
        std::vector<search::Block> views;
        for (std::size_t b = 0; b < blocks; ++b) {
            Part& part = parts_[b];
            for (std::size_t i = b * each; i < std::min(rows.size(), (b + 1) * each); ++i) {
                for (const auto& [word, weight] : rows[i]) {
                    part.columns.push_back(word);
                    part.counts.push_back(weight);
                }
                part.indptr.push_back(static_cast<std::int64_t>(part.columns.size()));
            }
            views.push_back({part.indptr, part.columns, std::span<const double>(part.counts), {}});
        }
        corpus = std::make_unique<search::Corpus>(views, search::Columns{words, {}, {}}, words);
    }

    std::unique_ptr<search::Corpus> corpus;

  private:
    struct Part {
        std::vector<std::int64_t> indptr{0};
        std::vector<std::int32_t> columns;
        std::vector<double> counts;
    };
    std::vector<Part> parts_;
};

search::SearchResult find_all(const search::Space& space, const search::Corpus& corpus,
                              const transport::Documents& queries,
                              const search::SearchOptions& options) {
    search::SearchResult out;
    base::Stop stop;
    search::Searcher(space, corpus).search(queries, nullptr, options, true, stop, out);
    return out;
}

bool same_hits(const search::SearchResult& a, const search::SearchResult& b) {
    if (a.hits.size() != b.hits.size()) return false;
    for (std::size_t q = 0; q < a.hits.size(); ++q)
        if (!std::equal(a.hits[q].begin(), a.hits[q].end(), b.hits[q].begin(), b.hits[q].end(),
                        [](const search::Hit& x, const search::Hit& y) {
                            return x.row == y.row && same_bits(x.distance, y.distance);
                        }))
            return false;
    return true;
}

} // namespace

TEST(rankings_matrices_equal_the_bounds_of_each_pair) {
    std::mt19937_64 random(3);
    for (const transport::Cost cost : kCosts)
        for (const std::size_t dimension : {1u, 5u, 33u}) {
            constexpr std::size_t words = 90;
            Table table = corpus::random_table(random, words, dimension, cost);
            // Words with equal vectors.
            std::copy_n(table.data.begin(), dimension,
                        table.data.begin() + static_cast<std::ptrdiff_t>(dimension));
            const transport::Documents a = corpus::documents(random_rows(random, 37, words));
            const transport::Documents b = corpus::documents(random_rows(random, 50, words));
            const search::Space space{table.view(), cost};
            base::Stop stop;
            for (const transport::Documents* other : {&a, &b}) {
                const std::size_t pairs = a.size() * other->size();
                std::vector<double> expected(3 * pairs), found(pairs);
                search::bound_matrices(space, a, *other, 1, stop, expected);
                const auto same = [&](const auto& value) {
                    bool equal = true;
                    for (std::size_t k = 0; k < pairs; ++k)
                        equal = equal && same_bits(found[k], value(k));
                    return equal;
                };
                for (const std::size_t memory : {std::size_t{1}, std::size_t{1} << 24})
                    for (const unsigned threads : {1u, 3u}) {
                        search::centroid_matrix(space, a, *other, memory, threads, stop, found);
                        CHECK(same([&](std::size_t k) { return expected[k]; }));
                        search::relaxed_matrix(space, a, *other, search::Side::query, memory,
                                               threads, stop, found);
                        CHECK(same([&](std::size_t k) { return expected[pairs + k]; }));
                        search::relaxed_matrix(space, a, *other, search::Side::document, memory,
                                               threads, stop, found);
                        CHECK(same([&](std::size_t k) { return expected[2 * pairs + k]; }));
                        search::relaxed_matrix(space, a, *other, search::Side::both, memory,
                                               threads, stop, found);
                        CHECK(same([&](std::size_t k) {
                            return std::max(expected[pairs + k], expected[2 * pairs + k]);
                        }));
                    }
            }
        }
}

TEST(rankings_extreme_vectors_are_scaled_per_pair) {
    std::mt19937_64 random(5);
    for (const double size : {1e-25, 1e-12, 1e12, 1e18})
        for (const transport::Cost cost :
             {transport::Cost::euclidean, transport::Cost::squared_euclidean}) {
            constexpr std::size_t words = 24;
            Table table = corpus::random_table(random, words, 3, cost);
            // Ordinary words among them, so that the scales of pairs differ.
            for (std::size_t k = 0; k < table.data.size() / 2; ++k)
                table.data[k] *= static_cast<float>(size);
            const transport::Documents a = corpus::documents(random_rows(random, 12, words));
            const search::Space space{table.view(), cost};
            base::Stop stop;
            const std::size_t pairs = a.size() * a.size();
            std::vector<double> expected(3 * pairs), found(pairs);
            search::bound_matrices(space, a, a, 1, stop, expected);
            for (const search::Side side : {search::Side::query, search::Side::document}) {
                search::relaxed_matrix(space, a, a, side, 1 << 20, 2, stop, found);
                for (std::size_t k = 0; k < pairs; ++k)
                    CHECK(same_bits(found[k],
                                    expected[(side == search::Side::query ? 1 : 2) * pairs + k]));
            }
        }
}

TEST(rankings_find_the_smallest_bounds) {
    std::mt19937_64 random(7);
    for (const transport::Cost cost : kCosts) {
        constexpr std::size_t words = 60;
        const Table table = corpus::random_table(random, words, 20, cost);
        const search::Space space{table.view(), cost};
        const auto rows = random_rows(random, 70, words);
        const transport::Documents queries = corpus::documents(random_rows(random, 9, words));
        const transport::Documents documents = corpus::documents(rows);
        const Store one(rows, words, 1), several(rows, words, 3);
        std::vector<double> bounds(3 * queries.size() * documents.size());
        base::Stop stop;
        search::bound_matrices(space, queries, documents, 1, stop, bounds);
        const std::size_t pairs = queries.size() * documents.size();
        for (const search::Algorithm algorithm : kRankings) {
            search::SearchOptions options;
            options.algorithm = algorithm;
            options.k = 8;
            const search::SearchResult found = find_all(space, *one.corpus, queries, options);
            options.threads = 3;
            options.memory = 1000; // one query at a time
            CHECK(same_hits(found, find_all(space, *several.corpus, queries, options)));
            for (std::size_t q = 0; q < queries.size(); ++q) {
                std::vector<std::pair<double, std::int64_t>> order;
                for (std::size_t row = 0; row < documents.size(); ++row) {
                    if (documents[row].empty() || queries[q].empty()) continue;
                    const std::size_t at = q * documents.size() + row;
                    const double here = bounds[pairs + at], there = bounds[2 * pairs + at];
                    const double value = algorithm == search::Algorithm::centroid ? bounds[at]
                                         : algorithm == search::Algorithm::relaxed_query ? here
                                         : algorithm == search::Algorithm::relaxed_document
                                             ? there
                                             : std::max(here, there);
                    order.emplace_back(value, static_cast<std::int64_t>(row));
                }
                std::sort(order.begin(), order.end());
                order.resize(std::min<std::size_t>(order.size(), 8));
                CHECK(found.hits[q].size() == order.size());
                for (std::size_t k = 0; k < std::min(order.size(), found.hits[q].size()); ++k) {
                    CHECK(found.hits[q][k].row == order[k].second);
                    CHECK(same_bits(found.hits[q][k].distance, order[k].first));
                }
            }
        }
    }
}

TEST(rankings_prefetch_with_all_documents_is_brute_force) {
    std::mt19937_64 random(11);
    for (const transport::Cost cost : kCosts)
        for (int round = 0; round < 4; ++round) {
            constexpr std::size_t words = 60;
            const Table table = corpus::random_table(random, words, 2 + 6 * (round % 2), cost);
            const search::Space space{table.view(), cost};
            auto rows = random_rows(random, 90, words);
            for (std::size_t i = 0; i < 20; ++i) rows.push_back(rows[i]); // ties
            const transport::Documents queries = corpus::documents(random_rows(random, 5, words));
            const Store store(rows, words, 2);
            search::SearchOptions options;
            options.k = 6;
            options.algorithm = search::Algorithm::brute;
            const search::SearchResult expected = find_all(space, *store.corpus, queries, options);
            options.algorithm = search::Algorithm::prefetch;
            search::SearchResult first;
            for (const unsigned threads : {1u, 2u, 4u})
                for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 24}) {
                    options.threads = threads;
                    options.memory = memory; // 0: relaxed distances pair by pair
                    const search::SearchResult found =
                        find_all(space, *store.corpus, queries, options);
                    CHECK(same_hits(found, expected));
                    if (first.hits.empty()) first = found;
                    CHECK(found.verdicts == first.verdicts);
                    CHECK(found.values == first.values);
                }
            // With one query, threads share its documents.
            const transport::Documents single = corpus::documents({rows[0]});
            options.threads = 3;
            const search::SearchResult one = find_all(space, *store.corpus, single, options);
            options.algorithm = search::Algorithm::brute;
            CHECK(same_hits(one, find_all(space, *store.corpus, single, options)));
        }
}

TEST(rankings_prefetch_stops_where_centroids_exclude_the_rest) {
    // Words on a line, one per document: centroids are exact.
    const Table table{{1, 2, 3, 4, 5, 6, 7, 8}, 1};
    std::vector<Weights> rows;
    for (std::int32_t w = 7; w >= 0; --w) rows.push_back({{w, 1.0}});
    const Store store(rows, 8, 1);
    search::SearchOptions options;
    options.algorithm = search::Algorithm::prefetch;
    options.k = 2;
    const transport::Documents queries = corpus::documents({{{0, 1.0}}});
    const search::SearchResult found =
        find_all({table.view(), transport::Cost::euclidean}, *store.corpus, queries, options);
    CHECK(found.hits[0].size() == 2);
    CHECK(found.hits[0][0].row == 7 && found.hits[0][1].row == 6);
    const auto count = [&](const search::SearchResult& result, search::Verdict verdict) {
        return result.stats[0].verdicts[static_cast<std::size_t>(verdict)];
    };
    CHECK(count(found, search::Verdict::solved) == 2);
    CHECK(count(found, search::Verdict::centroid) == 6);
    options.m = 4;
    const search::SearchResult fewer =
        find_all({table.view(), transport::Cost::euclidean}, *store.corpus, queries, options);
    CHECK(same_hits(found, fewer));
    CHECK(count(fewer, search::Verdict::centroid) == 2);
    CHECK(count(fewer, search::Verdict::not_reached) == 4);
    options.k = 0;
    CHECK(find_all({table.view(), transport::Cost::euclidean}, *store.corpus, queries, options)
              .hits[0]
              .empty());
}

TEST(rankings_of_no_documents_are_empty) {
    const Table table{{1, 2, 3}, 1};
    const search::Space space{table.view(), transport::Cost::euclidean};
    const Store empty({}, 3, 1), wordless({{}, {}}, 3, 1);
    const transport::Documents queries = corpus::documents({{{0, 1.0}}, {}});
    for (const search::Algorithm algorithm :
         {search::Algorithm::prefetch, search::Algorithm::centroid, search::Algorithm::relaxed,
          search::Algorithm::relaxed_query, search::Algorithm::relaxed_document})
        for (const Store* store : {&empty, &wordless}) {
            search::SearchOptions options;
            options.algorithm = algorithm;
            const search::SearchResult found = find_all(space, *store->corpus, queries, options);
            CHECK(found.hits.size() == 2 && found.hits[0].empty() && found.hits[1].empty());
        }
    const transport::Documents none = corpus::documents({});
    base::Stop stop;
    std::vector<double> out;
    search::relaxed_matrix(space, none, queries, search::Side::both, 1 << 20, 1, stop, out);
    search::centroid_matrix(space, queries, none, 1 << 20, 1, stop, out);
    out.assign(4, 0);
    search::relaxed_matrix(space, queries, queries, search::Side::both, 1 << 20, 1, stop, out);
    CHECK(out == std::vector<double>{0, kInfinity, kInfinity, kInfinity});
}

TEST(rankings_can_be_stopped) {
    std::mt19937_64 random(17);
    const Table table = corpus::random_table(random, 50, 4, transport::Cost::euclidean);
    const search::Space space{table.view(), transport::Cost::euclidean};
    const auto rows = random_rows(random, 30, 50);
    const transport::Documents documents = corpus::documents(rows);
    const Store store(rows, 50, 1);
    const search::Searcher searcher(space, *store.corpus);
    std::vector<double> out(documents.size() * documents.size());
    for (const unsigned threads : {1u, 3u}) {
        const auto stopped = [&](const auto& work) {
            base::Stop stop([](std::size_t) { return true; }, base::Stop::Clock::duration::zero());
            CHECK_THROWS(base::Stopped, work(stop));
        };
        stopped([&](base::Stop& stop) {
            search::relaxed_matrix(space, documents, documents, search::Side::both, 1 << 20,
                                   threads, stop, out);
        });
        stopped([&](base::Stop& stop) {
            search::centroid_matrix(space, documents, documents, 1 << 20, threads, stop, out);
        });
        for (const search::Algorithm algorithm :
             {search::Algorithm::prefetch, search::Algorithm::centroid,
              search::Algorithm::relaxed}) {
            search::SearchOptions options;
            options.algorithm = algorithm;
            options.k = 3;
            options.threads = threads;
            search::SearchResult found;
            stopped([&](base::Stop& stop) {
                searcher.search(documents, nullptr, options, false, stop, found);
            });
            base::Stop never; // remains of the stopped call are harmless
            searcher.search(documents, nullptr, options, false, never, found);
            CHECK(found.hits[0].front().row == 0);
        }
    }
}

TEST(rankings_kernels_match_plain_loops) {
    const kernels::Kernels& run = kernels::kernels();
    std::mt19937_64 random(13);
    std::normal_distribution<float> normal;
    for (const std::size_t columns : {16u, 32u, 64u, 80u, 176u}) {
        constexpr std::size_t rows = 9;
        base::Buffer<float> table;
        table.grow(rows * columns);
        for (std::size_t k = 0; k < rows * columns; ++k) table[k] = normal(random);
        const std::vector<std::int32_t> chosen{7, 0, 3, 3, 8};
        for (const std::size_t count : {1u, 2u, 5u}) {
            std::vector<float> out(columns + 1, 99);
            run.bounds.column_minima(table.data(), columns, chosen.data(), count, columns,
                                     out.data());
            for (std::size_t j = 0; j < columns; ++j) {
                float least = table[7 * columns + j];
                for (std::size_t k = 0; k < count; ++k)
                    least =
                        std::min(least, table[static_cast<std::size_t>(chosen[k]) * columns + j]);
                CHECK(same_bits(out[j], least));
            }
            CHECK(out[columns] == 99);
        }
        const std::vector<double> weights{0.3, 2, 5.5, 1e-3, 7};
        std::vector<double> sums(kernels::kLanes, 0.25);
        run.centroids.add_weighted_rows(table.data(), chosen.data(), weights.data(), 5,
                                        sums.data());
        for (std::size_t l = 0; l < kernels::kLanes; ++l) {
            double sum = 0.25;
            for (std::size_t k = 0; k < 5; ++k)
                sum += weights[k] *
                       static_cast<double>(
                           table[static_cast<std::size_t>(chosen[k]) * kernels::kLanes + l]);
            CHECK(same_bits(sums[l], sum));
        }
    }
    for (const std::size_t dimension : {1u, 2u, 7u, 8u, 30u}) {
        std::vector<float> x(dimension);
        std::vector<double> sums(dimension), expected(dimension);
        for (std::size_t k = 0; k < dimension; ++k) {
            x[k] = normal(random);
            sums[k] = static_cast<double>(normal(random));
            expected[k] = sums[k] + 0.7 * static_cast<double>(x[k]);
        }
        run.centroids.add_scaled(x.data(), 0.7, dimension, sums.data());
        for (std::size_t k = 0; k < dimension; ++k) CHECK(same_bits(sums[k], expected[k]));

        std::vector<double> a(kernels::kCentroidRows * dimension),
            b(kernels::kCentroidColumns * dimension);
        for (double& value : a) value = static_cast<double>(normal(random));
        for (double& value : b) value = static_cast<double>(normal(random));
        double squares[kernels::kCentroidRows * kernels::kCentroidColumns];
        run.centroids.centroid_squares(a.data(), b.data(), dimension, squares);
        for (std::size_t i = 0; i < kernels::kCentroidRows; ++i)
            for (std::size_t j = 0; j < kernels::kCentroidColumns; ++j) {
                double sum = 0;
                for (std::size_t k = 0; k < dimension; ++k) {
                    const double d = a[i * dimension + k] - b[k * kernels::kCentroidColumns + j];
                    sum += d * d;
                }
                CHECK(same_bits(squares[i * kernels::kCentroidColumns + j], sum));
            }
    }
}
