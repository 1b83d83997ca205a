"""The nearest rows, and pairs of rows that are near, by any measure of `distances`.

No matrix of all pairs is kept: a block of its rows at a time is computed and reduced to what is
asked for. A row has the same bits alone and among others: products of dense vectors are made of
blocks of one size, filled up with zeros.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.distance._blocks import Check, Fill, one_thread_of_blas, run_blocks
from textkin.distance._edit import edit_measure
from textkin.distance._measures import VECTOR_DISTANCES
from textkin.distance._pairwise import known_distance
from textkin.distance._vectors import Pair, is_sparse, pair
from textkin.run import ProgressCallback, effective_jobs, memory_in_bytes

__all__ = ["NearRows", "nearest_rows", "rows_below"]

_DENSE_ROWS = 48  # of a product: its bits depend on their number
_SPARSE_ROWS = 256
_BYTES_OF_ENTRY = 32  # a block has up to three companions of its size while it is filled


@dataclass(frozen=True, slots=True, eq=False)
class NearRows:
    """Rows that are near some rows: for each the nearest first, ties by position.

    Attributes
    ----------
    starts : ndarray of shape (n_queries + 1,), int64
        Where the rows begin that each query found.
    rows : ndarray of int64
        Positions.
    distances : ndarray of float64
        How far they are.
    """

    starts: Int64Array
    rows: Int64Array
    distances: Float64Array

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, query: int) -> tuple[Int64Array, Float64Array]:
        part = slice(self.starts[query], self.starts[query + 1])
        return self.rows[part], self.distances[part]

    def __iter__(self) -> Iterator[tuple[Int64Array, Float64Array]]:
        return (self[query] for query in range(len(self)))

    @classmethod
    def of(cls, found: list[tuple[Int64Array, Float64Array]]) -> "NearRows":
        """Join what each query found."""
        starts = np.cumsum([0, *(len(rows) for rows, _ in found)], dtype=np.int64)
        if not found:
            return cls(starts, np.empty(0, np.int64), np.empty(0))
        rows, distances = zip(*found, strict=True)
        return cls(starts, np.concatenate(rows), np.concatenate(distances))


def nearest_rows(
    X: Any,  # noqa: ANN401 (what `distances` takes)
    Y: Any,  # noqa: ANN401
    metric: str,
    k: int,
    *,
    allowed: Any = None,  # noqa: ANN401 (an array of booleans)
    n_jobs: int | None = None,
    working_memory: str | int = "64MB",
    progress: ProgressCallback | None = None,
) -> NearRows:
    """Return for every row of `X` the `k` nearest of `Y`; without `Y`, of the others of `X`.

    Parameters
    ----------
    X, Y, metric, n_jobs, working_memory, progress
        As for `distances`.
    k : int
        How many; as many as there are, if there are fewer.
    allowed : ndarray of bool of shape (n_rows of Y,), optional
        Which rows may be found.

    Returns
    -------
    NearRows
        The nearest first, ties by position.
    """
    own = Y is None
    found: dict[int, list[tuple[Int64Array, Float64Array]]] = {}

    def reduce(begin: int, block: Float64Array) -> None:
        some = []
        for at, distances in enumerate(block):
            open_ = None if allowed is None else np.asarray(allowed, dtype=bool).copy()
            if own:
                open_ = np.ones(len(distances), dtype=bool) if open_ is None else open_
                open_[begin + at] = False
            some.append(_first(distances, k, open_))
        found[begin] = some

    for _ in _reduced(X, Y, metric, reduce, n_jobs, working_memory, progress):
        pass
    return NearRows.of([each for begin in sorted(found) for each in found[begin]])


def rows_below(
    X: Any,  # noqa: ANN401 (what `distances` takes)
    Y: Any,  # noqa: ANN401
    metric: str,
    threshold: float,
    *,
    n_jobs: int | None = None,
    working_memory: str | int = "64MB",
    progress: ProgressCallback | None = None,
) -> Iterator[tuple[int, NearRows]]:
    """Yield, some rows of `X` after others, the rows of `Y` that are at most so far from them.

    Without `Y` each pair of rows of `X` comes once, with the first.

    Yields
    ------
    tuple of int and NearRows
        The first of the rows of `X`, and what they found.
    """
    own = Y is None
    found: dict[int, NearRows] = {}

    def reduce(begin: int, block: Float64Array) -> None:
        some = []
        for at, distances in enumerate(block):
            first = begin + at + 1 if own else 0
            rows = np.flatnonzero(distances[first:] <= threshold) + first
            near = distances[rows]
            order = np.argsort(near, kind="stable")
            some.append((rows[order].astype(np.int64), near[order]))
        found[begin] = NearRows.of(some)

    for begins in _reduced(X, Y, metric, reduce, n_jobs, working_memory, progress):
        for begin in sorted(begins):
            yield begin, found.pop(begin)


def _first(
    distances: Float64Array,
    k: int,
    allowed: Any,  # noqa: ANN401 (an array of booleans, or None)
) -> tuple[Int64Array, Float64Array]:
    """Return the positions of the `k` smallest, ties by position, and their values."""
    rows = np.arange(len(distances)) if allowed is None else np.flatnonzero(allowed)
    values = distances[rows]
    if k < len(rows):
        last = np.partition(values, k - 1)[k - 1]
        kept = values <= last
        rows, values = rows[kept], values[kept]
    order = np.argsort(values, kind="stable")[:k]
    return rows[order].astype(np.int64), values[order]


def _reduced(
    X: Any,  # noqa: ANN401
    Y: Any,  # noqa: ANN401
    metric: str,
    reduce: Any,  # noqa: ANN401 (a function of the first row of a block, and the block)
    n_jobs: int | None,
    working_memory: str | int,
    progress: ProgressCallback | None,
) -> Iterator[list[int]]:
    """Compute all distances, block by block; give the first rows of blocks that are done."""
    memory = memory_in_bytes(working_memory)
    threads = effective_jobs(n_jobs)
    (n_rows, n_columns), fill, most = _measure(X, Y, known_distance(metric), memory)
    size = min(max(memory // (_BYTES_OF_ENTRY * max(n_columns, 1)), 1), most)
    if most == _DENSE_ROWS:
        size = _DENSE_ROWS
    blocks = [slice(start, start + size) for start in range(0, n_rows, size)]

    def work(block: slice, check: Check) -> int:
        stop = block.stop if most == _DENSE_ROWS else min(block.stop, n_rows)
        matrix = np.empty((stop - block.start, n_columns))
        with np.errstate(over="ignore", invalid="ignore"):
            fill(slice(block.start, stop), matrix, check)
        rows = matrix[: n_rows - block.start]
        if not np.isfinite(rows).all():
            raise ValueError(
                "The values are too large for float64: a sum over them overflows. Scale them down."
            )
        reduce(block.start, rows)
        return len(rows)

    done, at_once = 0, threads * 4
    for begin in range(0, len(blocks), at_once):
        group = blocks[begin : begin + at_once]
        with one_thread_of_blas:
            for rows in run_blocks(group, work, min(threads, len(group))):
                done += rows
                if progress is not None:
                    progress(done, n_rows)
        yield [block.start for block in group]


def _measure(
    X: Any,  # noqa: ANN401
    Y: Any,  # noqa: ANN401
    metric: str,
    memory: int,
) -> tuple[tuple[int, int], Fill, int]:
    """Return the shape of the matrix, what fills it, and how many of its rows make a block."""
    if metric == "edit":
        shape, fill = edit_measure(X, Y, as_similarity=False)
        return shape, fill, _SPARSE_ROWS
    sides = pair(X, Y, memory)
    shape = sides.shape
    dense = not is_sparse(sides.X) and not is_sparse(sides.Y)
    if dense:
        sides = Pair(_padded(sides.X), sides.Y, memory)
    return shape, VECTOR_DISTANCES[metric](sides), _DENSE_ROWS if dense else _SPARSE_ROWS


def _padded(values: Float64Array) -> Float64Array:
    """Return dense rows, filled up with rows of zeros to whole blocks."""
    missing = -len(values) % _DENSE_ROWS
    return np.vstack([values, np.zeros((missing, values.shape[1]))]) if missing else values
