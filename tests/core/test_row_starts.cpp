// The check of the row starts of CSR matrices.
#include "base/row_starts.h"
#include "check.h"

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace textkin;

namespace {

// The message for invalid row starts; empty for valid ones.
std::string message_for(const std::vector<std::int64_t>& starts, std::size_t entries) {
    try {
        base::check_row_starts(starts, entries, "offsets", " of part 2");
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST(row_starts_from_zero_to_the_number_of_entries_are_valid) {
    CHECK(message_for({0}, 0).empty());
    CHECK(message_for({0, 0, 3, 3, 5}, 5).empty());
}

TEST(invalid_row_starts_throw_and_name_the_first_wrong_row) {
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    CHECK(message_for({}, 0) ==
          "offsets of part 2 must start at 0 and end at the number of entries, 0; got none.");
    CHECK(message_for({1, 2}, 2) ==
          "offsets of part 2 must start at 0 and end at the number of entries, 2; got 1 and 2.");
    CHECK(message_for({0, 3}, 2).find("got 0 and 3") != std::string::npos);
    CHECK(message_for({0, 2, 1, 2}, 2) ==
          "offsets of part 2 must not decrease; it does after row 1.");
    CHECK(message_for({0, huge, 2}, 2).find("after row 1") != std::string::npos);
    CHECK(message_for({0, -huge, 2}, 2).find("after row 0") != std::string::npos);
}
