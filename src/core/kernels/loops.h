// The loops of every instruction set, written once in terms of its registers.
//
// A kernel file defines, in an unnamed namespace,
//   Floats, Ints      registers of kWidth float or int32 numbers,
//   Doubles           a register of partial sums in double,
//   and the functions on them that are called below,
// and then includes this file inside the same namespace, so that every function here belongs to
// that file alone and is compiled with its flags alone. No standard header with inline functions
// or templates may be included from here or from there.

static_assert(kLanes % kWidth == 0);

constexpr std::size_t kTerms = 13; // float additions one after another
constexpr std::size_t kSums = 3;   // of such sums that are added in float
constexpr std::size_t kPairs = kTileRows * kTileColumns;

// Sums of squared differences from step `begin` to `end`, for the pairs of two points of one side
// and four of the other: each register that is loaded serves several pairs, and eight independent
// sums keep the arithmetic units busy.
[[gnu::always_inline]] inline void add_up(const float* a, const float* b, std::size_t begin,
                                          std::size_t end, std::size_t stride, Floats* out) {
    Floats sums[kPairs];
    for (std::size_t p = 0; p < kPairs; ++p) sums[p] = zeros();
    for (std::size_t k = begin * kWidth; k < end * kWidth; k += kWidth) {
        const Floats first = load(a + k);
        const Floats second = load(a + stride + k);
        for (std::size_t j = 0; j < kTileColumns; ++j) {
            const Floats other = keep(load(b + j * stride + k));
            sums[j] = add_square(first - other, sums[j]);
            sums[kTileColumns + j] = add_square(second - other, sums[kTileColumns + j]);
        }
    }
    for (std::size_t p = 0; p < kPairs; ++p) out[p] = sums[p];
}

// Up to kSums such sums, added in float. Moves `begin` on.
[[gnu::always_inline]] inline void add_up_in_parts(const float* a, const float* b,
                                                   std::size_t& begin, std::size_t steps,
                                                   std::size_t stride, Floats* sums) {
    std::size_t end = begin + kTerms < steps ? begin + kTerms : steps;
    add_up(a, b, begin, end, stride, sums);
    for (std::size_t part = 1; part < kSums && end < steps; ++part) {
        begin = end;
        end = begin + kTerms < steps ? begin + kTerms : steps;
        Floats more[kPairs];
        add_up(a, b, begin, end, stride, more);
        for (std::size_t p = 0; p < kPairs; ++p) sums[p] = sums[p] + more[p];
    }
    begin = end;
}

[[gnu::always_inline]] inline void distances_of_tile(const float* a, const float* b,
                                                     std::size_t steps, std::size_t stride,
                                                     float* out, std::size_t out_stride) {
    Floats sums[kPairs];
    Doubles totals[kPairs];
    std::size_t begin = 0;
    add_up_in_parts(a, b, begin, steps, stride, sums);
    for (std::size_t p = 0; p < kPairs; ++p) totals[p] = widen(sums[p]);
    while (begin < steps) {
        add_up_in_parts(a, b, begin, steps, stride, sums);
        for (std::size_t p = 0; p < kPairs; ++p) totals[p] = totals[p] + widen(sums[p]);
    }
    store_four_sums(totals, out);
    store_four_sums(totals + kTileColumns, out + out_stride);
}

void squared_distances(const float* a, std::size_t rows, const float* b, std::size_t columns,
                       std::size_t dimension, std::size_t stride, float* out,
                       std::size_t out_stride) {
    const std::size_t steps = (dimension + kWidth - 1) / kWidth;
    for (std::size_t i = 0; i < rows; i += kTileRows)
        for (std::size_t j = 0; j < columns; j += kTileColumns)
            distances_of_tile(a + i * stride, b + j * stride, steps, stride,
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

// Looks on to the end of 64 columns even if it has found one: the processor foresees how many steps
// that takes, but not where the column is.
std::size_t find_reduced(const std::int32_t* cost, const std::int32_t* offset, std::size_t columns,
                         std::int32_t value) {
    const Ints wanted = all(value);
    for (std::size_t j = 0;; j += 64) {
        const std::size_t count = columns - j < 64 ? columns - j : 64;
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < count; k += kLanes) {
            unsigned some = 0;
            for (std::size_t l = 0; l < kLanes; l += kWidth)
                some |= equal(load(cost + j + k + l) - load(offset + j + k + l), wanted) << l;
            bits |= std::uint64_t{some} << k;
        }
        if (bits != 0) return j + static_cast<std::size_t>(__builtin_ctzll(bits));
    }
}

void add_where(std::int32_t* values, const std::uint64_t* set, std::size_t begin, std::size_t end,
               std::int32_t amount) {
    const Ints added = all(amount);
    for (std::size_t x = begin; x < end; x += kWidth) {
        const auto bits = static_cast<unsigned>(set[x / 64] >> (x % 64));
        store(values + x, load(values + x) + where(bits, added));
    }
}
