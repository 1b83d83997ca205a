"""Many word vectors to one: sums over the words of documents, and what is done to the sums.

Each document is summed word by word in the order of columns, in float64, and every product of
matrices has one shape, so that a document has the same bits alone, in any batch and on any number
of threads.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textkin._typing import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array, IntpArray
from textkin.distance._blocks import Check, one_thread_of_blas, run_blocks
from textkin.run import ProgressCallback
from textkin.vectors._encode import Encoded
from textkin.vectors._encode import shares as shares_of

__all__ = [
    "BlockSums",
    "Combine",
    "Shape",
    "block_sums",
    "coefficients",
    "filled_in",
    "finished",
    "reshaped",
    "shape_of",
    "too_large",
    "unchanged",
    "word_parts",
]

Combine: TypeAlias = Literal["mean", "sum", "max"]
BlockSums: TypeAlias = Callable[[slice], Float64Array]
"""Gives a vector for each document of a range."""

_DOCUMENTS = 1024  # that are pooled at a time
_ROWS = 48  # a whole number of tiles of every BLAS, so that no row is at the edge of a product
_COLUMNS = 8
_NOTHING_LEFT = 1e-9  # of a document's length: rounding, no direction


@dataclass(frozen=True, slots=True)
class Shape:
    """What is done to pooled vectors v: ``y = v - sum_i s_i (c_i . v) c_i``, ``(y - mean) W``.

    Attributes
    ----------
    components : ndarray of shape (r, d), float64
        The directions c_i that are removed; 0 where the documents have fewer.
    component_weights : ndarray of shape (r,), float64
        The part s_i of each that is removed.
    singular_values : ndarray of shape (r,), float64
        Of the documents, from the largest.
    mean : ndarray of shape (d,), float64, or None
        What is subtracted next.
    whitening : ndarray of shape (d, k), float64, or None
        What the difference is multiplied by.
    """

    components: Float64Array
    component_weights: Float64Array
    singular_values: Float64Array
    mean: Float64Array | None = None
    whitening: Float64Array | None = None

    @property
    def tables(self) -> tuple[Any, ...]:
        """What a device takes: components, their weights, mean and whitening."""
        return self.components, self.component_weights, self.mean, self.whitening

    def products(self) -> AbstractContextManager[None]:
        """Return what `reshaped` wants around it, which costs more than a document does."""
        return (
            one_thread_of_blas if len(self.components) or self.mean is not None else nullcontext()
        )


def coefficients(
    encoded: Encoded, weights: Float64Array | None, combine: Combine
) -> tuple[Float64Array, BoolArray]:
    """Return what each entry is multiplied by, and which documents have anything to add.

    "mean": ``n(d, w) / sum_v n(d, v)``, "sum": ``n(d, w)``, each times the weight of w.
    "max": 1 where the count is above 0.
    """
    n_documents = len(encoded)
    rows = np.repeat(np.arange(n_documents), np.diff(encoded.indptr))
    values = encoded.counts
    if combine == "max":
        values = (values > 0).astype(np.float64)
    elif combine == "mean":
        largest = np.zeros(n_documents)
        np.maximum.at(largest, rows, values)
        # A power of two changes no digit, and no sum is then too large or too small.
        values = np.ldexp(values, -np.frexp(largest)[1][rows])
        totals = np.bincount(rows, values, n_documents)
        totals[totals == 0] = 1
        values = values / totals[rows]
    if weights is not None:
        with np.errstate(over="ignore"):  # told by whoever rounds
            values = values * weights[encoded.indices]
    filled = np.bincount(rows, values > 0, n_documents) > 0
    return values, filled


def block_sums(
    table: Float32Array, encoded: Encoded, values: Float64Array, combine: Combine
) -> BlockSums:
    """Return what gives, for some documents, the sums or maxima over words; 0 without any."""
    indptr = encoded.indptr

    def sums(block: slice) -> Float64Array:
        entries = slice(int(indptr[block.start]), int(indptr[block.stop]))
        starts = indptr[block.start : block.stop + 1] - indptr[block.start]
        indices, part = encoded.indices[entries], values[entries]
        if combine == "max":
            return _largest(table, starts, indices, part)
        if not len(indices):
            return np.zeros((len(starts) - 1, table.shape[1]))
        used, local = _distinct(indices, len(table))
        shape = (len(starts) - 1, len(used))
        rows = sparse.csr_array((part, local, starts.astype(np.int32)), shape=shape)
        with np.errstate(over="ignore", invalid="ignore"):  # told by whoever rounds
            return np.asarray(rows @ table[used].astype(np.float64))

    return sums


def filled_in(
    out: NDArray[Any],
    fill: Callable[[slice], Float64Array],
    threads: int,
    progress: ProgressCallback | None,
) -> None:
    """Write what `fill` gives for the documents of each block; tell how many are done."""

    def work(block: slice, _check: Check) -> int:
        with np.errstate(over="ignore", invalid="ignore"):  # told by `fill`, or not wrong
            out[block] = fill(block)
        return int(block.stop - block.start)

    done = 0
    for number in run_blocks(_slices(len(out), _DOCUMENTS), work, threads):
        done += number
        if progress is not None:
            progress(done, len(out))


def _distinct(indices: Int32Array, n_words: int) -> tuple[IntpArray, Int32Array]:
    """Return the words that occur, in their order, and the position of each entry's among them."""
    if len(indices) < n_words // 16:
        used, local = np.unique(indices, return_inverse=True)
        return used.astype(np.intp), local.astype(np.int32)
    occurs = np.zeros(n_words, dtype=bool)
    occurs[indices] = True
    words = np.flatnonzero(occurs)
    position = np.empty(n_words, dtype=np.int32)
    position[words] = np.arange(len(words), dtype=np.int32)
    return words, position[indices]


def _largest(
    table: Float32Array,
    starts: Int64Array,
    indices: Int32Array,
    values: Float64Array,
) -> Float64Array:
    """Return the largest number of each dimension among the words of each document."""
    kept = values > 0
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[kept]
    found = np.zeros((len(starts) - 1, table.shape[1]))
    if len(rows):
        filled, first = np.unique(rows, return_index=True)
        found[filled] = np.maximum.reduceat(table[indices[kept]], first, axis=0)
    return found


def shape_of(vectors: Float64Array, n_removed: int, scaled: bool, n_kept: int | None) -> Shape:
    """Find the components of pooled documents, and what whitens them.

    Parameters
    ----------
    vectors : ndarray of shape (n, d), float64
        Pooled documents, none of them empty.
    n_removed : int
        How many components are removed.
    scaled : bool
        Remove only sigma_i^2 / sum_j sigma_j^2 of each (uSIF).
    n_kept : int or None
        Dimensions after whitening; None is no whitening.
    """
    d = vectors.shape[1]
    if n_removed == 0 and n_kept is None:
        return unchanged(d)
    if not len(vectors):
        raise ValueError(
            "X must have documents with words that have vectors, to find components of them or to "
            "whiten them; got none."
        )
    largest = np.abs(vectors).max()
    if not largest < np.inf:
        raise ValueError("The sums over words are too large. Scale the weights or counts down.")
    # By a power of two, so that no square is too large or too small.
    exponent = int(np.frexp(largest)[1])
    with one_thread_of_blas:
        shape = unchanged(d)
        scaled_down = np.ldexp(vectors, -exponent)
        if n_removed:
            squares, directions = _principal(scaled_down, n_removed)
            total = squares.sum()
            parts = squares / total if scaled and total > 0 else (squares > 0).astype(np.float64)
            shape = Shape(directions, parts, np.ldexp(np.sqrt(squares), exponent))
        if n_kept is None:
            return shape
        rest = reshaped(scaled_down, shape)
        mean = rest.mean(axis=0)
        apart = rest - mean
        squares, directions = _principal(apart, n_kept)
        if squares[0] <= len(rest) * (_NOTHING_LEFT * np.abs(rest).max()) ** 2:
            raise ValueError(
                f"X must have two documents at least that differ, for whiten; the {len(rest)} "
                "with words are all alike. Fit on more, or pass whiten=False."
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


def unchanged(d: int) -> Shape:
    """Return what leaves vectors of d dimensions as they are."""
    return Shape(np.zeros((0, d)), np.zeros(0), np.zeros(0))


def _principal(vectors: Float64Array, n: int) -> tuple[Float64Array, Float64Array]:
    """Return the largest eigenvalues of V^T V and their directions; 0 beyond the rank of V."""
    d = vectors.shape[1]
    products = np.zeros((d, d))
    for block in _slices(len(vectors), _DOCUMENTS):
        products += vectors[block].T @ vectors[block]
    squares, directions = np.linalg.eigh(products)  # which ascend
    squares, directions = squares[::-1][:n].copy(), directions.T[::-1][:n].copy()
    noise = max(squares[0], 0.0) * max(vectors.shape) * np.finfo(np.float64).eps
    lost = squares <= noise
    # The sign of a direction means nothing; its largest number is positive.
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(n), largest])[:, np.newaxis]
    squares[lost] = 0
    directions[lost] = 0
    return squares, directions


def reshaped(vectors: Float64Array, shape: Shape) -> Float64Array:
    """Return pooled vectors without the components, whitened if that is asked for."""
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
    """Return rows @ matrix, each row with the same bits whatever the others are."""
    n, width = len(rows), matrix.shape[1]
    right = np.zeros((matrix.shape[0], -(-width // _COLUMNS) * _COLUMNS))
    right[:, :width] = matrix
    found = np.empty((n, width))
    for block in _slices(n, _ROWS):
        left = rows[block]
        if len(left) < _ROWS:
            left = np.zeros((_ROWS, rows.shape[1]))
            left[: block.stop - block.start] = rows[block]
        found[block] = (left @ right)[: block.stop - block.start, :width]
    return found


def finished(sums: BlockSums, filled: BoolArray, shape: Shape) -> BlockSums:
    """Return what gives documents reshaped; those of empty ones are 0."""

    def rows(block: slice) -> Float64Array:
        found = reshaped(sums(block), shape)
        found[~filled[block]] = 0
        outside = ~(np.abs(found) <= np.finfo(np.float32).max).all(axis=1)
        if outside.any():
            raise too_large(block.start + int(outside.argmax()))
        return found

    return rows


def too_large(document: int) -> ValueError:
    """Return what to raise for a vector beyond float32."""
    return ValueError(
        f"The vector of document {document} is too large for float32. Scale the weights or counts "
        "down."
    )


def word_parts(
    table: Float32Array, encoded: Encoded, values: Float64Array, combine: Combine, shape: Shape
) -> Float64Array:
    """Return what each word of one document adds to its finished vector: rows with that sum.

    The mean that whitening subtracts is shared out by the coefficients of the words. For the
    maximum, a word has the dimensions in which it is the largest, the first of equals.
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
            if not reshaped(whole, replace(shape, mean=None, whitening=None)).any():
                parts[:] = 0
        if shape.mean is not None and shape.whitening is not None:
            parts = _product(parts - np.outer(shares, shape.mean), shape.whitening)
    return parts


def _slices(size: int, length: int) -> list[slice]:
    return [slice(start, min(start + length, size)) for start in range(0, size, length)]
