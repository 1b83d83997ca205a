"""Executor of `map_blocks` on a Dask cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import pickle
import time
import uuid
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from typing import Any

from textkin.exceptions import ParameterError
from textkin.run._blocks import Work, describe_block
from textkin.run._resources import format_size, stop_check, stoppable

__all__ = ["DaskRunner", "connect", "threads_of"]

_REFRESH = 2.0  # seconds after which the number of workers is read again
_LARGE = 1 << 16  # bytes; a larger function is sent once instead of with every block
_CHECK_EVERY = 0.02  # seconds between two calls of the stop check


def connect(executor: object) -> tuple[Any, bool]:
    """Return the Dask client for an executor, and whether the caller must close it.

    Parameters
    ----------
    executor : distributed.Client or str
        A client, or the address of a scheduler.
    """
    wrong = ParameterError(
        "executor",
        "None, 'threads', 'joblib', a distributed.Client, or the address of a scheduler such as "
        "'tcp://10.0.0.1:8786'",
        repr(executor),
    )
    if not (
        hasattr(executor, "scheduler_info") or (isinstance(executor, str) and "://" in executor)
    ):
        raise wrong  # do not import Dask for an invalid executor
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "executor requires Dask, which is not installed: pip install 'textkin[dask]'"
        ) from error
    if isinstance(executor, Client):
        if executor.asynchronous:
            raise TypeError("executor must be a Client that is not asynchronous: Client(address).")
        if executor.status in ("closing", "closed"):
            raise ValueError(f"executor must be a Client that is open; {executor!r} was closed.")
        return executor, False
    if not isinstance(executor, str):
        raise wrong
    made: Any = Client
    return made(executor, set_as_default=False), True


def threads_of(executor: object) -> int:
    """Return the number of blocks that a Dask cluster runs concurrently; at least 1."""
    client, own = connect(executor)
    try:
        return max(1, int(sum(client.nthreads().values())))
    finally:
        if own:
            client.close()


class DaskRunner(AbstractContextManager["DaskRunner"]):
    """Executor of blocks on the workers of a Dask cluster.

    A large function is sent to the scheduler once, as the result of a separate task. Workers copy
    it from each other, and Dask recomputes it if the workers that hold it die.

    Parameters
    ----------
    work : Work
        Function to call for every block.
    executor : distributed.Client or str
        A client, or the address of a scheduler.
    """

    def __init__(self, work: Work, executor: object) -> None:
        self._work = work
        self._executor = executor
        self._check = stop_check()
        self._futures: dict[int, Any] = {}
        self._threads, self._refreshed = 0, 0.0
        name = getattr(work.function, "__name__", type(work.function).__name__)
        self._group = f"textkin_{name}-{uuid.uuid4().hex}"  # Dask estimates durations per prefix

    def __enter__(self) -> DaskRunner:
        self._client, self._own = connect(self._executor)
        return self

    @cached_property
    def _function(self) -> Any:  # noqa: ANN401 (as all of Dask)
        """Function to submit with blocks; a large one is sent to the cluster only once."""
        import cloudpickle
        import dask

        packed = cloudpickle.dumps(self._work)
        if len(packed) <= _LARGE:
            return _Opaque(self._work)
        # Dask warns about large graphs; this one is sent only once.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            sent = self._client.submit(_unpack, packed, key=f"{self._group}-function")
        # Dask prefers workers that hold the inputs of a task, so all of them get the function. If
        # a worker dies, other workers fetch the function when they need it.
        with suppress(AssertionError, ValueError):
            self._wait(self._client.replicate([sent], asynchronous=True))
        return sent

    def __exit__(self, *raised: object) -> None:
        try:
            left = list(self._futures.values())
            if left and self._client.status == "running":
                self._client.cancel(left, force=True)
        finally:
            self._futures.clear()
            self.__dict__.pop("_function", None)
            if self._own:
                self._client.close()

    def capacity(self) -> int:
        """Return twice the number of worker threads, so that workers never wait."""
        if time.monotonic() - self._refreshed > _REFRESH or not self._threads:
            self._threads = int(sum(self._client.nthreads().values()))
            self._refreshed = time.monotonic()
        return 2 * max(1, self._threads)

    def submit(self, number: int, block: object) -> Any:  # noqa: ANN401 (as all of Dask)
        """Submit one block to the cluster, and return its future; earlier blocks go first."""
        future = self._futures[number] = self._client.submit(
            _run,
            self._function,
            number,
            _Opaque(block),
            key=(self._group, number),
            priority=-number,
        )
        return future

    def result(self, future: Any, number: int, block: object) -> Any:  # noqa: ANN401
        """Return the result of a block; raise RuntimeError if workers died on it."""
        from distributed import KilledWorker

        try:
            result = self._wait(self._client.gather(future, asynchronous=True))
        except KilledWorker as error:
            raise RuntimeError(
                f"block {number} has ended {error.allowed_failures + 1} workers, and is not "
                "retried. Usually, it needs more memory than a worker has. Make the blocks "
                "smaller, pass a smaller memory=, or give the workers a higher memory_limit. "
                f"Block: {describe_block(block)}"
            ) from error
        except Exception as error:
            # Dask sends only the message of errors that cannot be pickled.
            if not getattr(error, "__notes__", ()):
                error.add_note(f"In block {number}: {describe_block(block)}")
            raise
        del self._futures[number]
        return result

    def _wait(self, coroutine: Any) -> Any:  # noqa: ANN401
        """Wait for a coroutine of Dask while the stop check is called regularly."""
        task = asyncio.run_coroutine_threadsafe(coroutine, self._client.loop.asyncio_loop)
        try:
            while (
                self._check is not None and not concurrent.futures.wait([task], _CHECK_EVERY).done
            ):
                self._check(0, 0)
            return task.result()
        finally:
            task.cancel()


class _Opaque:
    """Wrapper of a value that Dask must not search for tasks."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __reduce__(self) -> tuple[type, tuple[object]]:
        return _Opaque, (self.value,)


def _unpack(packed: bytes) -> _Opaque:
    return _Opaque(pickle.loads(packed))  # Dask unpickles every task too


def _run(work: _Opaque, number: int, block: _Opaque) -> Any:  # noqa: ANN401
    """Run a block on a Dask worker, with a check that stops it after cancellation."""
    from distributed import get_worker

    worker: Any = get_worker()
    key = worker.get_current_task()

    def look(_done: int, _total: int) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise InterruptedError("the block was canceled.")

    job: Work = work.value  # type: ignore[assignment]
    allowed = getattr(getattr(worker, "memory_manager", None), "memory_limit", None)
    if job.memory is not None and allowed and job.memory > allowed:
        raise ParameterError(
            "memory",
            f"at most {format_size(allowed)}, the memory_limit of a worker",
            str(format_size(job.memory)),
        )
    with stoppable(look):
        return job.call(number, block.value, worker.state.nthreads)
