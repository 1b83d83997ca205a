// Memory for SIMD loads: aligned to a cache line, never shrinks, and is not initialized.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace textkin::base {

template <class Number> class Buffer {
    static_assert(std::is_trivially_copyable_v<Number>);

  public:
    // Make room for `size` numbers. If the memory has to grow, its content is lost.
    void grow(std::size_t size) {
        if (size <= size_) return;
        size_ = 0;
        memory_.reset(); // the old room goes before the new one comes
        memory_.reset(static_cast<Number*>(::operator new(size * sizeof(Number), kAlignment)));
        size_ = size;
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] Number* data() { return memory_.get(); }
    [[nodiscard]] const Number* data() const { return memory_.get(); }
    Number& operator[](std::size_t i) { return memory_.get()[i]; }
    const Number& operator[](std::size_t i) const { return memory_.get()[i]; }

    Buffer() = default;
    Buffer(Buffer&& other) noexcept
        : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        memory_ = std::move(other.memory_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() = default;

  private:
    static constexpr std::align_val_t kAlignment{64};
    struct Free {
        void operator()(Number* memory) const { ::operator delete(memory, kAlignment); }
    };
    std::unique_ptr<Number, Free> memory_;
    std::size_t size_ = 0;
};

} // namespace textkin::base
