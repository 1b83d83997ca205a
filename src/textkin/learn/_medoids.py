"""k-medoids: documents that stand for those near them."""

import numpy as np
from numpy.random import RandomState

from textkin._typing import Float64Array, Int64Array
from textkin.learn._pairs import Pairs, matrix_of
from textkin.learn._partition import Asked, too_many
from textkin.run import ProgressCallback

__all__ = ["k_medoids", "seeded", "swapped"]

_LEAST_GAIN = 1e-12  # of the cost; less is rounding


def k_medoids(
    pairs: Pairs, asked: Asked, random: RandomState, progress: ProgressCallback | None = None
) -> Int64Array:
    """Return the places of documents, ascending, so that the others are near to one of them.

    Up to `max_matrix` documents the sum over all of them of the distance from the nearest medoid
    is lowered until no exchange of one medoid for one document lowers it further. Of more, as many
    are drawn, the sum is that over the drawn ones, and medoids are among them (CLARA).
    """
    n, k, max_matrix = len(pairs), asked.n_clusters, asked.max_matrix
    assert k is not None
    if k > max_matrix:
        raise ValueError(
            f"n_clusters must be at most max_matrix={max_matrix} for method='kmedoids', which "
            f"takes medoids among so many documents; got {k}."
        )
    note = ""
    if n <= max_matrix:
        drawn = np.arange(n)
        matrix = pairs.fill(progress)
    else:
        note = f"of max_matrix={max_matrix} that were drawn: raise it, or leave copies out"
        drawn = np.sort(random.choice(n, max_matrix, replace=False))
        matrix = matrix_of(pairs.measure, pairs.positions[drawn], progress)
    best, least = np.empty(0, np.int64), np.inf
    for _ in range(asked.n_init):
        medoids = swapped(matrix, seeded(matrix, k, random, note))
        cost = float(matrix[medoids].min(axis=0).sum())
        if cost < least:
            best, least = medoids, cost
    best = (matrix[best] == 0).argmax(axis=1)  # of equal documents the first
    found: Int64Array = np.sort(drawn[best]).astype(np.int64)
    return found


def seeded(matrix: Float64Array, k: int, random: RandomState, note: str = "") -> Int64Array:
    """Draw `k` documents, each in proportion to its distance from those drawn before.

    Raises
    ------
    ValueError
        If there are fewer that differ; `note` says of which.
    """
    medoids = [int(random.randint(len(matrix)))]
    near = matrix[medoids[0]].copy()
    while len(medoids) < k:
        total = near.sum()
        if not total > 0:
            raise too_many(k, len(medoids), note)
        # Where the draw falls beyond all of them, by rounding, the last that differs is meant.
        at = int(np.searchsorted(np.cumsum(near), random.random_sample() * total, side="right"))
        medoids.append(min(at, int(np.flatnonzero(near)[-1])))
        np.minimum(near, matrix[medoids[-1]], out=near)
    return np.array(medoids, dtype=np.int64)


def swapped(matrix: Float64Array, medoids: Int64Array) -> Int64Array:
    """Exchange medoids for other documents as long as that lowers the cost (FasterPAM).

    With a the distance of a document from its medoid and b that from the next best one, an
    exchange of the medoid m for c, at a distance d, changes the cost by the sum of
    min(d - a, 0) over the documents of other medoids, and of min(max(d, a), b) - a + min(d - a, 0)
    over those of m. One pass over the documents gives this for all m at once.
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
    """Return which medoid is nearest to each document, how far it is, and how far the next is."""
    far = matrix[medoids]
    two = np.partition(far, 1, axis=0)
    return far.argmin(axis=0), two[0], two[1]
