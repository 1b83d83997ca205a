"""Distance measure by transport: Word Mover's Distance or one of its lower bounds."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from textkin._base import BoolArray, Float64Array, Int64Array
from textkin.corpus import DocumentRows, RankedRows
from textkin.learn._documents import one
from textkin.learn._equal_rows import keys_of_entries
from textkin.learn._measure import Measure
from textkin.run import ProgressCallback
from textkin.text import text_of
from textkin.transport import (
    Comparison,
    PairBlock,
    SearchCertificate,
    SearchOptions,
    TokenMover,
    TransportEngine,
    WordMover,
)

__all__ = ["TransportMeasure"]


class TransportMeasure(Measure):
    """Documents as weighted words, compared by a `WordMover` or `TokenMover`.

    Parameters
    ----------
    mover : WordMover or TokenMover
        Settings of the distance. The measure uses a copy, for which empty documents are infinitely
        distant.
    """

    def __init__(self, mover: WordMover | TokenMover) -> None:
        self.mover: Any = clone(mover).set_params(empty="inf")
        if mover.metric != "wmd":
            self.parts_of = "the exact distance"

    def fit(self, X: Any) -> "TransportMeasure":  # noqa: ANN401
        """Store the documents, and learn word weights if the mover needs a corpus for them."""
        self.documents = X
        self.mover.fit(X)
        self.empty: BoolArray = self.engine.rows.are_empty()
        return self

    def _fitted_state(self) -> dict[str, Any]:
        return {"mover": self.mover}

    def _restore_fitted(self, state: dict[str, Any]) -> None:
        mover = state["mover"]
        if type(mover) is not type(self.mover) or mover.empty != "inf":
            raise ValueError(f"the mover must be a {type(self.mover).__name__} with empty='inf'")
        self.mover = mover
        self.empty = self.engine.rows.are_empty()

    @property
    def engine(self) -> TransportEngine:
        """`TransportEngine` over the fitted documents."""
        engine: TransportEngine = self.mover.engine()
        return engine

    def read_queries(self, queries: Any) -> DocumentRows:  # noqa: ANN401
        """Convert query documents to rows for the transport engine."""
        rows: DocumentRows = self.mover.read_queries(queries)
        return rows

    def nearest(
        self,
        queries: Any,  # noqa: ANN401
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Return the `k` fitted documents nearest to each query by the mover's metric."""
        engine = self.engine
        options: SearchOptions = self.mover.search_options(k)
        rows = engine.rows if queries is None else self.read_queries(queries)
        without = np.arange(len(engine), dtype=np.int64) if queries is None else None
        return engine.search(rows, options, without=without, progress=progress)

    def nearest_among(
        self,
        rows: Int64Array,
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Return for each fitted document in `rows` its `k` nearest others within `rows`."""
        some = self.engine.among(rows)
        options: SearchOptions = self.mover.search_options(k)
        without = np.arange(len(some), dtype=np.int64)
        return some.search(some.rows, options, without=without, progress=progress)

    def below(
        self,
        threshold: float,
        queries: Any = None,  # noqa: ANN401
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Yield pairs of a query and a document within `threshold`; bounds prune most pairs."""
        engine = self.engine
        options: SearchOptions = self.mover.search_options(None, float(threshold))
        if queries is None:
            from_row = np.arange(1, len(engine) + 1, dtype=np.int64)
            return engine.pairs_within(engine.rows, options, from_row, progress=progress)
        return engine.pairs_within(self.read_queries(queries), options, progress=progress)

    def below_among(
        self,
        threshold: float,
        rows: Int64Array,
        columns: Int64Array | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Yield pairs within `threshold` of the documents `rows` and `columns`, with pruning."""
        engine = self.engine
        options: SearchOptions = self.mover.search_options(None, float(threshold))
        found = rows if columns is None else columns
        some = engine.among(found)
        queries = some.rows if columns is None else engine.rows.take(rows)
        from_row = np.arange(1, len(rows) + 1, dtype=np.int64) if columns is None else None
        for block in some.pairs_within(
            queries, options, from_row, centroids_first=True, progress=progress
        ):
            yield PairBlock(rows[block.rows], found[block.columns], block.distances)

    def keys(self) -> list[bytes]:
        """Return a byte key of each document's words and counts; unique for token vectors."""
        rows = self.engine.rows
        return keys_of_entries(rows.indptr, rows.indices, rows.counts)

    def between(
        self,
        rows: Int64Array,
        columns: Int64Array,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the matrix of exact distances from documents `rows` to documents `columns`."""
        engine = self.engine
        options: SearchOptions = self.mover.search_options()
        options = replace(options, algorithm="brute")
        ranked = engine.among(columns).search(engine.rows.take(rows), options, progress=progress)
        matrix = np.full((len(rows), len(columns)), np.inf)
        matrix[np.repeat(np.arange(len(rows)), np.diff(ranked.indptr)), ranked.rows] = ranked.scores
        return matrix

    def nearest_of(
        self,
        columns: Int64Array,
        queries: Any,  # noqa: ANN401
        *,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Return the nearest of the fitted documents `columns` for each query."""
        options: SearchOptions = self.mover.search_options(1)
        some = self.engine.among(columns)
        return some.search(self.read_queries(queries), options, progress=progress)

    def explain(self, query: Any, row: int) -> Comparison | None:  # noqa: ANN401
        """Return the flow between a query and a document, or None if one of them is empty."""
        # Text without metadata, so that the figure shows it.
        query, document = text_of(query), text_of(one(self.documents, row))
        if self.empty[row] or self._is_empty(query):
            return None
        found: Comparison = self.mover.explain(query, document)
        return found

    def certificate(
        self,
        query: Any,  # noqa: ANN401
        k: int,
        found: tuple[Int64Array, Float64Array],
    ) -> SearchCertificate:
        """Repeat the search for a query, and return a certificate with a verdict per document."""
        options: SearchOptions = self.mover.search_options(k)
        return self.engine.certificate(self._read_one(query), found, options)

    def _read_one(self, query: Any) -> DocumentRows:  # noqa: ANN401
        return self.read_queries([query] if isinstance(self.documents, list) else query)

    def _is_empty(self, query: Any) -> bool:  # noqa: ANN401
        return bool(self._read_one(query).are_empty()[0])
