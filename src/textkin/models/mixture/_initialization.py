"""Initial means of mixtures, by k-means++ and a few steps of k-means."""

from typing import Any, TypeVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._base import Float64Array, IntpArray
from textkin.models.mixture._em import Family, MixtureBackend

__all__ = [
    "LLOYD_STEPS",
    "choose_far_rows",
    "choose_seeds",
    "number_of_trials",
    "reseeded_weights",
    "run_k_means",
    "shares",
]

LLOYD_STEPS = 50
_MOST_SEEN = 2**17  # rows that k-means++ samples from; more rows hardly improve it
_SETTLED = 1e-4  # relative gain of a step below which k-means stops
_LEAST_WEIGHT = 1e-12  # smallest weight; keeps its logarithm and its inverse in range

_Model = TypeVar("_Model")


def choose_seeds(rows: MixtureBackend, n_components: int, random: RandomState) -> NDArray[Any]:
    """Choose initial means among rows by greedy k-means++, on a sample of very many rows."""
    positions = None
    if rows.n_rows > _MOST_SEEN:
        from sklearn.utils.random import sample_without_replacement  # `_em_torch` needs torch alone

        positions = np.sort(
            sample_without_replacement(
                rows.n_rows, max(_MOST_SEEN, n_components), random_state=random
            )
        )
    return rows.seeds(positions, n_components, random)


def choose_far_rows(
    rows: NDArray[Any], weights: Float64Array, n_components: int, random: RandomState
) -> NDArray[Any]:
    """Choose initial means among rows by greedy k-means++, by squared distance.

    Each next row is sampled with probability proportional to its weight times its squared distance
    from the nearest chosen row; among a few trials, the row with the smallest sum of distances is
    chosen. Rows are sampled in an order by content: neither a shuffle nor two rows in place of one
    row of weight 2 changes the result.
    """
    order = np.argsort(rows.sum(axis=1, dtype=np.float64), kind="stable")
    values, weights = rows[order], weights[order]
    norms = np.einsum("ij,ij->i", values, values)
    trials = number_of_trials(n_components)
    chosen = [int(_draw_positions(weights, random.uniform(size=1))[0])]
    nearest = _distances(values, norms, chosen)[0]
    while len(chosen) < n_components:
        chances = weights * nearest
        if not chances.any():  # all rows equal a chosen row
            chances = weights
        drawn = _draw_positions(chances, random.uniform(size=trials))
        after = np.minimum(_distances(values, norms, drawn), nearest)
        best = int(np.argmin([(weights * row).sum() for row in after]))
        nearest = after[best]
        chosen.append(int(drawn[best]))
    return values[chosen]


def number_of_trials(n_components: int) -> int:
    """Return the number of candidate rows that greedy k-means++ samples per mean."""
    return 2 + int(np.log(n_components))


def _draw_positions(chances: Float64Array, uniform: Float64Array) -> IntpArray:
    """Sample row positions with given probabilities, from uniform random numbers in [0, 1)."""
    ends = np.cumsum(chances, dtype=np.float64)
    found = np.searchsorted(ends, uniform * ends[-1], side="right")
    return np.asarray(np.minimum(found, np.flatnonzero(chances)[-1]), dtype=np.intp)


def _distances(values: NDArray[Any], norms: NDArray[Any], chosen: Any) -> NDArray[Any]:  # noqa: ANN401
    """Compute the squared distances of all rows from the chosen rows; negative results become 0."""
    sums = norms + norms[chosen][:, np.newaxis]
    found = sums - 2 * (values[chosen] @ values.T)
    found[found < 8 * np.finfo(values.dtype).eps * sums] = 0
    return np.asarray(found)


def run_k_means(
    family: Family[_Model], means: NDArray[Any], rows: MixtureBackend, *, steps: int, threads: int
) -> _Model:
    """Run at most `steps` of k-means, and return components around the final means."""
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
    """Normalize counts to weights that sum to 1, with a small minimum."""
    weights = np.maximum(counts / counts.sum(), _LEAST_WEIGHT)
    return np.asarray(weights / weights.sum())


def reseeded_weights(weights: Float64Array, components: Any) -> Float64Array:  # noqa: ANN401
    """Return weights in which each of the given components has the weight 1 / n."""
    weights = weights.copy()
    weights[components] = 1 / len(weights)
    return np.asarray(weights / weights.sum())
