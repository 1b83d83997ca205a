// Bounds of many documents beside those of one pair at a time, and the searches that use them.
#include "check.h"
#include "corpus.h"
#include "textkin/bound_matrices.h"
#include "textkin/buffer.h"
#include "textkin/search.h"

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
constexpr Algorithm kRankings[] = {Algorithm::centroid, Algorithm::relaxed,
                                   Algorithm::relaxed_query, Algorithm::relaxed_document};

// Rows with a few words each; every seventh is empty.
std::vector<Weights> random_rows(std::mt19937_64& random, std::size_t count, std::size_t words) {
    std::vector<Weights> rows;
    for (std::size_t i = 0; i < count; ++i)
        rows.push_back(i % 7 == 6 ? Weights{}
                                  : corpus::random_document(random, words, 0.1, i % 2 == 0));
    return rows;
}

// Rows as blocks, with the memory that these look into.
class Store {
  public:
    Store(const std::vector<Weights>& rows, std::size_t words, std::size_t blocks) {
        const std::size_t each = (rows.size() + blocks - 1) / blocks;
        parts_.resize(blocks);
        std::vector<Block> views;
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
        corpus = std::make_unique<Corpus>(views, Columns{words, {}, {}}, words);
    }

    std::unique_ptr<Corpus> corpus;

  private:
    struct Part {
        std::vector<std::int64_t> indptr{0};
        std::vector<std::int32_t> columns;
        std::vector<double> counts;
    };
    std::vector<Part> parts_;
};

SearchResult search(const Space& space, const Corpus& corpus, const Documents& queries,
                    const SearchOptions& options) {
    SearchResult out;
    Stop stop;
    Searcher(space, corpus).search(queries, nullptr, options, true, stop, out);
    return out;
}

bool same_hits(const SearchResult& a, const SearchResult& b) {
    if (a.hits.size() != b.hits.size()) return false;
    for (std::size_t q = 0; q < a.hits.size(); ++q)
        if (!std::equal(a.hits[q].begin(), a.hits[q].end(), b.hits[q].begin(), b.hits[q].end(),
                        [](const Hit& x, const Hit& y) {
                            return x.row == y.row && same_bits(x.distance, y.distance);
                        }))
            return false;
    return true;
}

} // namespace

TEST(rankings_matrices_are_the_bounds_of_each_pair) {
    std::mt19937_64 random(3);
    for (const Cost cost : kCosts)
        for (const std::size_t dimension : {1u, 5u, 33u}) {
            constexpr std::size_t words = 90;
            Table table = corpus::random_table(random, words, dimension, cost);
            // Words at the same place.
            std::copy_n(table.data.begin(), dimension,
                        table.data.begin() + static_cast<std::ptrdiff_t>(dimension));
            const Documents a = corpus::documents(random_rows(random, 37, words));
            const Documents b = corpus::documents(random_rows(random, 50, words));
            const Space space{table.view(), cost};
            Stop stop;
            for (const Documents* other : {&a, &b}) {
                const std::size_t pairs = a.size() * other->size();
                std::vector<double> expected(3 * pairs), found(pairs);
                bound_matrices(space, a, *other, 1, stop, expected);
                const auto same = [&](const auto& value) {
                    bool equal = true;
                    for (std::size_t k = 0; k < pairs; ++k)
                        equal = equal && same_bits(found[k], value(k));
                    return equal;
                };
                for (const std::size_t memory : {std::size_t{1}, std::size_t{1} << 24})
                    for (const unsigned threads : {1u, 3u}) {
                        centroid_matrix(space, a, *other, memory, threads, stop, found);
                        CHECK(same([&](std::size_t k) { return expected[k]; }));
                        relaxed_matrix(space, a, *other, Side::query, memory, threads, stop, found);
                        CHECK(same([&](std::size_t k) { return expected[pairs + k]; }));
                        relaxed_matrix(space, a, *other, Side::document, memory, threads, stop,
                                       found);
                        CHECK(same([&](std::size_t k) { return expected[2 * pairs + k]; }));
                        relaxed_matrix(space, a, *other, Side::both, memory, threads, stop, found);
                        CHECK(same([&](std::size_t k) {
                            return std::max(expected[pairs + k], expected[2 * pairs + k]);
                        }));
                    }
            }
        }
}

TEST(rankings_vectors_of_extreme_size_take_the_scale_of_their_pair) {
    std::mt19937_64 random(5);
    for (const double size : {1e-25, 1e-12, 1e12, 1e18})
        for (const Cost cost : {Cost::euclidean, Cost::squared_euclidean}) {
            constexpr std::size_t words = 24;
            Table table = corpus::random_table(random, words, 3, cost);
            // Ordinary words among them, so that the scales of pairs differ.
            for (std::size_t k = 0; k < table.data.size() / 2; ++k)
                table.data[k] *= static_cast<float>(size);
            const Documents a = corpus::documents(random_rows(random, 12, words));
            const Space space{table.view(), cost};
            Stop stop;
            const std::size_t pairs = a.size() * a.size();
            std::vector<double> expected(3 * pairs), found(pairs);
            bound_matrices(space, a, a, 1, stop, expected);
            for (const Side side : {Side::query, Side::document}) {
                relaxed_matrix(space, a, a, side, 1 << 20, 2, stop, found);
                for (std::size_t k = 0; k < pairs; ++k)
                    CHECK(same_bits(found[k], expected[(side == Side::query ? 1 : 2) * pairs + k]));
            }
        }
}

TEST(rankings_find_the_smallest_bounds) {
    std::mt19937_64 random(7);
    for (const Cost cost : kCosts) {
        constexpr std::size_t words = 60;
        const Table table = corpus::random_table(random, words, 20, cost);
        const Space space{table.view(), cost};
        const auto rows = random_rows(random, 70, words);
        const Documents queries = corpus::documents(random_rows(random, 9, words));
        const Documents documents = corpus::documents(rows);
        const Store one(rows, words, 1), several(rows, words, 3);
        std::vector<double> bounds(3 * queries.size() * documents.size());
        Stop stop;
        bound_matrices(space, queries, documents, 1, stop, bounds);
        const std::size_t pairs = queries.size() * documents.size();
        for (const Algorithm algorithm : kRankings) {
            SearchOptions options;
            options.algorithm = algorithm;
            options.k = 8;
            const SearchResult found = search(space, *one.corpus, queries, options);
            options.threads = 3;
            options.memory = 1000; // a query at a time
            CHECK(same_hits(found, search(space, *several.corpus, queries, options)));
            for (std::size_t q = 0; q < queries.size(); ++q) {
                std::vector<std::pair<double, std::int64_t>> order;
                for (std::size_t row = 0; row < documents.size(); ++row) {
                    if (documents[row].empty() || queries[q].empty()) continue;
                    const std::size_t at = q * documents.size() + row;
                    const double here = bounds[pairs + at], there = bounds[2 * pairs + at];
                    const double value = algorithm == Algorithm::centroid        ? bounds[at]
                                         : algorithm == Algorithm::relaxed_query ? here
                                         : algorithm == Algorithm::relaxed_document
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
    for (const Cost cost : kCosts)
        for (int round = 0; round < 4; ++round) {
            constexpr std::size_t words = 60;
            const Table table = corpus::random_table(random, words, 2 + 6 * (round % 2), cost);
            const Space space{table.view(), cost};
            auto rows = random_rows(random, 90, words);
            for (std::size_t i = 0; i < 20; ++i) rows.push_back(rows[i]); // ties
            const Documents queries = corpus::documents(random_rows(random, 5, words));
            const Store store(rows, words, 2);
            SearchOptions options;
            options.k = 6;
            options.algorithm = Algorithm::brute;
            const SearchResult expected = search(space, *store.corpus, queries, options);
            options.algorithm = Algorithm::prefetch;
            SearchResult first;
            for (const unsigned threads : {1u, 2u, 4u})
                for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 24}) {
                    options.threads = threads;
                    options.memory = memory; // none: relaxed distances pair by pair
                    const SearchResult found = search(space, *store.corpus, queries, options);
                    CHECK(same_hits(found, expected));
                    if (first.hits.empty()) first = found;
                    CHECK(found.verdicts == first.verdicts);
                    CHECK(found.values == first.values);
                }
            // One query, so that threads share its documents.
            const Documents single = corpus::documents({rows[0]});
            options.threads = 3;
            const SearchResult one = search(space, *store.corpus, single, options);
            options.algorithm = Algorithm::brute;
            CHECK(same_hits(one, search(space, *store.corpus, single, options)));
        }
}

TEST(rankings_prefetch_stops_where_centroids_exclude_the_rest) {
    // Words on a line, one a document: centroids are exact.
    const Table table{{1, 2, 3, 4, 5, 6, 7, 8}, 1};
    std::vector<Weights> rows;
    for (std::int32_t w = 7; w >= 0; --w) rows.push_back({{w, 1.0}});
    const Store store(rows, 8, 1);
    SearchOptions options;
    options.algorithm = Algorithm::prefetch;
    options.k = 2;
    const Documents queries = corpus::documents({{{0, 1.0}}});
    const SearchResult found =
        search({table.view(), Cost::euclidean}, *store.corpus, queries, options);
    CHECK(found.hits[0].size() == 2);
    CHECK(found.hits[0][0].row == 7 && found.hits[0][1].row == 6);
    const auto count = [&](const SearchResult& result, Verdict verdict) {
        return result.stats[0].verdicts[static_cast<std::size_t>(verdict)];
    };
    CHECK(count(found, Verdict::solved) == 2);
    CHECK(count(found, Verdict::centroid) == 6);
    options.m = 4;
    const SearchResult fewer =
        search({table.view(), Cost::euclidean}, *store.corpus, queries, options);
    CHECK(same_hits(found, fewer));
    CHECK(count(fewer, Verdict::centroid) == 2);
    CHECK(count(fewer, Verdict::not_reached) == 4);
    options.k = 0;
    CHECK(search({table.view(), Cost::euclidean}, *store.corpus, queries, options).hits[0].empty());
}

TEST(rankings_nothing_in_nothing_out) {
    const Table table{{1, 2, 3}, 1};
    const Space space{table.view(), Cost::euclidean};
    const Store empty({}, 3, 1), wordless({{}, {}}, 3, 1);
    const Documents queries = corpus::documents({{{0, 1.0}}, {}});
    for (const Algorithm algorithm : {Algorithm::prefetch, Algorithm::centroid, Algorithm::relaxed,
                                      Algorithm::relaxed_query, Algorithm::relaxed_document})
        for (const Store* store : {&empty, &wordless}) {
            SearchOptions options;
            options.algorithm = algorithm;
            const SearchResult found = search(space, *store->corpus, queries, options);
            CHECK(found.hits.size() == 2 && found.hits[0].empty() && found.hits[1].empty());
        }
    const Documents none = corpus::documents({});
    Stop stop;
    std::vector<double> out;
    relaxed_matrix(space, none, queries, Side::both, 1 << 20, 1, stop, out);
    centroid_matrix(space, queries, none, 1 << 20, 1, stop, out);
    out.assign(4, 0);
    relaxed_matrix(space, queries, queries, Side::both, 1 << 20, 1, stop, out);
    CHECK(out == std::vector<double>{0, kInfinity, kInfinity, kInfinity});
}

TEST(rankings_can_be_stopped) {
    std::mt19937_64 random(17);
    const Table table = corpus::random_table(random, 50, 4, Cost::euclidean);
    const Space space{table.view(), Cost::euclidean};
    const auto rows = random_rows(random, 30, 50);
    const Documents documents = corpus::documents(rows);
    const Store store(rows, 50, 1);
    const Searcher searcher(space, *store.corpus);
    std::vector<double> out(documents.size() * documents.size());
    for (const unsigned threads : {1u, 3u}) {
        const auto stopped = [&](const auto& work) {
            Stop stop([](std::size_t) { return true; }, Stop::Clock::duration::zero());
            CHECK_THROWS(Stopped, work(stop));
        };
        stopped([&](Stop& stop) {
            relaxed_matrix(space, documents, documents, Side::both, 1 << 20, threads, stop, out);
        });
        stopped([&](Stop& stop) {
            centroid_matrix(space, documents, documents, 1 << 20, threads, stop, out);
        });
        for (const Algorithm algorithm :
             {Algorithm::prefetch, Algorithm::centroid, Algorithm::relaxed}) {
            SearchOptions options;
            options.algorithm = algorithm;
            options.k = 3;
            options.threads = threads;
            SearchResult found;
            stopped([&](Stop& stop) {
                searcher.search(documents, nullptr, options, false, stop, found);
            });
            Stop never; // what was left behind does no harm
            searcher.search(documents, nullptr, options, false, never, found);
            CHECK(found.hits[0].front().row == 0);
        }
    }
}

TEST(rankings_kernels_do_what_they_say) {
    const Kernels& run = kernels();
    std::mt19937_64 random(13);
    std::normal_distribution<float> normal;
    for (const std::size_t columns : {16u, 32u, 64u, 80u, 176u}) {
        constexpr std::size_t rows = 9;
        Buffer<float> table;
        table.grow(rows * columns);
        for (std::size_t k = 0; k < rows * columns; ++k) table[k] = normal(random);
        const std::vector<std::int32_t> chosen{7, 0, 3, 3, 8};
        for (const std::size_t count : {1u, 2u, 5u}) {
            std::vector<float> out(columns + 1, 99);
            run.column_minima(table.data(), columns, chosen.data(), count, columns, out.data());
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
        std::vector<double> sums(kLanes, 0.25);
        run.add_weighted_rows(table.data(), chosen.data(), weights.data(), 5, sums.data());
        for (std::size_t l = 0; l < kLanes; ++l) {
            double sum = 0.25;
            for (std::size_t k = 0; k < 5; ++k)
                sum += weights[k] *
                       static_cast<double>(table[static_cast<std::size_t>(chosen[k]) * kLanes + l]);
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
        run.add_scaled(x.data(), 0.7, dimension, sums.data());
        for (std::size_t k = 0; k < dimension; ++k) CHECK(same_bits(sums[k], expected[k]));

        std::vector<double> a(kCentroidRows * dimension), b(kCentroidColumns * dimension);
        for (double& value : a) value = static_cast<double>(normal(random));
        for (double& value : b) value = static_cast<double>(normal(random));
        double squares[kCentroidRows * kCentroidColumns];
        run.centroid_squares(a.data(), b.data(), dimension, squares);
        for (std::size_t i = 0; i < kCentroidRows; ++i)
            for (std::size_t j = 0; j < kCentroidColumns; ++j) {
                double sum = 0;
                for (std::size_t k = 0; k < dimension; ++k) {
                    const double d = a[i * dimension + k] - b[k * kCentroidColumns + j];
                    sum += d * d;
                }
                CHECK(same_bits(squares[i * kCentroidColumns + j], sum));
            }
    }
}
