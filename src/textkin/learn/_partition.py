"""What the methods of clustering are asked, and what they find."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.distance._near import NearRows
from textkin.learn._linkage import Linkage
from textkin.run import ProgressCallback

__all__ = ["Asked", "Grouping", "Partition", "by_size", "mapped", "too_many"]

_MAPPED = 200  # clusters that a map is laid out by


@dataclass(frozen=True, slots=True)
class Asked:
    """Parameters of `DocumentClusters`."""

    n_clusters: int | None
    linkage: Linkage
    distance_threshold: float | None
    n_neighbors: int
    max_matrix: int
    n_init: int
    n_jobs: int | None

    def filled(self, empty: BoolArray) -> Int64Array:
        """Return the positions of documents that can be in a cluster, if they are enough."""
        positions = np.flatnonzero(~empty).astype(np.int64)
        if not len(positions):
            raise ValueError(
                "X must have a document with something to compare; all of "
                f"n_samples={len(empty)} are empty."
            )
        if self.n_clusters is not None and self.n_clusters > len(positions):
            without = " with something to compare" if empty.any() else ""
            raise ValueError(
                f"n_clusters must be at most {len(positions)}, the number of documents{without} "
                f"(n_samples={len(empty)}); got {self.n_clusters}."
            )
        return positions


@dataclass(frozen=True, slots=True)
class Partition:
    """Clusters of the documents that are not empty, in no order yet.

    Attributes
    ----------
    positions : ndarray of shape (n,)
        Of the documents that are not empty.
    labels : ndarray of shape (n,)
        The cluster of each.
    own : ndarray of shape (n,)
        How far each is from the centre of its cluster.
    far : ndarray of shape (n, min(n_clusters, 200))
        How far each is from the centres of the largest clusters, in their order.
    central : ndarray of shape (n_clusters,)
        The position of the most central document of each cluster.
    merges : ndarray or None
        Of agglomerative clustering.
    means : ndarray or None
        The centres of k-means.
    """

    positions: Int64Array
    labels: Int64Array
    own: Float64Array
    far: Float64Array
    central: Int64Array
    merges: Float64Array | None = None
    means: Float64Array | None = None


class Grouping(ABC):
    """A way to find clusters, and the nearest of them for other documents."""

    @abstractmethod
    def find(
        self,
        documents: Any,  # noqa: ANN401 (what `listed` returned)
        asked: Asked,
        random: RandomState,
        progress: ProgressCallback | None,
    ) -> Partition:
        """Find the clusters of documents."""

    @abstractmethod
    def nearest(
        self,
        documents: Any,  # noqa: ANN401 (what `listed` returned)
        central: Int64Array,
        means: Float64Array | None,
        progress: ProgressCallback | None,
    ) -> NearRows:
        """Return the nearest cluster of each document, none for an empty one."""


def by_size(labels: Int64Array, central: Int64Array) -> Int64Array:
    """Return the clusters, the largest first, equal ones by their central documents."""
    return np.lexsort((central, -np.bincount(labels, minlength=len(central)))).astype(np.int64)


def mapped(labels: Int64Array, central: Int64Array) -> Int64Array:
    """Return the clusters that a map is laid out by: the largest."""
    return by_size(labels, central)[:_MAPPED]


def too_many(n_clusters: int, distinct: int, note: str = "") -> ValueError:
    """Return what to raise for more clusters than documents that differ."""
    note = f" ({note})" if note else ""
    return ValueError(
        f"n_clusters must be at most {distinct}, the number of documents that differ{note}; got "
        f"{n_clusters}."
    )
