"""Base classes of the clustering methods (k-means, k-medoids, agglomerative), and their result."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.random import RandomState

from textkin._base import BoolArray, Float64Array, Int64Array
from textkin.corpus import RankedRows
from textkin.exceptions import ParameterError
from textkin.learn._documents import are_numbers
from textkin.learn._equal_rows import first_of_equals
from textkin.learn._measure import Measure
from textkin.learn._transport_measure import TransportMeasure
from textkin.run import ProgressCallback, part_of

__all__ = [
    "ClusterMethod",
    "ClusterSettings",
    "DistanceMethod",
    "DocumentDistances",
    "Linkage",
    "Partition",
    "compute_matrix",
    "largest_clusters",
    "order_by_size",
    "too_many_clusters",
]

Linkage: TypeAlias = Literal["average", "single", "complete"]

_MAX_IN_LAYOUT = 200  # number of clusters
_ROWS = 64  # rows per block of a matrix; half of 64 * 64 distances per block are redundant
_ONE_SIDED = ("rwmd-query", "rwmd-document")


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """Parameters of `DocumentClustering` that the clustering methods read."""

    n_clusters: int | None
    linkage: Linkage
    distance_threshold: float | None
    n_neighbors: int
    max_matrix: int
    n_init: int
    n_jobs: int | None

    def filled_positions(self, empty: BoolArray) -> Int64Array:
        """Return the positions of documents that are not empty; raise if there are too few.

        Raises
        ------
        ValueError
            If all documents are empty, or fewer than `n_clusters` are not empty.
        """
        positions = np.flatnonzero(~empty).astype(np.int64)
        if not len(positions):
            raise ValueError(
                "X must have a document with something to compare; all of "
                f"n_samples={len(empty)} are empty."
            )
        if self.n_clusters is not None and self.n_clusters > len(positions):
            without = " with something to compare" if empty.any() else ""
            raise ParameterError(
                "n_clusters",
                f"at most {len(positions)}, the number of documents{without} "
                f"(n_samples={len(empty)})",
                str(self.n_clusters),
            )
        return positions


@dataclass(frozen=True, slots=True)
class Partition:
    """Result of a clustering method: labels, centers, and distances of nonempty documents.

    Attributes
    ----------
    positions : ndarray of shape (n,)
        Positions of the documents that are not empty.
    labels : ndarray of shape (n,)
        Cluster of each of these documents.
    own : ndarray of shape (n,)
        Distance of each of these documents from the center of its cluster.
    far : ndarray of shape (n, min(n_clusters, 200))
        Distances of these documents from the centers of the largest clusters, in the order of
        `largest_clusters`.
    central : ndarray of shape (n_clusters,)
        Position of the most central document of each cluster.
    merges : ndarray or None
        Merges of agglomerative clustering.
    means : ndarray or None
        Means of k-means.
    """

    positions: Int64Array
    labels: Int64Array
    own: Float64Array
    far: Float64Array
    central: Int64Array
    merges: Float64Array | None = None
    means: Float64Array | None = None


class ClusterMethod(ABC):
    """Base class of clustering methods, which partition documents and assign new ones."""

    @abstractmethod
    def find(
        self,
        documents: Any,  # noqa: ANN401 (what `listed` returned)
        settings: ClusterSettings,
        random: RandomState,
        progress: ProgressCallback | None,
    ) -> Partition:
        """Partition the documents into clusters, and return labels and centers as `Partition`."""

    @abstractmethod
    def nearest(
        self,
        documents: Any,  # noqa: ANN401 (what `listed` returned)
        central: Int64Array,
        means: Float64Array | None,
        progress: ProgressCallback | None,
    ) -> RankedRows:
        """Return the nearest cluster of each new document; an empty document gets none.

        Parameters
        ----------
        documents : list, or rows of numbers
            Other documents.
        central : ndarray of shape (n_clusters,)
            Position of the central document of each cluster.
        means : ndarray of shape (n_clusters, d) or None
            Means of k-means.
        progress : callable or None
            Called with (documents done, total).
        """

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the fitted values that `nearest` needs, for `save`."""

    @abstractmethod
    def restore(
        self,
        state: dict[str, Any],
        n_documents: int,
        means: Float64Array | None,
        *,
        of_numbers: bool,
    ) -> None:
        """Restore the result of `state` from an untrusted file, after validation."""


class DocumentDistances:
    """Distances between all nonempty documents: a full matrix, or computed on demand.

    Methods take and return indices into `positions`.

    Parameters
    ----------
    measure : Measure
        Fitted measure.
    positions : ndarray of int64
        Positions of the documents that are not empty.

    Attributes
    ----------
    matrix : ndarray of shape (n, n) or None
        All distances, after `fill`.
    """

    def __init__(self, measure: Measure, positions: Int64Array) -> None:
        self.measure = measure
        self.positions = positions
        self.matrix: Float64Array | None = None

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def firsts(self) -> Int64Array:
        """Index of the first equal document, for each document."""
        keys = self.measure.keys()
        return first_of_equals([keys[at] for at in self.positions.tolist()])

    def fill(self, progress: ProgressCallback | None) -> Float64Array:
        """Compute the full distance matrix, store it, and return it."""
        self.matrix = compute_matrix(self.measure, self.positions, progress)
        return self.matrix

    def between(
        self, rows: Int64Array, columns: Int64Array, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the matrix of distances from the documents `rows` to the documents `columns`."""
        if self.matrix is not None:
            return self.matrix[np.ix_(rows, columns)]
        found = self.measure.between(
            self.positions[rows], self.positions[columns], progress=progress
        )
        # Rounding can make the distance of a document from itself positive.
        found[rows[:, None] == columns] = 0.0
        return found


class DistanceMethod(ClusterMethod):
    """Base class of clustering methods that use only distances, so centers are documents.

    Parameters
    ----------
    measure : Measure
        Unfitted measure.

    Raises
    ------
    ValueError
        If the measure is not symmetric.
    """

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        if isinstance(measure, TransportMeasure) and measure.mover.metric in _ONE_SIDED:
            raise ParameterError(
                "metric",
                "a symmetric distance, for clusters",
                f"{measure.mover.metric!r}, which depends on the order of the two documents",
                "Pass `metric='rwmd'` or `metric='wmd'`.",
            )

    def state(self) -> dict[str, Any]:
        """Return the documents and the fitted values of the distance measure, for `save`."""
        return self._measure.state()

    def restore(
        self,
        state: dict[str, Any],
        n_documents: int,
        means: Float64Array | None,
        *,
        of_numbers: bool,
    ) -> None:
        """Restore the documents and fitted values of the distance measure from `state`."""
        if means is not None:
            raise ValueError("there must be no cluster_centers_")
        self._measure.restore(state, n_documents)
        if are_numbers(self._measure.documents) != of_numbers:
            raise ValueError("the documents must be of the kind that fit took")

    def _fit_distances(
        self,
        documents: Any,  # noqa: ANN401
        settings: ClusterSettings,
    ) -> DocumentDistances:
        """Fit the distance measure to documents, and return their `DocumentDistances`."""
        self._measure.fit(documents)
        return DocumentDistances(self._measure, settings.filled_positions(self._measure.empty))

    def nearest(
        self,
        documents: Any,  # noqa: ANN401
        central: Int64Array,
        means: Float64Array | None,  # unused: the clusters have no means
        progress: ProgressCallback | None,
    ) -> RankedRows:
        """Return for each new document the cluster whose central document is nearest."""
        order = np.argsort(central)
        found = self._measure.nearest_of(central[order], documents, progress=progress)
        return RankedRows(found.indptr, order[found.rows], found.scores)


def order_by_size(labels: Int64Array, central: Int64Array) -> Int64Array:
    """Return cluster numbers by descending size; ties go to the first central document."""
    return np.lexsort((central, -np.bincount(labels, minlength=len(central)))).astype(np.int64)


def largest_clusters(labels: Int64Array, central: Int64Array) -> Int64Array:
    """Return the numbers of the largest clusters, by descending size, for the map layout."""
    return order_by_size(labels, central)[:_MAX_IN_LAYOUT]


def too_many_clusters(n_clusters: int, n_distinct: int, note: str = "") -> ValueError:
    """Create the error for `n_clusters` above the number of distinct documents."""
    note = f" ({note})" if note else ""
    return ParameterError(
        "n_clusters",
        f"at most {n_distinct}, the number of documents that differ{note}",
        str(n_clusters),
    )


def compute_matrix(
    measure: Measure, positions: Int64Array, progress: ProgressCallback | None
) -> Float64Array:
    """Compute the symmetric distance matrix of the documents at `positions`, each pair once."""
    n = len(positions)
    total = _count_pairs(n, n)
    matrix = np.zeros((n, n))
    for start in range(0, n, _ROWS):
        stop = min(start + _ROWS, n)
        before, after = _count_pairs(start, n), _count_pairs(stop, n)
        block = measure.between(
            positions[start:stop],
            positions[start:],
            progress=part_of(progress, before, after, total),
        )
        matrix[start:stop, start:] = block
        matrix[start:, start:stop] = block.T
        if progress is not None:
            progress(after, total)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _count_pairs(row: int, n: int) -> int:
    """Return the number of entries above row `row` in an upper triangle of n rows."""
    return row * n - row * (row - 1) // 2
