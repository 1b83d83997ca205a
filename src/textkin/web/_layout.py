"""Where documents lie on the map: neighbours near each other, others apart."""

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.distance._near import nearest_rows
from textkin.learn._kmeans import unit_rows
from textkin.run import ProgressCallback
from textkin.web._jobs import part_of

__all__ = ["laid_out"]

_NEIGHBOURS = 15
_ROUNDS = 600
_APART = 5  # documents that each one is pushed away from in a round
_STRENGTH = 1.0  # of the push, against the pull of neighbours
_LEAST = 1e-3  # squared distance, below which a push grows no more
_STEP = 4.0  # of one push or pull, at most
_SPREAD = 10.0  # of the beginning
_MARGIN = 0.06  # of the square, for documents without a place
_OUTLIERS = 0.1  # percent of documents on each side that may lie on the border
_BORDER = 0.02
_SEED = 0


def laid_out(rows: Float64Array, progress: ProgressCallback) -> Float64Array:
    """Return a place in the unit square for each row; the same for the same rows.

    Each row is drawn towards its 15 nearest by cosine and pushed away from rows that are drawn
    at random, in the manner of UMAP with the kernel 1 / (1 + d²): in each of 600 rounds it takes
    one step towards one neighbour and away from five others, steps that grow shorter. It begins at
    the first two principal components, so that the large shape is theirs. Rows of zeros have
    nothing to compare and lie in a line below the others.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Vectors of documents.
    progress : callable
        Gets (done, total) now and then.

    Returns
    -------
    ndarray of shape (n, 2), float64
        From 0 to 1.

    References
    ----------
    McInnes, Healy and Melville, "UMAP: Uniform Manifold Approximation and Projection for
    Dimension Reduction", 2018. Böhm, Berens and Kobak, "Attraction-Repulsion Spectrum in Neighbor
    Embeddings", JMLR 23, 2022.
    """
    places = np.zeros((len(rows), 2))
    filled = np.flatnonzero(np.abs(rows).sum(axis=1) > 0) if rows.size else np.empty(0, np.int64)
    empty = np.setdiff1d(np.arange(len(rows)), filled)
    lowest = _MARGIN if len(empty) else 0.0
    places[filled] = _placed(unit_rows(rows[filled]), progress) * (1 - lowest) + [0.0, lowest]
    places[empty, 0] = (np.arange(len(empty)) + 0.5) / max(1, len(empty))
    return places


def _placed(rows: Float64Array, progress: ProgressCallback) -> Float64Array:
    n = len(rows)
    if n < 3:
        return np.linspace([0.25, 0.5], [0.75, 0.5], n) if n > 1 else np.full((n, 2), 0.5)
    near = _neighbours(rows, part_of(progress, 0, 40))
    return _in_square(_arranged(_begun(rows), near, part_of(progress, 40, 100)))


def _neighbours(rows: Float64Array, progress: ProgressCallback) -> Int64Array:
    """Return the nearest rows of each."""
    k = min(_NEIGHBOURS, len(rows) - 1)
    found = nearest_rows(rows, None, "squared-l2", k, progress=progress)
    return found.rows.reshape(len(rows), k)


def _begun(rows: Float64Array) -> Float64Array:
    """Return the first two principal components."""
    centred = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axes = vectors[:, ::-1][:, :2]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [*range(axes.shape[1])]])
    found = centred @ axes
    if found.shape[1] < 2:
        found = np.column_stack([found, np.zeros(len(found))])
    largest = float(np.abs(found).max()) or 1.0
    random = np.random.default_rng(_SEED)
    spread: Float64Array = found * (_SPREAD / largest)
    spread += random.normal(0.0, 1e-3, found.shape)  # so that equal ones differ
    return spread


def _arranged(places: Float64Array, near: Int64Array, progress: ProgressCallback) -> Float64Array:
    n, k = near.shape
    random = np.random.default_rng(_SEED)
    x, y = places[:, 0].copy(), places[:, 1].copy()
    every = np.arange(n)
    for at in range(_ROUNDS):
        rate = 1.0 - at / _ROUNDS
        # Towards a neighbour, which comes half of the way.
        partner = near[every, random.integers(k, size=n)]
        dx, dy = x - x[partner], y - y[partner]
        pull = np.minimum(2.0 / (1.0 + dx * dx + dy * dy), 1.0) * (0.5 * rate)
        dx *= pull
        dy *= pull
        x += np.bincount(partner, dx, n) - dx
        y += np.bincount(partner, dy, n) - dy
        # Away from any others.
        for _ in range(_APART):
            other = random.integers(n, size=n)
            dx, dy = x - x[other], y - y[other]
            square = dx * dx + dy * dy
            push = 2.0 * _STRENGTH * rate / ((_LEAST + square) * (1.0 + square))
            x += np.clip(dx * push, -_STEP * rate, _STEP * rate)
            y += np.clip(dy * push, -_STEP * rate, _STEP * rate)
        if at % 10 == 0:
            progress(at, _ROUNDS)
    return np.column_stack([x, y])


def _in_square(places: Float64Array) -> Float64Array:
    """Turn the longest axis level, and fit the rest into the unit square."""
    centred = places - np.median(places, axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1] * np.sign(axes[:, ::-1][np.abs(axes[:, ::-1]).argmax(axis=0), [0, 1]])
    turned = centred @ axes
    low, high = np.percentile(turned, [_OUTLIERS, 100 - _OUTLIERS], axis=0)
    size = float((high - low).max()) * (1 + 2 * _BORDER) or 1.0
    fitted: Float64Array = np.clip((turned - (low + high) / 2) / size + 0.5, 0.0, 1.0)
    return fitted
