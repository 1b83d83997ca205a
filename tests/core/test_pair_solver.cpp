#include "check.h"
#include "corpus.h"
#include "explanations.h"
#include "transport/pair_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace textkin;
using corpus::cost_of;
using corpus::kCosts;
using corpus::largest_cost;
using corpus::same_bits;
using corpus::Table;
using corpus::Weights;
using explanations::check_explanation;
using explanations::explain;

namespace {

double distance(const Table& table, transport::Cost cost, const transport::Document& a,
                const transport::Document& b) {
    transport::PairSolver solver;
    base::Stop stop;
    return solver.distance(table.view(), cost, a, b, stop);
}

double distance(const Table& table, transport::Cost cost, const Weights& a, const Weights& b) {
    const transport::Documents both = corpus::documents({a, b});
    return distance(table, cost, both[0], both[1]);
}

// Counts on both sides, on one side, or on neither, depending on the round.
transport::Documents random_pair(std::mt19937_64& random, std::size_t words, double share,
                                 int round) {
    return corpus::documents({corpus::random_document(random, words, share, round % 2 == 0),
                              corpus::random_document(random, words, share, round % 3 == 0)});
}

// One example worked out by hand: distance, the three bounds and the moves as
// {source position, target position, mass, cost}.
struct Example {
    Table table;
    Weights a, b;
    double distance, centroid, source, target;
    std::vector<transport::Move> moves;
};

void check_example(const Example& e) {
    const transport::Documents both = corpus::documents({e.a, e.b});
    const transport::VectorTable table = e.table.view();
    transport::PairSolver solver;
    base::Stop stop;
    CHECK_NEAR(solver.distance(table, transport::Cost::euclidean, both[0], both[1], stop),
               e.distance, 1e-12);
    const transport::Bounds bounds =
        solver.bounds(table, transport::Cost::euclidean, both[0], both[1], stop);
    CHECK_NEAR(bounds.centroid, e.centroid, 1e-12);
    CHECK_NEAR(bounds.source, e.source, 1e-12);
    CHECK_NEAR(bounds.target, e.target, 1e-12);
    const transport::Explanation why =
        solver.explain(table, transport::Cost::euclidean, both[0], both[1], stop);
    CHECK(why.moves.size() == e.moves.size());
    for (std::size_t k = 0; k < std::min(why.moves.size(), e.moves.size()); ++k) {
        CHECK(why.moves[k].source == e.moves[k].source);
        CHECK(why.moves[k].target == e.moves[k].target);
        CHECK_NEAR(why.moves[k].mass, e.moves[k].mass, 1e-12);
        CHECK_NEAR(why.moves[k].cost, e.moves[k].cost, 1e-12);
    }
}

} // namespace

TEST(mover_example_square) {
    const Table table{{0, 0, 4, 0, 0, 3, 4, 3}, 2};
    check_example({table,
                   {{0, 1}, {1, 1}},
                   {{2, 1}, {3, 1}},
                   3,
                   3,
                   3,
                   3, //
                   {{0, 0, 0.5, 3}, {1, 1, 0.5, 3}}});
}

TEST(mover_example_of_a_common_word_and_a_split_one) {
    const Table table{{0, 1, 5, 6}, 1};
    check_example({table,
                   {{0, 1}, {1, 1}, {2, 1}},
                   {{0, 1}, {3, 1}},
                   4.0 / 3,
                   1,
                   2.0 / 3,
                   0.5,
                   {{0, 0, 1.0 / 3, 0},
                    {1, 0, 1.0 / 6, 1},
                    {1, 1, 1.0 / 6, 5}, //
                    {2, 1, 1.0 / 3, 1}}});
}

TEST(mover_example_of_two_words_around_one) {
    const Table table{{-1, 0, 1}, 1};
    check_example({table,
                   {{0, 1}, {2, 1}},
                   {{1, 1}},
                   1,
                   0,
                   1,
                   1, //
                   {{0, 0, 0.5, 1}, {1, 0, 0.5, 1}}});
}

TEST(mover_example_of_weights) {
    const Table table{{0, 2, 3}, 1};
    check_example({table,
                   {{0, 0.75}, {1, 0.25}},
                   {{0, 0.25}, {2, 0.75}},
                   1.75,
                   1.75,
                   0.25,
                   0.75,
                   {{0, 0, 0.25, 0}, {0, 1, 0.5, 3}, {1, 1, 0.25, 1}}});
}

// Not a metric: keeping the common word in place would cost 2.
TEST(mover_squared_cost_does_not_cancel_common_mass) {
    const Table table{{0, 1, 2}, 1};
    const Weights a{{0, 1}, {1, 1}};
    const Weights b{{1, 1}, {2, 1}};
    CHECK_NEAR(distance(table, transport::Cost::squared_euclidean, a, b), 1.0, 1e-12);
    CHECK_NEAR(distance(table, transport::Cost::cosine, a, b), 0.5, 1e-12);
    CHECK_NEAR(distance(table, transport::Cost::euclidean, a, b), 1.0, 1e-12);
}

TEST(mover_matches_all_permutations) {
    std::mt19937_64 random(1);
    for (const transport::Cost cost : kCosts) {
        for (int round = 0; round < 20; ++round) {
            const Table table = corpus::random_table(random, 12, 5, cost);
            Weights a, b;
            for (std::int32_t w = 0; w < 6; ++w) {
                a.emplace_back(w, 1.0);
                b.emplace_back(w + 6, 1.0);
            }
            std::vector<std::int32_t> order(6);
            std::iota(order.begin(), order.end(), 6);
            double best = std::numeric_limits<double>::infinity();
            do {
                double sum = 0;
                for (std::int32_t w = 0; w < 6; ++w)
                    sum += cost_of(table, cost, w, order[static_cast<std::size_t>(w)]);
                best = std::min(best, sum / 6);
            } while (std::next_permutation(order.begin(), order.end()));
            CHECK_NEAR(distance(table, cost, a, b), best, 1e-6 * best);
        }
    }
}

TEST(mover_is_bit_identical_with_documents_swapped) {
    std::mt19937_64 random(2);
    for (const transport::Cost cost : kCosts) {
        const Table table = corpus::random_table(random, 50, 8, cost);
        for (int round = 0; round < 60; ++round) {
            const transport::Documents both = random_pair(random, 50, 0.4, round);
            CHECK(same_bits(distance(table, cost, both[0], both[1]),
                            distance(table, cost, both[1], both[0])));
        }
    }
}

// The order must then come from the words, or, where these are the same too, from the masses.
// Fractional weights, whose sums are rounded and so show the order.
TEST(mover_is_bit_identical_with_equally_long_documents_swapped) {
    std::mt19937_64 random(10);
    for (const transport::Cost cost : kCosts) {
        const Table table = corpus::random_table(random, 60, 8, cost);
        for (int round = 0; round < 20; ++round) {
            Weights even, odd;
            for (std::int32_t w = 0; w < 60; ++w) (w % 2 == 0 ? even : odd).emplace_back(w, 0.1);
            Weights other = even;
            for (auto& [word, weight] : other) weight = 0.1 + static_cast<double>(random() % 1000);
            for (auto& [word, weight] : even) weight = 0.1 + static_cast<double>(round * word % 7);
            for (std::size_t k = 0; k < odd.size(); ++k) odd[k].second = even[k].second;
            CHECK(same_bits(distance(table, cost, even, odd), distance(table, cost, odd, even)));
            CHECK(
                same_bits(distance(table, cost, even, other), distance(table, cost, other, even)));
        }
    }
}

TEST(mover_of_identical_documents_is_zero) {
    std::mt19937_64 random(3);
    for (const transport::Cost cost : kCosts) {
        const Table table = corpus::random_table(random, 40, 8, cost);
        for (const bool counts : {false, true}) {
            const Weights row = corpus::random_document(random, 40, 0.5, counts);
            CHECK(same_bits(distance(table, cost, row, row), 0.0));
        }
        CHECK(same_bits(distance(table, cost, Weights{{7, 1}}, Weights{{7, 1}}), 0.0));
    }
}

TEST(mover_of_counts_in_proportion_is_zero) {
    const Table table{{0, 1}, 1};
    for (const transport::Cost cost : kCosts)
        CHECK(same_bits(distance(table, cost, {{0, 2}, {1, 1}}, {{0, 4}, {1, 2}}), 0.0));
}

TEST(mover_of_a_count_against_weights) {
    // Totals of 3 and 2^44 have no sufficiently small common multiple: both are rounded.
    const Table table{{0, 1}, 1};
    const Weights thirds{{0, 1}, {1, 2}};
    CHECK_NEAR(distance(table, transport::Cost::euclidean, thirds, {{0, 0.5}, {1, 0.5}}), 1.0 / 6,
               1e-12);
    CHECK_NEAR(distance(table, transport::Cost::euclidean, thirds, {{0, 0.1}, {1, 0.2}}), 0, 1e-12);
}

TEST(mover_explanations_prove_their_distances) {
    std::mt19937_64 random(4);
    for (const transport::Cost cost : kCosts) {
        const Table table = corpus::random_table(random, 40, 6, cost);
        for (int round = 0; round < 40; ++round) {
            const double share = round % 4 == 0 ? 0.02 : 0.4; // often one word
            const transport::Documents both =
                corpus::documents({corpus::random_document(random, 40, share, round % 2 == 0),
                                   corpus::random_document(random, 40, 0.4, round % 3 == 0)});
            check_explanation(table, cost, both[0], both[1]);
            check_explanation(table, cost, both[1], both[0]);
            check_explanation(table, cost, both[0], both[0]);
        }
    }
}

TEST(mover_explanations_with_one_remaining_word) {
    const Table table{{0, 1, 3, 7}, 1};
    for (const transport::Cost cost : kCosts) {
        const transport::Documents rows = corpus::documents({{{0, 1}, {1, 2}, {2, 1}},
                                                             {{0, 1}, {1, 1}, {2, 1}, {3, 1}},
                                                             {{0, 2}, {1, 1}, {2, 1}},
                                                             {{0, 4}, {1, 2}, {2, 2}},
                                                             {{3, 1}}});
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t j = 0; j < rows.size(); ++j)
                check_explanation(table, cost, rows[i], rows[j]);
    }
}

TEST(mover_explanation_of_extreme_vectors) {
    std::mt19937_64 random(5);
    const Table table = corpus::random_table(random, 30, 6, transport::Cost::euclidean);
    const transport::Documents both =
        corpus::documents({corpus::random_document(random, 30, 0.4, true),
                           corpus::random_document(random, 30, 0.4, true)});
    for (const int power : {-60, 60}) {
        Table scaled = table;
        for (float& x : scaled.data) x = std::ldexp(x, power);
        for (const transport::Cost cost :
             {transport::Cost::euclidean, transport::Cost::squared_euclidean}) {
            check_explanation(scaled, cost, both[0], both[1]);
            const int by = cost == transport::Cost::euclidean ? power : 2 * power;
            const double plain = distance(table, cost, both[0], both[1]);
            CHECK_NEAR(std::ldexp(distance(scaled, cost, both[0], both[1]), -by), plain,
                       1e-6 * plain);
        }
    }
}

// Words repeated under other numbers are not recognized as common, so the full problem is solved.
TEST(mover_cancelling_equals_solving_in_full) {
    std::mt19937_64 random(6);
    Table table = corpus::random_table(random, 30, 6, transport::Cost::euclidean);
    const std::vector<float> once = table.data;
    table.data.insert(table.data.end(), once.begin(), once.end());
    for (int round = 0; round < 50; ++round) {
        const Weights a = corpus::random_document(random, 30, 0.6, round % 2 == 0);
        const Weights b = corpus::random_document(random, 30, 0.6, true);
        Weights copied = b;
        for (auto& [word, weight] : copied) word += 30;
        const transport::Documents rows = corpus::documents({a, b});
        const double slack =
            1e-6 * largest_cost(table, transport::Cost::euclidean, rows[0], rows[1]);
        CHECK_NEAR(distance(table, transport::Cost::euclidean, a, b),
                   distance(table, transport::Cost::euclidean, a, copied), slack);
    }
}

TEST(mover_bounds_of_single_words_are_the_cost) {
    const Table table{{0, 3}, 1};
    const transport::Documents both = corpus::documents({{{0, 1}}, {{1, 1}}});
    const double expected[] = {3, 9, 4.5};
    for (const transport::Cost cost : kCosts) {
        transport::PairSolver solver;
        base::Stop stop;
        const transport::Bounds bounds = solver.bounds(table.view(), cost, both[0], both[1], stop);
        const double truth = expected[static_cast<std::size_t>(cost)];
        CHECK_NEAR(bounds.centroid, truth, 1e-12);
        CHECK_NEAR(bounds.source, truth, 1e-12);
        CHECK_NEAR(bounds.target, truth, 1e-12);
    }
}

TEST(mover_bounds_are_below_the_distance) {
    std::mt19937_64 random(7);
    for (const transport::Cost cost : kCosts) {
        const Table table = corpus::random_table(random, 40, 6, cost);
        for (int round = 0; round < 50; ++round) {
            const transport::Documents both = random_pair(random, 40, 0.3, round);
            transport::PairSolver solver;
            base::Stop stop;
            const double d = solver.distance(table.view(), cost, both[0], both[1], stop);
            const transport::Bounds there =
                solver.bounds(table.view(), cost, both[0], both[1], stop);
            const double limit = d * (1 + 1e-6);
            CHECK(there.centroid <= limit && there.source <= limit && there.target <= limit);
            const transport::Bounds back =
                solver.bounds(table.view(), cost, both[1], both[0], stop);
            CHECK_NEAR(back.centroid, there.centroid, 1e-12);
            CHECK_NEAR(back.source, there.target, 1e-12);
            CHECK_NEAR(back.target, there.source, 1e-12);
        }
    }
}

TEST(mover_satisfies_the_triangle_inequality) {
    std::mt19937_64 random(8);
    const Table table = corpus::random_table(random, 30, 4, transport::Cost::euclidean);
    for (int round = 0; round < 50; ++round) {
        const Weights a = corpus::random_document(random, 30, 0.3, true);
        const Weights b = corpus::random_document(random, 30, 0.3, true);
        const Weights c = corpus::random_document(random, 30, 0.3, false);
        const double straight = distance(table, transport::Cost::euclidean, a, b);
        CHECK(straight <= (distance(table, transport::Cost::euclidean, a, c) +
                           distance(table, transport::Cost::euclidean, c, b)) *
                              (1 + 1e-6));
    }
}

// For any announced next pair, whether it comes or not.
TEST(pair_solver_expecting_a_pair_changes_no_result) {
    std::mt19937_64 random(12);
    const Table table = corpus::random_table(random, 80, 20, transport::Cost::euclidean);
    std::vector<Weights> rows;
    for (int i = 0; i < 6; ++i)
        rows.push_back(corpus::random_document(random, 80, 0.05 + 0.15 * i, i % 2 == 0));
    const transport::Documents documents = corpus::documents(rows);
    transport::PairSolver solver;
    base::Stop stop;
    for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t j = 0; j < 6; ++j)
            for (std::size_t next = 0; next < 6; ++next) {
                solver.prefetch(table.view(), documents[next],
                                next % 2 == 0 ? transport::Document{} : documents[j]);
                CHECK(same_bits(
                    solver.distance(table.view(), transport::Cost::euclidean, documents[i],
                                    documents[j], stop),
                    distance(table, transport::Cost::euclidean, documents[i], documents[j])));
            }
}

// With a limit: bit-identical up to it; above it, the same value or infinity, usually infinity.
TEST(pair_solver_stops_early_above_the_limit) {
    std::mt19937_64 random(31);
    constexpr double far = std::numeric_limits<double>::infinity();
    int above = 0;
    int seen = 0;
    transport::PairSolver solver;
    base::Stop stop;
    for (int round = 0; round < 90; ++round) {
        const transport::Cost cost = kCosts[round % 3];
        Table table = corpus::random_table(random, 200, 30, cost);
        if (cost != transport::Cost::cosine && round % 5 == 0) // of any size
            for (float& x : table.data) x *= round % 2 == 0 ? 1e-17F : 1e17F;
        const transport::Documents pair = random_pair(random, 200, 0.02 + 0.003 * round, round);
        const double truth = distance(table, cost, pair[0], pair[1]);
        for (const double share : {0.0, 0.5, 0.9, 1.0, 1.1}) {
            const double found =
                solver.distance(table.view(), cost, pair[0], pair[1], stop, truth * share);
            const bool is_far = found == far;
            if (share >= 1) CHECK(same_bits(found, truth));
            CHECK(is_far || same_bits(found, truth));
            const bool long_enough = pair[0].size() * pair[1].size() > 600;
            if (share < 0.95 && long_enough) ++above;
            if (share < 0.95 && long_enough && is_far) ++seen;
        }
    }
    CHECK(above > 150);
    CHECK(seen > above * 9 / 10);
}

TEST(pair_solver_memory_does_not_affect_results) {
    std::mt19937_64 random(9);
    const Table table = corpus::random_table(random, 80, 6, transport::Cost::euclidean);
    std::vector<Weights> rows;
    for (int i = 0; i < 8; ++i)
        rows.push_back(corpus::random_document(random, 80, i % 2 == 0 ? 0.8 : 0.05, i % 3 == 0));
    const transport::Documents documents = corpus::documents(rows);
    transport::PairSolver used;
    base::Stop stop;
    for (std::size_t i = 0; i < 8; ++i) {
        for (std::size_t j = 0; j < 8; ++j) {
            for (const transport::Cost cost :
                 {transport::Cost::euclidean, transport::Cost::squared_euclidean}) {
                const transport::Explanation fresh =
                    explain(table, cost, documents[i], documents[j]);
                CHECK(same_bits(used.distance(table.view(), cost, documents[i], documents[j], stop),
                                fresh.distance));
                if (j % 3 == 0) used.trim(1000);
                CHECK(explanations::same(
                    used.explain(table.view(), cost, documents[i], documents[j], stop), fresh));
            }
        }
    }
}
