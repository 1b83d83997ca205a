"""Bounds on a device for what the core reads and solves."""

from typing import TYPE_CHECKING

import numpy as np

from textkin import _core
from textkin._typing import BoolArray, Float32Array, Float64Array, Int64Array
from textkin.device._corpus import WIDEST, DeviceCorpus
from textkin.device._matrices import Side, centroid_matrix, relaxed_matrix
from textkin.device._ranking import rank
from textkin.device._rows import HostRows
from textkin.device._search import Candidates, Found, Solved, Wanted, search
from textkin.device._torch import told_if_out_of_memory, torch_device
from textkin.run import ProgressCallback, stop_check
from textkin.transport._blocks import Hits, Options
from textkin.transport._costs import CostName

if TYPE_CHECKING:
    from textkin.transport._corpus import Corpus, Rows

__all__ = ["SearchOnDevice", "centroids_on_device", "relaxed_on_device"]

_SIDES: dict[str, Side] = {"rwmd": "both", "rwmd-query": "query", "rwmd-document": "document"}
_FEWER = "Pass fewer documents at a time"
_VERDICT = {name: number for number, name in enumerate(_core.VERDICTS)}
_STAGE = {name: number for number, name in enumerate(_core.STAGES)}


class SearchOnDevice:
    """The documents of a corpus on a device.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    options : Options
        Where: ``device``, ``resident`` and ``memory``.

    Notes
    -----
    It does not know the corpus, which keeps it: the memory of the device is free as soon as the
    corpus is gone.
    """

    def __init__(self, corpus: "Corpus", options: Options) -> None:
        documents = host_rows(corpus.documents(corpus.rows))
        self._empty = np.diff(documents.indptr) == 0
        self._empty_before, self._shown_before = _counted(self._empty, None)
        self._there = _device_corpus(corpus.space.table, corpus.cost, documents, options)

    def search(
        self,
        corpus: "Corpus",
        queries: "Rows",
        options: Options,
        *,
        without: Int64Array | None = None,
        from_row: Int64Array | None = None,
        progress: ProgressCallback | None = None,
    ) -> Hits:
        """Find the nearest documents, which are those of `corpus`, of every query."""
        assert options.device is not None
        masked = None if options.mask is None else options.mask == 0
        documents = corpus.documents(queries)
        asked = host_rows(documents)
        lengths = np.diff(asked.indptr)
        long = lengths > WIDEST
        laid_out = _without_words(asked, long) if long.any() else asked
        wanted = Wanted(laid_out, options.k, options.radius, masked, without, from_row)
        watched = _watched(progress, len(queries), int(np.count_nonzero(lengths == 0)))
        with told_if_out_of_memory(options.device):
            if options.algorithm in _SIDES:
                found = rank(self._there, wanted, _SIDES[options.algorithm], watched)
            else:
                solver = _Solver(corpus, documents, options)
                found = search(self._there, wanted, solver, watched)
        hits = self._hits(found, wanted, lengths)
        for q in np.flatnonzero(long).tolist():  # these stay with the core
            one = corpus.blocks.search(
                corpus.documents(queries.part(q, q + 1)),
                options,
                without=None if without is None else without[q : q + 1],
                from_row=None if from_row is None else from_row[q : q + 1],
                progress=stop_check(),
            )
            hits = hits.with_query(q, one)
        if progress is not None:
            progress(len(queries), len(queries))
        return hits

    def _hits(self, found: Found, wanted: Wanted, lengths: Int64Array) -> Hits:
        """Return what was found as the core would, every document with a verdict."""
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
        return Hits(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([np.empty(0, np.int64), *found.rows]),
            np.concatenate([np.empty(0), *found.distances]),
            verdicts,
            found.refined,
            seconds,
        )

    def _findable(self, wanted: Wanted, queries: int) -> tuple[Int64Array, Int64Array]:
        """Return how many documents each query may find, and how many more are empty."""
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
    """Exact distances by the core, of the candidates of a device."""

    def __init__(self, corpus: "Corpus", queries: _core.Documents, options: Options) -> None:
        self._corpus, self._queries, self._options = corpus, queries, options

    def __call__(self, candidates: Candidates, progress: ProgressCallback) -> Solved:
        return self._corpus.blocks.solve(
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
    """Return how many documents before each are empty and how many not, of those shown."""
    both = (empty, ~empty) if shown is None else (empty & shown, ~empty & shown)
    bare, full = (np.concatenate([[0], np.cumsum(which)]).astype(np.int64) for which in both)
    return bare, full


def host_rows(documents: _core.Documents, *, wide: bool = False) -> HostRows:
    """Return documents as they will be on a device, masses in float32 unless `wide`."""
    indptr, words, shares = documents.shares()
    return HostRows(indptr, words, shares if wide else shares.astype(np.float32))


def centroids_on_device(
    table: Float32Array,
    cost: CostName,
    rows: _core.Documents,
    columns: _core.Documents,
    device: str,
) -> Float64Array:
    """Return the distances of the centroids of all pairs, computed on a device."""
    torch_device(device)
    # Where two centroids are near each other, what float32 loses of the masses would be seen.
    first, second = host_rows(rows, wide=True), host_rows(columns, wide=True)
    with told_if_out_of_memory(device, _FEWER):
        return centroid_matrix(table, cost, first, second, device)


def relaxed_on_device(
    table: Float32Array,
    cost: CostName,
    rows: _core.Documents,
    columns: _core.Documents,
    side: Side,
    options: Options,
) -> Float64Array:
    """Return the relaxed distances of all pairs, computed on a device."""
    there = _device_corpus(table, cost, host_rows(columns), options)
    assert options.device is not None
    with told_if_out_of_memory(options.device, _FEWER):
        return relaxed_matrix(there, host_rows(rows), side)


def _device_corpus(
    table: Float32Array, cost: CostName, documents: HostRows, options: Options
) -> DeviceCorpus:
    assert options.device is not None
    torch_device(options.device)
    with told_if_out_of_memory(options.device):
        return DeviceCorpus(
            table,
            cost,
            documents,
            device=options.device,
            memory=options.memory,
            resident=options.resident,
        )


def _without_words(rows: HostRows, which: BoolArray) -> HostRows:
    lengths = np.diff(rows.indptr)
    kept = np.repeat(~which, lengths)
    indptr = np.concatenate([[0], np.cumsum(np.where(which, 0, lengths))]).astype(np.int64)
    return HostRows(indptr, rows.words[kept], rows.masses[kept])


def _watched(
    progress: ProgressCallback | None, queries: int, before: int
) -> ProgressCallback | None:
    """Return a callback of all queries, some done before, that asks whether the call is to end."""
    check = stop_check()
    if check is None and progress is None:
        return None

    def told(done: int, total: int) -> None:
        for ask in (check, progress):
            if ask is not None:
                ask(before + done, queries)

    return told
