#include "base/parallel.h"

#include "base/joined_threads.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>

namespace textkin::base {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(20);
constexpr std::size_t kMostAtOnce = 16; // items that a thread takes
constexpr std::size_t kShares = 4;      // fraction of the remaining items per thread

// Return false if the system cannot start the thread or has no memory for it: the existing threads
// then do all the work.
template <class Body> bool starts(JoinedThreads& team, const Body& body) {
    try {
        team.start(body);
        return true;
    } catch (const std::system_error&) {
        return false;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

} // namespace

void parallel_for(std::size_t count, unsigned threads, Stop& stop,
                  const std::function<void(std::size_t)>& body, bool progress) {
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> finished{0};
    std::mutex guard;
    std::condition_variable helper_left;
    std::exception_ptr failure;
    bool stopped = false; // under guard
    const std::size_t wanted =
        std::min<std::size_t>(threads > 0 ? threads - 1 : 0, count > 0 ? count - 1 : 0);
    const std::size_t team_size = wanted + 1;
    std::size_t helpers = 0; // threads that have not ended; under guard

    const auto guarded = [&](const auto& step) {
        try {
            step();
        } catch (const Stopped&) {
            // A failure within a nested call stops all threads before it arrives here as an
            // exception. So another thread may see the stop first, and the failure is the reason.
            const std::lock_guard lock(guard);
            stopped = true;
            stop.request();
        } catch (...) {
            const std::lock_guard lock(guard);
            if (!failure) failure = std::current_exception();
            stop.request();
        }
    };
    const auto work = [&] {
        while (!stop.requested()) {
            // A few at once while many are left, so that threads with short items do not queue up
            // at the counters; one by one towards the end, so that none is left with much to do.
            const std::size_t left = count - std::min(count, next.load(std::memory_order_relaxed));
            const std::size_t taken =
                team_size == 1
                    ? 1
                    : std::clamp<std::size_t>(left / (kShares * team_size), 1, kMostAtOnce);
            std::size_t item = next.fetch_add(taken, std::memory_order_relaxed);
            if (item >= count) return;
            const std::size_t end = std::min(count, item + taken);
            std::size_t done = 0;
            do {
                body(item++);
                ++done;
            } while (item < end && !stop.requested());
            finished.fetch_add(done, std::memory_order_relaxed);
            if (progress) stop.count_finished(done);
        }
    };
    {
        JoinedThreads team;
        const auto help = [&] {
            guarded(work);
            const std::lock_guard lock(guard);
            --helpers;
            helper_left.notify_one();
        };
        for (std::size_t i = 0; i < wanted; ++i) {
            {
                const std::lock_guard lock(guard);
                ++helpers;
            }
            if (starts(team, help)) continue;
            const std::lock_guard lock(guard);
            --helpers;
            break;
        }
        guarded(work);
        // Only this thread can see Ctrl-C: it goes on looking while the others finish.
        std::unique_lock lock(guard);
        while (helpers > 0) {
            helper_left.wait_for(lock, kPollInterval);
            lock.unlock();
            guarded([&] { static_cast<void>(stop.requested()); });
            lock.lock();
        }
    }
    if (failure) std::rethrow_exception(failure);
    if (stopped || finished < count) throw Stopped{};
}

} // namespace textkin::base
