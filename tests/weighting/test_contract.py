"""scikit-learn's estimator checks, and the guarantees of every weighting."""

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

from support import run_scikit_learn_checks
from textkin.models import load_estimator
from textkin.weighting import BM25, SIF, TfIdf, binary, nbow, normalize

ESTIMATORS = [
    SIF(),
    SIF(probabilities="zipf"),
    TfIdf(),
    TfIdf("lecture", norm=None),
    TfIdf("wmd", norm="l1"),
    TfIdf("sklearn", sublinear=True),
    TfIdf("sklearn-unsmoothed"),
    TfIdf("wtmf"),
    TfIdf(tf="max", idf="okapi", norm="l1"),
    BM25(),
    BM25(0, 0, idf="okapi", norm="l2"),
]
FUNCTIONS = [nbow, normalize, binary]
BAGS = np.array([[2, 1, 0, 0], [0, 1, 3, 0], [0, 0, 0, 0], [5, 1, 0, 1]])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_scikit_learn_checks(estimator):
    run_scikit_learn_checks(estimator)


@pytest.fixture(
    params=[*ESTIMATORS, *FUNCTIONS], ids=lambda way: getattr(way, "__name__", str(way))
)
def apply_weighting(request):
    """Return each weighting as a function from bags to bags."""
    way = request.param
    return way if way in FUNCTIONS else clone(way).fit(BAGS).transform


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        np.ndarray.tolist,
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.coo_array,
        lambda bags: sparse.csr_array(bags.astype(np.int64)),
        lambda bags: sparse.csr_array(bags.astype(np.uint8)),
        lambda bags: sparse.csr_array(bags, dtype=np.float32),
    ],
)
def test_all_array_types_give_the_same(apply_weighting, form):
    weighted = apply_weighting(form(BAGS))
    assert isinstance(weighted, sparse.csr_array)
    assert (weighted.dtype, weighted.indices.dtype) == (np.float32, np.int32)
    assert weighted.has_canonical_format
    assert np.all(weighted.data != 0)
    assert_array_equal(weighted.toarray(), apply_weighting(BAGS).toarray())


def test_float64_input_gives_float64(apply_weighting):
    weighted = apply_weighting(BAGS.astype(np.float64))
    assert weighted.dtype == np.float64
    assert_allclose(weighted.toarray(), apply_weighting(BAGS).toarray(), rtol=1e-6)


def test_rows_in_a_batch_equal_single_rows(apply_weighting):
    bags = sparse.csr_array(BAGS, dtype=np.float32)
    batch = apply_weighting(bags).toarray()
    for position in range(len(BAGS)):
        for row in (bags[position], bags[[position]], bags[position : position + 1]):
            assert_array_equal(apply_weighting(row).toarray(), batch[[position]])


def test_input_is_unchanged(apply_weighting):
    bags = sparse.csr_array(
        (np.array([1.0, 0.0, 2.0, 1.0], np.float32), np.array([3, 1, 0, 0]), np.array([0, 4])),
        shape=(1, 4),
    )
    weighted = apply_weighting(bags)
    assert bags.data.tolist() == [1, 0, 2, 1]
    assert bags.indices.tolist() == [3, 1, 0, 0]
    assert_array_equal(weighted.toarray(), apply_weighting([[3, 0, 0, 1]]).toarray())


def test_int64_indices_become_int32(apply_weighting):
    bags = sparse.csr_array(BAGS, dtype=np.float32)
    bags.indices, bags.indptr = bags.indices.astype(np.int64), bags.indptr.astype(np.int64)
    weighted = apply_weighting(bags)
    assert (weighted.indices.dtype, weighted.indptr.dtype) == (np.int32, np.int32)


def test_no_documents_and_empty_documents_are_accepted(apply_weighting):
    assert apply_weighting(sparse.csr_array((0, 4), dtype=np.float32)).shape == (0, 4)
    assert apply_weighting(np.zeros((2, 4))).nnz == 0


def test_negative_count_raises(apply_weighting):
    with pytest.raises(ValueError, match=r"Negative values.*row 1 has -3\.0"):
        apply_weighting(sparse.csr_array([[1, 0, 0, 0], [0, 1, 0, -3]]))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_count_that_is_not_finite_raises(apply_weighting, value):
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        apply_weighting(sparse.csr_array([[1.0, 0.0, 0.0, value]]))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_pickled_and_saved_estimators_give_the_same(estimator, tmp_path):
    fitted = clone(estimator).fit(BAGS)
    expected = fitted.transform(BAGS).toarray()
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(BAGS).toarray(), expected)
    fitted.save(tmp_path / "weights")
    for loaded in (type(fitted).load(tmp_path / "weights"), load_estimator(tmp_path / "weights")):
        assert loaded.get_params() == fitted.get_params()
        assert_array_equal(loaded.transform(BAGS).toarray(), expected)


@pytest.mark.parametrize("estimator", [TfIdf(), BM25(), SIF()], ids=str)
def test_loading_inconsistent_weights_raises(estimator, tmp_path):
    fitted = clone(estimator).fit(BAGS)
    fitted.n_features_in_ = 9
    fitted.save(tmp_path / "weights")
    with pytest.raises(ValueError, match=r"is invalid.*in the shape \(9,\)"):
        type(fitted).load(tmp_path / "weights")


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [(TfIdf(), {"norm": ["l1", "l2"]}), (BM25(), {"b": [0.0, 1.0]}), (SIF(), {"a": [0.1, 1.0]})],
    ids=str,
)
def test_weightings_in_pipeline_and_grid_search(estimator, grid):
    bags = np.array([[3, 0, 1], [2, 0, 0], [0, 2, 0], [0, 4, 1]] * 3)
    name = type(estimator).__name__.lower()
    pipeline = make_pipeline(estimator, LogisticRegression(C=100))
    search = GridSearchCV(pipeline, {f"{name}__{key}": value for key, value in grid.items()}, cv=3)
    assert search.fit(bags, [0, 0, 1, 1] * 3).best_score_ == 1


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e-320, 8e307])
def test_norms_of_huge_and_tiny_values_are_exact(scale):
    bags = np.array([[1.0, 1.0]]) * scale
    for norm, expected in (("l2", np.sqrt(0.5)), ("l1", 0.5)):
        assert_allclose(normalize(bags, norm).toarray(), [[expected, expected]], rtol=1e-15)
    assert_allclose(nbow(bags).toarray(), [[0.5, 0.5]], rtol=1e-15)


def test_weights_beyond_the_dtype_raise():
    bags = np.array([[0.0, 1.0], [3e38, 1.0]], dtype=np.float32)
    tfidf = TfIdf("sklearn", norm=None).fit(bags)
    with pytest.raises(ValueError, match=r"row 1 are too large for float32.*float64"):
        tfidf.transform(bags)
    assert tfidf.transform(bags.astype(np.float64)).toarray()[1, 0] > 3e38
    with pytest.raises(ValueError, match=r"too large for float64. Scale the bags down\.$"):
        tfidf.transform(np.array([[1.7e308, 0.0]]))
    with pytest.raises(ValueError, match=r"too large for float32.*row 0 has inf"):
        tfidf.transform([[10**300, 0]])  # integers become float32


@pytest.mark.parametrize(
    ("bags", "dtype"),
    [
        ([[2.5, 1], [0, 1]], np.float64),
        (((0.1, 0.2), (0.3, 0.4)), np.float64),
        ([np.array([0.5, 1]), np.array([1, 0.5])], np.float64),
        ([[2, 1], [0, 1]], np.float32),
        ([[True, False], [False, True]], np.float32),
        ([np.array([0.5, 1], np.float32)], np.float32),
        (np.array([[2, 1]]), np.float32),
    ],
)
def test_lists_have_the_dtype_of_their_numpy_array(bags, dtype):
    for function in FUNCTIONS:
        assert function(bags).dtype == dtype
    bm25 = BM25().fit(np.eye(2))
    assert bm25.transform(bags).dtype == dtype
    assert_array_equal(bm25.transform(bags).toarray(), bm25.transform(np.array(bags)).toarray())


def test_duplicate_entries_with_infinite_sum_raise():
    twice = sparse.csr_array(
        (np.array([1, 3e38, 3e38], dtype=np.float32), [0, 0, 0], [0, 1, 3]), shape=(2, 1)
    )
    with pytest.raises(ValueError, match="row 1 has inf"):
        nbow(twice)


@pytest.mark.parametrize("estimator", [BM25(), SIF()], ids=str)
def test_counts_without_finite_sum_raise(estimator):
    with pytest.raises(ValueError, match=r"finite sum\. Scale them down"):
        estimator.fit(np.array([[1e308, 1e308]]))


def test_error_names_the_row_that_is_not_finite():
    with pytest.raises(ValueError, match="row 1 has nan"):
        nbow([[1.0, 2.0], [0.0, np.nan]])


@pytest.mark.parametrize(
    "texts", [["a b"], "a b", [["a", "b"]], np.array(["a b"]), np.array([["a"]], dtype=object)]
)
def test_texts_raise_error_that_names_bag_of_words(apply_weighting, texts):
    with pytest.raises(TypeError, match=r"got text.*BagOfWords"):
        apply_weighting(texts)


@pytest.mark.parametrize(
    ("estimator", "change"),
    [
        (TfIdf(), {"norm": "l3"}),
        (TfIdf(), {"sublinear": True, "tf": "max"}),
        (BM25(), {"k1": -1}),
        (SIF(), {"a": 0}),
    ],
    ids=str,
)
def test_parameters_set_after_fit_are_validated(estimator, change):
    fitted = clone(estimator).fit(BAGS).set_params(**change)
    with pytest.raises(ValueError, match="must be"):
        fitted.transform(BAGS)


@pytest.mark.parametrize("wrong", [[[1.0, np.nan]], [[1e308, 1e308]]])
@pytest.mark.parametrize("estimator", [BM25(), SIF()], ids=str)
def test_failed_fit_leaves_the_estimator_unchanged(estimator, wrong):
    fresh = clone(estimator)
    with pytest.raises(ValueError, match=r"finite"):
        fresh.fit(np.array(wrong))
    with pytest.raises(NotFittedError):
        fresh.transform(BAGS)
    fitted = clone(estimator).fit(BAGS)
    expected = fitted.transform(BAGS).toarray()
    with pytest.raises(ValueError, match=r"finite"):
        fitted.fit(np.array(wrong))
    assert_array_equal(fitted.transform(BAGS).toarray(), expected)


def test_loading_negative_average_length_raises(tmp_path):
    fitted = BM25().fit(BAGS)
    fitted.average_length_ = -1.0
    fitted.save(tmp_path / "weights")
    with pytest.raises(ValueError, match=r"average_length_ must be at least 0"):
        BM25.load(tmp_path / "weights")
