"""The measures of vectors, each a way from two collections to the numbers of all their pairs."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from textkin._typing import Float64Array
from textkin.distance._blocks import Check, Fill
from textkin.distance._vectors import (
    Pair,
    Vectors,
    inner_products,
    is_sparse,
    l1_distances,
    row_sums,
    squared_distances,
    unit_products,
)

__all__ = ["VECTOR_DISTANCES", "VECTOR_SIMILARITIES"]


def _then(fill: Fill, finish: Callable[[slice, Float64Array], object]) -> Fill:
    """Change each block after it is filled."""

    def both(block: slice, out: Float64Array, check: Check) -> None:
        fill(block, out, check)
        finish(block, out)

    return both


def _euclidean(sides: Pair) -> Fill:
    return _then(squared_distances(sides), lambda _block, out: np.sqrt(out, out=out))


def _cosine(sides: Pair, *, as_distance: bool) -> Fill:
    return unit_products(sides.map(_unit_rows), as_distance=as_distance)


def _bhattacharyya(sides: Pair) -> Fill:
    sides.require_not_negative("hellinger")
    return unit_products(sides.map(_roots_of_shares), as_distance=False)


def _hellinger(sides: Pair) -> Fill:
    sides.require_not_negative("hellinger")
    squares = unit_products(sides.map(_roots_of_shares), as_distance=True)
    return _then(squares, lambda _block, out: np.sqrt(out, out=out))


def _jaccard(sides: Pair, *, as_distance: bool) -> Fill:
    sides = sides.map(_present)
    x, y = sides.each(lambda values: row_sums(values, np.abs))

    def finish(block: slice, shared: Float64Array) -> None:
        union = np.add.outer(x[block], y)
        union -= shared
        if as_distance:
            np.subtract(union, shared, out=shared)
        _divide(shared, union, of_nothing=0 if as_distance else 1)

    return _then(inner_products(sides), finish)


def _weighted_jaccard(sides: Pair, *, as_distance: bool) -> Fill:
    sides.require_not_negative("weighted-jaccard")
    x, y = sides.each(lambda values: row_sums(values, np.abs))

    def finish(block: slice, l1: Float64Array) -> None:
        # sum max = (x + y + l1) / 2 and sum min = (x + y - l1) / 2
        sums = np.add.outer(x[block], y)
        maxima = sums + l1
        if as_distance:
            l1 *= 2
        else:
            np.subtract(sums, l1, out=l1)
        l1[np.isinf(maxima)] = np.nan  # so that it is told
        _divide(l1, maxima, of_nothing=0 if as_distance else 1)
        np.clip(l1, 0, 1, out=l1)  # the sums of the rows and of l1 are rounded apart

    return _then(l1_distances(sides), finish)


def _divide(values: Float64Array, by: Float64Array, of_nothing: float) -> None:
    """Divide in place; two rows without anything have the given value."""
    nothing = by == 0
    by[nothing] = 1
    values /= by
    values[nothing] = of_nothing


def _unit_rows(values: Vectors) -> Vectors:
    """Divide rows by their length; zero rows stay."""
    scaled, rows = _scaled(values)
    lengths = np.sqrt(_sums(scaled**2, rows, values))
    return _with(values, scaled / _spread(_not_zero(lengths), rows))


def _roots_of_shares(values: Vectors) -> Vectors:
    """Take the square root of what share of its row's sum each value is; zero rows stay."""
    scaled, rows = _scaled(values)
    return _with(values, np.sqrt(scaled / _spread(_not_zero(_sums(scaled, rows, values)), rows)))


def _present(values: Vectors) -> Vectors:
    """Put 1 for every value but 0."""
    return _with(values, (values.data if is_sparse(values) else values) != 0)


def _scaled(values: Vectors) -> tuple[Float64Array, Any]:
    """Divide rows by their largest value, so that no square is too large or too small.

    Returns the values, for sparse rows those stored, and for these the row of each.
    """
    if not is_sparse(values):
        largest = np.abs(values).max(axis=1, initial=0)
        return values / _not_zero(largest)[:, None], None
    rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    largest = np.zeros(values.shape[0])
    np.maximum.at(largest, rows, np.abs(values.data))
    return values.data / largest[rows], rows


def _sums(stored: Float64Array, rows: Any, values: Vectors) -> Float64Array:  # noqa: ANN401
    if rows is None:
        return np.asarray(stored.sum(axis=1))
    return np.asarray(np.bincount(rows, stored, values.shape[0]), dtype=np.float64)


def _spread(of_rows: Float64Array, rows: Any) -> Float64Array:  # noqa: ANN401
    return np.asarray(of_rows[:, None] if rows is None else of_rows[rows])


def _not_zero(numbers: Float64Array) -> Float64Array:
    return np.where(numbers == 0, 1.0, numbers)


def _with(values: Vectors, stored: Any) -> Vectors:  # noqa: ANN401
    """Return rows like `values` with other numbers, in float64."""
    changed = np.asarray(stored, dtype=np.float64)
    if not is_sparse(values):
        return changed
    return sparse.csr_array((changed, values.indices, values.indptr), shape=values.shape)


VECTOR_DISTANCES: dict[str, Callable[[Pair], Fill]] = {
    "cosine": lambda sides: _cosine(sides, as_distance=True),
    "l1": l1_distances,
    "l2": _euclidean,
    "squared-l2": squared_distances,
    "hellinger": _hellinger,
    "jaccard": lambda sides: _jaccard(sides, as_distance=True),
    "weighted-jaccard": lambda sides: _weighted_jaccard(sides, as_distance=True),
}

VECTOR_SIMILARITIES: dict[str, Callable[[Pair], Fill]] = {
    "inner": inner_products,
    "cosine": lambda sides: _cosine(sides, as_distance=False),
    "hellinger": _bhattacharyya,
    "jaccard": lambda sides: _jaccard(sides, as_distance=False),
    "weighted-jaccard": lambda sides: _weighted_jaccard(sides, as_distance=False),
}
