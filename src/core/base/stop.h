// Interruption of long calls: by Ctrl-C, by a callback, or by an exception of another thread.
#pragma once

#include "base/memory_limit.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace textkin::base {

// Thrown by a call that was stopped before its end.
struct Stopped : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

// State that the threads of one call share. Any thread may call requested(); only the thread that
// created the object runs the poll, at most once per interval, so that calls are cheap.
class Stop {
  public:
    using Clock = std::chrono::steady_clock;
    using Poll = std::function<bool(std::size_t finished)>; // true: stop

    Stop() = default;
    explicit Stop(Poll poll, Clock::duration interval = std::chrono::milliseconds(50))
        : poll_(std::move(poll)), interval_(interval), last_(Clock::now()),
          owner_(std::this_thread::get_id()) {}

    // Does not run the poll and does not read the clock.
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
    // The memory that the threads of the call share.
    [[nodiscard]] MemoryBudget& memory() noexcept { return memory_; }

  private:
    Poll poll_;
    Clock::duration interval_{};
    Clock::time_point last_{};
    std::thread::id owner_{};
    std::atomic<bool> flag_{false};
    std::atomic<std::size_t> finished_{0};
    MemoryBudget memory_;
};

} // namespace textkin::base
