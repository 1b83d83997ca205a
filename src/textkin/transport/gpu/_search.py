"""Exact nearest-neighbor search: the GPU selects candidates by lower bounds, the CPU solves.

For each batch of queries, the GPU computes the cost of moving every document to the nearest words
of a query, in one pass over the corpus. It computes a tighter bound for the most promising
documents, and the caller computes exact distances of the best of them, which limit the distance of
the k-th nearest document. The same steps follow for all other documents that this limit does not
exclude. While distances of one batch are computed, the GPU works on the next batch.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from textkin._base import BoolArray, Float32Array, Float64Array, Int64Array
from textkin.run import ProgressCallback
from textkin.transport.gpu._bounds import PaddedQueries, document_side, lowered, refined
from textkin.transport.gpu._corpus import DeviceCorpus, QueryBatch
from textkin.transport.gpu._rows import DeviceRows, HostRows

if TYPE_CHECKING:
    import torch

__all__ = ["Candidates", "DeviceHits", "DeviceRequest", "Solve", "Solved", "hide", "search"]

_FIRST = 1024  # documents considered before a limit is known
# Relative amount by which a reported distance may be below the optimum; see nearest_hits.h (core).
_REPORTED_ERROR = 2e-6
_PATIENCE = 0.1  # seconds between two checks for cancellation


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Candidate documents of several queries as CSR rows, to be solved exactly on the CPU.

    Attributes
    ----------
    numbers : ndarray of int64
        Positions of the queries.
    starts, rows : ndarray of int64
        Documents of the i-th query: ``rows[starts[i]:starts[i + 1]]``.
    bounds : ndarray of float64
        Lower bounds of their distances, ascending for each query.
    limits : ndarray of float64
        Maximum distance of the hits of each query.
    """

    numbers: Int64Array
    starts: Int64Array
    rows: Int64Array
    bounds: Float64Array
    limits: Float64Array


Solved: TypeAlias = tuple[Int64Array, Int64Array, Float64Array, Int64Array]
"""Starts, rows, and distances of the nearest candidates, and number of computed distances."""


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRequest:
    """Search request for the GPU: query documents, number of hits, radius, and masks.

    Attributes
    ----------
    queries : HostRows
        Queries over the rows of the corpus's vectors.
    k : int or None
        Maximum number of documents per query. If None, no limit.
    radius : float
        Maximum distance.
    masked : ndarray of bool of shape (n_documents,), or None
        True for documents that must not be found; documents without words are never found. If
        None, no document is masked.
    without, from_row : ndarray of int64, or None
        Document that each query must not find (or -1), and first document to search.
    """

    queries: HostRows
    k: int | None
    radius: float
    masked: BoolArray | None = None
    without: Int64Array | None = None
    from_row: Int64Array | None = None


@dataclass(slots=True, eq=False)
class DeviceHits:
    """Best hits of each query up to now, and counts of computed bounds and distances.

    Attributes
    ----------
    rows, distances : list of ndarray
        Hits by distance, then by row.
    solved, refined : ndarray of int64
        Number of computed distances, and of computed tight bounds.
    seconds : ndarray of shape (n_queries, 2), float64
        Time on the GPU (including waiting for it), and time for distances, which is divided
        equally among the queries of a batch.
    """

    rows: list[Int64Array]
    distances: list[Float64Array]
    solved: Int64Array
    refined: Int64Array
    seconds: Float64Array

    @classmethod
    def nothing(cls, queries: int) -> "DeviceHits":
        """Create a `Found` without hits for a number of queries."""
        return cls(
            [np.empty(0, np.int64)] * queries,
            [np.empty(0)] * queries,
            np.zeros(queries, np.int64),
            np.zeros(queries, np.int64),
            np.zeros((queries, 2)),
        )

    def limits(self, numbers: Int64Array, k: int | None, radius: float) -> Float64Array:
        """Return for each query the largest distance that a document may have to become a hit."""
        return np.array(
            [
                self.distances[q][k - 1] if k is not None and len(self.rows[q]) >= k else radius
                for q in numbers
            ]
        )

    def add(self, numbers: Int64Array, solved: Solved, k: int | None) -> None:
        """Merge documents with computed exact distances into the best hits of their queries."""
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
    wanted: DeviceRequest,
    solve: Solve,
    progress: ProgressCallback | None = None,
) -> DeviceHits:
    """Find the documents with the smallest exact distance to each query, as `Found`.

    Parameters
    ----------
    corpus : DeviceCorpus
        Documents.
    wanted : DeviceRequest
        Search request; queries without words find nothing.
    solve : callable
        Function of `Candidates` and a callback that returns the nearest candidates by exact
        distances. It runs in a separate thread and calls the callback from time to time; the
        callback raises if the search has ended.
    progress : callable, optional
        Function that is called from time to time with (queries done, number of queries); an
        exception in it ends the search.

    Returns
    -------
    DeviceHits
        The same hits as in a comparison with every document.
    """
    found = DeviceHits.nothing(len(wanted.queries))
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
    """Background thread that solves candidates on the CPU, and always ends with the search."""

    def __init__(self, solve: Solve, tell: Callable[[], None]) -> None:
        self._solve, self._tell = solve, tell
        self._ended = Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="textkin-solve")

    def __enter__(self) -> "_Solver":
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()  # the search is complete, or was aborted
        self._thread.shutdown(wait=True, cancel_futures=True)

    def submit(self, candidates: Candidates) -> "Future[tuple[Solved, float]]":
        """Submit candidates to the solver thread; return a future of their distances."""
        return self._thread.submit(self._timed, candidates)

    def result(self, future: "Future[tuple[Solved, float]]") -> tuple[Solved, float]:
        """Wait for the distances of submitted candidates, while progress is reported."""
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
    bounds: "torch.Tensor",
    documents: DeviceRows,
    wanted: DeviceRequest,
    numbers: Int64Array,
    begin: int,
) -> None:
    """Set the bounds of documents that a query must not find to infinity, in place.

    Parameters
    ----------
    bounds : Tensor of shape (n_queries, n_rows)
        Bounds of the queries `numbers` and the documents; changed in place.
    documents : DeviceRows
        Documents; a document without words is never found.
    wanted : DeviceRequest
        Search request.
    numbers : ndarray of int64
        Positions of the queries.
    begin : int
        Position of the first document in the corpus.
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
    """Batch of queries whose first candidates are being solved."""

    batch: QueryBatch
    asked: PaddedQueries | None  # released when all its pairs are bounded
    bounds: "torch.Tensor"  # in units, for all documents that are not decided
    candidates: Candidates | None = None
    future: "Future[tuple[Solved, float]] | None" = None
    seconds: float = 0.0
    refined: Int64Array = field(default_factory=lambda: np.empty(0, np.int64))


class _Part:
    """Search in one part of the documents, which has been copied to the GPU."""

    def __init__(
        self,
        corpus: DeviceCorpus,
        rows: DeviceRows,
        begin: int,
        wanted: DeviceRequest,
        found: DeviceHits,
        solver: _Solver,
    ) -> None:
        self.corpus, self.rows, self.begin = corpus, rows, begin
        self.wanted, self.found, self.solver = wanted, found, solver

    def run(self, batches: list[QueryBatch]) -> Iterator[QueryBatch]:
        """Search all batches of queries, two at a time; yield each finished batch."""
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
        """Compute bounds of all documents for a batch, and submit the most promising candidates."""
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
        # These are decided: they were submitted, or are farther than submitted ones.
        bounds.scatter_(1, documents, float("inf"))

    def _go_on(self, under_way: _UnderWay) -> _UnderWay:
        """Submit all other documents whose bounds do not exceed the distances found so far."""
        import torch

        self._take_in(under_way)
        began = perf_counter()
        limits = self.found.limits(under_way.batch.numbers, self.wanted.k, self.wanted.radius)
        most = torch.tensor(self._in_units(limits), device=self.corpus.device)
        bounds = under_way.bounds
        chosen = (bounds <= most[:, None]) & torch.isfinite(bounds)
        queries, documents = chosen.nonzero(as_tuple=True)
        self._submit(under_way, queries, documents, bounds[queries, documents], limits)
        under_way.bounds, under_way.asked = bounds.new_empty(0), None  # releases large tables
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
        """Convert distance limits to units of the integer bounds, rounded up."""
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
        """Compute tight bounds of given pairs; submit the pairs below the limits to the solver."""
        import torch

        assert under_way.asked is not None
        size = len(under_way.batch)
        under_way.refined += torch.bincount(queries, minlength=size).cpu().numpy()
        closer = torch.maximum(refined(self.rows, under_way.asked, queries, documents), bounds)
        most = torch.tensor(self._in_units(limits), device=bounds.device)
        near = closer <= most[queries]
        queries, documents, closer = queries[near], documents[near], closer[near]
        # Sort by bound, then stably by query.
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
        """Wait for the distances of submitted candidates, and merge them into the best hits."""
        if under_way.future is None or under_way.candidates is None:
            return
        solved, seconds = self.solver.result(under_way.future)
        self.found.add(under_way.candidates.numbers, solved, self.wanted.k)
        numbers = under_way.batch.numbers
        self.found.seconds[numbers, 1] += seconds / len(numbers)
        under_way.candidates = under_way.future = None
