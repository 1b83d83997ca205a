#include "check.h"
#include "corpus.h"
#include "textkin/batch.h"
#include "textkin/parallel.h"

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

using namespace textkin;

namespace {

constexpr unsigned kThreads[] = {1, 2, 4, 8};

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!corpus::same_bits(a[i], b[i])) return false;
    return true;
}

// Twelve documents, two of them empty and two equal.
struct Library {
    corpus::Table table;
    Documents documents;

    static Library make(Cost cost) {
        std::mt19937_64 random(1);
        corpus::Table vectors = corpus::random_table(random, 60, 10, cost);
        std::vector<corpus::Weights> rows;
        for (int i = 0; i < 10; ++i)
            rows.push_back(corpus::random_document(random, 60, 0.3, i % 2 == 0));
        rows[4].clear();
        rows[7] = rows[2];
        rows.insert(rows.begin(), corpus::Weights{});
        rows.push_back({{3, 1.0}});
        return {std::move(vectors), corpus::documents(rows)};
    }

    [[nodiscard]] std::vector<double> matrix(Cost cost, bool symmetric, unsigned threads) const {
        std::vector<double> out(documents.size() * documents.size(), -1);
        Stop stop;
        distance_matrix({table.view(), cost}, documents, documents, symmetric, threads, stop, out);
        return out;
    }
};

} // namespace

TEST(parallel_runs_every_item_once) {
    for (const unsigned threads : kThreads) {
        for (const std::size_t count : {0u, 1u, 2u, 7u, 1000u}) {
            std::vector<std::atomic<int>> runs(count);
            Stop stop;
            parallel_for(count, threads, stop, [&](std::size_t item) { ++runs[item]; });
            bool once = true;
            for (const std::atomic<int>& number : runs) once = once && number == 1;
            CHECK(once);
            CHECK(stop.finished() == count);
        }
    }
}

TEST(parallel_uses_the_threads_it_is_given) {
    // Two items that wait for each other end only on two threads.
    std::atomic<int> here{0};
    Stop stop;
    parallel_for(2, 2, stop, [&](std::size_t) {
        ++here;
        while (here < 2) std::this_thread::yield();
    });
    CHECK(here == 2);
}

TEST(parallel_exception_reaches_the_caller_and_stops_the_others) {
    for (const unsigned threads : kThreads) {
        constexpr std::size_t count = 100000; // far too many to wait for
        std::atomic<std::size_t> begun{0};
        Stop stop;
        CHECK_THROWS(std::runtime_error, parallel_for(count, threads, stop, [&](std::size_t item) {
                         ++begun;
                         if (item == 5) throw std::runtime_error("item 5");
                         rest();
                     }));
        CHECK(begun < count / 2);
        CHECK(stop.requested());
        if (threads == 1) CHECK(begun == 6);
    }
}

TEST(parallel_exception_in_every_item_gives_one) {
    Stop stop;
    CHECK_THROWS(std::runtime_error,
                 parallel_for(100, 4, stop, [](std::size_t) { throw std::runtime_error("each"); }));
}

TEST(parallel_poll_stops) {
    for (const unsigned threads : kThreads) {
        std::atomic<std::size_t> begun{0};
        std::size_t told = 0;
        Stop stop(
            [&told](std::size_t finished) {
                told = finished;
                return finished >= 3;
            },
            std::chrono::nanoseconds(0));
        CHECK_THROWS(Stopped, parallel_for(100000, threads, stop, [&](std::size_t) {
                         ++begun;
                         rest();
                     }));
        CHECK(told >= 3);
        CHECK(begun >= 3 && begun < 50000);
    }
}

TEST(parallel_poll_that_never_stops_changes_nothing) {
    std::atomic<int> runs{0};
    Stop stop([](std::size_t) { return false; }, std::chrono::nanoseconds(0));
    parallel_for(500, 4, stop, [&](std::size_t) { ++runs; });
    CHECK(runs == 500);
}

TEST(parallel_poll_that_throws_reaches_the_caller) {
    Stop stop([](std::size_t) -> bool { throw std::runtime_error("poll"); },
              std::chrono::nanoseconds(0));
    CHECK_THROWS(std::runtime_error, parallel_for(1000, 4, stop, [](std::size_t) { rest(); }));
}

TEST(parallel_poll_runs_on_the_thread_that_made_it) {
    const std::thread::id owner = std::this_thread::get_id();
    bool elsewhere = false; // only ever written by the owner, or the sanitizer complains
    Stop stop(
        [&](std::size_t) {
            elsewhere = elsewhere || std::this_thread::get_id() != owner;
            return false;
        },
        std::chrono::nanoseconds(0));
    parallel_for(200, 8, stop, [](std::size_t) { std::this_thread::yield(); });
    CHECK(!elsewhere);
}

// Only the calling thread polls: it must go on doing so when the last item is someone else's.
TEST(parallel_poll_reaches_a_long_last_item_of_another_thread) {
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> helper_works{false};
    Stop stop([&](std::size_t) { return helper_works.load(); }, std::chrono::milliseconds(1));
    const auto body = [&](std::size_t) {
        if (std::this_thread::get_id() == caller) {
            while (!helper_works) rest();
            return;
        }
        helper_works = true;
        while (!stop.requested()) rest();
        throw Stopped{};
    };
    CHECK_THROWS(Stopped, parallel_for(2, 2, stop, body));
}

TEST(parallel_a_stop_is_seen_by_a_second_call_too) {
    Stop stop;
    parallel_for(10, 1, stop, [](std::size_t) {});
    CHECK_THROWS(Stopped, parallel_for(5, 1, stop, [&](std::size_t) { stop.request(); }));
}

TEST(parallel_stopped_before_it_began) {
    for (const unsigned threads : kThreads) {
        std::atomic<int> runs{0};
        Stop stop;
        stop.request();
        CHECK_THROWS(Stopped, parallel_for(10, threads, stop, [&](std::size_t) { ++runs; }));
        CHECK(runs == 0);
    }
}

TEST(distance_matrix_is_the_same_bits_on_any_number_of_threads) {
    for (const Cost cost : corpus::kCosts) {
        const Library library = Library::make(cost);
        const std::vector<double> single = library.matrix(cost, false, 1);
        CHECK(same_bits(single, library.matrix(cost, false, 4)));
        CHECK(same_bits(library.matrix(cost, true, 1), library.matrix(cost, true, 4)));
    }
}

TEST(distance_matrix_symmetric_equals_full) {
    for (const Cost cost : corpus::kCosts) {
        const Library library = Library::make(cost);
        CHECK(same_bits(library.matrix(cost, false, 2), library.matrix(cost, true, 2)));
    }
}

TEST(distance_matrix_is_infinite_where_a_document_is_empty) {
    const Library library = Library::make(Cost::euclidean);
    const std::size_t n = library.documents.size();
    for (const bool symmetric : {false, true}) {
        const std::vector<double> out = library.matrix(Cost::euclidean, symmetric, 2);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                const bool empty = library.documents[i].empty() || library.documents[j].empty();
                CHECK(empty == (out[i * n + j] == std::numeric_limits<double>::infinity()));
            }
    }
}

TEST(distance_matrix_of_no_documents) {
    const corpus::Table table{{0.0F}, 1};
    const Documents none = corpus::documents({});
    const Documents one = corpus::documents({{{0, 1.0}}});
    Stop stop;
    distance_matrix({table.view()}, none, none, true, 2, stop, {});
    distance_matrix({table.view()}, none, one, false, 2, stop, {});
    distance_matrix({table.view()}, one, none, false, 2, stop, {});
    CHECK(stop.finished() == 0);
}

TEST(distance_pairs_equal_the_matrix) {
    const Library library = Library::make(Cost::euclidean);
    const std::size_t n = library.documents.size();
    const std::vector<double> matrix = library.matrix(Cost::euclidean, false, 1);
    std::vector<std::int64_t> a, b;
    std::vector<double> expected;
    for (std::size_t k = 0; k < 50; ++k) {
        a.push_back(static_cast<std::int64_t>(k * 7 % n));
        b.push_back(static_cast<std::int64_t>(k * 5 % n));
        expected.push_back(matrix[k * 7 % n * n + k * 5 % n]);
    }
    for (const unsigned threads : kThreads) {
        std::vector<double> out(expected.size());
        Stop stop;
        distance_pairs({library.table.view()}, library.documents, a, library.documents, b, threads,
                       stop, out);
        CHECK(same_bits(out, expected));
    }
}

TEST(bound_matrices_equal_the_bounds_of_pairs) {
    const Library library = Library::make(Cost::euclidean);
    const std::size_t n = library.documents.size();
    PairSolver solver;
    Stop stop;
    std::vector<double> expected(3 * n * n, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const Document a = library.documents[i];
            const Document b = library.documents[j];
            if (a.empty() || b.empty()) continue;
            const Bounds bounds = solver.bounds(library.table.view(), Cost::euclidean, a, b, stop);
            expected[i * n + j] = bounds.centroid;
            expected[n * n + i * n + j] = bounds.source;
            expected[2 * n * n + i * n + j] = bounds.target;
        }
    }
    for (const unsigned threads : kThreads) {
        std::vector<double> out(expected.size(), -1);
        bound_matrices({library.table.view()}, library.documents, library.documents, threads, stop,
                       out);
        CHECK(same_bits(out, expected));
    }
}

TEST(distance_matrix_can_be_stopped_and_run_again) {
    const Library library = Library::make(Cost::euclidean);
    const std::size_t n = library.documents.size();
    std::vector<double> out(n * n, -1);
    Stop stop([](std::size_t finished) { return finished >= 5; }, std::chrono::nanoseconds(0));
    CHECK_THROWS(Stopped, distance_matrix({library.table.view()}, library.documents,
                                          library.documents, false, 1, stop, out));
    // The solver of this thread was left in the middle of a pair.
    CHECK(same_bits(library.matrix(Cost::euclidean, false, 1),
                    library.matrix(Cost::euclidean, false, 4)));
}

// A poll may run Python, which may call textkin again in the middle of a pair.
TEST(a_poll_that_solves_another_pair_disturbs_nothing) {
    std::mt19937_64 random(5);
    const corpus::Table table = corpus::random_table(random, 300, 8, Cost::euclidean);
    std::vector<corpus::Weights> rows;
    for (int i = 0; i < 4; ++i) rows.push_back(corpus::random_document(random, 300, 0.6, false));
    const Documents documents = corpus::documents(rows);
    const Space space{table.view(), Cost::euclidean};
    const auto solve = [&](Stop& stop) {
        std::vector<double> out(16);
        distance_matrix(space, documents, documents, false, 1, stop, out);
        return out;
    };
    Stop quiet;
    const std::vector<double> expected = solve(quiet);
    int polls = 0;
    Stop nested(
        [&](std::size_t) {
            ++polls;
            Stop inner;
            CHECK(same_bits(solve(inner), expected));
            return false;
        },
        std::chrono::microseconds(20));
    CHECK(same_bits(solve(nested), expected));
    CHECK(polls > 16); // in the middle of pairs too
}

TEST(a_thread_takes_over_the_workspace_of_one_that_has_ended) {
    const auto used_by_a_thread = [] {
        Workspace* used = nullptr;
        std::thread([&] { used = &*WorkspaceLease(); }).join();
        return used;
    };
    Workspace* const first = used_by_a_thread();
    CHECK(used_by_a_thread() == first);
    // Never that of one that still runs.
    std::thread([&] {
        WorkspaceLease mine;
        CHECK(&*mine == first);
        CHECK(used_by_a_thread() != first);
    }).join();
}

TEST(more_threads_end_than_workspaces_are_kept) {
    std::atomic<int> here{0};
    std::vector<std::jthread> team;
    for (int i = 0; i < 40; ++i)
        team.emplace_back([&] {
            const WorkspaceLease mine;
            ++here;
            while (here < 40) std::this_thread::yield();
        });
    team.clear(); // all end at about the same time; the sanitizers see what is left
    CHECK(here == 40);
}
