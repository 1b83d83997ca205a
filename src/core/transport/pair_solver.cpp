#include "transport/pair_solver.h"

#include "kernels/padding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace textkin::transport {
namespace {

// Which document gives the rows: the shorter one, and of two equally long ones the same one
// whichever way round they come.
bool goes_first(const Document& a, const Document& b) {
    if (a.size() != b.size()) return a.size() < b.size();
    const auto order = std::lexicographical_compare_three_way(a.words.begin(), a.words.end(),
                                                              b.words.begin(), b.words.end());
    if (order != 0) return order < 0;
    return !std::lexicographical_compare(b.masses.begin(), b.masses.end(), a.masses.begin(),
                                         a.masses.end());
}

std::vector<double> shares(std::span<const std::int64_t> masses, std::int64_t total) {
    std::vector<double> out(masses.size());
    std::transform(masses.begin(), masses.end(), out.begin(), [total](std::int64_t mass) {
        return static_cast<double>(mass) / static_cast<double>(total);
    });
    return out;
}

double precise_cost(const VectorTable& table, Cost cost, std::int32_t a, std::int32_t b) {
    const float* x = table.row(a);
    const float* y = table.row(b);
    double square = 0;
    for (std::size_t k = 0; k < table.dimension; ++k) {
        const double d = static_cast<double>(x[k]) - static_cast<double>(y[k]);
        square += d * d;
    }
    if (cost == Cost::euclidean) return std::sqrt(square);
    return cost == Cost::cosine ? square / 2 : square;
}

std::vector<double> centroid(const VectorTable& table, const Document& document) {
    std::vector<double> sum(table.dimension, 0.0);
    for (std::size_t i = 0; i < document.size(); ++i) {
        const float* x = table.row(document.words[i]);
        const double share =
            static_cast<double>(document.masses[i]) / static_cast<double>(document.total);
        for (std::size_t k = 0; k < table.dimension; ++k)
            sum[k] += share * static_cast<double>(x[k]);
    }
    return sum;
}

} // namespace

class PairSolver::LargePair {
  public:
    LargePair(PairSolver& solver, const VectorTable& table, std::size_t rows, std::size_t columns,
              base::Stop& stop)
        : LargePair(solver, pair_bytes(rows, columns, table.dimension), rows, columns, stop) {}
    LargePair(const LargePair&) = delete;
    LargePair& operator=(const LargePair&) = delete;
    ~LargePair() {
        if (is_large()) solver_.trim(0);
    }
    [[nodiscard]] bool is_large() const { return reservation_.is_large(); }

  private:
    PairSolver& solver_;
    Reservation reservation_; // ends after the destructor has released the memory

    LargePair(PairSolver& solver, std::uint64_t bytes, std::size_t rows, std::size_t columns,
              base::Stop& stop)
        : solver_(solver), reservation_(bytes, rows, columns, stop) {
        solver.held_ = std::max(solver.held_, bytes);
    }
};

void PairSolver::Side::resize(std::size_t count) {
    words.resize(count);
    positions.resize(count);
    masses.resize(count);
}

// What stays and what has to move. Under a metric some optimal plan leaves in place all mass that
// the documents have in common; under any other cost it may pay to move even that.
void PairSolver::split(const Document& a, const Document& b, bool cancel_common_mass) {
    a_masses_.assign(a.masses.begin(), a.masses.end());
    b_masses_.assign(b.masses.begin(), b.masses.end());
    total_ = to_common_total(a_masses_, a.total, b_masses_, b.total);
    a_.resize(a.size());
    b_.resize(b.size());
    kept_.clear();
    std::size_t i = 0;
    std::size_t j = 0;
    std::size_t a_count = 0;
    std::size_t b_count = 0;
    const auto add = [](Side& side, std::size_t& count, const Document& document,
                        std::size_t position, std::int64_t mass) {
        side.words[count] = document.words[position];
        side.positions[count] = static_cast<std::int32_t>(position);
        side.masses[count] = mass;
        ++count;
    };
    while (cancel_common_mass && i < a.size() && j < b.size()) {
        if (a.words[i] < b.words[j]) {
            add(a_, a_count, a, i, a_masses_[i]);
            ++i;
        } else if (b.words[j] < a.words[i]) {
            add(b_, b_count, b, j, b_masses_[j]);
            ++j;
        } else {
            const std::int64_t common = std::min(a_masses_[i], b_masses_[j]);
            kept_.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), common});
            if (a_masses_[i] > common) add(a_, a_count, a, i, a_masses_[i] - common);
            if (b_masses_[j] > common) add(b_, b_count, b, j, b_masses_[j] - common);
            ++i;
            ++j;
        }
    }
    for (; i < a.size(); ++i) add(a_, a_count, a, i, a_masses_[i]);
    for (; j < b.size(); ++j) add(b_, b_count, b, j, b_masses_[j]);
    a_.resize(a_count);
    b_.resize(b_count);
}

// One word on either side leaves no choice.
void PairSolver::ship_directly() {
    solution_.shipments.clear();
    for (std::size_t i = 0; i < a_.size(); ++i)
        for (std::size_t j = 0; j < b_.size(); ++j)
            solution_.shipments.push_back({static_cast<std::int32_t>(i),
                                           static_cast<std::int32_t>(j),
                                           a_.size() == 1 ? b_.masses[j] : a_.masses[i]});
}

double PairSolver::cost_of(const Shipment& shipment) const {
    return static_cast<double>(costs_.at(static_cast<std::size_t>(shipment.row),
                                         static_cast<std::size_t>(shipment.column)));
}

// Of what split() left to move, from the costs at hand; 0 where it would not save work.
double PairSolver::sinkhorn_bound(double enough, base::Stop& stop) {
    constexpr float least = 1e-30F; // of which the inverse is in range
    const std::size_t width = kernels::padded(b_.size());
    // The costs in 16 bits and the kernel of the bound take 6 bytes per pair of words, less than
    // the solver, for which they are released if the pair is large.
    if (!(enough < std::numeric_limits<double>::infinity()) || !(costs_.largest > least) ||
        !SinkhornBound::pays(a_.size(), b_.size()))
        return 0;
    small_costs_.grow(a_.size() * width);
    small_rows_.clear();
    // Lower by more than the rounding of the product.
    const float scale = static_cast<float>(kernels::kFarthest) / costs_.largest * (1 - 0x1p-20F);
    for (std::size_t i = 0; i < a_.size(); ++i) {
        std::int16_t* row = small_costs_.data() + i * width;
        for (std::size_t j = 0; j < b_.size(); ++j)
            row[j] = static_cast<std::int16_t>(costs_.at(i, j) * scale);
        std::fill(row + b_.size(), row + width, kernels::kFarthest);
        small_rows_.push_back(row);
    }
    none_closed_.assign(width, 0);
    a_shares_ = shares(a_.masses, total_);
    b_shares_ = shares(b_.masses, total_);
    const double unit = costs_.unit / static_cast<double>(scale);
    const double found =
        sinkhorn_.bound({small_rows_, b_.size(), width, none_closed_.data(), a_shares_, b_shares_},
                        enough / unit, stop);
    return found * unit * (1 - 1e-7);
}

// Solves what split() left to move; the shipments stay in solution_.
double PairSolver::solve(const VectorTable& table, Cost cost, bool is_large, base::Stop& stop,
                         double enough) {
    solved_ = false;
    solution_.shipments.clear();
    solution_.pivots = 0;
    solution_.method = Method::narrow_simplex;
    if (a_.size() == 0) return 0;
    kernel_.compute(table, cost, a_.words, b_.words, stop, costs_);
    if (sinkhorn_bound(enough, stop) > enough) return std::numeric_limits<double>::infinity();
    if (is_large) {
        sinkhorn_ = {};
        small_costs_ = {};
    }
    double sum = 0;
    if (a_.size() == 1 || b_.size() == 1) {
        ship_directly();
        for (const Shipment& s : solution_.shipments)
            sum += static_cast<double>(s.mass) * cost_of(s);
    } else {
        sum = transport_.solve(a_.masses, b_.masses, costs_, static_cast<double>(costs_.largest),
                               solution_, stop, {}, {prefetch_, table.dimension * sizeof(float)});
        solved_ = true;
    }
    return sum / static_cast<double>(total_) * costs_.unit;
}

double PairSolver::distance(const VectorTable& table, Cost cost, const Document& a,
                            const Document& b, base::Stop& stop, double enough) {
    const bool in_order = goes_first(a, b);
    split(in_order ? a : b, in_order ? b : a, is_metric(cost));
    const LargePair memory(*this, table, a_.size(), b_.size(), stop);
    const double found = solve(table, cost, memory.is_large(), stop, enough);
    prefetch_.clear();
    return found;
}

void PairSolver::prefetch(const VectorTable& table, const Document& a, const Document& b) {
    prefetch_.clear();
    for (const Document* document : {&a, &b})
        for (const std::int32_t word : document->words) prefetch_.push_back(table.row(word));
}

// The potentials of b's words that are left to move, for costs in float64: the proof is checked
// against those, and costs of float32 would leave a gap of 1e-7 of the largest one.
std::vector<double> PairSolver::column_potentials(const VectorTable& table, Cost cost,
                                                  bool is_large, base::Stop& stop) {
    std::vector<double> v(b_.size(), 0.0);
    if (a_.size() == 0) return v;
    if (!solved_) {
        if (a_.size() == 1)
            for (std::size_t j = 0; j < v.size(); ++j)
                v[j] = precise_cost(table, cost, a_.words[0], b_.words[j]);
        return v;
    }
    // For a large pair, each cost is computed where it is read. This is a few times more work than
    // a matrix of float64, but such a matrix would take the most memory.
    std::vector<double> costs(is_large ? 0 : a_.size() * b_.size());
    const auto computed = [&](std::size_t i, std::size_t j) {
        return precise_cost(table, cost, a_.words[i], b_.words[j]);
    };
    double largest = 0;
    for (std::size_t i = 0; i < a_.size(); ++i) {
        stop.throw_if_requested();
        for (std::size_t j = 0; j < b_.size(); ++j) {
            const double value = computed(i, j);
            if (!is_large) costs[i * b_.size() + j] = value;
            largest = std::max(largest, value);
        }
    }
    const auto stored = [&](std::size_t i, std::size_t j) { return costs[i * b_.size() + j]; };
    Solution proof;
    if (is_large)
        transport_.solve(a_.masses, b_.masses, computed, largest, proof, stop);
    else
        transport_.solve(a_.masses, b_.masses, stored, largest, proof, stop);
    for (std::size_t j = 0; j < v.size(); ++j) v[j] = transport_.column_potential(proof, j);
    return v;
}

// The best that the words of `of` can have under the potentials of b's words: min_j cost - v[j].
// In float64: the triangle inequality, on which the proof rests, must hold far beyond float32.
std::vector<double> PairSolver::best_potentials(const VectorTable& table, Cost cost,
                                                std::span<const std::int32_t> of,
                                                const std::vector<double>& v,
                                                base::Stop& stop) const {
    std::vector<double> best(of.size(), v.empty() ? 0.0 : std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < of.size(); ++i) {
        stop.throw_if_requested();
        for (std::size_t j = 0; j < v.size(); ++j)
            best[i] = std::min(best[i], precise_cost(table, cost, of[i], b_.words[j]) - v[j]);
    }
    return best;
}

Explanation PairSolver::explain(const VectorTable& table, Cost cost, const Document& source,
                                const Document& target, base::Stop& stop) {
    const bool in_order = goes_first(source, target);
    const Document& a = in_order ? source : target;
    const Document& b = in_order ? target : source;
    split(a, b, is_metric(cost));
    const LargePair memory(*this, table, a_.size(), b_.size(), stop);
    Explanation out;
    out.distance = solve(table, cost, memory.is_large(), stop);
    out.pivots = solution_.pivots;
    out.method = solution_.method;
    out.solved = solved_;

    const auto share = [this](std::int64_t mass) {
        return static_cast<double>(mass) / static_cast<double>(total_);
    };
    for (const Kept& k : kept_) out.moves.push_back({k.a, k.b, share(k.mass), 0.0});
    for (const Shipment& s : solution_.shipments)
        out.moves.push_back({a_.positions[static_cast<std::size_t>(s.row)],
                             b_.positions[static_cast<std::size_t>(s.column)], share(s.mass),
                             cost_of(s) * costs_.unit});
    out.source_masses = shares(a_masses_, total_);
    out.target_masses = shares(b_masses_, total_);

    // Under a metric one function f of the words proves the distance (Kantorovich and Rubinstein):
    // it is f on the one side and -f on the other, so words that stay cost nothing.
    const std::vector<double> v = column_potentials(table, cost, memory.is_large(), stop);
    out.source_potentials = best_potentials(table, cost, a.words, v, stop);
    if (is_metric(cost)) {
        out.target_potentials = best_potentials(table, cost, b.words, v, stop);
        for (double& value : out.target_potentials) value = -value;
    } else {
        out.target_potentials = v;
    }

    if (!in_order) {
        for (Move& move : out.moves) std::swap(move.source, move.target);
        std::swap(out.source_masses, out.target_masses);
        std::swap(out.source_potentials, out.target_potentials);
    }
    std::sort(out.moves.begin(), out.moves.end(), [](const Move& x, const Move& y) {
        return std::pair(x.source, x.target) < std::pair(y.source, y.target);
    });
    return out;
}

Bounds PairSolver::bounds(const VectorTable& table, Cost cost, const Document& a, const Document& b,
                          base::Stop& stop) {
    Bounds out;
    const LargePair memory(*this, table, a.size(), b.size(), stop);
    kernel_.compute(table, cost, a.words, b.words, stop, costs_);
    std::vector<float> nearest(b.size(), std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < a.size(); ++i) {
        float least = std::numeric_limits<float>::infinity();
        for (std::size_t j = 0; j < b.size(); ++j) {
            least = std::min(least, costs_.at(i, j));
            nearest[j] = std::min(nearest[j], costs_.at(i, j));
        }
        out.source += static_cast<double>(a.masses[i]) * static_cast<double>(least);
    }
    for (std::size_t j = 0; j < b.size(); ++j)
        out.target += static_cast<double>(b.masses[j]) * static_cast<double>(nearest[j]);
    out.source *= costs_.unit / static_cast<double>(a.total);
    out.target *= costs_.unit / static_cast<double>(b.total);

    // By Jensen's inequality the squares are bounded by the square.
    const std::vector<double> x = centroid(table, a);
    const std::vector<double> y = centroid(table, b);
    double square = 0;
    for (std::size_t k = 0; k < x.size(); ++k) square += (x[k] - y[k]) * (x[k] - y[k]);
    if (cost == Cost::euclidean)
        out.centroid = std::sqrt(square);
    else
        out.centroid = cost == Cost::cosine ? square / 2 : square;
    return out;
}

void PairSolver::trim(std::uint64_t bytes) noexcept {
    if (held_ > bytes) *this = PairSolver{};
}

} // namespace textkin::transport
