#include "memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace {

std::atomic<long> left{0}; // allocations until one fails; 0 and less: none will
std::atomic<bool> failed{false};
std::atomic<std::size_t> used{0}, most{0};

// The size of a block is stored before it, at the end of a gap that preserves the alignment.
constexpr std::size_t kGap = alignof(std::max_align_t);

void* take(std::size_t size, std::size_t alignment) {
    if (left.load(std::memory_order_relaxed) > 0 && left.fetch_sub(1) == 1) {
        failed = true;
        throw std::bad_alloc();
    }
    const std::size_t gap = std::max(kGap, alignment);
    if (size > static_cast<std::size_t>(-1) / 2) throw std::bad_alloc();
    const std::size_t whole = (size + 2 * gap - 1) / gap * gap; // aligned_alloc requires multiples
    void* const block = std::aligned_alloc(gap, whole);
    if (block == nullptr) throw std::bad_alloc();
    auto* const memory = static_cast<std::byte*>(block) + gap;
    reinterpret_cast<std::size_t*>(memory)[-1] = size;
    const std::size_t now = used.fetch_add(size) + size;
    std::size_t before = most.load();
    while (before < now && !most.compare_exchange_weak(before, now)) {
    }
    return memory;
}

void release(void* memory, std::size_t alignment) noexcept {
    if (memory == nullptr) return;
    used.fetch_sub(static_cast<std::size_t*>(memory)[-1]);
    std::free(static_cast<std::byte*>(memory) - std::max(kGap, alignment));
}

void* take_if_possible(std::size_t size, std::size_t alignment) noexcept {
    try {
        return take(size, alignment);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

} // namespace

namespace memory {

void fail_at(long n) {
    failed = false;
    left = n;
}
bool has_failed() { return failed; }
std::size_t in_use() { return used; }
std::size_t peak() { return most; }
void reset_peak() { most = used.load(); }

} // namespace memory

// All forms, because a sanitizer would define each missing form.
using Align = std::align_val_t;
using Nothrow = std::nothrow_t;
void* operator new(std::size_t n) { return take(n, 0); }
void* operator new[](std::size_t n) { return take(n, 0); }
void* operator new(std::size_t n, Align a) { return take(n, number(a)); }
void* operator new[](std::size_t n, Align a) { return take(n, number(a)); }
void* operator new(std::size_t n, const Nothrow&) noexcept { return take_if_possible(n, 0); }
void* operator new[](std::size_t n, const Nothrow&) noexcept { return take_if_possible(n, 0); }
void* operator new(std::size_t n, Align a, const Nothrow&) noexcept {
    return take_if_possible(n, number(a));
}
void* operator new[](std::size_t n, Align a, const Nothrow&) noexcept {
    return take_if_possible(n, number(a));
}
void operator delete(void* p) noexcept { release(p, 0); }
void operator delete[](void* p) noexcept { release(p, 0); }
void operator delete(void* p, std::size_t) noexcept { release(p, 0); }
void operator delete[](void* p, std::size_t) noexcept { release(p, 0); }
void operator delete(void* p, Align a) noexcept { release(p, number(a)); }
void operator delete[](void* p, Align a) noexcept { release(p, number(a)); }
void operator delete(void* p, std::size_t, Align a) noexcept { release(p, number(a)); }
void operator delete[](void* p, std::size_t, Align a) noexcept { release(p, number(a)); }
void operator delete(void* p, const Nothrow&) noexcept { release(p, 0); }
void operator delete[](void* p, const Nothrow&) noexcept { release(p, 0); }
void operator delete(void* p, Align a, const Nothrow&) noexcept { release(p, number(a)); }
void operator delete[](void* p, Align a, const Nothrow&) noexcept { release(p, number(a)); }
