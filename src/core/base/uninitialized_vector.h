// Vectors whose new elements are not initialized, for memory that several threads fill later.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace textkin::base {

// Large blocks use large pages, as in NumPy: with small pages, arrays of millions of numbers that
// are filled out of order often wait longer for page tables than for the memory itself.
template <class Number> struct UninitializedAllocator : std::allocator<Number> {
    template <class Other> struct rebind {
        using other = UninitializedAllocator<Other>;
    };

    static constexpr std::size_t kLargePage = std::size_t{1} << 21;
    static constexpr bool is_large(std::size_t count) {
        return count >= 2 * kLargePage / sizeof(Number);
    }

    [[nodiscard]] Number* allocate(std::size_t count) {
        if (!is_large(count)) return std::allocator<Number>::allocate(count);
        if (count > static_cast<std::size_t>(-1) / 2 / sizeof(Number))
            throw std::bad_array_new_length();
        void* const memory = ::operator new(count * sizeof(Number), std::align_val_t{kLargePage});
#ifdef __linux__
        madvise(memory, count * sizeof(Number), MADV_HUGEPAGE); // a wish: it may fail
#endif
        return static_cast<Number*>(memory);
    }
    void deallocate(Number* memory, std::size_t count) {
        if (!is_large(count))
            std::allocator<Number>::deallocate(memory, count);
        else
            ::operator delete(memory, std::align_val_t{kLargePage});
    }

    template <class Other> void construct(Other* place) noexcept { ::new (place) Other; }
    template <class Other, class... Arguments>
    void construct(Other* place, Arguments&&... arguments) {
        ::new (place) Other(std::forward<Arguments>(arguments)...);
    }
};

template <class Number>
using UninitializedVector = std::vector<Number, UninitializedAllocator<Number>>;

} // namespace textkin::base
