"""Distances between documents that may be put in groups: as a matrix up to a size, or on demand."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.learn._hashing import first_of_equals
from textkin.learn._measures import Measure
from textkin.run import ProgressCallback

__all__ = ["Pairs", "Phases", "matrix_of"]

_ROWS = 64  # of a matrix at once: half of so many squared are computed for nothing


class Phases:
    """One progress callback for work in several phases, each of which counts as much as the others.

    Parameters
    ----------
    progress : callable or None
        Gets (done, total).
    phases : int
        How many there are.
    size : int
        What the progress of each is told in.
    """

    def __init__(self, progress: ProgressCallback | None, phases: int, size: int) -> None:
        self._progress = progress
        self._total = phases * size
        self._size = size
        self._done = 0

    def next(self) -> ProgressCallback | None:
        """Return the callback of the next phase."""
        if self._progress is None:
            return None
        before, tell = self._done, self._progress
        self._done += self._size

        def told(done: int, total: int) -> None:
            tell(before + self._size * done // max(total, 1), self._total)

        return told

    def end(self) -> None:
        """Tell that all is done, whatever was left out."""
        if self._progress is not None:
            self._progress(self._total, self._total)


class Pairs:
    """Documents of a measure that are not empty, by their place among these, and their distances.

    Parameters
    ----------
    measure : Measure
        With documents.
    positions : ndarray of int64
        Of the documents that are not empty.
    """

    def __init__(self, measure: Measure, positions: Int64Array) -> None:
        self.measure = measure
        self.positions = positions
        self.matrix: Float64Array | None = None

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def firsts(self) -> Int64Array:
        """The first of the documents that are equal to each."""
        keys = self.measure.keys()
        return first_of_equals([keys[at] for at in self.positions.tolist()])

    def fill(self, progress: ProgressCallback | None) -> Float64Array:
        """Compute all distances, and keep them."""
        self.matrix = matrix_of(self.measure, self.positions, progress)
        return self.matrix

    def between(
        self, rows: Int64Array, columns: Int64Array, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the distances of some from others."""
        if self.matrix is not None:
            return self.matrix[np.ix_(rows, columns)]
        found = self.measure.between(
            self.positions[rows], self.positions[columns], progress=progress
        )
        # A document is at no distance from itself, whatever rounding makes of it.
        found[rows[:, None] == columns] = 0.0
        return found


def matrix_of(
    measure: Measure, positions: Int64Array, progress: ProgressCallback | None
) -> Float64Array:
    """Return all distances between some documents; each pair is computed once."""
    n = len(positions)
    matrix = np.zeros((n, n))
    for start in range(0, n, _ROWS):
        stop = min(start + _ROWS, n)
        part = measure.between(
            positions[start:stop], positions[start:], progress=_part(progress, start, stop, n)
        )
        matrix[start:stop, start:] = part
        matrix[start:, start:stop] = part.T
        if progress is not None:
            progress(_pairs_before(stop, n), _pairs_before(n, n))
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _pairs_before(row: int, n: int) -> int:
    """Return how many pairs the rows of an upper triangle have, up to one of them."""
    return row * n - row * (row - 1) // 2


def _part(
    progress: ProgressCallback | None, start: int, stop: int, n: int
) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    before, after = _pairs_before(start, n), _pairs_before(stop, n)

    def told(done: int, total: int) -> None:
        progress(before + (after - before) * done // max(total, 1), _pairs_before(n, n))

    return told
