"""Exact transport between token vectors: references, search, edge cases, estimator rules."""

import copy
import pickle

import joblib
import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from search_reference import COSTS, EXACT, assert_same_results, by_brute_force
from textkin import TokenMover, TokenVectors, WordMover
from textkin.corpus import _token_documents
from textkin.exceptions import EmptyDocumentError
from textkin.models import load_estimator
from textkin.transport import reference_costs
from textkin.transport._neighbors import Neighbors

RANKINGS = {"rwmd": "both", "rwmd-query": "query", "rwmd-document": "document"}
MASSES = st.sampled_from(["uniform", "norm"])


@st.composite
def documents(draw, most=8, empty=True):
    """Draw tokens on a small lattice, where many distances are equal, and weights, some 0."""
    dimension = draw(st.integers(2, 4))

    def draw_document():
        size = draw(st.integers(0 if empty else 1, 5))
        rows = draw(arrays(np.float32, (size, dimension), elements=st.sampled_from([-1, 0, 1, 2])))
        rows[~rows.any(axis=1)] = 1
        if draw(st.booleans()):
            return rows
        return TokenVectors(rows, draw(arrays(float, size, elements=st.sampled_from([0, 0.3, 1]))))

    corpus = [draw_document() for _ in range(draw(st.integers(1, most)))]
    return [np.ones((1, dimension)), *corpus], [
        draw_document() for _ in range(draw(st.integers(1, 3)))
    ]


def parts_of(document, mover):
    """Return the points and normalized weights of a document."""
    read = document if isinstance(document, TokenVectors) else TokenVectors(document)
    weights = np.ones(len(read)) if read.weights is None else read.weights.copy()
    norms = np.linalg.norm(read.vectors.astype(float), axis=1)
    if mover.token_weights == "norm":
        weights = weights * norms
    points = read.vectors.astype(float)
    if mover.unit or mover.cost == "cosine":
        points = points / norms[:, np.newaxis]
    heavy = weights > 0
    return points[heavy], weights[heavy] / (weights.sum() or 1)


@given(documents(empty=False), st.sampled_from(COSTS), MASSES, st.booleans())
@settings(max_examples=30)
def test_distances_equal_linear_program(case, cost, masses, unit):
    corpus, queries = case
    mover = TokenMover(cost, token_weights=masses, unit=unit, empty="inf")
    found = mover.pairwise(queries, corpus)
    for i, query in enumerate(queries):
        x, a = parts_of(query, mover)
        for j, document in enumerate(corpus):
            y, b = parts_of(document, mover)
            if not (len(a) and len(b)):
                assert found[i, j] == np.inf
                continue
            costs = reference_costs(x, y, cost)
            expected = ot.emd2(a, b, costs)
            assert found[i, j] == pytest.approx(expected, rel=2e-6, abs=1e-9)
            bounds = mover.bounds(query, document)
            assert bounds.source == pytest.approx(a @ costs.min(axis=1), rel=1e-5, abs=1e-9)
            assert bounds.target == pytest.approx(b @ costs.min(axis=0), rel=1e-5, abs=1e-9)
            assert bounds.relaxed <= found[i, j] * (1 + 1e-6) + 1e-9
            assert bounds.centroid <= found[i, j] * (1 + 1e-6) + 1e-6


@given(documents(), st.sampled_from(COSTS), MASSES, st.sampled_from(EXACT))
@settings(max_examples=40)
def test_search_equals_brute_force_bit_by_bit(case, cost, masses, algorithm):
    corpus, queries = case
    mover = TokenMover(cost, token_weights=masses, empty="inf", algorithm=algorithm).fit(corpus)
    distances = mover.pairwise(queries, corpus)
    for k, radius in ((1, None), (3, None), (None, 1.0), (len(corpus), None)):
        found = mover.search(queries, k, radius=radius)
        limit = np.inf if radius is None else radius
        assert_same_results(found, by_brute_force(distances, k, limit))
    mask = np.arange(len(corpus)) % 2 == 0
    some = mover.search(queries, 2, mask=mask)
    assert_same_results(some, by_brute_force(distances, 2, allowed=mask))
    for query in range(len(queries)):
        proof = mover.search(queries, 2).certificate(query)
        assert proof.verify(sample=None).exact
    threads = clone(mover).set_params(n_jobs=3).fit(corpus)
    assert_same_results(threads.search(queries, 3), by_brute_force(distances, 3))
    np.testing.assert_array_equal(threads.pairwise(queries, corpus), distances)


@given(documents(), st.sampled_from(COSTS), st.sampled_from([*RANKINGS, "wcd"]))
@settings(max_examples=30)
def test_rankings_by_a_bound_are_sorted_bounds(case, cost, metric):
    corpus, queries = case
    mover = TokenMover(cost, empty="inf").fit(corpus)
    bounds = mover.pairwise(queries, corpus, metric=metric)
    found = mover.search(queries, len(corpus), metric=metric)
    assert_same_results(found, by_brute_force(bounds))
    assert np.all(bounds <= mover.pairwise(queries, corpus) * (1 + 1e-6) + 1e-6)
    for query in range(len(queries)):
        assert not found.certificate(query).verify(sample=None).exact


@given(documents(), st.sampled_from(COSTS), MASSES)
@settings(max_examples=25)
def test_single_pairs_equal_a_batch(case, cost, masses):
    corpus, queries = case
    mover = TokenMover(cost, token_weights=masses, empty="inf")
    together = mover.pairwise(queries, corpus)
    alone = [[mover.distance(query, document) for document in corpus] for query in queries]
    np.testing.assert_array_equal(together, alone)
    row = mover.paired(queries[:1] * len(corpus), corpus)
    np.testing.assert_array_equal(row, together[0])
    turned = [[mover.distance(document, query) for document in corpus] for query in queries]
    np.testing.assert_allclose(turned, together, rtol=1e-6, atol=1e-12)
    own = mover.pairwise(corpus)
    np.testing.assert_array_equal(own, own.T)
    there = np.isfinite(own[0])
    np.testing.assert_array_equal(own[there, there], 0)
    np.testing.assert_allclose(mover.pairwise(corpus, corpus), own, rtol=1e-6, atol=1e-12)


def test_word_vectors_as_tokens_equal_word_mover(rng):
    """A word is one point for any count; as tokens, it is several points at one position."""
    table = rng.normal(size=(30, 6)).astype(np.float32)
    bags = rng.integers(0, 3, size=(12, 30))
    bags[:, 0] += 1
    tokens = [table[np.repeat(np.arange(30), bag)] for bag in bags]
    for cost in COSTS:
        words = WordMover(table, cost=cost).pairwise(bags.astype(float))
        assert TokenMover(cost).pairwise(tokens) == pytest.approx(words, rel=1e-6, abs=1e-12)


def test_explain_names_tokens_and_is_verified(rng):
    a = TokenVectors(rng.normal(size=(3, 5)), [1, 0, 2], ["the", "old", "dog"])
    b = rng.normal(size=(4, 5))
    for cost in COSTS:
        mover = TokenMover(cost)
        found = mover.explain(a, b)
        assert found.distance == mover.distance(a, b)
        assert found.verify().gap <= found.verify().allowed
        assert dict(found.flow.sources) == pytest.approx({"the": 1 / 3, "dog": 2 / 3})
        assert [name for name, _ in found.flow.targets] == ["#0", "#1", "#2", "#3"]
        assert sum(move.contribution for move in found.moves) == pytest.approx(found.distance)
        assert found.bounds == mover.bounds(a, b)
        assert "old" not in found.to_text()
        assert found.to_html().startswith("<!DOCTYPE html>")
    same = mover.explain(a, a)
    assert same.distance == 0
    assert {(move.source, move.target) for move in same.moves} == {("the", "the"), ("dog", "dog")}


def test_norm_weights_equal_word_rotators_distance():
    a, b = [[3, 0], [0, 1]], [[1, 0]]
    assert TokenMover(token_weights="norm").distance(a, b) == pytest.approx(0.25)
    assert TokenMover().distance(a, b) == pytest.approx(0.5)


# ---------------------------------------------------------------- edge cases


def test_empty_documents_are_not_found():
    corpus = [[[1.0, 0]], [], TokenVectors([[0, 1]], [0]), np.empty((0, 2)), [[0, 1.0]]]
    mover = TokenMover("euclidean").fit(corpus)
    found = mover.search([[[0, 2.0]], []], k=9)
    assert found[0].indices.tolist() == [4, 0]
    assert found.counts.tolist() == [2, 0]
    assert found.stats.empty.tolist() == [3, 3]
    for call in (
        lambda: mover.pairwise(corpus),
        lambda: mover.pairwise([corpus[0]] * 2, corpus),
        lambda: mover.pairwise(corpus, metric="rwmd"),
    ):
        with pytest.raises(EmptyDocumentError, match=r"Document 1 and 2 more of [XY].*no tokens"):
            call()
    with pytest.raises(EmptyDocumentError, match=r"Document a cannot be compared.*empty='inf'"):
        mover.distance([], corpus[0])
    with pytest.raises(EmptyDocumentError, match="Document b cannot be compared"):
        TokenMover(empty="inf").explain(corpus[0], [])
    infinite = TokenMover(empty="inf").pairwise(corpus)
    assert np.isfinite(infinite).sum() == 4
    assert TokenMover(empty="inf").pairwise([[]], [[], []]).tolist() == [[np.inf, np.inf]]
    with pytest.raises(ValueError, match="at least one token"):
        mover.fit([[], []])
    with pytest.raises(ValueError, match="at least one document"):
        mover.fit([])
    assert mover.n_documents_ == 5


def test_vectors_of_any_size():
    for size in (1e-18, 1.0, 1e18):
        a, b = np.array([[3, 4], [0, 1]]) * size, np.array([[0, 1], [1, 0]]) * size
        assert TokenMover("euclidean").distance(a, b) == pytest.approx(size * 20**0.5 / 2)
        assert TokenMover("cosine").distance(a, b) == pytest.approx(0.2, rel=1e-5)
        found = TokenMover("euclidean").fit([b, a]).search([a], k=1)
        assert found.indices.tolist() == [[1]]


@pytest.mark.parametrize(
    ("given_as", "error", "message"),
    [
        (
            np.ones((2, 3)),
            TypeError,
            "X must be a list of documents; got one document. Pass a list",
        ),
        (TokenVectors([[1, 2]]), TypeError, "X must be a list of documents; got one"),
        ("a text", TypeError, "X must be a list of arrays of token vectors.*got str"),
        (["a text"], TypeError, "Document 0 of X must be an array of token vectors.*got str"),
        (3, TypeError, "got int"),
        ({0: [[1, 2]]}, TypeError, "got dict"),
        ([[[1, 2]], [[1, 2, 3]]], ValueError, "2 numbers; document 1 has"),
        ([[[1, 2]], [1, 2]], ValueError, r"Document 1 of X: vectors must have shape"),
        ([[[1, 2]], [[0, 0]]], ValueError, "Document 1 of X: vectors must not be zero"),
        ([[[1, np.nan]]], ValueError, "Document 0 of X: vectors must be finite"),
    ],
)
def test_invalid_documents_raise(given_as, error, message):
    for call in (lambda X: TokenMover().fit(X), lambda X: TokenMover().pairwise(X)):
        with pytest.raises(error, match=message):
            call(given_as)


def test_inconsistent_dimensions_raise():
    mover = TokenMover().fit([[[1, 2]]])
    with pytest.raises(ValueError, match="queries must have vectors of 2 numbers"):
        mover.search([[[1, 2, 3]]])
    with pytest.raises(ValueError, match="Y must have vectors of 2 numbers"):
        mover.pairwise([[[1, 2]]], [[[1, 2, 3]]])
    with pytest.raises(ValueError, match="same number of documents; got 1 and 2"):
        mover.paired([[[1, 2]]], [[[1, 2]]] * 2)
    for wrong in ({"cost": "manhattan"}, {"token_weights": "idf"}, {"unit": 2}, {"empty": "nan"}):
        [name] = wrong
        with pytest.raises(ValueError, match=f"{name} must be one of"):
            TokenMover(**wrong).distance([[1, 2]], [[1, 2]])
    for wrong in (
        {"k": 0},
        {"radius": -1},
        {"algorithm": "tree"},
        {"mask": [5]},
        {"max_candidates": 3},
    ):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} "):
            mover.search([[[1, 2]]], **wrong)


def test_too_many_tokens_raise_before_allocation(monkeypatch):
    monkeypatch.setattr(_token_documents, "physical_memory", lambda: 1000)
    mover = TokenMover().fit([np.ones((25, 10))])
    with pytest.raises(
        MemoryError, match=r"26 tokens of 10 numbers require .*Pass fewer documents"
    ):
        mover.fit([np.ones((26, 10))])
    with pytest.raises(MemoryError, match="50 tokens of 10 numbers"):
        mover.distance(np.ones((25, 10)), np.ones((25, 10)))
    assert len(mover.vectors_) == 25
    monkeypatch.setattr(_token_documents, "_MOST_TOKENS", 30)
    with pytest.raises(ValueError, match="at most 30; got 35"):
        mover.search([np.ones((10, 10))])


# ---------------------------------------------------------------- estimator rules


def test_single_document_is_one_query():
    mover = TokenMover().fit([[[1, 0]], [[0, 1]]])
    for query in (np.array([[0, 3.0]]), TokenVectors([[0, 3]]), [[[0, 3]]]):
        found = mover.search(query, k=1)
        assert isinstance(found, Neighbors)
        assert found.indices.tolist() == [[1]]
    assert len(mover.search([])) == 0
    assert mover.search(np.ones((4, 2, 2))).indices.shape == (4, 2)


def test_unfitted_or_changed_mover_raises():
    mover = TokenMover()
    for call in (mover.search, mover.search_max_sim):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call([[[1, 2]]])
    with pytest.raises(NotFittedError):
        mover.save("nowhere")
    mover.fit([[[1, 2]]])
    with pytest.raises(ValueError, match="read-only"):
        mover.vectors_[0] = 0
    for change in ({"cost": "euclidean"}, {"token_weights": "norm"}, {"unit": True}):
        changed = copy.deepcopy(mover).set_params(**change)
        with pytest.raises(NotFittedError, match="has changed since fit"):
            changed.search([[[1, 2]]])
        assert changed.fit([[[1, 2]]]).search([[[1, 2]]]).counts.tolist() == [1]


def test_copies_search_like_the_original(rng, tmp_path):
    corpus = [rng.normal(size=(rng.integers(1, 6), 4)) for _ in range(20)]
    queries = corpus[:3]
    mover = TokenMover("euclidean", token_weights="norm", n_jobs=2).fit(corpus)
    expected = mover.search(queries, 5)
    mover.save(tmp_path / "mover")
    joblib.dump(mover, tmp_path / "mover.joblib")
    others = (
        pickle.loads(pickle.dumps(mover)),
        copy.deepcopy(mover),
        joblib.load(tmp_path / "mover.joblib"),
        load_estimator(tmp_path / "mover"),
        TokenMover.load(tmp_path / "mover"),
        clone(mover).fit(corpus),
        mover.fit(corpus[::-1]).fit(corpus),
    )
    for other in others:
        found = other.search(queries, 5)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)
        assert other.get_params() == mover.get_params()
    expected.certificate(0).verify()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("offsets_", np.array([0, 3, 2, 4])),
        ("offsets_", np.array([0, 1, 2, 9])),
        ("weights_", np.array([1, 1, -1.0, 1])),
        ("vectors_", np.ones((4, 2), np.float32)),
        ("vectors_", np.full((4, 2), np.nan, np.float32)),
        ("fitted_with_", "cosine"),
        ("n_documents_", 4),
        ("n_documents_", 3.0),
        ("memory", "much"),
        ("n_jobs", 1.5),
    ],
)
def test_loading_an_inconsistent_mover_raises(tmp_path, name, value):
    mover = TokenMover().fit([[[1, 2]], [[2, 1]], [[1, 0], [0, 1]]])
    setattr(mover, name, value)
    mover.save(tmp_path / "mover")
    with pytest.raises(ValueError, match="is invalid"):
        TokenMover.load(tmp_path / "mover")


def test_failed_fit_leaves_the_mover_unchanged():
    mover = TokenMover().fit([[[1, 0]], [[0, 1]]])
    for wrong in ([[[1, 2]], [[0, 0]]], [[[1, 2, 3]], [[1, 2]]], 5):
        with pytest.raises((TypeError, ValueError)):
            mover.fit(wrong)
    assert mover.search([[[0, 2]]], k=1).indices.tolist() == [[1]]


def test_progress_is_reported():
    seen = []
    corpus = [np.eye(3)[:n] for n in (1, 2, 3)]
    TokenMover().fit(corpus).search(corpus, progress=lambda done, total: seen.append((done, total)))
    TokenMover().pairwise(corpus, progress=lambda done, total: seen.append((done, total)))
    assert seen
    assert all(done <= total for done, total in seen)
