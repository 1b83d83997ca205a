// Vectors whose new elements are left as they are, for memory that several threads fill.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace textkin {

template <class Number> struct LeavesUnset : std::allocator<Number> {
    template <class Other> struct rebind {
        using other = LeavesUnset<Other>;
    };

    template <class Other> void construct(Other* place) noexcept { ::new (place) Other; }
    template <class Other, class... Arguments>
    void construct(Other* place, Arguments&&... arguments) {
        ::new (place) Other(std::forward<Arguments>(arguments)...);
    }
};

template <class Number> using FilledLater = std::vector<Number, LeavesUnset<Number>>;

} // namespace textkin
