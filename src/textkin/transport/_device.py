"""The search of a corpus with its bounds on a device, its distances by the core."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._typing import Float64Array, Int64Array
from textkin.device._corpus import WIDEST, DeviceCorpus
from textkin.device._matrices import Side
from textkin.device._ranking import rank
from textkin.device._rows import HostRows
from textkin.device._search import Candidates, Found, Solved, Wanted, search
from textkin.device._torch import told_if_out_of_memory
from textkin.run import ProgressCallback, stop_check
from textkin.transport._blocks import Hits, Options

if TYPE_CHECKING:
    from textkin.transport._corpus import Corpus, Rows

__all__ = ["SIDES", "SearchOnDevice", "host_rows"]

SIDES: dict[str, Side] = {"rwmd": "both", "rwmd-query": "query", "rwmd-document": "document"}
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
    """

    def __init__(self, corpus: "Corpus", options: Options) -> None:
        assert options.device is not None
        self._corpus = corpus
        documents = host_rows(corpus.rows, corpus.weights)
        self._empty = np.diff(documents.indptr) == 0
        with told_if_out_of_memory(options.device):
            self._there = DeviceCorpus(
                corpus.space.table,
                corpus.cost,
                documents,
                device=options.device,
                memory=options.memory,
                resident=options.resident,
            )

    def search(
        self,
        queries: "Rows",
        options: Options,
        *,
        without: Int64Array | None = None,
        from_row: Int64Array | None = None,
        progress: ProgressCallback | None = None,
    ) -> Hits:
        """Find the nearest documents of every query."""
        assert options.device is not None
        masked = None if options.mask is None else options.mask == 0
        asked = host_rows(queries, self._corpus.weights)
        lengths = np.diff(asked.indptr)
        long = lengths > WIDEST
        laid_out = _without_words(asked, long) if long.any() else asked
        wanted = Wanted(laid_out, options.k, options.radius, masked, without, from_row)
        watched = _watched(progress)
        with told_if_out_of_memory(options.device):
            if options.algorithm in SIDES:
                found = rank(self._there, wanted, SIDES[options.algorithm], watched)
            else:
                solver = _Solver(self._corpus, queries, options)
                found = search(self._there, wanted, solver, watched)
        hits = self._hits(found, wanted, lengths)
        if not long.any():
            return hits
        rest = dataclasses.replace(options, device=None)
        for q in np.flatnonzero(long).tolist():  # these stay with the core
            one = self._corpus.search(
                queries.part(q, q + 1),
                rest,
                without=None if without is None else without[q : q + 1],
                from_row=None if from_row is None else from_row[q : q + 1],
            )
            hits = hits.with_query(q, one)
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
        """Return how many documents each query may find, and how many of the others are empty."""
        count = len(self._empty)
        left = np.zeros(count, bool) if wanted.masked is None else wanted.masked
        shown = np.concatenate([[0], np.cumsum(~left & ~self._empty)])
        bare = np.concatenate([[0], np.cumsum(~left & self._empty)])
        begin = np.zeros(queries, np.int64) if wanted.from_row is None else wanted.from_row
        begin = np.clip(begin, 0, count)
        findable, empty = shown[-1] - shown[begin], bare[-1] - bare[begin]
        if wanted.without is not None:
            mine = (wanted.without >= begin) & (wanted.without < count)
            own = np.where(mine, wanted.without, 0)
            findable = findable - (mine & ~left[own] & ~self._empty[own])
            empty = empty - (mine & ~left[own] & self._empty[own])
        return findable, empty


class _Solver:
    """Exact distances by the core, of the candidates of a device."""

    def __init__(self, corpus: "Corpus", queries: "Rows", options: Options) -> None:
        self._corpus, self._options = corpus, options
        self._queries = corpus.documents(queries)

    def __call__(self, candidates: Candidates) -> Solved:
        return self._corpus.blocks.solve(
            self._queries,
            candidates.numbers,
            candidates.starts,
            candidates.rows,
            candidates.bounds,
            candidates.limits,
            self._options,
        )


def host_rows(rows: "Rows", weights: Float64Array | None) -> HostRows:
    """Return rows as they will be on a device."""
    counts = rows.counts.astype(np.float64, copy=False)
    if weights is not None:
        counts = counts * weights[rows.words]
    return HostRows.of(rows.indptr, rows.words, counts)


def _without_words(rows: HostRows, which: NDArray[np.bool_]) -> HostRows:
    lengths = np.diff(rows.indptr)
    kept = np.repeat(~which, lengths)
    indptr = np.concatenate([[0], np.cumsum(np.where(which, 0, lengths))]).astype(np.int64)
    return HostRows(indptr, rows.words[kept], rows.masses[kept])


def _watched(progress: ProgressCallback | None) -> ProgressCallback | None:
    """Return a callback that also asks whether the call is to end."""
    check = stop_check()
    if check is None:
        return progress

    def told(done: int, total: int) -> None:
        check(done, total)
        if progress is not None:
            progress(done, total)

    return told
