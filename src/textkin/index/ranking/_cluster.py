"""A ranking whose search is spread over workers, each of which opens segments by their paths."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.explain import AlignedText, Explanation
from textkin.index.ranking._choosing import By, ranking_of
from textkin.index.ranking._feedback import Rocchio
from textkin.index.ranking._pieces import Described, Lost, cut, described_for
from textkin.index.ranking._ranking import Ranked, Ranker, Ranking
from textkin.index.ranking._terms import TermRanking
from textkin.index.ranking._transport import TransportRanking
from textkin.index.ranking._view import View
from textkin.index.ranking._workers import Asked, Found, NotHere, OpenedHere, Rankers, Search, Seen
from textkin.run import Place, map_blocks, memory_in_bytes, side_by_side

__all__ = ["ClusterRanker", "ClusterRanking"]

_BLOCKS = 2  # for each that can run at the same time: the later ones know how good hits must be
_ROWS = (2048, 1 << 20)  # of a block, at least and at most
_KEPT = 8  # blocks that a worker has open at the same time, which share its memory
_ALIKE = ("documents", "query_known", "query_total")  # statistics that all blocks tell alike


class ClusterRanking(Ranking):
    """Rank as another ranking does, with the search spread over many processes or machines.

    Each worker opens segments of the index by their paths and keeps them open for the searches
    that follow. The index is cut into blocks of rows; the best scores that were found so far travel
    with the blocks that follow, so that these look at less.
    Found is what the ranking itself finds: the same documents, the same bits, the same order.

    Parameters
    ----------
    by : str, TfIdf, BM25, WordMover or ranking, default="wmd"
        By words or by transport: "bm25", "tfidf", "cosine", "inner", "binary", "wmd", "rwmd",
        "wcd", or what else makes a `TermRanking` or a `TransportRanking`.
    on : {"threads", "joblib"}, distributed.Client or str, default=None
        Where, see `textkin.run.map_blocks`; a cluster as a `Client` or by its address.
    n_jobs : int, default=None
        Threads or processes, where `on` is not a cluster.
    memory : str or int, default="512MB"
        What each worker may use for the tables of its searches; they never change results.

    Notes
    -----
    The folder of the index must be reachable under the same path on every worker. Workers read
    segments and, where the index has its own, word vectors; they never touch the catalogue. This
    process has the catalogue: it fixes the state, evaluates filters, searches what is in no
    segment yet, and fetches what is looked at. Deleted documents are those of this state, whatever
    is written meanwhile; a segment that a writer merged away before a worker had opened it is
    searched in this process.

    A filter, a page, `Index.similar`, feedback and hybrids work as with the ranking itself. What
    explains a hit is made in this process.

    Examples
    --------
    >>> import tempfile
    >>> import textkin as tk
    >>> from textkin.index import ClusterRanking
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tk.Index.create(f"{folder}/animals.kin") as index:
    ...         _ = index.add(["Dogs bark at night", "The band played loud", "Cats purr"])
    ...         hits = index.search("A kitten sleeps", k=2, by=ClusterRanking("wmd", n_jobs=2))
    ...         hits.ids == index.search("A kitten sleeps", k=2, by="wmd").ids
    True
    """

    def __init__(
        self,
        by: By = "wmd",
        on: Place = None,
        *,
        n_jobs: int | None = None,
        memory: str | int = "512MB",
    ) -> None:
        self.ranking = ranking_of(by, ())
        if not isinstance(self.ranking, TermRanking | TransportRanking):
            raise ValueError(
                "by must be a ranking by words or by transport, whose parts can be searched "
                f"apart; got {by!r}. Hybrids take a ClusterRanking as a part."
            )
        self.ascending = self.ranking.ascending
        self.place = on
        self.n_jobs = n_jobs
        self.memory = memory_in_bytes(memory)
        where = on if on is None or isinstance(on, str) else id(on)
        self._key = (ClusterRanking, self.ranking, where, n_jobs, self.memory)

    def bind(self, view: View) -> ClusterRanker:
        """Cut a view into blocks."""
        return ClusterRanker(self, view)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterRanking) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"ClusterRanking({self.ranking!r}, {self.place!r})"


class ClusterRanker(Ranker[Asked]):
    """The documents of a view, searched by workers.

    Parameters
    ----------
    ranking : ClusterRanking
        How, and where.
    view : View
        The documents.
    """

    def __init__(self, ranking: ClusterRanking, view: View) -> None:
        self.view = view
        self.ascending = ranking.ascending
        self._ranking = ranking
        at_once = side_by_side(ranking.place, ranking.n_jobs)
        sizes = [part.segment.rows for part in view.parts[:-1]]  # the last one is in no segment
        whole = isinstance(ranking.ranking, TermRanking)
        most = max(_BLOCKS * at_once, -(-sum(sizes) // _ROWS[1]))
        blocks = cut(sizes, most, least=_ROWS[0], whole=whole)
        self._described: Described = described_for(view, ranking.ranking, uuid.uuid4().hex, blocks)
        self._at_once = at_once
        self._kept = min(max(len(blocks), 1), _KEPT)
        self._starts = [int(view.starts[b[0].segment]) + b[0].first for b in blocks]
        # Of a file that is damaged this process has made the documents again, and nobody else.
        made = {at for at, part in enumerate(view.parts[:-1]) if part.segment.mapped is None}
        self._own = {n for n, b in enumerate(blocks) if any(p.segment in made for p in b)}

    # ------------------------------------------------------------------ what is here

    @cached_property
    def _rankers(self) -> Rankers:
        return Rankers(OpenedHere(self._described, self.view))

    @cached_property
    def _tail(self) -> Ranker[Any]:
        """What searches the documents that are in no segment; it knows all words and statistics."""
        return self._rankers.opened.ranker_of([self.view.parts[-1]], self._ranking.memory)

    @property
    def _local(self) -> Ranker[Any]:
        """The ranking over all documents in this process, for what looks at single ones."""
        return self._ranking.ranking.on(self.view)

    # ------------------------------------------------------------------ queries

    def of_text(self, text: str) -> Asked:
        """Take a text as it is."""
        return Asked(text=text)

    def of_row(self, row: int) -> Asked:
        """Take the counted words of a document."""
        return Asked(row=row, bag=self.view.bag_of_row(row))

    def of_words(self, weights: Mapping[str, float]) -> Asked:
        """Take weights as they are."""
        asked = Asked(words=tuple(weights.items()))
        asked.made(self._tail)  # refuses what the ranking does
        return asked

    def words_of(self, query: Asked) -> Mapping[str, float] | None:
        """Return the words of a query with their weights."""
        return self._tail.words_of(query.made(self._tail))

    # ------------------------------------------------------------------ search

    def best(
        self,
        query: Asked,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> Ranked:
        """Find the best documents."""
        return self.best_of_each([query], limit, [threshold], rows)[0]

    def best_of_each(
        self,
        queries: Sequence[Asked],
        limit: int,
        thresholds: Sequence[float | None],
        rows: BoolArray | None = None,
    ) -> list[Ranked]:
        """Find the best documents of several queries: here those of the tail, then all others."""
        best = [Best(limit, threshold, self.ascending) for threshold in thresholds]
        tail = int(self.view.starts[-2])
        made = [query.made(self._tail) for query in queries]
        here = None if rows is None else rows[tail:]
        _take(best, self._tail.best_of_each(made, limit, thresholds, here), tail)
        search = Search(self._described.token, None, tuple(queries), limit, self._kept)
        for seen in self._seen(self._own, best, rows):
            _take(best, self._here(search, seen).ranked, self._starts[seen.number])
        left = [n for n in range(len(self._described.blocks)) if n not in self._own]
        for described in (None, self._described):  # most often the workers have it
            if left:
                left = self._searched(replace(search, described=described), left, best, rows)
        return [one.ranked(self.view.n_documents) for one in best]

    def _searched(
        self, search: Search, numbers: list[int], best: list[Best], rows: BoolArray | None
    ) -> list[int]:
        """Search some blocks, and return those whose workers did not know the state."""
        unknown = []
        for found in map_blocks(
            search,
            self._seen(numbers, best, rows),
            on=self._ranking.place,
            n_jobs=self._ranking.n_jobs,
            memory=self._ranking.memory,
            in_flight=self._at_once,  # what waits for a worker would not know the latest limit
        ):
            if isinstance(found, NotHere):
                unknown.append(found.number)
                continue
            if isinstance(found, Lost):
                self._described.refuse_unshared(found)
                (seen,) = self._seen([found.number], best, rows)
                found = self._here(search, seen)
            _take(best, found.ranked, self._starts[found.number])
        return unknown

    def _seen(
        self, numbers: Iterable[int], best: Sequence[Best], rows: BoolArray | None
    ) -> Iterator[Seen]:
        """Give blocks, each with what is known when it is sent."""
        for number in numbers:
            size = sum(piece.end - piece.first for piece in self._described.blocks[number])
            start = self._starts[number]
            may = None if rows is None else rows[start : start + size]
            if may is not None and not may.any():
                continue
            bits = None if may is None else np.packbits(may)
            yield Seen(number, tuple(one.threshold for one in best), bits, size)

    def _here(self, search: Search, seen: Seen) -> Found:
        """Search a block in this process, from the files that it has open."""
        ranker = self._rankers.ranker(seen.number, self._ranking.memory, self._kept)
        queries = [one.made(ranker) for one in search.asked]
        found = ranker.best_of_each(queries, search.limit, seen.thresholds, seen.mask())
        return Found(seen.number, found)

    # ------------------------------------------------------------------ reasons

    def explain(self, query: Asked, row: int) -> Explanation:
        """Return why a document has its score."""
        return self._local.explain(query.made(self._local), row)

    def aligned(self, query: Asked, row: int) -> AlignedText | None:
        """Return query and document as two texts whose words travel."""
        return self._local.aligned(query.made(self._local), row)

    def moved(
        self, query: Asked, relevant: Sequence[int], nonrelevant: Sequence[int], how: Rocchio
    ) -> Asked:
        """Move the words of a query."""
        local = self._local
        words = local.words_of(local.moved(query.made(local), relevant, nonrelevant, how))
        assert words is not None  # both kinds of rankings have words
        return Asked(words=tuple(words.items()))


class Best:
    """The best rows of a query so far; of equal ones the first.

    Parameters
    ----------
    limit : int
        How many are kept.
    threshold : float or None
        How good they must be.
    ascending : bool
        Whether small scores are the good ones.
    """

    def __init__(self, limit: int, threshold: float | None, ascending: bool) -> None:
        self.threshold = threshold
        self._limit = limit
        self._ascending = ascending
        self._rows: Int64Array = np.empty(0, np.int64)
        self._scores: Float64Array = np.empty(0)
        self._stats: dict[str, float] = {}
        self._notes: dict[str, None] = {}

    def take(self, found: Ranked, start: int) -> None:
        """Add what was found in a block that begins at some row."""
        rows = np.concatenate([self._rows, found.rows + start])
        scores = np.concatenate([self._scores, found.scores])
        order = np.lexsort((rows, scores if self._ascending else -scores))[: self._limit]
        self._rows, self._scores = rows[order], scores[order]
        if len(order) == self._limit:
            self.threshold = float(self._scores[-1])
        for name, number in found.stats.items():
            self._stats[name] = number if name in _ALIKE else self._stats.get(name, 0) + number
        self._notes.update(dict.fromkeys(found.notes))

    def ranked(self, n_documents: int) -> Ranked:
        """Return the best rows of all blocks."""
        stats = self._stats
        if "left_out" in stats:  # each block has told the documents of others, too
            told = [
                stats[name]
                for name in stats
                if name in ("empty", "solved") or name.startswith("removed_")
            ]
            stats = {**stats, "left_out": n_documents - sum(told)}
        return Ranked(self._rows, self._scores, stats, tuple(self._notes))


def _take(best: Sequence[Best], found: Sequence[Ranked], start: int) -> None:
    for one, ranked in zip(best, found, strict=True):
        one.take(ranked, start)
