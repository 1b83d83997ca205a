"""scikit-learn's own checks, and what both mixtures promise as estimators."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from support import interrupted
from textkin import GaussianMixture, VonMisesFisherMixture
from textkin.models import load_estimator

MIXTURES = [GaussianMixture(2, random_state=0), VonMisesFisherMixture(2, random_state=0)]
ROWS = np.random.default_rng(0).normal(size=(50, 4)) + np.repeat(
    [[3, 0, 0, 0], [0, 3, 0, 0]], 25, 0
)


@parametrize_with_checks(MIXTURES)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(params=MIXTURES, ids=lambda mixture: type(mixture).__name__)
def mixture(request):
    return clone(request.param)


def test_pickle_and_save(mixture, tmp_path):
    mixture.set_params(init=ROWS[:2]).fit(ROWS)
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
def test_a_saved_mixture_that_does_not_fit_together_is_refused(
    mixture, tmp_path, name, change, message
):
    mixture.fit(ROWS)
    setattr(mixture, name, change(getattr(mixture, name)))
    mixture.save(tmp_path / "mixture")
    with pytest.raises(ValueError, match=f"not whole.*{message}"):
        type(mixture).load(tmp_path / "mixture")


def test_saved_spreads_are_looked_at(tmp_path):
    gaussian = GaussianMixture(2, random_state=0).fit(ROWS)
    gaussian.variances_ = gaussian.variances_ - 100
    gaussian.save(tmp_path / "gaussian")
    with pytest.raises(ValueError, match="variances_ must be above 0"):
        GaussianMixture.load(tmp_path / "gaussian")
    sphere = VonMisesFisherMixture(2, random_state=0).fit(ROWS)
    sphere.kappas_ = -sphere.kappas_
    sphere.save(tmp_path / "sphere")
    with pytest.raises(ValueError, match="kappas_ must be from 0"):
        VonMisesFisherMixture.load(tmp_path / "sphere")
    sphere.kappas_, sphere.means_ = -sphere.kappas_, 2 * sphere.means_
    sphere.save(tmp_path / "longer")
    with pytest.raises(ValueError, match="means_ must have rows of length 1"):
        VonMisesFisherMixture.load(tmp_path / "longer")


def test_in_a_pipeline_and_a_grid(mixture):
    name = type(mixture).__name__.lower()
    pipeline = make_pipeline(StandardScaler(with_mean=False), mixture)
    search = GridSearchCV(pipeline, {f"{name}__n_components": [1, 2]}, cv=2)
    rows = ROWS[np.random.default_rng(1).permutation(50)]
    assert search.fit(rows).best_params_ == {f"{name}__n_components": 2}


def test_fit_predict_and_the_same_seed(mixture):
    labels = mixture.fit_predict(ROWS)
    assert_array_equal(labels, mixture.predict(ROWS))
    assert len(set(labels[:25])) == 1 or len(set(labels[25:])) == 1
    again = clone(mixture).fit(ROWS[:30]).fit(ROWS)
    assert_array_equal(again.means_, mixture.means_)
    assert again.get_params() == mixture.get_params()


def test_what_progress_is_told(mixture):
    told = []
    mixture.set_params(n_init=2, max_iter=40).fit(ROWS, progress=lambda *said: told.append(said))
    assert {total for _, total in told} == {80}
    done = [steps for steps, _ in told]
    assert done[0] == 1
    assert 41 in done
    assert done == sorted(done)


def test_a_fit_that_fails_leaves_the_estimator_as_it_was(mixture):
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


def test_it_can_be_interrupted(mixture):
    rows = np.random.default_rng(0).normal(size=(20_000, 30))
    mixture.set_params(n_components=20, max_iter=10_000, tol=0)
    assert interrupted(lambda: mixture.fit(rows))
    with pytest.raises(NotFittedError):
        mixture.predict(rows)


def test_the_warning_points_at_the_line_that_fits(mixture):
    mixture.set_params(max_iter=1, tol=0)
    for fit in (mixture.fit, mixture.fit_predict):
        with pytest.warns(ConvergenceWarning) as told:
            fit(ROWS)
        assert [warning.filename for warning in told] == [__file__]


def test_sparse_rows_are_refused(mixture):
    with pytest.raises(TypeError, match="dense data is required"):
        mixture.fit(sparse.csr_array(ROWS))


def test_no_rows_have_no_answers(mixture):
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
def test_wrong_weights_are_refused(mixture, weights, message):
    with pytest.raises(ValueError, match=message):
        mixture.fit(ROWS, sample_weight=weights)


def test_samples_by_their_own_seed(mixture):
    with pytest.raises(NotFittedError):
        mixture.sample()
    mixture.fit(ROWS)
    rows, components = mixture.sample(7)
    assert rows.shape == (7, 4)
    assert (np.diff(components) >= 0).all()
    assert_array_equal(mixture.sample(7)[0], rows)
    assert (mixture.sample(7, random_state=1)[0] != rows).any()
    with pytest.raises(ValueError, match="n_samples must be a whole number at least 1; got 0"):
        mixture.sample(0)


@pytest.mark.parametrize("n_components", [7, 8, 15])
def test_a_row_alone_and_in_any_order_of_memory_has_the_bits_it_has_among_others(
    mixture, n_components
):
    # From eight components on NumPy sums one column in another order than many.
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
def test_saved_gaussians_whose_squares_leave_the_range_are_refused(tmp_path, means, variances):
    mixture = GaussianMixture(2, random_state=0).fit(ROWS)
    mixture.means_ = np.tile(np.array(means, dtype=float)[:, np.newaxis], 4)
    mixture.variances_ = np.tile(np.array(variances, dtype=float)[:, np.newaxis], 4)
    mixture.save(tmp_path / "mixture")
    with pytest.raises(ValueError, match=r"not whole .*finite variances, and components have"):
        GaussianMixture.load(tmp_path / "mixture")
