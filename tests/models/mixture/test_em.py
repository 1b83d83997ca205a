"""Fits of both mixtures compared with the reference; likelihoods, seeds, and threads."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from textkin.models import DiagonalGaussianMixture, VonMisesFisherMixture
from textkin.models.mixture._bessel import bessel_ratio
from textkin.models.mixture._densities import (
    GaussianFamily,
    GaussianParameters,
    VonMisesFisherFamily,
    VonMisesFisherParameters,
)
from textkin.models.mixture._em_reference import e_step, log_densities, m_step

MIXTURES = [
    DiagonalGaussianMixture(3, random_state=0),
    DiagonalGaussianMixture(3, hard=True, random_state=0),
    VonMisesFisherMixture(3, random_state=0),
    VonMisesFisherMixture(3, hard=True, random_state=0),
    VonMisesFisherMixture(3, shared_kappa=True, random_state=0),
]


def groups(n_rows=200, n_features=5, n_groups=3, seed=0):
    """Return rows around points, some of them distant from each other."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_groups, n_features)) * 1.5
    return centres[rng.integers(n_groups, size=n_rows)] + rng.normal(size=(n_rows, n_features))


def parameters_of(mixture):
    """Return the parameters of a fitted mixture, for the reference."""
    if isinstance(mixture, DiagonalGaussianMixture):
        return GaussianParameters(mixture.weights_, mixture.means_, mixture.covariances_)
    return VonMisesFisherParameters(mixture.weights_, mixture.means_, mixture.kappas_)


def rows_of(mixture, rows):
    """Return rows in the coordinates of the reference, L2-normalized for directions."""
    directions = isinstance(mixture, VonMisesFisherMixture)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) if directions else rows


def densities(mixture, rows):
    """Return log(weight x density) of rows for all components."""
    return log_densities(rows_of(mixture, rows), parameters_of(mixture))


def family_of(mixture, rows, weights):
    """Return the family of a mixture; its floor has one number per column, unscaled."""
    if isinstance(mixture, VonMisesFisherMixture):
        return VonMisesFisherFamily(mixture.max_kappa, mixture.shared_kappa)
    overall = np.average((rows - np.average(rows, 0, weights)) ** 2, 0, weights)
    return GaussianFamily(None, mixture.variance_floor * overall)


def fitted(mixture, rows, weights=None, **changes):
    """Return a fit with changed parameters; ignore convergence warnings."""
    made = clone(mixture).set_params(**changes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return made.fit(rows, sample_weight=weights)


@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(20, 500), weighted=st.booleans())
def test_step_equals_reference(mixture, seed, n_rows, weighted):
    rows = groups(n_rows, seed=seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, n_rows).astype(float) if weighted else np.ones(n_rows)
    before = fitted(mixture, rows, weights, max_iter=1, tol=0)
    after = fitted(mixture, rows, weights, max_iter=2, tol=0)
    assume(after.n_iter_ == 2 and not after.n_reseeded_)
    assert_allclose(after.log_likelihoods_[:2], before.log_likelihoods_)
    taken = rows_of(mixture, rows)
    posteriors = e_step(taken, parameters_of(before), hard=mixture.hard)
    expected = m_step(taken, weights, posteriors, family_of(mixture, rows, weights))
    assert_allclose(after.weights_, expected.weights, atol=1e-12)
    assert_allclose(after.means_, expected.means, atol=1e-9)
    if isinstance(mixture, DiagonalGaussianMixture):
        assert_allclose(after.covariances_, expected.covariances, rtol=1e-9)
    else:
        lengths = bessel_ratio(5, after.kappas_), bessel_ratio(5, expected.kappas)
        assert_allclose(*lengths, atol=1e-10)


@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
def test_posteriors_and_likelihoods_equal_their_definitions(mixture):
    rows = groups()
    mixture = clone(mixture).fit(rows)
    logs = densities(mixture, rows)
    totals = logsumexp(logs, axis=1)
    assert_allclose(mixture.score_samples(rows), totals, atol=1e-10)
    assert_allclose(mixture.predict_proba(rows), np.exp(logs - totals[:, None]), atol=1e-12)
    assert_array_equal(mixture.predict(rows), logs.argmax(axis=1))
    assert mixture.score(rows) == pytest.approx(totals.mean())
    weights = np.arange(len(rows))
    assert mixture.score(rows, None, weights) == pytest.approx(np.average(totals, weights=weights))
    last = logs.max(axis=1).mean() if mixture.hard else totals.mean()
    assert mixture.lower_bound_ == mixture.log_likelihoods_[-1] == pytest.approx(last, abs=1e-10)


# This requires the exact root for kappa; the approximation of Banerjee et al. would fail.
@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), dimensions=st.integers(2, 12))
def test_likelihood_never_falls(mixture, seed, dimensions):
    rows = groups(120, dimensions, 4, seed)
    made = fitted(mixture, rows, tol=1e-9, max_iter=50)
    assume(not made.n_reseeded_)
    assert np.diff(made.log_likelihoods_).min() > -1e-9
    assert len(made.log_likelihoods_) == made.n_iter_ + 1


@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
def test_single_precision_is_close_to_double(mixture):
    rows = groups(1000, 20).astype(np.float32)
    single = clone(mixture).fit(rows)
    double = clone(mixture).fit(rows.astype(np.float64))
    assert single.lower_bound_ == pytest.approx(double.lower_bound_, abs=1e-4)
    assert_allclose(single.means_, double.means_, atol=1e-2)
    assert single.means_.dtype == np.float64
    assert single.lower_bound_ != double.lower_bound_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
def test_threads_give_bit_identical_fits(mixture, dtype):
    rows = groups(3000).astype(dtype)
    one = clone(mixture).fit(rows)
    three = clone(mixture).set_params(n_jobs=3).fit(rows)
    assert one.log_likelihoods_ == three.log_likelihoods_
    assert_array_equal(one.means_, three.means_)


@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
def test_batches_equal_single_rows(mixture):
    rows = groups(1000, 33)
    mixture = clone(mixture).fit(rows)
    logs, parts = mixture.score_samples(rows), mixture.predict_proba(rows)
    for at in (0, 1, 7, 380, 383, 384, 999):
        assert_array_equal(mixture.score_samples(rows[[at]]), logs[[at]])
        assert_array_equal(mixture.predict_proba(rows[at : at + 1]), parts[[at]])
    assert_array_equal(mixture.predict_proba(rows[5:700]), parts[5:700])


@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
def test_weights_equal_repeated_rows_in_any_order(mixture):
    rows = groups(80)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, 80)
    order = rng.permutation(80)
    repeated = clone(mixture).fit(rows.repeat(weights, axis=0))
    weighted = clone(mixture)
    weighted.fit(rows[order], sample_weight=1e12 * weights[order])
    assert_allclose(weighted.means_, repeated.means_, atol=1e-8)
    assert_allclose(weighted.weights_, repeated.weights_, atol=1e-8)


@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
def test_empty_component_moves_to_the_least_likely_row(mixture):
    rng = np.random.default_rng(0)
    near = np.array([5.0, 0, 0]) + 0.1 * rng.normal(size=(100, 3))
    far = np.array([[0.0, 5, 0.1], [0.1, 5, 0]])
    rows = np.vstack([near, far])
    # Both of the first rows are closer to the first mean than to the others, which get no rows.
    start = [[5.0, 0, 0], [-9, -9, -9], [-9, -9, -10]]
    made = fitted(mixture, rows, means_init=start)
    # A wide component with a small weight can reach the distant rows by itself.
    assert made.n_reseeded_ >= 2 or isinstance(made, VonMisesFisherMixture)
    # The move can lower the likelihood, but in the end it is higher.
    assert made.lower_bound_ > made.log_likelihoods_[0]
    labels = made.predict(rows)
    assert not set(labels[:100]) & set(labels[100:])
    assert np.isfinite(made.means_).all()
    assert made.weights_.min() > 0


def test_more_initializations_are_not_worse():
    rows = groups(300, 4, 8)
    one = DiagonalGaussianMixture(8, random_state=3).fit(rows)
    ten = DiagonalGaussianMixture(8, n_init=10, random_state=3).fit(rows)
    assert ten.lower_bound_ > one.lower_bound_  # the first of the ten equals the single one
    again = DiagonalGaussianMixture(8, n_init=10, random_state=3).fit(rows)
    assert_array_equal(again.means_, ten.means_)
