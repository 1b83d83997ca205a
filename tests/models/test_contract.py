"""scikit-learn's estimator checks, and the contract of every model over bags."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from support import run_scikit_learn_checks
from textkin.models import LDA, LSI, MSDA, PLSA, WTMF, CountingGrid, FisherKernel, load_estimator
from textkin.weighting import TfIdf

MODELS = [
    LSI(2, random_state=0),
    LSI(1, algorithm="arpack", random_state=0),
    LDA(2, doc_topic_prior=3, tol=0.1, random_state=0),
    PLSA(2, random_state=0),
    WTMF(2, regularization=0.01, random_state=0),
    CountingGrid((2, 3), window=2, tol=1e-3, random_state=0),
]
BAGS = np.array(
    [[2, 1, 0, 0, 0], [0, 1, 3, 0, 0], [0, 0, 0, 0, 0], [5, 1, 0, 1, 0], [0, 0, 2, 2, 0]],
    dtype=np.float64,
)
TEXTS = ["cat dog cat", "dog cat", "car bus car", "bus car bus", "dog dog", "bus"] * 4
LABELS = [0, 0, 1, 1, 0, 1] * 4


@pytest.mark.parametrize(
    "estimator",
    [*MODELS, FisherKernel(2, random_state=0), MSDA(), MSDA(1, n_layers=2)],
    ids=str,
)
def test_scikit_learn_checks(estimator):
    run_scikit_learn_checks(estimator)


# scikit-learn's checks use non-integer weights, which Gibbs sampling rejects.
@pytest.fixture(
    params=[*MODELS, LDA(2, method="gibbs", max_iter=20, random_state=0)],
    ids=lambda model: f"{model}{getattr(model, 'method', '')}",
)
def fitted(request):
    return clone(request.param).fit(BAGS)


@pytest.mark.parametrize(
    "form",
    [
        np.ndarray.tolist,
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.coo_array,
        lambda bags: sparse.csr_array(bags.astype(np.int64)),
        lambda bags: bags.astype(np.float32),
    ],
)
def test_all_array_types_give_the_same(fitted, form):
    expected = fitted.transform(BAGS)
    assert_allclose(fitted.transform(form(BAGS)), expected, rtol=1e-6, atol=1e-7)
    again = clone(fitted).fit(form(BAGS))
    assert_allclose(again.transform(BAGS), expected, rtol=1e-6, atol=1e-7)


def test_result_has_the_dtype_of_the_bags(fitted):
    assert fitted.transform(BAGS).dtype == np.float64
    assert fitted.transform(BAGS.astype(np.float32)).dtype == np.float32


def test_batches_equal_single_rows(fitted):
    bags = sparse.csr_array(BAGS)
    batch = fitted.transform(bags)
    for position in range(len(BAGS)):
        assert_array_equal(fitted.transform(bags[position]), batch[[position]])


def test_seed_gives_the_same_and_refit_replaces_attributes(fitted):
    again = clone(fitted).fit(BAGS[::-1, ::-1]).fit(BAGS)
    assert_array_equal(again.components_, fitted.components_)


def test_no_documents_give_no_rows(fitted):
    nothing = fitted.transform(sparse.csr_array((0, 5)))
    assert nothing.shape == (0, len(fitted.components_))


def test_feature_names_out(fitted):
    names = fitted.get_feature_names_out()
    assert len(names) == len(fitted.components_)
    assert names[0] == f"{type(fitted).__name__.lower()}0"


def test_pickle_and_save(fitted, tmp_path):
    expected = fitted.transform(BAGS)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(BAGS), expected)
    fitted.save(tmp_path / "model")
    for loaded in (type(fitted).load(tmp_path / "model"), load_estimator(tmp_path / "model")):
        assert type(loaded) is type(fitted)
        assert loaded.get_params() == fitted.get_params()
        assert_array_equal(loaded.transform(BAGS), expected)


def test_inconsistent_saved_model_raises(fitted, tmp_path):
    fitted.components_ = fitted.components_[:, :-1].copy()
    fitted.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"is invalid.*components_ must hold"):
        type(fitted).load(tmp_path / "model")


@pytest.mark.parametrize(
    "model",
    [LSI(2, random_state=0), LDA(2, random_state=0), PLSA(2, random_state=0)],
    ids=str,
)
def test_pipeline_and_grid_search(model):
    steps = [CountVectorizer(), *([TfIdf()] if isinstance(model, LSI) else []), model]
    pipeline = make_pipeline(*steps, LogisticRegression(C=100))
    name = type(model).__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__n_components": [1, 2]}, cv=2)
    assert search.fit(TEXTS, LABELS).best_score_ == 1


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (LSI(0), ValueError, "n_components must be an integer at least 1; got 0"),
        (LSI(2.5), TypeError, "n_components must be an integer"),
        (LSI(6), ValueError, r"at most 5 .*n_samples = 5.*n_features = 5.*got 6"),
        (LSI(5, algorithm="arpack"), ValueError, "at most 4"),
        (LSI(2, algorithm="qr"), ValueError, "algorithm must be one of"),
        (LDA(0), ValueError, "n_components"),
        (
            LDA(2, doc_topic_prior=0),
            ValueError,
            "doc_topic_prior must be one of None, .* or a finite number above 0",
        ),
        (
            LDA(2, topic_word_prior=-1),
            ValueError,
            "topic_word_prior must be a finite number above 0",
        ),
        (LDA(2, method="em"), ValueError, "method must be"),
        (LDA(2, random_state="x"), ValueError, "cannot be used to seed"),
    ],
)
def test_invalid_parameters_raise(model, error, message):
    with pytest.raises(error, match=message):
        model.fit(BAGS)


@pytest.mark.parametrize(
    "model",
    [
        PLSA(2, max_iter=1, random_state=0),
        LDA(2, max_iter=1, tol=1e-9, random_state=0),
        CountingGrid(3, window=2, max_iter=1, random_state=0),
        WTMF(2, regularization=0.01, max_iter=1, tol=1e-9, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_warnings_point_at_the_caller(model):
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(BAGS)
    assert [warning.filename for warning in told] == [__file__]
