"""Mixtures of Gaussians: agreement with scikit-learn, the floor of variances, edges."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as TheirMixture

from textkin.models import GaussianMixture
from textkin.models.mixture import _em


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(6, 8))
    found = centres[rng.integers(6, size=900)] + rng.normal(size=(900, 8))
    return 100 + found * np.geomspace(0.01, 100, 8)  # of columns of several sizes, away from 0


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_it_agrees_with_scikit_learn_from_the_same_start(rows, dtype, tolerance):
    rows = (rows - rows.mean(axis=0)).astype(dtype)  # theirs loses digits away from 0
    ours = GaussianMixture(6, variance_floor=1e-9, max_iter=1, tol=0, random_state=0)
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
        precisions_init=1 / ours.variances_,
    )
    with pytest.warns(ConvergenceWarning):
        theirs.fit(rows.astype(np.float64))
    with pytest.warns(ConvergenceWarning):
        ours.set_params(max_iter=21).fit(rows)
    sizes = rows.std(axis=0)
    assert_allclose(ours.weights_, theirs.weights_, atol=tolerance)
    assert_allclose(ours.means_ / sizes, theirs.means_ / sizes, atol=tolerance)
    assert_allclose(ours.variances_, theirs.covariances_, rtol=10 * tolerance)
    posteriors = theirs.predict_proba(rows.astype(np.float64))
    assert_allclose(ours.predict_proba(rows), posteriors, atol=20 * tolerance)
    assert ours.score(rows) == pytest.approx(theirs.score(rows.astype(np.float64)), abs=1e-5)


def test_posteriors_of_the_notes():
    mixture = GaussianMixture(2, init=[[-1.0], [1.0]]).fit([[-2.0], [0.0], [0.0], [2.0]])
    mixture.weights_, mixture.means_ = np.array([0.5, 0.5]), np.array([[-1.0], [1.0]])
    mixture.variances_ = np.ones((2, 1))
    assert_allclose(
        mixture.predict_proba([[1], [0]]), [[0.1192029, 0.8807971], [0.5, 0.5]], atol=5e-8
    )


def test_the_scale_of_columns_changes_nothing(rows):
    plain = GaussianMixture(6, random_state=0).fit(rows)
    sizes = 2.0 ** np.arange(-300, 340, 80)
    scaled = GaussianMixture(6, random_state=0).fit(rows * sizes)
    assert_allclose(scaled.means_ / sizes, plain.means_, rtol=1e-9)
    assert_allclose(scaled.variances_ / sizes / sizes, plain.variances_, rtol=1e-9)
    assert_allclose(scaled.predict_proba(rows * sizes), plain.predict_proba(rows), atol=1e-9)


def test_variances_stay_above_their_floor():
    rows = np.array([[0.0, 1], [0, 2], [0, 3], [4, 1], [4, 2], [4, 3]])
    mixture = GaussianMixture(2, variance_floor=0.01, random_state=0).fit(rows)
    overall = rows.var(axis=0)
    assert_allclose(mixture.variances_[:, 0], 0.01 * overall[0])
    assert mixture.variances_[:, 1].min() > 0.1 * overall[1]


@pytest.mark.parametrize("n_rows", [1000, 3000, 20_000])
@pytest.mark.parametrize("constant", [0.1, -7.7, 1e6 + 0.1])
def test_a_column_is_constant_however_many_rows_there_are(n_rows, constant):
    """The mean of 3,000 equal numbers is rounded, and the column was taken to vary by that."""
    rows = np.random.default_rng(0).normal(size=(n_rows, 3))
    rows[:, 1] = constant
    mixture = GaussianMixture(1, max_iter=5, random_state=0).fit(rows)
    floor = 1e-3 * mixture.variances_[0, [0, 2]].mean()
    assert_allclose(mixture.variances_[0, 1], floor, rtol=1e-9)


def test_a_constant_column_has_the_floor_of_the_others():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(50, 2)), np.full(50, 7.0)])
    mixture = GaussianMixture(2, random_state=0).fit(rows)
    assert_allclose(mixture.means_[:, 2], 7)
    assert_allclose(mixture.variances_[:, 2], 1e-3 * rows.var(axis=0)[:2].mean())


def test_equal_rows_and_one_row():
    for rows in (np.full((5, 3), 2.5), np.array([[2.5, 2.5, 2.5]])):
        mixture = GaussianMixture(1, random_state=0).fit(rows)
        assert_array_equal(mixture.means_, [[2.5, 2.5, 2.5]])
        assert_allclose(mixture.variances_, 1e-3)
        assert mixture.converged_
    mixture = GaussianMixture(3, hard=True, random_state=0).fit(np.full((5, 3), 2.5))
    assert_allclose(mixture.means_, 2.5)
    assert_allclose(mixture.weights_.sum(), 1)
    assert mixture.weights_.min() > 0
    assert mixture.n_reseeded_ == 2 * _em._RESEEDS


def test_one_column():
    mixture = GaussianMixture(2, random_state=0).fit([[0.0], [0.1], [9.0], [9.1]])
    assert sorted(mixture.means_[:, 0]) == pytest.approx([0.05, 9.05])


def test_rows_that_float32_is_too_coarse_for_are_fitted_in_double():
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(4, 300)), 50, axis=0) + 1e-4 * rng.normal(size=(200, 300))
    single = GaussianMixture(4, variance_floor=1e-9, random_state=0).fit(rows.astype(np.float32))
    double = GaussianMixture(4, variance_floor=1e-9, random_state=0).fit(
        rows.astype(np.float32).astype(np.float64)
    )
    assert single.lower_bound_ == pytest.approx(double.lower_bound_, abs=1.0)  # of some 2,000
    assert single.lower_bound_ > 1000


def test_huge_numbers_are_told():
    rows = np.array([[1e200], [-1e200], [0.0]])
    with pytest.raises(ValueError, match="squares have a finite sum; scale them down"):
        GaussianMixture(1).fit(rows)
    mixture = GaussianMixture(1).fit(rows / 1e100)
    with pytest.raises(ValueError, match=r"within 1e\+100 standard deviations.*row 1 is not"):
        mixture.predict(np.array([[0.0], [1e300]]))


def test_rows_of_hardly_any_weight_that_are_too_far_away_are_told():
    rows = np.array([[0.0], [1], [1e30]], dtype=np.float32)
    mixture = GaussianMixture(1, random_state=0)
    with pytest.raises(ValueError, match="rows of hardly any weight lie too far away"):
        mixture.fit(rows, sample_weight=[1, 1, 1e-80])
    mixture.fit(rows.astype(np.float64), sample_weight=[1, 1, 1e-80])
    assert_allclose(mixture.means_, 0.5)


def test_rows_far_away_have_an_answer():
    mixture = GaussianMixture(2, random_state=0).fit([[0.0], [0.1], [9.0], [9.2]])
    parts = mixture.predict_proba([[1e50], [-1e50]])
    assert_allclose(parts.sum(axis=1), 1)
    assert np.isfinite(mixture.score_samples([[1e50], [-1e50]])).all()


def test_samples_have_the_moments_of_the_mixture(rows):
    mixture = GaussianMixture(3, random_state=0).fit(rows)
    drawn, components = mixture.sample(200_000)
    assert_allclose(np.bincount(components) / 200_000, mixture.weights_, atol=0.005)
    for i in range(3):
        part = drawn[components == i]
        sizes = np.sqrt(mixture.variances_[i])
        assert_allclose(part.mean(axis=0) / sizes, mixture.means_[i] / sizes, atol=0.03)
        assert_allclose(part.var(axis=0), mixture.variances_[i], rtol=0.03)
    assert mixture.score(drawn) > mixture.score(drawn + rows.std(axis=0))


@pytest.mark.parametrize(
    ("mixture", "error", "message"),
    [
        (GaussianMixture(0), ValueError, "n_components must be a whole number at least 1"),
        (GaussianMixture(2.5), TypeError, "n_components"),
        (GaussianMixture(5), ValueError, r"n_components must be at most .*n_samples = 4; got .* 5"),
        (GaussianMixture(2, variance_floor=0), ValueError, "variance_floor must be a finite"),
        (GaussianMixture(2, init="kmeans"), ValueError, "init must be 'k-means\\+\\+' or an array"),
        (GaussianMixture(2, init=[[1.0]]), ValueError, r"in the shape .* = \(2, 1\); got .*\(1, 1"),
        (GaussianMixture(2, init=[[np.nan], [1]]), ValueError, "init must be"),
        (GaussianMixture(2, init=[[0], [1, 2]]), ValueError, "init must be .* got a list"),
        (GaussianMixture(2, init={"means": 1}), TypeError, "init must be .* got a dict"),
        (GaussianMixture(2, tol=-1), ValueError, "tol must be"),
        (GaussianMixture(2, hard=1), ValueError, "hard must be"),
        (GaussianMixture(2, n_jobs=0), ValueError, "n_jobs must not be 0"),
    ],
)
def test_wrong_parameters_are_refused(mixture, error, message):
    with pytest.raises(error, match=message):
        mixture.fit([[0.0], [1.0], [2.0], [3.0]])


@pytest.mark.parametrize("n_components", [1, 9])
@pytest.mark.parametrize("size", [1e-20, 1.0, 1e27])
def test_constants_of_any_size_have_the_likelihood_of_their_mixture(n_components, size):
    """The rounding of a mean of 1e27 was many widths of its component."""
    rows = np.tile(size * np.array([0.1, 0.7, -0.3, 0.9]), (86, 1))
    mixture = GaussianMixture(n_components, random_state=0).fit(rows)
    expected = -0.5 * np.log(2 * np.pi * mixture.variances_[0]).sum()
    assert_allclose(mixture.score_samples(rows), expected, rtol=1e-3)
    assert mixture.lower_bound_ == pytest.approx(expected, rel=1e-3)
