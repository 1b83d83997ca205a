"""Limits of `optimal_transport`: tiny shares, huge and tiny costs, and fractions as weights."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from textkin.transport import optimal_transport


@pytest.mark.parametrize("huge", [1e13, 1e15, 1e20, 1e100, 1e300])
def test_huge_costs_forbid_pairs(rng, huge):
    n = 60
    costs = rng.random((n, n))
    forbidden = rng.random((n, n)) < 0.2
    np.fill_diagonal(forbidden, False)
    with_forbidden = np.where(forbidden, huge * (1 + rng.random((n, n))), costs)
    plan = optimal_transport(np.ones(n), np.ones(n), with_forbidden)
    rows, columns = linear_sum_assignment(np.where(forbidden, 1e3, costs))
    assert plan.cost == pytest.approx(costs[rows, columns].sum() / n, rel=1e-6)
    assert not forbidden[plan.sources, plan.targets].any()
    plan.verify()


def test_costs_of_many_orders_of_magnitude_are_exact():
    rng = np.random.default_rng(0)
    costs = np.abs(rng.normal(size=(300, 300))) ** 8
    plan = optimal_transport(np.ones(300), np.ones(300), costs)
    assert plan.verify().gap <= 1e-6 * plan.cost


def test_huge_cost_that_no_plan_avoids_is_paid():
    costs = np.array([[1e20, 1.0], [1e20, 2.0]])
    plan = optimal_transport([1, 1], [1, 1], costs)
    assert plan.cost == pytest.approx(0.5e20)
    plan.verify()


@pytest.mark.parametrize("n", [3, 7, 10, 49, 100])
def test_equal_fractions_give_a_permutation(rng, n):
    shares = np.full(n, 1 / n)
    costs = rng.random((n, n))
    plan = optimal_transport(shares, shares, costs)
    rows, columns = linear_sum_assignment(costs)
    assert plan.sources.tolist() == rows.tolist()
    assert plan.targets.tolist() == columns.tolist()
    assert plan.masses.tolist() == [1 / n] * n


def test_fractions_are_counts(rng):
    costs = rng.random((3, 4))
    fractions = optimal_transport([0.1, 0.2, 0.7], [1 / 4, 1 / 4, 1 / 6, 1 / 3], costs)
    counts = optimal_transport([1, 2, 7], [3, 3, 2, 4], costs)
    assert fractions.cost == counts.cost
    assert fractions.masses.tolist() == counts.masses.tolist()


@pytest.mark.parametrize("exponent", [-300, -306, -310, -318, -322])
def test_subnormal_costs_are_verified(rng, exponent):
    for _ in range(20):
        n, m = rng.integers(1, 12, 2)
        costs = rng.random((n, m)) * 10.0**exponent
        plan = optimal_transport(rng.random(n), rng.random(m), costs)
        plan.verify()


def test_error_of_shares_stays_within_the_stated_limit():
    """Optima just above 1e-8 of the largest cost: shares of 1e-9 are rounded to 2**-44."""
    rng = np.random.default_rng(6)
    beyond = 0
    for _ in range(3000):
        n, m = rng.integers(2, 8, 2)
        a = np.append(1, 1e-9 * rng.random(n - 1))
        b = np.append(1, 1e-9 * rng.random(m - 1))
        costs = rng.random((n, m))
        costs[0, 0] = 1e-8 * rng.random()
        plan = optimal_transport(a, b, costs)
        checked = plan.verify()
        stated = 1e-6 * plan.cost + (n + m) * 2.0**-43 * costs.max()
        assert checked.gap <= checked.allowed <= stated * (1 + 1e-3)
        beyond += checked.gap > 1e-6 * plan.cost
    assert beyond > 0  # the term of the shares is needed
