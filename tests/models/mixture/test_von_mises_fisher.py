"""Mixtures on the sphere: worked examples, moments of samples, and edge cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from textkin.models import VonMisesFisherMixture
from textkin.models.mixture._bessel import bessel_ratio
from textkin.models.mixture._densities import sample_sphere


def of(means, kappas, weights):
    """Return a mixture with given parameters."""
    means = np.asarray(means, dtype=np.float64)
    mixture = VonMisesFisherMixture(len(means), means_init=means, random_state=0).fit(means)
    mixture.means_, mixture.kappas_ = means, np.asarray(kappas, dtype=np.float64)
    mixture.weights_ = np.asarray(weights, dtype=np.float64)
    return mixture


def test_posteriors_match_worked_example():
    mixture = of([[1, 0, 0], [0, 1, 0]], [2, 2], [0.5, 0.5])
    assert_allclose(
        mixture.predict_proba([[0.6, 0.8, 0], [1, 0, 0]]),
        [[0.4013123, 0.5986877], [0.8807971, 0.1192029]],
        atol=5e-8,
    )


@pytest.mark.parametrize("d", [2, 3, 10, 1000])
@pytest.mark.parametrize("kappa", [0.0, 1.0, 50.0, 1e5])
def test_samples_have_the_moments_of_the_distribution(d, kappa):
    n_rows = 20_000 if d < 1000 else 2_000
    random = np.random.RandomState(d)
    mean = random.normal(size=d)
    mean /= np.linalg.norm(mean)
    rows = sample_sphere(np.tile(mean, (n_rows, 1)), np.full(n_rows, kappa), random)
    assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-12)
    # E x = A mu and E (mu x)^2 = 1 - (d - 1) A / kappa, where A / kappa is 1 / d at kappa = 0.
    a = float(bessel_ratio(d, kappa))
    ratio = a / kappa if kappa > 0 else 1 / d
    heights = rows @ mean
    spread = 1 - (d - 1) * ratio - a * a
    error = np.sqrt(max(spread, 0) / n_rows)
    assert abs(heights.mean() - a) < 5 * error + 1e-12
    assert heights.var() == pytest.approx(spread, rel=0.2, abs=1e-12)
    # All directions y across the mean are equally likely: E y^2 = A / kappa.
    for _ in range(3):
        across = random.normal(size=d)
        across -= (across @ mean) * mean
        across /= np.linalg.norm(across)
        sides = rows @ across
        assert abs(sides.mean()) < 5 * np.sqrt(ratio / n_rows)
        assert (sides**2).mean() == pytest.approx(ratio, rel=0.2)


def test_second_moments_of_samples():
    mean, kappa, d = np.array([0.6, 0, 0.8]), 4.0, 3
    rows = sample_sphere(
        np.tile(mean, (200_000, 1)), np.full(200_000, kappa), np.random.RandomState(0)
    )
    ratio = float(bessel_ratio(d, kappa)) / kappa
    expected = ratio * np.eye(d) + (1 - d * ratio) * np.outer(mean, mean)
    assert_allclose(rows.T @ rows / len(rows), expected, atol=5e-3)


@pytest.mark.parametrize("shared", [False, True])
def test_fit_recovers_sampled_parameters(shared):
    means = np.eye(10)[:3]
    kappas = [60, 60, 60] if shared else [20, 60, 200]
    truth = of(means, kappas, [0.5, 0.3, 0.2])
    rows, components = truth.sample(6000, random_state=1)
    found = VonMisesFisherMixture(3, shared_kappa=shared, random_state=0).fit(rows)
    order = (found.means_ @ means.T).argmax(axis=0)
    assert_allclose(found.weights_[order], truth.weights_, atol=0.02)
    assert_allclose(found.kappas_[order], kappas, rtol=0.06)
    assert (np.einsum("ij,ij->i", found.means_[order], means) > 0.999).all()
    assert (order[components] == found.predict(rows)).mean() > 0.98
    assert found.score(rows) >= truth.score(rows)
    assert (len(np.unique(found.kappas_)) == 1) == shared


def test_lengths_of_rows_do_not_matter():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4))
    plain = VonMisesFisherMixture(2, random_state=0).fit(rows)
    lengths = 2.0 ** rng.integers(-900, 900, size=(60, 1))
    scaled = VonMisesFisherMixture(2, random_state=0).fit(rows * lengths)
    assert_allclose(scaled.means_, plain.means_, atol=1e-12)
    assert_allclose(scaled.predict_proba(rows * lengths), plain.predict_proba(rows), atol=1e-12)
    assert_allclose(np.linalg.norm(plain.means_, axis=1), 1)


def test_zero_rows_are_ignored_or_raise():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4)).astype(np.float32)
    plain = VonMisesFisherMixture(2, random_state=0).fit(rows)
    more = np.vstack([rows, np.zeros((2, 4), np.float32)])
    mixture = VonMisesFisherMixture(2, random_state=0).fit(more)
    assert_array_equal(mixture.means_, plain.means_)
    assert_allclose(mixture.predict_proba(more)[60:], [mixture.weights_] * 2)
    assert_array_equal(mixture.predict(more)[60:], [mixture.weights_.argmax()] * 2)
    for method in (mixture.score_samples, mixture.score):
        with pytest.raises(ValueError, match="rows with a direction; got zeros in row 60"):
            method(more)
    with pytest.raises(ValueError, match="all rows are zero"):
        VonMisesFisherMixture(2).fit(np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"n_samples = 1; got n_components = 2"):
        VonMisesFisherMixture(2).fit([[1.0, 0], [0, 0]])
    with pytest.raises(ValueError, match="init must be means with a direction"):
        VonMisesFisherMixture(2, means_init=[[1.0, 0], [0, 0]]).fit([[1.0, 0], [0, 1]])


def test_equal_directions_get_max_kappa():
    mixture = VonMisesFisherMixture(1, max_kappa=1e4).fit([[1.0, 1], [2, 2], [3, 3]])
    assert mixture.kappas_ == 1e4
    assert_allclose(mixture.means_, np.sqrt([[0.5, 0.5]]))
    mixture = VonMisesFisherMixture(1).fit([[3.0, 4, 0]])
    assert mixture.kappas_ == 1e5
    assert mixture.converged_


def test_opposite_directions_are_uniform():
    mixture = VonMisesFisherMixture(1).fit([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    assert mixture.kappas_ == 1e-6
    assert mixture.lower_bound_ == pytest.approx(-np.log(2 * np.pi))


def test_narrow_float32_rows_are_fitted_in_double():
    rng = np.random.default_rng(0)
    rows = np.repeat(np.eye(5), 40, axis=0) + 1e-3 * rng.normal(size=(200, 5))
    mixture = VonMisesFisherMixture(5, max_kappa=1e8, random_state=0).fit(rows.astype(np.float32))
    assert mixture.kappas_.min() > 1e5
    again = VonMisesFisherMixture(5, max_kappa=1e8, random_state=0).fit(rows)
    assert_allclose(mixture.kappas_, again.kappas_, rtol=1e-2)


def test_float32_rows_are_normalized_in_double_for_large_max_kappa():
    """Check a regression: lengths rounded to float32, times 1e9, gave a wrong likelihood."""
    rows = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    mixture = VonMisesFisherMixture(3, max_kappa=4e9, random_state=0).fit(rows)
    assert mixture.kappas_.max() == 4e9
    assert mixture.lower_bound_ == pytest.approx(mixture.score(rows), rel=1e-6)


def test_hard_fits_with_one_wide_kappa_equal_spherical_k_means():
    rng = np.random.default_rng(0)
    rows = np.repeat(np.eye(4), 50, axis=0) + 0.2 * rng.normal(size=(200, 4))
    mixture = VonMisesFisherMixture(4, hard=True, shared_kappa=True, random_state=0).fit(rows)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    labels = mixture.predict(rows)
    for i in range(4):
        total = units[labels == i].sum(axis=0)
        assert_allclose(mixture.means_[i], total / np.linalg.norm(total), atol=1e-9)
    assert_array_equal(labels, (units @ mixture.means_.T).argmax(axis=1))


@pytest.mark.parametrize(
    ("mixture", "error", "message"),
    [
        (VonMisesFisherMixture(2, max_kappa=0), ValueError, "max_kappa must be a finite number at"),
        (VonMisesFisherMixture(2, shared_kappa="yes"), ValueError, "shared_kappa must be"),
        (VonMisesFisherMixture(4), ValueError, r"at most .*n_samples = 3; got n_components = 4"),
    ],
)
def test_invalid_parameters_raise(mixture, error, message):
    with pytest.raises(error, match=message):
        mixture.fit([[0.0, 1], [1, 0], [1, 1]])


def test_single_column_raises():
    with pytest.raises(ValueError, match="at least 2 columns"):
        VonMisesFisherMixture(1).fit([[1.0], [2.0]])


def test_too_few_steps_warn():
    rows = np.random.default_rng(0).normal(size=(100, 5))
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps. Raise max_iter"):
        VonMisesFisherMixture(4, max_iter=1, tol=0, random_state=0).fit(rows)
