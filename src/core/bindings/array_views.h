// NumPy arrays as arguments of calls that take microseconds.
//
// nb::ndarray takes an array over by DLPack: a method of NumPy, a capsule and a managed tensor,
// about 0.2 microseconds for each, and more where an array is read-only. A View reads the fields of
// the array itself. NumPy promises their layout to every extension that was ever compiled against
// it; here they are compared, once, with what an array says of itself, and whatever is not as
// expected goes by way of nb::ndarray.
#pragma once

#include "bindings/bindings.h"

#include <array>

namespace textkin::bindings {

// The first fields of a NumPy array (PyArrayObject_fields), unchanged since NumPy 1.7.
struct ArrayFields {
    PyObject_HEAD char* data;
    int ndim;
    Py_ssize_t* shape;
    Py_ssize_t* strides;
    PyObject* base;
    PyObject* dtype;
    int flags;

    static constexpr int kContiguous = 0x0001;
    static constexpr int kAligned = 0x0100;
};

// Identifies the type of an array. Elements of a NumPy type in native byte order share one dtype
// object, except in arrays that were unpickled.
struct Numpy {
    PyTypeObject* array = nullptr; // nullptr: fields cannot be relied upon
    PyObject* float32 = nullptr;
    PyObject* float64 = nullptr;
    PyObject* int32 = nullptr;
    PyObject* int64 = nullptr;

    template <class Number> [[nodiscard]] PyObject* dtype() const;
};

template <> inline PyObject* Numpy::dtype<float>() const { return float32; }
template <> inline PyObject* Numpy::dtype<double>() const { return float64; }
template <> inline PyObject* Numpy::dtype<std::int32_t>() const { return int32; }
template <> inline PyObject* Numpy::dtype<std::int64_t>() const { return int64; }

[[nodiscard]] const Numpy& numpy();

// The fields of a contiguous NumPy array with so many dimensions; nullptr for anything else.
[[nodiscard]] inline const ArrayFields* fields_of(nb::handle object, int dimensions) {
    const Numpy& known = numpy();
    if (known.array == nullptr || !PyObject_TypeCheck(object.ptr(), known.array)) return nullptr;
    const auto* fields = reinterpret_cast<const ArrayFields*>(object.ptr());
    constexpr int needed = ArrayFields::kContiguous | ArrayFields::kAligned;
    const bool fits = fields->ndim == dimensions && (fields->flags & needed) == needed;
    return fits ? fields : nullptr;
}

// The numbers of an array, for as long as the call that it is an argument of.
template <class Number, std::size_t Dimensions> class View {
  public:
    using Array = nb::ndarray<const Number, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

    // False, with nothing changed, unless it is a NumPy array of just this kind.
    bool look_at(nb::handle object) {
        const ArrayFields* fields = fields_of(object, static_cast<int>(Dimensions));
        if (fields == nullptr || fields->dtype != numpy().template dtype<Number>()) return false;
        data_ = reinterpret_cast<const Number*>(fields->data);
        for (std::size_t k = 0; k < Dimensions; ++k)
            shape_[k] = static_cast<std::size_t>(fields->shape[k]);
        return true;
    }
    void hold(const Array& array) {
        array_ = array;
        data_ = array.data();
        for (std::size_t k = 0; k < Dimensions; ++k) shape_[k] = array.shape(k);
    }

    [[nodiscard]] const Number* data() const { return data_; }
    [[nodiscard]] std::size_t shape(std::size_t k) const { return shape_[k]; }
    [[nodiscard]] std::span<const Number> numbers() const
        requires(Dimensions == 1)
    {
        return {data_, shape_[0]};
    }
    [[nodiscard]] Number operator()(std::size_t i, std::size_t j) const
        requires(Dimensions == 2)
    {
        return data_[i * shape_[1] + j];
    }

  private:
    const Number* data_ = nullptr;
    std::array<std::size_t, Dimensions> shape_{};
    Array array_; // the array, if it was read in another way
};

} // namespace textkin::bindings

namespace nanobind::detail {

template <class Number, std::size_t Dimensions>
struct type_caster<textkin::bindings::View<Number, Dimensions>> {
    using View = textkin::bindings::View<Number, Dimensions>;
    using Other = make_caster<typename View::Array>;
    NB_TYPE_CASTER(View, Other::Name)

    bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        if (value.look_at(source)) return true;
        Other other;
        if (!other.from_python(source, flags, cleanup)) return false;
        value.hold(other.value);
        return true;
    }
};

} // namespace nanobind::detail
