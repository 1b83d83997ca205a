"""Significance tests compared with enumeration, worked examples, and SciPy."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from textkin.evaluate import (
    QueryScores,
    paired_bootstrap,
    paired_randomization,
    paired_t_test,
    precision_at_k,
)

VALUES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=8)
TESTS = [paired_bootstrap, paired_randomization, paired_t_test]


@given(VALUES)
def test_randomization_of_few_pairs_equals_scipy(pairs):
    first, second = np.array(pairs).T / 8
    wanted = stats.permutation_test(
        (first, second),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    found = paired_randomization(first, second)
    assert found.exact
    assert found.p_value == pytest.approx(wanted.pvalue)
    assert found.difference == pytest.approx(np.mean(first) - np.mean(second))


def test_randomization_of_many_pairs_approximates_the_exact_p_value():
    apart = np.random.default_rng(0).normal(0.2, 1, size=12)
    exact = paired_randomization(apart, np.zeros(12))
    drawn = paired_randomization(apart, np.zeros(12), resamples=4000)
    assert (exact.exact, exact.resamples) == (True, 4096)
    assert (drawn.exact, drawn.resamples) == (False, 4000)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * (0.25 / 4000) ** 0.5)


@given(VALUES)
def test_t_test_equals_scipy(pairs):
    first, second = np.array(pairs).T / 8
    if np.ptp(first - second) == 0:
        return
    wanted = stats.ttest_rel(first, second)
    found = paired_t_test(first, second, confidence=0.9)
    assert found.p_value == pytest.approx(wanted.pvalue)
    assert found.interval == pytest.approx(tuple(wanted.confidence_interval(0.9)))


def test_t_test_matches_worked_example():
    """Differences 1, 2, 3: the mean is 2, s is 1, t = 2 sqrt(3) with two degrees of freedom."""
    found = paired_t_test([1, 2, 3], [0, 0, 0])
    t = 2 * 3**0.5
    assert found.p_value == pytest.approx(1 - t / (2 + t**2) ** 0.5)
    assert found.interval == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))


@settings(max_examples=10)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=5))
def test_bootstrap_approximates_all_samples(differences):
    apart = np.array(differences) / 4
    every = np.array([np.mean(draw) for draw in itertools.product(apart, repeat=len(apart))])
    share = np.mean(np.abs(every - apart.mean()) >= abs(apart.mean()) - 1e-12)
    found = paired_bootstrap(apart, np.zeros(len(apart)), resamples=4000)
    assert found.p_value == pytest.approx(share, abs=5 * (0.25 / 4000) ** 0.5)
    assert every.min() - 1e-12 <= found.interval[0] <= found.interval[1] <= every.max() + 1e-12


def test_bootstrap_interval_equals_scipy():
    apart = np.random.default_rng(1).normal(0.3, 1, size=40)
    wanted = stats.bootstrap(
        (apart,), np.mean, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    found = paired_bootstrap(apart, np.zeros(40))
    assert found.interval == pytest.approx(tuple(wanted), abs=0.03)
    assert (found.n, found.resamples, found.confidence) == (40, 10_000, 0.95)


@pytest.mark.parametrize("test", TESTS)
def test_swapped_systems_change_only_the_sign(test):
    first, second = [0.9, 0.4, 0.6, 0.8, 0.7], [0.5, 0.5, 0.1, 0.6, 0.2]
    there, back = test(first, second), test(second, first)
    assert there.difference == -back.difference > 0
    assert there.p_value == pytest.approx(back.p_value)
    assert str(there).startswith("difference +0.3000")


@pytest.mark.parametrize("test", TESTS)
def test_equal_systems_have_p_value_one(test):
    found = test([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    assert (found.difference, found.p_value) == (0, 1)


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomization])
def test_zero_difference_in_any_order_has_p_value_one(test):
    differences = [0.1, 0.2, -0.3, 0.4, -0.4, 0.7, -0.7]
    orders = itertools.islice(itertools.permutations(differences), 0, 5040, 300)
    assert {test(order, [0] * 7).p_value for order in orders} == {1.0}


def test_many_pairs_are_enumerated_in_blocks(monkeypatch):
    first = np.random.default_rng(0).normal(size=12)
    whole = paired_randomization(first, np.zeros(12))
    monkeypatch.setattr("textkin.evaluate._significance._BLOCK", 500)
    asked = []
    monkeypatch.setattr(
        "textkin.evaluate._significance.np.arange",
        lambda *ends, arange=np.arange: asked.append(ends) or arange(*ends),
    )
    assert paired_randomization(first, np.zeros(12)) == whole
    assert max(ends[1] - ends[0] for ends in asked if len(ends) == 2) <= 500 // 12


def test_constant_difference():
    first, second = [0.3, 0.4, 0.5], [0.1, 0.2, 0.3]
    assert paired_randomization(first, second).p_value == 0.25  # two of eight sign patterns
    assert paired_bootstrap(first, second).p_value == pytest.approx(1 / 10_001)
    with pytest.raises(ValueError, match=r"not differ by a constant; got 0\.2 for all 3"):
        paired_t_test(first, second)


def test_seed_determines_results_and_blocks_do_not(monkeypatch):
    first, second = np.random.default_rng(3).random((2, 50))
    whole = [test(first, second, random_state=7) for test in TESTS[:2]]
    assert whole == [test(first, second, random_state=7) for test in TESTS[:2]]
    assert whole[0] != paired_bootstrap(first, second, random_state=8)
    monkeypatch.setattr("textkin.evaluate._significance._BLOCK", 64)
    assert paired_bootstrap(first, second, random_state=7, resamples=100).n == 50


def test_boolean_outcomes_of_two_classifiers():
    true = np.array(list("aabbab"))
    ours, theirs = np.array(list("aabbab")), np.array(list("abbabb"))
    found = paired_randomization(ours == true, theirs == true)
    assert found.difference == pytest.approx(3 / 6)


@pytest.mark.parametrize("test", TESTS)
def test_query_scores_are_paired_by_query(test):
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    first = precision_at_k(qrels, {"q1": ["a"], "q2": ["b"]}, 1)
    second = precision_at_k(dict(reversed(qrels.items())), {"q1": ["a"], "q2": ["x"]}, 1)
    assert test(first, second) == test([1, 1, 0], [1, 0, 0])
    with pytest.raises(ValueError, match="must have the same queries; 2 of them are only in one"):
        test(first, QueryScores("P@1", {"q1": 1.0}))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, 2], [1, 2, 3], r"got shapes \(2,\) and \(3,\)"),
        ([1], [2], "at least 2 values; got 1"),
        ([1, np.nan], [1, 2], "first must be finite numbers; got nan at position 1"),
        ([[1, 2]], [[1, 2]], r"got shapes \(1, 2\)"),
    ],
)
def test_invalid_values_raise(test, first, second, message):
    with pytest.raises(ValueError, match=message):
        test(first, second)


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomization, paired_t_test])
@pytest.mark.parametrize("given", [{"q1": 0.5, "q2": 0.25}, ["good", "bad"]])
def test_non_numeric_values_raise(test, given):
    with pytest.raises(TypeError, match=r"second must be a QueryScores, or a list of one number"):
        test([0.5, 0.25], given)


def test_parameters_out_of_range_raise():
    pair = ([1, 2], [2, 1])
    with pytest.raises(ValueError, match="resamples must be an integer at least 1; got 0"):
        paired_bootstrap(*pair, resamples=0)
    with pytest.raises(ValueError, match="confidence must be a number between 0 and 1; got 95"):
        paired_t_test(*pair, confidence=95)
    with pytest.raises(ValueError, match="random_state must be None or an integer"):
        paired_randomization(*pair, random_state="one", resamples=1)
