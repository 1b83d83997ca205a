// Threads that cannot be created.
#include "base/parallel.h"
#include "memory.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace textkin;

namespace {

std::atomic<int> threads_left{-1}; // that can be created; negative: any number

} // namespace

// Replaces the library function that std::thread calls.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
    if (threads_left >= 0 && threads_left.fetch_sub(1) <= 0) {
        threads_left = 0;
        return EAGAIN;
    }
    using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static Create* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
    return create(thread, attributes, start, argument);
}

TEST(parallel_for_without_new_threads_uses_existing_threads) {
    for (const int available : {0, 1, 3}) {
        threads_left = available;
        std::vector<std::atomic<int>> runs(1000);
        std::mutex guard;
        std::set<std::thread::id> seen;
        base::Stop stop;
        base::parallel_for(runs.size(), 8, stop, [&](std::size_t item) {
            ++runs[item];
            const std::lock_guard lock(guard);
            seen.insert(std::this_thread::get_id());
        });
        threads_left = -1;
        CHECK(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; }));
        CHECK(stop.finished() == runs.size());
        CHECK(seen.size() <= static_cast<std::size_t>(available) + 1);
    }
}

TEST(parallel_for_without_memory_runs_every_item_or_throws) {
    memory::fail_at_each(
        [](long) {
            std::vector<std::atomic<int>> runs(20);
            base::Stop stop;
            base::parallel_for(runs.size(), 4, stop, [&](std::size_t item) { ++runs[item]; });
            CHECK(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; }));
        },
        [](long) {});
}
