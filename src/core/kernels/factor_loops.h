// Loops of matrix factorization, included after topic_loops.h, whose registers they use.
//
// Every number of a product is a sum in the order of its terms, in any block: a row gives the same
// bits alone and in a batch. Additions are fused where the CPU supports it.

// So many rows and registers a block, as many as there are registers for.
constexpr std::size_t kBlockRows = 6;
constexpr std::size_t kBlockRegisters = kWidth == 16 ? 4 : 2;

template <std::size_t Rows, std::size_t Registers, class Number>
[[gnu::always_inline]] inline void multiply_block(const Product<Number>& product, std::size_t row,
                                                  std::size_t column) {
    Piece<Number> sums[Rows][Registers];
    Number* out = product.out + row * product.width + column;
#pragma GCC unroll 6
    for (std::size_t i = 0; i < Rows; ++i)
#pragma GCC unroll 4
        for (std::size_t p = 0; p < Registers; ++p)
            sums[i][p] = product.adds ? load_piece(out + i * product.width, p) : Piece<Number>{};
    std::size_t begin = 0;
    std::size_t end = product.count;
    if (product.right_shape == Shape::lower) begin = column < end ? column : end;
    constexpr std::size_t columns = Registers * kPieceLanes<Number>;
    if (product.right_shape == Shape::upper && column + columns < end) end = column + columns;
    const Number* left = product.left + row * product.left_row + begin * product.left_step;
    const Number* right = product.right + begin * product.width + column;
    for (std::size_t k = begin; k < end; ++k) {
        Piece<Number> values[Registers];
#pragma GCC unroll 4
        for (std::size_t p = 0; p < Registers; ++p) values[p] = load_piece(right, p);
#pragma GCC unroll 6
        for (std::size_t i = 0; i < Rows; ++i) {
            const Piece<Number> factor = spread(left[i * product.left_row]);
#pragma GCC unroll 4
            for (std::size_t p = 0; p < Registers; ++p)
                sums[i][p] = fused(factor, values[p], sums[i][p]);
        }
        left += product.left_step;
        right += product.width;
    }
#pragma GCC unroll 6
    for (std::size_t i = 0; i < Rows; ++i)
#pragma GCC unroll 4
        for (std::size_t p = 0; p < Registers; ++p)
            store_piece(out + i * product.width, p, sums[i][p]);
}

template <std::size_t Rows, class Number>
void multiply_rows(const Product<Number>& product, std::size_t row) {
    constexpr std::size_t lanes = kPieceLanes<Number>;
    // Below the diagonal nothing is wanted.
    std::size_t column = product.upper ? row / lanes * lanes : 0;
    for (; column + kBlockRegisters * lanes <= product.width; column += kBlockRegisters * lanes)
        multiply_block<Rows, kBlockRegisters>(product, row, column);
    const std::size_t left = (product.width - column) / lanes;
    if (left == 1) multiply_block<Rows, 1>(product, row, column);
    if constexpr (kBlockRegisters > 2) {
        if (left == 2) multiply_block<Rows, 2>(product, row, column);
        if (left == 3) multiply_block<Rows, 3>(product, row, column);
    }
}

template <class Number> void multiply(const Product<Number>& product) {
    std::size_t row = 0;
    for (; row + kBlockRows <= product.rows; row += kBlockRows)
        multiply_rows<kBlockRows>(product, row);
    switch (product.rows - row) {
    case 5:
        multiply_rows<5>(product, row);
        break;
    case 4:
        multiply_rows<4>(product, row);
        break;
    case 3:
        multiply_rows<3>(product, row);
        break;
    case 2:
        multiply_rows<2>(product, row);
        break;
    case 1:
        multiply_rows<1>(product, row);
        break;
    default:
        break;
    }
}

template <class Number> [[gnu::always_inline]] inline Number sum_of_piece(Piece<Number> piece) {
    Number lanes[kPieceLanes<Number>];
    store_piece(lanes, 0, piece);
    for (std::size_t half = kPieceLanes<Number> / 2; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
    return lanes[0];
}

// Products of one row with `Others` rows that follow each other.
template <std::size_t Others, class Number>
[[gnu::always_inline]] inline void products_of(const Number* one, const Number* others,
                                               std::size_t width, Number factor, Number* out) {
    constexpr std::size_t lanes = kPieceLanes<Number>;
    Piece<Number> sums[Others];
#pragma GCC unroll 4
    for (std::size_t j = 0; j < Others; ++j) sums[j] = Piece<Number>{};
    for (std::size_t k = 0; k < width; k += lanes) {
        const Piece<Number> own = load_piece(one + k, 0);
#pragma GCC unroll 4
        for (std::size_t j = 0; j < Others; ++j)
            sums[j] = fused(own, load_piece(others + j * width + k, 0), sums[j]);
    }
#pragma GCC unroll 4
    for (std::size_t j = 0; j < Others; ++j) out[j] = factor * sum_of_piece<Number>(sums[j]);
}

template <class Number>
void pair_products(const Number* rows, std::size_t count, std::size_t width, Number factor,
                   Number* out, std::size_t stride) {
    for (std::size_t i = 0; i < count; ++i) {
        Number* own = out + i * stride;
        const Number* one = rows + i * width;
        std::size_t j = i;
        for (; j + 4 <= count; j += 4)
            products_of<4>(one, rows + j * width, width, factor, own + j);
        for (; j < count; ++j) products_of<1>(one, rows + j * width, width, factor, own + j);
        for (; j < stride; ++j) own[j] = 0;
        own[i] += 1;
    }
}

inline float root_of(float value) { return __builtin_sqrtf(value); }
inline double root_of(double value) { return __builtin_sqrt(value); }

// a -= factor * b, from number `from` on.
template <class Number>
[[gnu::always_inline]] inline void subtract_scaled(Number* a, Number factor, const Number* b,
                                                   std::size_t from, std::size_t end) {
    constexpr std::size_t lanes = kPieceLanes<Number>;
    const Piece<Number> scale = spread(-factor);
    for (std::size_t j = from / lanes * lanes; j < end; j += lanes)
        store_piece(a + j, 0, fused(scale, load_piece(b + j, 0), load_piece(a + j, 0)));
}

// Cholesky factorization by rows: M = U^T U. Only the numbers to the right of the diagonal of a row
// are used; numbers to the left in the same register may become anything.
template <class Number>
bool solve_positive(Number* matrix, std::size_t count, std::size_t stride, Number* x) {
    constexpr std::size_t lanes = kPieceLanes<Number>;
    for (std::size_t k = 0; k < count; ++k) {
        Number* own = matrix + k * stride;
        const Number pivot = own[k];
        if (!(pivot > 0)) return false;
        const Number inverse = 1 / root_of(pivot);
        const std::size_t from = k / lanes * lanes;
        for (std::size_t j = from; j <= k; ++j) own[j] = 0;
        const Piece<Number> scale = spread(inverse);
        for (std::size_t j = from; j < stride; j += lanes)
            store_piece(own + j, 0, load_piece(own + j, 0) * scale);
        for (std::size_t i = k + 1; i < count; ++i)
            subtract_scaled(matrix + i * stride, own[i], own, i, stride);
        // The same for the right-hand side; the padding of a row is 0, and so is the diagonal now.
        x[k] *= inverse;
        subtract_scaled(x, x[k], own, k, stride);
        x[k] *= inverse; // ready for the way back
        own[k] = inverse;
    }
    for (std::size_t k = count; k-- > 0;) {
        Number* own = matrix + k * stride;
        const Number inverse = own[k];
        own[k] = 0;
        Piece<Number> sums{};
        for (std::size_t j = k / lanes * lanes; j < stride; j += lanes)
            sums = fused(load_piece(own + j, 0), load_piece(x + j, 0), sums);
        x[k] -= inverse * sum_of_piece<Number>(sums);
    }
    return true;
}
