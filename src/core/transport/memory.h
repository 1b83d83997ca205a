// How much memory transport problems can take, and its reservation.
#pragma once

#include "base/stop.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace textkin::transport {

// A problem that can take more than this is large: it reserves memory from the budget of its call,
// and releases its memory when it is solved. Smaller problems keep their memory for the next one.
inline constexpr std::uint64_t kLargeProblem = std::uint64_t{32} << 20;

// Upper bound of the memory of RealCostSolver, in bytes, for the longest way through its methods:
// narrow costs and their simplex; or, after their release, wide costs and their simplex; or wide
// costs and the flow of the shortest paths. In addition, the plan and the potentials.
[[nodiscard]] std::uint64_t solver_bytes(std::size_t rows, std::size_t columns);

// Upper bound of the memory of PairSolver: the costs, copies of the vectors, and solver_bytes().
[[nodiscard]] std::uint64_t pair_bytes(std::size_t rows, std::size_t columns,
                                       std::size_t dimension);

// Memory of a large problem, reserved until the end of the object. Does nothing for other problems.
class Reservation {
  public:
    // Waits until other threads of the call have released enough. Throws base::MemoryLimitError if
    // `bytes` exceeds the limit, and base::Stopped.
    Reservation(std::uint64_t bytes, std::size_t rows, std::size_t columns, base::Stop& stop)
        : stop_(stop) {
        if (bytes > kLargeProblem) reserve(bytes, rows, columns);
    }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() {
        if (bytes_ > 0) stop_.memory().release(bytes_);
    }
    [[nodiscard]] bool is_large() const { return bytes_ > 0; }

  private:
    base::Stop& stop_;
    std::uint64_t bytes_ = 0;

    void reserve(std::uint64_t bytes, std::size_t rows, std::size_t columns);
};

} // namespace textkin::transport
