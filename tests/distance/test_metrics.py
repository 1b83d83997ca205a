"""Metrics compared with their formulas, SciPy, and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import (
    cosine_distances,
    cosine_similarity,
    euclidean_distances,
    linear_kernel,
    manhattan_distances,
)

from textkin.distance import _vectors, pairwise_distances, pairwise_similarities


def cosine(x, y):
    sizes = np.sqrt((x**2).sum() * (y**2).sum())
    return x @ y / sizes if sizes > 0 else 0.0


def coefficient(x, y):
    return np.sqrt(x / x.sum() * (y / y.sum())).sum() if x.any() and y.any() else 0.0


def jaccard(x, y):
    a, b = set(np.flatnonzero(x)), set(np.flatnonzero(y))
    return len(a & b) / len(a | b) if a | b else 1.0


def weighted_jaccard(x, y):
    maxima = np.maximum(x, y).sum()
    return np.minimum(x, y).sum() / maxima if maxima else 1.0


DISTANCES = {
    "cosine": lambda x, y: 1 - cosine(x, y),
    "l1": lambda x, y: np.abs(x - y).sum(),
    "l2": lambda x, y: np.sqrt(((x - y) ** 2).sum()),
    "squared-l2": lambda x, y: ((x - y) ** 2).sum(),
    "hellinger": lambda x, y: np.sqrt(max(1 - coefficient(x, y), 0)),
    "jaccard": lambda x, y: 1 - jaccard(x, y),
    "weighted-jaccard": lambda x, y: 1 - weighted_jaccard(x, y),
}
SIMILARITIES = {
    "inner": lambda x, y: x @ y,
    "cosine": cosine,
    "hellinger": coefficient,
    "jaccard": jaccard,
    "weighted-jaccard": weighted_jaccard,
}
CASES = [
    *((pairwise_distances, metric, formula) for metric, formula in DISTANCES.items()),
    *((pairwise_similarities, metric, formula) for metric, formula in SIMILARITIES.items()),
]
ANY_SIGN = ("cosine", "l1", "l2", "squared-l2", "jaccard", "inner")
FORMS = {"dense": np.asarray, "sparse": sparse.csr_array}


def rows(values):
    return arrays(np.float64, st.tuples(st.integers(1, 5), st.just(6)), elements=values)


COUNTS = rows(st.integers(0, 3).map(float))
NUMBERS = rows(st.sampled_from([0, 0, 0, 0.1, 0.7, 1 / 3, 2.5, 100.25]))
SIGNED = rows(st.sampled_from([0, 0, 0, -0.1, 0.7, 1 / 3, -2.5, 100.25]))


@pytest.mark.parametrize(("function", "metric", "formula"), CASES)
@settings(max_examples=20)
@given(data=st.data())
def test_metric_equals_its_formula(function, metric, formula, data):
    kinds = [COUNTS, NUMBERS, SIGNED] if metric in ANY_SIGN else [COUNTS, NUMBERS]
    kind = data.draw(st.sampled_from(kinds))
    X, Y = data.draw(kind), data.draw(kind)
    expected = [[formula(x, y) for y in Y] for x in X]
    atol = 1e-7 if metric == "hellinger" else 1e-13  # the formula itself is less precise
    for first in FORMS.values():
        for second in FORMS.values():
            found = function(first(X), second(Y), metric)
            assert_allclose(found, expected, rtol=1e-9, atol=atol)
    assert_allclose(function(X, metric=metric), function(X, X.copy(), metric), rtol=1e-12, atol=0)


@pytest.fixture(params=FORMS)
def collection(request):
    """Return documents with Zipf-like word frequencies, as one array type and as a dense array."""
    rng = np.random.default_rng(7)
    dense = rng.poisson(3 / (1 + np.arange(40)), (60, 40)).astype(np.float64) * 0.3
    return FORMS[request.param](dense), dense


def test_metrics_equal_scikit_learn(collection):
    X, dense = collection
    assert_allclose(pairwise_similarities(X, metric="inner"), linear_kernel(dense), rtol=1e-12)
    assert_allclose(pairwise_similarities(X), cosine_similarity(dense), atol=1e-14)
    assert_allclose(pairwise_distances(X), cosine_distances(dense), atol=1e-14)
    assert_allclose(pairwise_distances(X, metric="l1"), manhattan_distances(dense), atol=1e-12)
    assert_allclose(pairwise_distances(X, metric="l2"), euclidean_distances(dense), atol=1e-7)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("cosine", "cosine"),
        ("l1", "cityblock"),
        ("l2", "euclidean"),
        ("squared-l2", "sqeuclidean"),
        ("jaccard", "jaccard"),
    ],
)
def test_metrics_equal_scipy(collection, ours, theirs):
    X, dense = collection
    seen = dense if theirs != "jaccard" else dense > 0
    assert_allclose(
        pairwise_distances(X, metric=ours), cdist(seen, seen, theirs), rtol=1e-12, atol=1e-14
    )


def test_inner_product_matches_worked_example():
    """Check the example of METHODS.md, section 3."""
    D, Q = [[2, 3, 5], [3, 7, 1]], [[0, 0, 2]]
    assert pairwise_similarities(D, Q, "inner").ravel().tolist() == [10, 2]
    assert_allclose(pairwise_similarities(D, Q).ravel(), [0.8111071, 0.1301889], atol=5e-8)
    binary = [[1, 1, 1, 0, 1, 1, 0]], [[1, 0, 1, 0, 0, 1, 1]]
    assert pairwise_similarities(*binary, metric="inner") == 3
    assert_allclose(pairwise_similarities([[1, 1, 0]], [[0, 1, 1]], "jaccard"), 1 / 3)


def test_cosine_and_l2_rank_unit_vectors_alike():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    assert_allclose(
        pairwise_distances(X, metric="squared-l2"), 2 * pairwise_distances(X), atol=1e-14
    )


def test_l1_of_distributions_is_twice_the_total_variation():
    p, q = np.array([[0.5, 0.5, 0]]), np.array([[0.2, 0.3, 0.5]])
    assert_allclose(pairwise_distances(p, q, "l1"), 2 * np.maximum(p - q, 0).sum())


@pytest.mark.parametrize("metric", DISTANCES)
def test_equal_rows_have_distance_zero_and_similar_rows_keep_precision(metric, collection):
    X, dense = collection
    assert_array_equal(np.diag(pairwise_distances(X[dense.any(axis=1)], metric=metric)), 0)
    near = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0 + 1e-9]])
    form = sparse.csr_array if sparse.issparse(X) else np.asarray
    found = pairwise_distances(form(near), metric=metric)[0, 1]
    step = near[1, 2] - 3
    share = step / 6  # relative to the sum of the row
    expected = {
        "cosine": step**2 / 2 * (1 / 14 - 9 / 14**2),
        "l1": step,
        "l2": step,
        "squared-l2": step**2,
        "hellinger": np.sqrt((share**2) * (1 / 0.5 - 1) / 8),
        "jaccard": 0,
        "weighted-jaccard": step / (6 + step),
    }[metric]
    assert_allclose(found, expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("form", FORMS)
def test_empty_rows_have_maximal_distance(form):
    X = FORMS[form](np.array([[0.0, 0.0], [1.0, 2.0]]))
    for metric in ("cosine", "hellinger"):
        assert_array_equal(pairwise_distances(X, metric=metric), [[1, 1], [1, 0]])
        assert_array_equal(pairwise_similarities(X, metric=metric), [[0, 0], [0, 1]])
    for metric in ("jaccard", "weighted-jaccard"):
        assert_array_equal(pairwise_distances(X, metric=metric), [[0, 1], [1, 0]])
        assert_array_equal(pairwise_similarities(X, metric=metric), [[1, 0], [0, 1]])
    assert_array_equal(pairwise_distances(X, metric="l1"), [[0, 3], [3, 0]])
    assert_allclose(pairwise_distances(X, metric="l2"), np.sqrt([[0, 5], [5, 0]]))


def test_disjoint_rows_have_similarity_zero():
    X = sparse.csr_array([[0.1, 0.7, 0, 0], [0, 0, 0.3, 0.9]])
    assert pairwise_similarities(X)[0, 1] == 0
    assert pairwise_distances(X)[0, 1] == 1


@pytest.mark.parametrize("form", FORMS)
def test_cosine_of_huge_and_tiny_values_is_exact(form):
    X = np.array([[1.0, 2.0], [2.0, 1.0]])
    expected = pairwise_distances(X)
    for scale in (1e300, 1e-300):
        assert_allclose(pairwise_distances(FORMS[form](X * scale)), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "metric"),
    [
        (pairwise_distances, "l1"),
        (pairwise_distances, "l2"),
        (pairwise_similarities, "inner"),
        (pairwise_distances, "squared-l2"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_sums_beyond_float64_raise(function, metric, form):
    X = FORMS[form](np.array([[1e308, 1e308], [-1e308, -1e308]]))
    with pytest.raises(ValueError, match="too large for float64"):
        function(X, metric=metric)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_weighted_jaccard_is_between_0_and_1(form):
    rng = np.random.default_rng(3)
    X = rng.random((60, 40)) * rng.integers(0, 2, (60, 40))
    X = np.vstack([X, X * (1 + 1e-16), X[:, ::-1], np.roll(X, 1, axis=1), 1e-3 * (X == 0)])
    for function in (pairwise_distances, pairwise_similarities):
        values = function(form(X), metric="weighted-jaccard")
        assert values.min() >= 0
        assert values.max() <= 1
    with pytest.raises(ValueError, match="too large"):
        pairwise_distances(form(np.full((2, 2), 1.5e308)), metric="weighted-jaccard")


@pytest.mark.parametrize("metric", ["cosine", "l1", "l2", "hellinger", "weighted-jaccard"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_differences_of_equal_rows_are_not_computed(form, metric, monkeypatch):
    computed = []

    def counting(values, change):
        computed.append(values.shape[0])
        return row_sums(values, change)

    two = np.array([[1.0, 2, 0], [1 + 1e-9, 2, 0]])
    X = form(two[np.repeat([0, 1], [50, 1])])
    row_sums = _vectors.row_sums
    monkeypatch.setattr(_vectors, "row_sums", counting)
    matrix = pairwise_distances(X, X.copy(), metric=metric)
    # 50 x 1 pairs with the row that differs, in both directions
    assert sum(computed) <= 100 + 2 * 51
    assert not matrix[:50, :50].any()
    assert matrix[50, 50] == 0
    assert (matrix[50, :50] > 0).all()
    assert_array_equal(matrix, matrix.T)


def test_squares_that_underflow_give_documented_results():
    tiny = np.array([[1e-170, 0.0]])
    assert pairwise_distances(tiny, tiny[:, ::-1], "l2") == 0
    assert pairwise_distances(tiny, tiny[:, ::-1], "cosine") == 1
    assert pairwise_distances(tiny * 1e100, tiny[:, ::-1] * 1e100, "l2") > 1e-70
