"""Agglomerative clustering: of a matrix by SciPy, of more documents over a graph of neighbours."""

import heapq
from typing import Literal, TypeAlias

import numpy as np
from scipy.cluster.hierarchy import linkage as linked
from scipy.spatial.distance import squareform

from textkin._typing import Float64Array, Int64Array
from textkin.learn._pairs import Pairs, matrix_of
from textkin.run import ProgressCallback

__all__ = ["Linkage", "cut", "graph_linkage", "matrix_linkage", "neighbour_graph"]

Linkage: TypeAlias = Literal["average", "single", "complete"]
Edges: TypeAlias = tuple[Int64Array, Int64Array, Float64Array]
"""Two ends of each edge, the first below the second, and its length."""


def matrix_linkage(matrix: Float64Array, how: Linkage) -> Float64Array:
    """Return the merges of a matrix of distances, as SciPy writes them."""
    if len(matrix) == 1:
        return np.empty((0, 4))
    found: Float64Array = linked(squareform(matrix, checks=False), how)
    return found


def neighbour_graph(
    pairs: Pairs, n_neighbors: int, progress: ProgressCallback | None = None
) -> Edges:
    """Join every document with its nearest ones, of equal documents the first alone.

    Otherwise copies would be all the neighbours of copies.
    """
    places = np.flatnonzero(pairs.firsts == np.arange(len(pairs)))
    found = pairs.measure.nearest_among(pairs.positions[places], n_neighbors, progress=progress)
    ends = places[np.repeat(np.arange(len(found)), np.diff(found.starts))], places[found.rows]
    low, high = np.minimum(*ends), np.maximum(*ends)
    _, first = np.unique(low * len(pairs) + high, return_index=True)
    return low[first], high[first], found.distances[first]


def graph_linkage(pairs: Pairs, edges: Edges, how: Linkage, max_matrix: int) -> Float64Array:
    """Return the merges of documents over the edges of a graph, as SciPy writes them.

    Equal documents are merged before all others; the edges of the first are those of each.

    Two documents without an edge count as far apart as the ends of the longest edge, M. With s
    the sum of M - d over the edges between two groups A and B, their average distance is then
    M - s / (|A| |B|), and sums are all that a merge has to add up. Parts of the graph that no edge
    joins are merged by the distances of one document of each, but never below M.
    """
    forest = _Forest(pairs.firsts, edges, how)
    forest.grow()
    parts = forest.parts()
    if len(parts) > 1:
        if len(parts) > max_matrix:
            raise ValueError(
                f"The graph of neighbours falls into {len(parts):,} parts, more than "
                f"max_matrix={max_matrix:,} allows to be compared with each other: raise "
                "n_neighbors, or max_matrix."
            )
        heads = matrix_of(pairs.measure, pairs.positions[forest.heads(parts)], None)
        forest.join(parts, matrix_linkage(heads, how))
    return np.array(forest.merges).reshape(-1, 4)


def cut(
    merges: Float64Array, n_clusters: int | None, distance_threshold: float | None
) -> Int64Array:
    """Return a group for each document: of so many groups, or of merges up to a distance.

    Groups are numbered by their first documents.
    """
    n = len(merges) + 1
    if distance_threshold is not None:
        n_clusters = n - int(np.sum(merges[:, 2] <= distance_threshold))
    assert n_clusters is not None
    done = n - n_clusters
    group = np.arange(n + done)
    # From the last merge down, so that whatever a merge is a part of is known before it.
    for at in range(done - 1, -1, -1):
        for child in merges[at, :2].astype(np.int64):
            group[child] = group[n + at]
    _, first, found = np.unique(group[:n], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[found].astype(np.int64)


class _Forest:
    """Groups of documents that are merged along edges, the nearest two first."""

    def __init__(self, firsts: Int64Array, edges: Edges, how: Linkage) -> None:
        low, high, lengths = edges
        self.n = n = len(firsts)
        self.farthest = float(lengths.max(initial=0.0))
        self.average = how == "average"
        self.merges: list[tuple[float, float, float, float]] = []
        self._node = list(range(n))  # what SciPy calls the group of a root
        self._size = [1] * n
        self._root = list(range(n))
        # Nearness, from 0 for the longest edge (and for no edge at all) to 1.
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
        """Merge until no edge is left between two groups."""
        queued: dict[tuple[int, int], float] = {}
        while self._queue:
            key, a, b = heapq.heappop(self._queue)
            a, b = sorted((self._find(a), self._find(b)))
            if a == b:
                continue
            if self.average and key > 0:  # what is at no distance stays together
                # Merges never bring groups nearer, so that what was queued is a lower bound.
                now = 1 - self._near[a][b] / (self._size[a] * self._size[b])
                if now > key:
                    if queued.get((a, b)) != now:
                        queued[a, b] = now
                        heapq.heappush(self._queue, (now, a, b))
                    continue
            self._merge(a, b, key * self.farthest)

    def parts(self) -> Int64Array:
        """Return the root of each group that is left."""
        return np.array([at for at in range(self.n) if self._root[at] == at], dtype=np.int64)

    def heads(self, parts: Int64Array) -> Int64Array:
        """Return the document of each group that has the most neighbours, and the nearest."""
        roots = np.array([self._find(at) for at in range(self.n)])
        order = np.lexsort((np.arange(self.n), -self._degree, roots))
        first = np.searchsorted(roots[order], parts)
        return order[first].astype(np.int64)

    def join(self, parts: Int64Array, merges: Float64Array) -> None:
        """Merge the groups that are left, by the merges of their heads."""
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
        """Put the group with fewer neighbours into the other one; return the root."""
        if len(self._near[a]) < len(self._near[b]):
            a, b = b, a
        if self.merges:
            height = max(height, self.merges[-1][2])  # but for rounding it is
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
