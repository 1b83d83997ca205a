"""`ClusterRanking`: a search whose segments are searched by workers."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from textkin._base import BoolArray, Float64Array, Int64Array
from textkin.exceptions import ParameterError
from textkin.explain import AlignedText, Explanation
from textkin.index.distributed._snapshot_description import (
    SnapshotDescription,
    UnreadableBlock,
    describe_snapshot,
    split_rows,
)
from textkin.index.distributed._workers import (
    BlockHits,
    BlockScorers,
    BlockTask,
    LocalSnapshot,
    Search,
    UnknownSnapshot,
    WorkerQuery,
)
from textkin.index.search import (
    FeedbackRound,
    IndexState,
    Ranking,
    RankingLike,
    ScoredRows,
    Scorer,
    ScorerOf,
    Searcher,
    TermRanking,
    TransportRanking,
    ranking_of,
)
from textkin.run import Executor, map_blocks, memory_in_bytes, side_by_side

__all__ = ["ClusterRanking", "ClusterScorer"]

_BLOCKS = 2  # blocks per concurrent worker; later blocks benefit from the limits of earlier ones
_ROWS = (2048, 1 << 20)  # minimum and maximum number of rows per block
_KEPT = 8  # maximum number of blocks that a worker has open, which share its memory
_ALIKE = ("documents", "query_known", "query_total")  # statistics that are equal for all blocks


class ClusterRanking(Ranking):
    """Ranking that distributes the search of another ranking over worker processes.

    Each worker opens segments of the index by their paths, and keeps them open for later searches.
    The index is split into blocks of rows. The best scores found so far are sent with later blocks,
    so that workers can skip more documents. The hits are bit-identical to the hits of the ranking
    itself, in the same order.

    Parameters
    ----------
    ranking : str, TfIdf, BM25, WordMover or ranking, default="wmd"
        Ranking by words or by transport: "bm25", "tfidf", "cosine", "inner", "binary", "wmd",
        "rwmd", "wcd", or any other form of a `TermRanking` or a `TransportRanking`.
    executor : {"threads", "joblib"}, distributed.Client or str, default=None
        Executor of the search; see `textkin.run.map_blocks`. Pass a cluster as a `Client` or by
        its address.
    n_jobs : int, default=None
        Number of threads or processes if `executor` is not a cluster.
    memory : str or int, default="512MB"
        Memory limit per worker for the tables of searches. Results do not depend on it. The limit
        of exact transport problems is the one of `ranking`: `TransportRanking(memory=)`.

    Notes
    -----
    The folder of the index must be reachable under the same path on every worker. Workers read
    segments and, if the index has its own, word vectors; they never use the catalog. This process
    uses the catalog: it fixes the snapshot, evaluates filters, searches documents that are not in
    a segment yet, and fetches documents of hits. Later writes do not change which documents are
    deleted in the snapshot. If a writer removes a segment by merging before a worker has opened it,
    this process searches the segment.

    Filters, pages, `Index.similar`, feedback, and hybrids work as with the ranking itself. This
    process computes explanations.

    Examples
    --------
    >>> import tempfile
    >>> import textkin as tk
    >>> from textkin.index import ClusterRanking
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tk.Index.create(f"{folder}/animals.kin") as index:
    ...         _ = index.add(["Dogs bark at night", "The band played loud", "Cats purr"])
    ...         hits = index.search("A kitten sleeps", k=2, ranking=ClusterRanking("wmd", n_jobs=2))
    ...         hits.ids == index.search("A kitten sleeps", k=2, ranking="wmd").ids
    True
    """

    def __init__(
        self,
        ranking: RankingLike = "wmd",
        executor: Executor = None,
        *,
        n_jobs: int | None = None,
        memory: str | int = "512MB",
    ) -> None:
        self.ranking = ranking_of(ranking, ())
        if not isinstance(self.ranking, TermRanking | TransportRanking):
            raise ParameterError(
                "ranking",
                "a ranking by words or by transport, which can search blocks separately",
                repr(ranking),
                "For a hybrid, pass a ClusterRanking as one of its parts.",
            )
        self.ascending = self.ranking.ascending
        self.executor = executor
        self.n_jobs = n_jobs
        self.memory = memory_in_bytes(memory)
        where = executor if executor is None or isinstance(executor, str) else id(executor)
        self._key = (ClusterRanking, self.ranking, where, n_jobs, self.memory)

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> ClusterScorer:
        """Create a scorer that searches blocks of the rows of a snapshot on workers."""
        return ClusterScorer(self, state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterRanking) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"ClusterRanking({self.ranking!r}, {self.executor!r})"


class ClusterScorer(Scorer[WorkerQuery]):
    """Scorer that searches blocks of a snapshot on workers, and merges their hits.

    Parameters
    ----------
    ranking : ClusterRanking
        Ranking and executor.
    state : IndexState
        Snapshot of the index.
    """

    def __init__(self, ranking: ClusterRanking, state: IndexState) -> None:
        self.state = state
        self.ascending = ranking.ascending
        self._ranking = ranking
        at_once = side_by_side(ranking.executor, ranking.n_jobs)
        # Without the tail, which this process searches.
        sizes = [part.segment.rows for part in state.parts[:-1]]
        whole = isinstance(ranking.ranking, TermRanking)
        most = max(_BLOCKS * at_once, -(-sum(sizes) // _ROWS[1]))
        blocks = split_rows(sizes, most, least=_ROWS[0], whole=whole)
        self._described: SnapshotDescription = describe_snapshot(
            state, ranking.ranking, uuid.uuid4().hex, blocks
        )
        self._at_once = at_once
        self._kept = min(max(len(blocks), 1), _KEPT)
        self._starts = [int(state.starts[b[0].segment]) + b[0].first for b in blocks]
        # Only this process has the documents of a corrupt file, which it read from the catalog.
        made = {at for at, part in enumerate(state.parts[:-1]) if part.segment.mapped is None}
        self._own = {n for n, b in enumerate(blocks) if any(p.segment in made for p in b)}

    # ------------------------------------------------------------------ scorers of this process

    @cached_property
    def _scorers(self) -> BlockScorers:
        return BlockScorers(LocalSnapshot(self._described, self.state))

    @cached_property
    def _tail(self) -> Scorer[Any]:
        """Scorer of the documents that are not in a segment yet; runs in this process."""
        return self._scorers.opened.scorer_of([self.state.parts[-1]], self._ranking.memory)

    @cached_property
    def _local(self) -> Scorer[Any]:
        """Scorer of all documents in this process, for explanations and feedback."""
        return self._ranking.ranking.bind(self.state, Searcher(self.state).scorer)

    # ------------------------------------------------------------------ queries

    def of_text(self, text: str) -> WorkerQuery:
        """Convert a query text to the representation by which this ranking scores documents."""
        return WorkerQuery(text=text)

    def of_row(self, row: int) -> WorkerQuery:
        """Convert a document of the index, by its word counts, to a query for similar documents."""
        return WorkerQuery(row=row, bag=self.state.bag_of_row(row))

    def of_words(self, weights: Mapping[str, float]) -> WorkerQuery:
        """Convert words with weights to the representation by which this ranking scores."""
        asked = WorkerQuery(words=tuple(weights.items()))
        asked.made(self._tail)  # an invalid query raises here, before any work
        return asked

    def words_of(self, query: WorkerQuery) -> Mapping[str, float] | None:
        """Return the words of a query with their weights, or None without words."""
        return self._tail.words_of(query.made(self._tail))

    # ------------------------------------------------------------------ search

    def best(
        self,
        query: WorkerQuery,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> ScoredRows:
        """Return the `limit` documents with the best scores for a query, best first."""
        return self.best_of_each([query], limit, [threshold], rows)[0]

    def best_of_each(
        self,
        queries: Sequence[WorkerQuery],
        limit: int,
        thresholds: Sequence[float | None],
        rows: BoolArray | None = None,
    ) -> list[ScoredRows]:
        """Return the best documents of each query, from the tail and all blocks."""
        best = [Best(limit, threshold, self.ascending) for threshold in thresholds]
        tail = int(self.state.starts[-2])
        made = [query.made(self._tail) for query in queries]
        here = None if rows is None else rows[tail:]
        _take(best, self._tail.best_of_each(made, limit, thresholds, here), tail)
        search = Search(self._described.token, None, tuple(queries), limit, self._kept)
        for seen in self._seen(self._own, best, rows):
            _take(best, self._here(search, seen).ranked, self._starts[seen.number])
        left = [n for n in range(len(self._described.blocks)) if n not in self._own]
        for described in (None, self._described):
            # First without the description, which workers usually have.
            if left:
                left = self._searched(replace(search, described=described), left, best, rows)
        return [one.ranked(self.state.n_documents) for one in best]

    def _searched(
        self, search: Search, numbers: list[int], best: list[Best], rows: BoolArray | None
    ) -> list[int]:
        """Search blocks on workers; return the blocks that must be sent again."""
        unknown = []
        for found in map_blocks(
            search,
            self._seen(numbers, best, rows),
            executor=self._ranking.executor,
            n_jobs=self._ranking.n_jobs,
            memory=self._ranking.memory,
            in_flight=self._at_once,  # a queued block would not have the latest limits
        ):
            if isinstance(found, UnknownSnapshot):
                unknown.append(found.number)
                continue
            if isinstance(found, UnreadableBlock):
                self._described.refuse_unshared(found)
                (seen,) = self._seen([found.number], best, rows)
                found = self._here(search, seen)
            _take(best, found.ranked, self._starts[found.number])
        return unknown

    def _seen(
        self, numbers: Iterable[int], best: Sequence[Best], rows: BoolArray | None
    ) -> Iterator[BlockTask]:
        """Yield each block as a task, with the score limits found so far."""
        for number in numbers:
            size = sum(piece.end - piece.first for piece in self._described.blocks[number])
            start = self._starts[number]
            may = None if rows is None else rows[start : start + size]
            if may is not None and not may.any():
                continue
            bits = None if may is None else np.packbits(may)
            yield BlockTask(number, tuple(one.threshold for one in best), bits, size)

    def _here(self, search: Search, seen: BlockTask) -> BlockHits:
        """Search one block in this process, because a worker could not."""
        scorer = self._scorers.scorer(seen.number, self._ranking.memory, self._kept)
        queries = [one.made(scorer) for one in search.asked]
        found = scorer.best_of_each(queries, search.limit, seen.thresholds, seen.mask())
        return BlockHits(seen.number, found)

    # ------------------------------------------------------------------ explanations, feedback

    def explain(self, query: WorkerQuery, row: int) -> Explanation:
        """Explain the score of a document for a query, as a sum of parts."""
        return self._local.explain(query.made(self._local), row)

    def aligned(self, query: WorkerQuery, row: int) -> AlignedText | None:
        """Return both texts with each word's transport distance, or None without transport."""
        return self._local.aligned(query.made(self._local), row)

    def moved(
        self,
        query: WorkerQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: FeedbackRound,
    ) -> WorkerQuery:
        """Apply Rocchio feedback to a query: move it toward relevant documents."""
        local = self._local
        words = local.words_of(local.moved(query.made(local), relevant, nonrelevant, how))
        assert words is not None  # both kinds of rankings have words
        return WorkerQuery(words=tuple(words.items()))


class Best:
    """Best rows of one query over all blocks searched so far.

    Parameters
    ----------
    limit : int
        Maximum number of rows.
    threshold : float or None
        Minimum score, or maximum if `ascending`.
    ascending : bool
        True if the smallest scores are the best.
    """

    def __init__(self, limit: int, threshold: float | None, ascending: bool) -> None:
        self.threshold = threshold
        self._limit = limit
        self._ascending = ascending
        self._rows: Int64Array = np.empty(0, np.int64)
        self._scores: Float64Array = np.empty(0)
        self._stats: dict[str, float] = {}
        self._notes: dict[str, None] = {}

    def take(self, found: ScoredRows, start: int) -> None:
        """Merge the hits of a block into the best rows; `start` is the block's first row."""
        rows = np.concatenate([self._rows, found.rows + start])
        scores = np.concatenate([self._scores, found.scores])
        order = np.lexsort((rows, scores if self._ascending else -scores))[: self._limit]
        self._rows, self._scores = rows[order], scores[order]
        if len(order) == self._limit:
            self.threshold = float(self._scores[-1])
        for name, number in found.stats.items():
            self._stats[name] = number if name in _ALIKE else self._stats.get(name, 0) + number
        self._notes.update(dict.fromkeys(found.notes))

    def ranked(self, n_documents: int) -> ScoredRows:
        """Return the best rows of one query over all blocks, best first."""
        stats = self._stats
        if "left_out" in stats:  # each block also counted documents of other blocks
            told = [
                stats[name]
                for name in stats
                if name in ("empty", "solved") or name.startswith("removed_")
            ]
            stats = {**stats, "left_out": n_documents - sum(told)}
        return ScoredRows(self._rows, self._scores, stats, tuple(self._notes))


def _take(best: Sequence[Best], found: Sequence[ScoredRows], start: int) -> None:
    for one, ranked in zip(best, found, strict=True):
        one.take(ranked, start)
