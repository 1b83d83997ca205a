// Checks of the explanation of a distance.
#pragma once

#include "check.h"
#include "corpus.h"
#include "transport/pair_solver.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace explanations {

using namespace textkin;
using corpus::cost_of;
using corpus::largest_cost;
using corpus::same_bits;
using corpus::Table;

inline transport::Explanation explain(const Table& table, transport::Cost cost,
                                      const transport::Document& a, const transport::Document& b) {
    transport::PairSolver solver;
    base::Stop stop;
    return solver.explain(table.view(), cost, a, b, stop);
}

inline bool same(const transport::Explanation& a, const transport::Explanation& b) {
    return same_bits(a.distance, b.distance) && a.source_masses == b.source_masses &&
           a.target_masses == b.target_masses && a.source_potentials == b.source_potentials &&
           a.target_potentials == b.target_potentials && a.pivots == b.pivots &&
           a.method == b.method && a.solved == b.solved &&
           std::equal(a.moves.begin(), a.moves.end(), b.moves.begin(), b.moves.end(),
                      [](const transport::Move& x, const transport::Move& y) {
                          return x.source == y.source && x.target == y.target &&
                                 same_bits(x.mass, y.mass) && same_bits(x.cost, y.cost);
                      });
}

inline void check_shares(const transport::Document& document, const std::vector<double>& told,
                         const std::vector<double>& moved) {
    for (std::size_t i = 0; i < document.size(); ++i) {
        const double share =
            static_cast<double>(document.masses[i]) / static_cast<double>(document.total);
        CHECK_NEAR(told[i], share, 1e-12);
        CHECK_NEAR(moved[i], share, 1e-12);
    }
}

inline void check_explanation(const Table& table, transport::Cost cost,
                              const transport::Document& a, const transport::Document& b) {
    const transport::Explanation why = explain(table, cost, a, b);
    transport::PairSolver solver;
    base::Stop stop;
    CHECK(same_bits(why.distance, solver.distance(table.view(), cost, a, b, stop)));
    std::vector<double> sent(a.size(), 0.0);
    std::vector<double> received(b.size(), 0.0);
    double sum = 0;
    std::pair<std::int32_t, std::int32_t> last{-1, -1};
    for (const transport::Move& move : why.moves) {
        CHECK(last < std::pair(move.source, move.target));
        CHECK(move.mass > 0);
        last = {move.source, move.target};
        const auto i = static_cast<std::size_t>(move.source);
        const auto j = static_cast<std::size_t>(move.target);
        const double truth = cost_of(table, cost, a.words[i], b.words[j]);
        CHECK_NEAR(move.cost, truth, 1.2e-6 * truth);
        sent[i] += move.mass;
        received[j] += move.mass;
        sum += move.mass * move.cost;
    }
    CHECK_NEAR(sum, why.distance, 1e-12 * why.distance);
    check_shares(a, why.source_masses, sent);
    check_shares(b, why.target_masses, received);
    const double slack = 1e-6 * largest_cost(table, cost, a, b);
    const std::vector<double>& u = why.source_potentials;
    const std::vector<double>& v = why.target_potentials;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j)
            CHECK(u[i] + v[j] <= cost_of(table, cost, a.words[i], b.words[j]) + slack);
    const double dual = std::inner_product(u.begin(), u.end(), why.source_masses.begin(), 0.0) +
                        std::inner_product(v.begin(), v.end(), why.target_masses.begin(), 0.0);
    CHECK_NEAR(dual, why.distance, slack);
}

} // namespace explanations
