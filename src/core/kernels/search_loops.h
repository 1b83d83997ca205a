// The loops of the search, written once in terms of the registers of an instruction set; included
// after transport_loops.h and under the same rules. Costs are whole numbers from 0 to 32767 here.

constexpr std::size_t kParts = kPanelWords / kWidth;
constexpr std::size_t kMostPoints = 12 / kParts; // sums that fit the registers

// `Count` points against the words of a panel.
template <std::size_t Count>
[[gnu::always_inline]] inline void
lower_costs_of(const float* points, std::size_t stride, std::size_t dimension, const float* panel,
               const float* panel_squares, const float* point_squares, float scale, bool root,
               std::int16_t* const* out, std::size_t offset) {
    Floats sums[Count][kParts];
    for (std::size_t p = 0; p < Count; ++p)
        for (std::size_t part = 0; part < kParts; ++part) sums[p][part] = zeros();
    for (std::size_t k = 0; k < dimension; ++k) {
        Floats words[kParts];
        for (std::size_t part = 0; part < kParts; ++part)
            words[part] = load(panel + k * kPanelWords + part * kWidth);
        for (std::size_t p = 0; p < Count; ++p) {
            const Floats coordinate = all(points[p * stride + k]);
            for (std::size_t part = 0; part < kParts; ++part)
                sums[p][part] = multiply_add(coordinate, words[part], sums[p][part]);
        }
    }
    for (std::size_t p = 0; p < Count; ++p) {
        Floats costs[kParts];
        for (std::size_t part = 0; part < kParts; ++part) {
            const Floats squares = load(panel_squares + part * kWidth) + all(point_squares[p]);
            Floats value = squares - (sums[p][part] + sums[p][part]) - all(kLeastSquare);
            value = larger(value, zeros());
            if (root) value = square_root(value);
            costs[part] = smaller(value * all(scale), all(kLargestShort));
        }
        store_shorts(costs, out[p] + offset);
    }
}

void lower_costs(const float* points, std::size_t count, std::size_t stride, std::size_t dimension,
                 const float* panel, const float* panel_squares, const float* point_squares,
                 float scale, bool root, std::int16_t* const* out, std::size_t offset) {
    std::size_t p = 0;
    for (; p + kMostPoints <= count; p += kMostPoints)
        lower_costs_of<kMostPoints>(points + p * stride, stride, dimension, panel, panel_squares,
                                    point_squares + p, scale, root, out + p, offset);
    for (; p + 2 <= count; p += 2)
        lower_costs_of<2>(points + p * stride, stride, dimension, panel, panel_squares,
                          point_squares + p, scale, root, out + p, offset);
    if (p < count)
        lower_costs_of<1>(points + p * stride, stride, dimension, panel, panel_squares,
                          point_squares + p, scale, root, out + p, offset);
}

using FourFloats = float __attribute__((vector_size(16)));
typedef float StoredFourFloats __attribute__((vector_size(16), aligned(4), may_alias));
static_assert(alignof(StoredFourFloats) == 4);

void pack_panel(const float* const* words, std::size_t dimension, float scale, float* out) {
    std::size_t k = 0;
    for (; k + 4 <= dimension; k += 4)
        for (std::size_t w = 0; w < kPanelWords; w += 4) {
            FourFloats rows[4];
            for (std::size_t i = 0; i < 4; ++i)
                rows[i] = *reinterpret_cast<const StoredFourFloats*>(words[w + i] + k) * scale;
            const FourFloats a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
            const FourFloats b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
            const FourFloats c = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
            const FourFloats d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
            float* to = out + k * kPanelWords + w;
            *reinterpret_cast<StoredFourFloats*>(to) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
            *reinterpret_cast<StoredFourFloats*>(to + kPanelWords) =
                __builtin_shufflevector(a, b, 2, 3, 6, 7);
            *reinterpret_cast<StoredFourFloats*>(to + 2 * kPanelWords) =
                __builtin_shufflevector(c, d, 0, 1, 4, 5);
            *reinterpret_cast<StoredFourFloats*>(to + 3 * kPanelWords) =
                __builtin_shufflevector(c, d, 2, 3, 6, 7);
        }
    for (; k < dimension; ++k)
        for (std::size_t w = 0; w < kPanelWords; ++w)
            out[k * kPanelWords + w] = words[w][k] * scale;
}

void unpack_panel(const std::int16_t* packed, const float* steps, std::size_t dimension,
                  float* out) {
    float own[kPanelWords];
    for (std::size_t w = 0; w < kPanelWords; ++w) own[w] = steps[w];
    for (std::size_t k = 0; k < dimension; ++k)
        for (std::size_t w = 0; w < kPanelWords; ++w)
            out[k * kPanelWords + w] = static_cast<float>(packed[k * kPanelWords + w]) * own[w];
}

void least_of_rows(const std::int16_t* const* rows, std::size_t count, std::size_t length,
                   std::int16_t* out) {
    constexpr std::size_t kTogether = 4 * kShortWidth;
    std::size_t x = 0;
    for (; x + kTogether <= length; x += kTogether) {
        Shorts least[4];
        for (std::size_t part = 0; part < 4; ++part)
            least[part] = load_shorts(rows[0] + x + part * kShortWidth);
        for (std::size_t i = 1; i < count; ++i)
            for (std::size_t part = 0; part < 4; ++part)
                least[part] = smaller(least[part], load_shorts(rows[i] + x + part * kShortWidth));
        for (std::size_t part = 0; part < 4; ++part)
            store_shorts(least[part], out + x + part * kShortWidth);
    }
    for (; x < length; x += kShortWidth) {
        Shorts least = load_shorts(rows[0] + x);
        for (std::size_t i = 1; i < count; ++i) least = smaller(least, load_shorts(rows[i] + x));
        store_shorts(least, out + x);
    }
}

using EightShorts = std::int16_t __attribute__((vector_size(16)));
typedef std::int16_t StoredEightShorts __attribute__((vector_size(16), aligned(2), may_alias));
static_assert(alignof(StoredEightShorts) == 2);

[[gnu::always_inline]] inline EightShorts mix_low(EightShorts a, EightShorts b) {
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
[[gnu::always_inline]] inline EightShorts mix_high(EightShorts a, EightShorts b) {
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

// Three rounds that interleave rows i and i + 4.
[[gnu::always_inline]] inline void turn_eight(const std::int16_t* const* rows, std::size_t offset,
                                              std::int16_t* out, std::size_t stride) {
    EightShorts now[8];
    EightShorts next[8];
    for (std::size_t i = 0; i < 8; ++i)
        now[i] = *reinterpret_cast<const StoredEightShorts*>(rows[i] + offset);
    for (std::size_t round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < 4; ++i) {
            next[2 * i] = mix_low(now[i], now[i + 4]);
            next[2 * i + 1] = mix_high(now[i], now[i + 4]);
        }
        for (std::size_t i = 0; i < 8; ++i) now[i] = next[i];
    }
    for (std::size_t i = 0; i < 8; ++i)
        *reinterpret_cast<StoredEightShorts*>(out + i * stride) = now[i];
}

void transpose_panel(const std::int16_t* const* rows, std::size_t count, std::size_t offset,
                     std::int16_t* out, std::size_t stride) {
    std::size_t j = 0;
    for (; j + 8 <= count; j += 8)
        for (std::size_t w = 0; w < kPanelWords; w += 8)
            turn_eight(rows + j, offset + w, out + w * stride + j, stride);
    for (; j < count; ++j)
        for (std::size_t w = 0; w < kPanelWords; ++w) out[w * stride + j] = rows[j][offset + w];
    for (; j < stride; ++j)
        for (std::size_t w = 0; w < kPanelWords; ++w) out[w * stride + j] = kFarthest;
}

using EightFloats = float __attribute__((vector_size(32)));
typedef float StoredEightFloats __attribute__((vector_size(32), aligned(4), may_alias));
static_assert(alignof(StoredEightFloats) == 4);

void weigh_rows(const std::int64_t* starts, std::size_t rows, const std::int32_t* columns,
                const float* counts, const float* values, float* out) {
    for (std::size_t row = 0; row < rows; ++row) {
        float even = 0;
        float odd = 0;
        const auto end = static_cast<std::size_t>(starts[row + 1]);
        auto k = static_cast<std::size_t>(starts[row]);
        for (; k + 2 <= end; k += 2) {
            even += counts[k] * values[columns[k]];
            odd += counts[k + 1] * values[columns[k + 1]];
        }
        if (k < end) even += counts[k] * values[columns[k]];
        out[row] = even + odd;
    }
}

void weigh_rows_eightfold(const std::int64_t* starts, std::size_t rows, const std::int32_t* columns,
                          const float* counts, const float* values, float* out) {
    // Not `auto`, which drops the alignment of the type.
    const StoredEightFloats* eights = reinterpret_cast<const StoredEightFloats*>(values);
    for (std::size_t row = 0; row < rows; ++row) {
        EightFloats even{};
        EightFloats odd{};
        const auto end = static_cast<std::size_t>(starts[row + 1]);
        auto k = static_cast<std::size_t>(starts[row]);
        for (; k + 2 <= end; k += 2) {
            even += counts[k] * eights[columns[k]];
            odd += counts[k + 1] * eights[columns[k + 1]];
        }
        if (k < end) even += counts[k] * eights[columns[k]];
        *reinterpret_cast<StoredEightFloats*>(out + 8 * row) = even + odd;
    }
}

// Columns are taken in chunks whose registers stay where they are while all rows pass by.
constexpr std::size_t kChunk = 6; // registers

template <std::size_t Count>
[[gnu::always_inline]] inline void
least_of_chunk(const std::int16_t* const* rows, std::size_t count, std::size_t column,
               const std::int16_t* closed, std::int16_t* row_least, std::int16_t* column_least) {
    Shorts columns[Count];
    Shorts shut[Count];
    for (std::size_t part = 0; part < Count; ++part) {
        columns[part] = all_shorts(kFarthest);
        shut[part] = load_shorts(closed + column + part * kShortWidth);
    }
    for (std::size_t i = 0; i < count; ++i) {
        Shorts least = all_shorts(row_least[i]);
        for (std::size_t part = 0; part < Count; ++part) {
            const Shorts cost = load_shorts(rows[i] + column + part * kShortWidth);
            columns[part] = smaller(columns[part], cost);
            least = smaller(least, either(cost, shut[part]));
        }
        row_least[i] = least_of(least);
    }
    for (std::size_t part = 0; part < Count; ++part)
        store_shorts(columns[part], column_least + column + part * kShortWidth);
}

void least_both_ways(const std::int16_t* const* rows, std::size_t count, std::size_t width,
                     const std::int16_t* closed, std::int16_t* row_least,
                     std::int16_t* column_least) {
    for (std::size_t i = 0; i < count; ++i) row_least[i] = kFarthest;
    std::size_t j = 0;
    for (; j + kChunk * kShortWidth <= width; j += kChunk * kShortWidth)
        least_of_chunk<kChunk>(rows, count, j, closed, row_least, column_least);
    for (; j + 2 * kShortWidth <= width; j += 2 * kShortWidth)
        least_of_chunk<2>(rows, count, j, closed, row_least, column_least);
    if (j < width) least_of_chunk<1>(rows, count, j, closed, row_least, column_least);
}

template <std::size_t Count>
[[gnu::always_inline]] inline void reduced_chunk(const std::int16_t* const* rows, std::size_t count,
                                                 std::size_t column, const std::int16_t* row_values,
                                                 std::int16_t* out) {
    Shorts least[Count];
    for (std::size_t part = 0; part < Count; ++part) least[part] = all_shorts(kFarthest);
    for (std::size_t i = 0; i < count; ++i) {
        const Shorts value = all_shorts(row_values[i]);
        for (std::size_t part = 0; part < Count; ++part)
            least[part] =
                smaller(least[part], load_shorts(rows[i] + column + part * kShortWidth) - value);
    }
    for (std::size_t part = 0; part < Count; ++part)
        store_shorts(least[part], out + column + part * kShortWidth);
}

void reduced_columns(const std::int16_t* const* rows, std::size_t count, std::size_t width,
                     const std::int16_t* row_values, std::int16_t* out) {
    std::size_t j = 0;
    for (; j + kChunk * kShortWidth <= width; j += kChunk * kShortWidth)
        reduced_chunk<kChunk>(rows, count, j, row_values, out);
    for (; j + 2 * kShortWidth <= width; j += 2 * kShortWidth)
        reduced_chunk<2>(rows, count, j, row_values, out);
    if (j < width) reduced_chunk<1>(rows, count, j, row_values, out);
}

void reduced_rows(const std::int16_t* const* rows, std::size_t count, std::size_t width,
                  const std::int16_t* column_values, const std::int16_t* closed,
                  std::int16_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        Shorts least = all_shorts(kFarthest);
        for (std::size_t j = 0; j < width; j += kShortWidth)
            least = smaller(least, either(load_shorts(rows[i] + j), load_shorts(closed + j)) -
                                       load_shorts(column_values + j));
        out[i] = least_of(least);
    }
}
