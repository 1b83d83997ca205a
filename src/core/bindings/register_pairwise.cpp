#include "bindings/bindings.h"

#include "ranking/pairwise.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

namespace textkin::bindings {
namespace {

using namespace nb::literals;
using Starts = Array1<std::int64_t>;
using Numbers = Array1<std::int32_t>;
using Values = Array1<double>;
using Block = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check_starts(const Starts& starts, std::size_t entries) {
    const auto known = view(starts);
    if (known.empty() || known.front() < 0 || !std::is_sorted(known.begin(), known.end()) ||
        static_cast<std::size_t>(known.back()) > entries)
        throw nb::value_error("Rows must start in rising order, inside of the entries.");
}

void check_range(std::span<const std::int32_t> numbers, std::size_t limit) {
    for (const std::int32_t number : numbers)
        if (number < 0 || static_cast<std::size_t>(number) >= limit)
            throw nb::value_error("An index is out of range.");
}

std::span<double> block_of(Block& out, std::size_t rows, std::size_t columns) {
    if (out.shape(0) != rows || out.shape(1) != columns)
        throw nb::value_error(
            "out must have one row for each row and one column for each document.");
    return {out.data(), out.size()};
}

// The documents of each word, checked once and held by NumPy.
class Postings {
  public:
    Postings(Starts starts, Numbers documents, Values values, std::size_t n_documents)
        : starts_(std::move(starts)), documents_(std::move(documents)), values_(std::move(values)),
          n_documents_(n_documents) {
        check_starts(starts_, documents_.size());
        check_range(view(documents_), n_documents);
        if (values_.size() != documents_.size())
            throw nb::value_error("There must be one value for each document of a word.");
    }

    void sums(const Starts& starts, const Numbers& words, const Values& values,
              const std::string& sharing, Block out, const nb::object& progress) const {
        check_starts(starts, words.size());
        if (values.size() != words.size())
            throw nb::value_error("There must be one value for each word.");
        if (sharing != "product" && sharing != "overlap")
            throw nb::value_error("sharing must be 'product' or 'overlap'.");
        const auto first = static_cast<std::size_t>(view(starts).front());
        const auto last = static_cast<std::size_t>(view(starts).back());
        check_range(view(words).subspan(first, last - first), starts_.size() - 1);
        const ranking::SparseRows rows{view(starts), view(words), view(values)};
        const ranking::SparseRows postings{view(starts_), view(documents_), view(values_)};
        const std::span<double> sums = block_of(out, rows.size(), n_documents_);
        run(rows.size(), progress, [&](base::Stop& stop) {
            ranking::shared_sums(rows, postings, n_documents_,
                                 sharing == "product" ? ranking::Sharing::product
                                                      : ranking::Sharing::overlap,
                                 stop, sums);
        });
    }

  private:
    Starts starts_;
    Numbers documents_;
    Values values_;
    std::size_t n_documents_;
};

void edits(const Starts& a_starts, const Numbers& a, const Starts& b_starts, const Numbers& b,
           std::size_t n_symbols, Block out, const nb::object& progress) {
    check_starts(a_starts, a.size());
    check_starts(b_starts, b.size());
    check_range(view(a), n_symbols);
    check_range(view(b), n_symbols);
    const ranking::Sequences left{view(a_starts), view(a)};
    const ranking::Sequences right{view(b_starts), view(b)};
    const std::span<double> distances = block_of(out, left.size(), right.size());
    run(left.size(), progress, [&](base::Stop& stop) {
        ranking::edit_distances(left, right, n_symbols, stop, distances);
    });
}

} // namespace

void register_pairwise(nb::module_& module) {
    nb::class_<Postings>(module, "Postings", "The documents of each word, with their values.")
        .def(nb::init<Starts, Numbers, Values, std::size_t>(), "starts"_a.noconvert(),
             "documents"_a.noconvert(), "values"_a.noconvert(), "n_documents"_a)
        .def("sums", &Postings::sums, "starts"_a.noconvert(), "words"_a.noconvert(),
             "values"_a.noconvert(), "sharing"_a, "out"_a.noconvert(), "progress"_a.none(),
             "Fill out with sums over the words that each row shares with each document: of "
             "products, or of overlaps |a| + |b| - |a - b|.");
    module.def("edit_distances", &edits, "a_starts"_a.noconvert(), "a"_a.noconvert(),
               "b_starts"_a.noconvert(), "b"_a.noconvert(), "n_symbols"_a, "out"_a.noconvert(),
               "progress"_a.none(),
               "Fill out with the edit distances of all pairs of sequences of symbols.");
}

} // namespace textkin::bindings
