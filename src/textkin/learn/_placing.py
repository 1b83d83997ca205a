"""Where documents lie on a map of their clusters, by how far they are from each of them."""

import numpy as np

from textkin._typing import Float64Array, Int64Array

__all__ = ["placed"]

_STEPS, _WORK = 300, 50_000_000  # of the layout of centres: at most so many, of so many pairs
_PULL = 2.0  # how much the nearest centre outweighs another that is farther by the usual gap


def placed(far: Float64Array, labels: Int64Array) -> Float64Array:
    """Return a place in the plane for each document, by its distances from the first clusters.

    Centres are laid out so that their distances in the plane are like the mean distances of
    documents of one from the centre of the other (multidimensional scaling by SMACOF, de Leeuw
    1977). A document lies between the centres, each with the weight exp(-2 g / m): g is how much
    farther its squared distance from the centre is than that from the nearest one, m the median
    of g for the second nearest.
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
    found: Float64Array = weights @ _laid_out(between)
    return found


def _laid_out(distances: Float64Array) -> Float64Array:
    """Return points in the plane whose distances are like those given."""
    n = len(distances)
    middle = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * middle @ (distances * distances) @ middle)
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(n)])
    points: Float64Array = (vectors * signs)[:, -2:][:, ::-1] * np.sqrt(
        np.maximum(values[-2:][::-1], 0.0)
    )
    for _ in range(min(_STEPS, _WORK // (n * n) + 1)):
        apart = np.linalg.norm(points[:, None] - points, axis=2)
        ratios = np.divide(distances, apart, out=np.zeros((n, n)), where=apart > 0)
        points = (ratios.sum(axis=1)[:, None] * points - ratios @ points) / n
    return points
