"""Long computations in the background: one at a time, kept while the index stays as it is."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from textkin.run import ProgressCallback
from textkin.web._problems import Problem, problem_of

__all__ = ["Jobs", "Made", "Progress", "Wanted", "encoded", "part_of"]

_MOST_WAITING = 8
_MOST_KEPT = 16
_MOST_BYTES = 64 << 20
_FRESH = 20.0  # seconds for which an answer of an older state will do


class _Cancelled(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Made:
    """What was computed.

    Attributes
    ----------
    state : str
        The state of the index that it is of.
    answers : mapping of str to bytes
        By name, ready to be sent.
    """

    state: str
    answers: Mapping[str, bytes]

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return sum(map(len, self.answers.values()))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for.

    Attributes
    ----------
    key : hashable
        All of it, but for the state.
    state : str
        The present state of the index.
    make : callable
        Computes it in the state that is present then, telling a progress callback how far it is;
        what that raises ends it.
    """

    key: Hashable
    state: str
    make: Callable[[ProgressCallback], Made]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a computation has come.

    Attributes
    ----------
    done, total : int
        Steps; 0 of 1 while it waits.
    state : str
        The state of the index that it is of.
    """

    done: int
    total: int
    state: str


@dataclass(slots=True)
class _Job:
    wanted: Wanted
    done: int = 0
    total: int = 1


@dataclass(frozen=True, slots=True)
class _Result:
    made: Made | Problem
    state: str
    finished: float

    @property
    def nbytes(self) -> int:
        return self.made.nbytes if isinstance(self.made, Made) else 0


class Jobs:
    """A thread that computes what takes longer than a request may, and what it has computed.

    Computations wait in a row of at most 8; up to 16 answers of 64 MB in all are kept, those that
    were asked for last. While documents are added, every moment has another state: then an answer
    of an older one is given for some seconds, rather than none ever.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._changed = threading.Condition(self._mutex)
        self._waiting: deque[_Job] = deque()
        self._running: _Job | None = None
        self._kept: OrderedDict[Hashable, _Result] = OrderedDict()
        self._closed = False
        self._thread: threading.Thread | None = None

    def ask(self, wanted: Wanted) -> Made | Progress:
        """Return what was computed, or how far that is; it is begun if nobody has asked before.

        Raises
        ------
        Problem
            If it cannot be computed, or too many wait.
        """
        with self._mutex:
            kept = self._kept.get(wanted.key)
            if kept is not None:
                self._kept.move_to_end(wanted.key)
                fresh = time.monotonic() - kept.finished < _FRESH
                if isinstance(kept.made, Problem):
                    passing = kept.made.code == "unavailable"  # the disk may be back
                    if kept.state == wanted.state and (fresh or not passing):
                        raise kept.made.again()
                elif fresh or kept.state == wanted.state:
                    return kept.made
            for job in (self._running, *self._waiting):
                if job is not None and job.wanted.key == wanted.key:
                    return Progress(job.done, job.total, job.wanted.state)
            self._begin(_Job(wanted))
            return Progress(0, 1, wanted.state)

    def close(self, timeout: float = 5.0) -> None:
        """End what runs, and forget what waits."""
        with self._mutex:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout)

    def _begin(self, job: _Job) -> None:
        if self._closed:
            raise Problem("busy", "The server is ending; try again in a moment.")
        if len(self._waiting) >= _MOST_WAITING:
            raise Problem(
                "busy",
                f"{_MOST_WAITING} maps, clusterings or topic models are waiting already; try "
                "again in a moment.",
            )
        self._waiting.append(job)
        if self._thread is None:
            # A daemon, so that a computation that cannot be ended does not keep the process.
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
            made: Made | Problem = job.wanted.make(progress)
        except _Cancelled:
            return None
        except Exception as error:  # told to whoever asks; nobody waits here
            made = problem_of(error)
        state = made.state if isinstance(made, Made) else job.wanted.state
        return _Result(made, state, time.monotonic())

    def _keep(self, key: Hashable, result: _Result) -> None:
        self._kept[key] = result
        self._kept.move_to_end(key)
        size = sum(kept.nbytes for kept in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > _MOST_KEPT or size > _MOST_BYTES):
            size -= self._kept.popitem(last=False)[1].nbytes


def part_of(progress: ProgressCallback, start: int, end: int, total: int = 100) -> ProgressCallback:
    """Return a callback for a part of the work, from one step to another."""

    def tell(done: int, all_: int) -> None:
        progress(start + (end - start) * done // max(1, all_), total)

    return tell


def encoded(answer: BaseModel) -> bytes:
    """Return an answer as it is sent."""
    return answer.model_dump_json().encode()
