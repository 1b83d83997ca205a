"""Tests of centroid and relaxed distances of many documents at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from textkin import WordVectors, _core
from textkin.exceptions import EmptyDocumentError
from textkin.transport import WordMover, reference_costs

COSTS = ["euclidean", "cosine", "sqeuclidean"]
RELAXED = {"rwmd-query": "source", "rwmd-document": "target", "rwmd": "relaxed"}


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request):
    usual = _core.instruction_set()
    _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(usual)


@st.composite
def collections(draw):
    """Draw vectors, some equal or almost equal, and two collections with counts and weights."""
    dimension = draw(st.sampled_from([1, 2, 7, 50, 104, 105]))
    words = draw(st.integers(2, 90))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.normal(size=(words, dimension)).astype(np.float32)
    table[1] = table[0] * np.float32(1 + draw(st.sampled_from([0.0, 1e-6, 1e-3])))
    share = draw(st.sampled_from([0.05, 0.3, 1.0]))
    bags = [
        rng.integers(1, 5, (draw(st.integers(1, most)), words)) * (rng.random(words) < share)
        for most in (36, 9)
    ]
    rare = rng.random((len(bags[1]), words)) < draw(st.sampled_from([0.2, 1.0]))
    bags[1] = bags[1] * rare * (rng.random(words) if draw(st.booleans()) else 1.0)
    for bag in bags:
        bag[:, rng.integers(words)] += 1
    return table, *(bags if draw(st.booleans()) else bags[::-1])


def reference_bounds(table, X, Y, cost):
    """Return the centroid, query, and document distances of all pairs, by NumPy in float64."""
    if cost == "cosine":
        table = (table / np.linalg.norm(table.astype(float), axis=1)[:, np.newaxis]).astype("f4")
    table = table.astype(float)
    X, Y = (bags / bags.sum(axis=1, keepdims=True) for bags in (X, Y))
    found = np.empty((3, len(X), len(Y)))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            costs = reference_costs(table[x > 0], table[y > 0], cost)
            found[1, i, j] = x[x > 0] @ costs.min(axis=1)
            found[2, i, j] = y[y > 0] @ costs.min(axis=0)
            square = ((x @ table - y @ table) ** 2).sum()
            found[0, i, j] = {
                "euclidean": np.sqrt(square),
                "cosine": square / 2,
                "sqeuclidean": square,
            }[cost]
    return found


@pytest.mark.parametrize("cost", COSTS)
@given(collection=collections())
@settings(max_examples=20)
def test_matrices_equal_reference(cost, collection):
    table, X, Y = collection
    centroid, query, document = reference_bounds(table, X, Y, cost)
    mover = WordMover(table, cost=cost)
    largest = max(query.max(), document.max())
    # squares of centroids that coincide are rounding errors
    np.testing.assert_allclose(
        mover.pairwise(X, Y, metric="wcd"), centroid, rtol=1e-9, atol=1e-12 * (1 + largest)
    )
    close = {"rtol": 1.3e-6, "atol": 1e-12}
    np.testing.assert_allclose(mover.pairwise(X, Y, metric="rwmd-query"), query, **close)
    np.testing.assert_allclose(mover.pairwise(X, Y, metric="rwmd-document"), document, **close)
    np.testing.assert_allclose(
        mover.pairwise(X, Y, metric="rwmd"), np.maximum(query, document), **close
    )


@pytest.mark.parametrize("cost", COSTS)
def test_matrices_equal_bounds_of_single_pairs_bit_by_bit(cost, instruction_set):
    @given(collections(), st.sampled_from([None, 3]))
    @settings(max_examples=10)
    def check(collection, n_jobs):
        table, X, Y = collection
        X, Y = X[:18], Y[:6]
        mover = WordMover(table, cost=cost, n_jobs=n_jobs)
        for other in (X, Y):
            pairs = [[mover.bounds(x, y) for y in other] for x in X]
            expected = np.array([[pair.centroid for pair in row] for row in pairs])
            assert np.array_equal(mover.pairwise(X, other, metric="wcd"), expected)
            for metric, name in RELAXED.items():
                expected = np.array([[getattr(pair, name) for pair in row] for row in pairs])
                assert np.array_equal(mover.pairwise(X, other, metric=metric), expected), metric
        for metric in RELAXED:  # computes half of the pairs
            assert np.array_equal(
                mover.pairwise(X, metric=metric), mover.pairwise(X, X, metric=metric)
            )
        assert np.array_equal(mover.pairwise(X, metric="wcd"), mover.pairwise(X, X, metric="wcd"))

    check()


@pytest.mark.parametrize("cost", COSTS)
def test_bounds_never_exceed_the_distance(cost, rng):
    table = rng.normal(size=(30, 4))
    bags = (rng.random((12, 30)) < 0.2) * rng.integers(1, 4, (12, 30))
    bags[:, 0] += 1
    mover = WordMover(table, cost=cost)
    distances = mover.pairwise(bags) * (1 + 2e-6) + 1e-12
    assert np.all(mover.pairwise(bags, metric="wcd") <= distances)
    assert np.all(mover.pairwise(bags, metric="rwmd") <= distances)


@pytest.mark.parametrize(
    ("points", "a", "b", "wcd", "query", "document"),
    [  # METHODS.md, section 10.7, shifted away from the origin, because zero vectors are invalid
        ([[0, 0], [4, 0], [0, 3], [4, 3]], [1, 1, 0, 0], [0, 0, 1, 1], 3, 3, 3),
        ([[0], [1], [5], [6]], [1, 1, 1, 0], [1, 0, 0, 1], 1, 2 / 3, 1 / 2),
        ([[-1], [1], [0]], [1, 1, 0], [0, 0, 1], 0, 1, 1),
        ([[0], [2], [3]], [0.75, 0.25, 0], [0.25, 0, 0.75], 1.75, 0.25, 0.75),
    ],
)
def test_bounds_match_worked_examples(points, a, b, wcd, query, document):
    mover = WordMover(np.array(points, dtype=float) + 10)
    X, Y = np.array([a, b], dtype=float), np.array([b], dtype=float)
    assert mover.pairwise(X, Y, metric="wcd")[:, 0] == pytest.approx([wcd, 0], abs=1e-12)
    assert mover.pairwise(X, Y, metric="rwmd-query")[:, 0] == pytest.approx([query, 0])
    assert mover.pairwise(X, Y, metric="rwmd-document")[:, 0] == pytest.approx([document, 0])
    assert mover.pairwise(X, Y, metric="rwmd")[:, 0] == pytest.approx([max(query, document), 0])


def test_many_query_words_are_processed_in_blocks(rng):
    """Use more words than one block of columns and more queries than one table may hold."""
    table = rng.normal(size=(700, 3)).astype(np.float32)
    X = sparse.random_array((600, 700), density=0.02, rng=rng, format="csr")
    X = sparse.csr_array(X + sparse.eye_array(600, 700))
    mover = WordMover(table)
    table = mover._vector_table()
    documents = mover._document_rows(X, "X", table).documents()
    few = mover._document_rows(X[:5], "X", table).documents()
    for side in ("query", "document", "both"):
        usual = _core.relaxed_matrix(table.vectors, documents, few, "euclidean", side, 1 << 28, 1)
        small = _core.relaxed_matrix(table.vectors, documents, few, "euclidean", side, 1, 2)
        assert np.array_equal(usual, small)
        other = {"query": "document", "document": "query"}.get(side, side)
        turned = _core.relaxed_matrix(table.vectors, few, documents, "euclidean", other, 1 << 15, 2)
        assert np.array_equal(usual, turned.T)
    usual = _core.centroid_matrix(table.vectors, documents, few, "euclidean", 1 << 28, 1)
    assert np.array_equal(
        usual, _core.centroid_matrix(table.vectors, documents, few, "euclidean", 1, 2)
    )


@pytest.mark.parametrize("size", [1e-25, 1e-12, 1e12, 1e18])
def test_vectors_of_any_size(size, rng):
    table = rng.normal(size=(20, 3))
    table[:10] *= size
    bags = (rng.random((8, 20)) < 0.2).astype(float)
    bags[np.arange(8), rng.integers(20, size=8)] += 1
    mover = WordMover(table)
    for metric, name in RELAXED.items():
        expected = [[getattr(mover.bounds(x, y), name) for y in bags] for x in bags]
        assert np.array_equal(mover.pairwise(bags, metric=metric), np.array(expected))


def test_texts_tokens_and_weights_are_accepted():
    texts = ["Obama speaks to the media", ["president", "greets", "press"], "a concert in Japan"]
    mover = WordMover(word_weights="sif", unit=True)
    found = mover.pairwise(texts[:1], texts, metric="rwmd")
    assert found.shape == (1, 3)
    assert found[0].argsort().tolist() == [0, 1, 2]
    assert found[0, 2] == mover.bounds(texts[0], texts[2]).relaxed
    assert mover.pairwise(texts, metric="wcd")[1, 2] == mover.bounds(texts[1], texts[2]).centroid


def test_fitted_weights_and_words_without_vectors(rng):
    table = rng.normal(size=(12, 3))
    table[4] = np.nan
    bags = sparse.csr_array(rng.integers(0, 3, (9, 12)) + np.eye(9, 12, dtype=int))
    mover = WordMover(table, word_weights="tfidf").fit(bags)
    expected = [[mover.bounds(bags[[i]], bags[[j]]).source for j in range(9)] for i in range(9)]
    assert np.array_equal(mover.pairwise(bags, bags, metric="rwmd-query"), np.array(expected))


def test_empty_documents_raise_or_are_infinitely_distant():
    vectors = WordVectors(["sun", "moon"], np.eye(2, dtype=np.float32))
    strict, lenient = WordMover(vectors), WordMover(vectors, empty="inf")
    for metric in ("wcd", "rwmd"):
        strict.set_params(metric=metric)
        lenient.set_params(metric=metric)
        with pytest.raises(EmptyDocumentError, match="Document 1 of X"):
            strict.pairwise(["sun", "nothing"])
        with pytest.raises(EmptyDocumentError, match="Document 1 of Y"):
            strict.pairwise(["sun"], ["sun", "nothing"])
        found = lenient.pairwise(["sun", "nothing"], ["moon", "nothing", "sun"])
        inf, far = np.inf, pytest.approx(np.sqrt(2))
        assert found.tolist() == [[far, inf, 0], [inf, inf, inf]]
        found = lenient.pairwise(["sun", "nothing"])
        assert found.tolist() == [[0, inf], [inf, inf]]
        assert lenient.pairwise([]).shape == (0, 0)
        assert lenient.pairwise(["sun"], []).shape == (1, 0)
        assert lenient.pairwise([], ["sun"]).shape == (0, 1)
        assert lenient.pairwise(["nothing"], ["nothing"]).tolist() == [[inf]]


def test_invalid_arguments_raise():
    mover = WordMover(np.eye(3, dtype=np.float32))
    with pytest.raises(ValueError, match=r"metric must be one of 'wmd', 'rwmd', 'rwmd-query'"):
        mover.pairwise(np.eye(3), metric="rwmd-source")
    with pytest.raises(ValueError, match="Y must have 3 columns"):
        mover.pairwise(np.eye(3), np.eye(4), metric="wcd")
    documents = mover._document_rows(np.eye(3), "X", mover._vector_table()).documents()
    smaller = np.eye(2, dtype=np.float32)
    with pytest.raises(ValueError, match="beyond the last row"):
        _core.relaxed_matrix(smaller, documents, documents, "euclidean", "both", 1 << 20, 1)
    with pytest.raises(ValueError, match="beyond the last row"):
        _core.centroid_matrix(smaller, documents, documents, "euclidean", 1 << 20, 1)
