"""STS measures compared with METHODS 19.5 and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from textkin.evaluate import _sts as measures

NUMBERS = st.floats(-5, 5).map(lambda x: round(x, 3))


def test_mean_matches_the_paper():
    """METHODS 19.5, test 1: the mean of the paper from its five sets."""
    table_2 = {"MSRpar": 0.411, "MSRvid": 0.835, "SMT": 0.513, "OnWN": 0.727, "news": 0.438}
    pairs = {"MSRpar": 750, "MSRvid": 750, "SMT": 459, "OnWN": 750, "news": 399}
    names, gold, scores = [], [], []
    for name, correlation in table_2.items():
        # two uncorrelated directions, mixed to have the correlation of the paper
        one = np.sin(2 * np.pi * np.arange(pairs[name]) / pairs[name])
        other = np.cos(2 * np.pi * np.arange(pairs[name]) / pairs[name])
        names += [name] * pairs[name]
        gold += list(one)
        scores += list(correlation * one + np.sqrt(1 - correlation**2) * other)
    found = measures.sts_scores(names, gold, scores)
    assert found.sets == pytest.approx(table_2)
    assert found.mean == pytest.approx(0.6081, abs=5e-5)


def test_two_sets_match_worked_example():
    """METHODS 19.5, test 2."""
    gold, scores = [0, 2, 4, 1, 3, 5], [0.1, 0.2, 0.3, 0.7, 0.5, 0.9]
    found = measures.sts_scores(["one"] * 3 + ["two"] * 3, gold, scores)
    assert found.sets == pytest.approx({"one": 1, "two": 0.5})
    assert found.everything == pytest.approx(0.5376082, abs=5e-8)
    assert found.normalized == pytest.approx(0.8106435, abs=5e-8)
    assert found.mean == pytest.approx(0.75)
    assert_allclose(measures.fitted(gold[:3], scores[:3]), [0, 2, 4], atol=1e-12)
    assert_allclose(measures.fitted(gold[3:], scores[3:]), [3, 2, 4], atol=1e-12)
    assert list(found.to_dict()) == ["one", "two", "ALL", "ALLnrm", "Mean"]


def test_sets_can_be_interleaved():
    names = ["b", "a", "b", "a", "b", "a"]
    gold, scores = [1, 0, 3, 2, 5, 4], [0.7, 0.1, 0.5, 0.2, 0.9, 0.3]
    found = measures.sts_scores(names, gold, scores)
    assert found.sets == pytest.approx({"b": 0.5, "a": 1})
    assert found.normalized == pytest.approx(0.8106435, abs=5e-8)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e300])
def test_constant_has_no_correlation(constant):
    gold = [0.0, 1.0, 5.0]
    assert measures.pearson(gold, [constant] * 3) == 0
    assert measures.pearson([constant] * 3, gold) == 0
    assert measures.spearman(gold, [constant] * 3) == 0
    assert_allclose(measures.fitted(gold, [constant] * 3), 2)
    found = measures.sts_scores(["a"] * 3, gold, [constant] * 3)
    assert found.to_dict() == {"a": 0, "ALL": 0, "ALLnrm": 0, "Mean": 0}


def test_one_pair_and_no_pairs():
    assert measures.pearson([1], [2]) == 0
    assert measures.pearson([], []) == 0
    assert measures.sts_scores([], [], []).to_dict() == {"ALL": 0, "ALLnrm": 0, "Mean": 0}


def test_fit_reverses_a_negatively_correlated_set():
    found = measures.sts_scores("aaa", [0, 1, 2], [3, 2, 1])
    assert found.mean == pytest.approx(-1)
    assert found.normalized == pytest.approx(1)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=12))
def test_correlations_equal_scipy(pairs):
    gold, scores = np.array(pairs).T
    if np.ptp(gold) > 0 and np.ptp(scores) > 0:
        wanted = stats.pearsonr(gold, scores).statistic
        assert measures.pearson(gold, scores) == pytest.approx(wanted, abs=1e-9)
        wanted = stats.spearmanr(gold, scores).statistic
        assert measures.spearman(gold, scores) == pytest.approx(wanted, abs=1e-9)
        line = np.polynomial.Polynomial.fit(scores, gold, 1)
        assert_allclose(measures.fitted(gold, scores), line(scores), atol=1e-8)


def test_scale_and_offset_do_not_matter():
    gold = np.array([0.0, 2.0, 1.0, 5.0])
    scores = np.array([0.1, 0.3, 0.2, 0.25])
    for changed in (scores * 1e200, scores * 1e-200, scores * 3 + 2, (scores - 0.2) * 1.7e308 * 10):
        assert measures.pearson(gold, changed) == pytest.approx(measures.pearson(gold, scores))


def test_repeated_set_names_raise():
    with pytest.raises(ValueError, match=r"sets must not be named 'ALL', .* Rename it"):
        measures.sts_scores(["ALL", "b"], [1, 2], [2, 1]).to_dict()


def test_invalid_values_raise():
    with pytest.raises(ValueError, match=r"two lists of equal length; got shapes \(2,\) and \(3"):
        measures.pearson([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="scores must be finite numbers; got nan for pair 1"):
        measures.pearson([1, 2], [1, np.nan])
    with pytest.raises(ValueError, match="sets must name 2 pairs, as gold does; got 3"):
        measures.sts_scores("aab", [1, 2], [1, 2])


def test_values_that_differ_in_the_last_digits_keep_their_correlation():
    assert measures.pearson([1.0, 2.0, 3.0], [1e16, 1e16 + 2, 1e16 + 4]) == pytest.approx(1)
