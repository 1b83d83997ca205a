"""k-medoids clustering (FasterPAM): centers are documents."""

from typing import Any

import numpy as np
from numpy.random import RandomState

from textkin._base import Float64Array, Int64Array
from textkin.exceptions import ParameterError
from textkin.learn._cluster_method import (
    ClusterSettings,
    DistanceMethod,
    DocumentDistances,
    Partition,
    compute_matrix,
    largest_clusters,
    too_many_clusters,
)
from textkin.run import ProgressCallback, part_of

__all__ = ["KMedoidsMethod", "seed_medoids", "select_medoids", "swap_medoids"]

_LEAST_GAIN = 1e-12  # relative to the cost; a smaller gain is rounding


class KMedoidsMethod(DistanceMethod):
    """k-medoids clustering of documents by any distance measure."""

    def find(
        self,
        documents: Any,  # noqa: ANN401
        settings: ClusterSettings,
        random: RandomState,
        progress: ProgressCallback | None,
    ) -> Partition:
        """Select the medoids, and assign each document to its nearest medoid."""
        distances = self._fit_distances(documents, settings)
        n = len(distances)
        whole = n <= settings.max_matrix  # the matrix has all distances
        total = n if whole else 2 * n
        medoids = select_medoids(distances, settings, random, part_of(progress, 0, n, total))
        everything = np.arange(n)
        far = distances.between(
            everything, medoids, None if whole else part_of(progress, n, total, total)
        )
        labels = far.argmin(axis=1)  # ties go to the lowest position
        own = far[everything, labels]
        far = far[:, largest_clusters(labels, medoids)]
        if progress is not None:
            progress(total, total)
        return Partition(distances.positions, labels, own, far, distances.positions[medoids])


def select_medoids(
    distances: DocumentDistances,
    settings: ClusterSettings,
    random: RandomState,
    progress: ProgressCallback | None = None,
) -> Int64Array:
    """Return k documents that minimize the total distance of all documents to the nearest.

    With at most `max_matrix` documents, swap medoids until no swap lowers the total. With more
    documents, run the same search on a random sample of `max_matrix` documents (CLARA).

    Returns
    -------
    ndarray of shape (k,), int64
        Indices of the medoids in `distances`, in ascending order.

    Raises
    ------
    ValueError
        If k is above `max_matrix`, or above the number of distinct documents.
    """
    n, k, max_matrix = len(distances), settings.n_clusters, settings.max_matrix
    assert k is not None
    if k > max_matrix:
        raise ParameterError(
            "n_clusters",
            f"at most max_matrix={max_matrix} for method='kmedoids', the number of candidates",
            str(k),
        )
    note = ""
    if n <= max_matrix:
        drawn = np.arange(n)
        matrix = distances.fill(progress)
    else:
        note = f"of max_matrix={max_matrix} sampled ones: raise it, or remove duplicates"
        drawn = np.sort(random.choice(n, max_matrix, replace=False))
        matrix = compute_matrix(distances.measure, distances.positions[drawn], progress)
    best, least = np.empty(0, np.int64), np.inf
    for _ in range(settings.n_init):
        medoids = swap_medoids(matrix, seed_medoids(matrix, k, random, note))
        cost = float(matrix[medoids].min(axis=0).sum())
        if cost < least:
            best, least = medoids, cost
    best = (matrix[best] == 0).argmax(axis=1)  # if documents are equal, the first one
    found: Int64Array = np.sort(drawn[best]).astype(np.int64)
    return found


def seed_medoids(matrix: Float64Array, k: int, random: RandomState, note: str = "") -> Int64Array:
    """Sample `k` initial medoids by their distance from the medoids chosen before (k-means++).

    Raises
    ------
    ValueError
        If fewer than `k` documents are distinct; `note` is added to the message.
    """
    medoids = [int(random.randint(len(matrix)))]
    near = matrix[medoids[0]].copy()
    while len(medoids) < k:
        total = near.sum()
        if not total > 0:
            raise too_many_clusters(k, len(medoids), note)
        # Rounding can put the sampled value past the end: take the last distinct document.
        at = int(np.searchsorted(np.cumsum(near), random.random_sample() * total, side="right"))
        medoids.append(min(at, int(np.flatnonzero(near)[-1])))
        np.minimum(near, matrix[medoids[-1]], out=near)
    return np.array(medoids, dtype=np.int64)


def swap_medoids(matrix: Float64Array, medoids: Int64Array) -> Int64Array:
    """Replace medoids by other documents until no swap lowers the total distance (FasterPAM).

    Let a be the distance of a document from its medoid, b the distance from its second-nearest
    medoid, and d the distance from a candidate c. Replacing the medoid m by c changes the total
    by the sum of min(d - a, 0) over the documents of the other medoids, plus the sum of
    min(max(d, a), b) - a over the documents of m. One pass over the documents computes the change
    for all m.
    """
    medoids = medoids.copy()
    if len(medoids) == 1:
        return np.array([matrix.sum(axis=0).argmin()], dtype=np.int64)
    own, a, b = _nearest_two(matrix, medoids)
    candidate, in_vain = 0, 0
    while in_vain < len(matrix):
        d = matrix[candidate]
        kept = np.minimum(np.maximum(d, a), b) - a
        change = np.bincount(own, kept, minlength=len(medoids)) + np.minimum(d - a, 0).sum()
        worst = int(change.argmin())
        in_vain += 1
        if change[worst] < -_LEAST_GAIN * a.sum() and candidate not in medoids:
            before = medoids[worst]
            medoids[worst] = candidate
            tried = _nearest_two(matrix, medoids)
            if tried[1].sum() < a.sum():
                own, a, b = tried
                in_vain = 0
            else:
                medoids[worst] = before
        candidate = (candidate + 1) % len(matrix)
    return medoids


def _nearest_two(
    matrix: Float64Array, medoids: Int64Array
) -> tuple[Int64Array, Float64Array, Float64Array]:
    """Return each document's nearest medoid, and its distances to the nearest two medoids."""
    far = matrix[medoids]
    two = np.partition(far, 1, axis=0)
    return far.argmin(axis=0), two[0], two[1]
