"""What a search found, and what it took."""

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from textkin import _core
from textkin._typing import Float64Array, Int64Array
from textkin.transport._corpus import Corpus, Hits, Options, Rows, read_only
from textkin.transport._exclusion import SearchCertificate, certificate_of

__all__ = ["Neighbors", "SearchStats"]

BOUNDS = ("document_side", "refined", "relaxed", "centroid")
_SHOWN_QUERIES, _SHOWN_HITS = 5, 5


@dataclass(frozen=True, slots=True, eq=False)
class SearchStats:
    """What became of the documents, and where the time went.

    Arrays have one number a query. For each query
    ``documents = empty + left_out + sum(removed.values()) + solved + not_reached``.

    Attributes
    ----------
    documents : ndarray of int64
        Documents of the corpus.
    empty : ndarray of int64
        Documents without any word that has a vector: they are never found.
    left_out : ndarray of int64
        Documents that the mask forbids; all that could be found, if the query itself is empty.
    removed : mapping of str to ndarray of int64
        Documents that a bound proved too far. "document_side": each of its words goes to the
        nearest of the query. "refined": both sides with potentials. "relaxed" (the larger of both
        sides) and "centroid" belong to ``algorithm="prefetch"``.
    refined : ndarray of int64
        Documents whose bound was refined, removed or not.
    solved : ndarray of int64
        Documents whose exact distance was computed; with a ranking by a bound alone, that bound.
    not_reached : ndarray of int64
        Documents beyond the `m` that ``algorithm="prefetch"`` looks at.
    seconds : mapping of str to ndarray of float64
        Time by stage: "table" (costs between the words of the query and of the corpus), "bound",
        "order", "refine", "solve". Summed over threads, where several worked on a query.

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
    def of(cls, hits: Hits, documents: int) -> "SearchStats":
        """Name the numbers of a search among so many documents."""
        by_name = dict(zip(_core.VERDICTS, hits.verdicts.T, strict=True))
        return cls(
            np.full(len(hits.verdicts), documents, dtype=np.int64),
            by_name["empty"],
            by_name["left_out"],
            {name: by_name[name] for name in BOUNDS},
            hits.refined,
            by_name["solved"],
            by_name["not_reached"],
            dict(zip(_core.STAGES, hits.seconds.T, strict=True)),
        )

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def candidates(self) -> Int64Array:
        """Documents that could be found: neither empty nor left out."""
        return self.documents - self.empty - self.left_out

    @property
    def totals(self) -> dict[str, Any]:
        """The sums over all queries, in plain types."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What was asked: enough to ask again."""

    corpus: Corpus
    queries: Rows
    options: Options


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest documents of each query, the nearest first, ties by position.

    ``found[i]`` gives the positions and distances of query i, as many as there are; rows of
    ``indices`` end in -1 where fewer were found, which as a position would be the last document.
    Arrays are read-only. A pickled copy keeps all but the ability to make certificates.

    Attributes
    ----------
    indices : ndarray of shape (n_queries, min(k, n_documents)), int64
        Positions in the corpus; -1 where fewer documents were found. With ``k=None`` as wide as
        the longest answer.
    distances : ndarray of the same shape, float64
        Distances (with a ranking by a bound, that bound); infinity where fewer were found.
    counts : ndarray of shape (n_queries,), int64
        How many each query found.
    stats : SearchStats
        What became of the other documents, and where the time went.

    Examples
    --------
    >>> from textkin import WordMover
    >>> mover = WordMover().fit(["Dogs bark at night", "The band played loud", "Cats purr"])
    >>> found = mover.search(["A kitten sleeps", "Their concert"], k=2)
    >>> found.indices
    array([[2, 0],
           [1, 0]])
    >>> indices, distances = found[0]
    >>> bool(distances[0] == mover.distance("A kitten sleeps", "Cats purr"))
    True
    """

    _hits: Hits
    _documents: int
    _width: int
    _question: Question | None

    @classmethod
    def of(cls, hits: Hits, question: Question) -> "Neighbors":
        """Present the hits of a search."""
        documents, k = len(question.corpus), question.options.k
        width = int(np.diff(hits.starts).max(initial=0)) if k is None else min(k, documents)
        read_only(hits.starts, hits.rows, hits.distances)
        return cls(hits, documents, width, question)

    def __len__(self) -> int:
        return len(self._hits.starts) - 1

    def __getitem__(self, query: int) -> tuple[Int64Array, Float64Array]:
        row = self._row(query)
        part = slice(self._hits.starts[row], self._hits.starts[row + 1])
        return self._hits.rows[part], self._hits.distances[part]

    def __iter__(self) -> Iterator[tuple[Int64Array, Float64Array]]:
        return (self[query] for query in range(len(self)))

    @cached_property
    def _filled(self) -> tuple[Int64Array, Float64Array]:
        filled = self._hits.filled(self._width)
        read_only(*filled)
        return filled

    @property
    def indices(self) -> Int64Array:
        """Positions in the corpus; -1 where fewer documents were found."""
        return self._filled[0]

    @property
    def distances(self) -> Float64Array:
        """Distances; infinity where fewer documents were found."""
        return self._filled[1]

    @cached_property
    def counts(self) -> Int64Array:
        """How many documents each query found."""
        return np.diff(self._hits.starts)

    @cached_property
    def stats(self) -> SearchStats:
        """What became of all documents, and where the time went."""
        return SearchStats.of(self._hits, self._documents)

    def certificate(self, query: int) -> SearchCertificate:
        """Return the reason why no other document belongs among those that a query found.

        The query is searched for once more, and what becomes of each document is recorded. The
        certificate is about the corpus as it was when the search was made.

        Parameters
        ----------
        query : int
            Position of the query.

        Returns
        -------
        SearchCertificate
            For every document its exact distance, or the bound that excludes it; ``verify()``
            computes them again without the search.
        """
        row = self._row(query)
        if self._question is None:
            raise ValueError(
                "A pickled copy of Neighbors has no corpus to make certificates with: search again."
            )
        asked = self._question
        return certificate_of(asked.corpus, asked.queries, row, asked.options, self[row])

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record a hit (query, rank, index, distance) in plain types, as for a table."""
        return [
            {"query": query, "rank": rank, "index": index, "distance": distance}
            for query, (indices, distances) in enumerate(self)
            for rank, (index, distance) in enumerate(
                zip(indices.tolist(), distances.tolist(), strict=True)
            )
        ]

    def _row(self, query: int) -> int:
        try:
            row = operator.index(query)
        except TypeError:
            raise TypeError(
                "A query is named by its position, a whole number, one at a time; got "
                f"{query!r}. Use indices and distances for several at once."
            ) from None
        count = len(self)
        if not -count <= row < count:
            there_are = f"There {'is' if count == 1 else 'are'}"
            said = _counted(count, "query", "queries")
            raise IndexError(f"{there_are} {said}; got position {row}.")
        return row % count

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_question": None}

    def __repr__(self) -> str:
        head = (
            f"Neighbors: {_counted(len(self), 'query', 'queries')}, {len(self._hits.rows):,} found "
            f"among {_counted(self._documents, 'document', 'documents')}"
        )
        lines = [head]
        for query in range(min(len(self), _SHOWN_QUERIES)):
            indices, distances = self[query]
            shown = [
                f"{index} ({distance:.4g})"
                for index, distance in zip(
                    indices[:_SHOWN_HITS].tolist(), distances[:_SHOWN_HITS].tolist(), strict=True
                )
            ]
            more = [f"and {len(indices) - _SHOWN_HITS:,} more"] * (len(indices) > _SHOWN_HITS)
            lines.append(f"  {query}: {', '.join(shown + more) or 'nothing'}")
        if len(self) > _SHOWN_QUERIES:
            lines.append(f"  ... and {len(self) - _SHOWN_QUERIES:,} more queries")
        return "\n".join(lines)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
