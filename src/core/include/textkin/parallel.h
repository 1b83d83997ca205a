// Many independent items on a stated number of threads.
#pragma once

#include "textkin/stop.h"

#include <cstddef>
#include <functional>

namespace textkin {

// Runs body(item) for every item in [0, count), the calling thread included. Items are handed out
// in order, a few at a time and one by one towards the end, so uneven items balance themselves;
// which thread runs an item never changes its result. The threads live as long as the call: nothing
// is shared between calls, and a process that forks finds no broken pool. The first exception stops
// the others and is thrown again here; a stop throws Stopped. `progress`: whether an item counts as
// one of those that the call tells its caller about.
void parallel_for(std::size_t count, unsigned threads, Stop& stop,
                  const std::function<void(std::size_t)>& body, bool progress = true);

} // namespace textkin
