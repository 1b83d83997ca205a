// Peak memory of transport problems, compared with the bounds by which they reserve memory.
#include "corpus.h"
#include "memory.h"
#include "search/batch.h"
#include "transport/memory.h"
#include "transport/pair_solver.h"

#include <cmath>
#include <cstdint>

using namespace textkin;

namespace {

constexpr std::size_t kWords = 1500; // large enough for a reservation

// Costs that the greedy start solves, except for the first two rows and columns, which need a
// pivot.
double near_diagonal(std::size_t i, std::size_t j) {
    if (i + j < 2) return i + j == 0 ? 0 : 1;
    if (i == 1 && j == 1) return 1e4;
    return std::abs(static_cast<double>(i) - static_cast<double>(j));
}

struct Peak {
    std::size_t before = 0;

    Peak() {
        memory::reset_peak();
        before = memory::peak();
    }
    [[nodiscard]] std::uint64_t bytes() const { return memory::peak() - before; }
};

// Solves with costs up to `largest`, of which only the corner has one.
transport::Method check_solver(double largest, const transport::TransportLimits& limits) {
    const std::vector<std::int64_t> ones(kWords, 1);
    const auto cost = [largest](std::size_t i, std::size_t j) {
        return i == kWords - 1 && j == 0 ? largest : near_diagonal(i, j);
    };
    const std::uint64_t bound = transport::solver_bytes(kWords, kWords);
    CHECK(bound > transport::kLargeProblem);
    base::Stop stop;
    const Peak peak;
    transport::RealCostSolver solver;
    transport::Solution solution;
    const double found = solver.solve(ones, ones, cost, largest, solution, stop, limits);
    CHECK_NEAR(found, 2, 1e-5);
    CHECK(peak.bytes() <= bound);
    CHECK(peak.bytes() > bound / 5);
    return solution.method;
}

// Two documents on a line, each word of one next to a word of the other. With `is_wide`, one of
// these pairs is so far from the rest that costs need 64 bits.
struct Line {
    corpus::Table table;
    transport::Documents documents;

    static Line make(bool is_wide, std::size_t copies = 1) {
        corpus::Table table{{}, 1};
        std::vector<corpus::Weights> rows(2 * copies);
        for (std::size_t w = 0; w < 2 * kWords; ++w) {
            const double at = static_cast<double>(w / 2) + 0.25 * static_cast<double>(w % 2);
            const bool is_far = is_wide && w / 2 == kWords - 1;
            table.data.push_back(static_cast<float>(is_far ? 1e8 + 64 * at : at));
            for (std::size_t copy = 0; copy < copies; ++copy)
                rows[2 * copy + w % 2].push_back({static_cast<std::int32_t>(w), 1.0});
        }
        return {table, corpus::documents(rows)};
    }
    [[nodiscard]] static std::uint64_t bound() { return transport::pair_bytes(kWords, kWords, 1); }
};

} // namespace

TEST(peak_memory_of_the_narrow_simplex_is_within_the_bound) {
    CHECK(check_solver(1e4, {}) == transport::Method::narrow_simplex);
}

TEST(peak_memory_of_the_wide_simplex_is_within_the_bound) {
    CHECK(check_solver(1e13, {}) == transport::Method::wide_simplex);
    CHECK(check_solver(1e4, {.narrow_potential = 0}) == transport::Method::wide_simplex);
}

TEST(peak_memory_of_shortest_paths_is_within_the_bound) {
    CHECK(check_solver(1e4, {.pivots = 0}) == transport::Method::shortest_paths);
    CHECK(check_solver(1e13, {.pivots = 0}) == transport::Method::shortest_paths);
}

TEST(peak_memory_of_a_pair_is_within_the_bound_and_released) {
    for (const bool is_wide : {false, true}) {
        const Line line = Line::make(is_wide);
        const transport::VectorTable table = line.table.view();
        const transport::Cost cost = transport::Cost::euclidean;
        const transport::Document a = line.documents[0];
        const transport::Document b = line.documents[1];
        transport::PairSolver solver;
        base::Stop stop;
        const std::size_t before = memory::in_use();
        {
            const Peak peak;
            CHECK(solver.distance(table, cost, a, b, stop) > 0.2);
            CHECK(peak.bytes() <= Line::bound());
            CHECK(peak.bytes() > Line::bound() / 5);
        }
        CHECK(memory::in_use() == before);
        {
            const Peak peak;
            const transport::Explanation why = solver.explain(table, cost, a, b, stop);
            CHECK(why.moves.size() == kWords);
            CHECK((why.method == transport::Method::wide_simplex) == is_wide);
            CHECK(peak.bytes() <= Line::bound());
        }
        {
            const Peak peak;
            CHECK(solver.distance(table, cost, a, b, stop, 1e-3) > 1e-3); // with a bound first
            CHECK(peak.bytes() <= Line::bound());
        }
        {
            const Peak peak;
            static_cast<void>(solver.bounds(table, cost, a, b, stop));
            CHECK(peak.bytes() <= Line::bound());
        }
        CHECK(memory::in_use() == before);
        CHECK(stop.memory().reserved() == 0);
    }
}

TEST(threads_of_a_call_share_its_memory_limit) {
    const Line line = Line::make(false, 2);
    std::vector<std::int64_t> first{0, 1, 2, 3};
    std::vector<std::int64_t> second{1, 0, 1, 2};
    std::vector<double> free(4);
    std::vector<double> limited(4);
    const search::Space space{line.table.view(), transport::Cost::euclidean};
    base::Stop stop;
    search::distance_pairs(space, line.documents, first, line.documents, second, 1, stop, free);
    base::Stop limit;
    limit.memory().set_limit(Line::bound() * 3 / 2);
    const Peak peak;
    search::distance_pairs(space, line.documents, first, line.documents, second, 4, limit, limited);
    CHECK(limited == free);
    CHECK(peak.bytes() <= Line::bound() * 3 / 2);
    CHECK(limit.memory().reserved() == 0);
}

TEST(pairs_above_the_memory_limit_throw_before_allocating) {
    const Line line = Line::make(false);
    const search::Space space{line.table.view(), transport::Cost::euclidean};
    const std::vector<std::int64_t> first{0};
    const std::vector<std::int64_t> second{1};
    std::vector<double> out(1);
    base::Stop stop;
    stop.memory().set_limit(Line::bound() - 1);
    const Peak peak;
    std::string message;
    try {
        search::distance_pairs(space, line.documents, first, line.documents, second, 1, stop, out);
    } catch (const base::MemoryLimitError& error) {
        message = error.what();
    }
    CHECK(message.find("1500 and 1500 distinct words or points") != std::string::npos);
    CHECK(message.find("the limit is") != std::string::npos);
    CHECK(peak.bytes() < std::size_t{1} << 20);
    // A request to stop ends the wait for memory of others.
    base::Stop waits;
    waits.memory().set_limit(Line::bound());
    CHECK(waits.memory().try_reserve(1));
    waits.request();
    CHECK_THROWS(base::Stopped, search::distance_pairs(space, line.documents, first, line.documents,
                                                       second, 1, waits, out));
}
