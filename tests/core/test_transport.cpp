#include "problems.h"
#include "shortest_paths.h"
#include "simplex.h"
#include "textkin/kernels.h"
#include "textkin/rounded.h"

using namespace problems;
using namespace textkin;

namespace {

Solution solve(const Problem& p, const TransportLimits& limits = {}) {
    TransportSolver solver;
    Stop stop;
    Solution solution;
    solver.solve(p.instance(), solution, stop, limits);
    return solution;
}

// Solves with the usual limits and compares with the oracle.
Solution check_optimal(const Problem& p) {
    Solution solution = solve(p);
    check_proof(p, solution);
    CHECK(objective(p, solution) == least_cost(p));
    return solution;
}

constexpr TransportLimits kWide{.narrow_potential = 0, .pivots = -1};
constexpr TransportLimits kPaths{.narrow_potential = std::int64_t{1} << 29, .pivots = 0};

// The three methods on one problem that the start does not solve. Returns the objective.
Objective check_methods_agree(const Problem& p) {
    const Solution narrow = solve(p);
    const Solution wide = solve(p, kWide);
    const Solution paths = solve(p, kPaths);
    CHECK(narrow.pivots > 0); // else the limits below force nothing
    CHECK(narrow.method == Method::narrow_simplex);
    CHECK(wide.method == Method::wide_simplex);
    CHECK(paths.method == Method::shortest_paths);
    for (const Solution* solution : {&narrow, &wide, &paths}) {
        check_proof(p, *solution);
        CHECK(objective(p, *solution) == objective(p, narrow));
    }
    return objective(p, narrow);
}

Masses ones(std::size_t count) { return Masses(count, 1); }

} // namespace

TEST(the_oracles_agree) {
    Random random(1);
    for (std::size_t n = 1; n <= 6; ++n) {
        const Problem p = make(ones(n), ones(n), [&](auto, auto) { return below(random, 20); });
        CHECK(least_assignment(p) == least_cost(p));
    }
}

TEST(transport_unit_masses_match_all_permutations) {
    Random random(2);
    for (int round = 0; round < 200; ++round) {
        const auto n = static_cast<std::size_t>(1 + below(random, 6));
        const std::int64_t largest = round % 2 == 0 ? 3 : kLargestNarrowCost;
        const Problem p =
            make(ones(n), ones(n), [&](auto, auto) { return below(random, largest + 1); });
        const Solution solution = solve(p);
        check_proof(p, solution);
        CHECK(objective(p, solution) == least_assignment(p));
    }
}

TEST(transport_random_problems_match_the_oracle) {
    Random random(3);
    for (int round = 0; round < 1500; ++round) {
        const auto n = static_cast<std::size_t>(1 + below(random, 12));
        const auto m = static_cast<std::size_t>(1 + below(random, 12));
        const std::int64_t largest = round % 3 == 0 ? 9 : kLargestNarrowCost;
        check_optimal(random_problem(random, n, m, 12 + below(random, 1000), largest));
    }
}

// Lanes come in groups of 16 and bitsets in words of 64: sizes around them.
TEST(transport_sizes_around_lanes_and_words_match_the_oracle) {
    Random random(4);
    for (const std::size_t n : {1u, 15u, 16u, 17u, 31u, 32u, 33u})
        for (const std::size_t m : {1u, 16u, 17u, 32u, 33u, 48u})
            check_optimal(random_problem(random, n, m, 200, kLargestNarrowCost));
}

TEST(transport_one_row_one_column_or_both) {
    Random random(5);
    for (const std::size_t n : {1u, 2u, 7u, 40u}) {
        check_optimal(random_problem(random, 1, n, 1000, kLargestNarrowCost));
        check_optimal(random_problem(random, n, 1, 1000, kLargestNarrowCost));
    }
    const Problem single = make({5}, {5}, [](auto, auto) { return 7; });
    const Solution solution = check_optimal(single);
    CHECK(solution.shipments.size() == 1 && solution.shipments[0].mass == 5);
}

TEST(transport_equal_costs_are_all_ties) {
    Random random(6);
    for (const std::int32_t value : {0, 1, kLargestNarrowCost}) {
        for (const std::size_t n : {1u, 2u, 5u, 9u}) {
            const auto constant = [value](auto, auto) { return value; };
            check_optimal(make(ones(n), ones(n), constant));
            check_optimal(make(random_masses(random, n, 50), random_masses(random, 8, 50), //
                               constant));
        }
    }
}

TEST(transport_costs_of_zero_and_one) {
    Random random(7);
    for (int round = 0; round < 100; ++round) {
        const auto n = static_cast<std::size_t>(2 + below(random, 9));
        check_optimal(random_problem(random, n, 10, 10 + below(random, 30), 1));
    }
}

TEST(transport_costs_of_zero_and_the_largest) {
    Random random(8);
    for (int round = 0; round < 100; ++round) {
        const auto n = static_cast<std::size_t>(2 + below(random, 9));
        check_optimal(make(random_masses(random, n, 40), random_masses(random, 10, 40),
                           [&](auto, auto) { return below(random, 2) * kLargestNarrowCost; }));
    }
}

// Every basis of an assignment problem is degenerate: half of its arcs carry nothing.
TEST(transport_unit_masses_are_degenerate) {
    Random random(9);
    for (const std::size_t n : {2u, 8u, 16u, 24u})
        for (const std::int64_t largest : {1, 5, 1000})
            check_optimal(
                make(ones(n), ones(n), [&](auto, auto) { return below(random, largest + 1); }));
}

TEST(transport_equal_partial_sums_are_degenerate) {
    Random random(10);
    for (int round = 0; round < 50; ++round) {
        // Each supply is met by two demands exactly, and each again by a whole cycle of them.
        const Masses supply{6, 4, 6, 4, 10, 10};
        const Masses demand{3, 3, 2, 2, 3, 3, 2, 2, 5, 5, 5, 5};
        check_optimal(make(supply, demand, [&](auto, auto) { return below(random, 8); }));
        check_optimal(make(demand, supply, [&](auto, auto) { return below(random, 8); }));
    }
}

TEST(transport_very_uneven_masses) {
    Random random(11);
    const std::int64_t huge = std::int64_t{1} << 40;
    for (int round = 0; round < 50; ++round) {
        const auto cost = [&](auto, auto) { return below(random, kLargestNarrowCost + 1); };
        check_optimal(make({huge, 1, 1, 1}, {1, 1, huge, 1}, cost));
        check_optimal(make({1, huge, 1}, {huge / 2, huge / 2, 2}, cost));
        check_optimal(make({huge, huge, 1, 3}, {1, 1, 1, 1, 2 * huge}, cost));
    }
}

TEST(transport_methods_agree_with_the_oracle) {
    Random random(12);
    for (int round = 0; round < 20; ++round) {
        const auto n = static_cast<std::size_t>(8 + below(random, 6));
        const Problem p = random_problem(random, n, 12, 300, kLargestNarrowCost);
        CHECK(check_methods_agree(p) == least_cost(p));
    }
}

TEST(transport_methods_agree_on_larger_problems) {
    Random random(13);
    for (const std::size_t n : {20u, 40u, 60u})
        for (const std::size_t m : {17u, 60u})
            check_methods_agree(random_problem(random, n, m, 5000, kLargestNarrowCost));
    check_methods_agree(
        random_problem(random, 150, 130, std::int64_t{1} << 44, kLargestNarrowCost));
}

TEST(transport_methods_agree_on_ties_and_unit_masses) {
    Random random(14);
    for (const std::int64_t largest : {2, 10, 100}) {
        check_methods_agree(random_problem(random, 50, 45, 400, largest));
        check_methods_agree(
            make(ones(60), ones(60), [&](auto, auto) { return below(random, largest + 1); }));
    }
}

// In between the narrow simplex gives way, or not, in the middle of its pivots.
TEST(transport_gives_way_at_any_potential) {
    Random random(15);
    const Problem p = random_problem(random, 40, 40, 3000, kLargestNarrowCost);
    const Objective least = objective(p, solve(p));
    for (std::int64_t limit = 0; limit < 4 * kLargestNarrowCost; limit += kLargestNarrowCost / 8) {
        const Solution solution = solve(p, {.narrow_potential = limit, .pivots = -1});
        check_proof(p, solution);
        CHECK(objective(p, solution) == least);
        CHECK(solution.method != Method::shortest_paths);
    }
}

TEST(transport_gives_way_after_any_number_of_pivots) {
    Random random(16);
    for (const std::size_t size : {20u, 35u}) {
        const Problem p = random_problem(random, size, size, 3000, kLargestNarrowCost);
        const Solution best = solve(p);
        for (std::int64_t pivots = 0; pivots <= best.pivots; ++pivots) {
            for (const std::int64_t potential : {std::int64_t{0}, std::int64_t{1} << 29}) {
                const Solution solution =
                    solve(p, {.narrow_potential = potential, .pivots = pivots});
                check_proof(p, solution);
                CHECK(objective(p, solution) == objective(p, best));
                if (potential == 0 || pivots == best.pivots) continue;
                CHECK(solution.method != Method::narrow_simplex);
                // A small problem takes other steps in narrow numbers than in wide ones.
                if (size > 32) CHECK(solution.method == Method::shortest_paths);
            }
        }
        CHECK(solve(p, {.pivots = best.pivots}).method == Method::narrow_simplex);
    }
}

// The cheapest arcs come first, so the potentials of the start are at most the largest cost: with
// no pivot allowed only the start could be what does not fit.
TEST(transport_start_potentials_are_at_most_the_largest_cost) {
    Random random(26);
    Stop stop;
    for (int round = 0; round < 200; ++round) {
        const auto n = static_cast<std::size_t>(2 + below(random, 30));
        const auto m = static_cast<std::size_t>(2 + below(random, 30));
        const Problem p = random_problem(random, n, m, 60 + below(random, 1000),
                                         round % 2 == 0 ? 3 : kLargestNarrowCost);
        std::int64_t largest = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < m; ++j)
                largest = std::max<std::int64_t>(largest, p.at(i, j));
        Simplex<std::int32_t> simplex;
        CHECK(simplex.solve(p.instance(), 0, largest, stop) != Outcome::potential_too_large);
    }
    const Problem equal = make(ones(9), ones(9), [](auto, auto) { return 7; });
    Simplex<std::int32_t> simplex;
    CHECK(simplex.solve(equal.instance(), 0, 7, stop) == Outcome::optimal);
    CHECK(simplex.solve(equal.instance(), 0, 6, stop) == Outcome::potential_too_large);
}

TEST(transport_potentials_beyond_the_narrow_limit_take_the_wide_simplex) {
    Random random(27);
    const Problem p = random_problem(random, 30, 25, 900, kLargestNarrowCost);
    for (const std::int64_t limit : {kLargestNarrowCost / 4, kLargestNarrowCost}) {
        const Solution solution = solve(p, {.narrow_potential = limit, .pivots = -1});
        check_proof(p, solution);
        CHECK(solution.method == Method::wide_simplex);
    }
}

// The same whole numbers are solved in the same steps by every instruction set.
TEST(transport_takes_the_same_steps_with_every_instruction_set) {
    Random random(28);
    for (const std::size_t n : {2u, 9u, 16u, 17u, 40u, 90u}) {
        for (const std::size_t m : {3u, 16u, 33u, 150u}) {
            const Problem p = random_problem(random, n, m, 5000, n == 9 ? 3 : kLargestNarrowCost);
            use_kernels("baseline");
            const Solution plain = solve(p);
            check_proof(p, plain);
            for (auto table = available_kernels(); *table != nullptr; ++table) {
                use_kernels((*table)->name);
                CHECK(same(solve(p), plain));
            }
        }
    }
}

TEST(transport_is_deterministic_and_memory_keeps_nothing) {
    Random random(17);
    const Problem big = random_problem(random, 70, 90, 1000, 50);
    const Problem small = random_problem(random, 9, 11, 1000, 5);
    const Problem wide = random_problem(random, 30, 20, 1000, kLargestNarrowCost);
    TransportSolver used;
    Stop stop;
    Solution solution;
    for (int round = 0; round < 3; ++round) {
        for (const Problem* p : {&big, &small, &wide, &small}) {
            used.solve(p->instance(), solution, stop);
            CHECK(same(solution, solve(*p)));
            used.solve(p->instance(), solution, stop, kWide);
            CHECK(same(solution, solve(*p, kWide)));
        }
    }
}

TEST(transport_stopped_before_it_began) {
    Random random(18);
    const Problem p = random_problem(random, 30, 30, 1000, kLargestNarrowCost);
    TransportSolver solver;
    Solution solution;
    for (const TransportLimits& limits : {TransportLimits{}, kWide, kPaths}) {
        Stop stopped;
        stopped.request();
        CHECK_THROWS(Stopped, solver.solve(p.instance(), solution, stopped, limits));
        Stop stop;
        solver.solve(p.instance(), solution, stop, limits);
        CHECK(same(solution, solve(p, limits)));
    }
    Stop stopped;
    stopped.request();
    const std::vector<std::int64_t> costs(p.cost.begin(), p.cost.end());
    const Instance<std::int64_t> wide{p.supply, p.demand, costs.data(), p.stride};
    CHECK_THROWS(Stopped, solve_by_shortest_paths(wide, solution, stopped));
}

TEST(transport_stopped_on_its_way) {
    Random random(19);
    const Problem p = random_problem(random, 100, 100, 100000, kLargestNarrowCost);
    TransportSolver solver;
    Solution solution;
    CHECK(solve(p).pivots > 128); // it looks at the stop more than once
    for (const TransportLimits& limits : {TransportLimits{}, kWide, kPaths}) {
        int asked = 0;
        Stop stop([&asked](std::size_t) { return ++asked == 2; }, std::chrono::nanoseconds(0));
        CHECK_THROWS(Stopped, solver.solve(p.instance(), solution, stop, limits));
        Stop go;
        solver.solve(p.instance(), solution, go, limits);
        CHECK(same(solution, solve(p, limits)));
    }
}

// Costs of which the largest is a million times those that matter: narrow ones cannot tell the
// others apart, wide ones can.
TEST(rounded_costs_of_a_wide_range_are_solved_again_with_wide_numbers) {
    Random random(23);
    for (int round = 0; round < 20; ++round) {
        const std::size_t n = 6;
        std::vector<double> costs(n * n);
        for (double& c : costs) c = 1.0 + static_cast<double>(below(random, 1000)) / 1000;
        costs[0] = 1e9;
        const Masses ones(n, 1);
        const auto at = [&](std::size_t i, std::size_t j) { return costs[i * n + j]; };
        double best = 1e300;
        std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
        do {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum += at(i, order[i]);
            best = std::min(best, sum);
        } while (std::next_permutation(order.begin(), order.end()));
        RoundedSolver solver;
        Solution solution;
        Stop stop;
        CHECK_NEAR(solver.solve(ones, ones, at, 1e9, solution, stop), best, 1e-9);
        CHECK(solution.method == Method::wide_simplex);
    }
}

TEST(rounded_costs_that_are_all_zero) {
    const Masses ones(3, 1);
    RoundedSolver solver;
    Solution solution;
    Stop stop;
    const auto nothing = [](std::size_t, std::size_t) { return 0.0; };
    CHECK(solver.solve(ones, ones, nothing, 0, solution, stop) == 0);
    CHECK(solution.shipments.size() == 3);
}
