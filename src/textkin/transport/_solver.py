"""Exact optimal transport between two arrays of masses under any costs."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from textkin import _core
from textkin._base import Float64Array, Int32Array, one_of
from textkin.corpus import shares
from textkin.exceptions import ParameterError
from textkin.run import memory_limit, stop_check
from textkin.transport._certificate import Certificate, Verification

__all__ = ["COSTS", "CostName", "TransportPlan", "optimal_transport", "reference_costs"]

CostName: TypeAlias = Literal["euclidean", "cosine", "sqeuclidean"]
COSTS: tuple[CostName, ...] = get_args(CostName)


def reference_costs(x: ArrayLike, y: ArrayLike, cost: CostName) -> Float64Array:
    """Compute the matrix of costs between rows of `x` and of `y` in float64, as the reference.

    Parameters
    ----------
    x, y : array-like of shape (n, d) and (m, d)
        Word vectors; of unit length for the cosine cost.
    cost : {"euclidean", "cosine", "sqeuclidean"}
        ``|x - y|``, ``1 - cos(x, y)`` or ``|x - y|**2``.

    Returns
    -------
    ndarray of shape (n, m), float64
        Costs, at least 0, and exactly 0 for equal rows.

    Examples
    --------
    >>> reference_costs([[0, 0], [4, 0]], [[0, 3]], "euclidean")
    array([[3.],
           [5.]])
    """
    one_of(*COSTS).check("cost", cost)
    rows = np.asarray(x, dtype=np.float64)
    columns = np.asarray(y, dtype=np.float64)
    squares = np.empty((len(rows), len(columns)))
    stop = stop_check()
    for i, row in enumerate(rows):
        if stop is not None:
            stop(i, len(rows))
        np.sum((columns - row) ** 2, axis=1, out=squares[i])
    if cost == "euclidean":
        return np.sqrt(squares)
    return squares / 2 if cost == "cosine" else squares


@dataclass(frozen=True, slots=True, eq=False)
class TransportPlan:
    """Optimal transport plan between source and target weights, with potentials as proof.

    Attributes
    ----------
    cost : float
        Cost of the plan, for masses that sum to 1.
    sources, targets : ndarray of shape (n_moves,), int32
        Source and target position of each move, sorted by source, then target.
    masses : ndarray of shape (n_moves,), float64
        Mass of each move; positive, with sum 1.
    certificate : Certificate
        Proof of optimality.
    pivots : int
        Number of pivots of the simplex method.
    method : str
        Solver variant: "narrow_simplex", "wide_simplex" (64 bits), or "shortest_paths" (a
        fallback).
    """

    cost: float
    sources: Int32Array
    targets: Int32Array
    masses: Float64Array
    certificate: Certificate
    pivots: int
    method: str

    def verify(self, tolerance: float = 1e-6) -> Verification:
        """Verify that the plan is optimal, without the solver; see `Certificate.verify`."""
        return self.certificate.verify(tolerance)

    def matrix(self) -> Float64Array:
        """Return the plan as a dense array of shape (n_sources, n_targets)."""
        shape = (len(self.certificate.source_masses), len(self.certificate.target_masses))
        plan = np.zeros(shape)
        plan[self.sources, self.targets] = self.masses
        return plan


def optimal_transport(
    source_weights: ArrayLike,
    target_weights: ArrayLike,
    costs: ArrayLike,
    *,
    memory: str | int | None = None,
) -> TransportPlan:
    r"""Compute the exact optimal transport plan between two weight vectors for a cost matrix.

    Parameters
    ----------
    source_weights, target_weights : array-like of shape (n,) and (m,)
        Masses; not negative, not all zero. Both arrays are divided by their sums. Counts, and
        counts divided by one number (``[0.1, 0.2, 0.7]``), are exact; other weights are rounded
        (see Notes).
    costs : array-like of shape (n, m)
        Cost of moving a unit of mass from each source to each target; finite, not negative. To
        forbid a pair, give it a huge cost, such as 1e15 times the others.
    memory : str, int or None, default=None
        Memory limit of the solver, such as "2GB". If None, half of the memory of the machine, or
        of its control group (cgroup) if that has less. The solver can take 16 bytes per cost and
        ``(n + m)**2 / 8`` bytes; problems below 32 MB are always solved.

    Returns
    -------
    TransportPlan
        Plan with its cost and certificate.

    Raises
    ------
    ValueError
        If shapes differ or a number is negative or not finite.
    MemoryError
        If the solver can take more than `memory`; nothing is allocated then.

    See Also
    --------
    WordMover : Transport between documents, with costs from word vectors.

    Notes
    -----
    .. math:: \min_{T \ge 0} \sum_{ij} T_{ij} c_{ij}
        \quad\text{s.t.}\quad \sum_j T_{ij} = a_i,\; \sum_i T_{ij} = b_j

    The network simplex method solves the problem in integers. Costs are rounded to 2**-26 of the
    largest cost, or to about 2**-50 if that is too coarse. If some costs are so large that the
    other costs are negligible, the problem is solved again with these costs capped; the cap is too
    high to change the optimum. The cost of the plan is summed with the given costs, and is within
    1e-6 (relative) of the optimum.

    Weights that are neither counts nor counts divided by one number are rounded to multiples of
    2**-44 of their sum. The cost can then differ from the optimum by an additional
    ``(n + m) * 2**-43`` of the largest cost, and it can be below the optimum. This matters for
    optima below about 1e-6 of the largest cost. `TransportPlan.verify` computes the mass that the
    rounded plan misplaces, and allows only the cost of this mass.

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
    limit = memory_limit(memory) or 0
    a = _weights("source_weights", source_weights)
    b = _weights("target_weights", target_weights)
    c = np.ascontiguousarray(costs, dtype=np.float64)
    if c.shape != (len(a), len(b)):
        raise ValueError(
            f"costs must have shape ({len(a)}, {len(b)}), one row per source and one column per "
            f"target; got {c.shape}."
        )
    if not np.all(np.isfinite(c)) or c.min() < 0:
        raise ValueError("costs must be finite and not negative; add a constant to raise them.")
    sources, targets, masses, u, v, pivots, method = _core.solve_transport(a, b, c, memory=limit)
    cost = float(np.sum(masses * c[sources, targets]))
    certificate = Certificate(cost, shares(a), shares(b), sources, targets, masses, u, v, c)
    return TransportPlan(cost, sources, targets, masses, certificate, pivots, method.name)


def _weights(name: str, values: ArrayLike) -> Float64Array:
    weights = np.ascontiguousarray(values, dtype=np.float64)
    if weights.ndim != 1 or weights.size == 0:
        raise ParameterError(name, "a list of numbers", f"shape {weights.shape}")
    if not np.all(np.isfinite(weights)) or weights.min() < 0 or weights.max() <= 0:
        raise ValueError(f"{name} must be finite, not negative and not all zero.")
    return weights
