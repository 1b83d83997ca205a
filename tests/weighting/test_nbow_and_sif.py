"""Tests of weightings whose rows sum to 1: nBOW and SIF."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from textkin.weighting import SIF, binary, nbow, normalize, sif_weights, zipf_probabilities

COUNTS = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(0, 9)
)


@settings(max_examples=60)
@given(COUNTS)
def test_nbow_equals_division_by_row_sums(bags):
    expected = [row / row.sum() if row.any() else row for row in bags]
    assert_allclose(nbow(bags).toarray(), expected, rtol=1e-15)
    assert_allclose(nbow(bags.astype(np.float32)).toarray(), expected, rtol=1e-7)


def test_nbow_matches_worked_example():
    """Check the examples of METHODS.md, sections 2.1 and 1.3."""
    assert_allclose(nbow([[2, 1], [3, 2]]).toarray(), [[2 / 3, 1 / 3], [0.6, 0.4]], rtol=1e-7)


@settings(max_examples=40)
@given(COUNTS)
def test_norms_equal_numpy(bags):
    for norm, order in (("l1", 1), ("l2", 2)):
        sizes = np.linalg.norm(bags, order, axis=1, keepdims=True)
        expected = bags / np.where(sizes == 0, 1, sizes)
        assert_allclose(normalize(bags, norm).toarray(), expected, rtol=1e-14)
    assert_array_equal(normalize(bags, None).toarray(), bags)
    assert_array_equal(binary(bags).toarray(), bags > 0)


def test_unknown_norm_raises():
    with pytest.raises(ValueError, match="norm must be one of 'l1', 'l2', None; got 'max'"):
        normalize([[1]], "max")


@settings(max_examples=60)
@given(COUNTS.filter(np.any), st.floats(1e-5, 1))
def test_sif_equals_its_formula(bags, a):
    estimator = SIF(a).fit(bags)
    p = bags.sum(axis=0) / bags.sum()
    assert_allclose(estimator.probabilities_, p, rtol=1e-15)
    expected = []
    for row in bags:
        weighted = [n * a / (a + p[w]) for w, n in enumerate(row)]
        expected.append([x / sum(weighted) if row.any() else 0 for x in weighted])
    assert_allclose(estimator.transform(bags).toarray(), expected, rtol=1e-13)


def test_unseen_word_has_the_largest_sif_weight():
    estimator = SIF().fit([[1, 0], [1, 0]])
    assert estimator.weights_[1] == 1
    assert estimator.transform([[1, 1]]).toarray()[0, 1] > 0.99


def test_given_probabilities_are_used():
    estimator = SIF(a=0.1, probabilities=[0.1, 0.4]).fit([[1, 1]])
    assert_allclose(estimator.weights_, [0.5, 0.2])
    assert_allclose(estimator.transform([[2, 5]]).toarray(), [[0.5, 0.5]], rtol=1e-7)
    zipf = SIF(probabilities="zipf").fit(np.zeros((1, 4)))
    assert_array_equal(zipf.probabilities_, zipf_probabilities(4))


@pytest.mark.parametrize("n", [1, 2, 1000])
def test_zipf_probabilities_follow_the_law(n):
    p = zipf_probabilities(n)
    assert p.shape == (n,)
    assert p.dtype == np.float64
    assert_allclose(p.sum(), 1)
    assert_allclose(p[0] / p[-1], (n - 1 + 2.7) / 2.7)


def test_zipf_probabilities_of_zero_and_negative_n():
    assert zipf_probabilities(0).shape == (0,)
    with pytest.raises(ValueError, match="n must be an integer at least 0; got -1"):
        zipf_probabilities(-1)


@pytest.mark.parametrize("a", [0, -1.0, np.inf, np.nan])
def test_nonpositive_a_raises(a):
    with pytest.raises(ValueError, match="a must be a finite number above 0"):
        sif_weights([0.5], a)
    with pytest.raises(ValueError, match="a must be a finite number above 0"):
        SIF(a).fit([[1]])


def test_a_that_is_not_a_number_raises():
    with pytest.raises(TypeError, match="a must be a finite number"):
        SIF("smart").fit([[1]])


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.1], r"must have shape \(2,\).*got \(1,\)"),
        ("uniform", "must be 'zipf', an array or None; got 'uniform'"),
        ([0.1, 1.5], "between 0 and 1; position 1 has 1.5"),
        ([np.nan, 0.5], "between 0 and 1; position 0 has nan"),
        ([[0.1, 0.2]], r"must have shape \(2,\)"),
    ],
)
def test_invalid_probabilities_raise(probabilities, message):
    with pytest.raises(ValueError, match=message):
        SIF(probabilities=probabilities).fit([[1, 1]])


def test_sif_weights_of_a_table_raise():
    with pytest.raises(ValueError, match="one dimension; got 2"):
        sif_weights([[0.1]])


def test_sif_fit_on_empty_bags_raises():
    with pytest.raises(ValueError, match=r"to learn probabilities from.*Pass probabilities="):
        SIF().fit([[0, 0]])
