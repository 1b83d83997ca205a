"""Optimal transport between any two lists of masses under any costs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textkin import _core
from textkin._typing import Float64Array, Int32Array
from textkin.transport._certificate import Certificate, Verification
from textkin.vectors._encode import shares

__all__ = ["TransportPlan", "optimal_transport"]


@dataclass(frozen=True, slots=True, eq=False)
class TransportPlan:
    """The cheapest way to move one set of masses onto another.

    Attributes
    ----------
    cost : float
        The cost of the plan; masses are taken to sum to 1.
    sources, targets : ndarray of shape (n_moves,), int32
        Positions of what moves and of where it goes, by source, then target.
    masses : ndarray of shape (n_moves,), float64
        How much moves; positive, summing to 1.
    certificate : Certificate
        The proof that no plan is cheaper.
    pivots : int
        Steps of the simplex method.
    method : str
        "narrow_simplex", "wide_simplex" (64 bits) or "shortest_paths" (a fallback).
    """

    cost: float
    sources: Int32Array
    targets: Int32Array
    masses: Float64Array
    certificate: Certificate
    pivots: int
    method: str

    def verify(self, tolerance: float = 1e-6) -> Verification:
        """Check the proof of optimality without the solver; see `Certificate.verify`."""
        return self.certificate.verify(tolerance)

    def matrix(self) -> Float64Array:
        """Return the plan as a dense matrix, sources by targets."""
        shape = (len(self.certificate.source_masses), len(self.certificate.target_masses))
        plan = np.zeros(shape)
        plan[self.sources, self.targets] = self.masses
        return plan


def optimal_transport(
    source_masses: ArrayLike, target_masses: ArrayLike, costs: ArrayLike
) -> TransportPlan:
    r"""Solve a transport problem exactly.

    Parameters
    ----------
    source_masses, target_masses : array-like of shape (n,) and (m,)
        Not negative, not all zero; both are divided by their sums.
    costs : array-like of shape (n, m)
        Cost of moving a unit of mass from each source to each target; finite, not negative.

    Returns
    -------
    TransportPlan
        The plan, its cost and the certificate.

    Raises
    ------
    ValueError
        If shapes differ or a number is negative or not finite.

    See Also
    --------
    WordMover : The same between documents, with costs from word vectors.

    Notes
    -----
    .. math:: \min_{T \ge 0} \sum_{ij} T_{ij} c_{ij}
        \quad\text{s.t.}\quad \sum_j T_{ij} = a_i,\; \sum_i T_{ij} = b_j

    Masses that are no counts are rounded to multiples of 2**-44, costs to 2**-26 of the largest
    one, or to about 2**-50 where that is too coarse, and the problem in whole numbers is solved
    by the network simplex method. The cost of the plan is summed up with the costs as given:
    within 1e-6 (relative) of the optimum, unless that is below 1e-8 of the largest cost;
    `TransportPlan.verify` tells.

    References
    ----------
    Ahuja, Magnanti and Orlin, "Network Flows", 1993, chapter 11.

    Examples
    --------
    >>> plan = optimal_transport([1, 1, 1], [1, 1], [[0, 6], [1, 5], [5, 1]])
    >>> round(plan.cost, 6)
    1.333333
    >>> plan.verify().gap < 1e-6
    True
    """
    a = _masses("source_masses", source_masses)
    b = _masses("target_masses", target_masses)
    c = np.ascontiguousarray(costs, dtype=np.float64)
    if c.shape != (len(a), len(b)):
        raise ValueError(
            f"costs must have shape ({len(a)}, {len(b)}), a row for each source and a column for "
            f"each target; got {c.shape}."
        )
    if not np.all(np.isfinite(c)) or c.min() < 0:
        raise ValueError("costs must be finite and not negative; add a constant to lift them.")
    sources, targets, masses, u, v, pivots, method = _core.solve_transport(a, b, c)
    cost = float(np.sum(masses * c[sources, targets]))
    certificate = Certificate(cost, shares(a), shares(b), sources, targets, masses, u, v, c)
    return TransportPlan(cost, sources, targets, masses, certificate, pivots, method.name)


def _masses(name: str, values: ArrayLike) -> Float64Array:
    masses = np.ascontiguousarray(values, dtype=np.float64)
    if masses.ndim != 1 or masses.size == 0:
        raise ValueError(f"{name} must be a list of numbers; got shape {masses.shape}.")
    if not np.all(np.isfinite(masses)) or masses.min() < 0 or masses.max() <= 0:
        raise ValueError(f"{name} must be finite, not negative and not all zero.")
    return masses
