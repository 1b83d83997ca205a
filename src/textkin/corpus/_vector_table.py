"""Word vectors as a table of float32 rows for the core."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textkin._base import BoolArray, Float32Array, WordLookup
from textkin.exceptions import ParameterError

__all__ = ["VectorTable"]


@dataclass(frozen=True, slots=True, eq=False)
class VectorTable:
    """Word vectors as a float32 array for the core, with a mask of the rows that are vectors.

    Attributes
    ----------
    vectors : ndarray of shape (n_columns, d), float32
        One row per column of the documents; read-only.
    known : ndarray of shape (n_columns,), bool, or None, default=None
        True for rows that are vectors. If None, all rows are vectors.
    lookup : WordLookup or None, default=None
        Object that finds the row of a word. If None, rows have no words.

    See Also
    --------
    DocumentRows : Documents as rows of word weights over a table.

    Examples
    --------
    >>> import numpy as np
    >>> from textkin.corpus import VectorTable
    >>> table = VectorTable.of_matrix(np.array([[3.0, 4.0], [np.nan, np.nan]]), unit=True)
    >>> table.vectors[0].round(1), table.known, table.name(0)
    (array([0.6, 0.8], dtype=float32), array([ True, False]), '#0')
    """

    vectors: Float32Array
    known: BoolArray | None = None
    lookup: WordLookup | None = None

    @classmethod
    def of_matrix(cls, matrix: NDArray[np.generic], *, unit: bool) -> "VectorTable":
        """Create a table from a matrix with one vector per column of bags; NaN rows have no vector.

        Raises
        ------
        ValueError
            If the matrix has the wrong shape, is not finite in float32, or has a row of zeros.
        """
        if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "fiu":
            raise ParameterError(
                "vectors",
                "a matrix of real numbers with one row per column of the bags",
                f"shape {matrix.shape} and dtype {matrix.dtype}",
            )
        with np.errstate(over="ignore"):
            vectors = np.ascontiguousarray(matrix, dtype=np.float32)
        missing = np.isnan(vectors)
        unknown: BoolArray = np.all(missing, axis=1)
        if unknown.any():
            vectors = np.where(unknown[:, np.newaxis], np.float32(0), vectors)
        bad = np.flatnonzero((missing.any(axis=1) & ~unknown) | np.isinf(vectors).any(axis=1))
        if bad.size:
            raise ValueError(
                f"vectors must be finite in float32; row {bad[0]} is not. Use a row of NaN only "
                "for a word without a vector."
            )
        zero = np.flatnonzero(~vectors.any(axis=1) & ~unknown)
        if zero.size:
            raise ValueError(
                f"vectors must not be zero; row {zero[0]} is zero. Use a row of NaN for a word "
                "without a vector."
            )
        if unit:
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
            lengths[unknown] = 1
            vectors = (vectors / lengths[:, np.newaxis]).astype(np.float32)
        vectors = vectors.view()  # may share the caller's memory, which stays writable
        vectors.flags.writeable = False
        return cls(vectors, ~unknown if unknown.any() else None)

    def name(self, row: int, words: Sequence[str] | None = None) -> str:
        """Return the word of a row, or "#" and the row number if the table has no words."""
        if words is not None:
            return str(words[row])
        return self.lookup.words[row] if self.lookup is not None else f"#{row}"
