#include "base/joined_threads.h"
#include "base/parallel.h"
#include "check.h"
#include "corpus.h"
#include "search/batch.h"

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
    transport::Documents documents;

    static Library make(transport::Cost cost) {
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

    [[nodiscard]] std::vector<double> matrix(transport::Cost cost, bool symmetric,
                                             unsigned threads) const {
        std::vector<double> out(documents.size() * documents.size(), -1);
        base::Stop stop;
        search::distance_matrix({table.view(), cost}, documents, documents, symmetric, threads,
                                stop, out);
        return out;
    }
};

} // namespace

TEST(parallel_runs_every_item_once) {
    for (const unsigned threads : kThreads) {
        for (const std::size_t count : {0u, 1u, 2u, 7u, 1000u}) {
            std::vector<std::atomic<int>> runs(count);
            base::Stop stop;
            base::parallel_for(count, threads, stop, [&](std::size_t item) { ++runs[item]; });
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
    base::Stop stop;
    base::parallel_for(2, 2, stop, [&](std::size_t) {
        ++here;
        while (here < 2) std::this_thread::yield();
    });
    CHECK(here == 2);
}

TEST(parallel_exception_reaches_the_caller_and_stops_the_others) {
    for (const unsigned threads : kThreads) {
        constexpr std::size_t count = 100000; // too many to wait for
        std::atomic<std::size_t> begun{0};
        base::Stop stop;
        CHECK_THROWS(std::runtime_error,
                     base::parallel_for(count, threads, stop, [&](std::size_t item) {
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
    base::Stop stop;
    CHECK_THROWS(std::runtime_error, base::parallel_for(100, 4, stop, [](std::size_t) {
                     throw std::runtime_error("each");
                 }));
}

// A nested call that fails stops all threads before its exception arrives.
TEST(parallel_failure_of_a_nested_call_is_not_hidden_by_the_stop) {
    base::Stop stop;
    std::atomic<bool> waits{false};
    std::atomic<bool> stopped{false};
    const auto fail = [](std::size_t) { throw std::runtime_error("it fails"); };
    const auto body = [&](std::size_t item) {
        if (item == 1) {
            waits = true;
            while (!stop.was_requested()) rest();
            stopped = true;
            throw base::Stopped{};
        }
        while (!waits) rest();
        try {
            base::parallel_for(1, 1, stop, fail);
        } catch (const std::runtime_error&) {
            while (!stopped) rest();
            for (int k = 0; k < 20; ++k) rest(); // the other exception arrives first
            throw;
        }
    };
    CHECK_THROWS(std::runtime_error, base::parallel_for(2, 2, stop, body));
}

TEST(parallel_poll_stops) {
    for (const unsigned threads : kThreads) {
        std::atomic<std::size_t> begun{0};
        std::size_t told = 0;
        base::Stop stop(
            [&told](std::size_t finished) {
                told = finished;
                return finished >= 3;
            },
            std::chrono::nanoseconds(0));
        CHECK_THROWS(base::Stopped, base::parallel_for(100000, threads, stop, [&](std::size_t) {
                         ++begun;
                         rest();
                     }));
        CHECK(told >= 3);
        CHECK(begun >= 3 && begun < 50000);
    }
}

TEST(parallel_poll_that_never_stops_changes_nothing) {
    std::atomic<int> runs{0};
    base::Stop stop([](std::size_t) { return false; }, std::chrono::nanoseconds(0));
    base::parallel_for(500, 4, stop, [&](std::size_t) { ++runs; });
    CHECK(runs == 500);
}

TEST(parallel_poll_that_throws_reaches_the_caller) {
    base::Stop stop([](std::size_t) -> bool { throw std::runtime_error("poll"); },
                    std::chrono::nanoseconds(0));
    CHECK_THROWS(std::runtime_error,
                 base::parallel_for(1000, 4, stop, [](std::size_t) { rest(); }));
}

TEST(parallel_poll_runs_on_the_thread_that_made_it) {
    const std::thread::id owner = std::this_thread::get_id();
    bool elsewhere = false; // only ever written by the owner, or the sanitizer complains
    base::Stop stop(
        [&](std::size_t) {
            elsewhere = elsewhere || std::this_thread::get_id() != owner;
            return false;
        },
        std::chrono::nanoseconds(0));
    base::parallel_for(200, 8, stop, [](std::size_t) { std::this_thread::yield(); });
    CHECK(!elsewhere);
}

// Only the calling thread polls, also while another thread runs the last item.
TEST(parallel_poll_reaches_a_long_last_item_of_another_thread) {
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> helper_works{false};
    base::Stop stop([&](std::size_t) { return helper_works.load(); }, std::chrono::milliseconds(1));
    const auto body = [&](std::size_t) {
        if (std::this_thread::get_id() == caller) {
            while (!helper_works) rest();
            return;
        }
        helper_works = true;
        while (!stop.requested()) rest();
        throw base::Stopped{};
    };
    CHECK_THROWS(base::Stopped, base::parallel_for(2, 2, stop, body));
}

TEST(parallel_a_stop_is_seen_by_a_second_call_too) {
    base::Stop stop;
    base::parallel_for(10, 1, stop, [](std::size_t) {});
    CHECK_THROWS(base::Stopped,
                 base::parallel_for(5, 1, stop, [&](std::size_t) { stop.request(); }));
}

TEST(parallel_stopped_before_its_start) {
    for (const unsigned threads : kThreads) {
        std::atomic<int> runs{0};
        base::Stop stop;
        stop.request();
        CHECK_THROWS(base::Stopped,
                     base::parallel_for(10, threads, stop, [&](std::size_t) { ++runs; }));
        CHECK(runs == 0);
    }
}

TEST(distance_matrix_is_bit_identical_for_any_number_of_threads) {
    for (const transport::Cost cost : corpus::kCosts) {
        const Library library = Library::make(cost);
        const std::vector<double> single = library.matrix(cost, false, 1);
        CHECK(same_bits(single, library.matrix(cost, false, 4)));
        CHECK(same_bits(library.matrix(cost, true, 1), library.matrix(cost, true, 4)));
    }
}

TEST(distance_matrix_symmetric_equals_full) {
    for (const transport::Cost cost : corpus::kCosts) {
        const Library library = Library::make(cost);
        CHECK(same_bits(library.matrix(cost, false, 2), library.matrix(cost, true, 2)));
    }
}

TEST(distance_matrix_is_infinite_for_empty_documents) {
    const Library library = Library::make(transport::Cost::euclidean);
    const std::size_t n = library.documents.size();
    for (const bool symmetric : {false, true}) {
        const std::vector<double> out = library.matrix(transport::Cost::euclidean, symmetric, 2);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                const bool empty = library.documents[i].empty() || library.documents[j].empty();
                CHECK(empty == (out[i * n + j] == std::numeric_limits<double>::infinity()));
            }
    }
}

TEST(distance_matrix_of_no_documents) {
    const corpus::Table table{{0.0F}, 1};
    const transport::Documents none = corpus::documents({});
    const transport::Documents one = corpus::documents({{{0, 1.0}}});
    base::Stop stop;
    search::distance_matrix({table.view()}, none, none, true, 2, stop, {});
    search::distance_matrix({table.view()}, none, one, false, 2, stop, {});
    search::distance_matrix({table.view()}, one, none, false, 2, stop, {});
    CHECK(stop.finished() == 0);
}

TEST(distance_pairs_equal_the_matrix) {
    const Library library = Library::make(transport::Cost::euclidean);
    const std::size_t n = library.documents.size();
    const std::vector<double> matrix = library.matrix(transport::Cost::euclidean, false, 1);
    std::vector<std::int64_t> a, b;
    std::vector<double> expected;
    for (std::size_t k = 0; k < 50; ++k) {
        a.push_back(static_cast<std::int64_t>(k * 7 % n));
        b.push_back(static_cast<std::int64_t>(k * 5 % n));
        expected.push_back(matrix[k * 7 % n * n + k * 5 % n]);
    }
    for (const unsigned threads : kThreads) {
        std::vector<double> out(expected.size());
        base::Stop stop;
        search::distance_pairs({library.table.view()}, library.documents, a, library.documents, b,
                               threads, stop, out);
        CHECK(same_bits(out, expected));
    }
}

TEST(bound_matrices_equal_the_bounds_of_pairs) {
    const Library library = Library::make(transport::Cost::euclidean);
    const std::size_t n = library.documents.size();
    transport::PairSolver solver;
    base::Stop stop;
    std::vector<double> expected(3 * n * n, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const transport::Document a = library.documents[i];
            const transport::Document b = library.documents[j];
            if (a.empty() || b.empty()) continue;
            const transport::Bounds bounds =
                solver.bounds(library.table.view(), transport::Cost::euclidean, a, b, stop);
            expected[i * n + j] = bounds.centroid;
            expected[n * n + i * n + j] = bounds.source;
            expected[2 * n * n + i * n + j] = bounds.target;
        }
    }
    for (const unsigned threads : kThreads) {
        std::vector<double> out(expected.size(), -1);
        search::bound_matrices({library.table.view()}, library.documents, library.documents,
                               threads, stop, out);
        CHECK(same_bits(out, expected));
    }
}

TEST(distance_matrix_can_be_stopped_and_run_again) {
    const Library library = Library::make(transport::Cost::euclidean);
    const std::size_t n = library.documents.size();
    std::vector<double> out(n * n, -1);
    base::Stop stop([](std::size_t finished) { return finished >= 5; },
                    std::chrono::nanoseconds(0));
    CHECK_THROWS(base::Stopped, search::distance_matrix({library.table.view()}, library.documents,
                                                        library.documents, false, 1, stop, out));
    // The solver of this thread was interrupted during a pair.
    CHECK(same_bits(library.matrix(transport::Cost::euclidean, false, 1),
                    library.matrix(transport::Cost::euclidean, false, 4)));
}

// A poll may run Python, which may call textkin again during a pair.
TEST(poll_that_solves_another_pair_changes_no_result) {
    std::mt19937_64 random(5);
    const corpus::Table table = corpus::random_table(random, 300, 8, transport::Cost::euclidean);
    std::vector<corpus::Weights> rows;
    for (int i = 0; i < 4; ++i) rows.push_back(corpus::random_document(random, 300, 0.6, false));
    const transport::Documents documents = corpus::documents(rows);
    const search::Space space{table.view(), transport::Cost::euclidean};
    const auto solve = [&](base::Stop& stop) {
        std::vector<double> out(16);
        search::distance_matrix(space, documents, documents, false, 1, stop, out);
        return out;
    };
    base::Stop quiet;
    const std::vector<double> expected = solve(quiet);
    int polls = 0;
    base::Stop nested(
        [&](std::size_t) {
            ++polls;
            base::Stop inner;
            CHECK(same_bits(solve(inner), expected));
            return false;
        },
        std::chrono::microseconds(20));
    CHECK(same_bits(solve(nested), expected));
    CHECK(polls > 16); // also during pairs
}

TEST(thread_reuses_the_workspace_of_an_ended_thread) {
    const auto used_by_a_thread = [] {
        search::Workspace* used = nullptr;
        std::thread([&] { used = &*search::WorkspaceLease(); }).join();
        return used;
    };
    search::Workspace* const first = used_by_a_thread();
    CHECK(used_by_a_thread() == first);
    // Never the workspace of a running thread.
    std::thread([&] {
        search::WorkspaceLease mine;
        CHECK(&*mine == first);
        CHECK(used_by_a_thread() != first);
    }).join();
}

TEST(more_threads_end_than_workspaces_are_cached) {
    std::atomic<int> here{0};
    base::JoinedThreads team;
    for (int i = 0; i < 40; ++i)
        team.start([&] {
            const search::WorkspaceLease mine;
            ++here;
            while (here < 40) std::this_thread::yield();
        });
    team.join(); // all end at about the same time; sanitizers detect leaks
    CHECK(here == 40);
}
