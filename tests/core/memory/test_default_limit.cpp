// The first use of the default memory limit, which reads files, without memory.
#include "base/memory_limit.h"
#include "memory.h"

using namespace textkin;

// Only the first run in a process computes the limit: ctest runs this test alone, too.
TEST(default_memory_limit_throws_when_its_allocations_fail_and_is_computed_later) {
    base::MemoryBudget budget;
    memory::fail_at_each([&](long) { CHECK(budget.try_reserve(1)); },
                         [&](long) {
                             CHECK(budget.reserved() <= 1);
                             budget.release(budget.reserved());
                         });
    CHECK(budget.limit() == base::usable_memory() / 2);
}
