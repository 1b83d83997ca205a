#include "base/row_starts.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace textkin::base {

void check_row_starts(std::span<const std::int64_t> starts, std::size_t entries, const char* name,
                      const std::string& where) {
    if (starts.empty() || starts.front() != 0 ||
        starts.back() != static_cast<std::int64_t>(entries))
        throw std::invalid_argument(
            name + where + " must start at 0 and end at the number of entries, " +
            std::to_string(entries) + "; got " +
            (starts.empty()
                 ? "none"
                 : std::to_string(starts.front()) + " and " + std::to_string(starts.back())) +
            ".");
    const auto decrease = std::adjacent_find(starts.begin(), starts.end(), std::greater<>());
    if (decrease != starts.end())
        throw std::invalid_argument(name + where + " must not decrease; it does after row " +
                                    std::to_string(decrease - starts.begin()) + ".");
}

} // namespace textkin::base
