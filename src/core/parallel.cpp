#include "textkin/parallel.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace textkin {
namespace {

constexpr auto kLookAround = std::chrono::milliseconds(20);

} // namespace

void parallel_for(std::size_t count, unsigned threads, Stop& stop,
                  const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> finished{0};
    std::mutex guard;
    std::condition_variable helper_left;
    std::exception_ptr failure;
    std::size_t helpers =
        std::min<std::size_t>(threads > 0 ? threads - 1 : 0, count > 0 ? count - 1 : 0);

    const auto guarded = [&](const auto& step) {
        try {
            step();
        } catch (...) {
            const std::lock_guard lock(guard);
            if (!failure) failure = std::current_exception();
            stop.request();
        }
    };
    const auto work = [&] {
        while (!stop.requested()) {
            const std::size_t item = next.fetch_add(1, std::memory_order_relaxed);
            if (item >= count) return;
            body(item);
            finished.fetch_add(1, std::memory_order_relaxed);
            stop.count_finished();
        }
    };
    {
        std::vector<std::jthread> team;
        team.reserve(helpers);
        for (std::size_t i = helpers; i > 0; --i)
            team.emplace_back([&] {
                guarded(work);
                const std::lock_guard lock(guard);
                --helpers;
                helper_left.notify_one();
            });
        guarded(work);
        // Only this thread can see Ctrl-C: it goes on looking while the others finish.
        std::unique_lock lock(guard);
        while (helpers > 0) {
            helper_left.wait_for(lock, kLookAround);
            lock.unlock();
            guarded([&] { static_cast<void>(stop.requested()); });
            lock.lock();
        }
    }
    if (failure) std::rethrow_exception(failure);
    if (finished < count) throw Stopped{};
}

} // namespace textkin
