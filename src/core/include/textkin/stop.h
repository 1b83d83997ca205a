// A long call can be stopped: by Ctrl-C, by a callback that has seen enough, by a failing worker.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace textkin {

// Thrown by a call that was stopped before its end.
struct Stopped : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

// Shared by the threads of one call. Any thread may ask; only the thread that made the object
// runs the poll, and not more often than once an interval, so that asking is cheap.
class Stop {
  public:
    using Clock = std::chrono::steady_clock;
    using Poll = std::function<bool(std::size_t finished)>; // true: stop

    Stop() = default;
    explicit Stop(Poll poll, Clock::duration interval = std::chrono::milliseconds(50))
        : poll_(std::move(poll)), interval_(interval), last_(Clock::now()),
          owner_(std::this_thread::get_id()) {}

    // Without running the poll, which takes a look at the clock.
    [[nodiscard]] bool was_requested() const noexcept {
        return flag_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool requested() {
        if (was_requested()) return true;
        if (!poll_ || std::this_thread::get_id() != owner_) return false;
        if (Clock::now() - last_ < interval_) return false;
        if (poll_(finished_.load(std::memory_order_relaxed))) request();
        last_ = Clock::now(); // a poll that takes long leaves time for work until the next
        return was_requested();
    }

    void request() noexcept { flag_.store(true, std::memory_order_relaxed); }
    void throw_if_requested() {
        if (requested()) throw Stopped{};
    }
    void count_finished(std::size_t items = 1) noexcept {
        finished_.fetch_add(items, std::memory_order_relaxed);
    }
    [[nodiscard]] std::size_t finished() const noexcept {
        return finished_.load(std::memory_order_relaxed);
    }

  private:
    Poll poll_;
    Clock::duration interval_{};
    Clock::time_point last_{};
    std::thread::id owner_{};
    std::atomic<bool> flag_{false};
    std::atomic<std::size_t> finished_{0};
};

} // namespace textkin
