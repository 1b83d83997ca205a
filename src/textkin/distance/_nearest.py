"""Nearest rows, and pairs of rows within a distance, by brute force over blocks.

One block of rows of the pairwise matrix is in memory at a time. Results are bit-identical for one
row and for a batch: products of dense vectors use blocks of one size, padded with zeros.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from textkin._base import Float64Array, Int64Array
from textkin.corpus import RankedRows
from textkin.distance._edit import prepare_edit
from textkin.distance._metrics import VECTOR_DISTANCES
from textkin.distance._pairwise import resolve_metric
from textkin.distance._vectors import Pair, is_sparse, make_pair
from textkin.run import (
    Check,
    Fill,
    ProgressCallback,
    effective_jobs,
    memory_in_bytes,
    run_blocks,
    single_blas_thread,
)

__all__ = ["nearest_rows", "rows_below"]

_DENSE_ROWS = 48  # rows per product; the rounding of a product depends on this number
_SPARSE_ROWS = 256
_BYTES_OF_ENTRY = 32  # the block and up to three temporary arrays of its size


def nearest_rows(
    X: Any,  # noqa: ANN401 (what `pairwise_distances` takes)
    Y: Any,  # noqa: ANN401
    metric: str,
    k: int,
    *,
    allowed: Any = None,  # noqa: ANN401 (an array of booleans)
    n_jobs: int | None = None,
    memory: str | int = "64MB",
    progress: ProgressCallback | None = None,
) -> RankedRows:
    """Return the `k` rows of `Y` (or other rows of `X`) nearest to each row of `X`.

    Parameters
    ----------
    X, Y, metric, n_jobs, memory, progress
        As for `pairwise_distances`.
    k : int
        Maximum number of rows per query.
    allowed : ndarray of bool of shape (n_rows of Y,), optional
        Filter of the rows of `Y`.

    Returns
    -------
    RankedRows
        Nearest rows in ascending order of distance; ties by position.
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
            some.append(_select_nearest(distances, k, open_))
        found[begin] = some

    for _ in _reduce_blocks(X, Y, metric, reduce, n_jobs, memory, progress):
        pass
    return RankedRows.of([each for begin in sorted(found) for each in found[begin]])


def rows_below(
    X: Any,  # noqa: ANN401 (what `pairwise_distances` takes)
    Y: Any,  # noqa: ANN401
    metric: str,
    threshold: float,
    *,
    n_jobs: int | None = None,
    memory: str | int = "64MB",
    progress: ProgressCallback | None = None,
) -> Iterator[tuple[int, RankedRows]]:
    """Yield for blocks of rows of `X` the rows of `Y` within `threshold`.

    Without `Y`, each pair of rows of `X` occurs once, at its first row.

    Yields
    ------
    tuple of int and RankedRows
        First row of the block, and the rows found for each of its rows.
    """
    own = Y is None
    found: dict[int, RankedRows] = {}

    def reduce(begin: int, block: Float64Array) -> None:
        some = []
        for at, distances in enumerate(block):
            first = begin + at + 1 if own else 0
            rows = np.flatnonzero(distances[first:] <= threshold) + first
            near = distances[rows]
            order = np.argsort(near, kind="stable")
            some.append((rows[order].astype(np.int64), near[order]))
        found[begin] = RankedRows.of(some)

    for begins in _reduce_blocks(X, Y, metric, reduce, n_jobs, memory, progress):
        for begin in sorted(begins):
            yield begin, found.pop(begin)


def _select_nearest(
    distances: Float64Array,
    k: int,
    allowed: Any,  # noqa: ANN401 (an array of booleans, or None)
) -> tuple[Int64Array, Float64Array]:
    """Return the columns and values of the `k` smallest distances in each row."""
    rows = np.arange(len(distances)) if allowed is None else np.flatnonzero(allowed)
    values = distances[rows]
    if k < len(rows):
        last = np.partition(values, k - 1)[k - 1]
        kept = values <= last
        rows, values = rows[kept], values[kept]
    order = np.argsort(values, kind="stable")[:k]
    return rows[order].astype(np.int64), values[order]


def _reduce_blocks(
    X: Any,  # noqa: ANN401
    Y: Any,  # noqa: ANN401
    metric: str,
    reduce: Any,  # noqa: ANN401 (a function of the first row of a block, and the block)
    n_jobs: int | None,
    memory: str | int,
    progress: ProgressCallback | None,
) -> Iterator[list[int]]:
    """Compute all distances block by block, and pass each block to `reduce`."""
    memory = memory_in_bytes(memory)
    threads = effective_jobs(n_jobs)
    (n_rows, n_columns), fill, most = _prepare(X, Y, resolve_metric(metric), memory)
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
        with single_blas_thread:
            for rows in run_blocks(group, work, min(threads, len(group))):
                done += rows
                if progress is not None:
                    progress(done, n_rows)
        yield [block.start for block in group]


def _prepare(
    X: Any,  # noqa: ANN401
    Y: Any,  # noqa: ANN401
    metric: str,
    memory: int,
) -> tuple[tuple[int, int], Fill, int]:
    """Return the matrix shape, the function that computes blocks, and rows per block."""
    if metric == "edit":
        shape, fill = prepare_edit(X, Y, as_similarity=False)
        return shape, fill, _SPARSE_ROWS
    sides = make_pair(X, Y, memory)
    shape = sides.shape
    dense = not is_sparse(sides.X) and not is_sparse(sides.Y)
    if dense:
        sides = Pair(_pad_rows(sides.X), sides.Y, memory)
    return shape, VECTOR_DISTANCES[metric](sides), _DENSE_ROWS if dense else _SPARSE_ROWS


def _pad_rows(values: Float64Array) -> Float64Array:
    """Append zero rows, so that dense rows form whole blocks."""
    missing = -len(values) % _DENSE_ROWS
    return np.vstack([values, np.zeros((missing, values.shape[1]))]) if missing else values
