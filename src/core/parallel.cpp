#include "textkin/parallel.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace textkin {

void parallel_for(std::size_t count, unsigned threads, Stop& stop,
                  const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    std::mutex guard;
    std::exception_ptr failure;

    const auto work = [&] {
        try {
            while (!stop.requested()) {
                const std::size_t item = next.fetch_add(1, std::memory_order_relaxed);
                if (item >= count) return;
                body(item);
                stop.count_finished();
            }
        } catch (...) {
            const std::lock_guard lock(guard);
            if (!failure) failure = std::current_exception();
            stop.request();
        }
    };

    const std::size_t helpers =
        std::min<std::size_t>(threads > 0 ? threads - 1 : 0, count > 0 ? count - 1 : 0);
    {
        std::vector<std::jthread> team;
        team.reserve(helpers);
        for (std::size_t i = 0; i < helpers; ++i) team.emplace_back(work);
        work();
    }
    if (failure) std::rethrow_exception(failure);
    if (stop.finished() < count) throw Stopped{};
}

} // namespace textkin
