"""Oracles and generators for transport."""

import numpy as np
import pytest
from scipy.optimize import linprog


@pytest.fixture
def rng():
    return np.random.default_rng(20150706)


@pytest.fixture(scope="session")
def linear_programme():
    """Make the slow oracle: the optimum of a transport problem by SciPy's linear programming."""

    def solve(a, b, costs):
        a, b = np.asarray(a, float), np.asarray(b, float)
        n, m = len(a), len(b)
        rows = np.kron(np.eye(n), np.ones(m))
        columns = np.kron(np.ones(n), np.eye(m))
        scale = np.max(costs) or 1.0  # the solver's own tolerances are absolute
        found = linprog(
            np.ravel(costs) / scale,
            A_eq=np.vstack([rows, columns])[:-1],  # one constraint follows from the others
            b_eq=np.concatenate([a / a.sum(), b / b.sum()])[:-1],
            method="highs",
            options={"dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10},
        )
        assert found.status == 0, found.message
        return found.fun * scale

    return solve
