// Check of the row starts (indptr) of CSR matrices from callers and files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace textkin::base {

// Throws std::invalid_argument unless `starts` begins with 0, ends with the number of entries, and
// never decreases. Afterwards, the entries of each row lie within the matrix. `name` and `where`
// (such as " of block 3") are for the message.
void check_row_starts(std::span<const std::int64_t> starts, std::size_t entries,
                      const char* name = "indptr", const std::string& where = "");

} // namespace textkin::base
