"""Explanations of distances between vectors, and of edit distances, as sums of parts."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from textkin._base import Float64Array, Int32Array, Int64Array
from textkin.explain import Contribution, Contributions

__all__ = ["PARTS_OF", "edit_reasons", "vector_reasons"]

PARTS_OF = {
    "cosine": "the cosine",
    "l2": "the squared distance",
    "hellinger": "the Bhattacharyya coefficient",
    "jaccard": "the Jaccard similarity",
    "weighted-jaccard": "the weighted Jaccard similarity",
}
"""Total of the parts, for metrics whose parts do not sum to the distance."""

_MAX_CELLS = 4_000_000  # maximum size of the alignment table: 16 MB


def vector_reasons(
    metric: str,
    x: Any,  # noqa: ANN401 (one row, sparse or dense)
    y: Any,  # noqa: ANN401
    name: Callable[[int], str],
) -> Contributions:
    """Split a distance or similarity of two vectors into one contribution per column.

    The contributions sum to the distance for "l1", to the squared distance for "l2" and
    "squared-l2", and to the similarity of `pairwise_similarities` for "cosine", "hellinger"
    (Bhattacharyya coefficient), "jaccard" and "weighted-jaccard".

    Parameters
    ----------
    metric : str
        Metric of `pairwise_distances` except "edit", as `resolve_metric` returns it.
    x, y : sparse or dense array of shape (1, n_columns)
        Vectors.
    name : callable
        Function that returns the name of a column.
    """
    columns, a, b = _nonzero_columns(x, y)
    values, form = _PARTS[metric](a, b)
    if metric in ("jaccard", "weighted-jaccard") and not len(columns):
        return Contributions.of([Contribution("nothing in either", 1.0)])
    return Contributions.of(
        Contribution(name(int(columns[at])), float(values[at]), form.format(a[at], b[at]))
        for at in np.flatnonzero(values)
    )


def edit_reasons(a: Sequence[str], b: Sequence[str]) -> Contributions | None:
    """Explain an edit distance by its edits, or return None for very long sequences.

    Return None if the sequences are too long to align.
    """
    if (len(a) + 1) * (len(b) + 1) > _MAX_CELLS:
        return None
    return Contributions.of(Contribution(said, 1.0) for said in _edits(a, b))


# ------------------------------------------------------------------ vectors


def _nonzero_columns(x: Any, y: Any) -> tuple[Int64Array, Float64Array, Float64Array]:  # noqa: ANN401
    """Return the columns where two rows are not both 0, and the values of both rows there."""
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
    # Divide by the largest value first: squares neither overflow nor underflow.
    row = row / (np.abs(row).max(initial=0) or 1.0)
    return row / (np.sqrt((row**2).sum()) or 1.0)


def _shares(row: Float64Array) -> Float64Array:
    row = row / (row.max(initial=0) or 1.0)
    return row / (row.sum() or 1.0)


# ------------------------------------------------------------------ sequences


def _edits(a: Sequence[str], b: Sequence[str]) -> Iterator[str]:
    """Yield descriptions of a shortest list of edits from `a` to `b`, last edit first."""
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
    """Compute the table of edit distances between all prefixes of `a` and of `b`."""
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
        # Repeated insertions: the minimum over all cells to the left, plus 1 per step.
        table[i] = np.minimum.accumulate(table[i] - steps) + steps
    return table
