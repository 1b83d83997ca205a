// Threads that are joined where their list ends. The standard library of macOS has no std::jthread.
#pragma once

#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace textkin::base {

class JoinedThreads {
  public:
    JoinedThreads() = default;
    JoinedThreads(const JoinedThreads&) = delete;
    JoinedThreads& operator=(const JoinedThreads&) = delete;
    ~JoinedThreads() { join(); }

    // Start a thread that runs `body`. If it cannot be started, the list stays unchanged.
    template <class Body> void start(Body&& body) {
        threads_.emplace_back(std::forward<Body>(body));
    }
    void join() {
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

  private:
    std::vector<std::thread> threads_;
};

} // namespace textkin::base
