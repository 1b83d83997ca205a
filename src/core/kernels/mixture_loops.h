// The loops of mixtures, included after embed_loops.h and under the same rules.
//
// Components lie in panels of kLanes, one to a lane. A row gives the same bits in any company.

// So many rows at once: what a panel holds is loaded once for all of them, and their sums stay in
// registers. With squares the parameters take more of these.
template <bool Squares>
constexpr std::size_t kTermRows = kWidth == 16  ? 8
                                  : kWidth == 8 ? (Squares ? 4 : 6)
                                                : 2;
constexpr std::size_t kPanelRegisters = kLanes / kWidth;
// Numbers of each row whose parameters, of one panel, stay in the nearest cache.
constexpr std::size_t kTermNumbers = 64;
// Logarithms below the largest: such terms are nothing, and no subnormal numbers come of them.
constexpr float kLeastTerm = -69;

// terms[i][k] += the sum over j of x_ij (linear_kj + x_ij quadratic_kj), of one panel.
template <std::size_t Rows, bool Squares>
[[gnu::always_inline]] inline void terms_of_panel(const float* values, std::size_t dimension,
                                                  const float* panel, std::size_t count,
                                                  std::size_t width, float* terms) {
    Piece<float> sums[Rows][kPanelRegisters] = {};
    for (std::size_t j = 0; j < count; ++j) {
        Piece<float> linear[kPanelRegisters];
        [[maybe_unused]] Piece<float> quadratic[kPanelRegisters];
#pragma GCC unroll 4
        for (std::size_t p = 0; p < kPanelRegisters; ++p) {
            linear[p] = load_piece(panel, p);
            if constexpr (Squares) quadratic[p] = load_piece(panel + kLanes, p);
        }
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Rows; ++i) {
            const Piece<float> x = spread(values[i * dimension + j]);
#pragma GCC unroll 4
            for (std::size_t p = 0; p < kPanelRegisters; ++p) {
                Piece<float> slope = linear[p];
                if constexpr (Squares) slope = fused(x, quadratic[p], linear[p]);
                sums[i][p] = fused(x, slope, sums[i][p]);
            }
        }
        panel += (Squares ? 2 : 1) * kLanes;
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Rows; ++i)
#pragma GCC unroll 4
        for (std::size_t p = 0; p < kPanelRegisters; ++p)
            store_piece(terms + i * width, p, load_piece(terms + i * width, p) + sums[i][p]);
}

template <bool Squares>
void add_terms(const float* values, std::size_t rows, std::size_t dimension, const float* panels,
               std::size_t width, float* terms) {
    constexpr std::size_t at_once = kTermRows<Squares>;
    constexpr std::size_t ahead = 2 * at_once; // rows, while which others come from memory
    constexpr std::size_t step = (Squares ? 2 : 1) * kLanes; // of a panel
    for (std::size_t j = 0; j < dimension; j += kTermNumbers) {
        const std::size_t count = dimension - j < kTermNumbers ? dimension - j : kTermNumbers;
        for (std::size_t k = 0; k < width; k += kLanes) {
            const float* panel = panels + (k / kLanes * dimension + j) * step;
            std::size_t i = 0;
            for (; i + at_once <= rows; i += at_once) {
                if (k == 0) // afterwards they are near
                    for (std::size_t next = i + ahead; next < rows && next < i + ahead + at_once;
                         ++next)
                        prefetch_bytes_at(values + next * dimension + j, count);
                terms_of_panel<at_once, Squares>(values + i * dimension + j, dimension, panel,
                                                 count, width, terms + i * width + k);
            }
            for (; i < rows; ++i)
                terms_of_panel<1, Squares>(values + i * dimension + j, dimension, panel, count,
                                           width, terms + i * width + k);
        }
    }
}

void exponentials(float* terms, std::size_t rows, std::size_t width, float* tops, float* totals) {
    for (std::size_t row = 0; row < rows; row += kRowsAtOnce) {
        Piece<float> sums[kRowsAtOnce];
        for (std::size_t i = 0; i < kRowsAtOnce; ++i) {
            float* own = terms + (row + i) * width;
            Piece<float> most = load_piece(own, 0);
            for (std::size_t k = kWidth; k < width; k += kWidth) {
                const Piece<float> term = load_piece(own + k, 0);
                most = term > most ? term : most;
            }
            const float top = largest_of(most);
            Piece<float> sum{};
            for (std::size_t k = 0; k < width; k += kWidth) {
                Piece<float> y = load_piece(own + k, 0) - top;
                y = y < kLeastTerm ? spread(kLeastTerm) : y; // NaN stays
                const Piece<float> found = exponential_of(y);
                sum += found;
                store_piece(own + k, 0, found);
            }
            tops[row + i] = top;
            sums[i] = sum;
        }
        store_eight_sums(sums, totals + row);
    }
}

// The sums over rows of share * x, and of share * x^2, of some registers that follow each other. A
// `last` one is filled in part: what is beyond is not read.
template <std::size_t Registers, bool Squares, bool Whole>
void sum_shares(const float* values, std::size_t dimension, const std::int32_t* rows,
                const float* shares, std::size_t count, [[maybe_unused]] const Part& last,
                float* first, float* second) {
    Piece<float> sums[Registers] = {};
    [[maybe_unused]] Piece<float> squares[Registers] = {};
    for (std::size_t i = 0; i < count; ++i) {
        const float* own = values + static_cast<std::size_t>(rows[i]) * dimension;
        const Piece<float> share = spread(shares[i]);
#pragma GCC unroll 4
        for (std::size_t p = 0; p < Registers; ++p) {
            Piece<float> x;
            if constexpr (Whole)
                x = load_piece(own, p);
            else
                x = p + 1 < Registers ? load_piece(own, p)
                                      : static_cast<Piece<float>>(last.load(own + p * kWidth));
            const Piece<float> part = share * x;
            sums[p] += part;
            if constexpr (Squares) squares[p] = fused(part, x, squares[p]);
        }
    }
#pragma GCC unroll 4
    for (std::size_t p = 0; p < Registers; ++p) {
        store_piece(first, p, sums[p]);
        if constexpr (Squares) store_piece(second, p, squares[p]);
    }
}

template <bool Squares>
void share_sums(const float* values, std::size_t dimension, const std::int32_t* rows,
                const float* shares, std::size_t count, float* first, float* second) {
    constexpr std::size_t most = 4; // registers, so that additions do not wait for each other
    std::size_t k = 0;
    for (; k + most * kWidth <= dimension; k += most * kWidth)
        sum_shares<most, Squares, true>(values + k, dimension, rows, shares, count, Part(0),
                                        first + k, second + k);
    if (k == dimension) return;
    const std::size_t left = (dimension - k + kWidth - 1) / kWidth;
    // A whole register is one, too: no instruction set takes as many for a part.
    const std::size_t beyond = dimension - k - (left - 1) * kWidth;
    const auto add_up = [&]<std::size_t Registers>() {
        if (beyond == kWidth)
            sum_shares<Registers, Squares, true>(values + k, dimension, rows, shares, count,
                                                 Part(0), first + k, second + k);
        else
            sum_shares<Registers, Squares, false>(values + k, dimension, rows, shares, count,
                                                  Part(beyond), first + k, second + k);
    };
    if (left == 1) add_up.template operator()<1>();
    if (left == 2) add_up.template operator()<2>();
    if (left == 3) add_up.template operator()<3>();
    if (left == 4) add_up.template operator()<4>();
}
