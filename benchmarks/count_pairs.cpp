// count_pairs FILE: the distances of the pairs in a file that instructions.py wrote, by the core
// alone. It is what valgrind counts: Python under valgrind would take minutes and count itself.
#include "search/batch.h"

#include <cstdio>
#include <fstream>
#include <numeric>

namespace {

template <class Number> std::vector<Number> read(std::ifstream& file, std::size_t count) {
    std::vector<Number> values(count);
    file.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(count * sizeof(Number)));
    return values;
}

textkin::transport::Documents read_documents(std::ifstream& file, std::size_t rows) {
    const auto starts = read<std::int64_t>(file, rows + 1);
    const auto count = static_cast<std::size_t>(starts.back());
    const auto words = read<std::int32_t>(file, count);
    const auto weights = read<double>(file, count);
    return {starts, words, weights};
}

} // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    std::ifstream file(arguments[1], std::ios::binary);
    const auto sizes = read<std::uint64_t>(file, 3); // words, dimension, pairs
    const auto vectors = read<float>(file, sizes[0] * sizes[1]);
    const textkin::transport::Documents a = read_documents(file, sizes[2]);
    const textkin::transport::Documents b = read_documents(file, sizes[2]);
    if (!file) return 2;
    std::vector<std::int64_t> rows(sizes[2]);
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    std::vector<double> out(sizes[2]);
    textkin::base::Stop stop;
    textkin::search::distance_pairs(
        {{vectors.data(), sizes[0], sizes[1]}, textkin::transport::Cost::euclidean}, a, rows, b,
        rows, 1, stop, out);
    std::printf("%.17g\n", std::accumulate(out.begin(), out.end(), 0.0));
}
