// The loops of every instruction set, written once in terms of its registers.
//
// A kernel file defines, in an unnamed namespace,
//   Floats, Ints      registers of kWidth float or int32 numbers,
//   Doubles           a register of partial sums in double,
//   and the functions on them that are called below,
// and then includes this file inside the same namespace, so that every function here belongs to
// that file alone and is compiled with its flags alone. No standard header with inline functions
// or templates may be included from here or from there.
//
// Types of vectors that are stored with the alignment of their numbers (StoredFloats and others)
// are declared by `typedef`: in a declaration with `using` Clang ignores the attribute `aligned`,
// and would load such a vector with instructions that require the full alignment.

static_assert(kLanes % kWidth == 0);

constexpr std::size_t kTerms = 13; // float additions one after another
constexpr std::size_t kSums = 3;   // of such sums that are added in float
constexpr std::size_t kPairs = kTileRows * kTileColumns;

// Two points of one side and four of the other.
struct Tile {
    const float* a[kTileRows];
    const float* b[kTileColumns];
};

// Adds the squared differences of one step to the sums of all pairs: each register that is loaded
// serves several pairs, and eight independent sums keep the arithmetic units busy.
template <class Load>
[[gnu::always_inline]] inline void add_step(const Tile& tile, const Load& load_from, Floats* sums) {
    const Floats first = load_from(tile.a[0]);
    const Floats second = load_from(tile.a[1]);
    for (std::size_t j = 0; j < kTileColumns; ++j) {
        const Floats other = keep(load_from(tile.b[j]));
        sums[j] = add_square(first - other, sums[j]);
        sums[kTileColumns + j] = add_square(second - other, sums[kTileColumns + j]);
    }
}

// Sums of squared differences from coordinate `begin` to `end`, at most kTerms registers of them;
// the last register may be filled in part.
[[gnu::always_inline]] inline void add_up(const Tile& tile, std::size_t begin, std::size_t end,
                                          Floats* out) {
    Floats sums[kPairs];
    for (std::size_t p = 0; p < kPairs; ++p) sums[p] = zeros();
    std::size_t k = begin;
    for (; k + kWidth <= end; k += kWidth)
        add_step(tile, [k](const float* from) { return load(from + k); }, sums);
    if (k < end) {
        const Part part(end - k);
        add_step(tile, [k, &part](const float* from) { return part.load(from + k); }, sums);
    }
    for (std::size_t p = 0; p < kPairs; ++p) out[p] = sums[p];
}

// Up to kSums such sums, added in float. Moves `begin` on.
[[gnu::always_inline]] inline void add_up_in_parts(const Tile& tile, std::size_t& begin,
                                                   std::size_t dimension, Floats* sums) {
    constexpr std::size_t most = kTerms * kWidth;
    std::size_t end = begin + most < dimension ? begin + most : dimension;
    add_up(tile, begin, end, sums);
    for (std::size_t part = 1; part < kSums && end < dimension; ++part) {
        begin = end;
        end = begin + most < dimension ? begin + most : dimension;
        Floats more[kPairs];
        add_up(tile, begin, end, more);
        for (std::size_t p = 0; p < kPairs; ++p) sums[p] = sums[p] + more[p];
    }
    begin = end;
}

[[gnu::always_inline]] inline void distances_of_tile(const Tile& tile, std::size_t dimension,
                                                     float* out, std::size_t out_stride) {
    Floats sums[kPairs];
    Doubles totals[kPairs];
    std::size_t begin = 0;
    add_up_in_parts(tile, begin, dimension, sums);
    for (std::size_t p = 0; p < kPairs; ++p) totals[p] = widen(sums[p]);
    while (begin < dimension) {
        add_up_in_parts(tile, begin, dimension, sums);
        for (std::size_t p = 0; p < kPairs; ++p) totals[p] = totals[p] + widen(sums[p]);
    }
    store_four_sums(totals, out);
    store_four_sums(totals + kTileColumns, out + out_stride);
}

void squared_distances(const float* const* a, std::size_t rows, const float* const* b,
                       std::size_t columns, std::size_t dimension, float* out,
                       std::size_t out_stride) {
    for (std::size_t i = 0; i < rows; i += kTileRows)
        for (std::size_t j = 0; j < columns; j += kTileColumns)
            distances_of_tile({{a[i], a[i + 1]}, {b[j], b[j + 1], b[j + 2], b[j + 3]}}, dimension,
                              out + i * out_stride + j, out_stride);
}

float finish_costs(float* values, std::size_t count, float factor, bool root) {
    Floats most = zeros();
    for (std::size_t k = 0; k < count; k += kWidth) {
        Floats value = load(values + k) * all(factor);
        if (root) value = square_root(value);
        store(values + k, value);
        most = larger(most, value);
    }
    return largest_of(most);
}

void round_costs(const float* values, std::size_t count, float scale, std::int32_t* out) {
    for (std::size_t k = 0; k < count; k += kWidth)
        store(out + k, nearest(load(values + k) * all(scale)));
}

// Two rows share what is loaded of the offsets.
void row_minima(const std::int32_t* cost, std::size_t stride, std::size_t rows,
                const std::int32_t* offset, std::size_t columns, std::int32_t* out) {
    std::size_t i = 0;
    for (; i + 2 <= rows; i += 2, cost += 2 * stride) {
        Ints first = load(cost) - load(offset);
        Ints second = load(cost + stride) - load(offset);
        for (std::size_t j = kWidth; j < columns; j += kWidth) {
            const Ints less = keep(load(offset + j));
            first = smaller(first, load(cost + j) - less);
            second = smaller(second, load(cost + stride + j) - less);
        }
        out[i] = least_of(first);
        out[i + 1] = least_of(second);
    }
    if (i == rows) return;
    Ints least = load(cost) - load(offset);
    for (std::size_t j = kWidth; j < columns; j += kWidth)
        least = smaller(least, load(cost + j) - load(offset + j));
    out[i] = least_of(least);
}

// The first j where `at(j)` gives a register with the value. Looks on to the end of 64 columns even
// if it has found one: the processor foresees how many steps that takes, but not where the column
// is.
template <class At>
[[gnu::always_inline]] inline std::size_t first_where(const At& at, std::size_t columns,
                                                      std::int32_t value) {
    const Ints wanted = all(value);
    for (std::size_t j = 0;; j += 64) {
        const std::size_t count = columns - j < 64 ? columns - j : 64;
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < count; k += kLanes) {
            unsigned some = 0;
            for (std::size_t l = 0; l < kLanes; l += kWidth)
                some |= equal(at(j + k + l), wanted) << l;
            bits |= std::uint64_t{some} << k;
        }
        if (bits != 0) return j + static_cast<std::size_t>(__builtin_ctzll(bits));
    }
}

std::size_t find_reduced(const std::int32_t* cost, const std::int32_t* offset, std::size_t columns,
                         std::int32_t value) {
    return first_where([=](std::size_t j) { return load(cost + j) - load(offset + j); }, columns,
                       value);
}

void add_where(std::int32_t* values, const std::uint64_t* set, std::size_t begin, std::size_t end,
               std::int32_t amount) {
    const Ints added = all(amount);
    for (std::size_t x = begin; x < end; x += kWidth) {
        const auto bits = static_cast<unsigned>(set[x / 64] >> (x % 64));
        store(values + x, load(values + x) + where(bits, added));
    }
}

// Where the least of the numbers is that `at(j)` gives a register of; of several the first.
template <class At>
[[gnu::always_inline]] inline std::size_t place_of_least(const At& at, std::size_t count,
                                                         std::int32_t& least) {
    constexpr std::size_t registers = kLanes / kWidth;
    if (count == kLanes) { // all of them stay in registers
        Ints values[registers];
        Ints lowest = values[0] = at(0);
        for (std::size_t r = 1; r < registers; ++r) {
            values[r] = at(r * kWidth);
            lowest = smaller(lowest, values[r]);
        }
        least = least_of(lowest);
        const Ints wanted = all(least);
        unsigned bits = 0;
        for (std::size_t r = 0; r < registers; ++r) bits |= equal(values[r], wanted) << r * kWidth;
        return static_cast<std::size_t>(__builtin_ctz(bits));
    }
    Ints lowest = at(0);
    for (std::size_t j = kWidth; j < count; j += kWidth) lowest = smaller(lowest, at(j));
    least = least_of(lowest);
    return first_where(at, count, least);
}

// The least of cost[j] - offset[j], and where it is.
inline std::size_t nearest_column(const std::int32_t* cost, const std::int32_t* offset,
                                  std::size_t columns, std::int32_t& least) {
    return place_of_least([=](std::size_t j) { return load(cost + j) - load(offset + j); }, columns,
                          least);
}

inline std::size_t nearest_row(const std::int32_t* values, std::size_t rows, std::int32_t& least) {
    return place_of_least([=](std::size_t i) { return load(values + i); }, rows, least);
}

#include "kernels/simplex_loops.h"

// Small problems, which have few words to read and much to wait for: at most kRows rows and Blocks
// times kLanes columns, everything in registers or stored in whole ones.
template <std::size_t Blocks> struct Small {
    static constexpr std::size_t kRows = 32;
    static constexpr std::size_t kRegisters = Blocks * kLanes / kWidth;

    // For the start each open arc has a key, cost x 32 + row, moved to the range of int32; all
    // others have the largest number. Costs beyond the range count as the largest in it.
    struct OpenArcs {
        static constexpr std::int32_t kMiddle = 1 << 26;
        static constexpr std::int32_t kMostCost = 2 * kMiddle - 2;
        static_assert(kRows == 32);

        alignas(64) std::int32_t keys[kRows][kRegisters * kWidth];
        std::size_t rows;
        std::uint64_t closed; // columns

        explicit OpenArcs(const Tree<std::int32_t>& t)
            : rows(t.rows), closed(~std::uint64_t{0} << t.columns) {
            for (std::size_t i = 0; i < rows; ++i) {
                const Ints row = all(static_cast<std::int32_t>(i));
                for (std::size_t r = 0; r < kRegisters; ++r) {
                    const Ints cost = load(t.cost + i * t.stride + r * kWidth);
                    store(keys[i] + r * kWidth,
                          times_32(smaller(cost, all(kMostCost)) - all(kMiddle)) + row);
                }
            }
        }
        // The largest number in the lanes whose bit is set: -1 less the least one.
        static Ints largest_where(unsigned bits, Ints keys) {
            return (keys | where(bits, all(-1))) - where(bits, all(INT32_MIN));
        }
        void find_cheapest(std::size_t& i, std::size_t& j) const {
            Ints lowest[kRegisters];
            for (std::size_t r = 0; r < kRegisters; ++r) lowest[r] = load(keys[0] + r * kWidth);
            for (std::size_t k = 1; k < rows; ++k)
                for (std::size_t r = 0; r < kRegisters; ++r)
                    lowest[r] = smaller(lowest[r], load(keys[k] + r * kWidth));
            for (std::size_t r = 0; r < kRegisters; ++r)
                lowest[r] = largest_where(static_cast<unsigned>(closed >> r * kWidth), lowest[r]);
            std::int32_t least = 0;
            j = place_in_registers(lowest, least);
            i = static_cast<std::size_t>(least & 31);
        }
        void close(std::size_t i, std::size_t j, bool row) {
            closed |= static_cast<std::uint64_t>(!row) << j;
            const unsigned bits = row ? ~0U : 0U;
            for (std::size_t r = 0; r < kRegisters; ++r)
                store(keys[i] + r * kWidth, largest_where(bits, load(keys[i] + r * kWidth)));
        }
    };

    // Where the least of some registers is.
    [[gnu::always_inline]] static std::size_t place_in_registers(const Ints* values,
                                                                 std::int32_t& least) {
        Ints lowest = values[0];
        for (std::size_t r = 1; r < kRegisters; ++r) lowest = smaller(lowest, values[r]);
        least = least_of(lowest);
        const Ints wanted = all(least);
        unsigned bits = 0;
        for (std::size_t r = 0; r < kRegisters; ++r) bits |= equal(values[r], wanted) << r * kWidth;
        return static_cast<std::size_t>(__builtin_ctz(bits));
    }

    // The arc with the least reduced cost, and that; 0 if none is negative.
    static std::int32_t find_best(const Tree<std::int32_t>& t, Node& row, Node& column) {
        Ints best[kRegisters];
        Ints best_row[kRegisters];
        for (std::size_t r = 0; r < kRegisters; ++r) {
            best[r] = load(t.cost + r * kWidth) - all(t.potential[0]);
            best_row[r] = all(0);
        }
        for (std::size_t i = 1; i < t.rows; ++i) {
            const Ints less = all(t.potential[i]);
            const Ints own = all(static_cast<std::int32_t>(i));
            for (std::size_t r = 0; r < kRegisters; ++r) {
                const Ints value = load(t.cost + i * t.stride + r * kWidth) - less;
                best_row[r] = if_less(value, best[r], own, best_row[r]);
                best[r] = smaller(best[r], value);
            }
        }
        alignas(64) std::int32_t rows[kRegisters * kWidth];
        for (std::size_t r = 0; r < kRegisters; ++r) {
            best[r] = best[r] - load(t.potential + t.first_column + r * kWidth);
            store(rows + r * kWidth, best_row[r]);
        }
        std::int32_t least = 0;
        const std::size_t j = place_in_registers(best, least);
        row = static_cast<Node>(rows[j]);
        column = static_cast<Node>(t.first_column + j);
        return least < 0 ? least : 0;
    }
};

Outcome solve_narrow(Tree<std::int32_t>& tree) {
    if (tree.rows <= Small<1>::kRows && tree.width == kLanes) return solve_small<Small<1>>(tree);
    if (tree.rows <= Small<2>::kRows && tree.width == 2 * kLanes)
        return solve_small<Small<2>>(tree);
    return solve_tree(tree);
}
