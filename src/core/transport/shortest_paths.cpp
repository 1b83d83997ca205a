#include "transport/shortest_paths.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace textkin::transport {
namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Reduced costs cost - u - v are never negative and zero wherever there is flow; a search finds the
// nearest column that can still take `unit`, and the potentials follow, so that both stay true.
class Search {
  public:
    explicit Search(const Instance<std::int64_t>& instance)
        : problem_(instance), n_(instance.rows()), m_(instance.columns()), u_(n_), v_(m_),
          flow_(n_ * m_), supply_(instance.supply.begin(), instance.supply.end()),
          demand_(instance.demand.begin(), instance.demand.end()), row_distance_(n_),
          column_distance_(m_), column_of_row_(n_), row_of_column_(m_), row_done_(n_),
          column_done_(m_) {}

    void run(base::Stop& stop) {
        const std::int64_t largest = *std::max_element(supply_.begin(), supply_.end());
        for (auto unit =
                 static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(largest)));
             unit > 0; unit /= 2) {
            for (std::size_t i = 0; i < n_; ++i) {
                while (supply_[i] >= unit) {
                    stop.throw_if_requested();
                    const std::size_t end = nearest_column(i, unit);
                    if (end == kNone) break;
                    send(i, end, unit);
                }
            }
        }
    }

    void read(Solution& solution) const {
        solution.shipments.clear();
        solution.shipments.reserve(static_cast<std::size_t>(
            std::count_if(flow_.begin(), flow_.end(), [](std::int64_t mass) { return mass > 0; })));
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < m_; ++j)
                if (flow_[i * m_ + j] > 0)
                    solution.shipments.push_back({static_cast<std::int32_t>(i),
                                                  static_cast<std::int32_t>(j), flow_[i * m_ + j]});
        solution.row_potential = u_;
        solution.column_potential = v_;
    }

  private:
    Instance<std::int64_t> problem_;
    std::size_t n_, m_;
    std::vector<std::int64_t> u_, v_, flow_, supply_, demand_, row_distance_, column_distance_;
    std::vector<std::size_t> column_of_row_, row_of_column_; // where a search came from
    std::vector<char> row_done_, column_done_;

    [[nodiscard]] std::int64_t reduced(std::size_t i, std::size_t j) const {
        return problem_.row(i)[j] - u_[i] - v_[j];
    }

    // Dijkstra's search from a row; moves the potentials and returns the column, or kNone.
    std::size_t nearest_column(std::size_t source, std::int64_t unit) {
        std::fill(row_distance_.begin(), row_distance_.end(), kFar);
        std::fill(column_distance_.begin(), column_distance_.end(), kFar);
        std::fill(row_done_.begin(), row_done_.end(), char{0});
        std::fill(column_done_.begin(), column_done_.end(), char{0});
        row_distance_[source] = 0;
        scan_row(source);
        for (;;) {
            std::size_t j = kNone;
            for (std::size_t c = 0; c < m_; ++c)
                if (!column_done_[c] && (j == kNone || column_distance_[c] < column_distance_[j]))
                    j = c;
            if (j == kNone) return kNone;
            column_done_[j] = 1;
            if (demand_[j] >= unit) {
                move_potentials(column_distance_[j]);
                return j;
            }
            for (std::size_t i = 0; i < n_; ++i) {
                if (row_done_[i] || flow_[i * m_ + j] < unit) continue;
                row_distance_[i] = column_distance_[j]; // a used arc has reduced cost zero
                column_of_row_[i] = j;
                scan_row(i);
            }
        }
    }

    void scan_row(std::size_t i) {
        row_done_[i] = 1;
        for (std::size_t j = 0; j < m_; ++j) {
            if (column_done_[j]) continue;
            const std::int64_t distance = row_distance_[i] + reduced(i, j);
            if (distance < column_distance_[j]) {
                column_distance_[j] = distance;
                row_of_column_[j] = i;
            }
        }
    }

    void move_potentials(std::int64_t length) {
        for (std::size_t i = 0; i < n_; ++i)
            if (row_done_[i]) u_[i] += length - row_distance_[i];
        for (std::size_t j = 0; j < m_; ++j)
            if (column_done_[j]) v_[j] -= length - column_distance_[j];
    }

    void send(std::size_t source, std::size_t column, std::int64_t unit) {
        supply_[source] -= unit;
        demand_[column] -= unit;
        for (std::size_t j = column;;) {
            const std::size_t i = row_of_column_[j];
            flow_[i * m_ + j] += unit;
            if (i == source) return;
            j = column_of_row_[i];
            flow_[i * m_ + j] -= unit;
        }
    }
};

} // namespace

void solve_by_shortest_paths(const Instance<std::int64_t>& instance, Solution& solution,
                             base::Stop& stop) {
    Search search(instance);
    search.run(stop);
    search.read(solution);
}

} // namespace textkin::transport
