#include "bindings/bindings.h"

#include "embed/vector_file.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace textkin::bindings {
namespace {

using namespace nb::literals;
using Block = nb::typed<nb::dict, nb::str, nb::any>;

constexpr const char* kFaultNames[embed::kFaults] = {"fields", "number", "not_finite", "zero",
                                                     "empty"};

void check(std::size_t dimension) {
    if (dimension == 0) throw nb::value_error("dimension must be at least 1.");
}

auto matrix_of(embed::Numbers&& numbers, std::size_t rows, std::size_t dimension) {
    auto made = std::make_unique<embed::Numbers>(std::move(numbers));
    nb::capsule owner(made.get(), [](void* p) noexcept { delete static_cast<embed::Numbers*>(p); });
    embed::Numbers* const owned = made.release();
    return nb::ndarray<nb::numpy, float, nb::ndim<2>>(owned->data(), {rows, dimension}, owner);
}

// A dictionary: the arrays of the sound rows, and {fault: (count, first line)}.
Block handed_over(embed::VectorRows&& rows, std::size_t dimension) {
    nb::dict faults;
    for (std::size_t k = 0; k < embed::kFaults; ++k)
        if (rows.faults[k].count > 0)
            faults[kFaultNames[k]] = nb::make_tuple(rows.faults[k].count, rows.faults[k].first);
    const std::size_t count = rows.ends.size();
    Block out;
    out["matrix"] = matrix_of(std::move(rows.numbers), count, dimension);
    out["words"] = nb::bytes(rows.words.data(), rows.words.size());
    out["ends"] = to_numpy(std::move(rows.ends), count);
    out["lines"] = to_numpy(std::move(rows.lines), count);
    out["faults"] = faults;
    out["n_lines"] = rows.n_lines;
    out["n_entries"] = rows.n_entries;
    out["consumed"] = rows.consumed;
    return out;
}

Block text(const Array1<std::uint8_t>& block, std::size_t dimension, bool final,
           const embed::WordSet* wanted, unsigned threads) {
    check(dimension);
    embed::VectorRows rows;
    run(0, nb::none(), [&](base::Stop& stop) {
        rows = embed::parse_text(bytes_of(block), dimension, final, wanted, threads, stop);
    });
    return handed_over(std::move(rows), dimension);
}

Block binary(const Array1<std::uint8_t>& block, std::size_t dimension, std::int64_t most,
             const embed::WordSet* wanted) {
    check(dimension);
    embed::VectorRows rows;
    // A row cannot be longer than its block: this is before anything is allocated.
    if (dimension <= block.size() / sizeof(float))
        run(0, nb::none(), [&](base::Stop& stop) {
            rows = embed::parse_binary(bytes_of(block), dimension, most, wanted, stop);
        });
    return handed_over(std::move(rows), dimension);
}

} // namespace

void register_vectors(nb::module_& module) {
    nb::class_<embed::WordSet>(module, "WordSet", "The words to keep of a vector file.")
        .def(nb::init<>())
        .def(
            "insert",
            [](embed::WordSet& self, const nb::bytes& word) {
                self.insert({static_cast<const char*>(word.data()), word.size()});
            },
            "word"_a)
        .def(
            "__contains__",
            [](const embed::WordSet& self, const nb::bytes& word) {
                return self.contains({static_cast<const char*>(word.data()), word.size()});
            },
            "word"_a);
    module.def("parse_vector_text", &text, "block"_a.noconvert(), "dimension"_a, "final"_a,
               "wanted"_a.none(), "threads"_a, "Read the whole lines of a block of vector text.");
    module.def("parse_vector_binary", &binary, "block"_a.noconvert(), "dimension"_a, "most"_a,
               "wanted"_a.none(), "Read the whole rows of a block of word2vec's binary format.");
}

} // namespace textkin::bindings
