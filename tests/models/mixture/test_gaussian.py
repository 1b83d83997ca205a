"""Mixtures of Gaussians: agreement with scikit-learn, the variance floor, and edge cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as TheirMixture

from textkin.models import DiagonalGaussianMixture
from textkin.models.mixture import _em


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(6, 8))
    found = centres[rng.integers(6, size=900)] + rng.normal(size=(900, 8))
    return 100 + found * np.geomspace(0.01, 100, 8)  # columns of different scale, away from 0


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_fit_agrees_with_scikit_learn_from_the_same_initialization(rows, dtype, tolerance):
    rows = (rows - rows.mean(axis=0)).astype(dtype)  # scikit-learn loses digits away from 0
    ours = DiagonalGaussianMixture(6, variance_floor=1e-9, max_iter=1, tol=0, random_state=0)
    with pytest.warns(ConvergenceWarning):
        ours.fit(rows)
    theirs = TheirMixture(
        6,
        covariance_type="diag",
        reg_covar=0,
        tol=0,
        max_iter=20,
        weights_init=ours.weights_,
        means_init=ours.means_,
        precisions_init=1 / ours.covariances_,
    )
    with pytest.warns(ConvergenceWarning):
        theirs.fit(rows.astype(np.float64))
    with pytest.warns(ConvergenceWarning):
        ours.set_params(max_iter=21).fit(rows)
    sizes = rows.std(axis=0)
    assert_allclose(ours.weights_, theirs.weights_, atol=tolerance)
    assert_allclose(ours.means_ / sizes, theirs.means_ / sizes, atol=tolerance)
    assert_allclose(ours.covariances_, theirs.covariances_, rtol=10 * tolerance)
    posteriors = theirs.predict_proba(rows.astype(np.float64))
    assert_allclose(ours.predict_proba(rows), posteriors, atol=20 * tolerance)
    assert ours.score(rows) == pytest.approx(theirs.score(rows.astype(np.float64)), abs=1e-5)


def test_posteriors_match_worked_example():
    mixture = DiagonalGaussianMixture(2, means_init=[[-1.0], [1.0]]).fit(
        [[-2.0], [0.0], [0.0], [2.0]]
    )
    mixture.weights_, mixture.means_ = np.array([0.5, 0.5]), np.array([[-1.0], [1.0]])
    mixture.covariances_ = np.ones((2, 1))
    assert_allclose(
        mixture.predict_proba([[1], [0]]), [[0.1192029, 0.8807971], [0.5, 0.5]], atol=5e-8
    )


def test_scale_of_columns_does_not_matter(rows):
    plain = DiagonalGaussianMixture(6, random_state=0).fit(rows)
    sizes = 2.0 ** np.arange(-300, 340, 80)
    scaled = DiagonalGaussianMixture(6, random_state=0).fit(rows * sizes)
    assert_allclose(scaled.means_ / sizes, plain.means_, rtol=1e-9)
    assert_allclose(scaled.covariances_ / sizes / sizes, plain.covariances_, rtol=1e-9)
    assert_allclose(scaled.predict_proba(rows * sizes), plain.predict_proba(rows), atol=1e-9)


def test_variances_respect_the_floor():
    rows = np.array([[0.0, 1], [0, 2], [0, 3], [4, 1], [4, 2], [4, 3]])
    mixture = DiagonalGaussianMixture(2, variance_floor=0.01, random_state=0).fit(rows)
    overall = rows.var(axis=0)
    assert_allclose(mixture.covariances_[:, 0], 0.01 * overall[0])
    assert mixture.covariances_[:, 1].min() > 0.1 * overall[1]


@pytest.mark.parametrize("n_rows", [1000, 3000, 20_000])
@pytest.mark.parametrize("constant", [0.1, -7.7, 1e6 + 0.1])
def test_constant_column_of_many_rows_is_constant(n_rows, constant):
    """Check a regression: the rounded mean of 3,000 equal numbers gave the column a variance."""
    rows = np.random.default_rng(0).normal(size=(n_rows, 3))
    rows[:, 1] = constant
    mixture = DiagonalGaussianMixture(1, max_iter=5, random_state=0).fit(rows)
    floor = 1e-3 * mixture.covariances_[0, [0, 2]].mean()
    assert_allclose(mixture.covariances_[0, 1], floor, rtol=1e-9)


def test_constant_column_gets_the_mean_floor():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(50, 2)), np.full(50, 7.0)])
    mixture = DiagonalGaussianMixture(2, random_state=0).fit(rows)
    assert_allclose(mixture.means_[:, 2], 7)
    assert_allclose(mixture.covariances_[:, 2], 1e-3 * rows.var(axis=0)[:2].mean())


def test_equal_rows_and_single_row():
    for rows in (np.full((5, 3), 2.5), np.array([[2.5, 2.5, 2.5]])):
        mixture = DiagonalGaussianMixture(1, random_state=0).fit(rows)
        assert_array_equal(mixture.means_, [[2.5, 2.5, 2.5]])
        assert_allclose(mixture.covariances_, 1e-3)
        assert mixture.converged_
    mixture = DiagonalGaussianMixture(3, hard=True, random_state=0).fit(np.full((5, 3), 2.5))
    assert_allclose(mixture.means_, 2.5)
    assert_allclose(mixture.weights_.sum(), 1)
    assert mixture.weights_.min() > 0
    assert mixture.n_reseeded_ == 2 * _em._RESEEDS


def test_single_column():
    mixture = DiagonalGaussianMixture(2, random_state=0).fit([[0.0], [0.1], [9.0], [9.1]])
    assert sorted(mixture.means_[:, 0]) == pytest.approx([0.05, 9.05])


def test_rows_beyond_float32_precision_are_fitted_in_double():
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(4, 300)), 50, axis=0) + 1e-4 * rng.normal(size=(200, 300))
    single = DiagonalGaussianMixture(4, variance_floor=1e-9, random_state=0).fit(
        rows.astype(np.float32)
    )
    double = DiagonalGaussianMixture(4, variance_floor=1e-9, random_state=0).fit(
        rows.astype(np.float32).astype(np.float64)
    )
    assert single.lower_bound_ == pytest.approx(double.lower_bound_, abs=1.0)  # about 2,000
    assert single.lower_bound_ > 1000


def test_huge_numbers_raise():
    rows = np.array([[1e200], [-1e200], [0.0]])
    with pytest.raises(ValueError, match=r"squares have a finite sum\. Scale them down"):
        DiagonalGaussianMixture(1).fit(rows)
    mixture = DiagonalGaussianMixture(1).fit(rows / 1e100)
    with pytest.raises(ValueError, match=r"within 1e\+100 standard deviations.*more distant row 1"):
        mixture.predict(np.array([[0.0], [1e300]]))


def test_distant_rows_with_tiny_weight_raise():
    rows = np.array([[0.0], [1], [1e30]], dtype=np.float32)
    mixture = DiagonalGaussianMixture(1, random_state=0)
    with pytest.raises(ValueError, match="rows with a tiny weight are too far away"):
        mixture.fit(rows, sample_weight=[1, 1, 1e-80])
    mixture.fit(rows.astype(np.float64), sample_weight=[1, 1, 1e-80])
    assert_allclose(mixture.means_, 0.5)


def test_distant_rows_have_posteriors():
    mixture = DiagonalGaussianMixture(2, random_state=0).fit([[0.0], [0.1], [9.0], [9.2]])
    parts = mixture.predict_proba([[1e50], [-1e50]])
    assert_allclose(parts.sum(axis=1), 1)
    assert np.isfinite(mixture.score_samples([[1e50], [-1e50]])).all()


def test_samples_have_the_moments_of_the_mixture(rows):
    mixture = DiagonalGaussianMixture(3, random_state=0).fit(rows)
    drawn, components = mixture.sample(200_000)
    assert_allclose(np.bincount(components) / 200_000, mixture.weights_, atol=0.005)
    for i in range(3):
        part = drawn[components == i]
        sizes = np.sqrt(mixture.covariances_[i])
        assert_allclose(part.mean(axis=0) / sizes, mixture.means_[i] / sizes, atol=0.03)
        assert_allclose(part.var(axis=0), mixture.covariances_[i], rtol=0.03)
    assert mixture.score(drawn) > mixture.score(drawn + rows.std(axis=0))


@pytest.mark.parametrize(
    ("mixture", "error", "message"),
    [
        (DiagonalGaussianMixture(0), ValueError, "n_components must be an integer at least 1"),
        (DiagonalGaussianMixture(2.5), TypeError, "n_components"),
        (
            DiagonalGaussianMixture(5),
            ValueError,
            r"n_components must be at most .*n_samples = 4; got .* 5",
        ),
        (
            DiagonalGaussianMixture(2, variance_floor=0),
            ValueError,
            "variance_floor must be a finite",
        ),
        (DiagonalGaussianMixture(2, init_params="kmeans"), ValueError, "init_params must be"),
        (DiagonalGaussianMixture(2, means_init="k"), ValueError, "means_init must be None or an"),
        (
            DiagonalGaussianMixture(2, means_init=[[1.0]]),
            ValueError,
            r"of shape .* = \(2, 1\); got .*\(1, 1",
        ),
        (DiagonalGaussianMixture(2, means_init=[[np.nan], [1]]), ValueError, "means_init must be"),
        (
            DiagonalGaussianMixture(2, means_init=[[0], [1, 2]]),
            ValueError,
            "means_init must be .* got a list",
        ),
        (
            DiagonalGaussianMixture(2, means_init={"means": 1}),
            TypeError,
            "means_init must be .* got a dict",
        ),
        (DiagonalGaussianMixture(2, tol=-1), ValueError, "tol must be"),
        (DiagonalGaussianMixture(2, hard=1), ValueError, "hard must be"),
        (DiagonalGaussianMixture(2, n_jobs=0), ValueError, "n_jobs must not be 0"),
    ],
)
def test_invalid_parameters_raise(mixture, error, message):
    with pytest.raises(error, match=message):
        mixture.fit([[0.0], [1.0], [2.0], [3.0]])


@pytest.mark.parametrize("n_components", [1, 9])
@pytest.mark.parametrize("size", [1e-20, 1.0, 1e27])
def test_constant_columns_of_any_size_have_the_likelihood_of_the_mixture(n_components, size):
    """Check a regression: the rounding of a mean of 1e27 exceeded the width of its component."""
    rows = np.tile(size * np.array([0.1, 0.7, -0.3, 0.9]), (86, 1))
    mixture = DiagonalGaussianMixture(n_components, random_state=0).fit(rows)
    expected = -0.5 * np.log(2 * np.pi * mixture.covariances_[0]).sum()
    assert_allclose(mixture.score_samples(rows), expected, rtol=1e-3)
    assert mixture.lower_bound_ == pytest.approx(expected, rel=1e-3)
