"""Matrices of all pairs, filled block of rows by block of rows, on threads.

How rows are cut into blocks depends on the shapes and on the working memory alone, so that the
number of threads never changes a bit of the result.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event, Lock
from typing import Any, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

from textkin._typing import Float64Array
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["Check", "Fill", "filled", "one_thread_of_blas", "run_blocks"]

Check: TypeAlias = ProgressCallback | None
"""What long work in the core calls now and then; it raises where the work is to end."""
Fill: TypeAlias = Callable[[slice, Float64Array, Check], None]
"""Writes the rows of a slice into a block of the matrix."""

_BYTES_OF_ENTRY = 32  # a block has up to three companions of its size while it is filled
_MOST_ROWS = 256


class _StoppedError(Exception):
    """Another thread has failed or was interrupted."""


def filled(
    shape: tuple[int, int],
    fill: Fill,
    *,
    memory: int,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> Float64Array:
    """Return the matrix that `fill` writes; `progress` is told of rows, by the calling thread."""
    threads = effective_jobs(n_jobs)
    n_rows, n_columns = shape
    matrix = np.empty(shape)
    at_once = min(max(memory // (_BYTES_OF_ENTRY * max(n_columns, 1)), 1), _MOST_ROWS)
    blocks = [slice(start, min(start + at_once, n_rows)) for start in range(0, n_rows, at_once)]

    def work(block: slice, check: Check) -> int:
        # Overflow is told below, in words.
        with np.errstate(over="ignore", invalid="ignore"):
            fill(block, matrix[block], check)
        if not np.isfinite(matrix[block]).all():
            raise ValueError(
                "The values are too large for float64: a sum over them overflows. Scale them down."
            )
        return int(block.stop - block.start)

    done = 0
    with one_thread_of_blas:
        for rows in run_blocks(blocks, work, min(threads, len(blocks))):
            done += rows
            if progress is not None:
                progress(done, n_rows)
    return matrix


def run_blocks(
    blocks: list[slice], work: Callable[[slice, Check], int], threads: int
) -> Iterator[int]:
    """Do the work of every block, on so many threads; yield what it returns, as it is done."""
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
            stopped.set()  # those that run end soon, those that wait end at once
            raise


class _OneThreadOfBlas:
    """Keeps threads of BLAS from running under ours, and sums from depending on their number.

    The limit is that of the whole process: the first call of several at a time sets it, the last
    one takes it back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls = 0
        self._controller: Any = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._controller is None:  # looks through the libraries of the process
                self._controller = ThreadpoolController()
            if self._calls == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._calls += 1

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._calls -= 1
            if self._calls == 0:
                self._limit.restore_original_limits()


one_thread_of_blas = _OneThreadOfBlas()
