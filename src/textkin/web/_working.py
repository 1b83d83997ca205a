"""Work of requests in a bounded number of threads, each for a limited time."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fastapi import Request

from textkin.run import stoppable
from textkin.web._problems import Problem
from textkin.web._settings import Limits

__all__ = ["Ended", "Work"]

_WAITING = 16  # requests for each thread that may wait for it
_LOOK = 0.5  # seconds after which we look whether the client is still there

T = TypeVar("T")


class Ended(Exception):
    """Raised inside of work that nobody waits for any more."""


class _Task:
    """One piece of work that can be told to end."""

    def __init__(self) -> None:
        self._ended = threading.Event()

    def end(self) -> None:
        self._ended.set()

    def check(self, _done: int, _total: int) -> None:
        if self._ended.is_set():
            raise Ended


class Work:
    """The threads in which requests are answered.

    A request waits until a thread is free. One that takes too long, or whose client is gone, is
    told to end: searches and distances by transport see that soon, what else takes long ends by
    itself. Its thread is not given to others before, so that threads never pile up.

    Parameters
    ----------
    limits : Limits
        How many at once, and for how long.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.searches, "textkin-web")
        self._mutex = threading.Lock()
        self._tasks: set[_Task] = set()
        self._closed = False

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Do work in a thread, and return what it returns.

        Raises
        ------
        Problem
            "busy" if no thread was free in time, or too many wait already; "too_slow" if it took
            too long.
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
                        raise Ended
                    return waited.result()
                if left <= 0:
                    raise self._late(never_begun=not future.running())
                if await request.is_disconnected():
                    raise Problem("busy", "The client did not wait for the answer.")
        except Ended:
            raise Problem("busy", "The server is ending; try again in a moment.") from None
        finally:
            task.end()
            if future.cancel():
                self._done(task)

    def close(self) -> None:
        """End all work: what waits is never begun, what runs is told to end."""
        with self._mutex:
            self._closed = True
            tasks = list(self._tasks)
        for task in tasks:
            task.end()
        self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def running(self) -> int:
        """How many pieces of work run or wait."""
        return len(self._tasks)

    def _admitted(self) -> _Task:
        task = _Task()
        with self._mutex:
            if self._closed:
                raise Problem("busy", "The server is ending; try again in a moment.")
            if len(self._tasks) >= self._limits.searches * (1 + _WAITING):
                raise Problem(
                    "busy",
                    f"The server works on {self._limits.searches} requests at once and "
                    f"{self._limits.searches * _WAITING} wait; try again in a moment.",
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
                f"The server works on {self._limits.searches} requests at once, and none of them "
                f"ended within {seconds:g} s; try again in a moment.",
            )
        return Problem(
            "too_slow",
            f"The answer would take longer than {seconds:g} s, the limit of this server. Ask for "
            "less: a shorter text, a smaller k, a filter, or a quicker ranking such as bm25.",
        )
