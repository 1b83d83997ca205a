"""Streams of similar pairs yield the pairs of the full matrix without computing it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_reference import EXACT, by_brute_force, movers, random_corpus
from support import interrupted
from textkin import WordMover, WordVectors
from textkin.exceptions import EmptyDocumentError
from textkin.transport import NeighborBlock, PairBlock, _pairs


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_pairs, "_BLOCK", 3)


def pairs_of(blocks):
    blocks = list(blocks)
    assert all(isinstance(block, PairBlock) and len(block) for block in blocks)
    return [
        pair
        for block in blocks
        for pair in zip(
            block.rows.tolist(), block.columns.tolist(), block.distances.tolist(), strict=True
        )
    ]


@given(movers(), st.sampled_from(EXACT), st.integers(0, 20))
@settings(max_examples=40)
def test_pairwise_below_equals_the_matrix(case, algorithm, nth):
    mover, bags, queries = case
    mover.set_params(algorithm=algorithm)
    distances = mover.pairwise(queries, bags)
    finite = np.unique(distances[np.isfinite(distances)])
    threshold = float(finite[nth % len(finite)]) if len(finite) else 1.0
    expected = [
        (row, column, distance)
        for row, (columns, near) in enumerate(by_brute_force(distances, radius=threshold))
        for column, distance in zip(columns.tolist(), near.tolist(), strict=True)
    ]
    assert pairs_of(mover.pairwise_below(queries, threshold, bags)) == expected
    own = by_brute_force(mover.pairwise(bags), radius=threshold)
    words = np.isfinite(mover.pairwise(bags)).any(axis=1)
    assert pairs_of(mover.pairwise_below(bags, threshold)) == [
        (row, column, distance)
        for row, (columns, near) in enumerate(own)
        for column, distance in zip(columns.tolist(), near.tolist(), strict=True)
        if row < column and words[row]
    ]


@given(movers(), st.sampled_from(EXACT), st.sampled_from([1, 3, 20]))
@settings(max_examples=40)
def test_pairwise_neighbors_equals_the_matrix(case, algorithm, k):
    mover, bags, queries = case
    mover.set_params(algorithm=algorithm)
    own = mover.pairwise(bags)
    np.fill_diagonal(own, np.inf)
    for Y, distances in ((bags, mover.pairwise(queries, bags)), (None, own)):
        X = queries if Y is not None else bags
        blocks = list(mover.pairwise_neighbors(X, k, Y))
        assert all(isinstance(block, NeighborBlock) and 0 < len(block) <= 3 for block in blocks)
        np.testing.assert_array_equal(
            np.concatenate([block.rows for block in blocks]), np.arange(len(X))
        )
        indices = np.concatenate([block.indices for block in blocks])
        found = np.concatenate([block.distances for block in blocks])
        counts = np.concatenate([block.counts for block in blocks])
        assert indices.shape == found.shape == (len(X), min(k, len(bags)))
        for row, (expected, near) in enumerate(by_brute_force(distances, k)):
            assert counts[row] == len(expected)
            np.testing.assert_array_equal(indices[row, : counts[row]], expected)
            np.testing.assert_array_equal(found[row, : counts[row]], near)
            assert np.all(indices[row, counts[row] :] == -1)
            assert np.all(np.isinf(found[row, counts[row] :]))


def test_streams_need_no_fit_and_do_not_change_the_fitted_corpus(rng):
    table, bags = random_corpus(rng, 12, 30)
    fresh, fitted = WordMover(table), WordMover(table).fit(bags[:4])
    before = fitted.search(bags, 3).indices
    assert pairs_of(fresh.pairwise_below(bags, 5.0)) == pairs_of(fitted.pairwise_below(bags, 5.0))
    np.testing.assert_array_equal(fitted.search(bags, 3).indices, before)
    many = WordMover(table, n_jobs=4)
    assert pairs_of(fresh.pairwise_below(bags, 5.0)) == pairs_of(many.pairwise_below(bags, 5.0))


def test_texts_can_come_from_an_iterator():
    vectors = WordVectors(["press", "media", "band"], np.array([[1, 1], [1, 2], [5, 5]], "f4"))
    texts = ["press", "band", "press media", "press"]
    pairs = pairs_of(WordMover(vectors).pairwise_below(iter(texts), 0.5))
    assert [(row, column) for row, column, _ in pairs] == [(0, 3), (0, 2), (2, 3)]
    assert list(WordMover(vectors).pairwise_below([], 0.5)) == []
    assert list(WordMover(vectors).pairwise_neighbors([], 2)) == []
    [block] = WordMover(vectors).pairwise_neighbors(["press"], 2)
    assert block.counts.tolist() == [0]
    assert block.indices.tolist() == [[-1]]


def test_k_above_the_number_of_documents_returns_all(rng):
    table, bags = random_corpus(rng, 5, 30)
    mover = WordMover(table)
    expected = [block.indices for block in mover.pairwise_neighbors(bags, 5)]
    for k in (10**11, 2**70, 10**400):
        found = list(mover.pairwise_neighbors(bags, k))
        assert [block.indices.shape for block in found] == [(3, 5), (2, 5)]
        np.testing.assert_array_equal(np.concatenate([block.counts for block in found]), 4)
        for block, indices in zip(found, expected, strict=True):
            np.testing.assert_array_equal(block.indices, indices)
    [among_none] = mover.pairwise_neighbors(bags[:2], 2**70, bags[:0])
    assert among_none.indices.shape == (2, 0)
    assert among_none.counts.tolist() == [0, 0]


RANKINGS = {
    "wcd": lambda bounds: bounds.centroid,
    "rwmd": lambda bounds: bounds.relaxed,
    "rwmd-query": lambda bounds: bounds.source,
    "rwmd-document": lambda bounds: bounds.target,
}


@pytest.mark.parametrize("metric", RANKINGS)
def test_streams_with_a_metric_yield_its_bound(rng, metric):
    table, bags = random_corpus(rng, 8, 30)
    mover = WordMover(table, metric=metric)
    bounds = np.array(
        [[RANKINGS[metric](mover.bounds(one, other)) for other in bags] for one in bags]
    )
    np.fill_diagonal(bounds, np.inf)
    near = np.argsort(bounds, axis=1)[:, :2]
    expected = np.take_along_axis(bounds, near, axis=1)
    blocks = list(mover.pairwise_neighbors(bags, 2))
    np.testing.assert_array_equal(np.concatenate([block.indices for block in blocks]), near)
    distances = np.concatenate([block.distances for block in blocks])
    np.testing.assert_allclose(distances, expected, rtol=1e-5)
    threshold = float(np.median(bounds)) * 1.0001
    found = {
        (row, column): bound
        for row, column, bound in pairs_of(mover.pairwise_below(bags, threshold))
    }
    rows, columns = np.nonzero(np.triu(bounds <= threshold))
    assert set(found) == set(zip(rows.tolist(), columns.tolist(), strict=True))
    for pair, bound in found.items():
        assert bound == pytest.approx(bounds[pair], rel=1e-5)


def test_invalid_arguments_raise_immediately():
    """The call raises an error, not the first iteration."""
    vectors = WordVectors(["press", "media"], np.eye(2, dtype=np.float32))
    mover = WordMover(vectors)
    with pytest.raises(ValueError, match="radius must be a finite number at least 0; got -1"):
        mover.pairwise_below(["press"], -1)
    with pytest.raises(ValueError, match="radius must be"):
        mover.pairwise_below(["press"], np.inf)
    with pytest.raises(ValueError, match="k must be an integer at least 1; got 0"):
        mover.pairwise_neighbors(["press"], 0)
    with pytest.raises(EmptyDocumentError, match="Document 1 of X") as caught:
        mover.pairwise_below(["press", "xyzzy"], 1)
    assert caught.value.rows == (1,)
    with pytest.raises(EmptyDocumentError, match="Document Y cannot be compared"):
        mover.pairwise_neighbors(["press"], 1, ["xyzzy"])
    with pytest.raises(TypeError, match="X must be a list of documents; got one text"):
        mover.pairwise_below("press", 1)
    mover.set_params(empty="inf")
    assert pairs_of(mover.pairwise_below(["press", "xyzzy", "press", ""], 1)) == [(0, 2, 0.0)]


def test_progress_is_reported_and_streams_can_end_early(rng):
    table, bags = random_corpus(rng, 10, 30)
    seen = []
    mover = WordMover(table)

    def record(done, total):
        seen.append((done, total))

    list(mover.pairwise_neighbors(bags, 2, progress=record))
    assert seen[-1] == (10, 10)
    assert seen == sorted(seen)
    seen.clear()
    stream = mover.pairwise_below(bags, 100.0, progress=record)
    assert seen == []
    first = next(stream)
    assert first.rows.max() <= 2
    stream.close()
    assert all(done <= 3 for done, _ in seen)
    assert list(stream) == []


def test_ctrl_c_stops_a_stream(rng):
    table = rng.normal(size=(2000, 50)).astype(np.float32)
    bags = np.zeros((120, 2000))
    for document in bags:
        document[rng.choice(2000, 120, replace=False)] = 1
    mover = WordMover(table, algorithm="brute")
    assert interrupted(lambda: list(mover.pairwise_neighbors(bags, 2)))
