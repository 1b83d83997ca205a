"""Inner products, squared Euclidean, and L1 distances of all pairs of rows.

Each metric of vectors is based on one of these three. Distances come from products, which cancel
for nearly equal vectors. Such pairs are computed again from differences, unless rows are equal.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_array

from textkin import _core
from textkin._base import Bags, Float64Array, IntpArray, as_two_dimensional, reject_texts
from textkin.run import Check, Fill

__all__ = [
    "Pair",
    "Vectors",
    "VectorsLike",
    "inner_products",
    "is_sparse",
    "l1_distances",
    "make_pair",
    "row_sums",
    "squared_distances",
    "unit_products",
]

Vectors: TypeAlias = Any
"""float64: a dense array, or `scipy.sparse.csr_array`."""
VectorsLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix

_NEAR = 1e-6  # below this fraction of its terms, a difference of sums has lost half its digits
_BYTES_OF_ENTRY = 48  # both sides, the difference, and positions
_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two matrices of rows over the same columns, in float64 (the same object for X and X)."""

    X: Vectors
    Y: Vectors
    memory: int

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix of all pairs: rows of X by rows of Y."""
        return self.X.shape[0], self.Y.shape[0]

    def map(self, change: Callable[[Vectors], Vectors]) -> "Pair":
        """Return the pair with a function applied to both matrices."""
        X = change(self.X)
        return replace(self, X=X, Y=X if self.Y is self.X else change(self.Y))

    def each(self, measure: Callable[[Vectors], Any]) -> tuple[Any, Any]:
        """Return a function's results for both matrices, such as the norms of rows."""
        x = measure(self.X)
        return x, x if self.Y is self.X else measure(self.Y)

    def require_not_negative(self, metric: str) -> None:
        """Raise if a value is negative, because the metric is not defined for it."""
        for name, values in (("X", self.X), ("Y", self.Y)):
            smallest = _stored_values(values).min(initial=0)
            if smallest < 0:
                raise ValueError(
                    f"{name} must not have values below 0 for metric={metric!r}; got {smallest}."
                )


def make_pair(X: VectorsLike, Y: VectorsLike | None, memory: int) -> Pair:
    """Validate `X` and `Y` (or `X` twice), and convert them to float64."""
    checked = _check_rows("X", X)
    if Y is None or Y is X:
        return Pair(checked, checked, memory)
    other = _check_rows("Y", Y)
    if other.shape[1] != checked.shape[1]:
        raise ValueError(
            f"X and Y must have the same columns; got {checked.shape[1]} and {other.shape[1]}. "
            "Make both with the same vocabulary or model."
        )
    return Pair(checked, other, memory)


def inner_products(sides: Pair) -> Fill:
    """Return a function that fills a block with inner products of rows."""
    X, Y = sides.X, sides.Y
    if is_sparse(X) and is_sparse(Y):
        return _postings_fill(X, Y, "product")
    if is_sparse(X):
        transposed = np.ascontiguousarray(np.asarray(Y).T)

        def fill(block: slice, out: Float64Array, _check: Check) -> None:
            out[...] = X[block] @ transposed
    elif is_sparse(Y):

        def fill(block: slice, out: Float64Array, _check: Check) -> None:
            out[...] = (Y @ np.ascontiguousarray(X[block].T)).T
    else:

        def fill(block: slice, out: Float64Array, _check: Check) -> None:
            np.matmul(X[block], np.asarray(Y).T, out=out)

    return fill


def unit_products(sides: Pair, *, as_distance: bool) -> Fill:
    """Return a function that fills a block with cosines of unit rows, or 1 minus them.

    Results are exact for equal rows.
    """
    products = inner_products(sides)
    differences = _Differences(sides, np.square)

    def fill(block: slice, out: Float64Array, check: Check) -> None:
        products(block, out, check)
        rows, columns = _find_positions(out > 1 - _NEAR)
        halves = differences.of(block.start + rows, columns) / 2
        np.maximum(out, -1, out=out)
        if as_distance:
            np.subtract(1, out, out=out)
            out[rows, columns] = halves
        else:
            out[rows, columns] = 1 - halves

    return fill


def squared_distances(sides: Pair) -> Fill:
    """Return a function that fills a block with squared Euclidean distances of rows."""
    products = inner_products(sides)
    x, y = sides.each(lambda values: row_sums(values, np.square))
    differences = _Differences(sides, np.square)

    def fill(block: slice, out: Float64Array, check: Check) -> None:
        products(block, out, check)
        sums = np.add.outer(x[block], y)
        out *= -2
        out += sums
        sums *= _NEAR
        rows, columns = _find_positions(out < sums)
        out[rows, columns] = differences.of(block.start + rows, columns)

    return fill


def l1_distances(sides: Pair) -> Fill:
    """Return a function that fills a block with L1 distances of rows."""
    if not (is_sparse(sides.X) or is_sparse(sides.Y)):

        def dense(block: slice, out: Float64Array, _check: Check) -> None:
            cdist(sides.X[block], sides.Y, "cityblock", out=out)

        return dense
    sides = sides.map(_as_sparse)
    overlaps = _postings_fill(sides.X, sides.Y, "overlap")
    x, y = sides.each(lambda values: row_sums(values, np.abs))
    differences = _Differences(sides, np.abs)

    def fill(block: slice, out: Float64Array, check: Check) -> None:
        overlaps(block, out, check)
        sums = np.add.outer(x[block], y)
        np.subtract(sums, out, out=out)
        sums *= _NEAR
        rows, columns = _find_positions(out < sums)
        out[rows, columns] = differences.of(block.start + rows, columns)

    return fill


def is_sparse(values: object) -> bool:
    """Return True if rows are a SciPy sparse matrix."""
    return bool(sparse.issparse(values))


def row_sums(values: Vectors, change: Callable[[Any], Any]) -> Float64Array:
    """Return the sum of ``change(value)`` over each row, where ``change(0)`` must be 0."""
    if not is_sparse(values):
        with np.errstate(over="ignore"):  # reported when the matrix is filled
            return np.asarray(change(values).sum(axis=1))
    rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    with np.errstate(over="ignore"):
        sums = np.bincount(rows, change(values.data), values.shape[0])
    return np.asarray(sums, dtype=np.float64)


def _postings_fill(X: Bags, Y: Bags, sharing: str) -> Fill:
    by_word = Y.tocsc()
    postings = _core.Postings(
        by_word.indptr.astype(np.int64),
        by_word.indices.astype(np.int32),
        by_word.data.astype(np.float64),
        Y.shape[0],
    )
    starts, words = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    values = X.data.astype(np.float64)

    def fill(block: slice, out: Float64Array, check: Check) -> None:
        postings.sums(
            starts[block.start : block.stop + 1], words, values, sharing, out, progress=check
        )

    return fill


def _find_positions(chosen: NDArray[np.bool_]) -> tuple[IntpArray, IntpArray]:
    """Return row and column of each True entry, like `numpy.nonzero`."""
    rows, columns = np.divmod(np.flatnonzero(chosen), chosen.shape[1])
    return rows, columns


class _Differences:
    """Exact sums of |x - y| or (x - y)^2 for selected pairs of rows.

    Collections often have many equal rows. Equal rows share a number, so that their differences, 0,
    need not be computed.
    """

    def __init__(self, sides: Pair, change: Callable[[Any], Any]) -> None:
        self._sides = sides
        self._change = change
        self._alike = is_sparse(sides.X) == is_sparse(sides.Y)
        numbers: dict[bytes, int] = {}
        self._x, self._y = sides.each(lambda values: _number_rows(values, numbers))

    def of(self, rows: IntpArray, columns: IntpArray) -> Float64Array:
        """Compute the sums for the pairs (rows[i], columns[i])."""
        sums = np.zeros(len(rows))
        differ = np.arange(len(rows))
        if self._alike:  # a sparse row and an equal dense row have different bytes
            differ = np.flatnonzero(self._x[rows] != self._y[columns])
        X, Y = self._sides.X, self._sides.Y
        entries = max(_max_row_entries(X), _max_row_entries(Y))
        at_once = max(self._sides.memory // (_BYTES_OF_ENTRY * entries), 1)
        for start in range(0, len(differ), at_once):
            chosen = differ[start : start + at_once]
            x, y = X[rows[chosen]], Y[columns[chosen]]
            if is_sparse(x) != is_sparse(y):
                x, y = (side.toarray() if is_sparse(side) else side for side in (x, y))
            difference = x - y
            if is_sparse(difference):
                difference = sparse.csr_array(difference)
            sums[chosen] = row_sums(difference, self._change)
        return sums


def _number_rows(values: Vectors, numbers: dict[bytes, int]) -> IntpArray:
    """Return a number for each row, equal for rows with equal bytes."""
    of_rows = np.empty(values.shape[0], dtype=np.intp)
    for row in range(values.shape[0]):
        if is_sparse(values):
            entries = slice(values.indptr[row], values.indptr[row + 1])
            columns = values.indices[entries].astype(np.int64, copy=False)
            held = columns.tobytes() + values.data[entries].tobytes()
        else:
            held = values[row].tobytes()
        digest = hashlib.blake2b(held, digest_size=16).digest()
        of_rows[row] = numbers.setdefault(digest, len(numbers))
    return of_rows


def _max_row_entries(values: Vectors) -> int:
    if not is_sparse(values):
        return max(int(values.shape[1]), 1)
    return max(int(np.diff(values.indptr).max(initial=1)), 1)


def _stored_values(values: Vectors) -> Float64Array:
    return values.data if is_sparse(values) else np.asarray(values)


def _as_sparse(values: Vectors) -> Vectors:
    return values if is_sparse(values) else sparse.csr_array(values)


def _check_rows(name: str, values: Any) -> Vectors:  # noqa: ANN401 (whatever users pass)
    reject_texts(name, values, ", or compare sequences with metric='edit'")
    checked = check_array(
        as_two_dimensional(values),
        accept_sparse="csr",
        dtype=np.float64,
        ensure_min_samples=0,
        input_name=name,
    )
    if not is_sparse(checked):
        return np.asarray(checked)
    if max(checked.shape) > _INT32.max:
        raise ValueError(
            f"{name} must have at most {_INT32.max} rows and columns; got {checked.shape}."
        )
    rows: Bags = sparse.csr_array(checked)
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows
