"""Reference implementations and generators for the tests of transport."""

import numpy as np
import pytest
from scipy.optimize import linprog

from textkin import _core
from textkin.transport import Certificate

# pairs to verify per batch; largest number of words per document
MOST_PROVEN, MOST_WORDS = 40, 3000


@pytest.fixture
def rng():
    return np.random.default_rng(20150706)


@pytest.fixture(scope="session")
def linear_program():
    """Return a function that solves a transport problem by SciPy's linear programming."""

    def solve(a, b, costs):
        a, b = np.asarray(a, float), np.asarray(b, float)
        n, m = len(a), len(b)
        rows = np.kron(np.eye(n), np.ones(m))
        columns = np.kron(np.ones(n), np.eye(m))
        scale = np.max(costs) or 1.0  # the tolerances of SciPy's solver are absolute
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


@pytest.fixture(scope="module", autouse=True)
def verify_distances():
    """Verify the certificate of every distance that a test computes.

    Only some pairs of large batches are verified, and no huge documents.
    """
    pairs, matrix, bags = _core.distance_pairs, _core.distance_matrix, _core.distance_of_bags

    def verified_pairs(table, a, a_rows, b, b_rows, cost, *options):
        found = pairs(table, a, a_rows, b, b_rows, cost, *options)
        for at, i, j in list(zip(found, a_rows, b_rows, strict=True))[:MOST_PROVEN]:
            prove(table, a, int(i), b, int(j), cost, float(at))
        return found

    def verified_matrix(table, a, b, cost, *options):
        found = matrix(table, a, b, cost, *options)
        for i, j in list(np.ndindex(found.shape))[:MOST_PROVEN]:
            prove(table, a, i, b, j, cost, float(found[i, j]))
        return found

    def verified_bags(table, *arguments):
        found = bags(table, *arguments)
        if found is not None:
            *both, cost, _ = arguments
            a, b = one_row(table, *both[:3]), one_row(table, *both[3:])
            prove(table, a, 0, b, 0, cost, found)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "distance_of_bags", verified_bags)
        patch.setattr(_core, "distance_pairs", verified_pairs)
        patch.setattr(_core, "distance_matrix", verified_matrix)
        yield


def one_row(table, indptr, indices, weights):
    words, masses = indices[: indptr[1]].astype(np.int32), weights[: indptr[1]].astype(float)
    return _core.Documents(indptr.astype(np.int64), words, masses, len(table))


def prove(table, a, i, b, j, cost, distance):
    if np.isinf(distance):  # an empty document, allowed by `empty="inf"`
        assert not (len(a.words(i)) and len(b.words(j)))
        return
    if len(a.words(i)) > MOST_WORDS:
        return
    found = _core.explain(table, a, i, b, j, cost, 0, None)
    assert found.distance == distance
    Certificate(
        distance,
        found.source_masses,
        found.target_masses,
        found.source,
        found.target,
        found.mass,
        found.source_potentials,
        found.target_potentials,
        cost,
        table[a.words(i)],
        table[b.words(j)],
    ).verify()
