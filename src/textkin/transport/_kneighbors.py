"""The search in the shapes and with the rules of scikit-learn's `NearestNeighbors`."""

from numbers import Integral
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textkin._typing import Float64Array, Int64Array
from textkin.exceptions import EmptyDocumentError
from textkin.transport._corpus import Corpus, Hits, Rows
from textkin.transport._search import SEARCH_CONSTRAINTS, SearchesDocuments
from textkin.vectors._documents import Documents

__all__ = ["FindsNeighbors"]

Mode = Literal["connectivity", "distance"]


class FindsNeighbors(SearchesDocuments):
    """A search that answers as scikit-learn's neighbours do."""

    @overload
    def kneighbors(
        self,
        X: Documents | None = ...,
        n_neighbors: int | None = ...,
        return_distance: Literal[True] = ...,
    ) -> tuple[Float64Array, Int64Array]: ...
    @overload
    def kneighbors(
        self, X: Documents | None, n_neighbors: int | None, return_distance: Literal[False]
    ) -> Int64Array: ...
    @overload
    def kneighbors(
        self,
        X: Documents | None = ...,
        n_neighbors: int | None = ...,
        *,
        return_distance: Literal[False],
    ) -> Int64Array: ...
    def kneighbors(
        self,
        X: Documents | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> tuple[Float64Array, Int64Array] | Int64Array:
        """Find the nearest documents of the fitted corpus, as scikit-learn's neighbours do.

        Parameters
        ----------
        X : iterable of texts or token lists, bags, or None, default=None
            The queries. None: the documents of the corpus, none of which finds itself.
        n_neighbors : int or None, default=None
            How many each finds; None: the parameter of the class. More than there are is an error.
        return_distance : bool, default=True
            Whether to return the distances, too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors), float64
            The nearest first; not returned if `return_distance` is False.
        indices : ndarray of shape (n_queries, n_neighbors), int64
            Positions in the corpus; of equally far documents the first ones.

        Raises
        ------
        EmptyDocumentError
            If a query has no word with a vector and `empty` is "error". With "inf" such a query is
            infinitely far from all, and finds the first documents.

        See Also
        --------
        search : Finds as many as there are, and says why.

        Examples
        --------
        >>> from textkin import WordMover
        >>> mover = WordMover(n_neighbors=1).fit(["Dogs bark", "A loud band", "Cats purr"])
        >>> mover.kneighbors(["A kitten sleeps"], return_distance=False)
        array([[2]])
        >>> mover.kneighbors(return_distance=False)
        array([[2],
               [2],
               [0]])
        """
        corpus = self._corpus()
        k = self._n_neighbors(n_neighbors)
        queries, without = self._neighbor_queries(X, corpus, k)
        hits = corpus.search(queries, self._options(k), without=without)
        indices, distances = hits.filled(k)
        if self.empty == "inf":
            _fill(indices, hits, corpus, queries, without)
        return (distances, indices) if return_distance else indices

    @overload
    def radius_neighbors(
        self,
        X: Documents | None = ...,
        radius: float | None = ...,
        return_distance: Literal[True] = ...,
        sort_results: bool = ...,
    ) -> tuple[NDArray[np.object_], NDArray[np.object_]]: ...
    @overload
    def radius_neighbors(
        self,
        X: Documents | None,
        radius: float | None,
        return_distance: Literal[False],
        sort_results: bool = ...,
    ) -> NDArray[np.object_]: ...
    @overload
    def radius_neighbors(
        self,
        X: Documents | None = ...,
        radius: float | None = ...,
        *,
        return_distance: Literal[False],
        sort_results: bool = ...,
    ) -> NDArray[np.object_]: ...
    def radius_neighbors(
        self,
        X: Documents | None = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> tuple[NDArray[np.object_], NDArray[np.object_]] | NDArray[np.object_]:
        """Find all documents of the fitted corpus within a distance, as scikit-learn does.

        Parameters
        ----------
        X : iterable of texts or token lists, bags, or None, default=None
            The queries. None: the documents of the corpus, none of which finds itself.
        radius : float or None, default=None
            How far documents may be, that far included; None: the parameter of the class.
        return_distance : bool, default=True
            Whether to return the distances, too.
        sort_results : bool, default=False
            Whether the nearest come first; otherwise documents come by position.

        Returns
        -------
        distances : ndarray of shape (n_queries,) of arrays of float64
            Not returned if `return_distance` is False.
        indices : ndarray of shape (n_queries,) of arrays of int64
            Positions in the corpus.

        Raises
        ------
        EmptyDocumentError
            If a query has no word with a vector and `empty` is "error". With "inf" it finds
            nothing.
        """
        hits = self._within(X, radius, return_distance, sort_results)
        inner = hits.starts[1:-1]
        indices = _arrays(np.split(hits.rows, inner), hits)
        if not return_distance:
            return indices
        return _arrays(np.split(hits.distances, inner), hits), indices

    def kneighbors_graph(
        self,
        X: Documents | None = None,
        n_neighbors: int | None = None,
        mode: Mode = "connectivity",
    ) -> "sparse.csr_array[np.float64, tuple[int, int]]":
        """Return the graph of the nearest documents, as scikit-learn does; see `kneighbors`.

        Parameters
        ----------
        X : iterable of texts or token lists, bags, or None, default=None
            The queries. None: the documents of the corpus, none of which finds itself.
        n_neighbors : int or None, default=None
            How many each finds; None: the parameter of the class.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or the distances.

        Returns
        -------
        csr_array of shape (n_queries, n_documents), float64
            A row a query, the nearest first.
        """
        _check_mode(mode)
        distances, indices = self.kneighbors(X, n_neighbors)
        starts = np.arange(len(indices) + 1) * indices.shape[1]
        return self._graph(distances.ravel(), indices.ravel(), starts, mode)

    def radius_neighbors_graph(
        self,
        X: Documents | None = None,
        radius: float | None = None,
        mode: Mode = "connectivity",
        sort_results: bool = False,
    ) -> "sparse.csr_array[np.float64, tuple[int, int]]":
        """Return the graph of the documents within a distance; see `radius_neighbors`.

        Parameters
        ----------
        X : iterable of texts or token lists, bags, or None, default=None
            The queries. None: the documents of the corpus, none of which finds itself.
        radius : float or None, default=None
            How far documents may be, that far included; None: the parameter of the class.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or the distances. A document at distance 0 is there, with an explicit 0.
        sort_results : bool, default=False
            Whether the nearest come first in each row; otherwise documents come by position.

        Returns
        -------
        csr_array of shape (n_queries, n_documents), float64
            A row a query.
        """
        _check_mode(mode)
        hits = self._within(X, radius, True, sort_results)
        return self._graph(hits.distances, hits.rows, hits.starts, mode)

    # ------------------------------------------------------------------ what they share

    def _within(
        self, X: Documents | None, radius: float | None, return_distance: bool, sort_results: bool
    ) -> Hits:
        corpus = self._corpus()
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        radius = self.radius if radius is None else radius
        SEARCH_CONSTRAINTS["radius"].check("radius", radius)
        queries, without = self._neighbor_queries(X, corpus, 0)
        hits = corpus.search(queries, self._options(None, float(radius)), without=without)
        return hits if sort_results else _by_position(hits)

    def _n_neighbors(self, given: object) -> int:
        """Return how many neighbours are wanted; refuse what scikit-learn does, in its words."""
        if given is None:
            SEARCH_CONSTRAINTS["n_neighbors"].check("n_neighbors", self.n_neighbors)
            return int(self.n_neighbors)
        if isinstance(given, bool) or not isinstance(given, Integral):
            raise TypeError(f"n_neighbors does not take {type(given)} value, enter integer value")
        if given <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {given}")
        return int(given)

    def _neighbor_queries(
        self, X: Documents | None, corpus: Corpus, k: int
    ) -> tuple[Rows, Int64Array | None]:
        """Return the queries, and which document each must not find: itself, or any may be."""
        if X is None:
            rows, without = corpus.rows, np.arange(len(corpus), dtype=np.int64)
        else:
            read = self._read(X, "X", corpus.space, corpus.weights, empty=self.empty)
            rows, without = read.rows, None
        documents, others = len(corpus), len(corpus) - (X is None)
        if k > others:
            expected = "<" if X is None else "<="
            raise ValueError(
                f"Expected n_neighbors {expected} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {documents}, n_samples = {len(rows)}"
            )
        if self.empty == "error":
            empty = np.flatnonzero(corpus.are_empty(corpus.rows))
            if X is None and empty.size:
                raise _empty_in_corpus(empty)
            if k > documents - len(empty):
                raise ValueError(
                    f"Expected n_neighbors <= {documents - len(empty)}, the documents of the "
                    f"corpus that have words with vectors, but n_neighbors = {k}. The others, "
                    f"{len(empty)}, are never found: pass empty='inf' to have them at an infinite "
                    "distance."
                )
        return rows, without

    def _graph(
        self, distances: Float64Array, indices: Int64Array, starts: Int64Array, mode: Mode
    ) -> "sparse.csr_array[np.float64, tuple[int, int]]":
        data = distances if mode == "distance" else np.ones(len(indices))
        shape = (len(starts) - 1, len(self._fitted_rows))
        return sparse.csr_array((data, indices, starts), shape=shape)


def _check_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(
            'Unsupported mode, must be one of "connectivity", or "distance" but got '
            f'"{mode}" instead'
        )


def _empty_in_corpus(rows: NDArray[np.intp]) -> EmptyDocumentError:
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    reason = "it has no word that has a vector and weighs something"
    return EmptyDocumentError(
        f"Document {rows[0]}{more} of the corpus cannot be compared: {reason}. Leave it out of "
        "fit, or pass empty='inf' for an infinite distance.",
        rows.tolist(),
        "X",
        reason,
    )


def _fill(
    indices: Int64Array,
    hits: Hits,
    corpus: Corpus,
    queries: Rows,
    without: Int64Array | None,
) -> None:
    """Put documents at infinite distance, by position, where fewer were found than wanted.

    An empty query is infinitely far from all, every query from empty documents.
    """
    width = indices.shape[1]
    counts = np.diff(hits.starts)
    short = np.flatnonzero(counts < width)
    if not short.size:
        return
    far = np.flatnonzero(corpus.are_empty(corpus.rows))
    of_nothing = corpus.are_empty(queries)
    for query in short.tolist():
        candidates = np.arange(min(width + 1, len(corpus))) if of_nothing[query] else far
        if without is not None:
            candidates = candidates[candidates != without[query]]
        indices[query, counts[query] :] = candidates[: width - counts[query]]


def _by_position(hits: Hits) -> Hits:
    queries = np.repeat(np.arange(len(hits.starts) - 1), np.diff(hits.starts))
    order = np.lexsort((hits.rows, queries))
    return Hits(
        hits.starts,
        hits.rows[order],
        hits.distances[order],
        hits.verdicts,
        hits.refined,
        hits.seconds,
    )


def _arrays(parts: list[NDArray[np.generic]], hits: Hits) -> NDArray[np.object_]:
    """Return an array of arrays, also where all are equally long."""
    found = np.empty(len(hits.starts) - 1, dtype=object)
    for i, part in enumerate(parts[: len(found)]):
        found[i] = part
    return found
