// After a pair of the same size, a solver allocates no memory. Allocations are counted by the
// sanitizers' hooks: the test program is run under them, and elsewhere there is nothing to check.
#include "check.h"
#include "corpus.h"
#include "search/batch.h"

#include <atomic>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));

using namespace textkin;

namespace {

std::atomic<int> taken{0};

void count(const volatile void* memory, std::size_t size) {
    static_cast<void>(memory);
    static_cast<void>(size);
    taken.fetch_add(1, std::memory_order_relaxed);
}

void ignore(const volatile void* memory) { static_cast<void>(memory); }

} // namespace

TEST(distance_allocates_no_memory_after_a_pair_of_the_same_size) {
    CHECK(__sanitizer_install_malloc_and_free_hooks(count, ignore) > 0);
    for (const transport::Cost cost : corpus::kCosts) {
        std::mt19937_64 random(11);
        const corpus::Table table = corpus::random_table(random, 200, 30, cost);
        std::vector<corpus::Weights> rows;
        for (int i = 0; i < 12; ++i)
            rows.push_back(corpus::random_document(random, 200, 0.05 + 0.03 * i, i % 2 == 0));
        const transport::Documents documents = corpus::documents(rows);
        transport::PairSolver solver;
        base::Stop stop;
        const auto all_pairs = [&] {
            double sum = 0;
            for (std::size_t i = 0; i < documents.size(); ++i)
                for (std::size_t j = 0; j < documents.size(); ++j) {
                    solver.prefetch(table.view(), documents[j], documents[i]);
                    sum += solver.distance(table.view(), cost, documents[i], documents[j], stop);
                }
            return sum;
        };
        const double first = all_pairs();
        const int before = taken.load();
        CHECK(all_pairs() == first);
        CHECK(taken.load() == before);
        int* volatile memory = new int(0); // checks that the hooks count
        delete memory;
        CHECK(taken.load() > before);
    }
}

#endif
