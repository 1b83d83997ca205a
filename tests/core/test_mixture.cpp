// Steps of expectation maximization, compared with plain loops in double.
#include "check.h"
#include "mixture/mixture.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace textkin;

namespace {

using Random = std::mt19937_64;

struct Problem {
    std::size_t rows, dimension, n;
    std::vector<float> values;
    std::vector<double> weights, offset, linear, quadratic;

    Problem(Random& random, std::size_t n_rows, std::size_t d, std::size_t n_components,
            bool squares)
        : rows(n_rows), dimension(d), n(n_components) {
        std::normal_distribution<double> normal;
        for (std::size_t k = 0; k < rows * d; ++k)
            values.push_back(static_cast<float>(normal(random)));
        for (std::size_t i = 0; i < rows; ++i) weights.push_back(static_cast<double>(random() % 4));
        for (std::size_t k = 0; k < n; ++k) offset.push_back(50 + normal(random));
        for (std::size_t k = 0; k < n * d; ++k) linear.push_back(normal(random));
        if (squares)
            for (std::size_t k = 0; k < n * d; ++k) quadratic.push_back(-std::abs(normal(random)));
    }
    [[nodiscard]] mixture::MixtureStep step(bool hard) const {
        return {offset, linear, quadratic, hard};
    }
};

struct Result {
    std::vector<double> logs, counts, first, second;

    explicit Result(const Problem& problem)
        : logs(problem.rows), counts(problem.n), first(problem.n * problem.dimension),
          second(problem.quadratic.size()) {}
    [[nodiscard]] mixture::MixtureSums sums() {
        return {counts.data(), first.data(), second.data()};
    }
    bool operator==(const Result&) const = default;
};

Result step_of(const Problem& problem, bool hard) {
    Result found(problem);
    base::Stop stop;
    problem.step(hard).add(problem.values.data(), problem.weights, found.logs.data(), found.sums(),
                           stop);
    return found;
}

// Definition of a step.
Result plain(const Problem& problem, bool hard) {
    Result found(problem);
    const std::size_t d = problem.dimension;
    for (std::size_t i = 0; i < problem.rows; ++i) {
        std::vector<double> terms = problem.offset;
        const float* row = problem.values.data() + i * d;
        std::size_t best = 0;
        for (std::size_t k = 0; k < problem.n; ++k) {
            for (std::size_t j = 0; j < d; ++j) {
                const auto x = static_cast<double>(row[j]);
                terms[k] += x * problem.linear[k * d + j];
                if (!problem.quadratic.empty()) terms[k] += x * x * problem.quadratic[k * d + j];
            }
            if (terms[k] > terms[best]) best = k;
        }
        double total = 0;
        for (const double term : terms) total += std::exp(term - terms[best]);
        found.logs[i] = terms[best] + (hard ? 0 : std::log(total));
        for (std::size_t k = 0; k < problem.n; ++k) {
            const double share = hard ? (k == best ? 1 : 0) : std::exp(terms[k] - found.logs[i]);
            const double weight = share * problem.weights[i];
            found.counts[k] += weight;
            for (std::size_t j = 0; j < d; ++j) {
                const auto x = static_cast<double>(row[j]);
                found.first[k * d + j] += weight * x;
                if (!problem.quadratic.empty()) found.second[k * d + j] += weight * x * x;
            }
        }
    }
    return found;
}

void check_near(const std::vector<double>& found, const std::vector<double>& wanted,
                double tolerance) {
    for (std::size_t k = 0; k < wanted.size(); ++k) CHECK_NEAR(found[k], wanted[k], tolerance);
}

} // namespace

TEST(mixture_steps_match_their_definition) {
    Random random(3);
    for (const std::size_t d : {1u, 4u, 31u, 33u, 64u, 300u}) {
        for (const std::size_t n : {1u, 7u, 16u, 33u}) {
            for (const bool squares : {false, true}) {
                const Problem problem(random, 261, d, n, squares);
                for (const bool hard : {false, true}) {
                    const Result wanted = plain(problem, hard);
                    const Result found = step_of(problem, hard);
                    // Logarithms are some hundreds; two components may be equally good for a row.
                    check_near(found.logs, wanted.logs, 2e-4);
                    check_near(found.counts, wanted.counts, 2e-2);
                    check_near(found.first, wanted.first, 5e-2);
                    check_near(found.second, wanted.second, 5e-2);
                }
            }
        }
    }
}

TEST(mixture_rows_do_not_depend_on_other_rows) {
    Random random(4);
    const Problem problem(random, 261, 19, 5, true);
    const std::vector<double> logs = step_of(problem, false).logs;
    for (std::size_t i = 0; i < problem.rows; ++i) {
        Problem alone = problem;
        const float* row = problem.values.data() + i * problem.dimension;
        alone.rows = 1;
        alone.values.assign(row, row + problem.dimension);
        alone.weights = {problem.weights[i]};
        CHECK(step_of(alone, false).logs[0] == logs[i]);
    }
}

TEST(mixture_shares_below_rounding_are_dropped) {
    Random random(5);
    // Two components whose terms of the row 1 differ by 20.
    Problem problem(random, 1, 1, 2, false);
    problem.values = {1};
    problem.weights = {1};
    problem.offset = {0, 0};
    problem.linear = {0, -20};
    CHECK(step_of(problem, false).counts == std::vector<double>({1, 0}));
    problem.linear = {0, -18};
    CHECK_NEAR(step_of(problem, false).counts[1], std::exp(-18), 1e-14);
}

TEST(mixture_rows_out_of_range_are_reported) {
    Random random(6);
    for (const bool hard : {false, true}) {
        for (const float value : {1e30F, std::numeric_limits<float>::quiet_NaN(),
                                  std::numeric_limits<float>::infinity()}) {
            Problem problem(random, 20, 3, 4, true);
            problem.values[7] = value;
            const Result found = step_of(problem, hard);
            for (std::size_t i = 0; i < problem.rows; ++i)
                CHECK(std::isfinite(found.logs[i]) == (i != 2));
        }
    }
}
