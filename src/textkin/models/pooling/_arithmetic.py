"""Pooling of word vectors, component removal, and whitening, on the CPU.

Each document is summed word by word in the order of columns, in float64, and every matrix product
has one shape. Results are therefore bit-identical for a document individually, in any batch, and on
any number of threads.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textkin._base import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array, IntpArray
from textkin.corpus import DocumentRows
from textkin.corpus import shares as shares_of
from textkin.run import Check, ProgressCallback, row_slices, run_blocks, single_blas_thread

__all__ = [
    "BlockSums",
    "Combine",
    "Shape",
    "apply_shape",
    "block_sums",
    "coefficients",
    "fill_rows",
    "fit_shape",
    "identity_shape",
    "pool_document",
    "postprocess",
    "too_large_error",
    "word_parts",
]

Combine: TypeAlias = Literal["mean", "sum", "max"]
BlockSums: TypeAlias = Callable[[slice], Float64Array]
"""Function that computes a vector for each document of a slice."""

_DOCUMENTS = 1024  # block size, in documents
_ROWS = 48  # multiple of the tile size of every BLAS: no row is at the edge of a product
_COLUMNS = 8
_NOTHING_LEFT = 1e-9  # fraction of a document's length below which a remainder is rounding


@dataclass(frozen=True, slots=True)
class Shape:
    """Component removal and whitening: ``y = v - sum_i s_i (c_i . v) c_i``, ``(y - mean) W``.

    Attributes
    ----------
    components : ndarray of shape (r, d), float64
        Directions c_i to remove; 0 if the documents have fewer.
    component_weights : ndarray of shape (r,), float64
        Fraction s_i of each direction to remove.
    singular_values : ndarray of shape (r,), float64
        Singular values of the documents, in descending order.
    mean : ndarray of shape (d,), float64, or None
        Mean to subtract next. If None, no whitening.
    whitening : ndarray of shape (d, k), float64, or None
        Matrix W to multiply by.
    """

    components: Float64Array
    component_weights: Float64Array
    singular_values: Float64Array
    mean: Float64Array | None = None
    whitening: Float64Array | None = None

    @property
    def tables(self) -> tuple[Any, ...]:
        """Components, their weights, mean, and whitening matrix, for `pool_on_device`."""
        return self.components, self.component_weights, self.mean, self.whitening

    def products(self) -> AbstractContextManager[None]:
        """Return a context manager that limits BLAS to one thread if `apply_shape` uses BLAS."""
        return (
            single_blas_thread if len(self.components) or self.mean is not None else nullcontext()
        )


def pool_document(
    counts: Float64Array,
    vectors: NDArray[np.floating[Any]],
    word_weights: Float64Array | None,
    combine: Combine,
    shape: Shape | None = None,
) -> Float64Array:
    """Compute the pooled vector of one document (reference implementation).

    With n(w) the count of word w, x_w its vector, and g(w) its weight ::

        v = sum_w n(w) g(w) x_w / sum_w n(w)        "mean" (not over sum_w n(w) g(w))
        v = sum_w n(w) g(w) x_w                     "sum"
        v_j = max over w with n(w) > 0 of x_wj      "max"

        y = v - sum_i s_i (u_i . v) u_i             without the components u_i
        z = (y - mean) W                            whitened

    `Pooling` does not call this function; `block_sums`, `postprocess`, and `_pool_torch` are tested
    against it.

    Parameters
    ----------
    counts : ndarray of shape (n_words,), float64
        Count of each word, at least 0.
    vectors : ndarray of shape (n_words, d)
        Vector of each word.
    word_weights : ndarray of shape (n_words,), float64, or None
        Weight of each word. If None, 1.
    combine : {"mean", "sum", "max"}
        Method that combines word vectors.
    shape : Shape or None
        Components and whitening. If None, the vector is v.

    Returns
    -------
    ndarray of shape (d,) or (k,), float64
        Vector of the document; zeros if no word has a count and a weight above 0.

    References
    ----------
    Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017
    (algorithm 1). Su, Cao, Liu and Ou, "Whitening Sentence Representations for Better Semantics and
    Faster Retrieval", 2021.
    """
    x = vectors.astype(np.float64)
    g = np.ones(len(counts)) if word_weights is None else word_weights
    v = np.zeros(x.shape[1])
    if (counts * g).any():
        v = x[counts > 0].max(axis=0) if combine == "max" else (counts * g) @ x
        if combine == "mean":
            v = v / counts.sum()
    if shape is None:
        return v
    width = len(v) if shape.whitening is None else shape.whitening.shape[1]
    if not (counts * g).any():
        return np.zeros(width)
    y = v - sum(
        s * (u @ v) * u for s, u in zip(shape.component_weights, shape.components, strict=True)
    )
    if np.linalg.norm(y) <= _NOTHING_LEFT * np.linalg.norm(v):
        y = np.zeros(len(v))
    if shape.mean is None or shape.whitening is None:
        return np.asarray(y)
    return np.asarray((y - shape.mean) @ shape.whitening)


def coefficients(
    encoded: DocumentRows, weights: Float64Array | None, combine: Combine
) -> tuple[Float64Array, BoolArray]:
    """Return the coefficient of each word in its document, and a mask of nonempty documents.

    A coefficient is ``n(d, w) / sum_v n(d, v)`` for "mean" and ``n(d, w)`` for "sum", times the
    weight of w; for "max" it is 1 if the count is above 0.
    """
    n_documents = len(encoded)
    rows = np.repeat(np.arange(n_documents), np.diff(encoded.indptr))
    values = encoded.weighted_counts()
    if combine == "max":
        values = (values > 0).astype(np.float64)
    elif combine == "mean":
        largest = np.zeros(n_documents)
        np.maximum.at(largest, rows, values)
        # Scaling by a power of two is exact, and keeps sums from overflow and underflow.
        values = np.ldexp(values, -np.frexp(largest)[1][rows])
        totals = np.bincount(rows, values, n_documents)
        totals[totals == 0] = 1
        values = values / totals[rows]
    if weights is not None:
        with np.errstate(over="ignore"):  # overflow is reported when casting to float32
            values = values * weights[encoded.indices]
    filled = np.bincount(rows, values > 0, n_documents) > 0
    return values, filled


def block_sums(
    table: Float32Array, encoded: DocumentRows, values: Float64Array, combine: Combine
) -> BlockSums:
    """Return a function that pools the word vectors of a slice of documents.

    A document without words gets zeros.
    """
    indptr = encoded.indptr

    def sums(block: slice) -> Float64Array:
        entries = slice(int(indptr[block.start]), int(indptr[block.stop]))
        starts = indptr[block.start : block.stop + 1] - indptr[block.start]
        indices, part = encoded.indices[entries], values[entries]
        if combine == "max":
            return _maxima(table, starts, indices, part)
        if not len(indices):
            return np.zeros((len(starts) - 1, table.shape[1]))
        used, local = _distinct_words(indices, len(table))
        shape = (len(starts) - 1, len(used))
        rows = sparse.csr_array((part, local, starts.astype(np.int32)), shape=shape)
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # overflow is reported when casting to float32
            return np.asarray(rows @ table[used].astype(np.float64))

    return sums


def fill_rows(
    out: NDArray[Any],
    fill: Callable[[slice], Float64Array],
    threads: int,
    progress: ProgressCallback | None,
) -> None:
    """Fill `out` with the results of `fill` block by block on threads, with progress."""

    def work(block: slice, _check: Check) -> int:
        with np.errstate(over="ignore", invalid="ignore"):  # the function `fill` raises on overflow
            out[block] = fill(block)
        return int(block.stop - block.start)

    done = 0
    for number in run_blocks(row_slices(len(out), _DOCUMENTS), work, threads):
        done += number
        if progress is not None:
            progress(done, len(out))


def _distinct_words(indices: Int32Array, n_words: int) -> tuple[IntpArray, Int32Array]:
    """Return the distinct words of documents, and the index of each entry among them."""
    if len(indices) < n_words // 16:
        used, local = np.unique(indices, return_inverse=True)
        return used.astype(np.intp), local.astype(np.int32)
    occurs = np.zeros(n_words, dtype=bool)
    occurs[indices] = True
    words = np.flatnonzero(occurs)
    position = np.empty(n_words, dtype=np.int32)
    position[words] = np.arange(len(words), dtype=np.int32)
    return words, position[indices]


def _maxima(
    table: Float32Array,
    starts: Int64Array,
    indices: Int32Array,
    values: Float64Array,
) -> Float64Array:
    """Compute the maximum of each vector dimension over the words of each document."""
    kept = values > 0
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[kept]
    found = np.zeros((len(starts) - 1, table.shape[1]))
    if len(rows):
        filled, first = np.unique(rows, return_index=True)
        found[filled] = np.maximum.reduceat(table[indices[kept]], first, axis=0)
    return found


def fit_shape(vectors: Float64Array, n_removed: int, scaled: bool, n_kept: int | None) -> Shape:
    """Compute principal components to remove, and whitening, from pooled document vectors.

    Parameters
    ----------
    vectors : ndarray of shape (n, d), float64
        Pooled documents, none of them empty.
    n_removed : int
        Number of components to remove.
    scaled : bool
        If True, remove only the fraction sigma_i^2 / sum_j sigma_j^2 of each component (uSIF).
    n_kept : int or None
        Number of dimensions after whitening. If None, no whitening.
    """
    d = vectors.shape[1]
    if n_removed == 0 and n_kept is None:
        return identity_shape(d)
    if not len(vectors):
        raise ValueError(
            "X must have documents with words that have vectors, to compute components or "
            "whitening; got none. Fit on other documents, or pass vectors for their words."
        )
    largest = np.abs(vectors).max()
    if not largest < np.inf:
        raise ValueError("The sums over words are too large. Scale the weights or counts down.")
    # Scaling by a power of two keeps squares from overflow and underflow.
    exponent = int(np.frexp(largest)[1])
    with single_blas_thread:
        shape = identity_shape(d)
        scaled_down = np.ldexp(vectors, -exponent)
        if n_removed:
            squares, directions = _principal(scaled_down, n_removed)
            total = squares.sum()
            parts = squares / total if scaled and total > 0 else (squares > 0).astype(np.float64)
            shape = Shape(directions, parts, np.ldexp(np.sqrt(squares), exponent))
        if n_kept is None:
            return shape
        rest = apply_shape(scaled_down, shape)
        mean = rest.mean(axis=0)
        apart = rest - mean
        squares, directions = _principal(apart, n_kept)
        if squares[0] <= len(rest) * (_NOTHING_LEFT * np.abs(rest).max()) ** 2:
            raise ValueError(
                f"X must have at least two different documents for whiten; the {len(rest)} "
                "documents with words are equal. Fit on more, or pass whiten=False."
            )
        scales = np.zeros(n_kept)
        varies = squares > 0
        scales[varies] = np.sqrt(len(rest) / squares[varies])
        with np.errstate(over="ignore"):
            whitening = np.ldexp(directions.T * scales, -exponent)
        if not np.isfinite(whitening).all():
            raise ValueError(
                "The sums over words are too small to be whitened. Scale the weights or counts up."
            )
        return Shape(
            shape.components,
            shape.component_weights,
            shape.singular_values,
            np.ldexp(mean, exponent),
            whitening,
        )


def identity_shape(d: int) -> Shape:
    """Return a `Shape` that leaves vectors of d dimensions unchanged."""
    return Shape(np.zeros((0, d)), np.zeros(0), np.zeros(0))


def _principal(vectors: Float64Array, n: int) -> tuple[Float64Array, Float64Array]:
    """Compute the largest eigenvalues of V^T V with their eigenvectors; 0 beyond the rank."""
    d = vectors.shape[1]
    products = np.zeros((d, d))
    for block in row_slices(len(vectors), _DOCUMENTS):
        products += vectors[block].T @ vectors[block]
    squares, directions = np.linalg.eigh(products)  # in ascending order
    squares, directions = squares[::-1][:n].copy(), directions.T[::-1][:n].copy()
    noise = max(squares[0], 0.0) * max(vectors.shape) * np.finfo(np.float64).eps
    lost = squares <= noise
    # The sign of a direction is arbitrary; the entry with the largest absolute value is positive.
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(n), largest])[:, np.newaxis]
    squares[lost] = 0
    directions[lost] = 0
    return squares, directions


def apply_shape(vectors: Float64Array, shape: Shape) -> Float64Array:
    """Remove components from pooled vectors, and whiten them if the shape has a mean."""
    if len(shape.components):
        parts = _product(vectors, shape.components.T) * shape.component_weights
        after = vectors - _product(parts, shape.components)
        lengths, left = (np.sqrt(np.einsum("ij,ij->i", v, v)) for v in (vectors, after))
        after[left <= _NOTHING_LEFT * lengths] = 0
        vectors = after
    if shape.mean is not None and shape.whitening is not None:
        vectors = _product(vectors - shape.mean, shape.whitening)
    return vectors


def _product(rows: Float64Array, matrix: Float64Array) -> Float64Array:
    """Compute rows @ matrix; each row is bit-identical for any other rows."""
    n, width = len(rows), matrix.shape[1]
    right = np.zeros((matrix.shape[0], -(-width // _COLUMNS) * _COLUMNS))
    right[:, :width] = matrix
    found = np.empty((n, width))
    for block in row_slices(n, _ROWS):
        left = rows[block]
        if len(left) < _ROWS:
            left = np.zeros((_ROWS, rows.shape[1]))
            left[: block.stop - block.start] = rows[block]
        found[block] = (left @ right)[: block.stop - block.start, :width]
    return found


def postprocess(sums: BlockSums, filled: BoolArray, shape: Shape) -> BlockSums:
    """Return a function that applies a `Shape` to pooled vectors; empty documents stay 0."""

    def rows(block: slice) -> Float64Array:
        found = apply_shape(sums(block), shape)
        found[~filled[block]] = 0
        outside = ~(np.abs(found) <= np.finfo(np.float32).max).all(axis=1)
        if outside.any():
            raise too_large_error(block.start + int(outside.argmax()))
        return found

    return rows


def too_large_error(document: int) -> ValueError:
    """Create the error for a document vector that overflows float32."""
    return ValueError(
        f"The vector of document {document} is too large for float32. Scale the weights or counts "
        "down."
    )


def word_parts(
    table: Float32Array, encoded: DocumentRows, values: Float64Array, combine: Combine, shape: Shape
) -> Float64Array:
    """Split a document's vector into one contribution per word, which sum to the vector.

    The mean that whitening subtracts is split among the words by their coefficients. For "max",
    a word contributes the dimensions in which it has the maximum; ties go to the first word.
    """
    rows = table[encoded.indices].astype(np.float64)
    if combine == "max":
        rows[values <= 0] = -np.inf
        winners = rows.argmax(axis=0)
        owned = np.arange(len(rows))[:, np.newaxis] == winners
        parts, shares = np.where(owned, rows, 0.0), owned.mean(axis=1)
    else:
        parts, shares = rows * values[:, np.newaxis], shares_of(values)
    with shape.products():
        if len(shape.components):
            whole = parts.sum(axis=0, keepdims=True)
            along = _product(parts, shape.components.T) * shape.component_weights
            parts = parts - _product(along, shape.components)
            if not apply_shape(whole, replace(shape, mean=None, whitening=None)).any():
                parts[:] = 0
        if shape.mean is not None and shape.whitening is not None:
            parts = _product(parts - np.outer(shares, shape.mean), shape.whitening)
    return parts
