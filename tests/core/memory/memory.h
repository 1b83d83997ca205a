// The memory of a test program that replaces operator new: how much is in use, and failures on
// demand.
#pragma once

#include "check.h"

#include <cstddef>
#include <exception>
#include <new>
#include <string>

namespace memory {

// The n-th allocation from now on throws std::bad_alloc, in whichever thread it happens; 0: none.
void fail_at(long n);
// True if an allocation has failed since fail_at().
[[nodiscard]] bool has_failed();

[[nodiscard]] std::size_t in_use();
// The largest in_use() since reset_peak().
[[nodiscard]] std::size_t peak();
void reset_peak();

// Calls `work(attempt)` with the first allocation failing, then the second, and so on, until a call
// ends without a failure. `work` must let std::bad_alloc through, or do without the memory; after
// each attempt `check(attempt)` runs with memory to spare.
template <class Work, class Check> long fail_at_each(Work work, Check check) {
    constexpr long most = 100'000;
    for (long n = 1; n <= most; ++n) {
        fail_at(n);
        try {
            work(n);
        } catch (const std::bad_alloc&) {
        } catch (const std::exception& error) {
            fail_at(0);
            check::fail("fail_at_each", static_cast<int>(n), error.what());
        }
        const bool failed = has_failed();
        fail_at(0);
        check(n);
        if (!failed) return n;
    }
    check::fail("fail_at_each", 0, "the work takes memory without end");
    return most;
}

} // namespace memory
