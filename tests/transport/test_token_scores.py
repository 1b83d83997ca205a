"""MaxSim, BERTScore, and MoverScore compared with their formulas and with transport."""

from functools import partial

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin import TokenMover, TokenVectors
from textkin.exceptions import EmptyDocumentError
from textkin.transport import bert_score, max_sim
from textkin.weighting import TokenIdf

COUNTS = st.lists(st.integers(1, 6), min_size=1, max_size=4)


def documents_of(counts, rng, dimension=5, weighed=False):
    return [
        TokenVectors(
            rng.normal(size=(count, dimension)),
            rng.integers(1, 4, count) * 0.5 if weighed else None,
        )
        for count in counts
    ]


def unit(document):
    vectors = document.vectors.astype(np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def weights_of(document):
    return np.ones(len(document)) if document.weights is None else document.weights


def reference_max_sim(queries, documents, vectors_of=unit):
    """Compute MaxSim with NumPy, one pair at a time."""
    return np.array(
        [
            [weights_of(q) @ (vectors_of(q) @ vectors_of(d).T).max(axis=1) for d in documents]
            for q in queries
        ]
    )


@given(COUNTS, COUNTS, st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_max_sim_equals_reference(first, second, weighed, seed):
    rng = np.random.default_rng(seed)
    queries = documents_of(first, rng, weighed=weighed)
    documents = documents_of(second, rng, weighed=weighed)
    expected = reference_max_sim(queries, documents)
    found = max_sim(queries, documents)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * sum(first))
    np.testing.assert_array_equal(max_sim(queries, documents, n_jobs=2), found)
    raw = reference_max_sim(queries, documents, lambda d: d.vectors.astype(np.float64))
    np.testing.assert_allclose(max_sim(queries, documents, unit=False), raw, rtol=1e-9, atol=1e-9)
    for i, query in enumerate(queries):
        for j, one in enumerate(documents):
            assert max_sim([query], [one])[0, 0] == found[i, j]
            one_sided = TokenMover().bounds(query, one).source
            assert found[i, j] == weights_of(query).sum() * (1 - one_sided)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), COUNTS, st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_max_sim_search_is_sorted_max_sim(counts, asked, seed):
    rng = np.random.default_rng(seed)
    corpus, queries = documents_of(counts, rng), documents_of(asked, rng, weighed=True)
    alive = np.flatnonzero(counts)
    if not alive.size:
        return
    mover = TokenMover(empty="inf").fit(corpus)
    found = mover.search_max_sim(queries, k=len(corpus))
    indices, scores = found.indices, found.scores
    assert not found.ascending
    truth = reference_max_sim(queries, [corpus[i] for i in alive])
    for row, expected in enumerate(truth):
        order = np.argsort(-expected, kind="stable")
        np.testing.assert_array_equal(indices[row], [*alive[order], *[-1] * counts.count(0)])
        np.testing.assert_allclose(scores[row, : len(alive)], expected[order], rtol=0, atol=1e-5)
        assert np.all(scores[row, len(alive) :] == -np.inf)
    exact = max_sim(queries, [corpus[i] for i in alive])
    np.testing.assert_array_equal(scores[:, : len(alive)], -np.sort(-exact, axis=1))


def test_max_sim_search_with_masks_ties_and_limits():
    mover = TokenMover().fit([[[1, 0]], [[0, 1]], [[2, 0]], [[-1, 0]]])
    found = mover.search_max_sim([[3, 0]] * np.ones((1, 1)), k=9)
    assert found.indices.tolist() == [[0, 2, 1, 3]]
    np.testing.assert_allclose(found.scores, [[1, 1, 0, -1]], atol=1e-6)
    scores, indices = found[0]
    np.testing.assert_array_equal(found[0].scores, scores)
    assert indices.tolist() == [0, 2, 1, 3]
    record = {"query": 0, "rank": 1, "index": 2, "score": pytest.approx(1, abs=1e-6)}
    assert found.to_records()[1] == record
    assert "0 (1), 2 (1), 1 (0), 3 (-1)" in repr(found)
    with pytest.raises(AttributeError, match="requires a search by distance; use `scores`"):
        found.distances  # noqa: B018
    with pytest.raises(ValueError, match="A certificate requires a search by distance"):
        found.certificate(0)
    masked = mover.search_max_sim([[[1, 0]], []], k=2, mask=[1, 2])
    assert masked.indices.tolist() == [[2, 1], [-1, -1]]
    assert masked.scores[1].tolist() == [-np.inf, -np.inf]
    for parameters in ({"cost": "euclidean"}, {"token_weights": "norm"}):
        other = TokenMover(**parameters).fit([[[1, 0]]])
        with pytest.raises(ValueError, match="requires cost='cosine' and token_weights='uniform'"):
            other.search_max_sim([[[1, 0]]])
    with pytest.raises(TypeError, match="k must be"):
        mover.search_max_sim([[[1, 0]]], k=None)


def test_bertscore_matches_worked_example():
    """Cosines of three reference tokens with two candidate tokens: 1, 0.6; 0.8, 0; 0, 1."""
    candidate = TokenVectors([[1, 0, 0], [0, 0, 2]])
    reference = TokenVectors([[5, 0, 0], [0.8, 0.6, 0], [0, 0.6, 0.8]], [1, 2, 1])
    found = bert_score([candidate], [reference])
    np.testing.assert_allclose(found.precision, [(1 + 0.8) / 2], atol=1e-6)
    np.testing.assert_allclose(found.recall, [(1 + 2 * 0.8 + 0.8) / 4], atol=1e-6)
    np.testing.assert_allclose(found.f1, [2 * 0.9 * 0.85 / 1.75], atol=1e-6)
    scaled = bert_score([candidate], [reference], baseline=0.5)
    np.testing.assert_allclose(scaled.precision, [0.8], atol=1e-6)
    three = bert_score([candidate], [reference], baseline=(0.0, 0.5, -1.0))
    np.testing.assert_allclose(three.recall, [0.7], atol=1e-6)
    np.testing.assert_allclose(three.f1, (found.f1 + 1) / 2)
    assert len(found) == 1


@given(COUNTS, st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_bertscore_equals_relaxed_transport(counts, weighed, seed):
    rng = np.random.default_rng(seed)
    candidates = documents_of(counts, rng, weighed=weighed)
    references = documents_of(counts[::-1], rng, weighed=weighed)
    found = bert_score(candidates, references)
    mover = TokenMover()
    for i, (x, y) in enumerate(zip(candidates, references, strict=True)):
        cosines = unit(x) @ unit(y).T
        precision = np.average(cosines.max(axis=1), weights=x.weights)
        recall = np.average(cosines.max(axis=0), weights=y.weights)
        np.testing.assert_allclose(found.precision[i], precision, atol=1e-6)
        np.testing.assert_allclose(found.recall[i], recall, atol=1e-6)
        p, r = found.precision[i], found.recall[i]
        np.testing.assert_allclose(found.f1[i], 2 * p * r / (p + r), rtol=1e-12)
        bounds = mover.bounds(x, y)
        assert (1 - p, 1 - r) == pytest.approx((bounds.source, bounds.target), abs=1e-15)
        assert 1 - min(p, r) <= mover.distance(x, y) * (1 + 1e-6) + 1e-12
        alone = bert_score([x], [y])
        assert (alone.precision[0], alone.recall[0], alone.f1[0]) == (p, r, found.f1[i])


def test_f1_of_bertscore_is_zero_if_precision_and_recall_are_zero():
    found = bert_score([[[1, 0]]], [[[0, 1]]])
    assert found.f1.tolist() == [0.0]


def test_moverscore_equals_transport_of_ngrams_with_idf_weights(rng):
    """Compare with POT on n-gram vectors that are sums with IDF weights, as in the paper."""
    texts = [["a", "b", "c", "d"], ["b", "e", "a"], ["f"], ["c", "c", "g", "h"]]
    corpus = [TokenVectors(rng.normal(size=(len(t), 6)), tokens=t) for t in texts]
    weighed = TokenIdf().fit(corpus).transform(corpus)
    mover = TokenMover("euclidean", unit=True)
    found = mover.paired(
        [each.ngrams(2) for each in weighed[:2]], [each.ngrams(2) for each in weighed[2:]]
    )
    for row, pair in enumerate(zip(weighed[:2], weighed[2:], strict=True)):
        masses, points = [], []
        for each in pair:
            n = min(2, len(each))
            runs = range(len(each) - n + 1)
            mass = np.array([each.weights[i : i + n].sum() for i in runs])
            sums = np.array([each.weights[i : i + n] @ each.vectors[i : i + n] for i in runs])
            masses.append(mass / mass.sum())
            points.append(sums / np.linalg.norm(sums, axis=1, keepdims=True))
        expected = ot.emd2(*masses, ot.dist(*points, metric="euclidean"))
        assert found[row] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: max_sim([d, []], [d]), EmptyDocumentError, "Document 1 of X"),
        (lambda d: max_sim([d], [d, []]), EmptyDocumentError, "Document 1 of Y"),
        (lambda d: max_sim([TokenVectors(d, [0])]), EmptyDocumentError, "positive weight"),
        (lambda d: max_sim([d], unit="no"), ValueError, "unit must be"),
        (lambda d: max_sim(d), TypeError, "X must be a list of documents"),
        (lambda d: max_sim([d], [np.ones((1, 3))]), ValueError, "Y must have vectors of 2 numbers"),
        (
            lambda d: max_sim([TokenVectors(d, [1e300])], [d * 1e30], unit=False),
            ValueError,
            "MaxSim of query 0 and document 0 must be finite",
        ),
        (lambda d: bert_score([d], [[]]), EmptyDocumentError, "Document 0 of references"),
        (lambda d: bert_score([d], [d, d]), ValueError, "same number of documents; got 1 and 2"),
        (lambda d: bert_score([d], [d], baseline=1), ValueError, "baseline must be below 1"),
        (
            lambda d: bert_score([d], [d], baseline=(0, 0)),
            ValueError,
            "a tuple of three numbers; got 2",
        ),
        (lambda d: bert_score([d], [d], baseline="no"), TypeError, "baseline must be a finite"),
    ],
)
def test_invalid_input_raises(call, error, message):
    with pytest.raises(error, match=message):
        call(np.array([[1.0, 2.0]]))


def test_tokens_without_weight_are_ignored():
    heavy, light = TokenVectors([[1, 0]]), TokenVectors([[0, 1], [1, 0]], [0, 1])
    query = TokenVectors([[0, 1]])
    for raw in (True, False):
        assert max_sim([query], [light], unit=raw)[0, 0] == pytest.approx(0, abs=1e-6)
        assert max_sim([light], [heavy], unit=raw)[0, 0] == pytest.approx(1, abs=1e-6)
    assert bert_score([query], [light]).precision[0] == pytest.approx(0, abs=1e-6)


def test_no_queries_or_documents_give_empty_results():
    assert max_sim([], [[[1, 2]]]).shape == (0, 1)
    assert max_sim([[[1, 2]]], []).shape == (1, 0)
    assert max_sim([], unit=False).shape == (0, 0)
    assert len(bert_score([], [])) == 0


def record(seen, *done):
    seen.append(done)


def test_progress_of_scores_is_reported(rng):
    documents = [rng.normal(size=(rng.integers(1, 5), 3)) for _ in range(130)]
    for unit in (True, False):
        seen = []
        report = partial(record, seen)
        found = max_sim(documents, documents[:5], unit=unit, progress=report)
        np.testing.assert_array_equal(found, max_sim(documents, documents[:5], unit=unit))
        assert seen[-1] == (130, 130)
        assert len(seen) > 2
    seen = []
    bert_score(documents, documents, progress=partial(record, seen))
    assert seen == [(done, 130) for done in range(1, 131)]
