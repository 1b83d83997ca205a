// The exact search: what its bounds promise, and that it finds what brute force finds.
#include "check.h"
#include "corpus.h"
#include "lower_costs.h"
#include "textkin/mover.h"
#include "textkin/refiner.h"
#include "textkin/search.h"

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

// Rows in CSR form that blocks can look into.
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
    [[nodiscard]] Block block(bool as_double) const {
        if (as_double) return {indptr, columns, std::span<const double>(wide), live};
        return {indptr, columns, std::span<const float>(narrow), live};
    }
};

struct Collection {
    Table table;
    Cost cost;
    std::vector<Weights> rows;
    Bags bags;

    [[nodiscard]] Space space() const { return {table.view(), cost}; }
    [[nodiscard]] Corpus corpus(bool as_double = true) const {
        return Corpus({bags.block(as_double)}, {table.view().rows, {}, {}}, table.view().rows);
    }
};

// With duplicates, documents that share words, and one that is empty.
Collection random_collection(Random& random, Cost cost, std::size_t words, std::size_t dimension,
                             std::size_t documents, bool counts) {
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

SearchResult search(const Searcher& searcher, const Documents& queries, SearchOptions options,
                    bool record = false, const float* points = nullptr) {
    SearchResult out;
    Stop stop;
    searcher.search(queries, points, options, record, stop, out);
    return out;
}

bool same(const std::vector<Hit>& a, const std::vector<Hit>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Hit& x, const Hit& y) {
        return x.row == y.row && same_bits(x.distance, y.distance);
    });
}

bool same(const SearchResult& a, const SearchResult& b) {
    return std::equal(a.hits.begin(), a.hits.end(), b.hits.begin(), b.hits.end(),
                      [](const auto& x, const auto& y) { return same(x, y); });
}

} // namespace

TEST(search_lower_costs_never_exceed_the_costs) {
    Random random(1);
    for (const Cost cost : kCosts) {
        for (const std::size_t dimension : {1u, 2u, 50u, 333u}) {
            // Vectors of all sizes, some nearly the same, one far out, one close to nothing.
            for (const int power : {0, 60, -60, 118, -122}) {
                const bool packed = random() % 2 == 0;
                if (cost == Cost::cosine && power != 0) continue;
                Table table = corpus::random_table(random, 40, dimension, cost);
                if (cost != Cost::cosine) {
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
                const Corpus corpus({bags.block(true)}, {40, {}, {}}, 40);
                const WordCosts costs({table.view(), cost}, corpus, packed ? 1 << 20 : 0);
                std::vector<std::int32_t> words(40);
                std::iota(words.begin(), words.end(), 0);
                std::vector<std::vector<std::int16_t>> rows(
                    40, std::vector<std::int16_t>(costs.length()));
                std::vector<std::int16_t*> to;
                for (auto& row : rows) to.push_back(row.data());
                Stop stop;
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
                CHECK(tight / 1200 > 0.3); // and are of some use
            }
        }
    }
}

TEST(search_lower_costs_keep_what_is_wanted_within_their_room) {
    Random random(2);
    const Table table = corpus::random_table(random, 60, 8, Cost::euclidean);
    Bags bags;
    Weights all;
    for (std::int32_t w = 0; w < 60; ++w) all.emplace_back(w, 1.0);
    bags.add(all);
    const Corpus corpus({bags.block(false)}, {60, {}, {}}, 60);
    const auto source =
        std::make_shared<const WordCosts>(Space{table.view(), Cost::euclidean}, corpus, 1 << 20);
    LowerCosts costs(source);
    std::vector<std::int16_t> fresh(source->length());
    Stop stop;
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

TEST(search_finds_what_brute_force_finds) {
    Random random(3);
    for (int round = 0; round < 60; ++round) {
        const Cost cost = kCosts[round % 3];
        const bool counts = round % 2 == 0;
        const Collection some = random_collection(random, cost, 20 + random() % 60,
                                                  1 + random() % 20, 1 + random() % 50, counts);
        const Corpus corpus = some.corpus(!counts);
        const Searcher searcher(some.space(), corpus);
        std::vector<Weights> asked;
        for (int q = 0; q < 11; ++q)
            asked.push_back(q == 4   ? Weights{}
                            : q == 5 ? some.rows[0]
                                     : corpus::random_document(random, some.table.view().rows, 0.15,
                                                               q % 2 == 0));
        const Documents queries = corpus::documents(asked);
        std::vector<std::uint8_t> mask(corpus.size());
        std::vector<std::int64_t> without(queries.size());
        for (std::uint8_t& may : mask) may = random() % 3 != 0;
        for (std::int64_t& row : without) row = static_cast<std::int64_t>(random() % 5) - 1;
        SearchOptions options;
        options.k = std::vector<std::size_t>{1, 3, corpus.size(), 1000}[random() % 4];
        if (round % 4 == 1) options.mask = mask;
        if (round % 4 == 2) options.without = without;
        if (round % 5 == 3) options.from = without;
        options.algorithm = Algorithm::brute;
        SearchResult expected = search(searcher, queries, options);
        if (round % 3 == 0 && !expected.hits[5].empty()) { // a radius that some lie on
            options.radius = expected.hits[5][expected.hits[5].size() / 2].distance;
            expected = search(searcher, queries, options);
        }
        std::vector<double> radii(queries.size(), 0.5);
        if (round % 3 == 1) { // one of each query
            for (std::size_t q = 0; q < queries.size(); ++q) {
                std::vector<Hit>& hits = expected.hits[q];
                if (hits.empty()) continue;
                radii[q] = hits[hits.size() / 2].distance;
                std::erase_if(hits, [&](const Hit& hit) { return hit.distance > radii[q]; });
            }
            options.radii = radii;
            CHECK(same(search(searcher, queries, options), expected));
        }
        options.algorithm = Algorithm::automatic;
        for (const unsigned threads : {1u, 2u, 4u}) {
            for (const std::size_t memory :
                 {std::size_t{1} << 29, std::size_t{3000}, std::size_t{0}}) {
                options.threads = threads;
                options.memory = memory;
                const SearchResult found = search(searcher, queries, options, true);
                CHECK(same(found, expected));
                for (std::size_t q = 0; q < queries.size(); ++q) {
                    const QueryStats& stats = found.stats[q];
                    CHECK(std::accumulate(std::begin(stats.verdicts), std::end(stats.verdicts),
                                          std::int64_t{0}) ==
                          static_cast<std::int64_t>(corpus.size()));
                    std::int64_t recorded[kVerdicts] = {};
                    for (std::size_t row = 0; row < corpus.size(); ++row)
                        ++recorded[found.verdicts[q * corpus.size() + row]];
                    CHECK(std::equal(recorded, recorded + kVerdicts, stats.verdicts));
                }
            }
        }
    }
}

TEST(search_bounds_never_exceed_the_distance) {
    Random random(4);
    for (int round = 0; round < 40; ++round) {
        const Cost cost = kCosts[round % 3];
        const std::size_t words = round % 5 == 0 ? 200 : 40;
        Collection some =
            random_collection(random, cost, words, 1 + random() % 12, 40, round % 2 == 0);
        if (cost != Cost::cosine && round % 4 == 0) // equal vectors, and many equal distances
            for (float& x : some.table.data) x = std::round(x) + 0.25F;
        const Corpus corpus = some.corpus();
        const Searcher searcher(some.space(), corpus);
        const Documents queries =
            corpus::documents({corpus::random_document(random, words, 0.2, true), some.rows[1]});
        SearchOptions options;
        options.k = 2;
        const SearchResult found = search(searcher, queries, options, true);
        options.algorithm = Algorithm::brute;
        options.k = corpus.size();
        const SearchResult all = search(searcher, queries, options, true);
        for (std::size_t i = 0; i < found.values.size(); ++i)
            if (std::isfinite(all.values[i])) CHECK(found.values[i] <= all.values[i] * (1 + 1e-6));
    }
}

// The refined bound of a document that was not worth solving, by its definition.
TEST(search_refined_bounds_are_as_close_as_they_should_be) {
    Random random(10);
    for (std::size_t words = 1; words < 36; ++words) {
        const Table table = corpus::random_table(random, 120, 9, Cost::euclidean);
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
        const Documents query = corpus::documents({asked});
        const Corpus corpus({bags.block(true)}, {120, {}, {}}, 120);
        const auto source = std::make_shared<const WordCosts>(Space{table.view(), Cost::euclidean},
                                                              corpus, 1 << 20);
        LowerCosts costs(source);
        Stop stop;
        costs.prepare(table.view(), query[0].words, words, 1, stop);
        Refiner refiner;
        refiner.start(corpus, costs, Cost::euclidean, query[0], 0, words % 2 == 0 ? 1 << 20 : 0);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const double bound = refiner.bound(row, std::numeric_limits<double>::infinity());
            // What both have in common stays; then potentials from either side.
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
                        nearest[i] = std::min(
                            nearest[i], cost_of(table, Cost::euclidean, first_words[i], other));
                    sum += first[i] * nearest[i];
                }
                for (std::size_t j = 0; j < second.size(); ++j) {
                    double least = 1e9;
                    for (std::size_t i = 0; i < first.size(); ++i)
                        least = std::min(least, cost_of(table, Cost::euclidean, first_words[i],
                                                        second_words[j]) -
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

// A sharp bound lies between the refined one and the distance, and mostly close to the latter:
// vectors far apart or in heaps, masses equal or not, words in common or none, any cost.
TEST(search_sharp_bounds_are_bounds_and_sharp) {
    Random random(12);
    constexpr double far = std::numeric_limits<double>::infinity();
    double sum = 0;
    double refined_sum = 0;
    int count = 0;
    for (int round = 0; round < 36; ++round) {
        const Cost cost = kCosts[round % 3];
        constexpr std::size_t words = 300;
        Table table = corpus::random_table(random, words, round % 2 == 0 ? 3 : 40, cost);
        if (cost != Cost::cosine && round % 4 == 1) // all near each other, far from the origin
            for (float& x : table.data) x = x / 16 + 4;
        if (cost != Cost::cosine && round % 9 == 2) // many equal distances
            for (float& x : table.data) x = std::round(x);
        Bags bags;
        std::vector<Weights> rows;
        for (int i = 0; i < 12; ++i) {
            rows.push_back(corpus::random_document(random, words, 0.05 + 0.03 * i, round % 3 != 0));
            bags.add(rows.back());
        }
        const Weights asked =
            round % 5 == 0 ? rows[7] : corpus::random_document(random, words, 0.2, round % 2 != 0);
        const Documents all = corpus::documents(rows);
        const Documents query = corpus::documents({asked});
        const Corpus corpus({bags.block(true)}, {words, {}, {}}, words);
        const auto source =
            std::make_shared<const WordCosts>(Space{table.view(), cost}, corpus, 1 << 20);
        LowerCosts costs(source);
        Stop stop;
        costs.prepare(table.view(), query[0].words, words, 1, stop);
        const double slack = source->reach(table.view(), query[0]) * 1e-10;
        Refiner refiner;
        refiner.start(corpus, costs, cost, query[0], slack, 1 << 22);
        Refiner without_memory;
        without_memory.start(corpus, costs, cost, query[0], slack, 0);
        PairSolver solver;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const double distance = solver.distance(table.view(), cost, query[0], all[row], stop);
            const double sharp = refiner.sharp_bound(row, far, stop);
            const double refined = refiner.bound(row, far);
            CHECK(sharp >= 0 && sharp <= distance * (1 + 2e-6));
            CHECK(without_memory.sharp_bound(row, far, stop) <= 0);
            const double enough = refiner.sharp_bound(row, distance / 2, stop);
            CHECK(enough > std::min(distance / 2, sharp) || sharp <= distance / 2);
            CHECK(enough <= distance * (1 + 2e-6));
            // Not where words are few or the same, where 16 bits cannot tell costs apart, or where
            // words are as near to each other as only in few dimensions.
            if (sharp <= 0 || cost != Cost::euclidean || table.dimension < 40 || round % 4 == 1)
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
TEST(search_sharp_bounds_of_columns_that_share_words) {
    Random random(13);
    constexpr std::size_t words = 60;
    constexpr std::size_t columns = 200;
    for (int round = 0; round < 30; ++round) {
        const Cost cost = kCosts[round % 3];
        Table table = corpus::random_table(random, words, 1 + random() % 9, cost);
        if (cost != Cost::cosine && round % 2 == 0) // equal vectors, and many equal distances
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
        const Corpus corpus({bags.block(true)}, {columns, word_of, weights}, words);
        const Searcher searcher({table.view(), cost}, corpus);
        const Documents query = corpus::documents({asked});
        SearchOptions options;
        options.algorithm = Algorithm::brute;
        const SearchResult all = search(searcher, query, options, true);
        for (const std::size_t k : {1u, 5u, 39u}) {
            options.k = k;
            options.algorithm = Algorithm::brute;
            const SearchResult expected = search(searcher, query, options);
            options.algorithm = Algorithm::automatic;
            const SearchResult found = search(searcher, query, options, true);
            CHECK(same(found, expected));
            for (std::size_t i = 0; i < found.values.size(); ++i)
                if (std::isfinite(all.values[i]))
                    CHECK(found.values[i] <= all.values[i] * (1 + 2e-6));
        }
    }
}

// Each word of a copy of the query comes in many parts, and each part leaves a rounding error.
TEST(search_finds_the_first_copy_in_however_many_parts) {
    Random random(14);
    constexpr std::size_t words = 20;
    constexpr std::size_t parts = 2900;
    const Table table = corpus::random_table(random, words, 5, Cost::euclidean);
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
    const Corpus corpus({bags.block(true)}, {word_of.size(), word_of, {}}, words);
    const Searcher searcher({table.view(), Cost::euclidean}, corpus);
    SearchOptions options;
    options.k = 1;
    const SearchResult found = search(searcher, corpus::documents({asked}), options);
    CHECK(found.hits[0].size() == 1 && found.hits[0][0].row == 0);
}

TEST(search_numbers_that_float_cannot_hold_change_nothing) {
    const Table table{{0, 1, 1, 1, 1.02F, 1, 3, 1}, 2};
    const std::vector<double> tiny{1, 2.3355e-49, 1, 1};
    const std::vector<double> large{1e10, 1e10, 1e10, 1e10};
    for (const bool by_weight : {true, false}) {
        Bags bags;
        bags.add({{1, by_weight ? 1e12 : 1.05e-45}});
        bags.add({{2, by_weight ? 1e12 : 1.05e-45}});
        const Corpus corpus({bags.block(true)}, {4, {}, by_weight ? tiny : large}, 4);
        const Searcher searcher({table.view(), Cost::euclidean}, corpus);
        const Documents queries = corpus::documents({{{0, 1.0}}});
        SearchOptions options;
        options.k = 1;
        const SearchResult found = search(searcher, queries, options);
        options.algorithm = Algorithm::brute;
        CHECK(same(found, search(searcher, queries, options)));
        options.k = 0;
        for (const Algorithm algorithm :
             {Algorithm::automatic, Algorithm::prefetch, Algorithm::brute, Algorithm::relaxed}) {
            options.algorithm = algorithm;
            CHECK(search(searcher, queries, options).hits[0].empty());
        }
    }
}

TEST(search_one_odd_vector_does_not_stop_the_pruning) {
    Random random(11);
    for (const float odd : {1e-45F, 1e-38F, 1e-33F, 1e-10F, 1e10F}) {
        Collection some = random_collection(random, Cost::euclidean, 80, 6, 200, true);
        for (std::size_t k = 0; k < 6; ++k) some.table.data[6 * 79 + k] *= odd;
        const Corpus corpus = some.corpus();
        const Searcher searcher(some.space(), corpus);
        const Documents queries =
            corpus::documents({corpus::random_document(random, 79, 0.1, true)});
        SearchOptions options;
        options.k = 3;
        const SearchResult found = search(searcher, queries, options);
        CHECK(found.stats[0].verdicts[static_cast<std::size_t>(Verdict::solved)] < 150);
        options.algorithm = Algorithm::brute;
        CHECK(same(found, search(searcher, queries, options)));
    }
}

TEST(search_several_blocks_are_one_corpus) {
    Random random(5);
    const Collection some = random_collection(random, Cost::euclidean, 50, 6, 40, true);
    const Corpus whole = some.corpus();
    const Searcher searcher(some.space(), whole);
    const Documents queries = corpus::documents({some.rows[1], some.rows[8]});
    SearchOptions options;
    options.k = 7;
    const SearchResult expected = search(searcher, queries, options);

    // In pieces, some of them in float, one without rows.
    std::vector<Bags> pieces(5);
    std::size_t row = 0;
    for (std::size_t piece = 0; piece < 5; ++piece)
        for (std::size_t i = 0; piece != 2 && i < 10; ++i) pieces[piece].add(some.rows[row++]);
    std::vector<Block> blocks;
    for (std::size_t piece = 0; piece < 5; ++piece)
        blocks.push_back(pieces[piece].block(piece % 2 == 0));
    const Corpus parts(blocks, {50, {}, {}}, 50);
    CHECK(parts.size() == 40);
    CHECK(same(search(Searcher(some.space(), parts), queries, options), expected));

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
    const Corpus mapped({renamed.block(true)}, {52, words, {}}, 50);
    CHECK(same(search(Searcher(some.space(), mapped), queries, options), expected));

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
    const Corpus inside({weighed.block(true)}, {50, {}, {}}, 50);
    const Corpus outside({some.bags.block(false)}, {50, {}, halves}, 50);
    CHECK(same(search(Searcher(some.space(), inside), queries, options),
               search(Searcher(some.space(), outside), queries, options)));
}

TEST(search_rows_that_are_not_live_are_not_there) {
    Random random(6);
    Collection some = random_collection(random, Cost::euclidean, 30, 4, 30, true);
    const Documents queries = corpus::documents({some.rows[1]});
    SearchOptions options;
    options.k = 30;
    some.bags.live.assign(30, 1);
    some.bags.live[1] = some.bags.live[20] = 0;
    const Corpus corpus = some.corpus();
    const SearchResult found = search(Searcher(some.space(), corpus), queries, options);
    CHECK(found.hits[0].size() == 27); // one of the others is empty
    for (const Hit& hit : found.hits[0]) CHECK(hit.row != 1 && hit.row != 20 && hit.row != 3);
    CHECK(found.stats[0].verdicts[static_cast<std::size_t>(Verdict::left_out)] == 2);
    CHECK(found.stats[0].verdicts[static_cast<std::size_t>(Verdict::empty)] == 1);

    some.bags.live.assign(30, 0);
    const Corpus nothing = some.corpus();
    CHECK(search(Searcher(some.space(), nothing), queries, options).hits[0].empty());
}

TEST(search_takes_points_of_its_own) {
    Random random(7);
    const Collection some = random_collection(random, Cost::euclidean, 30, 5, 30, true);
    const Corpus corpus = some.corpus();
    const Searcher searcher(some.space(), corpus);
    const std::vector<float> points = corpus::random_table(random, 3, 5, Cost::euclidean).data;
    // Word 30 and so on are points. Twice the same names, with other points.
    for (int round = 0; round < 2; ++round) {
        std::vector<float> moved = points;
        for (float& x : moved) x += static_cast<float>(round);
        const Documents queries = corpus::documents({{{4, 1}, {30, 2}, {32, 1}}, {{31, 1}}});
        SearchOptions options;
        options.k = 30;
        const SearchResult found = search(searcher, queries, options, false, moved.data());
        Table larger = some.table;
        larger.data.insert(larger.data.end(), moved.begin(), moved.end());
        PairSolver solver;
        Stop stop;
        for (std::size_t q = 0; q < 2; ++q) {
            CHECK(found.hits[q].size() == 29);
            for (const Hit& hit : found.hits[q]) {
                const Documents document =
                    corpus::documents({some.rows[static_cast<std::size_t>(hit.row)]});
                CHECK(same_bits(hit.distance, solver.distance(larger.view(), Cost::euclidean,
                                                              queries[q], document[0], stop)));
            }
        }
    }
}

TEST(search_memory_may_change_between_searches) {
    Random random(12);
    const Collection some = random_collection(random, Cost::euclidean, 40, 6, 40, true);
    const Corpus corpus = some.corpus();
    const Searcher searcher(some.space(), corpus);
    searcher.prepare(1 << 29);
    const Documents queries = corpus::documents({some.rows[1], some.rows[2], some.rows[5]});
    SearchOptions options;
    options.k = 5;
    const SearchResult expected = search(searcher, queries, options);
    for (const std::size_t memory : {1 << 29, 1000, 1 << 20, 0, 1 << 29, 5000}) {
        options.memory = memory;
        CHECK(same(search(searcher, queries, options), expected));
    }
}

TEST(search_from_two_threads_at_once) {
    Random random(8);
    const Collection some = random_collection(random, Cost::euclidean, 40, 6, 40, true);
    const Corpus corpus = some.corpus();
    const Searcher searcher(some.space(), corpus);
    const Documents queries = corpus::documents({some.rows[1], some.rows[2], some.rows[5]});
    SearchOptions options;
    options.k = 5;
    const SearchResult expected = search(searcher, queries, options);
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> team;
        for (int t = 0; t < 3; ++t)
            team.emplace_back([&] {
                for (int i = 0; i < 10; ++i)
                    if (!same(search(searcher, queries, options), expected)) ++wrong;
            });
    }
    CHECK(wrong == 0);
}

// Bounds from elsewhere: those of all documents, in order, on several threads at once.
TEST(search_solves_candidates_as_it_would_find_them) {
    Random random(77);
    const Collection all = random_collection(random, Cost::euclidean, 60, 8, 90, true);
    const Corpus corpus = all.corpus();
    const Searcher searcher(all.space(), corpus);
    const Documents queries = corpus::documents({all.rows[0], all.rows[1], all.rows[5]});
    SearchOptions everything;
    everything.algorithm = Algorithm::brute;
    const SearchResult brute = search(searcher, queries, everything);
    const std::vector<std::int64_t> numbers{0, 1, 2};
    const std::vector<double> limits(3, std::numeric_limits<double>::infinity());
    std::vector<std::int64_t> starts{0};
    std::vector<std::int64_t> rows;
    std::vector<double> bounds;
    for (const std::vector<Hit>& hits : brute.hits) {
        for (const Hit& hit : hits) {
            rows.push_back(hit.row);
            bounds.push_back(hit.distance * 0.9);
        }
        starts.push_back(static_cast<std::int64_t>(rows.size()));
    }
    for (const unsigned threads : {1U, 2U, 7U}) {
        std::vector<std::vector<Hit>> hits;
        std::vector<std::int64_t> solved;
        Stop stop;
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
    const Collection some = random_collection(random, Cost::euclidean, 40, 6, 40, true);
    const Corpus corpus = some.corpus();
    const Searcher searcher(some.space(), corpus);
    const Documents queries = corpus::documents({some.rows[1], some.rows[2]});
    SearchOptions options;
    options.k = 5;
    const SearchResult expected = search(searcher, queries, options);
    for (const unsigned threads : {1u, 3u}) {
        for (int after = 0; after < 40; ++after) {
            int asked = 0;
            Stop stop([&](std::size_t) { return ++asked > after; }, std::chrono::nanoseconds(0));
            SearchResult out;
            options.threads = threads;
            try {
                searcher.search(queries, nullptr, options, false, stop, out);
                CHECK(same(out, expected));
            } catch (const Stopped&) {
            }
            CHECK(same(search(searcher, queries, options), expected)); // nothing is left behind
        }
    }
}

TEST(search_refuses_blocks_that_are_wrong) {
    Bags good;
    good.add({{0, 1}, {2, 3}});
    good.add({{1, 1}});
    const auto refused = [&](const Bags& bags, Columns columns = {3, {}, {}}) {
        bool thrown = false;
        try {
            const Corpus corpus({good.block(true), bags.block(true)}, columns, 3);
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
