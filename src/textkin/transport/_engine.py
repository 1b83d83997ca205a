"""Transport engine: documents over word vectors, with search, distances, and explanations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from textkin import _core
from textkin._base import Float32Array, Float64Array, Int32Array, Int64Array
from textkin.corpus import DocumentRows, MaskArray, RankedRows, VectorTable
from textkin.run import ProgressCallback
from textkin.transport._certificate import Certificate
from textkin.transport._comparison import (
    Bounds,
    Comparison,
    FindsWords,
    bounds_of_rows,
    compare_rows,
)
from textkin.transport._core_search import CoreSearch, SearchOptions, TransportMetric
from textkin.transport._pairs import PairBlock, near_pairs, pair_blocks
from textkin.transport._search_certificate import SearchCertificate, certificate_of
from textkin.transport._solver import CostName

if TYPE_CHECKING:
    from textkin.transport.gpu._adapter import SearchOnDevice

__all__ = ["TransportEngine"]

# Number of queries that the core gets at a time.
_BATCH = 4096
# Memory of the tables of a matrix of bounds, in addition to the result, in bytes.
_MATRIX_MEMORY = 256 << 20
# Search plans that compute bounds of all documents, which a GPU can do.
_ON_DEVICE = ("auto", "rwmd", "rwmd-query", "rwmd-document")
_DEFAULT = SearchOptions()
_SIDES: dict[str, Literal["both", "query", "document"]] = {
    "rwmd": "both",
    "rwmd-query": "query",
    "rwmd-document": "document",
}
"""Side whose words go to the nearest word of the other side, by metric."""
_CACHED = ("core", "rows", "_on_device")


@dataclass(frozen=True, eq=False)
class TransportEngine:
    """Exact transport between documents over word vectors: search, distances, certificates.

    `WordMover`, `TokenMover`, the transport rankings of an index, and the transport measure of
    `textkin.learn` each hold an engine. Without documents it compares rows that are passed to it.

    Parameters
    ----------
    table : VectorTable
        Word vectors.
    cost : {"euclidean", "cosine", "sqeuclidean"}
        Cost of moving a word.
    weights : ndarray of shape (n_columns,), float64, or None, default=None
        Factor of the counts of each column of the documents. If None, 1.
    blocks : sequence of DocumentRows, default=()
        Documents to search in, in blocks, which are not copied.
    column_map : ndarray of shape (n_columns,), int32, or None, default=None
        Row of the table for each column of the blocks, or -1. If None, columns are rows.

    Examples
    --------
    >>> import numpy as np
    >>> from textkin.corpus import DocumentRows, VectorTable
    >>> from textkin.transport import SearchOptions, TransportEngine
    >>> table = VectorTable.of_matrix(np.array([[1.0], [2.0], [6.0]]), unit=False)
    >>> rows = DocumentRows(np.array([0, 1, 2]), np.array([0, 2], np.int32), 3, np.ones(2))
    >>> engine = TransportEngine(table, "euclidean", blocks=[rows])
    >>> found = engine.search(rows[:1], SearchOptions(k=2))
    >>> found.rows.tolist(), found.scores.tolist()
    ([0, 1], [0.0, 5.0])
    """

    table: VectorTable
    cost: CostName
    weights: Float64Array | None = None
    blocks: Sequence[DocumentRows] = ()
    column_map: Int32Array | None = None

    def __len__(self) -> int:
        return len(self.core)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _CACHED}

    @cached_property
    def core(self) -> CoreSearch:
        """Prepared search of the compiled core over the documents of the engine."""
        n_columns = len(self.table.vectors if self.column_map is None else self.column_map)
        return CoreSearch(
            self.table, self.cost, self.blocks, n_columns, self.column_map, self.weights
        )

    @cached_property
    def rows(self) -> DocumentRows:
        """Documents of the engine with their word weights, in the form of queries."""
        assert self.column_map is None, "documents and queries must have the same columns"
        (block,) = self.blocks
        return replace(block, weights=self.weights)

    def among(self, positions: Int64Array) -> "TransportEngine":
        """Return an engine over a copy of the documents at given positions of its only block."""
        return replace(self, blocks=[self.rows.take(positions)])

    def prepare(self, memory: int | None = None) -> None:
        """Prepare searches with a memory limit now, instead of during the first search."""
        self.core.prepare(memory)

    # ------------------------------------------------------------------ search

    def search(
        self,
        queries: DocumentRows,
        options: SearchOptions,
        *,
        without: Int64Array | None = None,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Find the documents with the smallest distance to each query, as `RankedRows`.

        Parameters
        ----------
        queries : DocumentRows
            Queries over the table, with their own weights.
        options : SearchOptions
            Options of the search.
        without : ndarray of shape (n_queries,), int64, or None
            Document that each query must not find.
        progress : callable or None
            Function that is called with (queries done, number of queries).

        Returns
        -------
        RankedRows
            Documents and distances, nearest first.
        """
        found = self.batches(queries, options, without=without, progress=progress)
        return RankedRows.joined([ranked for _, ranked in found])

    def batches(
        self,
        queries: DocumentRows,
        options: SearchOptions,
        *,
        without: Int64Array | None = None,
        from_row: Int64Array | None = None,
        progress: ProgressCallback | None = None,
        size: int | None = None,
    ) -> Iterator[tuple[int, RankedRows]]:
        """Search for queries in batches; yield the result of each batch.

        Parameters
        ----------
        queries, options, without, progress
            As for `search`.
        from_row : ndarray of shape (n_queries,), int64, or None
            First document to search for each query.
        size : int or None
            Number of queries per batch. If None, the batch size of the core.

        Yields
        ------
        int, RankedRows
            Position of the first query of a batch, and the result of the batch.
        """
        total, size = len(queries), size or _BATCH
        for begin in range(0, max(total, 1), size):  # once even if there are no queries
            end = min(begin + size, total)
            part = queries if end - begin == total else queries[begin:end]
            radii = options.radii
            here = options
            if isinstance(radii, np.ndarray) and len(radii) != len(part):
                here = replace(options, radii=radii[begin:end])
            own = None if without is None else without[begin:end]
            after = None if from_row is None else from_row[begin:end]
            reported = _from(progress, begin, total)
            device = self._device_search(here) if part.points is None else None
            if device is not None:
                found = device.search(
                    self, part, here, without=own, from_row=after, progress=reported
                )
            else:
                found = self.core.search(
                    part.documents(),
                    here,
                    points=part.points,
                    without=own,
                    from_row=after,
                    progress=reported,
                )
            yield begin, found

    def pairs_within(
        self,
        queries: DocumentRows,
        options: SearchOptions,
        from_row: Int64Array | None = None,
        *,
        centroids_first: bool = False,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Yield blocks of all pairs (query, document) whose distance is within `options.radius`.

        Parameters
        ----------
        queries : DocumentRows
            Queries.
        options : SearchOptions
            Options of the search, with a radius.
        from_row : ndarray of shape (n_queries,), int64, or None, default=None
            First document to search for each query.
        centroids_first : bool, default=False
            Whether to exclude pairs by the distance of centroids before the search. The result is
            the same.
        progress : callable or None
            Function that is called with (queries done, number of queries).

        Yields
        ------
        PairBlock
            Positions among the queries and the documents, and their distances.
        """
        stream = near_pairs if centroids_first else pair_blocks
        return stream(self, queries, options, from_row, progress)

    def _device_search(self, options: SearchOptions) -> "SearchOnDevice | None":
        """Return the search on a GPU if it is faster for these options, or None."""
        if options.device is None:
            self.leave_device()
        if (
            options.device is None
            or options.plan not in _ON_DEVICE
            or isinstance(options.radii, np.ndarray)
        ):
            return None
        from textkin.transport.gpu._adapter import SearchOnDevice

        where = options.device, options.device_memory, options.memory
        kept: tuple[object, SearchOnDevice] | None = self.__dict__.get("_on_device")
        if kept is None or kept[0] != where:
            del kept
            self.leave_device()  # before a new copy takes memory
            kept = self.__dict__["_on_device"] = where, SearchOnDevice(self, options)
        return kept[1]

    def leave_device(self) -> None:
        """Release the GPU memory of the documents; the next search copies them again."""
        self.__dict__.pop("_on_device", None)

    # ------------------------------------------------------------------ distances

    def matrix(
        self,
        rows: _core.Documents,
        columns: _core.Documents,
        metric: TransportMetric,
        options: SearchOptions,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Compute the matrix of distances, or of one lower bound, for all pairs of two collections.

        Parameters
        ----------
        rows, columns : Documents
            n and m documents over the table, from `DocumentRows.documents`. If both are the same
            object, its documents are compared with each other, at half the work.
        metric : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"}
            Exact distance, a relaxation, or the distance of the centroids.
        options : SearchOptions
            Threads, memory limit of the problems of "wmd", device, and memory of the device.
        progress : callable or None
            Function that is called with (pairs done, number of pairs), for "wmd" only.

        Returns
        -------
        ndarray of shape (n, m), float64
            Distances.
        """
        vectors, cost = self.table.vectors, self.cost
        if metric == "wmd":
            return _core.distance_matrix(
                vectors, rows, columns, cost, options.memory or 0, options.threads, progress
            )
        if options.device is not None:
            from textkin.transport.gpu._adapter import centroids_on_device, relaxed_on_device

            if metric == "wcd":
                return centroids_on_device(vectors, cost, rows, columns, options.device)
            here = replace(options, memory=_MATRIX_MEMORY)
            return relaxed_on_device(vectors, cost, rows, columns, _SIDES[metric], here)
        if metric == "wcd":
            return _core.centroid_matrix(
                vectors, rows, columns, cost, _MATRIX_MEMORY, options.threads
            )
        return _core.relaxed_matrix(
            vectors, rows, columns, cost, _SIDES[metric], _MATRIX_MEMORY, options.threads
        )

    def paired(
        self,
        rows: _core.Documents,
        columns: _core.Documents,
        options: SearchOptions = _DEFAULT,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Compute the exact distance between document i of `rows` and document i of `columns`."""
        _check_paired(len(rows), len(columns))
        both = np.arange(len(rows), dtype=np.int64)
        return _core.distance_pairs(
            self.table.vectors,
            rows,
            both,
            columns,
            both,
            self.cost,
            options.memory or 0,
            options.threads,
            progress,
        )

    def paired_bounds(
        self,
        rows: DocumentRows,
        columns: DocumentRows,
        metric: TransportMetric,
        options: SearchOptions,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Compute a lower bound of the distance between document i of `rows` and of `columns`."""
        _check_paired(len(rows), len(columns))
        found = np.empty(len(rows))
        for at in range(len(rows)):
            a, b = (of[at : at + 1].documents() for of in (rows, columns))
            found[at] = self.matrix(a, b, metric, options)[0, 0]
            if progress is not None:
                progress(at + 1, len(rows))
        return found

    # ------------------------------------------------------------------ explanations, certificates

    def bounds(
        self, a: _core.Documents, b: _core.Documents, options: SearchOptions = _DEFAULT
    ) -> Bounds:
        """Compute the lower bounds of the distance between the first documents of `a` and `b`."""
        return bounds_of_rows(self.table, a, b, self.cost, options.memory)

    def explain(
        self,
        a: DocumentRows,
        b: DocumentRows,
        options: SearchOptions = _DEFAULT,
        *,
        feature_names: Sequence[str] | None = None,
        texts: tuple[str, str] = ("", ""),
        finder: FindsWords | None = None,
    ) -> Comparison:
        """Compute the distance, flow, bounds, and certificate of two nonempty one-row inputs.

        Parameters
        ----------
        a, b : DocumentRows
            Documents over the table.
        options : SearchOptions
            Memory limit of the transport problem.
        feature_names : sequence of str, optional
            Names of the rows of the table.
        texts : (str, str)
            Texts of the documents; empty if unknown.
        finder : callable, optional
            Function that finds the words of a flow in a text.
        """
        return compare_rows(
            self.table, a, b, self.cost, feature_names, texts, finder, memory=options.memory
        )

    def certificate(
        self,
        query: DocumentRows,
        found: tuple[Int64Array, Float64Array],
        options: SearchOptions,
    ) -> SearchCertificate:
        """Repeat the search for one query, and return a certificate with a verdict per document.

        Parameters
        ----------
        query : DocumentRows
            Query, as the only row.
        found : (ndarray of int64, ndarray of float64)
            Positions and distances of the hits.
        options : SearchOptions
            Options of the original search.
        """
        return certificate_of(self, query, found, options)

    def record(
        self, query: DocumentRows, options: SearchOptions
    ) -> tuple[RankedRows, MaskArray, Float64Array]:
        """Search for one query; return a verdict and a distance or bound for every document."""
        return self.core.record(query.documents(), options, query.points)

    def proof(
        self, query: DocumentRows, row: int, options: SearchOptions = _DEFAULT
    ) -> Certificate:
        """Compute the exact distance of a query to one document, with plan and potentials."""
        document = self.rows[row : row + 1]
        source_words, source_masses = query.word_shares(0)
        target_words, target_masses = document.word_shares(0)
        x, y = self.vectors_of(query, source_words), self.vectors_of(document, target_words)
        # A table of only the words of the two, in their order; shared words stay shared.
        both = (document, query)
        words, first = np.unique(np.concatenate([of.indices for of in both]), return_index=True)
        table = np.concatenate([self.vectors_of(of, of.indices) for of in both])[first]
        b, a = (_renumbered(of, words) for of in both)
        found = _core.explain(table, a, 0, b, 0, self.cost, options.memory or 0, None)
        return Certificate(
            found.distance,
            source_masses,
            target_masses,
            found.source,
            found.target,
            found.mass,
            found.source_potentials,
            found.target_potentials,
            self.cost,
            x,
            y,
        )

    def vectors_of(self, rows: DocumentRows, words: Int32Array) -> Float32Array:
        """Return the word vectors for given word columns of documents or queries."""
        if rows.points is None:
            return self.table.vectors[words]
        return rows.points[words - len(self.table.vectors)]


def _renumbered(rows: DocumentRows, words: Int32Array) -> _core.Documents:
    """Convert a one-row document to the core's type, with columns renumbered by `words`."""
    weights = rows.weighted_counts()
    heavy = weights > 0
    indptr = np.array([0, np.count_nonzero(heavy)], dtype=np.int64)
    numbers = np.searchsorted(words, rows.indices[heavy]).astype(np.int32)
    return _core.Documents(indptr, numbers, weights[heavy], len(words))


def _check_paired(rows: int, columns: int) -> None:
    if rows != columns:
        raise ValueError(
            f"X and Y must have the same number of documents; got {rows} and {columns}."
        )


def _from(progress: ProgressCallback | None, before: int, total: int) -> ProgressCallback | None:
    """Return a progress callback for one batch that reports progress of the whole call."""
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)
