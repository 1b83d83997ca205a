// What the binding files share.
#pragma once

#include "textkin/costs.h"
#include "textkin/stop.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace textkin::bindings {

namespace nb = nanobind;

template <class Number>
using Array1 = nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Number>
using Array2 = nb::ndarray<const Number, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Number> std::span<const Number> view(const Array1<Number>& array) {
    return {array.data(), array.size()};
}

// A NumPy array that owns `values`.
template <class Number, class Allocator, class... Sizes>
auto to_numpy(std::vector<Number, Allocator>&& values, Sizes... sizes) {
    using Values = std::vector<Number, Allocator>;
    auto* owned = new Values(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Values*>(p); });
    return nb::ndarray<nb::numpy, Number, nb::ndim<sizeof...(Sizes)>>(
        owned->data(), {static_cast<std::size_t>(sizes)...}, owner);
}

// Runs `work(stop)` without the interpreter lock. Now and then the calling thread takes the lock
// back, lets Python see Ctrl-C and tells `progress` how many of `total` items are done; an
// exception from either ends the work and is raised when all threads have stopped.
template <class Work> void run(std::size_t total, const nb::object& progress, Work&& work) {
    struct Asked {
        std::size_t total;
        const nb::object& progress;
        std::optional<nb::python_error> error;

        bool stops(std::size_t finished) {
            const nb::gil_scoped_acquire held;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                if (!progress.is_none()) progress(finished, total);
            } catch (nb::python_error& raised) {
                error.emplace(std::move(raised));
            }
            return error.has_value();
        }
    };
    Asked asked{total, progress, std::nullopt};
    // One pointer, which std::function holds without memory of its own.
    Stop stop{[it = &asked](std::size_t finished) { return it->stops(finished); }};
    try {
        const nb::gil_scoped_release released;
        work(stop);
    } catch (const Stopped&) {
        if (!asked.error) throw;
    }
    // Also where the work was done before anybody saw the stop.
    if (asked.error) throw std::move(*asked.error);
    if (!progress.is_none()) progress(total, total);
}

// The cost of that name; refuses others.
[[nodiscard]] Cost cost_named(std::string_view name);

void register_documents(nb::module_& module);
void register_mover(nb::module_& module);
void register_pairwise(nb::module_& module);
void register_rankings(nb::module_& module);
void register_search(nb::module_& module);
void register_text(nb::module_& module);
void register_topics(nb::module_& module);
void register_transport(nb::module_& module);
void register_vectors(nb::module_& module);

} // namespace textkin::bindings
