#include "kernels/kernels.h"
#include "problems.h"
#include "transport/real_cost_solver.h"
#include "transport/shortest_paths.h"
#include "transport/simplex.h"

using namespace problems;
using namespace textkin;

namespace {

transport::Solution solve(const Problem& p, const transport::TransportLimits& limits = {}) {
    transport::TransportSolver solver;
    base::Stop stop;
    transport::Solution solution;
    problems::solve(solver, p, solution, stop, limits);
    return solution;
}

// Solves with the usual limits, and compares with the reference.
transport::Solution check_optimal(const Problem& p) {
    transport::Solution solution = solve(p);
    check_proof(p, solution);
    CHECK(objective(p, solution) == least_cost(p));
    return solution;
}

constexpr transport::TransportLimits kWide{.narrow_potential = 0, .pivots = -1};
constexpr transport::TransportLimits kPaths{.narrow_potential = std::int64_t{1} << 29, .pivots = 0};

// The three methods on one problem that the start does not solve. Returns the objective.
Objective check_methods_agree(const Problem& p) {
    const transport::Solution narrow = solve(p);
    const transport::Solution wide = solve(p, kWide);
    const transport::Solution paths = solve(p, kPaths);
    CHECK(narrow.pivots > 0); // otherwise the limits below have no effect
    CHECK(narrow.method == transport::Method::narrow_simplex);
    CHECK(wide.method == transport::Method::wide_simplex);
    CHECK(paths.method == transport::Method::shortest_paths);
    for (const transport::Solution* solution : {&narrow, &wide, &paths}) {
        check_proof(p, *solution);
        CHECK(objective(p, *solution) == objective(p, narrow));
    }
    return objective(p, narrow);
}

Masses ones(std::size_t count) { return Masses(count, 1); }

} // namespace

TEST(references_agree) {
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
        const std::int64_t largest = round % 2 == 0 ? 3 : transport::kLargestNarrowCost;
        const Problem p =
            make(ones(n), ones(n), [&](auto, auto) { return below(random, largest + 1); });
        const transport::Solution solution = solve(p);
        check_proof(p, solution);
        CHECK(objective(p, solution) == least_assignment(p));
    }
}

TEST(transport_random_problems_match_the_reference) {
    Random random(3);
    for (int round = 0; round < 1500; ++round) {
        const auto n = static_cast<std::size_t>(1 + below(random, 12));
        const auto m = static_cast<std::size_t>(1 + below(random, 12));
        const std::int64_t largest = round % 3 == 0 ? 9 : transport::kLargestNarrowCost;
        check_optimal(random_problem(random, n, m, 12 + below(random, 1000), largest));
    }
}

// Lanes come in groups of 16 and bitsets in words of 64: sizes around them.
TEST(transport_sizes_around_lanes_and_words_match_the_reference) {
    Random random(4);
    for (const std::size_t n : {1u, 15u, 16u, 17u, 31u, 32u, 33u})
        for (const std::size_t m : {1u, 16u, 17u, 32u, 33u, 48u})
            check_optimal(random_problem(random, n, m, 200, transport::kLargestNarrowCost));
}

TEST(transport_one_row_one_column_or_both) {
    Random random(5);
    for (const std::size_t n : {1u, 2u, 7u, 40u}) {
        check_optimal(random_problem(random, 1, n, 1000, transport::kLargestNarrowCost));
        check_optimal(random_problem(random, n, 1, 1000, transport::kLargestNarrowCost));
    }
    const Problem single = make({5}, {5}, [](auto, auto) { return 7; });
    const transport::Solution solution = check_optimal(single);
    CHECK(solution.shipments.size() == 1 && solution.shipments[0].mass == 5);
}

TEST(transport_equal_costs_are_all_ties) {
    Random random(6);
    for (const std::int32_t value : {0, 1, transport::kLargestNarrowCost}) {
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
        check_optimal(
            make(random_masses(random, n, 40), random_masses(random, 10, 40),
                 [&](auto, auto) { return below(random, 2) * transport::kLargestNarrowCost; }));
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
        const auto cost = [&](auto, auto) {
            return below(random, transport::kLargestNarrowCost + 1);
        };
        check_optimal(make({huge, 1, 1, 1}, {1, 1, huge, 1}, cost));
        check_optimal(make({1, huge, 1}, {huge / 2, huge / 2, 2}, cost));
        check_optimal(make({huge, huge, 1, 3}, {1, 1, 1, 1, 2 * huge}, cost));
    }
}

TEST(transport_methods_agree_with_the_reference) {
    Random random(12);
    for (int round = 0; round < 20; ++round) {
        const auto n = static_cast<std::size_t>(8 + below(random, 6));
        const Problem p = random_problem(random, n, 12, 300, transport::kLargestNarrowCost);
        CHECK(check_methods_agree(p) == least_cost(p));
    }
}

TEST(transport_methods_agree_on_larger_problems) {
    Random random(13);
    for (const std::size_t n : {20u, 40u, 60u})
        for (const std::size_t m : {17u, 60u})
            check_methods_agree(random_problem(random, n, m, 5000, transport::kLargestNarrowCost));
    check_methods_agree(
        random_problem(random, 150, 130, std::int64_t{1} << 44, transport::kLargestNarrowCost));
}

TEST(transport_methods_agree_on_ties_and_unit_masses) {
    Random random(14);
    for (const std::int64_t largest : {2, 10, 100}) {
        check_methods_agree(random_problem(random, 50, 45, 400, largest));
        check_methods_agree(
            make(ones(60), ones(60), [&](auto, auto) { return below(random, largest + 1); }));
    }
}

// Between them, the narrow simplex may switch to the wide one during its pivots.
TEST(transport_switches_at_any_potential) {
    Random random(15);
    const Problem p = random_problem(random, 40, 40, 3000, transport::kLargestNarrowCost);
    const Objective least = objective(p, solve(p));
    for (std::int64_t limit = 0; limit < 4 * transport::kLargestNarrowCost;
         limit += transport::kLargestNarrowCost / 8) {
        const transport::Solution solution = solve(p, {.narrow_potential = limit, .pivots = -1});
        check_proof(p, solution);
        CHECK(objective(p, solution) == least);
        CHECK(solution.method != transport::Method::shortest_paths);
    }
}

TEST(transport_switches_after_any_number_of_pivots) {
    Random random(16);
    for (const std::size_t size : {20u, 35u}) {
        const Problem p = random_problem(random, size, size, 3000, transport::kLargestNarrowCost);
        const transport::Solution best = solve(p);
        for (std::int64_t pivots = 0; pivots <= best.pivots; ++pivots) {
            for (const std::int64_t potential : {std::int64_t{0}, std::int64_t{1} << 29}) {
                const transport::Solution solution =
                    solve(p, {.narrow_potential = potential, .pivots = pivots});
                check_proof(p, solution);
                CHECK(objective(p, solution) == objective(p, best));
                if (potential == 0 || pivots == best.pivots) continue;
                CHECK(solution.method != transport::Method::narrow_simplex);
                // A small problem takes other steps in narrow numbers than in wide ones.
                if (size > 32) CHECK(solution.method == transport::Method::shortest_paths);
            }
        }
        CHECK(solve(p, {.pivots = best.pivots}).method == transport::Method::narrow_simplex);
    }
}

// The cheapest arcs come first, so the potentials of the start are at most the largest cost: with
// no pivot allowed only the start could be what does not fit.
TEST(transport_start_potentials_are_at_most_the_largest_cost) {
    Random random(26);
    base::Stop stop;
    for (int round = 0; round < 200; ++round) {
        const auto n = static_cast<std::size_t>(2 + below(random, 30));
        const auto m = static_cast<std::size_t>(2 + below(random, 30));
        const Problem p = random_problem(random, n, m, 60 + below(random, 1000),
                                         round % 2 == 0 ? 3 : transport::kLargestNarrowCost);
        std::int64_t largest = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < m; ++j)
                largest = std::max<std::int64_t>(largest, p.at(i, j));
        transport::Simplex<std::int32_t> simplex;
        CHECK(simplex.solve(p.instance(), 0, largest, false, stop) !=
              kernels::Outcome::potential_too_large);
    }
    const Problem equal = make(ones(9), ones(9), [](auto, auto) { return 7; });
    transport::Simplex<std::int32_t> simplex;
    CHECK(simplex.solve(equal.instance(), 0, 7, false, stop) == kernels::Outcome::optimal);
    CHECK(simplex.solve(equal.instance(), 0, 6, false, stop) ==
          kernels::Outcome::potential_too_large);
}

TEST(transport_centered_start_finds_plans_of_the_same_cost) {
    Random random(43);
    for (int round = 0; round < 60; ++round) {
        const auto n = static_cast<std::size_t>(1 + below(random, 90));
        const auto m = static_cast<std::size_t>(33 + below(random, 90));
        const std::int64_t largest = round % 3 == 0 ? 9 : transport::kLargestNarrowCost;
        const Problem p = random_problem(random, n, m, 200 + below(random, 1000), largest);
        const Objective best = objective(p, solve(p));
        for (const std::int64_t narrow : {std::int64_t{1} << 29, std::int64_t{0}}) {
            const transport::Solution found =
                solve(p, {.narrow_potential = narrow, .pivots = -1, .starts_centered = true});
            check_proof(p, found);
            CHECK(objective(p, found) == best);
        }
    }
}

// Costs i * j: the greedy start pairs the cheapest with the cheapest, and the optimum is the
// reverse. Less the means of rows and columns, the costs are (i - a) * (j - a).
TEST(transport_centered_start_solves_costs_that_rank_columns_alike) {
    constexpr std::size_t n = 200;
    const Problem p = make(ones(n), ones(n), [](std::size_t i, std::size_t j) {
        return static_cast<std::int64_t>((i + 1) * (j + 1));
    });
    const transport::Solution plain = solve(p);
    const transport::Solution centered = solve(p, {.starts_centered = true});
    check_proof(p, centered);
    CHECK(objective(p, centered) == objective(p, plain));
    CHECK(plain.pivots > 1000);
    CHECK(centered.pivots < 10);
}

// Potentials of a centered start are largest if few costs are far from the means.
TEST(transport_centered_start_with_extreme_costs_stays_within_32_bits) {
    for (const std::size_t n : {40u, 200u}) {
        for (const bool is_high : {false, true}) {
            const Problem p = make(ones(n), ones(n), [&](std::size_t i, std::size_t j) {
                const bool is_rare = i == 0 || j + 1 == n || i == j;
                return is_rare == is_high ? transport::kLargestNarrowCost : 0;
            });
            const transport::Solution found = solve(p, {.starts_centered = true});
            check_proof(p, found);
            CHECK(objective(p, found) == objective(p, solve(p)));
        }
    }
}

TEST(transport_potentials_beyond_the_narrow_limit_take_the_wide_simplex) {
    Random random(27);
    const Problem p = random_problem(random, 30, 25, 900, transport::kLargestNarrowCost);
    for (const std::int64_t limit :
         {transport::kLargestNarrowCost / 4, transport::kLargestNarrowCost}) {
        const transport::Solution solution = solve(p, {.narrow_potential = limit, .pivots = -1});
        check_proof(p, solution);
        CHECK(solution.method == transport::Method::wide_simplex);
    }
}

// Every instruction set solves the same integers in the same steps.
TEST(transport_takes_the_same_steps_with_every_instruction_set) {
    Random random(28);
    for (const std::size_t n : {2u, 9u, 16u, 17u, 40u, 90u}) {
        for (const std::size_t m : {3u, 16u, 33u, 150u}) {
            const Problem p =
                random_problem(random, n, m, 5000, n == 9 ? 3 : transport::kLargestNarrowCost);
            kernels::use_kernels("baseline");
            const transport::Solution plain = solve(p);
            check_proof(p, plain);
            for (auto table = kernels::available_kernels(); *table != nullptr; ++table) {
                kernels::use_kernels((*table)->name);
                CHECK(same(solve(p), plain));
            }
        }
    }
}

TEST(transport_is_deterministic_and_independent_of_earlier_calls) {
    Random random(17);
    const Problem big = random_problem(random, 70, 90, 1000, 50);
    const Problem small = random_problem(random, 9, 11, 1000, 5);
    const Problem wide = random_problem(random, 30, 20, 1000, transport::kLargestNarrowCost);
    transport::TransportSolver used;
    base::Stop stop;
    transport::Solution solution;
    for (int round = 0; round < 3; ++round) {
        for (const Problem* p : {&big, &small, &wide, &small}) {
            problems::solve(used, *p, solution, stop);
            CHECK(same(solution, solve(*p)));
            problems::solve(used, *p, solution, stop, kWide);
            CHECK(same(solution, solve(*p, kWide)));
        }
    }
}

TEST(transport_stopped_before_its_start) {
    Random random(18);
    const Problem p = random_problem(random, 30, 30, 1000, transport::kLargestNarrowCost);
    transport::TransportSolver solver;
    transport::Solution solution;
    for (const transport::TransportLimits& limits : {transport::TransportLimits{}, kWide, kPaths}) {
        base::Stop stopped;
        stopped.request();
        CHECK_THROWS(base::Stopped, problems::solve(solver, p, solution, stopped, limits));
        base::Stop stop;
        problems::solve(solver, p, solution, stop, limits);
        CHECK(same(solution, solve(p, limits)));
    }
    base::Stop stopped;
    stopped.request();
    const std::vector<std::int64_t> costs(p.cost.begin(), p.cost.end());
    const transport::Instance<std::int64_t> wide{p.supply, p.demand, costs.data(), p.stride};
    CHECK_THROWS(base::Stopped, transport::solve_by_shortest_paths(wide, solution, stopped));
}

TEST(transport_start_stops_when_asked) {
    // The start is optimal, so only the start can poll.
    for (const std::size_t count : {20u, 300u}) {
        const Problem p =
            make(ones(count), ones(count), [](auto i, auto j) { return i == j ? 0 : 1; });
        int asked = 0;
        base::Stop counts([&](std::size_t) { return ++asked < 0; },
                          base::Stop::Clock::duration::zero());
        transport::TransportSolver solver;
        transport::Solution solution;
        for (const transport::TransportLimits& limits : {transport::TransportLimits{}, kWide}) {
            asked = 0;
            problems::solve(solver, p, solution, counts, limits);
            CHECK(solution.pivots == 0);
            CHECK(asked >= static_cast<int>(2 * count / 64));
        }
        if (count < 64) continue;
        base::Stop stop([](std::size_t) { return true; }, base::Stop::Clock::duration::zero());
        CHECK_THROWS(base::Stopped, problems::solve(solver, p, solution, stop));
        CHECK(objective(p, solve(p)) == 0); // and the solver is usable
    }
}

TEST(transport_stopped_during_its_pivots) {
    Random random(19);
    const Problem p = random_problem(random, 100, 100, 100000, transport::kLargestNarrowCost);
    transport::TransportSolver solver;
    transport::Solution solution;
    CHECK(solve(p).pivots > 128); // it checks for a stop more than once
    for (const transport::TransportLimits& limits : {transport::TransportLimits{}, kWide, kPaths}) {
        int asked = 0;
        base::Stop stop([&asked](std::size_t) { return ++asked == 2; },
                        std::chrono::nanoseconds(0));
        CHECK_THROWS(base::Stopped, problems::solve(solver, p, solution, stop, limits));
        base::Stop go;
        problems::solve(solver, p, solution, go, limits);
        CHECK(same(solution, solve(p, limits)));
    }
}

// The largest cost is a million times the relevant costs: narrow costs cannot distinguish the
// relevant ones, wide costs can.
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
        transport::RealCostSolver solver;
        transport::Solution solution;
        base::Stop stop;
        CHECK_NEAR(solver.solve(ones, ones, at, 1e9, solution, stop), best, 1e-9);
        CHECK(solution.method == transport::Method::wide_simplex);
    }
}

TEST(rounded_costs_that_are_all_zero) {
    const Masses ones(3, 1);
    transport::RealCostSolver solver;
    transport::Solution solution;
    base::Stop stop;
    const auto nothing = [](std::size_t, std::size_t) { return 0.0; };
    CHECK(solver.solve(ones, ones, nothing, 0, solution, stop) == 0);
    CHECK(solution.shipments.size() == 3);
}

TEST(rounded_solver_with_huge_costs_finds_the_plan_that_avoids_them) {
    Random random(41);
    for (int round = 0; round < 40; ++round) {
        const std::size_t n = 5 + static_cast<std::size_t>(below(random, 20));
        const Masses masses = ones(n);
        std::vector<double> costs(n * n), capped(n * n);
        const double huge = std::ldexp(1.0, 44 + static_cast<int>(below(random, 40)));
        for (std::size_t k = 0; k < costs.size(); ++k) {
            const bool forbidden = k % n != k / n && below(random, 5) == 0;
            costs[k] = forbidden ? huge * (1 + static_cast<double>(below(random, 8)))
                                 : static_cast<double>(below(random, 1000)) / 1000;
            capped[k] = std::min(costs[k], 1000.0);
        }
        const auto cost_of = [n](const std::vector<double>& all) {
            return [&all, n](std::size_t i, std::size_t j) { return all[i * n + j]; };
        };
        transport::RealCostSolver solver;
        transport::Solution solution;
        base::Stop stop;
        const double best =
            solver.solve(masses, masses, cost_of(capped),
                         *std::max_element(capped.begin(), capped.end()), solution, stop);
        const double found =
            solver.solve_capped(masses, masses, cost_of(costs),
                                *std::max_element(costs.begin(), costs.end()), solution, stop);
        CHECK_NEAR(found, best, 1e-6 * best);
        for (const transport::Shipment& s : solution.shipments)
            CHECK(cost_of(costs)(static_cast<std::size_t>(s.row),
                                 static_cast<std::size_t>(s.column)) <= 1);
    }
}
