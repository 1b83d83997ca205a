"""One function over many blocks of work: on threads, with joblib, or on a Dask cluster."""

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

from textkin._validation import integer
from textkin.run._jobs import effective_jobs
from textkin.run._memory import memory_in_bytes
from textkin.run._progress import ProgressCallback
from textkin.run._stopping import stop_check, stoppable

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Place", "Work", "map_blocks", "shown", "side_by_side"]

Block = TypeVar("Block")
Result = TypeVar("Result")

Place: TypeAlias = "Client | Literal['threads', 'joblib'] | str | None"
"""Where blocks run: None or "threads", "joblib", a `distributed.Client` or its address."""

_SHOWN = 200  # characters of a block that an error names
_LOOKS = 0.1  # seconds between two looks whether the caller was told to stop


def map_blocks(
    function: Callable[..., Result],
    blocks: Iterable[Block],
    *,
    on: Place = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
    in_flight: int | None = None,
    memory: str | int | None = None,
) -> Generator[Result, None, None]:
    """Call a function for every block, and give the results in the order of the blocks.

    Function and blocks travel, so let them be small and say where the data lie: paths, ranges of
    rows. A function may hold what all blocks need: a large one travels once to each worker of a
    Dask cluster (with "joblib" it goes with every block). Nothing is run before the first result is
    asked for.

    Parameters
    ----------
    function : callable
        Gets one block; and ``memory=``, a number of bytes, if `memory` is given. With "joblib"
        and Dask it must be importable on the workers, or be something that cloudpickle can pack.
    blocks : iterable
        What it is called with, one after another. Read as work goes on, never ahead of it by more
        than `in_flight`.
    on : {"threads", "joblib"}, distributed.Client or str, default=None
        Where:

        - None or "threads": `n_jobs` threads of this process; with one, the calling thread.
        - "joblib": `joblib.Parallel`, with the backend that ``joblib.parallel_config`` sets.
        - a `distributed.Client`, or the address of a scheduler (``"tcp://10.0.0.1:8786"``): the
          workers of a Dask cluster. A block whose worker dies is run again by another one.
    n_jobs : int, default=None
        Threads, or workers of joblib (there None leaves the number to its configuration). A Dask
        cluster has its own number, and this one is not looked at.
    progress : callable, default=None
        Gets (blocks done, all of them or 0 where `blocks` has no length) after each block.
    in_flight : int, default=None
        How many blocks may be running, waiting for a worker, or done and not yet taken by the
        caller. None is twice the number that can run at the same time. With "joblib" they are
        the blocks of a round: the next ones begin when all of them are done.
    memory : str or int, default=None
        What one worker may use, such as "2GB". The function gets its share of it: a process that
        runs four blocks at a time gives a quarter to each. A worker of Dask whose own limit is
        smaller refuses its blocks.

    Yields
    ------
    object
        What the function returned.

    Raises
    ------
    TypeError
        If `memory` is given and the function has no such parameter.
    ImportError
        If `on` wants Dask, and it is not installed.
    RuntimeError
        If a block has ended several workers of a Dask cluster.

    Notes
    -----
    What a block raises comes out as itself, with a note that names the block; blocks that have
    not begun are then given up. The same happens when the iteration is left: Ctrl-C, ``close()``,
    or a callback that raises. Blocks that are running are told to stop: searches of textkin look a
    few times a second, and other functions can with `textkin.run.stop_check`; what does not look
    runs to its end, and its result is thrown away. On threads this call waits for them.

    Results may be computed more than once where a worker dies. A function that writes should
    write under another name and rename, so that twice is as good as once.

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
            "function must take memory=, the bytes that it may use, where memory is given; "
            f"{function!r} does not."
        )
    work = Work(function, None if memory is None else memory_in_bytes(memory))
    total = len(blocks) if isinstance(blocks, Sized) else 0
    return _told(_results(work, blocks, on, n_jobs, in_flight), progress, total)


def side_by_side(on: Place, n_jobs: int | None = None) -> int:
    """Return how many blocks can run at the same time.

    Parameters
    ----------
    on, n_jobs
        As for `map_blocks`.

    Returns
    -------
    int
        At least 1, also for a cluster whose workers have not come yet.
    """
    if on is None or (isinstance(on, str) and on == "threads"):
        return effective_jobs(n_jobs)
    if isinstance(on, str) and on == "joblib":
        import joblib

        return int(joblib.effective_n_jobs(n_jobs))
    from textkin.run._dask import threads_of

    return threads_of(on)


@dataclass(frozen=True)
class Work:
    """The function, and the memory of a worker that its calls share."""

    function: Callable[..., Any]
    memory: int | None

    def on(self, number: int, block: object, side_by_side: int = 1) -> Any:  # noqa: ANN401 (its own)
        """Call the function; what it raises names the block."""
        try:
            if self.memory is None:
                return self.function(block)
            return self.function(block, memory=max(1, self.memory // side_by_side))
        except BaseException as error:
            error.add_note(f"In block {number}: {shown(block)}")
            raise


def shown(block: object) -> str:
    """Return a block as an error names it."""
    text = repr(block)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


class _Runner(Protocol):
    """A place where blocks run, as a window over futures needs it."""

    def __enter__(self) -> Any: ...  # noqa: ANN401
    def __exit__(self, *raised: object) -> object: ...

    def room(self) -> int:
        """Return how many blocks it wants at hand."""
        ...

    def submit(self, number: int, block: object) -> Any:  # noqa: ANN401 (a future of its own kind)
        """Begin a block, and return its future."""
        ...

    def result(self, future: Any, number: int, block: object) -> Any:  # noqa: ANN401
        """Wait for a block, and return what it gave."""
        ...


def _takes_memory(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of some built-in functions nothing is known
        return False
    return any(one.name == "memory" or one.kind is one.VAR_KEYWORD for one in parameters)


def _told(
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
    on: Place,
    n_jobs: int | None,
    in_flight: int | None,
) -> Generator[Any, None, None]:
    if isinstance(on, str) and on == "joblib":
        return _rounds(work, blocks, n_jobs, in_flight)
    if on is None or (isinstance(on, str) and on == "threads"):
        threads = effective_jobs(n_jobs)
        if threads == 1:
            return (work.on(number, block) for number, block in enumerate(blocks))
        return _window(_Threads(work, threads), blocks, in_flight)
    from textkin.run._dask import DaskRunner

    return _window(DaskRunner(work, on), blocks, in_flight)


def _window(
    runner: _Runner, blocks: Iterable[object], in_flight: int | None
) -> Generator[Any, None, None]:
    """Keep so many blocks at a runner, and hand over the result of the first of them."""
    at_work: deque[tuple[Any, int, object]] = deque()
    with runner:
        left = enumerate(blocks)
        while True:
            wanted = in_flight or runner.room()
            for number, block in itertools.islice(left, max(0, wanted - len(at_work))):
                at_work.append((runner.submit(number, block), number, block))
            if not at_work:
                return
            yield runner.result(*at_work.popleft())


class _Threads(AbstractContextManager["_Threads"]):
    """Threads of this process."""

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

    def room(self) -> int:
        return 2 * self._threads

    def submit(self, number: int, block: object) -> concurrent.futures.Future[Any]:
        context = contextvars.copy_context()  # the caller's, as if it called the function itself
        return self._pool.submit(context.run, self._run, number, block)

    def _run(self, number: int, block: object) -> Any:  # noqa: ANN401
        with stoppable(self._look):
            return self._work.on(number, block, self._threads)

    def _look(self, _done: int, _total: int) -> None:
        if self._ended.is_set():
            raise InterruptedError("the block was given up.")

    def result(self, future: concurrent.futures.Future[Any], number: int, block: object) -> Any:  # noqa: ANN401
        while self._check is not None and not concurrent.futures.wait([future], _LOOKS).done:
            self._check(0, 0)
        return future.result()


def _rounds(
    work: Work, blocks: Iterable[object], n_jobs: int | None, in_flight: int | None
) -> Generator[Any, None, None]:
    """Run blocks with joblib, a round of them at a time."""
    import joblib

    check = stop_check()
    left = enumerate(blocks)
    at_once = joblib.effective_n_jobs(n_jobs)
    size = in_flight or 2 * at_once
    backend, _ = joblib.parallel.get_active_backend()
    sharing = at_once if getattr(backend, "uses_threads", False) else 1  # the memory of one process
    with joblib.Parallel(n_jobs=n_jobs) as parallel:
        while taken := list(itertools.islice(left, size)):
            if check is not None:
                check(0, 0)
            yield from parallel(
                joblib.delayed(work.on)(number, block, sharing) for number, block in taken
            )
