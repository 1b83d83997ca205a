#include "textkin/rounded.h"

#include <stdexcept>
#include <string>

namespace textkin {

void check_size(std::size_t rows, std::size_t columns) {
    if (bytes_needed(rows, columns) <= kMostBytes) return;
    throw std::length_error(
        "Documents with " + std::to_string(rows) + " and " + std::to_string(columns) +
        " different words are too long for an exact comparison, which would take " +
        std::to_string(bytes_needed(rows, columns) >> 30) + " GiB; at most " +
        std::to_string(kMostBytes >> 30) +
        " are allowed. Cut them, as with max_words_per_document.");
}

} // namespace textkin
