"""Fisher vectors in use: the contract of estimators over word vectors, and edge cases."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from support import change_manifest, interrupted
from textkin import FisherVector, WordVectors, _core
from textkin.exceptions import EmptyDocumentError
from textkin.models import DiagonalGaussianMixture, VonMisesFisherMixture, load_estimator

WORDS = [f"w{number}" for number in range(30)]
RANDOM = np.random.default_rng(2)
MATRIX = (RANDOM.normal(size=(30, 5)) + 2 * np.repeat(np.eye(5)[:3], 10, axis=0)).astype(np.float32)
BAGS = RANDOM.poisson(0.5, size=(20, 30)).astype(np.float64)
BAGS[3] = 0
TOKENS = [np.repeat(WORDS, row.astype(int)).tolist() for row in BAGS]
TEXTS = ["cats and dogs", "a dog and a cat", "cars on roads", "buses and cars", "my dog"] * 4
LABELS = [0, 0, 1, 1, 0] * 4

MAKERS = {
    "vmf": lambda vectors: FisherVector(3, vectors=vectors, random_state=0),
    "paper": lambda vectors: FisherVector(3, vectors=vectors, information="paper", norm=None),
    "gmm": lambda vectors: FisherVector(
        3, vectors=vectors, mixture="gmm", power=0.5, random_state=0
    ),
    "all": lambda vectors: FisherVector(
        3, vectors=vectors, mixture="gmm", parts=("means", "variances", "weights"), random_state=0
    ),
    "given": lambda vectors: FisherVector(
        vectors=vectors, mixture=VonMisesFisherMixture(2, random_state=0), hard=True
    ),
}


@pytest.fixture(params=MAKERS)
def fitted(request):
    return MAKERS[request.param](MATRIX).set_params(random_state=0).fit(BAGS)


@pytest.mark.parametrize(
    "form",
    [
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.coo_array,
        lambda bags: sparse.csr_array(bags.astype(np.int64)),
        lambda bags: bags.astype(np.float32),
    ],
)
def test_all_array_types_give_the_same(fitted, form):
    assert_array_equal(fitted.transform(form(BAGS)), fitted.transform(BAGS))


def test_batches_equal_single_rows_on_any_number_of_threads(fitted):
    batch = fitted.transform(BAGS)
    assert batch.dtype == np.float32
    for jobs in (2, 3):
        assert_array_equal(clone(fitted).set_params(n_jobs=jobs).fit(BAGS).transform(BAGS), batch)
    for position in range(len(BAGS)):  # by a copy without cached posteriors
        alone = pickle.loads(pickle.dumps(fitted)).transform(BAGS[[position]])
        assert_array_equal(alone, batch[[position]])


def test_instruction_sets_give_the_same(fitted):
    wanted = fitted.transform(BAGS)
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            assert_array_equal(fitted.transform(BAGS), wanted)
    finally:
        _core.use_instruction_set(_core.instruction_sets()[-1])


def test_documents_without_words_are_zero(fitted):
    found = fitted.transform(BAGS)
    assert_array_equal(found[3], 0)
    assert np.abs(np.delete(found, 3, axis=0)).max(axis=1).min() > 0
    assert fitted.transform(sparse.csr_array((0, 30))).shape == (0, found.shape[1])
    named = MAKERS["vmf"](WordVectors(WORDS, MATRIX)).fit(TOKENS)
    assert_array_equal(named.transform(["", "qwertzish asdfish", []]), 0)
    assert [c.share for c in named.coverage(["w1 qwertzish"])] == [0.5]


def test_clone_refit_and_feature_names(fitted):
    again = clone(fitted)
    with pytest.raises(NotFittedError):
        again.transform(BAGS)
    again.fit(BAGS[::-1] + 1).fit(BAGS)
    assert_array_equal(again.transform(BAGS), fitted.transform(BAGS))
    names = fitted.get_feature_names_out()
    assert len(names) == fitted.transform(BAGS).shape[1]
    assert names[0] == "fishervector0"


def test_fitted_mixture_is_used_unchanged():
    mixture = DiagonalGaussianMixture(2, random_state=0).fit(MATRIX)
    fisher = FisherVector(vectors=MATRIX, mixture=mixture).fit(BAGS[:1])
    assert_array_equal(fisher.mixture_.means_, mixture.means_)
    expected = fisher.transform(BAGS)
    assert expected.shape == (20, 10)
    mixture.fit(MATRIX[:15] + 1)  # must not change the copy in the estimator
    assert_array_equal(fisher.transform(BAGS), expected)
    assert not hasattr(clone(fisher).mixture, "means_")  # as scikit-learn documents


def test_cached_posteriors_depend_on_parameters():
    """Posteriors must not outlive the parameters from which they were computed."""
    fisher = MAKERS["vmf"](MATRIX).fit(BAGS)
    soft = fisher.transform(BAGS)
    hard = fisher.set_params(hard=True).transform(BAGS)
    assert not np.array_equal(soft, hard)
    other = fisher.set_params(hard=False, vectors=MATRIX[::-1].copy()).transform(BAGS[:, ::-1])
    assert_allclose(other, soft, atol=1e-6)
    fisher.set_params(vectors=MATRIX).fit(BAGS[:2])
    assert not np.array_equal(fisher.transform(BAGS), soft)


def test_pickle_and_save(fitted, tmp_path):
    expected = fitted.transform(BAGS)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(BAGS), expected)
    fitted.save(tmp_path / "model")
    for loaded in (FisherVector.load(tmp_path / "model"), load_estimator(tmp_path / "model")):
        assert type(loaded) is FisherVector
        assert_array_equal(loaded.transform(BAGS), expected)


def test_saved_estimator_contains_named_vectors(tmp_path):
    fisher = MAKERS["gmm"](WordVectors(WORDS, MATRIX)).fit(TOKENS)
    fisher.save(tmp_path / "model")
    loaded = FisherVector.load(tmp_path / "model")
    assert_array_equal(loaded.transform(TOKENS), fisher.transform(TOKENS))


def test_builtin_vectors_are_not_saved(tmp_path):
    fisher = FisherVector(n_components=2, random_state=0).fit(TEXTS)
    fisher.save(tmp_path / "model")
    assert sum(file.stat().st_size for file in (tmp_path / "model").iterdir()) < 50_000
    loaded = FisherVector.load(tmp_path / "model")
    assert_array_equal(loaded.transform(TEXTS), fisher.transform(TEXTS))


def test_inconsistent_saved_estimator_raises(tmp_path):
    fisher = MAKERS["vmf"](MATRIX).fit(BAGS)
    fisher.mixture_ = DiagonalGaussianMixture(2, random_state=0).fit(MATRIX)
    fisher.save(tmp_path / "kind")
    with pytest.raises(ValueError, match=r"is invalid.*mixture_ must be a VonMisesFisherMixture"):
        FisherVector.load(tmp_path / "kind")
    fisher.mixture_ = VonMisesFisherMixture(2, random_state=0).fit(MATRIX[:, :4])
    fisher.save(tmp_path / "dimension")
    with pytest.raises(ValueError, match=r"is invalid.*must be of 4 dimensions.*got 5"):
        FisherVector.load(tmp_path / "dimension")
    change_manifest(tmp_path / "kind", lambda manifest: manifest["fitted"].update(mixture_=None))
    with pytest.raises(ValueError, match="is invalid"):
        FisherVector.load(tmp_path / "kind")


def test_pipeline_and_grid_search():
    pipeline = make_pipeline(
        FisherVector(n_components=2, random_state=0), LogisticRegression(C=100)
    )
    grid = {"fishervector__mixture": ["vmf", "gmm"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(TEXTS, LABELS)
    assert search.best_score_ == 1


def test_failed_fit_leaves_the_estimator_unchanged():
    fisher = MAKERS["vmf"](MATRIX).fit(BAGS)
    expected = fisher.transform(BAGS)

    def stop(_done, _total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fisher.fit(BAGS[:5], progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        fisher.transform(BAGS, progress=stop)
    with pytest.raises(ValueError, match="got none"):
        fisher.fit(0 * BAGS)
    assert_array_equal(fisher.transform(BAGS), expected)


def test_progress_and_interruption():
    fisher = MAKERS["vmf"](MATRIX)
    told = []
    fisher.fit(BAGS, progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] <= told[-1][1]
    told.clear()
    fisher.transform(BAGS, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (20, 20)
    many = sparse.csr_array(np.tile(BAGS, (2000, 1)))
    assert interrupted(lambda: [fisher.transform(many) for _ in range(100)])


def test_weights_of_extreme_magnitude():
    fisher = MAKERS["vmf"](MATRIX).fit(BAGS)
    wanted = fisher.transform(BAGS)
    for factor in (1e-300, 1e-30, 1e30, 1e300):
        assert_allclose(fisher.transform(BAGS * factor), wanted, atol=1e-6)
    plain = fisher.set_params(norm=None, divide_by_length=False, information="paper")
    assert_allclose(plain.transform(BAGS * 1e20), plain.transform(BAGS) * np.float32(1e20), 1e-6)
    with pytest.raises(ValueError, match=r"fit into float32.*norm='l2'"):
        plain.transform(BAGS * 1e100)


@pytest.mark.parametrize("factor", [1e-15, 1e15])
def test_vectors_of_extreme_magnitude(factor):
    for name in ("vmf", "all"):
        wanted = MAKERS[name](MATRIX).fit(BAGS).transform(BAGS)
        found = MAKERS[name](MATRIX * np.float32(factor)).fit(BAGS).transform(BAGS)
        assert_allclose(found, wanted, atol=1e-3)


def test_duplicates_and_single_document():
    same = np.repeat(MATRIX[:2], 3, axis=0)
    for model in ("vmf", "gmm"):
        found = FisherVector(2, vectors=same, mixture=model, random_state=0).fit(np.ones((1, 6)))
        assert_array_equal(found.transform(np.eye(6)), 0)  # all words are means


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be an integer at least 1"),
        ({"n_components": 31}, ValueError, "at most 30, the number of distinct words.*got 31"),
        (
            {"mixture": "vMF"},
            ValueError,
            "mixture must be one of 'vmf', 'gmm' .*; got 'vMF'",
        ),
        ({"parts": "means"}, TypeError, "parts must be a tuple of some of 'means'"),
        ({"parts": ()}, ValueError, "parts must be"),
        ({"parts": ("means", "means")}, ValueError, "parts must be"),
        ({"parts": (["means"],)}, ValueError, "parts must be"),
        (
            {"parts": ("variances",)},
            ValueError,
            r"'means', 'weights' for a Von.*'gmm'",
        ),
        ({"information": "sound"}, ValueError, "information must be one of"),
        (
            {"information": "tangent", "mixture": "gmm"},
            ValueError,
            "'diagonal', 'none' or None for a DiagonalGaussianMixture; got 'tangent'",
        ),
        ({"power": 0}, ValueError, "power must be None or a number above 0 and at most 1"),
        ({"norm": "l1"}, ValueError, "norm must be one of 'l2', None"),
        ({"mixture": 3}, ValueError, "mixture must be one of .* or a VonMisesFisherMixture or a"),
        ({"fit_on": "types"}, ValueError, "fit_on must be one of"),
        ({"vectors": MATRIX[:, :1]}, ValueError, "at least 2 columns"),
    ],
)
def test_invalid_parameters_raise(parameters, error, message):
    fisher = FisherVector(3, vectors=MATRIX, random_state=0).set_params(**parameters)
    with pytest.raises(error, match=message):
        fisher.fit(BAGS)


def test_invalid_documents_raise():
    fisher = MAKERS["gmm"](MATRIX).fit(BAGS)
    for wrong in (np.nan, np.inf, -1):
        bags = BAGS.copy()
        bags[2, 4] = wrong
        for call in (fisher.fit, fisher.transform):
            with pytest.raises(ValueError, match="finite and at least 0; row 2 has"):
                call(bags)
    with pytest.raises(ValueError, match="X must have 30 columns"):
        fisher.transform(BAGS[:, 1:])
    with pytest.raises(TypeError, match="must be bags"):
        fisher.transform(["a text"])
    with pytest.raises(ValueError, match=r"must be of 5 dimensions.*got 4"):
        fisher.set_params(vectors=MATRIX[:, :4].copy()).transform(BAGS)
    with pytest.raises(ValueError, match=r"mixture must be the type that fit used.*Fit again"):
        fisher.set_params(vectors=MATRIX, mixture="vmf").transform(BAGS)


def test_oov_drop_and_error():
    matrix = MATRIX.copy()
    matrix[[1, 7]] = np.nan
    fisher = MAKERS["gmm"](matrix).fit(BAGS)
    without = BAGS.copy()
    without[:, [1, 7]] = 0
    assert_array_equal(fisher.transform(BAGS), fisher.transform(without))
    with pytest.raises(ValueError, match="words without a vector"):
        fisher.set_params(oov="error").transform(BAGS)


def test_empty_error_raises():
    fisher = FisherVector(2, vectors=MATRIX, random_state=0).fit(BAGS)
    bags = BAGS[:3].copy()
    bags[1] = 0
    assert not fisher.transform(bags)[1].any()
    fisher.empty = "error"
    with pytest.raises(EmptyDocumentError, match="Document 1 of X is empty") as caught:
        fisher.transform(bags)
    assert caught.value.rows == (1,)
    assert_array_equal(fisher.transform(bags[[0, 2]]).shape, (2, 2 * MATRIX.shape[1]))
    with pytest.raises(ValueError, match="empty must be one of"):
        fisher.set_params(empty="inf").transform(bags)
