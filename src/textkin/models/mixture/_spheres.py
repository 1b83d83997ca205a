"""Von Mises-Fisher distributions: unit rows, densities, estimates, and draws."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._typing import Float64Array, IntpArray
from textkin.models.mixture._bessel import kappa_of, log_normalizer
from textkin.models.mixture._em import Logits, Sums
from textkin.models.mixture._starts import reseeded_weights, shares

__all__ = ["SphereFamily", "Spheres", "drawn", "logits_of", "unit_rows"]

_LEAST_COUNT = 1e-9  # rows, below which there is no mean to speak of
_MOST_KAPPA_IN_SINGLE = 1e5  # by which lengths that are 1 but for rounding may be multiplied


@dataclass(frozen=True, slots=True)
class Spheres:
    """The parameters of a mixture."""

    weights: Float64Array  # (n_components,)
    means: Float64Array  # (n_components, n_features), of length 1
    kappas: Float64Array  # (n_components,)


class SphereFamily:
    """Von Mises-Fisher distributions over unit rows."""

    def __init__(self, max_kappa: float, shared_kappa: bool) -> None:
        self.max_kappa, self.shared_kappa = max_kappa, shared_kappa

    def rows_of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return rows as the components know them: of length 1, those that have a direction."""
        rows, directed = self.units_of(values)
        return rows if directed.all() else rows[directed]

    def units_of(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return rows of length 1, precise enough for the largest kappa, and which are any."""
        return unit_rows(self.precise(values))

    def precise(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return rows in a dtype in which lengths of 1 are precise enough for the largest kappa."""
        return values.astype(np.float64) if self.max_kappa > _MOST_KAPPA_IN_SINGLE else values

    def logits(self, model: Spheres) -> Logits:
        return logits_of(model)

    def nearest(self, means: NDArray[Any]) -> Logits:
        return Logits(np.zeros(len(means)), np.asarray(means, dtype=np.float64), None)

    def middles(self, sums: Sums, before: NDArray[Any]) -> Float64Array:
        lengths = np.linalg.norm(sums.first, axis=1, keepdims=True)
        return np.where(lengths > 0, sums.first / np.maximum(lengths, _LEAST_COUNT), before)

    def around(self, means: NDArray[Any]) -> Spheres:
        n_components = len(means)
        means = np.asarray(means, dtype=np.float64)
        return Spheres(np.full(n_components, 1 / n_components), means, np.ones(n_components))

    def estimate(self, sums: Sums, before: Spheres) -> Spheres:
        lengths = np.linalg.norm(sums.first, axis=1)
        some = sums.counts > _LEAST_COUNT
        directed = some & (lengths > 0)  # rows that cancel leave a mean where it is
        means, kappas = before.means.copy(), before.kappas.copy()
        means[directed] = sums.first[directed] / lengths[directed, np.newaxis]
        d = means.shape[1]
        if self.shared_kappa:
            r = np.array([lengths.sum() / sums.counts.sum()])
            kappas[:] = kappa_of(d, np.minimum(r, 1), self.max_kappa)
        else:
            r = np.minimum(lengths[some] / sums.counts[some], 1)
            kappas[some] = kappa_of(d, r, self.max_kappa)
        return Spheres(shares(sums.counts), means, kappas)

    def with_seeds(self, model: Spheres, components: IntpArray, rows: NDArray[Any]) -> Spheres:
        means, kappas = model.means.copy(), model.kappas.copy()
        kappas[components] = model.weights @ model.kappas
        means[components] = rows
        return Spheres(reseeded_weights(model.weights, components), means, kappas)


def logits_of(model: Spheres) -> Logits:
    """Return log w_i f(x; mu_i, kappa_i) of unit rows, as products with them."""
    offset = np.log(model.weights) + log_normalizer(model.means.shape[1], model.kappas)
    return Logits(offset, model.kappas[:, np.newaxis] * model.means, None)


def unit_rows(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return rows of length 1, in their dtype, and which rows have a direction; others stay 0."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    directed = largest[:, 0] > 0
    largest[~directed] = 1
    rows = values / largest  # whose squares are in range
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths[~directed] = 1
    rows /= lengths[:, np.newaxis].astype(rows.dtype)
    return rows, directed


def drawn(means: Float64Array, kappas: Float64Array, random: RandomState) -> Float64Array:
    """Return a row of each distribution, (n_rows, n_features), by rejection (Ulrich; Wood 1994).

    With the mean at the pole, the height W has a density of its own, and the direction around it
    is uniform. The envelope of W is of Beta variables, and fits well for all d and kappa.
    """
    n_rows, d = means.shape
    b = (d - 1) / (2 * kappas + np.hypot(2 * kappas, d - 1))
    pole = (1 - b) / (1 + b)
    # 1 - pole^2 = 4 b / (1 + b)^2, and 1 - W = 2 b Z / (1 - (1 - b) Z), lose no digits.
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
