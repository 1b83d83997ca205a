"""EM for Gaussian and von Mises-Fisher mixtures: interfaces, and the loop over steps.

For both kinds of component, the logarithm of weight times density is
``offset + linear . x + quadratic . x^2`` (`Logits`), and the next parameters follow from three sums
over rows (`Sums`). `_em_reference` has the equations; `_em_core`, `_em_torch`, and `_em_blocks`
compute the same sums fast (`MixtureBackend`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._base import Float64Array, IntpArray

__all__ = [
    "Family",
    "Fit",
    "Logits",
    "MixtureBackend",
    "Sums",
    "checked_mean",
    "maximize",
    "needs_double",
]

_ROUGH = 1e-3  # error of a logarithm above which float32 is too coarse
_FEW = 0.1  # number of mean rows below which a component is empty
_RESEEDS = 5  # maximum number of reseeds per component


@dataclass(frozen=True, slots=True)
class Logits:
    """Coefficients of a log-density as a linear or quadratic function of a row."""

    offset: Float64Array  # (n_components,)
    linear: Float64Array  # (n_components, n_features)
    quadratic: Float64Array | None  # (n_components, n_features), or None without a quadratic part


@dataclass(frozen=True, slots=True)
class Sums:
    """Result of an E step: sums for the next parameters, and the log-likelihood."""

    counts: Float64Array  # (n_components,): sum w gamma
    first: Float64Array  # (n_components, n_features): sum w gamma x
    second: Float64Array | None  # sum w gamma x^2
    mean: float  # mean log-likelihood of the rows, by weights
    # (n_rows,): log p(x), or its largest term in hard EM; empty unless rows are in memory
    logs: Float64Array


class MixtureBackend(Protocol):
    """Interface of the rows of a fit, which compute the sums of an E step."""

    n_rows: int

    def pass_over(self, logits: Logits, *, hard: bool, threads: int) -> Sums:
        """Run an E step; if `hard`, each row counts only for its most probable component."""
        ...

    def worst(
        self, sums: Sums, logits: Logits, size: int, *, hard: bool, threads: int
    ) -> NDArray[Any]:
        """Return the `size` rows with the lowest log-likelihood in the last E step."""
        ...

    def seeds(
        self, positions: IntpArray | None, n_components: int, random: RandomState
    ) -> NDArray[Any]:
        """Choose initial means among rows by greedy k-means++."""
        ...


_Model = TypeVar("_Model")


class Family(Protocol[_Model]):
    """Interface of a kind of component: log-densities and maximum-likelihood estimates."""

    def logits(self, model: _Model) -> Logits:
        """Return the coefficients of the components' log-densities."""
        ...

    def estimate(self, sums: Sums, before: _Model) -> _Model:
        """Run an M step: return the parameters that maximize the likelihood of the sums."""
        ...

    def nearest(self, means: NDArray[Any]) -> Logits:
        """Return coefficients with which an E step assigns rows to the nearest mean."""
        ...

    def middles(self, sums: Sums, before: NDArray[Any]) -> Float64Array:
        """Return the mean of each cluster in k-means; an empty cluster keeps its mean."""
        ...

    def around(self, means: NDArray[Any]) -> _Model:
        """Return components of equal weight and width around the given means."""
        ...

    def with_seeds(self, model: _Model, components: IntpArray, rows: NDArray[Any]) -> _Model:
        """Return the model with some components moved to the given rows."""
        ...


@dataclass(frozen=True, slots=True)
class Fit:
    """Result of EM: the parameters, and the log-likelihood after each step."""

    model: Any
    log_likelihoods: list[float]
    n_reseeded: int
    n_iter: int
    converged: bool

    @property
    def score(self) -> float:
        """Score by which the best of several random initializations is chosen; higher is better."""
        return self.log_likelihoods[-1]


def maximize(
    family: Family[_Model],
    model: _Model,
    rows: MixtureBackend,
    *,
    hard: bool,
    max_iter: int,
    tol: float,
    threads: int,
    report: Callable[[], object],
) -> Fit:
    """Run EM steps until the mean log-likelihood per row rises by less than `tol`.

    A component with less than a tenth of a mean row is moved to the row with the lowest likelihood.
    The step after this may lower the likelihood, and never counts as convergence.
    """
    logits = family.logits(model)
    sums = rows.pass_over(logits, hard=hard, threads=threads)
    found = [sums.mean]
    reseeded = np.zeros(len(sums.counts), dtype=np.intp)
    converged = False
    while not converged and len(found) <= max_iter:
        model = family.estimate(sums, model)
        few = sums.counts < _FEW
        empty = np.flatnonzero(few & (reseeded < _RESEEDS))
        if empty.size:
            reseeded[empty] += 1
            seeds = rows.worst(sums, logits, empty.size, hard=hard, threads=threads)
            model = family.with_seeds(model, empty, seeds)
        logits = family.logits(model)
        sums = rows.pass_over(logits, hard=hard, threads=threads)
        found.append(sums.mean)
        converged = not empty.size and found[-1] - found[-2] < tol
        report()
    return Fit(model, found, int(reseeded.sum()), len(found) - 1, converged)


def checked_mean(mean: float) -> float:
    """Return the mean log-likelihood, or raise if it is not finite."""
    if not np.isfinite(mean):
        raise ValueError(
            "X must have rows whose squared distances from others are finite; rows with a tiny "
            "weight are too far away. Remove them."
        )
    return mean


def needs_double(logits: Logits) -> bool:
    """Return True if the log-densities would be too inaccurate in float32."""
    if logits.quadratic is None:
        sizes = np.linalg.norm(logits.linear, axis=1)
    else:
        sizes = np.abs(logits.linear).sum(axis=1) + np.abs(logits.quadratic).sum(axis=1)
    return bool(np.finfo(np.float32).eps / 2 * sizes.max() > _ROUGH)
