"""Two-dimensional layouts of documents for maps, from vectors or from cluster distances."""

import numpy as np

from textkin._base import Float64Array, Int64Array
from textkin.distance import nearest_rows
from textkin.learn._kmeans import unit_rows
from textkin.run import ProgressCallback, part_of

__all__ = ["cluster_layout", "map_layout"]

# Layout from vectors
_NEIGHBORS = 15
_N_ROUNDS = 600
_SAMPLED = 5  # points that repel each point, per round
_REPULSION = 1.0  # strength relative to attraction
_SOFTENING = 1e-3  # squared distance; limits repulsion of close points
_MAX_STEP = 4.0
_SPREAD = 10.0  # largest initial coordinate
_MARGIN = 0.06  # fraction of the square, for rows of zeros
_OUTLIERS = 0.1  # percent of points, on each side, that are clipped to the border
_BORDER = 0.02
_SEED = 0
# Layout from distances to centers
_MAX_STEPS = 300
_MAX_PAIRS = 50_000_000  # pairs of centers over all steps
_PULL = 2.0  # weight of the nearest center


def map_layout(rows: Float64Array, progress: ProgressCallback | None = None) -> Float64Array:
    """Compute x and y of each document in the unit square, so that similar vectors are close.

    Each point moves toward its 15 nearest neighbors by cosine, and away from randomly sampled
    points, as in UMAP with the kernel 1 / (1 + d²). In each of 600 rounds, a point takes one step
    toward one neighbor, and away from five other points; steps become shorter. The first two
    principal components are the initial coordinates and determine the overall shape. Rows of
    zeros have no neighbors; their points form a line below the other points. The same rows always
    get the same coordinates.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Vectors of documents.
    progress : callable or None, default=None
        Called with (steps done, total). An exception raised in it stops the work.

    Returns
    -------
    ndarray of shape (n, 2), float64
        Coordinates from 0 to 1.

    References
    ----------
    McInnes, Healy and Melville, "UMAP: Uniform Manifold Approximation and Projection for
    Dimension Reduction", 2018. Böhm, Berens and Kobak, "Attraction-Repulsion Spectrum in Neighbor
    Embeddings", JMLR 23, 2022.
    """
    points = np.zeros((len(rows), 2))
    filled = np.flatnonzero(np.abs(rows).sum(axis=1) > 0) if rows.size else np.empty(0, np.int64)
    empty = np.setdiff1d(np.arange(len(rows)), filled)
    lowest = _MARGIN if len(empty) else 0.0
    above = _embed(unit_rows(rows[filled]), progress)
    points[filled] = above * (1 - lowest) + [0.0, lowest]
    points[empty, 0] = (np.arange(len(empty)) + 0.5) / max(1, len(empty))
    return points


def _embed(rows: Float64Array, progress: ProgressCallback | None) -> Float64Array:
    """Compute x and y in the unit square for L2-normalized vectors."""
    n = len(rows)
    if n < 3:
        return np.linspace([0.25, 0.5], [0.75, 0.5], n) if n > 1 else np.full((n, 2), 0.5)
    neighbors = _find_neighbors(rows, part_of(progress, 0, 40))
    points = _attract_and_repel(_initial_points(rows), neighbors, part_of(progress, 40, 100))
    return _fit_in_square(points)


def _find_neighbors(rows: Float64Array, progress: ProgressCallback | None) -> Int64Array:
    """Return the positions of the nearest rows of each row."""
    k = min(_NEIGHBORS, len(rows) - 1)
    found = nearest_rows(rows, None, "squared-l2", k, progress=progress)
    return found.rows.reshape(len(rows), k)


def _initial_points(rows: Float64Array) -> Float64Array:
    """Return the first two principal components of rows, with noise to separate equal rows."""
    centered = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh(centered.T @ centered)
    axes = vectors[:, ::-1][:, :2]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [*range(axes.shape[1])]])
    found = centered @ axes
    if found.shape[1] < 2:
        found = np.column_stack([found, np.zeros(len(found))])
    largest = float(np.abs(found).max()) or 1.0
    random = np.random.default_rng(_SEED)
    spread: Float64Array = found * (_SPREAD / largest)
    spread += random.normal(0.0, 1e-3, found.shape)
    return spread


def _attract_and_repel(
    points: Float64Array, neighbors: Int64Array, progress: ProgressCallback | None
) -> Float64Array:
    """Move each point toward its neighbors, and away from random points; return the points."""
    n, k = neighbors.shape
    random = np.random.default_rng(_SEED)
    x, y = points[:, 0].copy(), points[:, 1].copy()
    every = np.arange(n)
    for at in range(_N_ROUNDS):
        rate = 1.0 - at / _N_ROUNDS
        # The point and its neighbor each move half of the step.
        partner = neighbors[every, random.integers(k, size=n)]
        dx, dy = x - x[partner], y - y[partner]
        pull = np.minimum(2.0 / (1.0 + dx * dx + dy * dy), 1.0) * (0.5 * rate)
        dx *= pull
        dy *= pull
        x += np.bincount(partner, dx, n) - dx
        y += np.bincount(partner, dy, n) - dy
        # Only the point moves away from a sampled point.
        for _ in range(_SAMPLED):
            other = random.integers(n, size=n)
            dx, dy = x - x[other], y - y[other]
            square = dx * dx + dy * dy
            push = 2.0 * _REPULSION * rate / ((_SOFTENING + square) * (1.0 + square))
            x += np.clip(dx * push, -_MAX_STEP * rate, _MAX_STEP * rate)
            y += np.clip(dy * push, -_MAX_STEP * rate, _MAX_STEP * rate)
        if progress is not None and at % 10 == 0:
            progress(at, _N_ROUNDS)
    return np.column_stack([x, y])


def _fit_in_square(points: Float64Array) -> Float64Array:
    """Rotate points so that their longest axis is horizontal, and scale to the unit square."""
    centered = points - np.median(points, axis=0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    axes = axes[:, ::-1] * np.sign(axes[:, ::-1][np.abs(axes[:, ::-1]).argmax(axis=0), [0, 1]])
    rotated = centered @ axes
    low, high = np.percentile(rotated, [_OUTLIERS, 100 - _OUTLIERS], axis=0)
    size = float((high - low).max()) * (1 + 2 * _BORDER) or 1.0
    fitted: Float64Array = np.clip((rotated - (low + high) / 2) / size + 0.5, 0.0, 1.0)
    return fitted


def cluster_layout(far: Float64Array, labels: Int64Array) -> Float64Array:
    """Compute x and y of documents from their distances to the cluster centers.

    Multidimensional scaling (SMACOF) lays out the centers: the target distance of two centers is
    the mean distance of the documents of one cluster from the center of the other. A document is
    placed at the weighted mean of the centers. The weight of a center is exp(-2 g / m), where g is
    the squared distance of the document from this center minus the squared distance from its
    nearest center, and m is the median of g over the second-nearest centers.

    Parameters
    ----------
    far : ndarray of shape (n, k)
        Distances of documents from the centers of the first k clusters.
    labels : ndarray of shape (n,)
        Cluster of each document.

    Returns
    -------
    ndarray of shape (n, 2), float64
        Coordinates.

    References
    ----------
    de Leeuw, "Applications of Convex Analysis to Multidimensional Scaling", 1977.
    """
    n, k = far.shape
    if k == 1:
        return np.column_stack([far[:, 0], np.zeros(n)])
    largest = float(far.max()) or 1.0
    far = far / largest
    between = np.array([far[labels == cluster].mean(axis=0) for cluster in range(k)])
    between = (between + between.T) / 2
    np.fill_diagonal(between, 0.0)
    squares = far * far
    gaps = squares - squares.min(axis=1, keepdims=True)
    usual = float(np.median(np.partition(gaps, 1, axis=1)[:, 1])) or 1.0
    weights = np.exp(-_PULL * gaps / usual)
    weights /= weights.sum(axis=1, keepdims=True)
    found: Float64Array = weights @ _scale_to_plane(between)
    return found


def _scale_to_plane(distances: Float64Array) -> Float64Array:
    """Compute points in the plane that approximate a distance matrix, by SMACOF."""
    n = len(distances)
    middle = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * middle @ (distances * distances) @ middle)
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(n)])
    points: Float64Array = (vectors * signs)[:, -2:][:, ::-1] * np.sqrt(
        np.maximum(values[-2:][::-1], 0.0)
    )
    for _ in range(min(_MAX_STEPS, _MAX_PAIRS // (n * n) + 1)):
        apart = np.linalg.norm(points[:, None] - points, axis=2)
        ratios = np.divide(distances, apart, out=np.zeros((n, n)), where=apart > 0)
        points = (ratios.sum(axis=1)[:, None] * points - ratios @ points) / n
    return points
