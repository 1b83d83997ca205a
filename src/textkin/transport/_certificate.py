"""Optimality certificate of a distance: a plan, potentials, and a check without a solver."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textkin._base import Float32Array, Float64Array, Int32Array, real
from textkin.exceptions import CertificateError

if TYPE_CHECKING:
    from textkin.transport._solver import CostName

__all__ = ["Certificate", "Verification"]

# The solver rounds masses to integers: 2**-45 for each word, plus the rounding of their sum.
_MASS_TOLERANCE = 1e-9
# Rounding of the float64 sums here: a few units in the last place of the terms.
_ROUNDING = 32 * np.finfo(np.float64).eps
# Each product of numbers below 2**-1022 is rounded to a multiple of this.
_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of `Certificate.verify`: cost of the plan, proven lower bound, and their gap.

    Attributes
    ----------
    plan_cost : float
        Cost of the plan, at least the distance of the linear program.
    bound : float
        Lower bound that the potentials prove, at most that distance.
    gap : float
        Difference of the two: the error of the distance is at most this.
    allowed : float
        Largest gap allowed.
    """

    plan_cost: float
    bound: float
    gap: float
    allowed: float


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """Optimality certificate of a distance: the transport plan and the dual potentials.

    For any potentials u, v with ``u[i] + v[j] <= c[i, j]`` for every pair, every plan costs at
    least ``sum_i a[i] u[i] + sum_j b[j] v[j]`` (weak duality). A plan with exactly
    this cost is therefore optimal, for any solver.

    Attributes
    ----------
    distance : float
        Distance to prove.
    source_masses, target_masses : ndarray of shape (n,) and (m,), float64
        a and b; each sums to 1.
    sources, targets : ndarray of shape (n_moves,), int32
        Words of each move of the plan.
    masses : ndarray of shape (n_moves,), float64
        Mass of each move.
    source_potentials, target_potentials : ndarray of shape (n,) and (m,), float64
        u and v.
    cost : str or ndarray of shape (n, m)
        The name of the cost between the two sets of vectors, or the costs themselves.
    source_vectors, target_vectors : ndarray of shape (n, d) and (m, d), or None
        The word vectors, if the cost is a name.
    """

    distance: float
    source_masses: Float64Array
    target_masses: Float64Array
    sources: Int32Array
    targets: Int32Array
    masses: Float64Array
    source_potentials: Float64Array
    target_potentials: Float64Array
    cost: "CostName | Float64Array"
    source_vectors: Float32Array | None = None
    target_vectors: Float32Array | None = None

    def costs(self) -> Float64Array:
        """Return the matrix of costs between source and target words, in float64."""
        if not isinstance(self.cost, str):
            return self.cost
        if self.source_vectors is None or self.target_vectors is None:
            raise CertificateError("A certificate with a named cost must have vectors; got None.")
        # Imported here, because `_solver` imports this module.
        from textkin.transport._solver import reference_costs

        return reference_costs(self.source_vectors, self.target_vectors, self.cost)

    def verify(self, tolerance: float = 1e-6) -> Verification:
        """Verify marginals, dual feasibility, and equal primal and dual objectives.

        The check uses no result of the solver unchecked: it computes the costs again in float64.
        It lowers potentials that exceed a cost by the largest excess, and charges mass that the
        plan misplaces by rounding (at most 1e-9 of the whole, nothing if masses are counts) at the
        largest cost, so the gap holds in any case.

        Parameters
        ----------
        tolerance : float, default=1e-6
            Largest gap, relative to the cost of the plan, in addition to the rounding of masses
            and sums.

        Returns
        -------
        Verification
            Cost of the plan, proven bound, and their gap.

        Raises
        ------
        CertificateError
            If a check fails; the message identifies it.
        """
        real(0).check("tolerance", tolerance)
        self._check_form()
        misplaced = self._check_plan()
        costs = self.costs()
        if costs.shape != (len(self.source_masses), len(self.target_masses)):
            raise CertificateError(
                f"The costs have shape {costs.shape}, but there are {len(self.source_masses)} "
                f"sources and {len(self.target_masses)} targets."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            plan_cost = float(np.sum(self.masses * costs[self.sources, self.targets]))
            slack = costs - self.source_potentials[:, np.newaxis] - self.target_potentials
            proven = (
                self.source_masses * self.source_potentials,
                self.target_masses * self.target_potentials,
            )
            bound = float(proven[0].sum() + proven[1].sum() + min(0.0, slack.min()))
            largest = np.abs(self.source_potentials).max() + np.abs(self.target_potentials).max()
            summed = float(np.abs(proven[0]).sum() + np.abs(proven[1]).sum() + plan_cost + largest)
            # The cost of moving misplaced mass back. The cost of the plan itself also differs by
            # up to this amount from the cost of a plan for the exact masses.
            moved_back = misplaced * float(costs.max())
            gap = max(0.0, plan_cost - bound) + moved_back
            terms = len(self.source_masses) + len(self.target_masses) + len(self.masses) + 4
            allowed = float(
                tolerance * plan_cost + _ROUNDING * summed + 2 * moved_back + terms * _SMALLEST
            )
        if not (np.isfinite(bound) and np.isfinite(plan_cost) and gap <= allowed):
            # Also False for NaN.
            raise CertificateError(
                f"The plan costs {plan_cost:.9g}, but the potentials prove only {bound:.9g}: a gap "
                f"of {gap:.3g}, above the {allowed:.3g} allowed."
            )
        if not abs(plan_cost - self.distance) <= allowed:
            raise CertificateError(
                f"The distance is given as {self.distance:.9g}, but the plan costs {plan_cost:.9g}."
            )
        return Verification(plan_cost, bound, gap, allowed)

    def _check_form(self) -> None:
        n, m, n_moves = len(self.source_masses), len(self.target_masses), len(self.masses)
        valid = (
            min(n, m, n_moves) > 0
            and len(self.source_potentials) == n
            and len(self.target_potentials) == m
            and len(self.sources) == len(self.targets) == n_moves
            and 0 <= self.sources.min() <= self.sources.max() < n
            and 0 <= self.targets.min() <= self.targets.max() < m
        )
        if not valid:
            raise CertificateError(
                "The plan and the potentials must fit the masses; lengths differ, or a move has a "
                "position out of range."
            )

    def _check_plan(self) -> float:
        """Check the marginals of the plan; return the total mass missing through rounding."""
        if not (np.all(self.masses >= 0) and np.all(np.isfinite(self.masses))):
            raise CertificateError("The plan moves a mass that is negative or not finite.")
        misplaced = 0.0
        for side, places, masses in (
            ("source", self.sources, self.source_masses),
            ("target", self.targets, self.target_masses),
        ):
            if not abs(masses.sum() - 1) <= _MASS_TOLERANCE:
                raise CertificateError(f"The {side} masses sum to {masses.sum():.12g}, not to 1.")
            moved = np.bincount(places, self.masses, len(masses))
            off = np.abs(moved - masses)
            if not off.max() <= _MASS_TOLERANCE:
                worst = int(off.argmax())
                raise CertificateError(
                    f"The plan moves {moved[worst]:.12g} at {side} {worst}, which has a mass of "
                    f"{masses[worst]:.12g}."
                )
            misplaced += float(np.maximum(0.0, off - 1e-15).sum())
        return misplaced
