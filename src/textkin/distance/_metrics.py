"""Vector metrics by name, each as a function that fills the matrix of all pairs."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from textkin._base import Float64Array
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
from textkin.run import Check, Fill

__all__ = ["VECTOR_DISTANCES", "VECTOR_SIMILARITIES"]


def _chain(fill: Fill, finish: Callable[[slice, Float64Array], object]) -> Fill:
    """Return a function that fills a block of distances, and then post-processes it."""

    def both(block: slice, out: Float64Array, check: Check) -> None:
        fill(block, out, check)
        finish(block, out)

    return both


def _euclidean(sides: Pair) -> Fill:
    return _chain(squared_distances(sides), lambda _block, out: np.sqrt(out, out=out))


def _cosine(sides: Pair, *, as_distance: bool) -> Fill:
    return unit_products(sides.map(_unit_rows), as_distance=as_distance)


def _bhattacharyya(sides: Pair) -> Fill:
    sides.require_not_negative("hellinger")
    return unit_products(sides.map(_root_shares), as_distance=False)


def _hellinger(sides: Pair) -> Fill:
    sides.require_not_negative("hellinger")
    squares = unit_products(sides.map(_root_shares), as_distance=True)
    return _chain(squares, lambda _block, out: np.sqrt(out, out=out))


def _jaccard(sides: Pair, *, as_distance: bool) -> Fill:
    sides = sides.map(_binarize)
    x, y = sides.each(lambda values: row_sums(values, np.abs))

    def finish(block: slice, shared: Float64Array) -> None:
        union = np.add.outer(x[block], y)
        union -= shared
        if as_distance:
            np.subtract(union, shared, out=shared)
        _divide(shared, union, of_nothing=0 if as_distance else 1)

    return _chain(inner_products(sides), finish)


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
        l1[np.isinf(maxima)] = np.nan  # reported as overflow by the caller
        _divide(l1, maxima, of_nothing=0 if as_distance else 1)
        np.clip(l1, 0, 1, out=l1)  # the sums are rounded independently

    return _chain(l1_distances(sides), finish)


def _divide(values: Float64Array, by: Float64Array, of_nothing: float) -> None:
    """Divide an array by another in place, with `of_nothing` where the divisor is 0."""
    nothing = by == 0
    by[nothing] = 1
    values /= by
    values[nothing] = of_nothing


def _unit_rows(values: Vectors) -> Vectors:
    """Divide rows by their Euclidean length; zero rows stay zero."""
    scaled, rows = _scale_rows(values)
    lengths = np.sqrt(_sum_rows(scaled**2, rows, values))
    return _replace_values(values, scaled / _broadcast(_not_zero(lengths), rows))


def _root_shares(values: Vectors) -> Vectors:
    """Return the square roots of rows divided by their sums; zero rows stay zero."""
    scaled, rows = _scale_rows(values)
    return _replace_values(
        values, np.sqrt(scaled / _broadcast(_not_zero(_sum_rows(scaled, rows, values)), rows))
    )


def _binarize(values: Vectors) -> Vectors:
    """Return rows in which every nonzero value is 1."""
    return _replace_values(values, (values.data if is_sparse(values) else values) != 0)


def _scale_rows(values: Vectors) -> tuple[Float64Array, Any]:
    """Divide rows by their largest absolute value, so that squares cannot overflow.

    Return the values (stored values of sparse rows) and the row of each (None for dense rows).
    """
    if not is_sparse(values):
        largest = np.abs(values).max(axis=1, initial=0)
        return values / _not_zero(largest)[:, None], None
    rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    largest = np.zeros(values.shape[0])
    np.maximum.at(largest, rows, np.abs(values.data))
    return values.data / largest[rows], rows


def _sum_rows(stored: Float64Array, rows: Any, values: Vectors) -> Float64Array:  # noqa: ANN401
    if rows is None:
        return np.asarray(stored.sum(axis=1))
    return np.asarray(np.bincount(rows, stored, values.shape[0]), dtype=np.float64)


def _broadcast(of_rows: Float64Array, rows: Any) -> Float64Array:  # noqa: ANN401
    return np.asarray(of_rows[:, None] if rows is None else of_rows[rows])


def _not_zero(numbers: Float64Array) -> Float64Array:
    return np.where(numbers == 0, 1.0, numbers)


def _replace_values(values: Vectors, stored: Any) -> Vectors:  # noqa: ANN401
    """Return a copy of rows with other stored values in float64."""
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
