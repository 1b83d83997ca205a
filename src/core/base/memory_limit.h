// Limit of the memory that the large problems of one call may use together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

namespace textkin::base {

// The memory that this process may use, in bytes: of the machine, or the limit of its control
// group (cgroup) on Linux if that is smaller. `root` is the folder that holds `proc` and `sys`.
[[nodiscard]] std::uint64_t usable_memory(const std::string& root = "/");

// Half of usable_memory(). The first call reads files and allocates memory, so it can throw
// std::bad_alloc; a later call then tries again.
[[nodiscard]] std::uint64_t default_memory_limit();

// A number of bytes for messages, such as "1.5 GiB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

// Thrown before memory is allocated that would exceed a limit. Python receives a MemoryError.
class MemoryLimitError : public std::bad_alloc {
  public:
    explicit MemoryLimitError(std::string message) : message_(std::move(message)) {}
    [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

  private:
    std::string message_;
};

// Bytes that the threads of one call have reserved, and their limit.
class MemoryBudget {
  public:
    // 0: the default limit.
    void set_limit(std::uint64_t bytes) noexcept { limit_ = bytes; }
    [[nodiscard]] std::uint64_t limit() const {
        return limit_ > 0 ? limit_ : default_memory_limit();
    }
    // Returns false if the others have reserved too much. Throws what default_memory_limit()
    // throws, and has reserved nothing then.
    [[nodiscard]] bool try_reserve(std::uint64_t bytes) {
        const std::uint64_t most = limit();
        std::uint64_t before = reserved_.load(std::memory_order_relaxed);
        do {
            if (before > most || bytes > most - before) return false;
        } while (!reserved_.compare_exchange_weak(before, before + bytes));
        return true;
    }
    void release(std::uint64_t bytes) noexcept { reserved_.fetch_sub(bytes); }
    [[nodiscard]] std::uint64_t reserved() const noexcept { return reserved_.load(); }

  private:
    std::uint64_t limit_ = 0;
    std::atomic<std::uint64_t> reserved_{0};
};

} // namespace textkin::base
