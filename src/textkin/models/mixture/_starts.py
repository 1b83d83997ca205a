"""Where mixtures begin: at rows far from each other, and a few steps of k-means from there."""

from typing import Any, TypeVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from textkin._typing import Float64Array, IntpArray
from textkin.models.mixture._em import AnyRows, Family
from textkin.models.mixture._placed import PlacedRows

__all__ = ["LLOYD_STEPS", "far_rows", "reseeded_weights", "shares", "started"]

LLOYD_STEPS = 50
_MOST_SEEN = 2**17  # rows that k-means++ draws from; more tell it hardly more
_SETTLED = 1e-4  # of what k-means raises, gained by a step
_LEAST_WEIGHT = 1e-12  # of a component; its logarithm, and what is divided by it, stay in range

_Model = TypeVar("_Model")


def far_rows(rows: AnyRows, n_components: int, random: RandomState) -> NDArray[Any]:
    """Return rows by greedy k-means++ (of unit rows: squared distances are 2 - 2 cos).

    Each next row is drawn by its weight and its squared distance from the nearest one before; of
    a few draws the one is taken that leaves the least. Draws are by weights in an order that rows
    have of themselves: neither a shuffle nor two rows for one of weight 2 change what is drawn.
    Of very many rows a sample is drawn first, by their positions.
    """
    positions = None
    if rows.n_rows > _MOST_SEEN:
        positions = np.sort(
            sample_without_replacement(
                rows.n_rows, max(_MOST_SEEN, n_components), random_state=random
            )
        )
    if isinstance(rows, PlacedRows):
        return rows.far(positions, n_components, random)
    here = rows.at(positions)
    order = np.argsort(here.rows.sum(axis=1, dtype=np.float64), kind="stable")
    values, weights = here.rows[order], here.weights[order]
    norms = np.einsum("ij,ij->i", values, values)
    trials = 2 + int(np.log(n_components))
    chosen = [int(_drawn_by(weights, random.uniform(size=1))[0])]
    nearest = _distances(values, norms, chosen)[0]
    while len(chosen) < n_components:
        chances = weights * nearest
        if not chances.any():  # all rows are among those chosen
            chances = weights
        drawn = _drawn_by(chances, random.uniform(size=trials))
        after = np.minimum(_distances(values, norms, drawn), nearest)
        best = int(np.argmin([(weights * row).sum() for row in after]))
        nearest = after[best]
        chosen.append(int(drawn[best]))
    return values[chosen]


def _drawn_by(chances: Float64Array, uniform: Float64Array) -> IntpArray:
    """Return positions drawn by chances, for numbers between 0 and 1."""
    ends = np.cumsum(chances, dtype=np.float64)
    found = np.searchsorted(ends, uniform * ends[-1], side="right")
    return np.asarray(np.minimum(found, np.flatnonzero(chances)[-1]), dtype=np.intp)


def _distances(values: NDArray[Any], norms: NDArray[Any], chosen: Any) -> NDArray[Any]:  # noqa: ANN401
    """Return squared distances of all rows from some, 0 where they are but rounding."""
    sums = norms + norms[chosen][:, np.newaxis]
    found = sums - 2 * (values[chosen] @ values.T)
    found[found < 8 * np.finfo(values.dtype).eps * sums] = 0
    return np.asarray(found)


def started(
    family: Family[_Model], means: NDArray[Any], rows: AnyRows, *, steps: int, threads: int
) -> _Model:
    """Return the parameters of the clusters around means, after at most so many of k-means."""
    before = -np.inf
    for _ in range(steps):
        sums = rows.pass_over(family.nearest(means), hard=True, threads=threads)
        if sums.mean - before < _SETTLED * abs(sums.mean):
            break
        before = sums.mean
        means = family.middles(sums, means)
    model = family.around(means)
    sums = rows.pass_over(family.logits(model), hard=True, threads=threads)
    return family.estimate(sums, model)


def shares(counts: Float64Array) -> Float64Array:
    """Return weights that sum to 1, none of them 0."""
    weights = np.maximum(counts / counts.sum(), _LEAST_WEIGHT)
    return np.asarray(weights / weights.sum())


def reseeded_weights(weights: Float64Array, components: Any) -> Float64Array:  # noqa: ANN401
    """Return weights in which the given components have an equal part each."""
    weights = weights.copy()
    weights[components] = 1 / len(weights)
    return np.asarray(weights / weights.sum())
