// Scratch memory that the items of a parallel loop, or the calls of a thread, use one after
// another.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace textkin::base {

template <class Scratch> class ScratchPool {
  public:
    // Returned to the pool when the lease ends.
    class Lease {
      public:
        explicit Lease(ScratchPool& pool) : pool_(pool) {
            const std::lock_guard lock(pool_.guard_);
            if (pool_.free_.empty()) {
                // Its return allocates nothing: it may happen while a failed allocation unwinds.
                pool_.free_.reserve(pool_.made_ + 1);
                scratch_ = std::make_unique<Scratch>();
                ++pool_.made_;
            } else {
                scratch_ = std::move(pool_.free_.back());
                pool_.free_.pop_back();
            }
        }
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease() {
            const std::lock_guard lock(pool_.guard_);
            pool_.free_.push_back(std::move(scratch_));
        }
        Scratch& operator*() const { return *scratch_; }
        Scratch* operator->() const { return scratch_.get(); }

      private:
        ScratchPool& pool_;
        std::unique_ptr<Scratch> scratch_;
    };

    [[nodiscard]] Lease take() { return Lease(*this); }

  private:
    std::mutex guard_;
    std::size_t made_ = 0;
    std::vector<std::unique_ptr<Scratch>> free_; // has room for all that were made
};

// The scratch memory of this thread. A poll may run Python, which may call the same function again
// on the same thread, in the middle of a search: the second call gets memory of its own.
template <class Scratch> class ThreadScratch {
  public:
    ThreadScratch() {
        static thread_local Kept kept;
        if (kept.is_taken) {
            own_ = std::make_unique<Scratch>();
            scratch_ = own_.get();
        } else {
            kept.is_taken = true;
            is_taken_ = &kept.is_taken;
            scratch_ = &kept.scratch;
        }
    }
    ThreadScratch(const ThreadScratch&) = delete;
    ThreadScratch& operator=(const ThreadScratch&) = delete;
    ~ThreadScratch() {
        if (is_taken_ != nullptr) *is_taken_ = false;
    }

    Scratch& operator*() const { return *scratch_; }

  private:
    struct Kept {
        Scratch scratch;
        bool is_taken = false;
    };
    Scratch* scratch_ = nullptr;
    bool* is_taken_ = nullptr;
    std::unique_ptr<Scratch> own_;
};

} // namespace textkin::base
