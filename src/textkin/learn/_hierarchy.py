"""Agglomerative clustering: on the full distance matrix, or on a graph of nearest neighbors."""

import heapq
from typing import Any, TypeAlias

import numpy as np
from numpy.random import RandomState
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

from textkin._base import Float64Array, Int64Array
from textkin.exceptions import ParameterError
from textkin.learn._cluster_method import (
    ClusterSettings,
    DistanceMethod,
    DocumentDistances,
    Linkage,
    Partition,
    compute_matrix,
    largest_clusters,
    too_many_clusters,
)
from textkin.run import ProgressCallback, part_of

__all__ = [
    "AgglomerativeMethod",
    "build_neighbor_graph",
    "cut_merges",
    "link_graph",
    "link_matrix",
]

Edges: TypeAlias = tuple[Int64Array, Int64Array, Float64Array]
"""First and second end of each edge, with the first below the second, and lengths."""

_MAX_JUDGES = 128  # members that select the central document of a cluster, without a matrix


class AgglomerativeMethod(DistanceMethod):
    """Agglomerative clustering of documents by any distance measure."""

    def find(
        self,
        documents: Any,  # noqa: ANN401
        settings: ClusterSettings,
        random: RandomState,
        progress: ProgressCallback | None,
    ) -> Partition:
        """Merge documents into clusters, and select the central document of each cluster."""
        distances = self._fit_distances(documents, settings)
        n = len(distances)
        whole = n <= settings.max_matrix  # the matrix has all distances
        total = n if whole else 2 * n
        merges = _merge(distances, settings, part_of(progress, 0, n, total))
        labels = cut_merges(merges, settings.n_clusters, settings.distance_threshold)
        central = _select_central(distances, labels, random)
        # There may be as many clusters as documents: compare with the largest clusters only.
        largest = largest_clusters(labels, central)
        everything = np.arange(n)
        far = distances.between(
            everything, central[largest], None if whole else part_of(progress, n, total, total)
        )
        own = _distances_to_center(distances, labels, central, far, largest)
        if progress is not None:
            progress(total, total)
        return Partition(
            distances.positions, labels, own, far, distances.positions[central], merges
        )


def _merge(
    distances: DocumentDistances, settings: ClusterSettings, progress: ProgressCallback | None
) -> Float64Array:
    """Compute all merges of documents, from the distance matrix or the neighbor graph."""
    if len(distances) <= settings.max_matrix:
        merges = link_matrix(distances.fill(progress), settings.linkage)
    elif settings.linkage == "complete":
        raise ParameterError(
            "linkage",
            f"'average' or 'single' for more than max_matrix={settings.max_matrix:,} documents",
            f"'complete', which requires all distances of {len(distances):,} documents",
            "Pass `linkage='average'`, or raise `max_matrix`.",
        )
    else:
        edges = build_neighbor_graph(distances, settings.n_neighbors, progress)
        merges = link_graph(distances, edges, settings.linkage, settings.max_matrix)
    n_distinct = 1 + int(np.sum(merges[:, 2] > 0))
    if settings.n_clusters is not None and settings.n_clusters > n_distinct:
        raise too_many_clusters(settings.n_clusters, n_distinct)
    return merges


def _select_central(
    distances: DocumentDistances, labels: Int64Array, random: RandomState
) -> Int64Array:
    """Return for each cluster the document with the least total distance to the others."""
    central = []
    for members in _members(labels):
        judges = members
        if distances.matrix is None and len(members) > _MAX_JUDGES:
            judges = np.sort(random.choice(members, _MAX_JUDGES, replace=False))
        at = distances.between(judges, judges).sum(axis=1).argmin() if len(judges) > 1 else 0
        central.append(judges[at])
    return np.array(central, dtype=np.int64)


def _distances_to_center(
    distances: DocumentDistances,
    labels: Int64Array,
    central: Int64Array,
    far: Float64Array,
    largest: Int64Array,
) -> Float64Array:
    """Return the distance of each document from the central document of its cluster.

    `far` holds the distances from the centers of the `largest` clusters.
    """
    column = np.full(len(central), -1)
    column[largest] = np.arange(len(largest))
    own: Float64Array = far[np.arange(len(labels)), column[labels]]
    own[column[labels] < 0] = 0.0
    for cluster, members in enumerate(_members(labels)):
        if column[cluster] < 0 and len(members) > 1:
            own[members] = distances.between(members, central[[cluster]])[:, 0]
    return own


def _members(labels: Int64Array) -> list[Int64Array]:
    """Return for each cluster the ascending positions of its documents."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def link_matrix(matrix: Float64Array, how: Linkage) -> Float64Array:
    """Compute the linkage matrix of a distance matrix, as `scipy.cluster.hierarchy` does."""
    if len(matrix) == 1:
        return np.empty((0, 4))
    found: Float64Array = scipy_linkage(squareform(matrix, checks=False), how)
    return found


def build_neighbor_graph(
    distances: DocumentDistances, n_neighbors: int, progress: ProgressCallback | None = None
) -> Edges:
    """Return the edges from every distinct document to its nearest neighbors.

    The first document represents its copies: otherwise, all neighbors of a document with many
    copies would be its copies.
    """
    distinct = np.flatnonzero(distances.firsts == np.arange(len(distances)))
    found = distances.measure.nearest_among(
        distances.positions[distinct], n_neighbors, progress=progress
    )
    ends = distinct[np.repeat(np.arange(len(found)), np.diff(found.indptr))], distinct[found.rows]
    low, high = np.minimum(*ends), np.maximum(*ends)
    _, first = np.unique(low * len(distances) + high, return_index=True)
    return low[first], high[first], found.scores[first]


def link_graph(
    distances: DocumentDistances, edges: Edges, how: Linkage, max_matrix: int
) -> Float64Array:
    """Compute the linkage matrix of documents that merge along the edges of a graph.

    Equal documents merge first; the edges of the first document belong to all of them.

    The distance of two documents without an edge is taken as M, the length of the longest edge.
    Let s be the sum of M - d over the edges between two groups A and B. Their average distance is
    then M - s / (|A| |B|), so a merge only adds sums. Connected components of the graph merge
    last, by the distances between one document of each, and never below M.
    """
    forest = _Forest(distances.firsts, edges, how)
    forest.grow()
    parts = forest.parts()
    if len(parts) > 1:
        if len(parts) > max_matrix:
            raise ValueError(
                f"The neighbor graph has {len(parts):,} components, more than "
                f"max_matrix={max_matrix:,} allows to compare with each other. Raise "
                "n_neighbors or max_matrix."
            )
        heads = compute_matrix(distances.measure, distances.positions[forest.heads(parts)], None)
        forest.join(parts, link_matrix(heads, how))
    return np.array(forest.merges).reshape(-1, 4)


def cut_merges(
    merges: Float64Array, n_clusters: int | None, distance_threshold: float | None
) -> Int64Array:
    """Cut a linkage matrix into clusters, by their number or the largest merge distance.

    Groups are numbered in the order of their first documents.
    """
    n = len(merges) + 1
    if distance_threshold is not None:
        n_clusters = n - int(np.sum(merges[:, 2] <= distance_threshold))
    assert n_clusters is not None
    done = n - n_clusters
    group = np.arange(n + done)
    # From the last merge to the first: the group of a merge is known before its children's.
    for at in range(done - 1, -1, -1):
        for child in merges[at, :2].astype(np.int64):
            group[child] = group[n + at]
    _, first, found = np.unique(group[:n], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[found].astype(np.int64)


class _Forest:
    """Groups of documents during agglomeration along graph edges, nearest groups first."""

    def __init__(self, firsts: Int64Array, edges: Edges, how: Linkage) -> None:
        low, high, lengths = edges
        self.n = n = len(firsts)
        self.farthest = float(lengths.max(initial=0.0))
        self.average = how == "average"
        self.merges: list[tuple[float, float, float, float]] = []
        self._node = list(range(n))  # number that SciPy gives to the group of each root
        self._size = [1] * n
        self._root = list(range(n))
        # Proximity: 0 for the longest edge and without an edge, at most 1.
        near = 1 - lengths / self.farthest if self.farthest else np.ones(len(lengths))
        copies = np.bincount(firsts, minlength=n)
        sums = near * copies[low] * copies[high]
        self._near: list[dict[int, float]] = [{} for _ in range(n)]
        for a, b, s in zip(low.tolist(), high.tolist(), sums.tolist(), strict=True):
            self._near[a][b] = self._near[b][a] = s
        self._degree = np.bincount(low, near * copies[high], n) + copies
        self._degree += np.bincount(high, near * copies[low], n)
        self._queue = list(zip((1 - near).tolist(), low.tolist(), high.tolist(), strict=True))
        heapq.heapify(self._queue)
        for at in np.flatnonzero(firsts != np.arange(n)).tolist():
            self._merge(self._find(int(firsts[at])), at, 0.0)

    def grow(self) -> None:
        """Merge the two nearest connected groups until no edge connects two groups."""
        queued: dict[tuple[int, int], float] = {}
        while self._queue:
            key, a, b = heapq.heappop(self._queue)
            a, b = sorted((self._find(a), self._find(b)))
            if a == b:
                continue
            if self.average and key > 0:  # groups at distance 0 merge at once
                # Merges never lower a distance: the queued distance is a lower bound.
                now = 1 - self._near[a][b] / (self._size[a] * self._size[b])
                if now > key:
                    if queued.get((a, b)) != now:
                        queued[a, b] = now
                        heapq.heappush(self._queue, (now, a, b))
                    continue
            self._merge(a, b, key * self.farthest)

    def parts(self) -> Int64Array:
        """Return the root document of each group that is left."""
        return np.array([at for at in range(self.n) if self._root[at] == at], dtype=np.int64)

    def heads(self, parts: Int64Array) -> Int64Array:
        """Return the central document of each group: the one nearest to its neighbors."""
        roots = np.array([self._find(at) for at in range(self.n)])
        order = np.lexsort((np.arange(self.n), -self._degree, roots))
        first = np.searchsorted(roots[order], parts)
        return order[first].astype(np.int64)

    def join(self, parts: Int64Array, merges: Float64Array) -> None:
        """Merge the unconnected groups in the order of a linkage of their central documents."""
        roots = parts.tolist()
        for a, b, height, _ in merges.tolist():
            roots.append(self._merge(roots[int(a)], roots[int(b)], max(height, self.farthest)))

    def _find(self, at: int) -> int:
        root = self._root
        while root[at] != at:
            root[at] = root[root[at]]
            at = root[at]
        return at

    def _merge(self, a: int, b: int, height: float) -> int:
        """Merge two groups, the one with fewer neighbors into the other; return the new root."""
        if len(self._near[a]) < len(self._near[b]):
            a, b = b, a
        if self.merges:
            height = max(height, self.merges[-1][2])  # rounding must not lower the height
        size = self._size[a] + self._size[b]
        first, second = sorted((self._node[a], self._node[b]))
        self.merges.append((first, second, height, size))
        self._near[a].pop(b, None)
        for other, s in self._near[b].items():
            if other != a:
                del self._near[other][b]
                self._near[a][other] = self._near[other][a] = self._near[a].get(other, 0.0) + s
        self._near[b] = {}
        self._root[b] = a
        self._size[a] = size
        self._node[a] = self.n + len(self.merges) - 1
        return a
