"""Transport as a measure of documents: the exact search, or one of its bounds."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.distance._near import NearRows
from textkin.learn._candidates import near_pairs, taken
from textkin.learn._documents import one
from textkin.learn._hashing import keys_of_entries
from textkin.learn._measures import TRANSPORT, Measure
from textkin.run import ProgressCallback
from textkin.text._tokenise import text_of
from textkin.transport import Comparison, Neighbors, PairBlock, TokenMover, WordMover
from textkin.transport._corpus import Corpus, Hits, Options, Rows
from textkin.transport._neighbors import Question
from textkin.transport._streams import pair_blocks

__all__ = ["FoundRows", "TransportMeasure"]


_BOUNDS = tuple(name for name in TRANSPORT.values() if name != "auto")  # ranked by alone


@dataclass(frozen=True, slots=True, eq=False)
class FoundRows(NearRows):
    """Rows that an exact search found; it can prove them, see `Neighbors.certificate`."""

    search: Neighbors


class TransportMeasure(Measure):
    """Documents as their words with masses; the distance is that of a `WordMover`.

    Parameters
    ----------
    mover : WordMover or TokenMover
        Says how; it is copied, and the copy takes empty documents as infinitely far.
    """

    def __init__(self, mover: WordMover | TokenMover) -> None:
        self.mover: Any = clone(mover).set_params(empty="inf")
        if mover.algorithm in _BOUNDS:
            self.parts_of = "the exact distance"

    def fit(self, X: Any) -> "TransportMeasure":  # noqa: ANN401
        """Keep documents, and learn the masses where they are learnt."""
        self.documents = X
        self.mover.fit(X)
        self.empty: BoolArray = self._corpus.are_empty(self._corpus.rows)
        return self

    @property
    def _corpus(self) -> Corpus:
        corpus: Corpus = self.mover._corpus()
        return corpus

    def _asked(self, queries: Any) -> Rows:  # noqa: ANN401
        corpus = self._corpus
        if isinstance(self.mover, TokenMover):
            return self.mover._asked(queries, corpus)
        rows: Rows = self.mover._read(queries, "X", corpus.space, corpus.weights, empty="inf").rows
        return rows

    def nearest(
        self,
        queries: Any,  # noqa: ANN401
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> FoundRows:
        """Search exactly, or by the bound that `algorithm` names."""
        corpus = self._corpus
        options: Options = self.mover._options(k)
        asked = corpus.rows if queries is None else self._asked(queries)
        without = np.arange(len(corpus), dtype=np.int64) if queries is None else None
        hits = corpus.search(asked, options, without=without, progress=progress)
        found = Neighbors.of(hits, Question(corpus, asked, options))
        return FoundRows(hits.starts, hits.rows, hits.distances, found)

    def nearest_among(
        self,
        rows: Int64Array,
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> NearRows:
        """Search among those documents alone."""
        corpus = self._corpus
        some = replace(corpus, rows=taken(corpus.rows, rows))
        options: Options = self.mover._options(k)
        without = np.arange(len(some), dtype=np.int64)
        hits: Hits = some.search(some.rows, options, without=without, progress=progress)
        return NearRows(hits.starts, hits.rows, hits.distances)

    def below(
        self,
        threshold: float,
        queries: Any = None,  # noqa: ANN401
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Stream the pairs, most of them removed by bounds."""
        corpus = self._corpus
        options: Options = self.mover._options(None, float(threshold))
        if queries is None:
            from_row = np.arange(1, len(corpus) + 1, dtype=np.int64)
            return pair_blocks(corpus, corpus.rows, options, from_row, progress)
        return pair_blocks(corpus, self._asked(queries), options, None, progress)

    def below_among(
        self,
        threshold: float,
        rows: Int64Array,
        columns: Int64Array | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Stream the pairs of some documents, most of them removed by bounds."""
        corpus = self._corpus
        options: Options = self.mover._options(None, float(threshold))
        found = rows if columns is None else columns
        some = replace(corpus, rows=taken(corpus.rows, found))
        asked = some.rows if columns is None else taken(corpus.rows, rows)
        from_row = np.arange(1, len(rows) + 1, dtype=np.int64) if columns is None else None
        for block in near_pairs(some, asked, options, from_row, progress):
            yield PairBlock(rows[block.rows], found[block.columns], block.distances)

    def keys(self) -> list[bytes]:
        """Return the words and their counts; tokens with vectors of their own equal no others."""
        rows = self._corpus.rows
        return keys_of_entries(rows.indptr, rows.words, rows.counts)

    def between(
        self,
        rows: Int64Array,
        columns: Int64Array,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Compute every distance asked for: nothing can be left out."""
        corpus = self._corpus
        some = replace(corpus, rows=taken(corpus.rows, columns))
        options: Options = self.mover._options(None, math.inf)
        if options.algorithm in ("auto", "prefetch"):
            options = replace(options, algorithm="brute")
        hits: Hits = some.search(taken(corpus.rows, rows), options, progress=progress)
        matrix = np.full((len(rows), len(columns)), np.inf)
        matrix[np.repeat(np.arange(len(rows)), np.diff(hits.starts)), hits.rows] = hits.distances
        return matrix

    def nearest_of(
        self,
        columns: Int64Array,
        queries: Any,  # noqa: ANN401
        *,
        progress: ProgressCallback | None = None,
    ) -> NearRows:
        """Search among those documents alone."""
        corpus = self._corpus
        some = replace(corpus, rows=taken(corpus.rows, columns))
        options: Options = self.mover._options(1)
        hits: Hits = some.search(self._asked(queries), options, progress=progress)
        return NearRows(hits.starts, hits.rows, hits.distances)

    def explain(self, query: Any, row: int) -> Comparison | None:  # noqa: ANN401
        """Return the flow of words, or of tokens; None where one of the two is empty."""
        # A text alone, so that the picture shows it.
        query, document = text_of(query), text_of(one(self.documents, row))
        if self.empty[row] or self._is_empty(query):
            return None
        found: Comparison = self.mover.explain(query, document)
        return found

    def _is_empty(self, query: Any) -> bool:  # noqa: ANN401
        many = query if not isinstance(self.documents, list) else [query]
        return bool(self._corpus.are_empty(self._asked(many))[0])
