// The loops of topic models over rows of topics, included after transport_loops.h and under the
// same rules.
//
// Vectors of 64 bytes on every processor, sums in a fixed order and no fused additions: all
// instruction sets give the same bits. `width` is a multiple of kTopicLanes<Number>.

constexpr std::size_t kRegister = 4 * kWidth; // bytes
constexpr std::size_t kPieces = 64 / kRegister;

template <class Number> struct Pieces;
template <> struct Pieces<float> {
    using Piece = float __attribute__((vector_size(kRegister)));
    typedef float Stored __attribute__((vector_size(kRegister), aligned(4), may_alias));
    static_assert(alignof(Stored) == 4);
    using Mask = std::int32_t __attribute__((vector_size(kRegister)));
};
template <> struct Pieces<double> {
    using Piece = double __attribute__((vector_size(kRegister)));
    typedef double Stored __attribute__((vector_size(kRegister), aligned(8), may_alias));
    static_assert(alignof(Stored) == 8);
    using Mask = std::uint64_t __attribute__((vector_size(kRegister)));
};
template <class Number> using Piece = typename Pieces<Number>::Piece;

// 64 bytes, in as many registers as that takes.
template <class Number> struct Vector {
    Piece<Number> pieces[kPieces];
};
template <class Number> constexpr std::size_t kTopicLanes = 64 / sizeof(Number);
template <class Number> constexpr std::size_t kPieceLanes = kRegister / sizeof(Number);

template <class Number>
[[gnu::always_inline]] inline Piece<Number> load_piece(const Number* from, std::size_t piece) {
    return *reinterpret_cast<const typename Pieces<Number>::Stored*>(from +
                                                                     piece * kPieceLanes<Number>);
}
template <class Number>
[[gnu::always_inline]] inline void store_piece(Number* to, std::size_t piece, Piece<Number> value) {
    *reinterpret_cast<typename Pieces<Number>::Stored*>(to + piece * kPieceLanes<Number>) = value;
}

// sums += weight * row.
template <class Number>
[[gnu::always_inline]] inline void add_scaled_row(Vector<Number>& sums, Number weight,
                                                  const Number* row) {
    for (std::size_t p = 0; p < kPieces; ++p) sums.pieces[p] += weight * load_piece(row, p);
}
// sums += a * b.
template <class Number>
[[gnu::always_inline]] inline void add_products(Vector<Number>& sums, const Number* a,
                                                const Number* b) {
    for (std::size_t p = 0; p < kPieces; ++p) sums.pieces[p] += load_piece(a, p) * load_piece(b, p);
}
template <class Number>
[[gnu::always_inline]] inline void store_vector(Number* to, const Vector<Number>& value) {
    for (std::size_t p = 0; p < kPieces; ++p) store_piece(to, p, value.pieces[p]);
}

// Halves onto halves, down to one number.
template <class Number> [[gnu::always_inline]] inline Number sum_of(const Vector<Number>& vector) {
    Number lanes[kTopicLanes<Number>];
    if constexpr (kPieces == 4) {
        store_piece(lanes, 0,
                    (vector.pieces[0] + vector.pieces[2]) + (vector.pieces[1] + vector.pieces[3]));
    } else if constexpr (kPieces == 2) {
        const Piece<Number> half = vector.pieces[0] + vector.pieces[1];
        if constexpr (sizeof(Number) == 4)
            store_piece(lanes, 0,
                        half + __builtin_shufflevector(half, half, 4, 5, 6, 7, 0, 1, 2, 3));
        else
            store_piece(lanes, 0, half + __builtin_shufflevector(half, half, 2, 3, 0, 1));
    } else {
        Piece<Number> half = vector.pieces[0];
        if constexpr (sizeof(Number) == 4) {
            half += __builtin_shufflevector(half, half, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4,
                                            5, 6, 7);
            half += __builtin_shufflevector(half, half, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8,
                                            9, 10, 11);
        } else {
            half += __builtin_shufflevector(half, half, 4, 5, 6, 7, 0, 1, 2, 3);
            half += __builtin_shufflevector(half, half, 2, 3, 0, 1, 6, 7, 4, 5);
        }
        store_piece(lanes, 0, half);
    }
    if constexpr (sizeof(Number) == 4) return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    return lanes[0] + lanes[1];
}

template <class Number>
[[gnu::always_inline]] inline Number dot(const Number* a, const Number* b, std::size_t width) {
    constexpr std::size_t lanes = kTopicLanes<Number>;
    Vector<Number> first;
    Vector<Number> second;
    for (std::size_t p = 0; p < kPieces; ++p) {
        first.pieces[p] = load_piece(a, p) * load_piece(b, p);
        second.pieces[p] = Piece<Number>{};
    }
    std::size_t k = lanes;
    for (; k + 2 * lanes <= width; k += 2 * lanes) {
        add_products(second, a + k, b + k);
        add_products(first, a + k + lanes, b + k + lanes);
    }
    if (k < width) add_products(second, a + k, b + k);
    for (std::size_t p = 0; p < kPieces; ++p) first.pieces[p] += second.pieces[p];
    return sum_of(first);
}

// The loops wait for rows from all over a table; they ask for them this many entries ahead.
constexpr std::size_t kPrefetchDistance = 8;

template <class Number>
[[gnu::always_inline]] inline void prefetch_bytes_at(const Number* row, std::size_t width) {
    const char* bytes = reinterpret_cast<const char*>(row);
    for (std::size_t at = 0; at < width * sizeof(Number); at += 64) __builtin_prefetch(bytes + at);
}

template <class Number>
void topic_products(const Number* point, const Number* table, std::size_t width,
                    const std::int32_t* rows, std::size_t count, std::size_t readable,
                    Number* out) {
    for (std::size_t j = 0; j < count; ++j) {
        if (j + kPrefetchDistance < readable)
            prefetch_bytes_at(table + static_cast<std::size_t>(rows[j + kPrefetchDistance]) * width,
                              width);
        out[j] = dot(point, table + static_cast<std::size_t>(rows[j]) * width, width);
    }
}

// `Registers` vectors of each row, from coordinate `from` on.
template <std::size_t Registers, class Number, class Weights>
[[gnu::always_inline]] inline void
add_rows_from(std::size_t from, const Number* table, std::size_t width, const std::int32_t* rows,
              const Weights& weights, std::size_t count, Number* out) {
    constexpr std::size_t lanes = kTopicLanes<Number>;
    Vector<Number> sums[Registers];
    for (std::size_t r = 0; r < Registers; ++r)
        for (std::size_t p = 0; p < kPieces; ++p) sums[r].pieces[p] = Piece<Number>{};
    for (std::size_t j = 0; j < count; ++j) {
        const Number* row = table + static_cast<std::size_t>(rows[j]) * width + from;
        if (weights.looks_ahead(j))
            prefetch_bytes_at(
                table + static_cast<std::size_t>(rows[j + kPrefetchDistance]) * width + from,
                Registers * lanes);
        const Number own = weights(j);
        for (std::size_t r = 0; r < Registers; ++r) add_scaled_row(sums[r], own, row + r * lanes);
    }
    for (std::size_t r = 0; r < Registers; ++r) store_vector(out + from + r * lanes, sums[r]);
}

template <class Number, class Weights>
[[gnu::always_inline]] inline void add_rows(const Number* table, std::size_t width,
                                            const std::int32_t* rows, const Weights& weights,
                                            std::size_t count, Number* out) {
    constexpr std::size_t lanes = kTopicLanes<Number>;
    constexpr std::size_t most = 4; // vectors, in at most as many registers as there are
    std::size_t k = 0;
    for (; k + most * lanes <= width; k += most * lanes)
        add_rows_from<most>(k, table, width, rows, weights, count, out);
    for (; k + 2 * lanes <= width; k += 2 * lanes)
        add_rows_from<2>(k, table, width, rows, weights, count, out);
    if (k < width) add_rows_from<1>(k, table, width, rows, weights, count, out);
}

template <class Number> struct NearWeights {
    const Number* weights;
    Number operator()(std::size_t j) const { return weights[j]; }
    [[nodiscard]] bool looks_ahead(std::size_t /*j*/) const { return false; }
};
template <class Number> struct FarWeights {
    const Number* weights;
    const std::int64_t* places;
    std::size_t readable;
    Number operator()(std::size_t j) const { return weights[places[j]]; }
    [[nodiscard]] bool looks_ahead(std::size_t j) const {
        if (j + 2 * kPrefetchDistance < readable)
            __builtin_prefetch(weights + places[j + 2 * kPrefetchDistance]);
        return j + kPrefetchDistance < readable;
    }
};

template <class Number>
void sums_of_near_rows(const Number* table, std::size_t width, const std::int32_t* rows,
                       const Number* weights, std::size_t count, Number* out) {
    add_rows(table, width, rows, NearWeights<Number>{weights}, count, out);
}

template <class Number>
void sums_of_far_rows(const Number* table, std::size_t width, const std::int32_t* rows,
                      const Number* weights, const std::int64_t* places, std::size_t count,
                      std::size_t readable, Number* out) {
    add_rows(table, width, rows, FarWeights<Number>{weights, places, readable}, count, out);
}

template <class Number>
void renew_topics(const Number* sums, const Number* point, std::size_t n_topics, double prior,
                  const Number* before, Number* after) {
    constexpr std::size_t lanes = 8;
    double totals[lanes] = {};
    const auto weigh = [=](std::size_t k) {
        const double value = static_cast<double>(sums[k] * point[k]) + prior;
        after[k] = static_cast<Number>(value);
        return value;
    };
    std::size_t k = 0;
    for (; k + lanes <= n_topics; k += lanes)
        for (std::size_t l = 0; l < lanes; ++l) totals[l] += weigh(k + l);
    for (; k < n_topics; ++k) totals[k % lanes] += weigh(k);
    double total = 0;
    for (std::size_t l = 0; l < lanes; ++l) total += totals[l];
    if (!(total > 0)) {
        for (k = 0; k < n_topics; ++k) after[k] = before[k];
        return;
    }
    const double factor = 1 / total;
    for (k = 0; k < n_topics; ++k) {
        const double value = static_cast<double>(after[k]) * factor;
        after[k] = static_cast<Number>(value < kLeastTopic ? 0 : value);
    }
}

template <class Number>
void renew_words(const Number* sums, const double* scale, std::size_t n_topics, double prior,
                 double least, Number* row, double* totals) {
    for (std::size_t k = 0; k < n_topics; ++k) {
        const double value = static_cast<double>(row[k]) * scale[k] * static_cast<double>(sums[k]);
        const double kept = (value < least ? 0 : value) + prior;
        row[k] = static_cast<Number>(kept);
        totals[k] += kept;
    }
}

// log(x) of numbers above 0 that are not subnormal, to about the last bit: x = 2^e m with m from
// sqrt(1/2) to sqrt(2), and the series of log(m) = 2 artanh((m - 1) / (m + 1)).
[[gnu::always_inline]] inline Piece<double> log_of(Piece<double> x) {
    using Bits = Pieces<double>::Mask;
    const Bits bits = reinterpret_cast<Bits>(x);
    // Adding this carries into the exponent where the mantissa is that of sqrt(2) or more.
    const Bits exponent = (bits + (0x3ff0000000000000U - 0x3fe6a09e667f3bcdU)) >> 52;
    const Piece<double> m = reinterpret_cast<Piece<double>>(bits - ((exponent - 1023) << 52));
    // A whole number below 2^52, put into the mantissa of 2^52, makes 2^52 more of it.
    const Piece<double> e =
        reinterpret_cast<Piece<double>>(exponent | 0x4330000000000000U) - (0x1p52 + 1023);
    const Piece<double> f = (m - 1) / (m + 1);
    const Piece<double> g = f * f;
    Piece<double> series{};
    for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * g;
    return e * 0x1.62e42fefa39efp-1 + 2 * (f + f * series);
}

template <class Number>
double log_sum(const Number* weights, const Number* values, std::size_t count) {
    constexpr std::size_t lanes = kTopicLanes<double>;
    Vector<double> total;
    for (std::size_t p = 0; p < kPieces; ++p) total.pieces[p] = Piece<double>{};
    for (std::size_t j = 0; j < count; j += lanes) {
        double weight[lanes] = {};
        double value[lanes] = {1, 1, 1, 1, 1, 1, 1, 1};
        const std::size_t some = count - j < lanes ? count - j : lanes;
        for (std::size_t k = 0; k < some; ++k) {
            const bool counts = values[j + k] > 0;
            weight[k] = counts ? static_cast<double>(weights[j + k]) : 0;
            value[k] = counts ? static_cast<double>(values[j + k]) : 1;
        }
        for (std::size_t p = 0; p < kPieces; ++p)
            total.pieces[p] += load_piece(weight, p) * log_of(load_piece(value, p));
    }
    return sum_of(total);
}
