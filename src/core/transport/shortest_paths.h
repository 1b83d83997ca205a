// Minimum-cost transport by shortest augmenting paths with capacity scaling (Edmonds and Karp
// 1972): at most (rows + columns) searches for each bit of the largest supply, each of rows x
// columns steps. The simplex hardly ever needs help; when it does, this one cannot fail to end.
#pragma once

#include "transport/transport.h"

namespace textkin::transport {

void solve_by_shortest_paths(const Instance<std::int64_t>& instance, Solution& solution,
                             base::Stop& stop);

} // namespace textkin::transport
