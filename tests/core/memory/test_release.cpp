// Release of memory while allocations fail.
#include "base/scratch.h"
#include "corpus.h"
#include "memory.h"
#include "search/batch.h"

#include <memory>
#include <thread>

using namespace textkin;

namespace {

// Documents with so many words that the lease releases their workspace at its end.
struct LargePair {
    corpus::Table table;
    transport::Documents documents;

    static LargePair make() {
        constexpr std::size_t words = 4200;
        std::mt19937_64 random(3);
        std::vector<corpus::Weights> rows(2);
        for (std::int32_t w = 0; w < static_cast<std::int32_t>(words); ++w)
            rows[static_cast<std::size_t>(w % 2)].push_back({w, 1.0});
        return {corpus::random_table(random, words, 2, transport::Cost::euclidean),
                corpus::documents(rows)};
    }
    void measure(search::Workspace& workspace) const {
        base::Stop stop;
        workspace.solver.bounds(table.view(), transport::Cost::euclidean, documents[0],
                                documents[1], stop);
    }
};

} // namespace

TEST(workspace_of_a_large_pair_is_released_without_memory) {
    const LargePair pair = LargePair::make();
    {
        search::WorkspaceLease workspace;
        pair.measure(*workspace);
        memory::fail_at(1);
    }
    CHECK(!memory::has_failed());
    memory::fail_at(0);
}

TEST(workspace_of_an_ending_thread_is_released_without_memory) {
    std::thread([] {
        {
            const search::WorkspaceLease workspace;
        }
        memory::fail_at(1);
    }).join();
    CHECK(!memory::has_failed());
    memory::fail_at(0);
}

TEST(scratch_is_returned_without_memory) {
    base::ScratchPool<int> pool;
    const long attempts = memory::fail_at_each(
        [&](long) {
            auto first = pool.take();
            auto second = pool.take();
            auto third = pool.take();
            *first = *second = *third = 1;
        },
        [](long) {});
    CHECK(attempts > 3);
    {
        auto first = pool.take();
        auto second = pool.take();
        auto fourth = std::make_unique<base::ScratchPool<int>::Lease>(pool);
        auto fifth = std::make_unique<base::ScratchPool<int>::Lease>(pool);
        memory::fail_at(1);
        fourth.reset();
        fifth.reset();
    }
    CHECK(!memory::has_failed());
    memory::fail_at(0);
}
