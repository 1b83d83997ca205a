"""Bounded pool of worker threads for requests, with time limits."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fastapi import Request

from textkin.run import stoppable
from textkin.web._errors import Problem
from textkin.web._limits import Limits

__all__ = ["WorkEnded", "WorkerPool"]

_WAITING = 16  # maximum number of waiting requests per thread
_LOOK = 0.5  # seconds between checks of the connection

T = TypeVar("T")


class WorkEnded(Exception):
    """Raised in a computation whose result is no longer needed."""


class _Task:
    """Running computation, which `end` cancels at its next check."""

    def __init__(self) -> None:
        self._ended = threading.Event()

    def end(self) -> None:
        self._ended.set()

    def check(self, _done: int, _total: int) -> None:
        if self._ended.is_set():
            raise WorkEnded


class WorkerPool:
    """Worker threads for requests.

    A request waits for a free thread. If it takes too long, or its client disconnects, it is
    canceled: searches and transport distances stop soon, other long computations finish. Their
    thread is not reused before, so that the number of threads stays bounded.

    Parameters
    ----------
    limits : Limits
        Maximum number of concurrent requests, and maximum time.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.searches, "textkin-web")
        self._mutex = threading.Lock()
        self._tasks: set[_Task] = set()
        self._closed = False

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Run a function in a worker thread, and return its result.

        Raises
        ------
        Problem
            "busy" if no thread was free in time, or too many requests wait; "too_slow" if the
            function took too long.
        """
        limits = self._limits
        deadline = time.monotonic() + limits.seconds
        task = self._admitted()

        def stoppable_work() -> T:
            try:
                task.check(0, 0)
                with stoppable(task.check):
                    return work()
            finally:
                self._done(task)

        future = self._pool.submit(stoppable_work)
        waited = asyncio.wrap_future(future)
        waited.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            while True:
                left = deadline - time.monotonic()
                done, _ = await asyncio.wait({waited}, timeout=max(0.0, min(left, _LOOK)))
                if done:
                    if waited.cancelled():
                        raise WorkEnded
                    return waited.result()
                if left <= 0:
                    raise self._late(never_begun=not future.running())
                if await request.is_disconnected():
                    raise Problem("busy", "The client disconnected before the response.")
        except WorkEnded:
            raise Problem("busy", "The server is stopping. Try again in a moment.") from None
        finally:
            task.end()
            if future.cancel():
                self._done(task)

    def close(self) -> None:
        """Cancel waiting work, and ask running work to stop."""
        with self._mutex:
            self._closed = True
            tasks = list(self._tasks)
        for task in tasks:
            task.end()
        self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def running(self) -> int:
        """Number of running and waiting tasks."""
        return len(self._tasks)

    def _admitted(self) -> _Task:
        task = _Task()
        with self._mutex:
            if self._closed:
                raise Problem("busy", "The server is stopping. Try again in a moment.")
            if len(self._tasks) >= self._limits.searches * (1 + _WAITING):
                raise Problem(
                    "busy",
                    f"The server runs {self._limits.searches} requests at once, and "
                    f"{self._limits.searches * _WAITING} are waiting. Try again in a moment.",
                )
            self._tasks.add(task)
        return task

    def _done(self, task: _Task) -> None:
        with self._mutex:
            self._tasks.discard(task)

    def _late(self, *, never_begun: bool) -> Problem:
        seconds = self._limits.seconds
        if never_begun:
            return Problem(
                "busy",
                f"The server runs {self._limits.searches} requests at once, and none of them "
                f"finished within {seconds:g} s. Try again in a moment.",
            )
        return Problem(
            "too_slow",
            f"The request must finish within {seconds:g} s, the limit of this server. Use a "
            "shorter text, a smaller k, a filter, or a faster ranking such as bm25.",
        )
