// The loops that train word and document vectors, included after factor_loops.h and gibbs_loops.h
// and under the same rules.
//
// With several threads rows are read and written without locks: an addition may be lost, which the
// method bears (Recht and others 2011, "Hogwild"). It is a data race by design, on numbers that are
// loaded and stored whole, so the functions that touch rows (all inlined ones go with
// them) are not watched by the sanitizer of threads.

#ifdef __clang__
#define TEXTKIN_NO_THREAD_SANITIZER [[clang::no_sanitize("thread")]]
#else
#define TEXTKIN_NO_THREAD_SANITIZER [[gnu::no_sanitize("thread")]]
#endif

// So many rows at once: their sums and slopes stay in registers.
constexpr std::size_t kRowsAtOnce = 8;
// Beyond that sigmoid is as good as 0 or 1, and its slope is that at the bound. NaN counts as the
// upper bound: it cannot spread through slopes, only stay where it is.
constexpr float kSteepest = 30;

// exp(y) for y from -80 to 80: 2^n exp(r), where n is the integer nearest to y / log 2, and the
// first eight terms of exp(r), with a relative error of 5e-9 for |r| up to log(2) / 2. NaN stays
// NaN.
[[gnu::always_inline]] inline Piece<float> exponential_of(Piece<float> y) {
    using Numbers = Piece<float>;
    constexpr float shift = 12582912.0F; // 1.5 x 2^23: adding it leaves whole numbers
    const Numbers shifted = fused(y, spread(1.44269504F), spread(shift));
    const Numbers n = shifted - shift;
    Numbers r = fused(n, spread(-0.693359375F), y); // log 2 in two parts
    r = fused(n, spread(2.12194440e-4F), r);
    const Numbers r2 = r * r;
    const Numbers low = fused(r2, fused(r, spread(1.0F / 6), spread(0.5F)), r + 1.0F);
    const Numbers high = fused(r2, fused(r, spread(1.0F / 5040), spread(1.0F / 720)),
                               fused(r, spread(1.0F / 120), spread(1.0F / 24)));
    const Numbers power = fused(r2 * r2, high, low);
    // Of a NaN that arithmetic made, the lowest bits are 0: nothing is added to it.
    return reinterpret_cast<Numbers>(reinterpret_cast<IntPiece>(power) +
                                     (reinterpret_cast<IntPiece>(shifted) << 23));
}

// slopes[j] was u_j . h and becomes rate * (label - sigmoid(u_j . h)), where sigmoid(x) is
// 1 / (1 + exp(-x)).
[[gnu::always_inline]] inline void finish_slopes(const float* labels, std::size_t count, float rate,
                                                 float* slopes) {
    using Numbers = Piece<float>;
    for (std::size_t j = 0; j < count; j += kWidth) {
        Numbers y = -load_piece(slopes + j, 0);
        y = y > -kSteepest ? y : spread(-kSteepest);
        y = y < kSteepest ? y : spread(kSteepest);
        store_piece(slopes + j, 0,
                    rate * (load_piece(labels + j, 0) - 1.0F / (1.0F + exponential_of(y))));
    }
}

// Calls step(k, load) for each register of rows. While vectors are trained, rows are padded with
// zeros; where only documents are (Frozen), rows lie as they came, and the last register of each
// is filled in part.
template <bool Frozen, class Step>
[[gnu::always_inline]] inline void each_register(std::size_t dimension, const Step& step) {
    const std::size_t whole = Frozen ? dimension / kWidth * kWidth : dimension;
    for (std::size_t k = 0; k < whole; k += kWidth)
        step(k, [k](const float* row)
                    __attribute__((always_inline)) { return load_piece(row + k, 0); });
    if constexpr (Frozen) {
        if (whole == dimension) return;
        const Part part(dimension - whole);
        step(whole, [whole, &part](const float* row) __attribute__((always_inline)) {
            return static_cast<Piece<float>>(part.load(row + whole));
        });
    }
}

// out[j]: u_j . h, of at most kRowsAtOnce rows; as many numbers are written.
template <std::size_t Rows, bool Frozen>
TEXTKIN_NO_THREAD_SANITIZER void products_with(const float* hidden, float* const* rows,
                                               std::size_t dimension, float* out) {
    Piece<float> sums[kRowsAtOnce];
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kRowsAtOnce; ++j) sums[j] = Piece<float>{};
    each_register<Frozen>(dimension,
                          [&](std::size_t k, const auto& load_from) __attribute__((always_inline)) {
                              const Piece<float> own = load_piece(hidden + k, 0);
#pragma GCC unroll 8
                              for (std::size_t j = 0; j < Rows; ++j)
                                  sums[j] = fused(own, load_from(rows[j]), sums[j]);
                          });
    store_eight_sums(sums, out);
}

// out = start + the sum over j of slopes[j] u_j, and each u_j += slopes[j] h: of a row that comes
// twice the second sees what the first has done. `start` and `out` may be `hidden`.
template <std::size_t Rows, bool Frozen>
TEXTKIN_NO_THREAD_SANITIZER void climb(const float* hidden, const float* start, float* const* rows,
                                       const float* slopes, std::size_t dimension, float* out) {
    Piece<float> factors[Rows];
#pragma GCC unroll 8
    for (std::size_t j = 0; j < Rows; ++j) factors[j] = spread(slopes[j]);
    each_register<Frozen>(dimension,
                          [&](std::size_t k, const auto& load_from) __attribute__((always_inline)) {
                              [[maybe_unused]] const Piece<float> own = load_piece(hidden + k, 0);
                              Piece<float> sum = load_piece(start + k, 0);
#pragma GCC unroll 8
                              for (std::size_t j = 0; j < Rows; ++j) {
                                  const Piece<float> row = load_from(rows[j]);
                                  sum = fused(factors[j], row, sum);
                                  if constexpr (!Frozen)
                                      store_piece(rows[j] + k, 0, fused(factors[j], own, row));
                              }
                              store_piece(out + k, 0, sum);
                          });
}

// Functions for 1 to kRowsAtOnce rows.
template <bool Frozen> struct ForRows {
    using Products = void (*)(const float*, float* const*, std::size_t, float*);
    using Climb = void (*)(const float*, const float*, float* const*, const float*, std::size_t,
                           float*);
    static constexpr Products products[kRowsAtOnce] = {
        products_with<1, Frozen>, products_with<2, Frozen>, products_with<3, Frozen>,
        products_with<4, Frozen>, products_with<5, Frozen>, products_with<6, Frozen>,
        products_with<7, Frozen>, products_with<8, Frozen>};
    static constexpr Climb climbs[kRowsAtOnce] = {
        climb<1, Frozen>, climb<2, Frozen>, climb<3, Frozen>, climb<4, Frozen>,
        climb<5, Frozen>, climb<6, Frozen>, climb<7, Frozen>, climb<8, Frozen>};
};

// out = factor * the sum of the rows.
template <bool Frozen>
TEXTKIN_NO_THREAD_SANITIZER void sum_inputs(float* const* rows, std::size_t count, float factor,
                                            std::size_t dimension, float* out) {
    each_register<Frozen>(dimension,
                          [&](std::size_t k, const auto& load_from) __attribute__((always_inline)) {
                              Piece<float> sum = load_from(rows[0]);
                              for (std::size_t i = 1; i < count; ++i) sum += load_from(rows[i]);
                              store_piece(out + k, 0, factor * sum);
                          });
}

// Each row += error.
TEXTKIN_NO_THREAD_SANITIZER inline void add_to_inputs(float* const* rows, std::size_t count,
                                                      std::size_t dimension, const float* error) {
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < dimension; k += kWidth)
            store_piece(rows[i] + k, 0, load_piece(rows[i] + k, 0) + load_piece(error + k, 0));
}

// One step; of Frozen ones only the first input changes, which is padded.
template <bool Frozen>
void take_step(const EmbeddingSteps& s, float* const* inputs, std::size_t n_inputs,
               float* const* outputs, const float* labels, std::size_t n_outputs) {
    if (n_outputs == 0) return;
    const bool alone = n_inputs == 1; // then it is h
    const float factor = s.mean ? 1.0F / static_cast<float>(n_inputs) : 1.0F;
    float* hidden = alone ? inputs[0] : s.hidden;
    if (!alone) sum_inputs<Frozen>(inputs, n_inputs, factor, s.dimension, hidden);
    for (std::size_t j = 0; j < n_outputs; j += kRowsAtOnce) {
        const std::size_t rows = n_outputs - j < kRowsAtOnce ? n_outputs - j : kRowsAtOnce;
        ForRows<Frozen>::products[rows - 1](hidden, outputs + j, s.dimension, s.slopes + j);
    }
    finish_slopes(labels, n_outputs, s.rate, s.slopes);
    const float* start = hidden;
    if (!alone) {
        for (std::size_t k = 0; k < s.dimension; ++k) s.error[k] = 0;
        start = s.error;
    }
    for (std::size_t j = 0; j < n_outputs; j += kRowsAtOnce) {
        const bool last = n_outputs - j <= kRowsAtOnce;
        const std::size_t rows = last ? n_outputs - j : kRowsAtOnce;
        float* out = last && alone ? hidden : s.error;
        ForRows<Frozen>::climbs[rows - 1](hidden, start, outputs + j, s.slopes + j, s.dimension,
                                          out);
        start = s.error;
    }
    if (!alone) add_to_inputs(inputs, Frozen ? 1 : n_inputs, s.dimension, s.error);
}

template <bool Frozen> void take_steps(const EmbeddingSteps& s) {
    std::size_t input = 0;
    std::size_t output = 0;
    for (std::size_t step = 0; step < s.count; ++step) {
        const std::size_t input_end = s.input_ends[step];
        const std::size_t output_end = s.output_ends[step];
        if (step + 1 < s.count) // the rows of the next, from all over the table
            for (std::size_t j = output_end; j < s.output_ends[step + 1]; ++j)
                prefetch_bytes_at(s.outputs[j], s.dimension);
        take_step<Frozen>(s, s.inputs + input, input_end - input, s.outputs + output,
                          s.labels + output, output_end - output);
        input = input_end;
        output = output_end;
    }
}
