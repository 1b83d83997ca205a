"""The exact search with bounds on a device: it chooses who is compared, somebody else compares.

For each batch of queries: the cost of moving every document to the nearest words of a query, which
takes one pass over the corpus; a closer bound of the most promising documents; exact distances of
the best of these, which say how far the k-th nearest is at most. Then the same for all other
documents that this limit does not exclude. While distances of one batch are computed, the device
is at work on the next.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from textkin._typing import BoolArray, Float32Array, Float64Array, Int64Array
from textkin.device._bounds import Asked, document_side, lowered, refined
from textkin.device._corpus import DeviceCorpus, QueryBatch
from textkin.device._rows import DeviceRows, HostRows
from textkin.run import ProgressCallback

if TYPE_CHECKING:
    import torch

__all__ = ["Candidates", "Found", "Solve", "Solved", "Wanted", "hide", "search"]

_FIRST = 1024  # documents that are looked at before anything is known of a limit
# A reported distance may be below the optimum by as much, relative; see the core's nearest.h.
_REPORTED_ERROR = 2e-6
_PATIENCE = 0.1  # seconds between two looks at whether the search is to end


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Documents that some queries may find, as rows of a CSR matrix.

    Attributes
    ----------
    numbers : ndarray of int64
        The queries.
    starts, rows : ndarray of int64
        Documents of the i-th query: those from ``starts[i]`` to ``starts[i + 1]``.
    bounds : ndarray of float64
        What their distances are not below; ascending for each query.
    limits : ndarray of float64
        How far the hits of each query may be.
    """

    numbers: Int64Array
    starts: Int64Array
    rows: Int64Array
    bounds: Float64Array
    limits: Float64Array


Solved: TypeAlias = tuple[Int64Array, Int64Array, Float64Array, Int64Array]
"""Starts, rows and distances of the nearest candidates, and how many distances that took."""


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """What is searched for.

    Attributes
    ----------
    queries : HostRows
        Over the rows of the corpus's vectors.
    k : int or None
        How many documents at most; None: no limit.
    radius : float
        How far they may be.
    masked : ndarray of bool of shape (n_documents,), or None
        Which documents are not to be found, beside those without words; None: none.
    without, from_row : ndarray of int64, or None
        A document that each query leaves out (-1: none), and from which on it looks.
    """

    queries: HostRows
    k: int | None
    radius: float
    masked: BoolArray | None = None
    without: Int64Array | None = None
    from_row: Int64Array | None = None


@dataclass(slots=True, eq=False)
class Found:
    """What each query has found so far, and what it took.

    Attributes
    ----------
    rows, distances : list of ndarray
        By distance, then by row.
    solved, refined : ndarray of int64
        How many distances were computed, and close bounds.
    seconds : ndarray of shape (n_queries, 2), float64
        On the device (and until it was done), and for distances, shared by those of a batch.
    """

    rows: list[Int64Array]
    distances: list[Float64Array]
    solved: Int64Array
    refined: Int64Array
    seconds: Float64Array

    @classmethod
    def nothing(cls, queries: int) -> "Found":
        """Return what is known at the beginning."""
        return cls(
            [np.empty(0, np.int64)] * queries,
            [np.empty(0)] * queries,
            np.zeros(queries, np.int64),
            np.zeros(queries, np.int64),
            np.zeros((queries, 2)),
        )

    def limits(self, numbers: Int64Array, k: int | None, radius: float) -> Float64Array:
        """Return how far a document may be and still be among the nearest."""
        return np.array(
            [
                self.distances[q][k - 1] if k is not None and len(self.rows[q]) >= k else radius
                for q in numbers
            ]
        )

    def add(self, numbers: Int64Array, solved: Solved, k: int | None) -> None:
        """Take in the nearest of some candidates of some queries."""
        starts, rows, distances, counts = solved
        for i, q in enumerate(numbers.tolist()):
            self.solved[q] += counts[i]
            new = slice(int(starts[i]), int(starts[i + 1]))
            if new.start == new.stop:
                continue
            both = np.concatenate([self.distances[q], distances[new]])
            who = np.concatenate([self.rows[q], rows[new]])
            order = np.lexsort((who, both))[:k]
            self.rows[q], self.distances[q] = who[order], both[order]


Solve: TypeAlias = Callable[[Candidates, ProgressCallback], Solved]


def search(
    corpus: DeviceCorpus,
    wanted: Wanted,
    solve: Solve,
    progress: ProgressCallback | None = None,
) -> Found:
    """Find the nearest documents of every query.

    Parameters
    ----------
    corpus : DeviceCorpus
        The documents.
    wanted : Wanted
        The queries; those without words find nothing.
    solve : callable
        Gets `Candidates` and a callback, gives the nearest of them by exact distances. It runs in
        a thread of its own, and calls the callback now and then: that raises where the search has
        ended.
    progress : callable, optional
        Called now and then with the queries done and their number; what it raises ends the search.

    Returns
    -------
    Found
        What comparing with every document would find.
    """
    found = Found.nothing(len(wanted.queries))
    batches = list(corpus.batches(wanted.queries))
    done, total, parts = 0, sum(len(batch) for batch in batches), corpus.n_parts

    def tell() -> None:
        if progress is not None:
            progress(done // parts, total)

    with _Solver(solve, tell) as solver:
        for begin, rows in corpus.parts():
            part = _Part(corpus, rows, begin, wanted, found, solver)
            for batch in part.run(batches):
                done += len(batch)
                tell()
    return found


class _Solver:
    """A thread that compares, and ends with the search: by an error, a callback or Ctrl-C."""

    def __init__(self, solve: Solve, tell: Callable[[], None]) -> None:
        self._solve, self._tell = solve, tell
        self._ended = Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="textkin-solve")

    def __enter__(self) -> "_Solver":
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()  # all that was asked for is there, or nobody waits for it
        self._thread.shutdown(wait=True, cancel_futures=True)

    def submit(self, candidates: Candidates) -> "Future[tuple[Solved, float]]":
        """Have candidates compared."""
        return self._thread.submit(self._timed, candidates)

    def result(self, future: "Future[tuple[Solved, float]]") -> tuple[Solved, float]:
        """Wait for what was found, and say now and then that work goes on."""
        while not wait([future], _PATIENCE).done:
            self._tell()
        return future.result()

    def _timed(self, candidates: Candidates) -> tuple[Solved, float]:
        began = perf_counter()
        return self._solve(candidates, self._look), perf_counter() - began

    def _look(self, done: int, total: int) -> None:
        if self._ended.is_set():
            raise CancelledError


def hide(
    bounds: "torch.Tensor", documents: DeviceRows, wanted: Wanted, numbers: Int64Array, begin: int
) -> None:
    """Put documents that queries must not find infinitely far away.

    Parameters
    ----------
    bounds : Tensor of shape (n_queries, n_rows)
        Of the queries `numbers` and the documents; changed.
    documents : DeviceRows
        Those without words are never found.
    wanted : Wanted
        What is searched for.
    numbers : ndarray of int64
        The queries.
    begin : int
        The position of the first document among all.
    """
    import torch

    device, rows = bounds.device, bounds.shape[1]
    bounds.masked_fill_(documents.lengths == 0, float("inf"))
    if wanted.masked is not None:
        masked = torch.tensor(wanted.masked[begin : begin + rows], device=device)
        bounds.masked_fill_(masked, float("inf"))
    if wanted.without is not None:
        without = wanted.without[numbers] - begin
        mine = np.flatnonzero((without >= 0) & (without < rows))
        places = torch.tensor(without[mine], device=device)
        bounds[torch.tensor(mine, device=device), places] = float("inf")
    if wanted.from_row is not None:
        starts = torch.tensor(wanted.from_row[numbers] - begin, device=device)
        positions = torch.arange(rows, device=device)
        bounds.masked_fill_(positions < starts[:, None], float("inf"))


@dataclass(slots=True, eq=False)
class _UnderWay:
    """A batch whose first distances are being computed."""

    batch: QueryBatch
    asked: Asked | None  # until all its pairs are bounded
    bounds: "torch.Tensor"  # in units, of all documents that are not decided
    candidates: Candidates | None = None
    future: "Future[tuple[Solved, float]] | None" = None
    seconds: float = 0.0
    refined: Int64Array = field(default_factory=lambda: np.empty(0, np.int64))


class _Part:
    """The search of some documents that are on the device."""

    def __init__(
        self,
        corpus: DeviceCorpus,
        rows: DeviceRows,
        begin: int,
        wanted: Wanted,
        found: Found,
        solver: _Solver,
    ) -> None:
        self.corpus, self.rows, self.begin = corpus, rows, begin
        self.wanted, self.found, self.solver = wanted, found, solver

    def run(self, batches: list[QueryBatch]) -> Iterator[QueryBatch]:
        """Search for one batch after another, two of them under way at a time."""
        first: deque[_UnderWay] = deque()
        second: deque[_UnderWay] = deque()
        for batch in batches:
            first.append(self._begin(batch))
            if len(first) > 1:
                second.append(self._go_on(first.popleft()))
            if len(second) > 1:
                yield self._finish(second.popleft())
        while first:
            second.append(self._go_on(first.popleft()))
        while second:
            yield self._finish(second.popleft())

    # ------------------------------------------------------------------ steps of a batch

    def _begin(self, batch: QueryBatch) -> _UnderWay:
        """Bound all documents, and have the most promising ones compared."""
        began = perf_counter()
        asked = self.corpus.lay_out(self.wanted.queries, batch)
        nearest = asked.costs.amin(2).T.float().contiguous()
        bounds = lowered(document_side(self.rows, nearest), self.rows.lengths)
        hide(bounds, self.rows, self.wanted, batch.numbers, self.begin)
        under_way = _UnderWay(batch, asked, bounds)
        under_way.refined = np.zeros(len(batch), np.int64)
        limits = self.found.limits(batch.numbers, self.wanted.k, self.wanted.radius)
        if np.isinf(limits).any() and self.wanted.k is not None:
            self._compare_first(under_way, limits)
        under_way.seconds += perf_counter() - began
        return under_way

    def _compare_first(self, under_way: _UnderWay, limits: Float64Array) -> None:
        import torch

        k = self.wanted.k or 0
        bounds = under_way.bounds
        count = min(max(_FIRST, 4 * k), bounds.shape[1])
        least, documents = torch.topk(bounds, count, dim=1, largest=False, sorted=False)
        queries = torch.arange(len(bounds), device=bounds.device)[:, None].expand_as(documents)
        there = torch.isfinite(least)
        pairs = queries[there], documents[there]
        self._submit(under_way, *pairs, least[there], limits)
        # These are decided: compared, or farther than some that were.
        bounds.scatter_(1, documents, float("inf"))

    def _go_on(self, under_way: _UnderWay) -> _UnderWay:
        """Have all others compared that the limit of the first does not exclude."""
        import torch

        self._take_in(under_way)
        began = perf_counter()
        limits = self.found.limits(under_way.batch.numbers, self.wanted.k, self.wanted.radius)
        most = torch.tensor(self._in_units(limits), device=self.corpus.device)
        bounds = under_way.bounds
        chosen = (bounds <= most[:, None]) & torch.isfinite(bounds)
        queries, documents = chosen.nonzero(as_tuple=True)
        self._submit(under_way, queries, documents, bounds[queries, documents], limits)
        under_way.bounds, under_way.asked = bounds.new_empty(0), None  # a table is large
        under_way.seconds += perf_counter() - began
        return under_way

    def _finish(self, under_way: _UnderWay) -> QueryBatch:
        self._take_in(under_way)
        numbers = under_way.batch.numbers
        self.found.refined[numbers] += under_way.refined
        self.found.seconds[numbers, 0] += under_way.seconds / len(numbers)
        return under_way.batch

    # ------------------------------------------------------------------ candidates

    def _in_units(self, limits: Float64Array) -> Float32Array:
        """Return the largest bounds that limits do not exclude, rounded up."""
        with np.errstate(over="ignore"):
            most = limits / (self.corpus.value * (1 - _REPORTED_ERROR))
            return np.nextafter(most.astype(np.float32), np.float32(np.inf))

    def _submit(
        self,
        under_way: _UnderWay,
        queries: "torch.Tensor",
        documents: "torch.Tensor",
        bounds: "torch.Tensor",
        limits: Float64Array,
    ) -> None:
        """Bound some pairs closely, and have those compared that are near enough."""
        import torch

        assert under_way.asked is not None
        size = len(under_way.batch)
        under_way.refined += torch.bincount(queries, minlength=size).cpu().numpy()
        closer = torch.maximum(refined(self.rows, under_way.asked, queries, documents), bounds)
        most = torch.tensor(self._in_units(limits), device=bounds.device)
        near = closer <= most[queries]
        queries, documents, closer = queries[near], documents[near], closer[near]
        # By bound, then, keeping that order, by query.
        order = torch.argsort(closer)
        order = order[torch.argsort(queries[order], stable=True)]
        counts = torch.bincount(queries, minlength=size).cpu().numpy()
        candidates = Candidates(
            under_way.batch.numbers,
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            documents[order].cpu().numpy() + self.begin,
            closer[order].double().cpu().numpy() * self.corpus.value,
            limits,
        )
        under_way.candidates = candidates
        under_way.future = self.solver.submit(candidates)

    def _take_in(self, under_way: _UnderWay) -> None:
        """Wait for what is being compared, and keep what was found."""
        if under_way.future is None or under_way.candidates is None:
            return
        solved, seconds = self.solver.result(under_way.future)
        self.found.add(under_way.candidates.numbers, solved, self.wanted.k)
        numbers = under_way.batch.numbers
        self.found.seconds[numbers, 1] += seconds / len(numbers)
        under_way.candidates = under_way.future = None
