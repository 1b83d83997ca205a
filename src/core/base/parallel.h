// Many independent items on a stated number of threads.
#pragma once

#include "base/stop.h"

#include <cstddef>
#include <functional>

namespace textkin::base {

// Run body(item) for every item in [0, count), also on the calling thread. Items are handed out in
// order, a few at a time and one by one towards the end, which balances uneven items; the thread
// that runs an item never changes its result. The threads live as long as the call: calls share
// nothing, and a process that forks finds no broken pool. If the system cannot start a thread, the
// others do its work. The first exception stops the others and is rethrown; a stop throws Stopped,
// unless another exception is the reason for it.
// `progress`: whether items count as finished items of `stop`.
void parallel_for(std::size_t count, unsigned threads, Stop& stop,
                  const std::function<void(std::size_t)>& body, bool progress = true);

} // namespace textkin::base
