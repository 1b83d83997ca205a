// What the binding files share.
#pragma once

#include "base/stop.h"
#include "transport/costs.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
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
    auto made = std::make_unique<Values>(std::move(values));
    nb::capsule owner(made.get(), [](void* p) noexcept { delete static_cast<Values*>(p); });
    Values* const owned = made.release();
    return nb::ndarray<nb::numpy, Number, nb::ndim<sizeof...(Sizes)>>(
        owned->data(), {static_cast<std::size_t>(sizes)...}, owner);
}

// Runs `work(stop)` without the interpreter lock. Now and then the calling thread takes the lock
// back, lets Python see Ctrl-C and tells `progress` how many of `total` items are done; an
// exception from either ends the work and is raised when all threads have stopped. `memory` limits
// the bytes of the large transport problems that the threads solve at the same time; 0: half of the
// memory of the machine or of the cgroup.
template <class Work>
void run(std::size_t total, const nb::object& progress, Work&& work, std::uint64_t memory = 0) {
    struct Poll {
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
    Poll poll{total, progress, std::nullopt};
    // One pointer, which std::function holds without memory of its own.
    base::Stop stop{[it = &poll](std::size_t finished) { return it->stops(finished); }};
    stop.memory().set_limit(memory);
    try {
        const nb::gil_scoped_release released;
        work(stop);
    } catch (const base::Stopped&) {
        if (!poll.error) throw;
    }
    // Also where the work was done before anybody saw the stop.
    if (poll.error) throw std::move(*poll.error);
    if (!progress.is_none()) progress(total, total);
}

// Constructs the object of an __init__ with run(). It moves to its place only when run() has
// returned: Python does not destroy what lies there if __init__ raises, for example after Ctrl-C.
template <class Object, class Make> void construct_in(Object* place, Make make) {
    std::optional<Object> made;
    run(0, nb::none(), [&](base::Stop& stop) { made.emplace(make(stop)); });
    new (place) Object(std::move(*made));
}

inline std::string_view bytes_of(const Array1<std::uint8_t>& array) {
    return {reinterpret_cast<const char*>(array.data()), array.size()};
}

// The UTF-8 form of a str, valid as long as `owner`: the str itself if it is ASCII, so that it
// outlives the list that it came from, else a copy (the str itself would keep one for good). A lone
// surrogate, which UTF-8 has no form for, is passed as if it had one.
[[nodiscard]] std::string_view utf8(nb::handle text, nb::object& owner);
[[nodiscard]] nb::str to_str(std::string_view word);

// A list of `count` str, the i-th of which is word_of(i).
template <class WordOf> nb::list to_list(std::size_t count, WordOf word_of) {
    nb::list words = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(count)));
    if (!words.is_valid()) throw nb::python_error();
    for (std::size_t i = 0; i < count; ++i)
        PyList_SetItem(words.ptr(), static_cast<Py_ssize_t>(i), to_str(word_of(i)).release().ptr());
    return words;
}

// The cost with this name. Throws nb::value_error for other names.
[[nodiscard]] transport::Cost cost_named(std::string_view name);

void register_documents(nb::module_& module);
void register_embed(nb::module_& module);
void register_factors(nb::module_& module);
void register_fisher(nb::module_& module);
void register_mixture(nb::module_& module);
void register_mover(nb::module_& module);
void register_pairwise(nb::module_& module);
void register_ranking(nb::module_& module);
void register_rankings(nb::module_& module);
void register_search(nb::module_& module);
void register_store(nb::module_& module);
void register_text(nb::module_& module);
void register_topics(nb::module_& module);
void register_transport(nb::module_& module);
void register_vectors(nb::module_& module);

} // namespace textkin::bindings
