#include "bindings/array_views.h"

#include <atomic>

namespace textkin::bindings {
namespace {

// An array says the same of itself as its fields do.
bool tells_the_same(const nb::object& array, const nb::object& dtype) {
    const auto* fields = reinterpret_cast<const ArrayFields*>(array.ptr());
    const nb::object shape = array.attr("shape");
    const nb::object strides = array.attr("strides");
    const nb::object flags = array.attr("flags");
    const auto dimensions = nb::cast<std::size_t>(array.attr("ndim"));
    if (static_cast<std::size_t>(fields->ndim) != dimensions) return false;
    for (std::size_t k = 0; k < dimensions; ++k)
        if (fields->shape[k] != nb::cast<Py_ssize_t>(shape[k]) ||
            fields->strides[k] != nb::cast<Py_ssize_t>(strides[k]))
            return false;
    const auto flagged = [fields](int flag) { return (fields->flags & flag) != 0; };
    return reinterpret_cast<std::uintptr_t>(fields->data) ==
               nb::cast<std::uintptr_t>(array.attr("ctypes").attr("data")) &&
           fields->dtype == dtype.ptr() && array.attr("dtype").is(dtype) &&
           flagged(ArrayFields::kContiguous) == nb::cast<bool>(flags["C_CONTIGUOUS"]) &&
           flagged(ArrayFields::kAligned) == nb::cast<bool>(flags["ALIGNED"]);
}

// Never freed: it holds what NumPy itself holds to the end.
const Numpy* look_at_numpy() {
    auto* found = new Numpy;
    try {
        const nb::module_ package = nb::module_::import_("numpy");
        const nb::object type = package.attr("ndarray");
        if (nb::cast<std::size_t>(type.attr("__basicsize__")) < sizeof(ArrayFields)) return found;
        const auto dtype = [&](const char* name) {
            return nb::object(package.attr("dtype")(package.attr(name)));
        };
        nb::object kinds[] = {dtype("float32"), dtype("float64"), dtype("int32"), dtype("int64")};
        for (const nb::object& kind : kinds) {
            const nb::object plain = package.attr("ones")(nb::make_tuple(3, 5), kind);
            const nb::object transposed = plain.attr("T");
            const nb::object flat = plain.attr("ravel")();
            for (const nb::object& array : {plain, transposed, flat})
                if (!array.type().is(type) || !tells_the_same(array, kind)) return found;
        }
        found->float32 = kinds[0].release().ptr();
        found->float64 = kinds[1].release().ptr();
        found->int32 = kinds[2].release().ptr();
        found->int64 = kinds[3].release().ptr();
        found->array = reinterpret_cast<PyTypeObject*>(nb::object(type).release().ptr());
    } catch (const nb::python_error&) { // no NumPy, or one of another kind
    } catch (const nb::cast_error&) {
    }
    return found;
}

} // namespace

// No static with a body: another thread would wait for it with the interpreter lock in its hands,
// which the import needs. Two threads may look at once; they find the same.
const Numpy& numpy() {
    static std::atomic<const Numpy*> known{nullptr};
    const Numpy* found = known.load(std::memory_order_acquire);
    if (found == nullptr) known.store(found = look_at_numpy(), std::memory_order_release);
    return *found;
}

} // namespace textkin::bindings
