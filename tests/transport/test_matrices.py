"""Centroid and relaxed distances of many documents at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from textkin import WordVectors, _core
from textkin.exceptions import EmptyDocumentError
from textkin.transport import WordMover, reference_costs

COSTS = ["euclidean", "cosine", "sqeuclidean"]
SIDES = {"query": "source", "document": "target", "both": "relaxed"}


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request):
    usual = _core.instruction_set()
    _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(usual)


@st.composite
def collections(draw):
    """Vectors, some at the same place or nearly, and two collections: counts and weights."""
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


def oracle(table, X, Y, cost):
    """Return centroid, query and document side of all pairs, in float64 and plain NumPy."""
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
def test_they_are_what_plain_numpy_gives(cost, collection):
    table, X, Y = collection
    centroid, query, document = oracle(table, X, Y, cost)
    mover = WordMover(table, cost=cost)
    largest = max(query.max(), document.max())
    # squares of centroids that coincide come out as rounding leaves them
    np.testing.assert_allclose(mover.wcd(X, Y), centroid, rtol=1e-9, atol=1e-12 * (1 + largest))
    close = {"rtol": 1.3e-6, "atol": 1e-12}
    np.testing.assert_allclose(mover.rwmd(X, Y, side="query"), query, **close)
    np.testing.assert_allclose(mover.rwmd(X, Y, side="document"), document, **close)
    np.testing.assert_allclose(mover.rwmd(X, Y), np.maximum(query, document), **close)


@pytest.mark.parametrize("cost", COSTS)
def test_they_are_the_bounds_of_each_pair_to_the_last_bit(cost, instruction_set):
    @given(collections(), st.sampled_from([None, 3]))
    @settings(max_examples=10)
    def check(collection, n_jobs):
        table, X, Y = collection
        X, Y = X[:18], Y[:6]
        mover = WordMover(table, cost=cost, n_jobs=n_jobs)
        for other in (X, Y):
            pairs = [[mover.bounds(x, y) for y in other] for x in X]
            expected = np.array([[pair.centroid for pair in row] for row in pairs])
            assert np.array_equal(mover.wcd(X, other), expected)
            for side, name in SIDES.items():
                expected = np.array([[getattr(pair, name) for pair in row] for row in pairs])
                assert np.array_equal(mover.rwmd(X, other, side=side), expected), side
        for side in SIDES:  # half of the work
            assert np.array_equal(mover.rwmd(X, side=side), mover.rwmd(X, X, side=side))
        assert np.array_equal(mover.wcd(X), mover.wcd(X, X))

    check()


@pytest.mark.parametrize("cost", COSTS)
def test_none_exceeds_the_distance(cost, rng):
    table = rng.normal(size=(30, 4))
    bags = (rng.random((12, 30)) < 0.2) * rng.integers(1, 4, (12, 30))
    bags[:, 0] += 1
    mover = WordMover(table, cost=cost)
    distances = mover.pairwise(bags) * (1 + 2e-6) + 1e-12
    assert np.all(mover.wcd(bags) <= distances)
    assert np.all(mover.rwmd(bags) <= distances)


@pytest.mark.parametrize(
    ("points", "a", "b", "wcd", "query", "document"),
    [  # METHODS 10.7, moved away from the origin, which is no word's place
        ([[0, 0], [4, 0], [0, 3], [4, 3]], [1, 1, 0, 0], [0, 0, 1, 1], 3, 3, 3),
        ([[0], [1], [5], [6]], [1, 1, 1, 0], [1, 0, 0, 1], 1, 2 / 3, 1 / 2),
        ([[-1], [1], [0]], [1, 1, 0], [0, 0, 1], 0, 1, 1),
        ([[0], [2], [3]], [0.75, 0.25, 0], [0.25, 0, 0.75], 1.75, 0.25, 0.75),
    ],
)
def test_the_examples_of_the_reference(points, a, b, wcd, query, document):
    mover = WordMover(np.array(points, dtype=float) + 10)
    X, Y = np.array([a, b], dtype=float), np.array([b], dtype=float)
    assert mover.wcd(X, Y)[:, 0] == pytest.approx([wcd, 0], abs=1e-12)
    assert mover.rwmd(X, Y, side="query")[:, 0] == pytest.approx([query, 0])
    assert mover.rwmd(X, Y, side="document")[:, 0] == pytest.approx([document, 0])
    assert mover.rwmd(X, Y)[:, 0] == pytest.approx([max(query, document), 0])


def test_many_query_words_are_taken_block_by_block(rng):
    """More words than one block of columns and more queries than one table may hold."""
    table = rng.normal(size=(700, 3)).astype(np.float32)
    X = sparse.random_array((600, 700), density=0.02, rng=rng, format="csr")
    X = sparse.csr_array(X + sparse.eye_array(600, 700))
    mover = WordMover(table)
    space = mover._space()
    documents = mover._encode(X, "X", space).documents()
    few = mover._encode(X[:5], "X", space).documents()
    for side in SIDES:
        usual = _core.relaxed_matrix(space.table, documents, few, "euclidean", side, 1 << 28, 1)
        small = _core.relaxed_matrix(space.table, documents, few, "euclidean", side, 1, 2)
        assert np.array_equal(usual, small)
        other = {"query": "document", "document": "query"}.get(side, side)
        turned = _core.relaxed_matrix(space.table, few, documents, "euclidean", other, 1 << 15, 2)
        assert np.array_equal(usual, turned.T)
    usual = _core.centroid_matrix(space.table, documents, few, "euclidean", 1 << 28, 1)
    assert np.array_equal(
        usual, _core.centroid_matrix(space.table, documents, few, "euclidean", 1, 2)
    )


@pytest.mark.parametrize("size", [1e-25, 1e-12, 1e12, 1e18])
def test_vectors_of_any_size(size, rng):
    table = rng.normal(size=(20, 3))
    table[:10] *= size
    bags = (rng.random((8, 20)) < 0.2).astype(float)
    bags[np.arange(8), rng.integers(20, size=8)] += 1
    mover = WordMover(table)
    for side, name in SIDES.items():
        expected = [[getattr(mover.bounds(x, y), name) for y in bags] for x in bags]
        assert np.array_equal(mover.rwmd(bags, side=side), np.array(expected))


def test_texts_tokens_and_weights():
    texts = ["Obama speaks to the media", ["president", "greets", "press"], "a concert in Japan"]
    mover = WordMover(masses="sif", unit=True)
    found = mover.rwmd(texts[:1], texts)
    assert found.shape == (1, 3)
    assert found[0].argsort().tolist() == [0, 1, 2]
    assert found[0, 2] == mover.bounds(texts[0], texts[2]).relaxed
    assert mover.wcd(texts)[1, 2] == mover.bounds(texts[1], texts[2]).centroid


def test_learnt_masses_and_words_without_vectors(rng):
    table = rng.normal(size=(12, 3))
    table[4] = np.nan
    bags = sparse.csr_array(rng.integers(0, 3, (9, 12)) + np.eye(9, 12, dtype=int))
    mover = WordMover(table, masses="tfidf").fit(bags)
    expected = [[mover.bounds(bags[[i]], bags[[j]]).source for j in range(9)] for i in range(9)]
    assert np.array_equal(mover.rwmd(bags, bags, side="query"), np.array(expected))


def test_empty_documents():
    vectors = WordVectors(["sun", "moon"], np.eye(2, dtype=np.float32))
    strict, lenient = WordMover(vectors), WordMover(vectors, empty="inf")
    for measure in ("wcd", "rwmd"):
        with pytest.raises(EmptyDocumentError, match="Document 1 of X"):
            getattr(strict, measure)(["sun", "nothing"])
        with pytest.raises(EmptyDocumentError, match="Document 1 of Y"):
            getattr(strict, measure)(["sun"], ["sun", "nothing"])
        found = getattr(lenient, measure)(["sun", "nothing"], ["moon", "nothing", "sun"])
        inf, far = np.inf, pytest.approx(np.sqrt(2))
        assert found.tolist() == [[far, inf, 0], [inf, inf, inf]]
        found = getattr(lenient, measure)(["sun", "nothing"])
        assert found.tolist() == [[0, inf], [inf, inf]]
        assert getattr(lenient, measure)([]).shape == (0, 0)
        assert getattr(lenient, measure)(["sun"], []).shape == (1, 0)
        assert getattr(lenient, measure)([], ["sun"]).shape == (0, 1)
        assert getattr(lenient, measure)(["nothing"], ["nothing"]).tolist() == [[inf]]


def test_what_is_wrong_is_said():
    mover = WordMover(np.eye(3, dtype=np.float32))
    with pytest.raises(ValueError, match=r"side must be one of 'both', 'query', 'document'"):
        mover.rwmd(np.eye(3), side="source")
    with pytest.raises(ValueError, match="Y must have 3 columns"):
        mover.wcd(np.eye(3), np.eye(4))
    documents = mover._encode(np.eye(3), "X", mover._space()).documents()
    smaller = np.eye(2, dtype=np.float32)
    with pytest.raises(ValueError, match="beyond the last row"):
        _core.relaxed_matrix(smaller, documents, documents, "euclidean", "both", 1 << 20, 1)
    with pytest.raises(ValueError, match="beyond the last row"):
        _core.centroid_matrix(smaller, documents, documents, "euclidean", 1 << 20, 1)
