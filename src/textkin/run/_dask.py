"""Blocks on the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import pickle
import time
import uuid
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from typing import Any

from textkin.run._blocks import Work, shown
from textkin.run._memory import size_in_words
from textkin.run._stopping import stop_check, stoppable

__all__ = ["DaskRunner", "connected", "threads_of"]

_ASKS = 2.0  # seconds after which workers are asked for again: they come and go
_LARGE = 1 << 16  # bytes of a function that go with every block
_LOOKS = 0.02  # seconds between two looks whether the caller was told to stop


def connected(on: object) -> tuple[Any, bool]:
    """Return the client of a cluster, and whether it was made here and has to be closed.

    Parameters
    ----------
    on : distributed.Client or str
        A client, or the address of a scheduler.
    """
    wrong = ValueError(
        "on must be None, 'threads', 'joblib', a distributed.Client, or the address of a "
        f"scheduler such as 'tcp://10.0.0.1:8786'; got {on!r}."
    )
    if not (hasattr(on, "scheduler_info") or (isinstance(on, str) and "://" in on)):
        raise wrong  # before Dask is asked for
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "a cluster needs Dask, which is not installed here: pip install 'textkin[dask]'"
        ) from error
    if isinstance(on, Client):
        if on.asynchronous:
            raise TypeError("on must be a Client that is not asynchronous: Client(address).")
        if on.status in ("closing", "closed"):
            raise ValueError(f"on must be a Client that is open; {on!r} was closed.")
        return on, False
    if not isinstance(on, str):
        raise wrong
    made: Any = Client
    return made(on, set_as_default=False), True


def threads_of(on: object) -> int:
    """Return how many blocks the workers of a cluster run at the same time, at least 1."""
    client, own = connected(on)
    try:
        return max(1, int(sum(client.nthreads().values())))
    finally:
        if own:
            client.close()


class DaskRunner(AbstractContextManager["DaskRunner"]):
    """A Dask cluster as a place where blocks run.

    A large function goes to the scheduler once, as the result of a task of its own: workers hand
    it on to each other, and it is there again when those that had it have died.

    Parameters
    ----------
    work : Work
        What is called.
    on : distributed.Client or str
        A client, or the address of a scheduler.
    """

    def __init__(self, work: Work, on: object) -> None:
        self._work = work
        self._on = on
        self._check = stop_check()
        self._futures: dict[int, Any] = {}
        self._threads, self._asked = 0, 0.0
        name = getattr(work.function, "__name__", type(work.function).__name__)
        self._group = f"textkin_{name}-{uuid.uuid4().hex}"  # Dask learns how long each kind takes

    def __enter__(self) -> DaskRunner:
        self._client, self._own = connected(self._on)
        return self

    @cached_property
    def _sent(self) -> Any:  # noqa: ANN401 (as all of Dask)
        """The function, as it goes with every block: itself, or a future of it."""
        import cloudpickle
        import dask

        packed = cloudpickle.dumps(self._work)
        if len(packed) <= _LARGE:
            return _Opaque(self._work)
        # Once is what the warning about large graphs asks for.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            sent = self._client.submit(_unpacked, packed, key=f"{self._group}-function")
        # Tasks go to workers that have what they need: to all of them. Where a worker dies
        # meanwhile, or none is left, others get it when they need it.
        with suppress(AssertionError, ValueError):
            self._waited(self._client.replicate([sent], asynchronous=True))
        return sent

    def __exit__(self, *raised: object) -> None:
        try:
            left = list(self._futures.values())
            if left and self._client.status == "running":
                self._client.cancel(left, force=True)
        finally:
            self._futures.clear()
            self.__dict__.pop("_sent", None)
            if self._own:
                self._client.close()

    def room(self) -> int:
        """Return twice the number of threads of the workers that are there."""
        if time.monotonic() - self._asked > _ASKS or not self._threads:
            self._threads = int(sum(self._client.nthreads().values()))
            self._asked = time.monotonic()
        return 2 * max(1, self._threads)

    def submit(self, number: int, block: object) -> Any:  # noqa: ANN401 (as all of Dask)
        """Send a block; earlier ones are run first."""
        future = self._futures[number] = self._client.submit(
            _run, self._sent, number, _Opaque(block), key=(self._group, number), priority=-number
        )
        return future

    def result(self, future: Any, number: int, block: object) -> Any:  # noqa: ANN401
        """Wait for a block; one that has ended several workers is an error of its own."""
        from distributed import KilledWorker

        try:
            result = self._waited(self._client.gather(future, asynchronous=True))
        except KilledWorker as error:
            raise RuntimeError(
                f"block {number} has ended {error.allowed_failures + 1} workers, and is not tried "
                "again: most often it needs more memory than a worker may have. Make the blocks "
                "smaller, give less memory= to each, or give the workers a higher memory_limit. "
                f"The block: {shown(block)}"
            ) from error
        except Exception as error:
            if not getattr(error, "__notes__", ()):  # Dask sends the words of what it cannot pack
                error.add_note(f"In block {number}: {shown(block)}")
            raise
        del self._futures[number]
        return result

    def _waited(self, coroutine: Any) -> Any:  # noqa: ANN401
        """Wait for something of Dask, which may take for ever where no worker is left."""
        task = asyncio.run_coroutine_threadsafe(coroutine, self._client.loop.asyncio_loop)
        try:
            while self._check is not None and not concurrent.futures.wait([task], _LOOKS).done:
                self._check(0, 0)
            return task.result()
        finally:
            task.cancel()


class _Opaque:
    """Something that Dask hands on as it is, without looking for tasks in it."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __reduce__(self) -> tuple[type, tuple[object]]:
        return _Opaque, (self.value,)


def _unpacked(packed: bytes) -> _Opaque:
    return _Opaque(pickle.loads(packed))  # what Dask does with every task


def _run(work: _Opaque, number: int, block: _Opaque) -> Any:  # noqa: ANN401
    """Run a block on a worker, which can be told to stop it."""
    from distributed import get_worker

    worker: Any = get_worker()
    key = worker.get_current_task()

    def look(_done: int, _total: int) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise InterruptedError("the block was given up.")

    job: Work = work.value  # type: ignore[assignment]
    allowed = getattr(getattr(worker, "memory_manager", None), "memory_limit", None)
    if job.memory is not None and allowed and job.memory > allowed:
        raise ValueError(
            f"memory must be at most what a worker may have, {size_in_words(allowed)} (its "
            f"memory_limit); got {size_in_words(job.memory)}."
        )
    with stoppable(look):
        return job.on(number, block.value, worker.state.nthreads)
