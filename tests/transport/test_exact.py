"""The solver compared with a linear program (SciPy) and with POT; all solutions are verified."""

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin import _core
from textkin.transport import WordMover, optimal_transport, reference_costs

SIZES = st.integers(1, 12)


@st.composite
def problems(draw, size=SIZES):
    """Draw masses and costs from few distinct values: degenerate, with many ties."""
    n, m = draw(size), draw(size)
    masses = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0, 0.1, 1e-6])
    costs = st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.5, 1e-9])
    a = np.array(draw(st.lists(masses, min_size=n, max_size=n)))
    b = np.array(draw(st.lists(masses, min_size=m, max_size=m)))
    a[draw(st.integers(0, n - 1))] = 1.0
    b[draw(st.integers(0, m - 1))] = 1.0
    c = draw(st.lists(costs, min_size=n * m, max_size=n * m))
    return a, b, np.array(c).reshape(n, m)


@given(problems())
@settings(max_examples=300)
def test_ties_and_degenerate_masses_equal_linear_program(linear_program, problem):
    a, b, costs = problem
    plan = optimal_transport(a, b, costs)
    plan.verify()
    expected = linear_program(a, b, costs)
    assert plan.cost == pytest.approx(expected, rel=1e-6, abs=1e-7 * costs.max())


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 60), (60, 1), (2, 60), (17, 33), (60, 60)])
def test_random_costs_equal_linear_program(linear_program, rng, n, m):
    for _ in range(3):
        a, b, costs = rng.random(n), rng.random(m), rng.random((n, m))
        plan = optimal_transport(a, b, costs)
        plan.verify()
        assert plan.cost == pytest.approx(linear_program(a, b, costs), rel=1e-6)


@pytest.mark.parametrize("size", [100, 500, 1000, 2000])
def test_large_problems_equal_pot(rng, size):
    a, b = rng.random(size), rng.integers(1, 5, size).astype(float)
    costs = rng.random((size, size))
    plan = optimal_transport(a, b, costs)
    plan.verify()
    expected = ot.emd2(a / a.sum(), b / b.sum(), costs, numItermax=10_000_000)
    assert plan.cost == pytest.approx(expected, rel=1e-6)
    assert plan.method != "shortest_paths"


@pytest.mark.parametrize(("n", "m"), [(5, 2000), (2000, 5)])
def test_oblong_problems_equal_pot(rng, n, m):
    a, b = np.ones(n), np.ones(m)
    costs = rng.integers(0, 4, (n, m)).astype(float)  # few distinct values give many ties
    plan = optimal_transport(a, b, costs)
    plan.verify()
    assert plan.cost == pytest.approx(ot.emd2(a / n, b / m, costs, numItermax=10**7), rel=1e-6)


@pytest.mark.parametrize("size", [2, 10, 64, 65, 200])
def test_assignment_problem_equals_pot(rng, size):
    costs = rng.integers(0, 3, (size, size)).astype(float)
    plan = optimal_transport(np.ones(size), np.ones(size), costs)
    plan.verify()
    expected = ot.emd2(np.ones(size) / size, np.ones(size) / size, costs)
    assert plan.cost == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert len(plan.masses) == size  # the plan is a permutation


@pytest.mark.parametrize("cost", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("scale", [1e-20, 1e-12, 1e-3, 1.0, 1e3, 1e12, 1e20])
def test_scaled_vectors_scale_the_distance(linear_program, rng, cost, scale):
    vectors = rng.normal(size=(40, 7))
    scaled = (vectors * scale).astype(np.float32)
    a, b = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    found = WordMover(scaled, cost=cost).explain(a, b)
    found.verify()
    rows = scaled.astype(np.float64)
    if cost == "cosine":
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    costs = reference_costs(rows[a > 0], rows[b > 0], cost)
    expected = linear_program(a[a > 0], b[b > 0], costs)
    assert found.distance == pytest.approx(expected, rel=1e-6)


def random_document(rng, n_words, length, weights):
    """Return one random row: `length` distinct words with counts or real weights."""
    row = np.zeros(n_words)
    words = rng.choice(n_words, length, replace=False)
    row[words] = rng.integers(1, 5, length) if weights == "counts" else rng.random(length) ** 6
    return row


@pytest.mark.parametrize("weights", ["counts", "real"])
@pytest.mark.parametrize("cost", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("dimension", [1, 2, 50, 300])
def test_documents_equal_linear_program(linear_program, rng, weights, cost, dimension):
    vectors = rng.normal(size=(60, dimension)).astype(np.float32)
    mover = WordMover(vectors, cost=cost)
    for lengths in [(1, 1), (1, 20), (20, 1), (13, 29), (40, 40)]:
        a, b = (random_document(rng, 60, length, weights) for length in lengths)
        found = mover.explain(a, b)
        found.verify()
        assert found.distance == mover.distance(a, b)
        rows = vectors.astype(np.float64)
        if cost == "cosine":
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        costs = reference_costs(rows[a > 0], rows[b > 0], cost)
        expected = linear_program(a[a > 0], b[b > 0], costs)
        assert found.distance == pytest.approx(expected, rel=1e-6, abs=1e-7 * costs.max())


@pytest.mark.parametrize("far", [1e3, 1e4, 1e5])
@pytest.mark.parametrize("cost", ["euclidean", "sqeuclidean"])
def test_costs_of_a_wide_range_are_exact(rng, far, cost):
    """A distant shared word makes the largest cost huge; the words that move are close."""
    vectors = rng.normal(size=(41, 10)).astype(np.float32)
    vectors[40] = far
    a, b = np.zeros((2, 41))
    a[:20], b[20:40] = 1, 1
    a[40] = b[40] = 1
    found = WordMover(vectors, cost=cost).explain(a, b)
    found.verify()
    near = reference_costs(vectors[:20], vectors[20:40], cost)
    expected = ot.emd2(np.ones(20) / 20, np.ones(20) / 20, near) * 20 / 21
    assert found.distance == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-303, 1e-200, 1e-20, 1e20, 1e200, 1e300])
def test_masses_and_costs_of_any_size(linear_program, rng, scale):
    a, b, costs = rng.random(9), rng.random(13), rng.random((9, 13))
    plan = optimal_transport(a * scale, b / scale, costs * scale)
    plan.verify()
    assert plan.cost == pytest.approx(linear_program(a, b, costs) * scale, rel=1e-6)


def test_almost_identical_documents_are_exact(linear_program, rng):
    vectors = rng.normal(size=(200, 30)).astype(np.float32)
    a = np.full(200, 50.0)
    b = a.copy()
    a[3] += 1
    b[77] += 1
    found = WordMover(vectors).explain(a, b)
    found.verify()
    exact = reference_costs(vectors[[3]], vectors[[77]], "euclidean")[0, 0] / a.sum()
    assert found.distance == pytest.approx(exact, rel=1e-6)


def test_words_with_the_same_vector_cost_nothing():
    vectors = np.array([[1, 2], [1, 2], [5, 5]], dtype=np.float32)
    mover = WordMover(vectors)
    assert mover.distance(np.array([1, 0, 0]), np.array([0, 1, 0])) == 0.0
    found = mover.explain(np.array([2, 0, 1]), np.array([0, 2, 1]))
    assert found.distance == 0.0
    found.verify()


@pytest.mark.parametrize("limits", [{"pivot_limit": 0}, {"potential_limit": 0}])
def test_fallback_methods_give_the_same_cost(rng, limits):
    for n, m in [(7, 5), (30, 41), (64, 64)]:
        a, b, costs = rng.random(n), rng.random(m), rng.random((n, m))
        expected = optimal_transport(a, b, costs)
        i, j, mass, u, v, _, method = _core.solve_transport(a, b, costs, **limits)
        forced = "shortest_paths" if "pivot_limit" in limits else "wide_simplex"
        assert method.name == forced
        assert np.sum(mass * costs[i, j]) == pytest.approx(expected.cost, rel=1e-7)
        assert (costs - u[:, None] - v).min() >= -1e-6
        assert a @ u / a.sum() + b @ v / b.sum() == pytest.approx(expected.cost, rel=1e-6)


def test_pivots_stay_below_the_default_limit(rng):
    """Ordinary and difficult problems stay well below the default limit."""
    worst = 0.0
    for size in (10, 50, 200, 500):
        for costs in (rng.random((size, size)), np.abs(np.subtract.outer(*rng.random((2, size))))):
            plan = optimal_transport(np.ones(size), rng.random(size), costs)
            plan.verify()
            worst = max(worst, plan.pivots / (2 * size))
            assert plan.method != "shortest_paths"
    assert worst < 30
