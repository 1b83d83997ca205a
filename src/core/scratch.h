// Memory that the items of a parallel loop use one after another.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace textkin {

template <class Scratch> class ScratchPool {
  public:
    // Given back when the lease ends.
    class Lease {
      public:
        explicit Lease(ScratchPool& pool) : pool_(pool) {
            const std::lock_guard lock(pool_.guard_);
            if (pool_.free_.empty()) {
                scratch_ = std::make_unique<Scratch>();
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
    std::vector<std::unique_ptr<Scratch>> free_;
};

} // namespace textkin
