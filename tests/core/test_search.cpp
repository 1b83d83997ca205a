// Exact search: validity of its bounds, and comparison with brute force.
#include "base/joined_threads.h"
#include "check.h"
#include "corpus.h"
#include "search/dual_bound.h"
#include "search/lower_costs.h"
#include "search/search.h"
#include "transport/pair_solver.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>

using namespace textkin;
using corpus::cost_of;
using corpus::kCosts;
using corpus::same_bits;
using corpus::Table;
using corpus::Weights;

namespace {

using Random = std::mt19937_64;

// Rows in CSR form, for blocks.
struct Bags {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    std::vector<double> wide;
    std::vector<float> narrow;
    std::vector<std::uint8_t> live;

    void add(const Weights& row) {
        for (const auto& [column, weight] : row) {
            columns.push_back(column);
            wide.push_back(weight);
            narrow.push_back(static_cast<float>(weight));
        }
        indptr.push_back(static_cast<std::int64_t>(columns.size()));
    }
    [[nodiscard]] search::Block block(bool as_double) const {
        if (as_double) return {indptr, columns, std::span<const double>(wide), live};
        return {indptr, columns, std::span<const float>(narrow), live};
    }
};

struct Collection {
    Table table;
    transport::Cost cost;
    std::vector<Weights> rows;
    Bags bags;

    [[nodiscard]] search::Space space() const { return {table.view(), cost}; }
    [[nodiscard]] search::Corpus corpus(bool as_double = true) const {
        return search::Corpus({bags.block(as_double)}, {table.view().rows, {}, {}},
                              table.view().rows);
    }
};

// With duplicates, documents that share words, and an empty document.
Collection random_collection(Random& random, transport::Cost cost, std::size_t words,
                             std::size_t dimension, std::size_t documents, bool counts) {
    Collection out{corpus::random_table(random, words, dimension, cost), cost, {}, {}};
    for (std::size_t i = 0; i < documents; ++i) {
        Weights row;
        if (i % 7 == 6)
            row = out.rows[i - 5];
        else if (i != 3)
            row = corpus::random_document(random, words, i % 5 == 0 ? 0.5 : 0.1, counts);
        out.rows.push_back(row);
        out.bags.add(row);
    }
    return out;
}

search::SearchResult find_all(const search::Searcher& searcher, const transport::Documents& queries,
                              search::SearchOptions options, bool record = false,
                              const float* points = nullptr) {
    search::SearchResult out;
    base::Stop stop;
    searcher.search(queries, points, options, record, stop, out);
    return out;
}

bool same(const std::vector<search::Hit>& a, const std::vector<search::Hit>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const search::Hit& x, const search::Hit& y) {
                          return x.row == y.row && same_bits(x.distance, y.distance);
                      });
}

bool same(const search::SearchResult& a, const search::SearchResult& b) {
    return std::equal(a.hits.begin(), a.hits.end(), b.hits.begin(), b.hits.end(),
                      [](const auto& x, const auto& y) { return same(x, y); });
}

} // namespace

TEST(search_lower_costs_never_exceed_the_costs) {
    Random random(1);
    for (const transport::Cost cost : kCosts) {
        for (const std::size_t dimension : {1u, 2u, 50u, 333u}) {
            // Vectors of all sizes, some almost equal, one very long, and one close to zero.
            for (const int power : {0, 60, -60, 118, -122}) {
                const bool packed = random() % 2 == 0;
                if (cost == transport::Cost::cosine && power != 0) continue;
                Table table = corpus::random_table(random, 40, dimension, cost);
                if (cost != transport::Cost::cosine) {
                    const std::size_t d = dimension;
                    for (std::size_t k = 0; k < d; ++k) {
                        table.data[d + k] = table.data[k] * (1 + 1e-7F);
                        table.data[2 * d + k] = table.data[k] * (1 + 1e-4F);
                        table.data[3 * d + k] *= 30;
                        table.data[4 * d + k] *= 1e-4F;
                    }
                    for (float& x : table.data) x = std::ldexp(x, power);
                }
                Bags bags;
                Weights all;
                for (std::int32_t w = 0; w < 30; ++w) all.emplace_back(w, 1.0);
                bags.add(all);
                const search::Corpus corpus({bags.block(true)}, {40, {}, {}}, 40);
                const search::WordCosts costs({table.view(), cost}, corpus, packed ? 1 << 20 : 0);
                std::vector<std::int32_t> words(40);
                std::iota(words.begin(), words.end(), 0);
                std::vector<std::vector<std::int16_t>> rows(
                    40, std::vector<std::int16_t>(costs.length()));
                std::vector<std::int16_t*> to;
                for (auto& row : rows) to.push_back(row.data());
                base::Stop stop;
                costs.compute(table.view(), words, to, 1, stop);
                double tight = 0;
                for (std::int32_t q = 0; q < 40; ++q) {
                    for (std::int32_t w = 0; w < 30; ++w) {
                        const double truth = cost_of(table, cost, q, w);
                        const double bound =
                            costs.unit() *
                            rows[static_cast<std::size_t>(q)][static_cast<std::size_t>(w)];
                        CHECK(bound <= truth);
                        CHECK(bound >= 0);
                        if (truth > 0) tight += bound / truth;
                    }
                }
                CHECK(tight / 1200 > 0.3); // and are useful
            }
        }
    }
}

TEST(search_shrinking_factor_covers_terms_of_the_second_order) {
    // The requirement in the comment of the definition, in long double and with all terms.
    constexpr long double u = 0x1p-24L;
    for (const std::size_t dimension :
         {1u, 50u, 333u, 1000u, 6000u, 20'000u, 100'000u, 1'000'000u, 1u << 23}) {
        for (const double steps : {0.0, 0.01, 0.5, 1.0}) {
            // Largest distance by which rounding to 16 bits moves a vector with one large number.
            const double moved = steps * std::sqrt(static_cast<double>(dimension)) / 65534;
            const auto r = static_cast<long double>(moved);
            const auto d = static_cast<long double>(dimension);
            const long double e = d * u / (1 - d * u) * (1 + r) + r;
            const auto s = static_cast<long double>(search::shrinking_factor(dimension, moved));
            CHECK(s * (1 + u) * (1 + u) + e + u * (2 + 2 * e) <= 1);
            CHECK(s >= 1 - e - 17 * u); // and not smaller than necessary
        }
    }
    CHECK_THROWS(std::length_error, static_cast<void>(search::shrinking_factor((1u << 23) + 1, 0)));
}

TEST(search_lower_costs_of_long_vectors_with_rounding_errors_of_the_same_sign) {
    for (const std::size_t dimension : {334u, 1000u, 7000u, 30'000u}) {
        // Row 0: the first number sets the step, and all others are rounded by half a step, up or
        // down. Rows 1 to 6: products whose sum in float is rounded in one direction for long.
        Table table{std::vector<float>(8 * dimension, 0.0F), dimension};
        const auto row = [&](std::size_t i) { return table.data.data() + i * dimension; };
        const float step = 1 / 32767.0F;
        row(0)[0] = row(1)[0] = 1;
        for (std::size_t k = 1; k < dimension; ++k) {
            row(0)[k] = (20.0F + 0.501F) * step;
            row(1)[k] = (20.0F + 0.499F) * step;
        }
        for (std::size_t i = 2; i < 8; ++i)
            std::fill_n(row(i), dimension,
                        (1 + 0x1.5p-9F * static_cast<float>(i)) /
                            std::sqrt(static_cast<float>(dimension)));
        Bags bags;
        Weights all;
        for (std::int32_t w = 0; w < 8; ++w) all.emplace_back(w, 1.0);
        bags.add(all);
        const search::Corpus corpus({bags.block(true)}, {8, {}, {}}, 8);
        for (const transport::Cost cost :
             {transport::Cost::euclidean, transport::Cost::squared_euclidean})
            for (const std::size_t bytes : {std::size_t{0}, std::size_t{1} << 30}) {
                const search::WordCosts costs({table.view(), cost}, corpus, bytes);
                CHECK((costs.bytes_of_copy() > 0) == (bytes > 0));
                std::vector<std::int32_t> words(8);
                std::iota(words.begin(), words.end(), 0);
                std::vector<std::vector<std::int16_t>> rows(
                    8, std::vector<std::int16_t>(costs.length()));
                std::vector<std::int16_t*> to;
                for (auto& out : rows) to.push_back(out.data());
                base::Stop stop;
                costs.compute(table.view(), words, to, 1, stop);
                for (std::int32_t q = 0; q < 8; ++q)
                    for (std::int32_t w = 0; w < 8; ++w)
                        CHECK(costs.unit() *
                                  rows[static_cast<std::size_t>(q)][static_cast<std::size_t>(w)] <=
                              cost_of(table, cost, q, w));
            }
    }
}

TEST(search_constructors_stop_when_asked) {
    Random random(31);
    const Collection some =
        random_collection(random, transport::Cost::euclidean, 600, 4, 600, true);
    {
        base::Stop stop([](std::size_t) { return true; }, base::Stop::Clock::duration::zero());
        CHECK_THROWS(base::Stopped,
                     search::Corpus({some.bags.block(true)}, {600, {}, {}}, 600, &stop));
    }
    const search::Corpus corpus = some.corpus();
    for (const int polls : {1, 2, 4}) { // while lengths are measured, and while vectors are packed
        int left = polls;
        base::Stop stop([&left](std::size_t) { return --left <= 0; },
                        base::Stop::Clock::duration::zero());
        CHECK_THROWS(base::Stopped, search::WordCosts(some.space(), corpus, 1 << 20, &stop));
        CHECK(left == 0);
        left = polls;
        base::Stop again([&left](std::size_t) { return --left <= 0; },
                         base::Stop::Clock::duration::zero());
        const search::Searcher searcher(some.space(), corpus);
        CHECK_THROWS(base::Stopped, searcher.prepare(1 << 20, again));
        base::Stop none;
        searcher.prepare(1 << 20, none); // and is still usable
    }
}

TEST(search_lower_costs_cache_requested_rows_within_their_capacity) {
    Random random(2);
    const Table table = corpus::random_table(random, 60, 8, transport::Cost::euclidean);
    Bags bags;
    Weights all;
    for (std::int32_t w = 0; w < 60; ++w) all.emplace_back(w, 1.0);
    bags.add(all);
    const search::Corpus corpus({bags.block(false)}, {60, {}, {}}, 60);
    const auto source = std::make_shared<const search::WordCosts>(
        search::Space{table.view(), transport::Cost::euclidean}, corpus, 1 << 20);
    search::LowerCosts costs(source);
    std::vector<std::int16_t> fresh(source->length());
    base::Stop stop;
    for (int round = 0; round < 50; ++round) {
        const std::size_t room = round < 40 ? 12 : 5; // less from then on
        std::vector<std::int32_t> words;
        for (std::size_t k = 0; k < room; ++k)
            words.push_back(static_cast<std::int32_t>(random() % (k < 3 ? 3 : 60)));
        words.push_back(words.front());
        costs.prepare(table.view(), words, room, 1, stop);
        for (const std::int32_t word : words) {
            std::int16_t* const to[] = {fresh.data()};
            source->compute(table.view(), std::span(&word, 1), to, 1, stop);
            CHECK(std::equal(fresh.begin(), fresh.end(), costs.row(word)));
        }
    }
}

TEST(search_matches_brute_force) {
    Random random(3);
    for (int round = 0; round < 60; ++round) {
        const transport::Cost cost = kCosts[round % 3];
        const bool counts = round % 2 == 0;
        const Collection some = random_collection(random, cost, 20 + random() % 60,
                                                  1 + random() % 20, 1 + random() % 50, counts);
        const search::Corpus corpus = some.corpus(!counts);
        const search::Searcher searcher(some.space(), corpus);
        std::vector<Weights> asked;
        for (int q = 0; q < 11; ++q)
            asked.push_back(q == 4   ? Weights{}
                            : q == 5 ? some.rows[0]
                                     : corpus::random_document(random, some.table.view().rows, 0.15,
                                                               q % 2 == 0));
        const transport::Documents queries = corpus::documents(asked);
        std::vector<std::uint8_t> mask(corpus.size());
        std::vector<std::int64_t> without(queries.size());
        for (std::uint8_t& may : mask) may = random() % 3 != 0;
        for (std::int64_t& row : without) row = static_cast<std::int64_t>(random() % 5) - 1;
        search::SearchOptions options;
        options.k = std::vector<std::size_t>{1, 3, corpus.size(), 1000}[random() % 4];
        if (round % 4 == 1) options.mask = mask;
        if (round % 4 == 2) options.without = without;
        if (round % 5 == 3) options.from = without;
        options.algorithm = search::Algorithm::brute;
        search::SearchResult expected = find_all(searcher, queries, options);
        if (round % 3 == 0 && !expected.hits[5].empty()) { // the exact distance of some documents
            options.radius = expected.hits[5][expected.hits[5].size() / 2].distance;
            expected = find_all(searcher, queries, options);
        }
        std::vector<double> radii(queries.size(), 0.5);
        if (round % 3 == 1) { // one of each query
            for (std::size_t q = 0; q < queries.size(); ++q) {
                std::vector<search::Hit>& hits = expected.hits[q];
                if (hits.empty()) continue;
                radii[q] = hits[hits.size() / 2].distance;
                std::erase_if(hits,
                              [&](const search::Hit& hit) { return hit.distance > radii[q]; });
            }
            options.radii = radii;
            CHECK(same(find_all(searcher, queries, options), expected));
        }
        options.algorithm = search::Algorithm::automatic;
        for (const unsigned threads : {1u, 2u, 4u}) {
            for (const std::size_t memory :
                 {std::size_t{1} << 29, std::size_t{3000}, std::size_t{0}}) {
                options.threads = threads;
                options.memory = memory;
                const search::SearchResult found = find_all(searcher, queries, options, true);
                CHECK(same(found, expected));
                for (std::size_t q = 0; q < queries.size(); ++q) {
                    const search::QueryStats& stats = found.stats[q];
                    CHECK(std::accumulate(std::begin(stats.verdicts), std::end(stats.verdicts),
                                          std::int64_t{0}) ==
                          static_cast<std::int64_t>(corpus.size()));
                    std::int64_t recorded[search::kVerdicts] = {};
                    for (std::size_t row = 0; row < corpus.size(); ++row)
                        ++recorded[found.verdicts[q * corpus.size() + row]];
                    CHECK(std::equal(recorded, recorded + search::kVerdicts, stats.verdicts));
                }
            }
        }
    }
}

TEST(search_bounds_never_exceed_the_distance) {
    Random random(4);
    for (int round = 0; round < 40; ++round) {
        const transport::Cost cost = kCosts[round % 3];
        const std::size_t words = round % 5 == 0 ? 200 : 40;
        Collection some =
            random_collection(random, cost, words, 1 + random() % 12, 40, round % 2 == 0);
        if (cost != transport::Cost::cosine &&
            round % 4 == 0) // equal vectors, and many equal distances
            for (float& x : some.table.data) x = std::round(x) + 0.25F;
        const search::Corpus corpus = some.corpus();
        const search::Searcher searcher(some.space(), corpus);
        const transport::Documents queries =
            corpus::documents({corpus::random_document(random, words, 0.2, true), some.rows[1]});
        search::SearchOptions options;
        options.k = 2;
        const search::SearchResult found = find_all(searcher, queries, options, true);
        options.algorithm = search::Algorithm::brute;
        options.k = corpus.size();
        const search::SearchResult all = find_all(searcher, queries, options, true);
        for (std::size_t i = 0; i < found.values.size(); ++i)
            if (std::isfinite(all.values[i])) CHECK(found.values[i] <= all.values[i] * (1 + 1e-6));
    }
}

// Refined bound of a document that was not solved, by its definition.
TEST(search_refined_bounds_match_their_definition) {
    Random random(10);
    for (std::size_t words = 1; words < 36; ++words) {
        const Table table = corpus::random_table(random, 120, 9, transport::Cost::euclidean);
        Bags bags;
        std::vector<Weights> rows;
        for (int i = 0; i < 30; ++i) {
            rows.push_back(corpus::random_document(random, 120, 0.1, true));
            bags.add(rows.back());
        }
        Weights asked;
        for (std::size_t j = 0; j < words; ++j)
            asked.emplace_back(static_cast<std::int32_t>(3 * j + random() % 3),
                               1.0 + static_cast<double>(j % 3));
        const transport::Documents query = corpus::documents({asked});
        const search::Corpus corpus({bags.block(true)}, {120, {}, {}}, 120);
        const auto source = std::make_shared<const search::WordCosts>(
            search::Space{table.view(), transport::Cost::euclidean}, corpus, 1 << 20);
        search::LowerCosts costs(source);
        base::Stop stop;
        costs.prepare(table.view(), query[0].words, words, 1, stop);
        search::Refiner refiner;
        refiner.start(corpus, costs, transport::Cost::euclidean, query[0], 0,
                      words % 2 == 0 ? 1 << 20 : 0);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const double bound = refiner.bound(row, std::numeric_limits<double>::infinity());
            // Common mass stays; then potentials from either side.
            std::vector<double> a;
            std::vector<double> b;
            std::vector<std::int32_t> a_words;
            std::vector<std::int32_t> b_words;
            double a_total = 0;
            double b_total = 0;
            for (const auto& [word, weight] : rows[row]) a_total += weight;
            for (const auto& [word, weight] : asked) b_total += weight;
            const auto mass_of = [](const Weights& weights, std::int32_t word, double total) {
                for (const auto& [other, weight] : weights)
                    if (other == word) return weight / total;
                return 0.0;
            };
            for (std::int32_t word = 0; word < 120; ++word) {
                const double left =
                    mass_of(rows[row], word, a_total) - mass_of(asked, word, b_total);
                if (left > 1e-12) {
                    a.push_back(left);
                    a_words.push_back(word);
                } else if (left < -1e-12) {
                    b.push_back(-left);
                    b_words.push_back(word);
                }
            }
            const auto from = [&](const auto& first, const auto& first_words, const auto& second,
                                  const auto& second_words) {
                std::vector<double> nearest(first.size(), 1e9);
                double sum = 0;
                for (std::size_t i = 0; i < first.size(); ++i) {
                    for (const std::int32_t other : second_words)
                        nearest[i] = std::min(nearest[i], cost_of(table, transport::Cost::euclidean,
                                                                  first_words[i], other));
                    sum += first[i] * nearest[i];
                }
                for (std::size_t j = 0; j < second.size(); ++j) {
                    double least = 1e9;
                    for (std::size_t i = 0; i < first.size(); ++i)
                        least = std::min(least, cost_of(table, transport::Cost::euclidean,
                                                        first_words[i], second_words[j]) -
                                                    nearest[i]);
                    sum += second[j] * least;
                }
                return sum;
            };
            const double truth =
                std::max(from(a, a_words, b, b_words), from(b, b_words, a, a_words));
            CHECK(bound <= truth * (1 + 1e-9));
            CHECK(bound >= truth * (1 - 2e-3));
        }
    }
}

// A Sinkhorn bound is between the refined bound and the distance, usually close to the distance:
// vectors far apart or in heaps, masses equal or not, words in common or none, any cost.
TEST(search_sinkhorn_bounds_are_tight_lower_bounds) {
    Random random(12);
    constexpr double far = std::numeric_limits<double>::infinity();
    double sum = 0;
    double refined_sum = 0;
    int count = 0;
    for (int round = 0; round < 36; ++round) {
        const transport::Cost cost = kCosts[round % 3];
        constexpr std::size_t words = 300;
        Table table = corpus::random_table(random, words, round % 2 == 0 ? 3 : 40, cost);
        if (cost != transport::Cost::cosine && round % 4 == 1) // all similar, far from the origin
            for (float& x : table.data) x = x / 16 + 4;
        if (cost != transport::Cost::cosine && round % 9 == 2) // many equal distances
            for (float& x : table.data) x = std::round(x);
        Bags bags;
        std::vector<Weights> rows;
        for (int i = 0; i < 12; ++i) {
            rows.push_back(corpus::random_document(random, words, 0.05 + 0.03 * i, round % 3 != 0));
            bags.add(rows.back());
        }
        const Weights asked =
            round % 5 == 0 ? rows[7] : corpus::random_document(random, words, 0.2, round % 2 != 0);
        const transport::Documents all = corpus::documents(rows);
        const transport::Documents query = corpus::documents({asked});
        const search::Corpus corpus({bags.block(true)}, {words, {}, {}}, words);
        const auto source = std::make_shared<const search::WordCosts>(
            search::Space{table.view(), cost}, corpus, 1 << 20);
        search::LowerCosts costs(source);
        base::Stop stop;
        costs.prepare(table.view(), query[0].words, words, 1, stop);
        const double slack = source->reach(table.view(), query[0]) * 1e-10;
        search::Refiner refiner;
        refiner.start(corpus, costs, cost, query[0], slack, 1 << 22);
        search::Refiner without_memory;
        without_memory.start(corpus, costs, cost, query[0], slack, 0);
        transport::PairSolver solver;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const double distance = solver.distance(table.view(), cost, query[0], all[row], stop);
            const double sharp = refiner.sinkhorn_bound(row, far, stop);
            const double refined = refiner.bound(row, far);
            CHECK(sharp >= 0 && sharp <= distance * (1 + 2e-6));
            CHECK(without_memory.sinkhorn_bound(row, far, stop) <= 0);
            const double enough = refiner.sinkhorn_bound(row, distance / 2, stop);
            CHECK(enough > std::min(distance / 2, sharp) || sharp <= distance / 2);
            CHECK(enough <= distance * (1 + 2e-6));
            // Not where words are few or the same, where 16 bits cannot tell costs apart, or where
            // words are as near to each other as only in few dimensions.
            if (sharp <= 0 || cost != transport::Cost::euclidean || table.dimension < 40 ||
                round % 4 == 1)
                continue;
            sum += sharp / distance;
            refined_sum += refined / distance;
            ++count;
        }
    }
    CHECK(count > 30);
    CHECK(sum / count > 0.995);
    CHECK(refined_sum / count < 0.98);
}

// Long documents whose words are split over columns, of which some have no vector and some no
// weight: copies of the query cancel but for rounding errors, on either side.
TEST(search_sinkhorn_bounds_of_columns_that_share_words) {
    Random random(13);
    constexpr std::size_t words = 60;
    constexpr std::size_t columns = 200;
    for (int round = 0; round < 30; ++round) {
        const transport::Cost cost = kCosts[round % 3];
        Table table = corpus::random_table(random, words, 1 + random() % 9, cost);
        if (cost != transport::Cost::cosine &&
            round % 2 == 0) // equal vectors, and many equal distances
            for (float& x : table.data) x = std::round(x);
        std::vector<std::int32_t> word_of(columns);
        std::vector<double> weights(columns);
        for (std::size_t c = 0; c < columns; ++c) {
            word_of[c] = c % 20 == 7 ? -1 : static_cast<std::int32_t>(random() % words);
            const double any = static_cast<double>(random() % 10) / 7;
            weights[c] = round % 5 < 2 ? 1 : any;
        }
        Weights parts;
        for (std::size_t c = 0; c < columns; ++c)
            if (random() % 4 != 0)
                parts.emplace_back(static_cast<std::int32_t>(c),
                                   static_cast<double>(1 + random() % 5));
        std::vector<double> sums(words, 0.0);
        for (const auto& [column, count] : parts) {
            const auto c = static_cast<std::size_t>(column);
            if (word_of[c] >= 0) sums[static_cast<std::size_t>(word_of[c])] += count * weights[c];
        }
        Weights asked;
        for (std::size_t w = 0; w < words; ++w)
            if (sums[w] > 0) asked.emplace_back(static_cast<std::int32_t>(w), sums[w]);
        Bags bags;
        for (int i = 0; i < 40; ++i) {
            Weights row = parts;
            if (i % 4 == 0) row = corpus::random_document(random, columns, 0.5, i % 8 == 0);
            if (i % 4 > 1) row[random() % row.size()].second += i % 4 == 2 ? 1 : 1e-12;
            for (auto& entry : row) entry.second *= i % 3 == 0 ? 3 : 1;
            bags.add(row);
            bags.live.push_back(i % 9 == 5 ? 0 : 1);
        }
        const search::Corpus corpus({bags.block(true)}, {columns, word_of, weights}, words);
        const search::Searcher searcher({table.view(), cost}, corpus);
        const transport::Documents query = corpus::documents({asked});
        search::SearchOptions options;
        options.algorithm = search::Algorithm::brute;
        const search::SearchResult all = find_all(searcher, query, options, true);
        for (const std::size_t k : {1u, 5u, 39u}) {
            options.k = k;
            options.algorithm = search::Algorithm::brute;
            const search::SearchResult expected = find_all(searcher, query, options);
            options.algorithm = search::Algorithm::automatic;
            const search::SearchResult found = find_all(searcher, query, options, true);
            CHECK(same(found, expected));
            for (std::size_t i = 0; i < found.values.size(); ++i)
                if (std::isfinite(all.values[i]))
                    CHECK(found.values[i] <= all.values[i] * (1 + 2e-6));
        }
    }
}

// Each word of a copy of the query comes in many parts, and each part leaves a rounding error.
TEST(search_finds_the_first_copy_with_any_number_of_parts) {
    Random random(14);
    constexpr std::size_t words = 20;
    constexpr std::size_t parts = 2900;
    const Table table = corpus::random_table(random, words, 5, transport::Cost::euclidean);
    std::vector<std::int32_t> word_of(words * parts);
    Weights split;
    Weights whole;
    for (std::size_t c = 0; c < word_of.size(); ++c) {
        word_of[c] = static_cast<std::int32_t>(c / parts);
        split.emplace_back(static_cast<std::int32_t>(c), 1.0);
        if (c % parts == 0) whole.emplace_back(static_cast<std::int32_t>(c), 1.0);
    }
    Weights asked;
    for (std::size_t w = 0; w < words; ++w)
        asked.emplace_back(static_cast<std::int32_t>(w), static_cast<double>(parts));
    Bags bags;
    bags.add(split);
    bags.add(whole);
    const search::Corpus corpus({bags.block(true)}, {word_of.size(), word_of, {}}, words);
    const search::Searcher searcher({table.view(), transport::Cost::euclidean}, corpus);
    search::SearchOptions options;
    options.k = 1;
    const search::SearchResult found = find_all(searcher, corpus::documents({asked}), options);
    CHECK(found.hits[0].size() == 1 && found.hits[0][0].row == 0);
}

TEST(search_numbers_beyond_float_change_no_result) {
    const Table table{{0, 1, 1, 1, 1.02F, 1, 3, 1}, 2};
    const std::vector<double> tiny{1, 2.3355e-49, 1, 1};
    const std::vector<double> large{1e10, 1e10, 1e10, 1e10};
    for (const bool by_weight : {true, false}) {
        Bags bags;
        bags.add({{1, by_weight ? 1e12 : 1.05e-45}});
        bags.add({{2, by_weight ? 1e12 : 1.05e-45}});
        const search::Corpus corpus({bags.block(true)}, {4, {}, by_weight ? tiny : large}, 4);
        const search::Searcher searcher({table.view(), transport::Cost::euclidean}, corpus);
        const transport::Documents queries = corpus::documents({{{0, 1.0}}});
        search::SearchOptions options;
        options.k = 1;
        const search::SearchResult found = find_all(searcher, queries, options);
        options.algorithm = search::Algorithm::brute;
        CHECK(same(found, find_all(searcher, queries, options)));
        options.k = 0;
        for (const search::Algorithm algorithm :
             {search::Algorithm::automatic, search::Algorithm::prefetch, search::Algorithm::brute,
              search::Algorithm::relaxed}) {
            options.algorithm = algorithm;
            CHECK(find_all(searcher, queries, options).hits[0].empty());
        }
    }
}

TEST(search_one_outlier_vector_does_not_prevent_pruning) {
    Random random(11);
    for (const float odd : {1e-45F, 1e-38F, 1e-33F, 1e-10F, 1e10F}) {
        Collection some = random_collection(random, transport::Cost::euclidean, 80, 6, 200, true);
        for (std::size_t k = 0; k < 6; ++k) some.table.data[6 * 79 + k] *= odd;
        const search::Corpus corpus = some.corpus();
        const search::Searcher searcher(some.space(), corpus);
        const transport::Documents queries =
            corpus::documents({corpus::random_document(random, 79, 0.1, true)});
        search::SearchOptions options;
        options.k = 3;
        const search::SearchResult found = find_all(searcher, queries, options);
        CHECK(found.stats[0].verdicts[static_cast<std::size_t>(search::Verdict::solved)] < 150);
        options.algorithm = search::Algorithm::brute;
        CHECK(same(found, find_all(searcher, queries, options)));
    }
}

TEST(search_several_blocks_are_one_corpus) {
    Random random(5);
    const Collection some = random_collection(random, transport::Cost::euclidean, 50, 6, 40, true);
    const search::Corpus whole = some.corpus();
    const search::Searcher searcher(some.space(), whole);
    const transport::Documents queries = corpus::documents({some.rows[1], some.rows[8]});
    search::SearchOptions options;
    options.k = 7;
    const search::SearchResult expected = find_all(searcher, queries, options);

    // In pieces, some of them in float, one without rows.
    std::vector<Bags> pieces(5);
    std::size_t row = 0;
    for (std::size_t piece = 0; piece < 5; ++piece)
        for (std::size_t i = 0; piece != 2 && i < 10; ++i) pieces[piece].add(some.rows[row++]);
    std::vector<search::Block> blocks;
    for (std::size_t piece = 0; piece < 5; ++piece)
        blocks.push_back(pieces[piece].block(piece % 2 == 0));
    const search::Corpus parts(blocks, {50, {}, {}}, 50);
    CHECK(parts.size() == 40);
    CHECK(same(find_all(search::Searcher(some.space(), parts), queries, options), expected));

    // Under other column numbers: backwards, with a column that has no word, and two that share
    // one.
    std::vector<std::int32_t> words(52);
    for (std::int32_t c = 0; c < 50; ++c) words[static_cast<std::size_t>(c)] = 49 - c;
    words[50] = -1;
    words[51] = 0;
    Bags renamed;
    for (const Weights& weights : some.rows) {
        Weights moved{{50, 9.0}};
        for (const auto& [word, weight] : weights) {
            if (word == 0 && weight > 1) moved.emplace_back(51, 1.0);
            moved.emplace_back(49 - word, word == 0 && weight > 1 ? weight - 1 : weight);
        }
        renamed.add(moved);
    }
    const search::Corpus mapped({renamed.block(true)}, {52, words, {}}, 50);
    CHECK(same(find_all(search::Searcher(some.space(), mapped), queries, options), expected));

    // Weights of columns are as good as weights in the bags.
    std::vector<double> halves(50);
    for (double& weight : halves) weight = 0.25 + static_cast<double>(random() % 4);
    Bags weighed;
    std::vector<Weights> asked;
    for (const Weights& weights : some.rows) {
        Weights heavier = weights;
        for (auto& [word, weight] : heavier) weight *= halves[static_cast<std::size_t>(word)];
        weighed.add(heavier);
    }
    const search::Corpus inside({weighed.block(true)}, {50, {}, {}}, 50);
    const search::Corpus outside({some.bags.block(false)}, {50, {}, halves}, 50);
    CHECK(same(find_all(search::Searcher(some.space(), inside), queries, options),
               find_all(search::Searcher(some.space(), outside), queries, options)));
}

TEST(search_ignores_deleted_rows) {
    Random random(6);
    Collection some = random_collection(random, transport::Cost::euclidean, 30, 4, 30, true);
    const transport::Documents queries = corpus::documents({some.rows[1]});
    search::SearchOptions options;
    options.k = 30;
    some.bags.live.assign(30, 1);
    some.bags.live[1] = some.bags.live[20] = 0;
    const search::Corpus corpus = some.corpus();
    const search::SearchResult found =
        find_all(search::Searcher(some.space(), corpus), queries, options);
    CHECK(found.hits[0].size() == 27); // one of the others is empty
    for (const search::Hit& hit : found.hits[0])
        CHECK(hit.row != 1 && hit.row != 20 && hit.row != 3);
    CHECK(found.stats[0].verdicts[static_cast<std::size_t>(search::Verdict::left_out)] == 2);
    CHECK(found.stats[0].verdicts[static_cast<std::size_t>(search::Verdict::empty)] == 1);

    some.bags.live.assign(30, 0);
    const search::Corpus nothing = some.corpus();
    CHECK(find_all(search::Searcher(some.space(), nothing), queries, options).hits[0].empty());
}

TEST(search_accepts_custom_points) {
    Random random(7);
    const Collection some = random_collection(random, transport::Cost::euclidean, 30, 5, 30, true);
    const search::Corpus corpus = some.corpus();
    const search::Searcher searcher(some.space(), corpus);
    const std::vector<float> points =
        corpus::random_table(random, 3, 5, transport::Cost::euclidean).data;
    // Word 30 and so on are points. Twice the same names, with other points.
    for (int round = 0; round < 2; ++round) {
        std::vector<float> moved = points;
        for (float& x : moved) x += static_cast<float>(round);
        const transport::Documents queries =
            corpus::documents({{{4, 1}, {30, 2}, {32, 1}}, {{31, 1}}});
        search::SearchOptions options;
        options.k = 30;
        const search::SearchResult found =
            find_all(searcher, queries, options, false, moved.data());
        Table larger = some.table;
        larger.data.insert(larger.data.end(), moved.begin(), moved.end());
        transport::PairSolver solver;
        base::Stop stop;
        for (std::size_t q = 0; q < 2; ++q) {
            CHECK(found.hits[q].size() == 29);
            for (const search::Hit& hit : found.hits[q]) {
                const transport::Documents document =
                    corpus::documents({some.rows[static_cast<std::size_t>(hit.row)]});
                CHECK(same_bits(hit.distance,
                                solver.distance(larger.view(), transport::Cost::euclidean,
                                                queries[q], document[0], stop)));
            }
        }
    }
}

TEST(search_memory_may_change_between_searches) {
    Random random(12);
    const Collection some = random_collection(random, transport::Cost::euclidean, 40, 6, 40, true);
    const search::Corpus corpus = some.corpus();
    const search::Searcher searcher(some.space(), corpus);
    base::Stop stop;
    searcher.prepare(1 << 29, stop);
    const transport::Documents queries =
        corpus::documents({some.rows[1], some.rows[2], some.rows[5]});
    search::SearchOptions options;
    options.k = 5;
    const search::SearchResult expected = find_all(searcher, queries, options);
    for (const std::size_t memory : {1 << 29, 1000, 1 << 20, 0, 1 << 29, 5000}) {
        options.memory = memory;
        CHECK(same(find_all(searcher, queries, options), expected));
    }
}

TEST(search_from_two_threads_at_once) {
    Random random(8);
    const Collection some = random_collection(random, transport::Cost::euclidean, 40, 6, 40, true);
    const search::Corpus corpus = some.corpus();
    const search::Searcher searcher(some.space(), corpus);
    const transport::Documents queries =
        corpus::documents({some.rows[1], some.rows[2], some.rows[5]});
    search::SearchOptions options;
    options.k = 5;
    const search::SearchResult expected = find_all(searcher, queries, options);
    std::atomic<int> wrong{0};
    {
        base::JoinedThreads team;
        for (int t = 0; t < 3; ++t)
            team.start([&] {
                for (int i = 0; i < 10; ++i)
                    if (!same(find_all(searcher, queries, options), expected)) ++wrong;
            });
    }
    CHECK(wrong == 0);
}

// External bounds of all documents, in order, on several threads.
TEST(search_of_candidates_matches_the_full_search) {
    Random random(77);
    const Collection all = random_collection(random, transport::Cost::euclidean, 60, 8, 90, true);
    const search::Corpus corpus = all.corpus();
    const search::Searcher searcher(all.space(), corpus);
    const transport::Documents queries = corpus::documents({all.rows[0], all.rows[1], all.rows[5]});
    search::SearchOptions everything;
    everything.algorithm = search::Algorithm::brute;
    const search::SearchResult brute = find_all(searcher, queries, everything);
    const std::vector<std::int64_t> numbers{0, 1, 2};
    const std::vector<double> limits(3, std::numeric_limits<double>::infinity());
    std::vector<std::int64_t> starts{0};
    std::vector<std::int64_t> rows;
    std::vector<double> bounds;
    for (const std::vector<search::Hit>& hits : brute.hits) {
        for (const search::Hit& hit : hits) {
            rows.push_back(hit.row);
            bounds.push_back(hit.distance * 0.9);
        }
        starts.push_back(static_cast<std::int64_t>(rows.size()));
    }
    for (const unsigned threads : {1U, 2U, 7U}) {
        std::vector<std::vector<search::Hit>> hits;
        std::vector<std::int64_t> solved;
        base::Stop stop;
        searcher.solve(queries, {numbers, starts, rows, bounds, limits}, 5, threads, stop, hits,
                       solved);
        CHECK(hits.size() == 3);
        for (std::size_t q = 0; q < 3; ++q) {
            CHECK(hits[q].size() == 5);
            CHECK(solved[q] >= 5 && solved[q] <= starts[q + 1] - starts[q]);
            for (std::size_t i = 0; i < 5; ++i) {
                CHECK(hits[q][i].row == brute.hits[q][i].row);
                CHECK(same_bits(hits[q][i].distance, brute.hits[q][i].distance));
            }
        }
    }
}

TEST(search_stops_when_asked) {
    Random random(9);
    const Collection some = random_collection(random, transport::Cost::euclidean, 40, 6, 40, true);
    const search::Corpus corpus = some.corpus();
    const search::Searcher searcher(some.space(), corpus);
    const transport::Documents queries = corpus::documents({some.rows[1], some.rows[2]});
    search::SearchOptions options;
    options.k = 5;
    const search::SearchResult expected = find_all(searcher, queries, options);
    for (const unsigned threads : {1u, 3u}) {
        for (int after = 0; after < 40; ++after) {
            int asked = 0;
            base::Stop stop([&](std::size_t) { return ++asked > after; },
                            std::chrono::nanoseconds(0));
            search::SearchResult out;
            options.threads = threads;
            try {
                searcher.search(queries, nullptr, options, false, stop, out);
                CHECK(same(out, expected));
            } catch (const base::Stopped&) {
            }
            CHECK(same(find_all(searcher, queries, options), expected)); // no state remains
        }
    }
}

TEST(search_invalid_blocks_throw) {
    Bags good;
    good.add({{0, 1}, {2, 3}});
    good.add({{1, 1}});
    const auto refused = [&](const Bags& bags, search::Columns columns = {3, {}, {}}) {
        bool thrown = false;
        try {
            const search::Corpus corpus({good.block(true), bags.block(true)}, columns, 3);
        } catch (const std::invalid_argument&) {
            thrown = true;
        }
        return thrown;
    };
    CHECK(!refused(good));
    Bags bad = good;
    bad.columns[1] = 3;
    CHECK(refused(bad));
    bad.columns[1] = -1;
    CHECK(refused(bad));
    bad = good;
    bad.wide[0] = -1;
    CHECK(refused(bad));
    bad.wide[0] = std::numeric_limits<double>::quiet_NaN();
    CHECK(refused(bad));
    bad.wide[0] = std::numeric_limits<double>::infinity();
    CHECK(refused(bad));
    bad = good;
    bad.wide[0] = bad.wide[1] = 1e308 * 1.7;
    CHECK(refused(bad));
    bad = good;
    bad.indptr[1] = 9;
    CHECK(refused(bad));
    bad.indptr[1] = -1;
    CHECK(refused(bad));
    bad = good;
    bad.indptr.back() = 2;
    CHECK(refused(bad));
    bad = good;
    bad.live = {1};
    CHECK(refused(bad));
    const std::vector<std::int32_t> beyond{0, 1, 3};
    const std::vector<std::int32_t> few{0, 1};
    const std::vector<double> negative{1, 1, -1};
    CHECK(refused(good, {3, beyond, {}}));
    CHECK(refused(good, {3, few, {}}));
    CHECK(refused(good, {3, {}, negative}));
    CHECK(refused(good, {4, {}, {}}));
}
