"""Matrices of all pairs, filled in blocks of rows on threads.

The blocks depend only on the shapes and the memory limit, so results are bit-identical for any
number of threads.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event, Lock
from typing import Any, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

from textkin._base import Float64Array
from textkin.run._progress import ProgressCallback
from textkin.run._resources import effective_jobs

__all__ = ["Check", "Fill", "fill_matrix", "row_slices", "run_blocks", "single_blas_thread"]

Check: TypeAlias = ProgressCallback | None
"""Callback that long work in the core calls regularly; it raises to stop the work."""
Fill: TypeAlias = Callable[[slice, Float64Array, Check], None]
"""Function that writes the rows of a slice into a block of the matrix."""

_BYTES_OF_ENTRY = 32  # the block and up to three temporary arrays of its size
_MOST_ROWS = 256


class _StoppedError(Exception):
    """Internal error that ends a thread after another one failed or was interrupted."""


def fill_matrix(
    shape: tuple[int, int],
    fill: Fill,
    *,
    memory: int,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> Float64Array:
    """Allocate a matrix, and let `fill` compute blocks of its rows on threads."""
    threads = effective_jobs(n_jobs)
    n_rows, n_columns = shape
    matrix = np.empty(shape)
    at_once = min(max(memory // (_BYTES_OF_ENTRY * max(n_columns, 1)), 1), _MOST_ROWS)
    blocks = row_slices(n_rows, at_once)

    def work(block: slice, check: Check) -> int:
        # Overflow is reported below, with a message.
        with np.errstate(over="ignore", invalid="ignore"):
            fill(block, matrix[block], check)
        if not np.isfinite(matrix[block]).all():
            raise ValueError(
                "The values are too large for float64: a sum over them overflows. Scale them down."
            )
        return int(block.stop - block.start)

    done = 0
    with single_blas_thread:
        for rows in run_blocks(blocks, work, min(threads, len(blocks))):
            done += rows
            if progress is not None:
                progress(done, n_rows)
    return matrix


def row_slices(n_rows: int, length: int) -> list[slice]:
    """Return the slices that split rows into blocks of a length; the last may be shorter."""
    return [slice(start, min(start + length, n_rows)) for start in range(0, n_rows, length)]


def run_blocks(
    blocks: list[slice], work: Callable[[slice, Check], int], threads: int
) -> Iterator[int]:
    """Run `work` for every block on threads; yield results in order of completion."""
    if threads <= 1:
        for block in blocks:
            yield work(block, None)
        return
    stopped = Event()

    def check(_done: int, _total: int) -> None:
        if stopped.is_set():
            raise _StoppedError

    def guarded(block: slice) -> int:
        check(0, 0)
        return work(block, check)

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(guarded, block) for block in blocks]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            stopped.set()  # running blocks stop at their next check, waiting ones at once
            raise


class _SingleBlasThread:
    """Context manager that limits BLAS to one thread, for any number of concurrent users.

    Sums then do not depend on the number of BLAS threads. The limit applies to the whole process:
    the first of several concurrent users sets it, and the last one restores it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls = 0
        self._controller: Any = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._controller is None:  # made once, because it searches all loaded libraries
                self._controller = ThreadpoolController()
            if self._calls == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._calls += 1

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._calls -= 1
            if self._calls == 0:
                self._limit.restore_original_limits()


single_blas_thread = _SingleBlasThread()
