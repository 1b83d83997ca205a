"""`map_blocks`: one function for many blocks, on threads, joblib, or Dask."""

from __future__ import annotations

import concurrent.futures
import contextvars
import inspect
import itertools
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from textkin._base import integer
from textkin.run._progress import ProgressCallback
from textkin.run._resources import effective_jobs, memory_in_bytes, stop_check, stoppable

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Executor", "Work", "describe_block", "map_blocks", "side_by_side"]

Block = TypeVar("Block")
Result = TypeVar("Result")

Executor: TypeAlias = "Client | Literal['threads', 'joblib'] | str | None"
"""Executor of blocks: "threads" (default), "joblib", a `distributed.Client`, or its address."""

_MAX_REPR = 200  # characters of a block in an error message
_CHECK_EVERY = 0.1  # seconds between two calls of the stop check


def map_blocks(
    function: Callable[..., Result],
    blocks: Iterable[Block],
    *,
    executor: Executor = None,
    n_jobs: int | None = None,
    in_flight: int | None = None,
    memory: str | int | None = None,
    progress: ProgressCallback | None = None,
) -> Generator[Result, None, None]:
    """Call a function for every block in parallel; yield the results in block order.

    Blocks are sent to workers, so make them small references to the data: paths, or ranges of rows.
    The function may contain data that all blocks need: a large function is sent once to each worker
    of a Dask cluster (with "joblib", it is sent with every block). No block runs before the first
    result is requested.

    Parameters
    ----------
    function : callable
        Function of a block; with `memory`, also of ``memory=``, a number of bytes. With "joblib"
        and Dask, it must be importable on the workers, or cloudpickle must be able to serialize it.
    blocks : iterable
        Arguments of the calls. The iterable is read on demand, at most `in_flight` blocks ahead.
    executor : {"threads", "joblib"}, distributed.Client or str, default=None
        Executor of the blocks:

        - None or "threads": `n_jobs` threads of this process; with one, the calling thread.
        - "joblib": `joblib.Parallel`, with the backend that ``joblib.parallel_config`` sets.
        - a `distributed.Client`, or the address of a scheduler (``"tcp://10.0.0.1:8786"``): the
          workers of a Dask cluster. A block whose worker dies is run again by another one.
    n_jobs : int, default=None
        Number of threads, or of joblib workers (with joblib, None uses its configuration). Ignored
        for a Dask cluster, whose workers define the number.
    in_flight : int, default=None
        Maximum number of blocks that are running, waiting for a worker, or finished but not yet
        consumed by the caller. If None, twice the number that can run concurrently. With "joblib",
        the size of a batch: the next batch starts when all its blocks are finished.
    memory : str or int, default=None
        Memory limit of a worker, such as "2GB". The function gets its share: a process that runs
        four blocks concurrently passes a quarter to each. A Dask worker whose limit is smaller
        raises an error.
    progress : callable, default=None
        Called with (number of finished blocks, total number or 0 if `blocks` has no length) after
        each block.

    Yields
    ------
    object
        Result of the function for a block.

    Raises
    ------
    TypeError
        If `memory` is given and the function has no such parameter.
    ImportError
        If `executor` needs Dask, and Dask is not installed.
    RuntimeError
        If a block has ended several workers of a Dask cluster.

    Notes
    -----
    Exceptions of a block propagate unchanged, with a note that names the block; blocks that have
    not started are canceled. The same happens when the iteration stops early: by Ctrl-C,
    ``close()``, or an exception in a callback. Running blocks get a request to stop: searches of
    textkin check this several times per second, and other functions can use
    `textkin.run.stop_check`. A function without such checks runs to its end, and its result is
    discarded. With threads, this call waits for it.

    A result may be computed twice if a worker dies. A function that writes a file should write a
    temporary file and rename it, so that writing twice is harmless.

    Examples
    --------
    >>> from textkin.run import map_blocks
    >>> list(map_blocks(sum, [range(3), range(3, 6), range(6, 9)], n_jobs=2))
    [3, 12, 21]
    """
    if in_flight is not None:
        integer(1).check("in_flight", in_flight)
    if memory is not None and not _takes_memory(function):
        raise TypeError(
            "function must accept memory=, a number of bytes, if memory is given; "
            f"{function!r} does not."
        )
    work = Work(function, None if memory is None else memory_in_bytes(memory))
    total = len(blocks) if isinstance(blocks, Sized) else 0
    return _report_progress(_results(work, blocks, executor, n_jobs, in_flight), progress, total)


def side_by_side(executor: Executor, n_jobs: int | None = None) -> int:
    """Return the number of blocks that an executor runs concurrently.

    Parameters
    ----------
    executor, n_jobs
        As for `map_blocks`.

    Returns
    -------
    int
        Number of blocks, at least 1, even for a cluster without workers.
    """
    if executor is None or (isinstance(executor, str) and executor == "threads"):
        return effective_jobs(n_jobs)
    if isinstance(executor, str) and executor == "joblib":
        import joblib

        return int(joblib.effective_n_jobs(n_jobs))
    from textkin.run._dask import threads_of

    return threads_of(executor)


@dataclass(frozen=True)
class Work:
    """Function for blocks, with the memory that concurrent calls share."""

    function: Callable[..., Any]
    memory: int | None

    def call(self, number: int, block: object, side_by_side: int = 1) -> Any:  # noqa: ANN401 (its own)
        """Call the function with one block; errors get a note that names the block."""
        try:
            if self.memory is None:
                return self.function(block)
            return self.function(block, memory=max(1, self.memory // side_by_side))
        except BaseException as error:
            error.add_note(f"In block {number}: {describe_block(block)}")
            raise


def describe_block(block: object) -> str:
    """Return the repr of a block, truncated for an error message."""
    text = repr(block)
    return text if len(text) <= _MAX_REPR else f"{text[:_MAX_REPR]}…"


class _Runner(Protocol):
    """Interface of an executor of blocks: submits them, and returns their results."""

    def __enter__(self) -> Any: ...  # noqa: ANN401
    def __exit__(self, *raised: object) -> object: ...

    def capacity(self) -> int:
        """Return the number of blocks to submit at a time."""
        ...

    def submit(self, number: int, block: object) -> Any:  # noqa: ANN401 (a future of its own kind)
        """Submit one block, and return its future."""
        ...

    def result(self, future: Any, number: int, block: object) -> Any:  # noqa: ANN401
        """Wait for the future of a block, and return its result."""
        ...


def _takes_memory(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    return any(one.name == "memory" or one.kind is one.VAR_KEYWORD for one in parameters)


def _report_progress(
    results: Generator[Result, None, None], progress: ProgressCallback | None, total: int
) -> Generator[Result, None, None]:
    try:
        for done, result in enumerate(results, 1):
            if progress is not None:
                progress(done, total)
            yield result
    finally:
        results.close()


def _results(
    work: Work,
    blocks: Iterable[Any],
    executor: Executor,
    n_jobs: int | None,
    in_flight: int | None,
) -> Generator[Any, None, None]:
    if isinstance(executor, str) and executor == "joblib":
        return _run_with_joblib(work, blocks, n_jobs, in_flight)
    if executor is None or (isinstance(executor, str) and executor == "threads"):
        threads = effective_jobs(n_jobs)
        if threads == 1:
            return (work.call(number, block) for number, block in enumerate(blocks))
        return _collect_in_order(_Threads(work, threads), blocks, in_flight)
    from textkin.run._dask import DaskRunner

    return _collect_in_order(DaskRunner(work, executor), blocks, in_flight)


def _collect_in_order(
    runner: _Runner, blocks: Iterable[object], in_flight: int | None
) -> Generator[Any, None, None]:
    """Yield results in block order, while `in_flight` blocks are submitted ahead."""
    at_work: deque[tuple[Any, int, object]] = deque()
    with runner:
        left = enumerate(blocks)
        while True:
            wanted = in_flight or runner.capacity()
            for number, block in itertools.islice(left, max(0, wanted - len(at_work))):
                at_work.append((runner.submit(number, block), number, block))
            if not at_work:
                return
            yield runner.result(*at_work.popleft())


class _Threads(AbstractContextManager["_Threads"]):
    """Executor that runs blocks on threads of this process."""

    def __init__(self, work: Work, threads: int) -> None:
        self._work = work
        self._threads = threads
        self._check = stop_check()
        self._ended = threading.Event()

    def __enter__(self) -> _Threads:
        self._pool = concurrent.futures.ThreadPoolExecutor(self._threads, "textkin-block")
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def capacity(self) -> int:
        return 2 * self._threads

    def submit(self, number: int, block: object) -> concurrent.futures.Future[Any]:
        context = contextvars.copy_context()  # context variables of the caller apply
        return self._pool.submit(context.run, self._run, number, block)

    def _run(self, number: int, block: object) -> Any:  # noqa: ANN401
        with stoppable(self._raise_if_ended):
            return self._work.call(number, block, self._threads)

    def _raise_if_ended(self, _done: int, _total: int) -> None:
        if self._ended.is_set():
            raise InterruptedError("the block was canceled.")

    def result(self, future: concurrent.futures.Future[Any], number: int, block: object) -> Any:  # noqa: ANN401
        while self._check is not None and not concurrent.futures.wait([future], _CHECK_EVERY).done:
            self._check(0, 0)
        return future.result()


def _run_with_joblib(
    work: Work, blocks: Iterable[object], n_jobs: int | None, in_flight: int | None
) -> Generator[Any, None, None]:
    """Run blocks with joblib in batches, and yield the results in block order."""
    import joblib

    check = stop_check()
    left = enumerate(blocks)
    at_once = joblib.effective_n_jobs(n_jobs)
    size = in_flight or 2 * at_once
    backend, _ = joblib.parallel.get_active_backend()
    # threads share the memory of one process
    sharing = at_once if getattr(backend, "uses_threads", False) else 1
    with joblib.Parallel(n_jobs=n_jobs) as parallel:
        while taken := list(itertools.islice(left, size)):
            if check is not None:
                check(0, 0)
            yield from parallel(
                joblib.delayed(work.call)(number, block, sharing) for number, block in taken
            )
