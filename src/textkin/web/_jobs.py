"""Long computations in the background: one at a time, cached for the current snapshot."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from textkin.run import ProgressCallback
from textkin.web._errors import Problem, problem_of

__all__ = ["JobProgress", "JobRequest", "JobResult", "Jobs", "encoded"]

_MOST_WAITING = 8
_MOST_KEPT = 16
_MOST_BYTES = 64 << 20
_FRESH = 20.0  # seconds for which a result for an older snapshot is acceptable


class _Cancelled(Exception):
    pass


@dataclass(frozen=True, slots=True)
class JobResult:
    """Result of a computation.

    Attributes
    ----------
    state : str
        Snapshot of the index that the result is for.
    answers : mapping of str to bytes
        Encoded responses, by name.
    """

    state: str
    answers: Mapping[str, bytes]

    @property
    def nbytes(self) -> int:
        """Memory size, in bytes."""
        return sum(map(len, self.answers.values()))


@dataclass(frozen=True, slots=True)
class JobRequest:
    """Request for a long computation, which identifies its result in the cache.

    Attributes
    ----------
    key : hashable
        Identifies the request, apart from the snapshot.
    state : str
        Current snapshot of the index.
    make : callable
        Function that computes the result for the then current snapshot. It reports its progress to
        a callback, and stops if the callback raises.
    """

    key: Hashable
    state: str
    make: Callable[[ProgressCallback], JobResult]


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Progress of a computation.

    Attributes
    ----------
    done, total : int
        Steps; 0 of 1 while the computation waits.
    state : str
        Snapshot of the index that the result is for.
    """

    done: int
    total: int
    state: str


@dataclass(slots=True)
class _Job:
    wanted: JobRequest
    done: int = 0
    total: int = 1


@dataclass(frozen=True, slots=True)
class _Result:
    made: JobResult | Problem
    state: str
    finished: float

    @property
    def nbytes(self) -> int:
        return self.made.nbytes if isinstance(self.made, JobResult) else 0


class Jobs:
    """Thread for computations that exceed the time limit of a request, and a cache of results.

    At most 8 computations wait. The cache keeps up to 16 results of at most 64 MB in total, the
    most recently requested. While documents are added, each moment has a new snapshot; then the
    cache returns a result for an older snapshot for some seconds, because a new result would never
    be ready.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._changed = threading.Condition(self._mutex)
        self._waiting: deque[_Job] = deque()
        self._running: _Job | None = None
        self._kept: OrderedDict[Hashable, _Result] = OrderedDict()
        self._closed = False
        self._thread: threading.Thread | None = None

    def ask(self, wanted: JobRequest) -> JobResult | JobProgress:
        """Return a cached result or the progress; start the computation if necessary.

        Raises
        ------
        Problem
            If the computation fails, or too many wait.
        """
        with self._mutex:
            kept = self._kept.get(wanted.key)
            if kept is not None:
                self._kept.move_to_end(wanted.key)
                fresh = time.monotonic() - kept.finished < _FRESH
                if isinstance(kept.made, Problem):
                    passing = kept.made.code == "unavailable"  # the disk may be available again
                    if kept.state == wanted.state and (fresh or not passing):
                        raise kept.made.again()
                elif fresh or kept.state == wanted.state:
                    return kept.made
            for job in (self._running, *self._waiting):
                if job is not None and job.wanted.key == wanted.key:
                    return JobProgress(job.done, job.total, job.wanted.state)
            self._begin(_Job(wanted))
            return JobProgress(0, 1, wanted.state)

    def close(self, timeout: float = 5.0) -> None:
        """Stop the running computation, and drop the waiting ones."""
        with self._mutex:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout)

    def _begin(self, job: _Job) -> None:
        if self._closed:
            raise Problem("busy", "The server is stopping. Try again in a moment.")
        if len(self._waiting) >= _MOST_WAITING:
            raise Problem(
                "busy",
                f"At most {_MOST_WAITING} maps, clusterings, or topic models may wait; the queue "
                "is full. Try again in a moment.",
            )
        self._waiting.append(job)
        if self._thread is None:
            # A daemon thread, so that a computation that cannot be stopped does not keep the
            # process alive.
            self._thread = threading.Thread(target=self._work, name="textkin-jobs", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._mutex:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                job = self._running = self._waiting.popleft()
            result = self._result_of(job)
            with self._mutex:
                self._running = None
                if result is not None:
                    self._keep(job.wanted.key, result)

    def _result_of(self, job: _Job) -> _Result | None:
        def progress(done: int, total: int) -> None:
            if self._closed:
                raise _Cancelled
            job.done, job.total = done, max(1, total)

        try:
            made: JobResult | Problem = job.wanted.make(progress)
        except _Cancelled:
            return None
        except Exception as error:  # reported to clients; nothing waits here
            made = problem_of(error)
        state = made.state if isinstance(made, JobResult) else job.wanted.state
        return _Result(made, state, time.monotonic())

    def _keep(self, key: Hashable, result: _Result) -> None:
        self._kept[key] = result
        self._kept.move_to_end(key)
        size = sum(kept.nbytes for kept in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > _MOST_KEPT or size > _MOST_BYTES):
            size -= self._kept.popitem(last=False)[1].nbytes


def encoded(answer: BaseModel) -> bytes:
    """Return a response in encoded form."""
    return answer.model_dump_json().encode()
