"""Densities of both mixtures: parameters, log-densities, estimates, and samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._base import Float64Array, IntpArray
from textkin.models.mixture._bessel import kappa_of, log_normalizer
from textkin.models.mixture._em import Logits, Sums
from textkin.models.mixture._initialization import reseeded_weights, shares

__all__ = [
    "GaussianFamily",
    "GaussianParameters",
    "Scale",
    "VonMisesFisherFamily",
    "VonMisesFisherParameters",
    "gaussian_logits",
    "sample_sphere",
    "sum_of_rows",
    "sums_about",
    "unit_rows",
    "variance_of",
    "von_mises_fisher_logits",
]

_AT_ONCE = 4096  # block size, in rows, of conversions to double
_LEAST_DEVIATION = 1e-140  # standard deviation below which a column is constant
_ROUNDING = 1e-14  # relative rounding error of a mean; smaller deviations are constant, too
_LEAST_COUNT = 1e-9  # number of rows below which a mean is undefined
_LOG_2_PI = float(np.log(2 * np.pi))
_MOST_KAPPA_IN_SINGLE = 1e5  # largest factor of lengths that are 1 except for float32 rounding


@dataclass(frozen=True, slots=True)
class GaussianParameters:
    """Weights, means, and covariances of a mixture of diagonal Gaussians."""

    weights: Float64Array  # (n_components,)
    means: Float64Array  # (n_components, n_features)
    covariances: Float64Array  # (n_components, n_features); the diagonals


@dataclass(frozen=True, slots=True)
class Scale:
    """Mean and standard deviation of each column, used to standardize rows.

    Sums of squares, and float32, are accurate for columns with mean 0 and values of about 1.
    """

    shift: Float64Array
    size: Float64Array

    @classmethod
    def of_rows(cls, values: NDArray[Any], weights: Float64Array) -> "Scale":
        """Compute the scale of weighted rows; a constant column gets the mean deviation."""
        shares = weights / weights.sum()
        with np.errstate(over="ignore", invalid="ignore"):  # overflow raises in `of_moments`
            shift = sum_of_rows(values, shares)
            variance = variance_of(sums_about(values, shares, shift))
        return cls.of_moments(shift, variance)

    @classmethod
    def of_moments(cls, shift: Float64Array, variance: Float64Array) -> "Scale":
        """Create the scale from the means and variances of the columns."""
        if not np.isfinite(variance).all():
            raise ValueError("X must have values whose squares have a finite sum. Scale them down.")
        varies = np.sqrt(variance) > np.maximum(_ROUNDING * np.abs(shift), _LEAST_DEVIATION)
        variance = np.where(varies, variance, variance[varies].mean() if varies.any() else 1.0)
        # By rounding, a constant of 1e20 is 1e4 from its mean; this must not be many widths.
        return cls(shift, np.maximum(np.sqrt(variance), _ROUNDING * np.abs(shift)))

    @classmethod
    def of_mixture(cls, model: GaussianParameters) -> "Scale":
        """Compute the scale of the distribution that a Gaussian mixture describes."""
        weights = model.weights[:, np.newaxis]
        shift = np.sum(weights * model.means, axis=0)  # bits of BLAS sums would depend on threads
        variance = np.sum(weights * (model.covariances + (model.means - shift) ** 2), axis=0)
        return cls(shift, np.sqrt(variance))

    def to(self, values: NDArray[Any]) -> NDArray[Any]:
        """Standardize rows: subtract the mean, divide by the deviation; keep the dtype."""
        scaled = np.empty_like(values)
        for block in _blocks(len(values)):
            scaled[block] = (values[block] - self.shift) / self.size
        return scaled

    def model_to(self, model: GaussianParameters) -> GaussianParameters:
        """Convert the parameters of a mixture from original to standardized units."""
        means = (model.means - self.shift) / self.size
        return GaussianParameters(model.weights, means, model.covariances / self.size / self.size)

    def model_from(self, model: GaussianParameters) -> GaussianParameters:
        """Convert the parameters of a mixture from standardized to original units."""
        means = self.shift + self.size * model.means
        return GaussianParameters(model.weights, means, model.covariances * self.size * self.size)


class GaussianFamily:
    """Diagonal Gaussian components over standardized rows."""

    def __init__(self, scale: Scale, variance_floor: float) -> None:
        self.scale, self.floor = scale, variance_floor

    def rows_of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return rows standardized by the scale of the components."""
        return self.scale.to(values)

    def logits(self, model: GaussianParameters) -> Logits:
        return gaussian_logits(model, self.scale)

    def nearest(self, means: NDArray[Any]) -> Logits:
        means = np.asarray(means, dtype=np.float64)
        return Logits(-0.5 * (means**2).sum(axis=1), means, None)

    def middles(self, sums: Sums, before: NDArray[Any]) -> Float64Array:
        counts = sums.counts[:, np.newaxis]
        return np.where(counts > 0, sums.first / np.maximum(counts, _LEAST_COUNT), before)

    def around(self, means: NDArray[Any]) -> GaussianParameters:
        n_components = len(means)
        means = np.asarray(means, dtype=np.float64)
        return GaussianParameters(
            np.full(n_components, 1 / n_components), means, np.ones(means.shape)
        )

    def estimate(self, sums: Sums, before: GaussianParameters) -> GaussianParameters:
        # If the estimate is below the floor, the floor is the most likely value.
        assert sums.second is not None
        some = sums.counts > _LEAST_COUNT
        counts = sums.counts[some, np.newaxis]
        means, variances = before.means.copy(), before.covariances.copy()
        means[some] = sums.first[some] / counts
        variances[some] = np.maximum(sums.second[some] / counts - means[some] ** 2, self.floor)
        return GaussianParameters(shares(sums.counts), means, variances)

    def with_seeds(
        self, model: GaussianParameters, components: IntpArray, rows: NDArray[Any]
    ) -> GaussianParameters:
        means, variances = model.means.copy(), model.covariances.copy()
        variances[components] = model.weights @ model.covariances
        means[components] = rows
        return GaussianParameters(reseeded_weights(model.weights, components), means, variances)


def gaussian_logits(model: GaussianParameters, scale: Scale) -> Logits:
    """Compute the coefficients of log w_i N(x; mu_i, sigma_i^2) for standardized rows x."""
    precisions = 1 / model.covariances
    constant = np.log(model.covariances) + model.means**2 * precisions + _LOG_2_PI
    offset = np.log(model.weights) - 0.5 * constant.sum(axis=1) - np.log(scale.size).sum()
    return Logits(offset, model.means * precisions, -0.5 * precisions)


def sum_of_rows(values: NDArray[Any], weights: Float64Array) -> Float64Array:
    """Compute the weighted sum of the rows of a matrix, in float64."""
    total = np.zeros(values.shape[1])
    for block in _blocks(len(values)):
        total += weights[block] @ values[block].astype(np.float64)
    return total


def sums_about(values: NDArray[Any], weights: Float64Array, shift: Float64Array) -> Float64Array:
    """Compute weighted sums of (x - shift) and of (x - shift)^2 over rows x."""
    total = np.zeros((2, values.shape[1]))
    for block in _blocks(len(values)):
        distances = values[block] - shift
        total[0] += weights[block] @ distances
        total[1] += weights[block] @ distances**2
    return total


def variance_of(sums: Float64Array) -> Float64Array:
    """Compute the variance of each column from the means of its values and of their squares.

    The mean of some thousand equal numbers differs from them by more than `_ROUNDING`.
    """
    return np.asarray(np.maximum(sums[1] - sums[0] ** 2, 0))


def _blocks(n_rows: int) -> list[slice]:
    return [slice(start, start + _AT_ONCE) for start in range(0, n_rows, _AT_ONCE)]


@dataclass(frozen=True, slots=True)
class VonMisesFisherParameters:
    """Weights, mean directions, and kappas of a von Mises-Fisher mixture."""

    weights: Float64Array  # (n_components,)
    means: Float64Array  # (n_components, n_features), of length 1
    kappas: Float64Array  # (n_components,)


class VonMisesFisherFamily:
    """Von Mises-Fisher components over L2-normalized rows."""

    def __init__(self, max_kappa: float, shared_kappa: bool) -> None:
        self.max_kappa, self.shared_kappa = max_kappa, shared_kappa

    def rows_of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return L2-normalized rows, without rows of zeros."""
        rows, directed = self.units_of(values)
        return rows if directed.all() else rows[directed]

    def units_of(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return L2-normalized rows, and a mask of the nonzero rows; see `unit_rows`."""
        return unit_rows(self.precise(values))

    def precise(self, values: NDArray[Any]) -> NDArray[Any]:
        """Convert rows to float64 if the largest kappa needs it."""
        return values.astype(np.float64) if self.max_kappa > _MOST_KAPPA_IN_SINGLE else values

    def logits(self, model: VonMisesFisherParameters) -> Logits:
        return von_mises_fisher_logits(model)

    def nearest(self, means: NDArray[Any]) -> Logits:
        return Logits(np.zeros(len(means)), np.asarray(means, dtype=np.float64), None)

    def middles(self, sums: Sums, before: NDArray[Any]) -> Float64Array:
        lengths = np.linalg.norm(sums.first, axis=1, keepdims=True)
        return np.where(lengths > 0, sums.first / np.maximum(lengths, _LEAST_COUNT), before)

    def around(self, means: NDArray[Any]) -> VonMisesFisherParameters:
        n_components = len(means)
        means = np.asarray(means, dtype=np.float64)
        return VonMisesFisherParameters(
            np.full(n_components, 1 / n_components), means, np.ones(n_components)
        )

    def estimate(self, sums: Sums, before: VonMisesFisherParameters) -> VonMisesFisherParameters:
        lengths = np.linalg.norm(sums.first, axis=1)
        some = sums.counts > _LEAST_COUNT
        directed = some & (lengths > 0)  # if rows cancel, the mean stays unchanged
        means, kappas = before.means.copy(), before.kappas.copy()
        means[directed] = sums.first[directed] / lengths[directed, np.newaxis]
        d = means.shape[1]
        if self.shared_kappa:
            r = np.array([lengths.sum() / sums.counts.sum()])
            kappas[:] = kappa_of(d, np.minimum(r, 1), self.max_kappa)
        else:
            r = np.minimum(lengths[some] / sums.counts[some], 1)
            kappas[some] = kappa_of(d, r, self.max_kappa)
        return VonMisesFisherParameters(shares(sums.counts), means, kappas)

    def with_seeds(
        self, model: VonMisesFisherParameters, components: IntpArray, rows: NDArray[Any]
    ) -> VonMisesFisherParameters:
        means, kappas = model.means.copy(), model.kappas.copy()
        kappas[components] = model.weights @ model.kappas
        means[components] = rows
        return VonMisesFisherParameters(reseeded_weights(model.weights, components), means, kappas)


def von_mises_fisher_logits(model: VonMisesFisherParameters) -> Logits:
    """Compute the coefficients of log w_i f(x; mu_i, kappa_i) for L2-normalized rows x."""
    offset = np.log(model.weights) + log_normalizer(model.means.shape[1], model.kappas)
    return Logits(offset, model.kappas[:, np.newaxis] * model.means, None)


def unit_rows(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """L2-normalize rows, and return them with a mask of the nonzero rows; zeros stay zero."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    directed = largest[:, 0] > 0
    largest[~directed] = 1
    rows = values / largest  # the largest number becomes 1, so squares cannot overflow
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths[~directed] = 1
    rows /= lengths[:, np.newaxis].astype(rows.dtype)
    return rows, directed


def sample_sphere(means: Float64Array, kappas: Float64Array, random: RandomState) -> Float64Array:
    """Sample one unit vector from each von Mises-Fisher distribution (Ulrich; Wood 1994).

    With the mean at the pole, the height W has its own density, and the direction around the pole
    is uniform. The envelope of W comes from Beta variables, and is tight for all d and kappa.
    """
    n_rows, d = means.shape
    b = (d - 1) / (2 * kappas + np.hypot(2 * kappas, d - 1))
    pole = (1 - b) / (1 + b)
    # 1 - pole^2 = 4 b / (1 + b)^2, and 1 - W = 2 b Z / (1 - (1 - b) Z), without cancellation.
    limit = kappas * pole + (d - 1) * np.log(4 * b / (1 + b) ** 2)
    below = np.empty(n_rows)  # 1 - W
    left = np.arange(n_rows)
    while left.size:
        z = random.beta(0.5 * (d - 1), 0.5 * (d - 1), left.size)
        depth = 2 * b[left] * z / (1 - (1 - b[left]) * z)
        height = 1 - depth
        chance = kappas[left] * height + (d - 1) * np.log1p(-pole[left] * height) - limit[left]
        accepted = chance >= np.log1p(-random.uniform(size=left.size))
        below[left[accepted]] = depth[accepted]
        left = left[~accepted]
    around = random.standard_normal((n_rows, d))
    around -= np.einsum("ij,ij->i", around, means)[:, np.newaxis] * means
    around /= np.linalg.norm(around, axis=1, keepdims=True)
    below = np.clip(below, 0, 2)
    rows = (1 - below)[:, np.newaxis] * means
    rows += np.sqrt(below * (2 - below))[:, np.newaxis] * around
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
