"""Where mixtures begin: means at rows far from each other, then nearest means, as k-means has it."""

from typing import Any, TypeVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus

from textkin._typing import Float64Array
from textkin.distance._blocks import one_thread_of_blas
from textkin.models.mixture._em import Family, Rows, pass_over

__all__ = ["LLOYD_STEPS", "far_rows", "reseeded_weights", "shares", "started"]

LLOYD_STEPS = 5
_LEAST_WEIGHT = 1e-12  # of a component; its logarithm, and what is divided by it, stay in range

_Model = TypeVar("_Model")


def far_rows(rows: Rows, n_components: int, random: RandomState) -> NDArray[Any]:
    """Return rows by k-means++ (of unit rows: squared distances are 2 - 2 cos)."""
    with one_thread_of_blas:
        seeds, _ = kmeans_plusplus(
            rows.rows,
            n_components,
            sample_weight=rows.weights[: rows.n_rows].astype(rows.values.dtype),
            random_state=random,
        )
    return np.asarray(seeds)


def started(
    family: Family[_Model], means: NDArray[Any], rows: Rows, *, steps: int, threads: int
) -> _Model:
    """Return the parameters of the clusters around means, after so many steps of k-means."""
    model = family.around(means)
    for _ in range(steps):
        sums = pass_over(rows, family.logits(model), hard=True, threads=threads)
        model = family.around(family.means(family.estimate(sums, model)))
    sums = pass_over(rows, family.logits(model), hard=True, threads=threads)
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
