// The loops of bounds for many documents; included after transport_loops.h, under the same rules.
//
// Sums in double multiply and add in two steps, in order: every instruction set, and the plain code
// for one pair of documents, gives the same bits.

using Wide = double __attribute__((vector_size(sizeof(Floats))));
typedef double StoredWide __attribute__((vector_size(sizeof(Floats)), aligned(8), may_alias));
static_assert(alignof(StoredWide) == 8);
using Half = float __attribute__((vector_size(sizeof(Floats) / 2)));
typedef float StoredHalf __attribute__((vector_size(sizeof(Floats) / 2), aligned(4), may_alias));
static_assert(alignof(StoredHalf) == 4);

constexpr std::size_t kWideWidth = kWidth / 2;
constexpr std::size_t kGroupParts = kLanes / kWideWidth;
constexpr std::size_t kCentroidParts = kCentroidColumns / kWideWidth;
static_assert(kCentroidColumns % kWideWidth == 0);

inline Wide load_wide(const double* from) { return *reinterpret_cast<const StoredWide*>(from); }
inline void store_wide(double* to, Wide value) { *reinterpret_cast<StoredWide*>(to) = value; }
inline Wide widened(const float* from) {
    const Half half = *reinterpret_cast<const StoredHalf*>(from);
    return __builtin_convertvector(half, Wide);
}

// As many columns as fit into registers meet all rows before the next ones do.
template <std::size_t kRegisters>
[[gnu::always_inline]] inline void minima_of_strip(const float* table, std::size_t stride,
                                                   const std::int32_t* rows, std::size_t count,
                                                   float* out) {
    Floats least[kRegisters];
    const float* first = table + static_cast<std::size_t>(rows[0]) * stride;
    for (std::size_t r = 0; r < kRegisters; ++r) least[r] = load(first + r * kWidth);
    for (std::size_t k = 1; k < count; ++k) {
        const float* row = table + static_cast<std::size_t>(rows[k]) * stride;
        for (std::size_t r = 0; r < kRegisters; ++r) {
            const Floats value = load(row + r * kWidth);
            least[r] = value < least[r] ? value : least[r];
        }
    }
    for (std::size_t r = 0; r < kRegisters; ++r) store(out + r * kWidth, least[r]);
}

void column_minima(const float* table, std::size_t stride, const std::int32_t* rows,
                   std::size_t count, std::size_t columns, float* out) {
    constexpr std::size_t wide = kWidth * 8 < 64 ? kWidth * 8 : 64;
    std::size_t j = 0;
    for (; j + wide <= columns; j += wide)
        minima_of_strip<wide / kWidth>(table + j, stride, rows, count, out + j);
    for (; j < columns; j += kLanes)
        minima_of_strip<kLanes / kWidth>(table + j, stride, rows, count, out + j);
}

void add_weighted_rows(const float* table, const std::int32_t* rows, const double* weights,
                       std::size_t count, double* sums) {
    Wide sum[kGroupParts];
    for (std::size_t p = 0; p < kGroupParts; ++p) sum[p] = load_wide(sums + p * kWideWidth);
    for (std::size_t k = 0; k < count; ++k) {
        const float* row = table + static_cast<std::size_t>(rows[k]) * kLanes;
        for (std::size_t p = 0; p < kGroupParts; ++p)
            sum[p] = sum[p] + weights[k] * widened(row + p * kWideWidth);
    }
    for (std::size_t p = 0; p < kGroupParts; ++p) store_wide(sums + p * kWideWidth, sum[p]);
}

void add_scaled(const float* x, double share, std::size_t dimension, double* sums) {
    std::size_t k = 0;
    for (; k + kWideWidth <= dimension; k += kWideWidth)
        store_wide(sums + k, load_wide(sums + k) + share * widened(x + k));
    for (; k < dimension; ++k) sums[k] += share * static_cast<double>(x[k]);
}

void centroid_squares(const double* x, const double* y, std::size_t dimension, double* out) {
    Wide sum[kCentroidRows][kCentroidParts];
    for (std::size_t i = 0; i < kCentroidRows; ++i)
        for (std::size_t p = 0; p < kCentroidParts; ++p) sum[i][p] = Wide{};
    for (std::size_t k = 0; k < dimension; ++k)
        for (std::size_t p = 0; p < kCentroidParts; ++p) {
            const Wide other = load_wide(y + k * kCentroidColumns + p * kWideWidth);
            for (std::size_t i = 0; i < kCentroidRows; ++i) {
                const Wide difference = x[i * dimension + k] - other;
                sum[i][p] = sum[i][p] + difference * difference;
            }
        }
    for (std::size_t i = 0; i < kCentroidRows; ++i)
        for (std::size_t p = 0; p < kCentroidParts; ++p)
            store_wide(out + i * kCentroidColumns + p * kWideWidth, sum[i][p]);
}
