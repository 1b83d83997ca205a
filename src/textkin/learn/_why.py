"""Why two documents are near by a measure of vectors: parts that sum to it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from textkin._typing import Float64Array, Int32Array, Int64Array
from textkin.explain import Contribution, Contributions

__all__ = ["PARTS_OF", "edit_reasons", "vector_reasons"]

PARTS_OF = {
    "cosine": "the cosine",
    "l2": "the squared distance",
    "hellinger": "the Bhattacharyya coefficient",
    "jaccard": "the Jaccard similarity",
    "weighted-jaccard": "the weighted Jaccard similarity",
}
"""What the parts sum to, by metric, where it is not the distance."""

_CELLS = 4_000_000  # of the table behind an alignment: 16 MB
_Part = tuple[float, str]  # what a column adds, and how


def vector_reasons(
    metric: str,
    x: Any,  # noqa: ANN401 (one row, sparse or dense)
    y: Any,  # noqa: ANN401
    name: Callable[[int], str],
) -> Contributions:
    """Return what each column adds, by a metric of `distances` but "edit".

    The parts of "l1" sum to the distance, those of "l2" and "squared-l2" to the squared distance;
    those of "cosine", "hellinger" (the Bhattacharyya coefficient), "jaccard" and
    "weighted-jaccard" to the similarity of `similarities`, which says what two documents share.

    Parameters
    ----------
    metric : str
        As `known_distance` names it.
    x, y : sparse or dense array of shape (1, n_columns)
        The vectors.
    name : callable
        The name of a column.
    """
    columns, a, b = _filled(x, y)
    values, form = _PARTS[metric](a, b)
    if metric in ("jaccard", "weighted-jaccard") and not len(columns):
        return Contributions.of([Contribution("nothing in either", 1.0)])
    return Contributions.of(
        Contribution(name(int(columns[at])), float(values[at]), form.format(a[at], b[at]))
        for at in np.flatnonzero(values)
    )


def edit_reasons(a: Sequence[str], b: Sequence[str]) -> Contributions | None:
    """Return the changes that turn one list of words into another, each of which adds 1.

    None where the table of all their beginnings would be too large.
    """
    if (len(a) + 1) * (len(b) + 1) > _CELLS:
        return None
    return Contributions.of(Contribution(said, 1.0) for said in _changes(a, b))


# ------------------------------------------------------------------ vectors


def _filled(x: Any, y: Any) -> tuple[Int64Array, Float64Array, Float64Array]:  # noqa: ANN401
    """Return the columns in which either of two rows has anything, and both rows there."""
    if sparse.issparse(x) or sparse.issparse(y):
        both = sparse.csr_array(sparse.vstack([x, y]))
        columns = np.unique(both.indices[both.data != 0]).astype(np.int64)
        a, b = both[:, columns].toarray().astype(np.float64)
        return columns, a, b
    a, b = (np.asarray(row, dtype=np.float64)[0] for row in (x, y))
    columns = np.flatnonzero((a != 0) | (b != 0)).astype(np.int64)
    return columns, a[columns], b[columns]


def _cosine(a: Float64Array, b: Float64Array) -> tuple[Float64Array, str]:
    return _unit(a) * _unit(b), "{:.3g} × {:.3g}"


def _hellinger(a: Float64Array, b: Float64Array) -> tuple[Float64Array, str]:
    return np.sqrt(_shares(a) * _shares(b)), "{:.3g} and {:.3g}"


def _absolute(a: Float64Array, b: Float64Array) -> tuple[Float64Array, str]:
    return np.abs(a - b), "{:.3g} and {:.3g}"


def _squared(a: Float64Array, b: Float64Array) -> tuple[Float64Array, str]:
    return (a - b) ** 2, "{:.3g} and {:.3g}"


def _shared(a: Float64Array, b: Float64Array) -> tuple[Float64Array, str]:
    return ((a != 0) & (b != 0)) / max(len(a), 1), "in both"


def _smaller(a: Float64Array, b: Float64Array) -> tuple[Float64Array, str]:
    return np.minimum(a, b) / (np.maximum(a, b).sum() or 1.0), "{:.3g} and {:.3g}"


_PARTS: dict[str, Callable[[Float64Array, Float64Array], tuple[Float64Array, str]]] = {
    "cosine": _cosine,
    "l1": _absolute,
    "l2": _squared,
    "squared-l2": _squared,
    "hellinger": _hellinger,
    "jaccard": _shared,
    "weighted-jaccard": _smaller,
}


def _unit(row: Float64Array) -> Float64Array:
    # By the largest first, so that no square is too large or too small.
    row = row / (np.abs(row).max(initial=0) or 1.0)
    return row / (np.sqrt((row**2).sum()) or 1.0)


def _shares(row: Float64Array) -> Float64Array:
    row = row / (row.max(initial=0) or 1.0)
    return row / (row.sum() or 1.0)


# ------------------------------------------------------------------ sequences


def _changes(a: Sequence[str], b: Sequence[str]) -> Iterator[str]:
    """Name the fewest changes, from the last to the first."""
    table = _edit_table(a, b)
    i, j = len(a), len(b)
    while i or j:
        here = table[i, j]
        if i and j and here == table[i - 1, j - 1] + (a[i - 1] != b[j - 1]):
            i, j = i - 1, j - 1
            if a[i] != b[j]:
                yield f"{a[i]} → {b[j]}"
        elif i and here == table[i - 1, j] + 1:
            i -= 1
            yield f"without {a[i]}"
        else:
            j -= 1
            yield f"with {b[j]}"


def _edit_table(a: Sequence[str], b: Sequence[str]) -> Int32Array:
    """Return the edit distances of all beginnings of two sequences, row by row."""
    numbers: dict[str, int] = {}
    first, second = (
        np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)
        for words in (a, b)
    )
    steps = np.arange(len(b) + 1, dtype=np.int32)
    table = np.empty((len(a) + 1, len(b) + 1), dtype=np.int32)
    table[0] = steps
    for i, symbol in enumerate(first, 1):
        table[i, 0] = i
        table[i, 1:] = np.minimum(table[i - 1, 1:] + 1, table[i - 1, :-1] + (second != symbol))
        # An insertion after an insertion: the least of all cells to the left, one a step.
        table[i] = np.minimum.accumulate(table[i] - steps) + steps
    return table
