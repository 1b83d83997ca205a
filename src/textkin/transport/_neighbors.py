"""Nearest documents of queries, and statistics of the search."""

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from textkin import _core
from textkin._base import Float64Array, Int64Array, TableResult
from textkin.corpus import DocumentRows, RankedRows
from textkin.transport._core_search import SearchOptions
from textkin.transport._engine import TransportEngine
from textkin.transport._search_certificate import SearchCertificate, read_only

__all__ = ["MatchesOfQuery", "Neighbors", "NeighborsOfQuery", "SearchStats"]

BOUNDS = ("document_side", "refined", "relaxed", "centroid")
_SHOWN_QUERIES, _SHOWN_HITS = 5, 5


@dataclass(frozen=True, slots=True, eq=False)
class SearchStats:
    """Statistics of a search: documents by outcome (solved, pruned, ...), and time by stage.

    Arrays have one number per query. For each query
    ``documents = empty + left_out + sum(removed.values()) + solved + not_reached``.

    Attributes
    ----------
    documents : ndarray of int64
        Number of documents in the corpus.
    empty : ndarray of int64
        Number of documents without any word that has a vector. They are never found.
    left_out : ndarray of int64
        Number of documents that the mask excludes. If the query is empty, all other documents.
    removed : mapping of str to ndarray of int64
        Number of documents that each bound excluded. "document_side": each word of the document
        goes to the nearest word of the query. "refined": both sides with potentials. "relaxed"
        (the larger of both sides) and "centroid" belong to ``algorithm="prefetch"``.
    refined : ndarray of int64
        Number of documents whose refined bound was computed, removed or not.
    solved : ndarray of int64
        Number of documents whose exact distance was computed. If a bound ranks the documents,
        number of computed bounds.
    not_reached : ndarray of int64
        Number of documents beyond the `max_candidates` of ``algorithm="prefetch"``.
    seconds : mapping of str to ndarray of float64
        Time by stage: "table" (costs between the words of the query and of the corpus), "bound",
        "order", "refine", "solve". If several threads worked on a query, their times are summed.

    Examples
    --------
    >>> from textkin import WordMover
    >>> stats = WordMover().fit(["cats purr", "dogs bark", "the"]).search("a cat", k=1).stats
    >>> stats.totals["documents"], stats.totals["empty"], int(stats.candidates[0])
    (3, 1, 2)
    """

    documents: Int64Array
    empty: Int64Array
    left_out: Int64Array
    removed: Mapping[str, Int64Array]
    refined: Int64Array
    solved: Int64Array
    not_reached: Int64Array
    seconds: Mapping[str, Float64Array]

    @classmethod
    def of(cls, ranked: RankedRows, documents: int) -> "SearchStats":
        """Create the statistics from the counters of a search over `documents` documents."""
        verdicts, seconds = ranked.stats["verdicts"], ranked.stats["seconds"]
        by_name = dict(zip(_core.VERDICTS, verdicts.T, strict=True))
        return cls(
            np.full(len(ranked), documents, dtype=np.int64),
            by_name["empty"],
            by_name["left_out"],
            {name: by_name[name] for name in BOUNDS},
            ranked.stats["refined"],
            by_name["solved"],
            by_name["not_reached"],
            dict(zip(_core.STAGES, seconds.T, strict=True)),
        )

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def candidates(self) -> Int64Array:
        """Number of documents per query that are not empty and not excluded by the mask."""
        return self.documents - self.empty - self.left_out

    @property
    def totals(self) -> dict[str, Any]:
        """Statistics summed over all queries, as a dict of JSON types."""
        return {
            "queries": len(self),
            "documents": int(self.documents.sum()),
            "empty": int(self.empty.sum()),
            "left_out": int(self.left_out.sum()),
            "candidates": int(self.candidates.sum()),
            "removed": {name: int(counts.sum()) for name, counts in self.removed.items()},
            "refined": int(self.refined.sum()),
            "solved": int(self.solved.sum()),
            "not_reached": int(self.not_reached.sum()),
            "seconds": {name: float(spent.sum()) for name, spent in self.seconds.items()},
        }

    def __repr__(self) -> str:
        totals = self.totals
        candidates = totals["candidates"]
        documents = int(self.documents[0]) if len(self) else 0
        lines = [
            f"SearchStats: {_counted(len(self), 'query', 'queries')} over "
            f"{_counted(documents, 'document', 'documents')}, {candidates:,} candidates in all "
            f"({totals['empty']:,} empty, {totals['left_out']:,} left out)"
        ]
        fates = {
            **{f"removed by {name}": count for name, count in totals["removed"].items()},
            "not reached": totals["not_reached"],
            "solved": totals["solved"],
        }
        lines += [
            f"  {name:24} {count:12,}  {count / candidates:6.1%}"
            for name, count in fates.items()
            if count or name == "solved"
            if candidates
        ]
        spent = totals["seconds"]
        parts = ", ".join(f"{name} {seconds:.3g}" for name, seconds in spent.items() if seconds)
        lines.append(f"  {sum(spent.values()):.3g} seconds" + (f": {parts}" if parts else ""))
        return "\n".join(lines)


class NeighborsOfQuery(NamedTuple):
    """Nearest documents of one query: positions and distances, nearest first.

    Attributes
    ----------
    distances : ndarray of float64
        Distances in ascending order.
    indices : ndarray of int64
        Positions in the corpus.
    """

    distances: Float64Array
    indices: Int64Array


class MatchesOfQuery(NamedTuple):
    """Most similar documents of one query: positions and similarities, best first.

    Attributes
    ----------
    scores : ndarray of float64
        Similarities in descending order.
    indices : ndarray of int64
        Positions in the corpus.
    """

    scores: Float64Array
    indices: Int64Array


@dataclass(frozen=True, eq=False)
class Neighbors(TableResult):
    """Search result: the nearest documents of each query, in ascending order of distance.

    ``found[i]`` returns the distances and positions for query i; their length is the number found.
    If fewer documents were found, rows of ``indices`` end in -1, which is not a valid position.
    Arrays are read-only. A pickled copy cannot make certificates.

    Attributes
    ----------
    distances : ndarray of shape (n_queries, min(k, n_documents)), float64
        Distances by the metric of the search; infinity if fewer documents were found. With
        ``k=None``, the number of columns is the largest number found. A search by similarity has
        no distances.
    scores : ndarray of the same shape, float64
        Distances, or similarities if `ascending` is False.
    indices : ndarray of the same shape, int64
        Positions in the corpus; -1 if fewer documents were found.
    ascending : bool
        True if the smallest scores are the best, as with distances.
    counts : ndarray of shape (n_queries,), int64
        Number of documents found by each query.
    stats : SearchStats
        Outcome for the other documents, and time by stage.

    Examples
    --------
    >>> from textkin import WordMover
    >>> mover = WordMover().fit(["Dogs bark at night", "The band played loud", "Cats purr"])
    >>> found = mover.search(["A kitten sleeps", "Their concert"], k=2)
    >>> found.indices
    array([[2, 0],
           [1, 0]])
    >>> distances, indices = found[0]
    >>> bool(distances[0] == mover.distance("A kitten sleeps", "Cats purr"))
    True
    """

    _ranked: RankedRows
    _documents: int
    _width: int
    _searched: tuple[TransportEngine, DocumentRows, SearchOptions] | None

    @classmethod
    def of(
        cls,
        ranked: RankedRows,
        engine: TransportEngine,
        queries: DocumentRows,
        options: SearchOptions,
    ) -> "Neighbors":
        """Create the result of a search, with the engine that can compute its certificates."""
        documents, k = len(engine), options.k
        width = int(np.diff(ranked.indptr).max(initial=0)) if k is None else min(k, documents)
        read_only(ranked.indptr, ranked.rows, ranked.scores)
        return cls(ranked, documents, width, (engine, queries, options))

    def __len__(self) -> int:
        return len(self._ranked)

    def __getitem__(self, query: int) -> NeighborsOfQuery | MatchesOfQuery:
        indices, scores = self._ranked[self._row(query)]
        return (NeighborsOfQuery if self.ascending else MatchesOfQuery)(scores, indices)

    def __iter__(self) -> Iterator[NeighborsOfQuery | MatchesOfQuery]:
        return (self[query] for query in range(len(self)))

    @property
    def ascending(self) -> bool:
        """True if scores are distances (small is best), False if they are similarities."""
        return self._ranked.ascending

    @cached_property
    def _filled(self) -> tuple[Int64Array, Float64Array]:
        filled = self._ranked.filled(self._width)
        read_only(*filled)
        return filled

    @property
    def indices(self) -> Int64Array:
        """Positions of the found documents, one row per query, padded with -1."""
        return self._filled[0]

    @property
    def scores(self) -> Float64Array:
        """Distances or similarities, one row per query, padded with inf or -inf."""
        return self._filled[1]

    @property
    def distances(self) -> Float64Array:
        """Distances of the found documents, one row per query, padded with inf."""
        if not self.ascending:
            raise AttributeError("distances requires a search by distance; use `scores`.")
        return self._filled[1]

    @cached_property
    def counts(self) -> Int64Array:
        """Number of found documents per query."""
        return np.diff(self._ranked.indptr)

    @cached_property
    def stats(self) -> SearchStats:
        """Statistics of the search: documents by outcome, and time by stage."""
        return SearchStats.of(self._ranked, self._documents)

    def certificate(self, query: int) -> SearchCertificate:
        """Return a certificate for one query: why each document was found or excluded.

        The query is searched again, and the outcome for each document is recorded. The certificate
        refers to the corpus of the original search.

        Parameters
        ----------
        query : int
            Position of the query.

        Returns
        -------
        SearchCertificate
            Exact distance of each document, or the bound that excludes it. ``verify()`` computes
            them again without the search.
        """
        row = self._row(query)
        if not self.ascending:
            raise ValueError(
                "A certificate requires a search by distance; got a search by similarity. Search "
                "with metric='rwmd-query' for a certificate of the same order."
            )
        if self._searched is None:
            raise ValueError(
                "A certificate requires the corpus; got a pickled copy of Neighbors. Search again."
            )
        engine, queries, options = self._searched
        return engine.certificate(queries[row : row + 1], self._ranked[row], options)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dict per hit (query, rank, position, score), for example for a DataFrame.

        Returns
        -------
        list of dict
            Records with "query", "rank", "index", and "distance" ("score" for similarities).
        """
        name = "distance" if self.ascending else "score"
        return [
            {"query": query, "rank": rank, "index": index, name: score}
            for query, (scores, indices) in enumerate(self)
            for rank, (index, score) in enumerate(
                zip(indices.tolist(), scores.tolist(), strict=True)
            )
        ]

    def _row(self, query: int) -> int:
        try:
            row = operator.index(query)
        except TypeError:
            raise TypeError(
                "A query must be given as one position (an integer); got "
                f"{query!r}. For several queries, use indices and distances."
            ) from None
        count = len(self)
        if not -count <= row < count:
            raise IndexError(
                f"The position of a query must be below {count}, the number of queries; got {row}."
            )
        return row % count

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_searched": None}

    def __repr__(self) -> str:
        head = (
            f"Neighbors: {_counted(len(self), 'query', 'queries')}, "
            f"{len(self._ranked.rows):,} found among "
            f"{_counted(self._documents, 'document', 'documents')}"
        )
        lines = [head]
        for query in range(min(len(self), _SHOWN_QUERIES)):
            scores, indices = self[query]
            shown = [
                f"{index} ({score:.4g})"
                for index, score in zip(
                    indices[:_SHOWN_HITS].tolist(), scores[:_SHOWN_HITS].tolist(), strict=True
                )
            ]
            more = [f"and {len(indices) - _SHOWN_HITS:,} more"] * (len(indices) > _SHOWN_HITS)
            lines.append(f"  {query}: {', '.join(shown + more) or 'nothing'}")
        if len(self) > _SHOWN_QUERIES:
            lines.append(f"  ... and {len(self) - _SHOWN_QUERIES:,} more queries")
        return "\n".join(lines)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
