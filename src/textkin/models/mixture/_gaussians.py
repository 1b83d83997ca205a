"""Gaussians with diagonal covariance: densities, estimates, and the scale of columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float64Array, IntpArray
from textkin.models.mixture._em import Logits, Rows, Sums
from textkin.models.mixture._starts import reseeded_weights, shares

__all__ = [
    "GaussianFamily",
    "Gaussians",
    "Scale",
    "as_rows",
    "logits_of",
    "sum_of_rows",
    "sums_about",
    "variance_of",
]

_AT_ONCE = 4096  # rows that are made double at a time
_LEAST_DEVIATION = 1e-140  # of a column; with less it is constant
_ROUNDING = 1e-14  # of a mean; a column that goes no farther from it is constant too
_LEAST_COUNT = 1e-9  # rows, below which there is no mean to speak of
_LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, slots=True)
class Gaussians:
    """The parameters of a mixture."""

    weights: Float64Array  # (n_components,)
    means: Float64Array  # (n_components, n_features)
    variances: Float64Array  # likewise


@dataclass(frozen=True, slots=True)
class Scale:
    """Where columns have their mean, and how far they go from there.

    Sums of squares, and float32, are good for columns about 0 that are about 1 in size.
    """

    shift: Float64Array
    size: Float64Array

    @classmethod
    def of_rows(cls, values: NDArray[Any], weights: Float64Array) -> "Scale":
        """Return mean and standard deviation; a constant column takes the mean one of others."""
        shares = weights / weights.sum()
        with np.errstate(over="ignore", invalid="ignore"):  # told below
            shift = sum_of_rows(values, shares)
            variance = variance_of(sums_about(values, shares, shift))
        return cls.of_moments(shift, variance)

    @classmethod
    def of_moments(cls, shift: Float64Array, variance: Float64Array) -> "Scale":
        """Return the scale of columns that have these means and variances."""
        if not np.isfinite(variance).all():
            raise ValueError("X must have values whose squares have a finite sum; scale them down.")
        varies = np.sqrt(variance) > np.maximum(_ROUNDING * np.abs(shift), _LEAST_DEVIATION)
        variance = np.where(varies, variance, variance[varies].mean() if varies.any() else 1.0)
        # A constant of 1e20 lies 1e4 from its mean, by rounding; that must not be many widths.
        return cls(shift, np.maximum(np.sqrt(variance), _ROUNDING * np.abs(shift)))

    @classmethod
    def of_mixture(cls, model: Gaussians) -> "Scale":
        """Return mean and standard deviation of what a mixture describes."""
        weights = model.weights[:, np.newaxis]
        shift = np.sum(weights * model.means, axis=0)  # no BLAS, whose bits depend on its threads
        variance = np.sum(weights * (model.variances + (model.means - shift) ** 2), axis=0)
        return cls(shift, np.sqrt(variance))

    def to(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return rows in units of this scale, in their own dtype."""
        scaled = np.empty_like(values)
        for block in _blocks(len(values)):
            scaled[block] = (values[block] - self.shift) / self.size
        return scaled

    def model_to(self, model: Gaussians) -> Gaussians:
        """Return a mixture in units of this scale."""
        means = (model.means - self.shift) / self.size
        return Gaussians(model.weights, means, model.variances / self.size / self.size)

    def model_from(self, model: Gaussians) -> Gaussians:
        """Return a mixture in units of this scale as it is without."""
        means = self.shift + self.size * model.means
        return Gaussians(model.weights, means, model.variances * self.size * self.size)


class GaussianFamily:
    """Diagonal Gaussians over rows in units of a scale."""

    def __init__(self, scale: Scale, variance_floor: float) -> None:
        self.scale, self.floor = scale, variance_floor

    def rows_of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return rows as the components know them."""
        return self.scale.to(values)

    def logits(self, model: Gaussians) -> Logits:
        return logits_of(model, self.scale)

    def nearest(self, means: NDArray[Any]) -> Logits:
        means = np.asarray(means, dtype=np.float64)
        return Logits(-0.5 * (means**2).sum(axis=1), means, None)

    def middles(self, sums: Sums, before: NDArray[Any]) -> Float64Array:
        counts = sums.counts[:, np.newaxis]
        return np.where(counts > 0, sums.first / np.maximum(counts, _LEAST_COUNT), before)

    def around(self, means: NDArray[Any]) -> Gaussians:
        n_components = len(means)
        means = np.asarray(means, dtype=np.float64)
        return Gaussians(np.full(n_components, 1 / n_components), means, np.ones(means.shape))

    def estimate(self, sums: Sums, before: Gaussians) -> Gaussians:
        # A variance is most likely at the floor where it would be below, so likelihood still rises.
        assert sums.second is not None
        some = sums.counts > _LEAST_COUNT
        counts = sums.counts[some, np.newaxis]
        means, variances = before.means.copy(), before.variances.copy()
        means[some] = sums.first[some] / counts
        variances[some] = np.maximum(sums.second[some] / counts - means[some] ** 2, self.floor)
        return Gaussians(shares(sums.counts), means, variances)

    def with_seeds(self, model: Gaussians, components: IntpArray, rows: NDArray[Any]) -> Gaussians:
        means, variances = model.means.copy(), model.variances.copy()
        variances[components] = model.weights @ model.variances
        means[components] = rows
        return Gaussians(reseeded_weights(model.weights, components), means, variances)


def logits_of(model: Gaussians, scale: Scale) -> Logits:
    """Return log w_i N(x; mu_i, sigma_i^2) of rows in units of a scale, as products with them."""
    precisions = 1 / model.variances
    constant = np.log(model.variances) + model.means**2 * precisions + _LOG_2_PI
    offset = np.log(model.weights) - 0.5 * constant.sum(axis=1) - np.log(scale.size).sum()
    return Logits(offset, model.means * precisions, -0.5 * precisions)


def as_rows(values: NDArray[Any], weights: Float64Array) -> tuple[Scale, Rows]:
    """Return rows with weight in units of their own scale."""
    if not (weights > 0).all():
        values, weights = values[weights > 0], weights[weights > 0]
    scale = Scale.of_rows(values, weights)
    return scale, Rows(scale.to(values), weights)


def sum_of_rows(values: NDArray[Any], weights: Float64Array) -> Float64Array:
    """Return the sum of rows by their weights, in float64."""
    total = np.zeros(values.shape[1])
    for block in _blocks(len(values)):
        total += weights[block] @ values[block].astype(np.float64)
    return total


def sums_about(values: NDArray[Any], weights: Float64Array, shift: Float64Array) -> Float64Array:
    """Return the sums of distances from a point, and of their squares, by weights; two rows."""
    total = np.zeros((2, values.shape[1]))
    for block in _blocks(len(values)):
        distances = values[block] - shift
        total[0] += weights[block] @ distances
        total[1] += weights[block] @ distances**2
    return total


def variance_of(sums: Float64Array) -> Float64Array:
    """Return variances by the sums about a mean that is rounded: of a constant column they are 0.

    The mean of some thousand equal numbers is farther from them than `_ROUNDING`.
    """
    return np.asarray(np.maximum(sums[1] - sums[0] ** 2, 0))


def _blocks(n_rows: int) -> list[slice]:
    return [slice(start, start + _AT_ONCE) for start in range(0, n_rows, _AT_ONCE)]
