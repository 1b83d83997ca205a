"""Where words lie: the vector table in the form that the core works on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float32Array, WordLookup
from textkin.vectors._word_vectors import WordVectors

__all__ = ["Space", "space_of_matrix", "space_of_words"]


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Word vectors, ready for the core.

    Attributes
    ----------
    table : ndarray of shape (V, d), float32
        One row a column of the bags.
    known : ndarray of bool, shape (V,), or None
        Which rows are vectors; None if all are.
    lookup : WordLookup or None
        Finds the row of a word; None if rows have no words.
    """

    table: Float32Array
    known: NDArray[np.bool_] | None
    lookup: WordLookup | None

    def __len__(self) -> int:
        return len(self.table)

    def name(self, row: int, words: Sequence[str] | None = None) -> str:
        """Return the word of a row: from `words` if given, else from the vectors, else #row."""
        if words is not None:
            return str(words[row])
        return self.lookup.words[row] if self.lookup is not None else f"#{row}"


def space_of_words(vectors: WordVectors, *, unit: bool) -> Space:
    """Return the space of word vectors, which are sound by construction."""
    return Space((vectors.unit() if unit else vectors).matrix, None, vectors)


def space_of_matrix(matrix: NDArray[np.generic], *, unit: bool) -> Space:
    """Check a matrix with one row a column of the bags; an all-NaN row is a word without vector."""
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "fiu":
        raise ValueError(
            "vectors must be a matrix of real numbers with one row for each column of the bags; "
            f"got shape {matrix.shape} and dtype {matrix.dtype}."
        )
    with np.errstate(over="ignore"):
        table = np.ascontiguousarray(matrix, dtype=np.float32)
    missing = np.isnan(table)
    unknown: NDArray[np.bool_] = np.all(missing, axis=1)
    if unknown.any():
        table = np.where(unknown[:, np.newaxis], np.float32(0), table)
    bad = np.flatnonzero((missing.any(axis=1) & ~unknown) | np.isinf(table).any(axis=1))
    if bad.size:
        raise ValueError(
            f"vectors must be finite in float32; row {bad[0]} is not. A word without a vector has "
            "a row of NaN only."
        )
    zero = np.flatnonzero(~table.any(axis=1) & ~unknown)
    if zero.size:
        raise ValueError(
            f"vectors must not be zero; row {zero[0]} is. A word without a vector has a row of NaN."
        )
    if unit:
        lengths = np.sqrt(np.einsum("ij,ij->i", table, table, dtype=np.float64))
        lengths[unknown] = 1
        table = (table / lengths[:, np.newaxis]).astype(np.float32)
    table = table.view()  # may share the caller's memory, which stays writeable
    table.flags.writeable = False
    return Space(table, ~unknown if unknown.any() else None, None)
