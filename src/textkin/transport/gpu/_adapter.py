"""Adapter between the search on a GPU and the core, which computes exact distances."""

from typing import TYPE_CHECKING

import numpy as np

from textkin import _core
from textkin._base import BoolArray, Float32Array, Float64Array, Int64Array
from textkin.corpus import DocumentRows, RankedRows
from textkin.device import memory_errors_on, torch_device
from textkin.run import ProgressCallback, stop_check
from textkin.transport._core_search import SearchOptions
from textkin.transport._solver import CostName
from textkin.transport.gpu._corpus import WIDEST, DeviceCorpus
from textkin.transport.gpu._matrices import Side, centroid_matrix, relaxed_matrix
from textkin.transport.gpu._ranking import rank
from textkin.transport.gpu._rows import HostRows
from textkin.transport.gpu._search import Candidates, DeviceHits, DeviceRequest, Solved, search

if TYPE_CHECKING:
    from textkin.transport._engine import TransportEngine

__all__ = ["SearchOnDevice", "centroids_on_device", "relaxed_on_device"]

_SIDES: dict[str, Side] = {"rwmd": "both", "rwmd-query": "query", "rwmd-document": "document"}
_FEWER = "Pass fewer documents at a time"
_VERDICT = {name: number for number, name in enumerate(_core.VERDICTS)}
_STAGE = {name: number for number, name in enumerate(_core.STAGES)}


class SearchOnDevice:
    """Exact nearest-neighbor search whose lower bounds are computed on a GPU.

    Parameters
    ----------
    engine : TransportEngine
        Engine with the documents.
    options : SearchOptions
        Options with ``device``, ``device_memory``, and ``memory``.

    Notes
    -----
    It does not reference the engine, which references it: the memory of the GPU is released
    together with the engine.
    """

    def __init__(self, engine: "TransportEngine", options: SearchOptions) -> None:
        documents = host_rows(engine.rows.documents())
        self._empty = np.diff(documents.indptr) == 0
        self._empty_before, self._shown_before = _counted(self._empty, None)
        self._there = _device_corpus(engine.table.vectors, engine.cost, documents, options)

    def search(
        self,
        engine: "TransportEngine",
        queries: DocumentRows,
        options: SearchOptions,
        *,
        without: Int64Array | None = None,
        from_row: Int64Array | None = None,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Find the nearest documents of each query; `engine` owns this search."""
        assert options.device is not None
        masked = None if options.mask is None else options.mask == 0
        documents = queries.documents()
        asked = host_rows(documents)
        lengths = np.diff(asked.indptr)
        long = lengths > WIDEST
        laid_out = _without_words(asked, long) if long.any() else asked
        wanted = DeviceRequest(laid_out, options.k, options.radius, masked, without, from_row)
        watched = _watched(progress, len(queries), int(np.count_nonzero(lengths == 0)))
        with memory_errors_on(options.device):
            if options.plan in _SIDES:
                found = rank(self._there, wanted, _SIDES[options.plan], watched)
            else:
                solver = _Solver(engine, documents, options)
                found = search(self._there, wanted, solver, watched)
        ranked = self._ranked(found, wanted, lengths)
        for q in np.flatnonzero(long).tolist():  # queries that are too long for the GPU
            one = engine.core.search(
                queries[q : q + 1].documents(),
                options,
                without=None if without is None else without[q : q + 1],
                from_row=None if from_row is None else from_row[q : q + 1],
                progress=stop_check(),
            )
            ranked = ranked.with_query(q, one)
        if progress is not None:
            progress(len(queries), len(queries))
        return ranked

    def _ranked(self, found: DeviceHits, wanted: DeviceRequest, lengths: Int64Array) -> RankedRows:
        """Convert the result of the GPU search to `RankedRows`, with counts of all verdicts."""
        counts = np.array([len(rows) for rows in found.rows], dtype=np.int64)
        findable, empty = (n * (lengths > 0) for n in self._findable(wanted, len(lengths)))
        looked_at = np.maximum(found.refined, found.solved)
        verdicts = np.zeros((len(lengths), len(_VERDICT)), dtype=np.int64)
        verdicts[:, _VERDICT["empty"]] = empty
        verdicts[:, _VERDICT["left_out"]] = len(self._empty) - findable - empty
        verdicts[:, _VERDICT["solved"]] = found.solved
        verdicts[:, _VERDICT["refined"]] = looked_at - found.solved
        verdicts[:, _VERDICT["document_side"]] = findable - looked_at
        seconds = np.zeros((len(lengths), len(_STAGE)))
        seconds[:, _STAGE["bound"]] = found.seconds[:, 0]
        seconds[:, _STAGE["solve"]] = found.seconds[:, 1]
        return RankedRows(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([np.empty(0, np.int64), *found.rows]),
            np.concatenate([np.empty(0), *found.distances]),
            True,
            {"verdicts": verdicts, "refined": found.refined, "seconds": seconds},
        )

    def _findable(self, wanted: DeviceRequest, queries: int) -> tuple[Int64Array, Int64Array]:
        """Return the numbers of nonempty and of empty documents that each query may find."""
        count = len(self._empty)
        empty_before, shown_before = self._empty_before, self._shown_before
        if wanted.masked is not None:
            empty_before, shown_before = _counted(self._empty, ~wanted.masked)
        begin = np.zeros(queries, np.int64) if wanted.from_row is None else wanted.from_row
        begin = np.clip(begin, 0, count)
        findable = shown_before[count] - shown_before[begin]
        empty = empty_before[count] - empty_before[begin]
        if wanted.without is not None:
            mine = (wanted.without >= begin) & (wanted.without < count)
            own = np.where(mine, wanted.without, 0)
            if wanted.masked is not None:
                mine &= ~wanted.masked[own]
            findable = findable - (mine & ~self._empty[own])
            empty = empty - (mine & self._empty[own])
        return findable, empty


class _Solver:
    """Callable that computes exact distances of the GPU's candidate documents on the CPU."""

    def __init__(
        self, engine: "TransportEngine", queries: _core.Documents, options: SearchOptions
    ) -> None:
        self._core, self._queries, self._options = engine.core, queries, options

    def __call__(self, candidates: Candidates, progress: ProgressCallback) -> Solved:
        return self._core.solve(
            self._queries,
            candidates.numbers,
            candidates.starts,
            candidates.rows,
            candidates.bounds,
            candidates.limits,
            self._options,
            progress,
        )


def _counted(empty: BoolArray, shown: BoolArray | None) -> tuple[Int64Array, Int64Array]:
    """Return cumulative counts of empty and of nonempty documents that the mask allows."""
    both = (empty, ~empty) if shown is None else (empty & shown, ~empty & shown)
    bare, full = (np.concatenate([[0], np.cumsum(which)]).astype(np.int64) for which in both)
    return bare, full


def host_rows(documents: _core.Documents, *, wide: bool = False) -> HostRows:
    """Convert documents to `HostRows`, with word weights in float32, or float64 if `wide`."""
    indptr, words, shares = documents.shares()
    return HostRows(indptr, words, shares if wide else shares.astype(np.float32))


def centroids_on_device(
    table: Float32Array,
    cost: CostName,
    rows: _core.Documents,
    columns: _core.Documents,
    device: str,
) -> Float64Array:
    """Compute the matrix of distances between the centroids of two collections on a GPU."""
    torch_device(device)
    # For nearly equal centroids, the float32 error of the masses would be visible.
    first, second = host_rows(rows, wide=True), host_rows(columns, wide=True)
    with memory_errors_on(device, _FEWER):
        return centroid_matrix(table, cost, first, second, device)


def relaxed_on_device(
    table: Float32Array,
    cost: CostName,
    rows: _core.Documents,
    columns: _core.Documents,
    side: Side,
    options: SearchOptions,
) -> Float64Array:
    """Compute the matrix of Relaxed Word Mover's Distances of two collections on a GPU."""
    there = _device_corpus(table, cost, host_rows(columns), options)
    assert options.device is not None
    with memory_errors_on(options.device, _FEWER):
        return relaxed_matrix(there, host_rows(rows), side)


def _device_corpus(
    table: Float32Array, cost: CostName, documents: HostRows, options: SearchOptions
) -> DeviceCorpus:
    assert options.device is not None
    torch_device(options.device)
    with memory_errors_on(options.device):
        return DeviceCorpus(
            table,
            cost,
            documents,
            device=options.device,
            memory=options.table_memory,
            resident=options.device_memory,
        )


def _without_words(rows: HostRows, which: BoolArray) -> HostRows:
    lengths = np.diff(rows.indptr)
    kept = np.repeat(~which, lengths)
    indptr = np.concatenate([[0], np.cumsum(np.where(which, 0, lengths))]).astype(np.int64)
    return HostRows(indptr, rows.words[kept], rows.masses[kept])


def _watched(
    progress: ProgressCallback | None, queries: int, before: int
) -> ProgressCallback | None:
    """Return a callback that reports finished queries, and raises after a cancellation."""
    check = stop_check()
    if check is None and progress is None:
        return None

    def told(done: int, total: int) -> None:
        for ask in (check, progress):
            if ask is not None:
                ask(before + done, queries)

    return told
