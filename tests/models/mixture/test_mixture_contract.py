"""scikit-learn's estimator checks, and the contract of both mixtures."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from support import interrupted, run_scikit_learn_checks
from textkin.models import DiagonalGaussianMixture, VonMisesFisherMixture, load_estimator

MIXTURES = [DiagonalGaussianMixture(2, random_state=0), VonMisesFisherMixture(2, random_state=0)]
ROWS = np.random.default_rng(0).normal(size=(50, 4)) + np.repeat(
    [[3, 0, 0, 0], [0, 3, 0, 0]], 25, 0
)


@pytest.mark.parametrize("estimator", MIXTURES, ids=str)
def test_scikit_learn_checks(estimator):
    run_scikit_learn_checks(estimator)


@pytest.fixture(params=MIXTURES, ids=lambda mixture: type(mixture).__name__)
def mixture(request):
    return clone(request.param)


def test_information_criteria_agree_with_scikit_learn():
    ours = DiagonalGaussianMixture(2, random_state=0).fit(ROWS)
    theirs = GaussianMixture(2, covariance_type="diag", random_state=0).fit(ROWS)
    theirs.means_, theirs.weights_ = ours.means_, ours.weights_
    theirs.covariances_ = ours.covariances_
    theirs.precisions_cholesky_ = 1 / np.sqrt(ours.covariances_)
    assert ours.aic(ROWS) == pytest.approx(theirs.aic(ROWS), rel=1e-6)
    assert ours.bic(ROWS) == pytest.approx(theirs.bic(ROWS), rel=1e-6)


@pytest.mark.parametrize(("shared", "n_parameters"), [(False, 9), (True, 8)])
def test_information_criteria_count_directions(shared, n_parameters):
    mixture = VonMisesFisherMixture(2, shared_kappa=shared, random_state=0).fit(ROWS)
    total = mixture.score_samples(ROWS).sum()
    assert mixture.aic(ROWS) == pytest.approx(2 * n_parameters - 2 * total)
    assert mixture.bic(ROWS) == pytest.approx(n_parameters * np.log(50) - 2 * total)


def test_information_criteria_of_weights_equal_repeated_rows(mixture):
    mixture.fit(ROWS)
    weights = np.arange(50) % 3
    repeated = np.repeat(ROWS, weights, axis=0)
    assert mixture.bic(ROWS, weights) == pytest.approx(mixture.bic(repeated))
    assert mixture.aic(ROWS, weights) == pytest.approx(mixture.aic(repeated))
    with pytest.raises(ValueError, match="sample_weight"):
        mixture.aic(ROWS, [1.0])


def test_pickle_and_save(mixture, tmp_path):
    mixture.set_params(means_init=ROWS[:2]).fit(ROWS)
    expected = mixture.predict_proba(ROWS)
    assert_array_equal(pickle.loads(pickle.dumps(mixture)).predict_proba(ROWS), expected)
    mixture.save(tmp_path / "mixture")
    for loaded in (type(mixture).load(tmp_path / "mixture"), load_estimator(tmp_path / "mixture")):
        assert type(loaded) is type(mixture)
        assert_array_equal(loaded.predict_proba(ROWS), expected)
        assert_array_equal(loaded.sample(5)[0], mixture.sample(5)[0])
        assert loaded.log_likelihoods_ == mixture.log_likelihoods_
        assert_array_equal(clone(loaded).fit(ROWS).means_, mixture.means_)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("means_", lambda means: means[:, :-1].copy(), "means_ must hold finite numbers"),
        ("means_", lambda means: means * np.nan, "means_ must hold finite numbers"),
        ("weights_", lambda weights: -weights, "weights_ must be above 0"),
        ("weights_", lambda weights: 2 * weights, "weights_ must be above 0 and sum to 1"),
    ],
)
def test_inconsistent_saved_mixture_raises(mixture, tmp_path, name, change, message):
    mixture.fit(ROWS)
    setattr(mixture, name, change(getattr(mixture, name)))
    mixture.save(tmp_path / "mixture")
    with pytest.raises(ValueError, match=f"is invalid.*{message}"):
        type(mixture).load(tmp_path / "mixture")


def test_invalid_saved_spreads_raise(tmp_path):
    gaussian = DiagonalGaussianMixture(2, random_state=0).fit(ROWS)
    gaussian.covariances_ = gaussian.covariances_ - 100
    gaussian.save(tmp_path / "gaussian")
    with pytest.raises(ValueError, match="covariances_ must be above 0"):
        DiagonalGaussianMixture.load(tmp_path / "gaussian")
    sphere = VonMisesFisherMixture(2, random_state=0).fit(ROWS)
    sphere.kappas_ = -sphere.kappas_
    sphere.save(tmp_path / "sphere")
    with pytest.raises(ValueError, match="kappas_ must be from 0"):
        VonMisesFisherMixture.load(tmp_path / "sphere")
    sphere.kappas_, sphere.means_ = -sphere.kappas_, 2 * sphere.means_
    sphere.save(tmp_path / "longer")
    with pytest.raises(ValueError, match="means_ must have rows of length 1"):
        VonMisesFisherMixture.load(tmp_path / "longer")


def test_pipeline_and_grid_search(mixture):
    name = type(mixture).__name__.lower()
    pipeline = make_pipeline(StandardScaler(with_mean=False), mixture)
    search = GridSearchCV(pipeline, {f"{name}__n_components": [1, 2]}, cv=2)
    rows = ROWS[np.random.default_rng(1).permutation(50)]
    assert search.fit(rows).best_params_ == {f"{name}__n_components": 2}


def test_fit_predict_and_seed(mixture):
    labels = mixture.fit_predict(ROWS)
    assert_array_equal(labels, mixture.predict(ROWS))
    assert len(set(labels[:25])) == 1 or len(set(labels[25:])) == 1
    again = clone(mixture).fit(ROWS[:30]).fit(ROWS)
    assert_array_equal(again.means_, mixture.means_)
    assert again.get_params() == mixture.get_params()


def test_progress_reports_steps(mixture):
    told = []
    mixture.set_params(n_init=2, max_iter=40).fit(ROWS, progress=lambda *said: told.append(said))
    assert {total for _, total in told} == {80}
    done = [steps for steps, _ in told]
    assert done[0] == 1
    assert 41 in done
    assert done == sorted(done)


def test_failed_fit_leaves_the_estimator_unchanged(mixture):
    mixture.fit(ROWS)
    before = vars(mixture).copy()

    def stop(_done, _total):
        raise RuntimeError("enough")

    for wrong in (
        lambda: mixture.fit(ROWS[:, :3], progress=stop),
        lambda: mixture.fit(np.full((3, 4), np.nan)),
        lambda: mixture.fit(ROWS[:1]),
    ):
        with pytest.raises((RuntimeError, ValueError)):
            wrong()
        assert vars(mixture) == before


def test_ctrl_c_interrupts_fit(mixture):
    rows = np.random.default_rng(0).normal(size=(20_000, 30))
    mixture.set_params(n_components=20, max_iter=10_000, tol=0)
    assert interrupted(lambda: mixture.fit(rows))
    with pytest.raises(NotFittedError):
        mixture.predict(rows)


def test_convergence_warning_points_at_the_caller(mixture):
    mixture.set_params(max_iter=1, tol=0)
    for fit in (mixture.fit, mixture.fit_predict):
        with pytest.warns(ConvergenceWarning) as told:
            fit(ROWS)
        assert [warning.filename for warning in told] == [__file__]


def test_sparse_rows_raise(mixture):
    with pytest.raises(TypeError, match="dense data is required"):
        mixture.fit(sparse.csr_array(ROWS))


def test_no_rows_give_empty_results_and_no_score(mixture):
    mixture.fit(ROWS)
    assert mixture.predict_proba(np.empty((0, 4))).shape == (0, 2)
    assert mixture.predict(np.empty((0, 4))).shape == (0,)
    assert mixture.score_samples(np.empty((0, 4))).shape == (0,)
    with pytest.raises(ValueError, match="at least one row"):
        mixture.score(np.empty((0, 4)))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"one number for each of the 50 rows; got an array of shape \(3,\)"),
        (np.full(50, -1), "finite and at least 0"),
        (np.full(50, np.nan), "finite and at least 0"),
        (np.zeros(50), "not zero for all rows"),
    ],
)
def test_invalid_sample_weights_raise(mixture, weights, message):
    with pytest.raises(ValueError, match=message):
        mixture.fit(ROWS, sample_weight=weights)


def test_sample_uses_its_own_seed(mixture):
    with pytest.raises(NotFittedError):
        mixture.sample()
    mixture.fit(ROWS)
    rows, components = mixture.sample(7)
    assert rows.shape == (7, 4)
    assert (np.diff(components) >= 0).all()
    assert_array_equal(mixture.sample(7)[0], rows)
    assert (mixture.sample(7, random_state=1)[0] != rows).any()
    with pytest.raises(ValueError, match="n_samples must be an integer at least 1; got 0"):
        mixture.sample(0)


@pytest.mark.parametrize("n_components", [7, 8, 15])
def test_single_rows_of_any_memory_order_equal_batches(mixture, n_components):
    # From eight components on, NumPy sums one column in a different order than many.
    mixture.set_params(n_components=n_components, max_iter=50, tol=1e-2).fit(ROWS)
    shares, logs = mixture.predict_proba(ROWS), mixture.score_samples(ROWS)
    for row in range(len(ROWS)):
        assert_array_equal(mixture.predict_proba(ROWS[row : row + 1])[0], shares[row])
        assert mixture.score_samples(ROWS[row : row + 1])[0] == logs[row]
    assert_array_equal(mixture.predict_proba(np.asfortranarray(ROWS)), shares)


@pytest.mark.parametrize(
    ("means", "variances"),
    [
        ([1e308, -1e308], [1, 1]),
        ([0, 1], [1e-320, 1e-320]),
        ([0, 0], [1e-300, 1e300]),
    ],
)
def test_saved_gaussians_with_overflowing_squares_raise(tmp_path, means, variances):
    mixture = DiagonalGaussianMixture(2, random_state=0).fit(ROWS)
    mixture.means_ = np.tile(np.array(means, dtype=float)[:, np.newaxis], 4)
    mixture.covariances_ = np.tile(np.array(variances, dtype=float)[:, np.newaxis], 4)
    mixture.save(tmp_path / "mixture")
    with pytest.raises(ValueError, match=r"is invalid .*finite variances, of which each component"):
        DiagonalGaussianMixture.load(tmp_path / "mixture")


@pytest.mark.parametrize("method", ["predict", "predict_proba", "score_samples", "score"])
@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
def test_methods_over_rows_report_progress(mixture, method):
    rows = np.random.default_rng(0).normal(size=(900, 3))
    fitted = clone(mixture).fit(rows)
    steps = []
    found = getattr(fitted, method)(rows, progress=lambda *step: steps.append(step))
    assert_array_equal(found, getattr(fitted, method)(rows))
    assert steps == [(384, 900), (768, 900), (900, 900)]
