// Loops of Sinkhorn scaling, for smooth potentials of the dual problem; included after
// search_loops.h, under the same rules.
//
// Their precision matters little: the caller completes the potentials to feasible ones.

constexpr std::size_t kGroup = kLanes / kWidth; // registers that hold kLanes numbers
constexpr float kLeastPower = -64;              // of two, below which nothing is left
constexpr float kLeastTotal = 1e-30F;           // what is divided by

using IntLanes = std::int32_t __attribute__((vector_size(sizeof(Floats))));
using ShortLanes = std::int16_t __attribute__((vector_size(sizeof(Floats) / 2)));
typedef std::int16_t StoredShortLanes
    __attribute__((vector_size(sizeof(Floats) / 2), aligned(2), may_alias));
static_assert(alignof(StoredShortLanes) == 2);

// 2^x for x from kLeastPower to 0, to four digits.
[[gnu::always_inline]] inline Floats power_of_two(Floats x) {
    const Floats shift = all(12582912.0F); // 1.5 x 2^23: adding it leaves whole numbers
    const Floats shifted = x + shift;
    const Floats r = x - (shifted - shift);
    Floats power = multiply_add(r, all(0.0096181F), all(0.0555041F));
    power = multiply_add(power, r, all(0.2402265F));
    power = multiply_add(power, r, all(0.6931472F));
    power = multiply_add(power, r, all(1.0F));
    return reinterpret_cast<Floats>(reinterpret_cast<IntLanes>(power) +
                                    (reinterpret_cast<IntLanes>(shifted) << 23));
}

void sinkhorn_kernel(const std::int16_t* const* rows, std::size_t count, std::size_t width,
                     const std::int16_t* row_values, const std::int16_t* column_values, float scale,
                     float* out) {
    const auto short_lanes = [](const std::int16_t* from) {
        return ShortLanes(*reinterpret_cast<const StoredShortLanes*>(from));
    };
    const Floats least = all(kLeastPower);
    for (std::size_t i = 0; i < count; ++i, out += width) {
        for (std::size_t j = 0; j < width; j += kWidth) {
            const ShortLanes rest =
                short_lanes(rows[i] + j) - row_values[i] - short_lanes(column_values + j);
            const Floats power =
                smaller(__builtin_convertvector(rest, Floats) * all(scale), zeros());
            const Floats found = power_of_two(larger(power, least));
            store(out + j, power < least ? zeros() : found);
        }
    }
}

// One round for some rows: their factors from those of the columns, and what they then give to each
// column. Without `sums` only what they get.
template <std::size_t Count>
[[gnu::always_inline]] inline void
sinkhorn_rows(const float* sinkhorn_kernel, std::size_t width, const float* row_masses,
              const float* column_factors, float* row_sums, float* sums) {
    Floats got[Count][kGroup];
    for (std::size_t i = 0; i < Count; ++i)
        for (std::size_t part = 0; part < kGroup; ++part) got[i][part] = zeros();
    for (std::size_t j = 0; j < width; j += kLanes)
        for (std::size_t part = 0; part < kGroup; ++part) {
            const Floats factors = load(column_factors + j + part * kWidth);
            for (std::size_t i = 0; i < Count; ++i)
                got[i][part] = multiply_add(
                    factors, load(sinkhorn_kernel + i * width + j + part * kWidth), got[i][part]);
        }
    Floats factors[Count];
    for (std::size_t i = 0; i < Count; ++i) {
        const FourFloats four = folded(got[i]);
        const float sum = (four[0] + four[2]) + (four[1] + four[3]);
        row_sums[i] = sum > kLeastTotal ? sum : kLeastTotal;
        factors[i] = all(row_masses[i] / row_sums[i]);
    }
    if (sums == nullptr) return;
    for (std::size_t j = 0; j < width; j += kWidth) {
        Floats sum = load(sums + j);
        for (std::size_t i = 0; i < Count; ++i)
            sum = multiply_add(factors[i], load(sinkhorn_kernel + i * width + j), sum);
        store(sums + j, sum);
    }
}

void sinkhorn_step(const float* sinkhorn_kernel, std::size_t count, std::size_t width,
                   const float* row_masses, const float* column_masses, float* column_factors,
                   float* sums, float* row_sums) {
    constexpr std::size_t together = 4;
    if (sums != nullptr)
        for (std::size_t j = 0; j < width; j += kWidth) store(sums + j, zeros());
    std::size_t i = 0;
    for (; i + together <= count; i += together)
        sinkhorn_rows<together>(sinkhorn_kernel + i * width, width, row_masses + i, column_factors,
                                row_sums + i, sums);
    for (; i < count; ++i)
        sinkhorn_rows<1>(sinkhorn_kernel + i * width, width, row_masses + i, column_factors,
                         row_sums + i, sums);
    if (sums == nullptr) return;
    for (std::size_t j = 0; j < width; j += kWidth)
        store(column_factors + j,
              load(column_masses + j) / larger(load(sums + j), all(kLeastTotal)));
}
