"""A distance proves itself: a plan, potentials, and a check that needs no solver."""

from dataclasses import dataclass

import numpy as np

from textkin._typing import Float32Array, Float64Array, Int32Array
from textkin._validation import real
from textkin.exceptions import CertificateError
from textkin.transport._costs import CostName, reference_costs

__all__ = ["Certificate", "Verification"]

# Masses are whole numbers inside: 2**-45 a word, and rounding when they are summed up.
_MASS_TOLERANCE = 1e-9
# Rounding of the float64 sums here: a few units in the last place of what is summed up.
_ROUNDING = 32 * np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking a certificate found.

    Attributes
    ----------
    plan_cost : float
        The cost of the plan: no smaller than the distance of the linear programme.
    bound : float
        What the potentials prove: no larger than that distance.
    gap : float
        The difference of the two: the distance is known to within it.
    allowed : float
        The gap that was allowed.
    """

    plan_cost: float
    bound: float
    gap: float
    allowed: float


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """A transport plan with the potentials that prove that no plan is cheaper.

    For any potentials u, v with ``u[i] + v[j] <= c[i, j]`` for every pair, every plan costs at
    least ``sum_i a[i] u[i] + sum_j b[j] v[j]`` (weak duality). A plan that costs just that much
    is therefore optimal, whoever found it.

    Attributes
    ----------
    distance : float
        What is claimed.
    source_masses, target_masses : ndarray of shape (n,) and (m,), float64
        a and b; each sums to 1.
    sources, targets : ndarray of shape (n_moves,), int32
        The plan: from which word to which.
    masses : ndarray of shape (n_moves,), float64
        The plan: how much.
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
    cost: CostName | Float64Array
    source_vectors: Float32Array | None = None
    target_vectors: Float32Array | None = None

    def costs(self) -> Float64Array:
        """Return the cost of every pair, computed here in float64 from the vectors."""
        if not isinstance(self.cost, str):
            return self.cost
        if self.source_vectors is None or self.target_vectors is None:
            raise CertificateError("The certificate names a cost but has no vectors.")
        return reference_costs(self.source_vectors, self.target_vectors, self.cost)

    def verify(self, tolerance: float = 1e-6) -> Verification:
        """Check the proof: marginals, potentials and the two objectives.

        Nothing that the solver computed is taken on trust: the costs are computed again in
        float64. Potentials that exceed a cost are lowered by the largest excess before they
        count, and mass that the plan misplaces by rounding (1e-9 of the whole at most, nothing
        where masses are counts) is charged at the largest cost, so the gap holds in any case.

        Parameters
        ----------
        tolerance : float, default=1e-6
            The gap allowed, relative to the cost of the plan; on top of it only what rounding
            of masses and sums explains.

        Returns
        -------
        Verification
            The cost of the plan, the proven bound and their gap.

        Raises
        ------
        CertificateError
            If anything does not hold; the message says what.
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
            # What bringing misplaced mass back may cost; it also makes the plan itself that much
            # dearer or cheaper than one for the masses as they are.
            moved_back = misplaced * float(costs.max())
            gap = max(0.0, plan_cost - bound) + moved_back
            allowed = float(tolerance * plan_cost + _ROUNDING * summed + 2 * moved_back)
        if not (np.isfinite(bound) and np.isfinite(plan_cost) and gap <= allowed):  # NaN fails too
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
        sound = (
            min(n, m, n_moves) > 0
            and len(self.source_potentials) == n
            and len(self.target_potentials) == m
            and len(self.sources) == len(self.targets) == n_moves
            and 0 <= self.sources.min() <= self.sources.max() < n
            and 0 <= self.targets.min() <= self.targets.max() < m
        )
        if not sound:
            raise CertificateError(
                "The plan and the potentials do not fit the masses: lengths differ, or a move "
                "names a word that is not there."
            )

    def _check_plan(self) -> float:
        """Check the marginals; return the mass that is misplaced by rounding."""
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
