"""The documents of a view searched by the transport of words, and why they are near."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textkin import _core
from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.explain import AlignedText, Contributions, Flow
from textkin.index.ranking._feedback import Rocchio, WeightedWords, moved_words
from textkin.index.ranking._ranking import Ranked, Ranker
from textkin.index.ranking._view import View
from textkin.run import effective_jobs, memory_in_bytes, stop_check
from textkin.text.reading._document import shortened
from textkin.transport import Comparison
from textkin.transport._blocks import Algorithm, Hits, Options
from textkin.transport._comparison import compare_rows
from textkin.transport._neighbors import SearchStats
from textkin.transport._parts import Side, centroid_parts, relaxed_flow
from textkin.transport._refusals import empty_document_error
from textkin.vectors._encode import Encoded, shares

if TYPE_CHECKING:
    from textkin.index.ranking._transport import TransportRanking

__all__ = ["SIDES", "TransportQuery", "TransportRanker"]

SIDES: dict[str, Side] = {"rwmd": "both", "rwmd-query": "source", "rwmd-document": "target"}
"""Whose masses a relaxation keeps."""

_NAMED = 8  # words that a note names
_TOGETHER = 256  # queries whose pairs are searched for together
_OF_PREFETCH = ("relaxed", "centroid")  # bounds that the search of a store does not use


class TransportQuery(NamedTuple):
    """Words with masses, over the rows of the vectors.

    Attributes
    ----------
    encoded : Encoded
        The words, as the only row.
    text : str
        What it was read from, where that is known.
    row : int or None
        The document that it is, if it is one.
    """

    encoded: Encoded
    text: str = ""
    row: int | None = None


class TransportRanker(Ranker[TransportQuery]):
    """The documents of a view, searched by transport.

    Parameters
    ----------
    ranking : TransportRanking
        How far apart they are.
    view : View
        The documents.
    """

    def __init__(self, ranking: "TransportRanking", view: View) -> None:
        self.view = view
        self.ascending = ranking.ascending
        self._ranking = ranking
        self._stored = ranking.documents_of(view)
        self._memory = memory_in_bytes(ranking.memory)
        if ranking.method == "wmd":
            self._stored.blocks.prepare(self._memory)

    # ------------------------------------------------------------------ queries

    def of_text(self, text: str) -> TransportQuery:
        """Read a text as documents are read; words without a vector are left out."""
        counted: dict[str, float] = {}
        for word in self.view.read(text):
            counted[word] = counted.get(word, 0.0) + 1.0
        return TransportQuery(self._stored.of_counts(counted), text)

    def of_row(self, row: int) -> TransportQuery:
        """Take the counted words of a document."""
        return TransportQuery(self._stored.of_row(row), row=row)

    def of_words(self, weights: Mapping[str, float]) -> TransportQuery:
        """Take weights as masses, whatever they sum to; stop words count if they are given.

        Raises
        ------
        ValueError
            If a weight is negative.
        """
        names = list(weights)
        masses = np.fromiter(weights.values(), np.float64, len(names))
        if (masses < 0).any():
            at = int((masses < 0).argmax())
            raise ValueError(
                f"the weight of {shortened(names[at], 40)} must be at least 0, for it is a mass; "
                f"got {masses[at]:g}."
            )
        rows = self.view.vectors().lookup(names)
        return TransportQuery(self._stored.encoded(rows, masses, names, None))

    def words_of(self, query: TransportQuery) -> Mapping[str, float]:
        """Return the words of a query, as the vectors spell them, with their masses."""
        words, masses = _masses_of(query.encoded)
        order = np.argsort(-masses, kind="stable")
        return {self._stored.space.name(int(words[at])): float(masses[at]) for at in order}

    # ------------------------------------------------------------------ search

    def best(
        self,
        query: TransportQuery,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> Ranked:
        """Find the nearest documents; the threshold is how far they may be, that far included."""
        return self.best_of_each([query], limit, [threshold], rows)[0]

    def best_of_each(
        self,
        queries: Sequence[TransportQuery],
        limit: int,
        thresholds: Sequence[float | None],
        rows: BoolArray | None = None,
    ) -> list[Ranked]:
        """Find the nearest documents of several queries, whose words share their tables."""
        if not queries:
            return []
        radii = [math.inf if one is None else float(one) for one in thresholds]
        hits = self._stored.blocks.search(
            _documents_of([query.encoded for query in queries]),
            Options(
                k=limit,
                radii=np.array(radii),
                algorithm=self._algorithm,
                mask=None if rows is None else np.ascontiguousarray(rows).view(np.uint8),
                memory=self._memory,
                threads=effective_jobs(self._ranking.n_jobs),
            ),
            progress=stop_check(),
        )
        return [
            Ranked(one.rows, one.distances, self._stats(one, query.encoded), (*self._notes(query),))
            for one, query in zip(hits.each(), queries, strict=True)
        ]

    def rows(self) -> Encoded:
        """Return all documents of the view as queries."""
        return self._stored.rows()

    def within(
        self, queries: Encoded, radius: float, from_row: Int64Array | None = None
    ) -> Iterator[tuple[Int64Array, Int64Array, Float64Array]]:
        """Find all pairs of a query and a document that are at most so far apart.

        Parameters
        ----------
        queries : Encoded
            Of this or another view with the same words, such as `rows` gives.
        radius : float
            How far, that far included.
        from_row : ndarray of int64, optional
            From which row on each query looks.

        Yields
        ------
        queries, rows, distances : ndarray
            Pairs of some queries: in the order of these, for each the nearest first.
        """
        options = Options(
            radius=radius,
            algorithm=self._algorithm,
            memory=self._memory,
            threads=effective_jobs(self._ranking.n_jobs),
        )
        for start in range(0, len(queries), _TOGETHER):
            some = slice(start, min(start + _TOGETHER, len(queries)))
            indptr = queries.indptr[some.start : some.stop + 1]
            entries = slice(int(indptr[0]), int(indptr[-1]))
            asked = replace(
                queries,
                indptr=indptr - indptr[0],
                indices=queries.indices[entries],
                counts=queries.counts[entries],
            )
            hits = self._stored.blocks.search(
                asked.documents(),
                options,
                from_row=None if from_row is None else from_row[some],
                progress=stop_check(),
            )
            numbers = np.arange(some.start, some.stop, dtype=np.int64)
            yield np.repeat(numbers, np.diff(hits.starts)), hits.rows, hits.distances

    def _notes(self, query: TransportQuery) -> Iterator[str]:
        """Name the words of a text that documents have, but the vectors do not."""
        unknown = list(query.encoded.unknown[0]) if query.text and query.encoded.unknown else []
        if not unknown:
            return
        there = [
            word
            for word, n in zip(unknown, self.view.snapshot.find(unknown), strict=True)
            if n >= 0
        ]
        if there:
            shown = ", ".join(shortened(word, 40) for word in there[:_NAMED])
            more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
            yield f"The word vectors do not have the word{'s' * (len(there) > 1)} {shown}{more}."

    @property
    def _algorithm(self) -> Algorithm:
        return "auto" if self._ranking.method == "wmd" else self._ranking.method

    def _stats(self, hits: Hits, query: Encoded) -> dict[str, float]:
        stats = SearchStats.of(hits, self.view.n_rows).totals
        coverage = query.coverage(0)
        dead = self.view.n_rows - self.view.n_documents
        return {
            "documents": self.view.n_documents,
            "empty": stats["empty"],
            "left_out": stats["left_out"] - dead,
            **{
                f"removed_{name}": removed
                for name, removed in stats["removed"].items()
                if name not in _OF_PREFETCH
            },
            "refined": stats["refined"],
            "solved": stats["solved"],
            "query_known": coverage.known,
            "query_total": coverage.total,
        }

    # ------------------------------------------------------------------ reasons

    def explain(self, query: TransportQuery, row: int) -> Comparison | Flow | Contributions:
        """Return why a document is so far.

        Returns
        -------
        Comparison, Flow or Contributions
            "wmd": what `WordMover.explain` returns, with the flow and its proof. "rwmd": the flow
            of the larger relaxation. "wcd": what each word adds to the distance of the centroids.

        Raises
        ------
        EmptyDocumentError
            If the query or the document has no word with a vector.
        """
        space, cost, method = self._stored.space, self._ranking.cost, self._ranking.method
        first, second = query.encoded, self._stored.of_row(row)
        a, b = (_compared(one, name) for one, name in ((first, "query"), (second, "document")))
        if method == "wcd":
            return centroid_parts(space, first, a, second, b, cost)
        if method != "wmd":
            return relaxed_flow(space, first, a, second, b, cost, SIDES[method])
        texts = self._texts(query, row)
        return compare_rows(space, first, a, second, b, cost, None, texts, self._stored.places)

    def aligned(self, query: TransportQuery, row: int) -> AlignedText | None:
        """Return query and document whole, with each word as far as it travels.

        None where the query is no text any more, and for centroids, which no word travels to.
        """
        explained = self.explain(query, row)
        if isinstance(explained, Comparison):
            explained = explained.flow
        texts = self._texts(query, row)
        if not isinstance(explained, Flow) or not all(texts):
            return None
        first, second = (self._stored.places(text) for text in texts)
        return AlignedText.of(explained, texts[0], first, texts[1], second)

    def _texts(self, query: TransportQuery, row: int) -> tuple[str, str]:
        own = query.text if query.row is None else self.view.documents([query.row])[0].text
        return own, self.view.documents([row])[0].text

    def moved(
        self,
        query: TransportQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: Rocchio,
    ) -> TransportQuery:
        """Move the masses, those of query and documents each summing to 1, and so the new ones."""
        there, others = (
            [_masses_of(self._stored.of_row(row)) for row in rows]
            for rows in (relevant, nonrelevant)
        )
        words, masses = moved_words(_masses_of(query.encoded), there, others, how)
        if len(masses):
            masses = shares(masses)
        return TransportQuery(self._stored.encoded(words, masses, (), None))


def _documents_of(queries: Sequence[Encoded]) -> _core.Documents:
    """Return queries as the rows of one matrix, their masses as each has them."""
    if len(queries) == 1:
        return queries[0].documents()
    lengths = [len(query.indices) for query in queries]
    masses = [
        query.counts
        if query.word_weights is None
        else query.counts * query.word_weights[query.indices]
        for query in queries
    ]
    return Encoded(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([query.indices for query in queries]),
        np.concatenate(masses),
        queries[0].columns,
        (),
        None,
    ).documents()


def _masses_of(encoded: Encoded) -> WeightedWords:
    """Return the words that weigh something, and their shares."""
    weights = encoded.counts
    if encoded.word_weights is not None:
        weights = weights * encoded.word_weights[encoded.indices]
    heavy = weights > 0
    if not heavy.any():
        return encoded.indices[:0], weights[:0]
    return encoded.indices[heavy], shares(weights[heavy])


def _compared(encoded: Encoded, name: str) -> _core.Documents:
    documents = encoded.documents()
    if documents.empty_rows().size:
        raise empty_document_error(encoded, [0], name, choice=False)
    return documents
