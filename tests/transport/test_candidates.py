"""Exact distances of candidates with given lower bounds, computed by the core."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_reference import by_brute_force, movers, random_corpus
from textkin import WordMover
from textkin.transport import SearchOptions


def core_and_queries(mover, queries):
    """Return the core search of a mover, and queries as the core reads them."""
    return mover.engine().core, mover.read_queries(queries).documents()


@given(case=movers(), k=st.sampled_from([1, 3, None]), data=st.data())
@settings(max_examples=60, deadline=None)
def test_best_candidates_equal_brute_force(case, k, data):
    """Return all nonempty documents as candidates, with any lower bounds of their distances."""
    mover, bags, queries = case
    distances = mover.pairwise(queries, bags)
    loose = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    numbers, rows, bounds, starts = [], [], [], [0]
    for q, row in enumerate(distances):
        there = np.flatnonzero(np.isfinite(row))
        if not len(there):
            continue
        order = there[np.argsort(row[there], kind="stable")]
        numbers.append(q)
        rows.extend(order)
        bounds.extend(row[order] * loose)
        starts.append(len(rows))
    blocks, documents = core_and_queries(mover, queries)
    limits = np.full(len(numbers), data.draw(st.sampled_from([np.inf, 1.0])))
    found = blocks.solve(
        documents,
        np.array(numbers, dtype=np.int64),
        np.array(starts, dtype=np.int64),
        np.array(rows, dtype=np.int64),
        np.array(bounds, dtype=np.float64),
        limits,
        SearchOptions(k=k, threads=data.draw(st.sampled_from([1, 2, 5]))),
    )
    expected = by_brute_force(distances[numbers], k, limits[0] if len(limits) else np.inf)
    for i, (indices, values) in enumerate(expected):
        part = slice(found[0][i], found[0][i + 1])
        np.testing.assert_array_equal(found[1][part], indices)
        np.testing.assert_array_equal(found[2][part], values)
        assert found[3][i] >= len(indices)


def test_candidates_beyond_the_limit_are_not_compared():
    table, bags = random_corpus(np.random.default_rng(1), 30, 20)
    mover = WordMover(table).fit(bags)
    distances = mover.pairwise(bags[:1], bags)[0]
    order = np.argsort(distances, kind="stable").astype(np.int64)
    blocks, documents = core_and_queries(mover, bags[:1])
    first, ends = np.zeros(1, np.int64), np.array([0, 30])
    tight = blocks.solve(
        documents, first, ends, order, distances[order], np.full(1, np.inf), SearchOptions(k=3)
    )
    assert tight[3] == [3]
    none = blocks.solve(
        documents, first, ends, order, distances[order] + 1, np.full(1, 0.5), SearchOptions(k=3)
    )
    assert none[3] == [0]
    assert none[0].tolist() == [0, 0]


@pytest.mark.parametrize("cost", ["euclidean", "cosine", "sqeuclidean"])
@pytest.mark.parametrize("threads", [1, 3])
def test_long_candidates_are_excluded_by_tighter_bounds(cost, threads):
    """The core's own bounds exclude them, even if the given bounds are loose."""
    rng = np.random.default_rng(5)
    topics = rng.normal(size=(6, 30)).repeat(50, axis=0)
    table = (topics + rng.normal(size=(300, 30))).astype(np.float32)
    likely = np.eye(6).repeat(50, axis=1)[rng.integers(6, size=120)]
    bags = (rng.random((120, 300)) < 0.04 + 0.7 * likely).astype(float)
    mover = WordMover(table, cost=cost).fit(bags)
    distances = mover.pairwise(bags[:5], bags)
    blocks, documents = core_and_queries(mover, bags[:5])
    found = blocks.solve(
        documents,
        np.arange(5),
        120 * np.arange(6),
        np.tile(np.arange(120), 5),
        np.zeros(600),
        np.full(5, np.inf),
        SearchOptions(k=4, threads=threads),
    )
    for i, (indices, values) in enumerate(by_brute_force(distances, 4, np.inf)):
        np.testing.assert_array_equal(found[1][4 * i : 4 * i + 4], indices)
        np.testing.assert_array_equal(found[2][4 * i : 4 * i + 4], values)
    assert np.all(found[3] >= 4)
    assert found[3].mean() < 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": [0, 3]}, "starts must ascend from 0"),
        ({"starts": [1, 2]}, "starts must ascend from 0"),
        ({"starts": [0, 1, 2]}, "starts must have 2 values"),
        ({"rows": [0, 9]}, "rows must be documents"),
        ({"rows": [0, -1]}, "rows must be documents"),
        ({"rows": [0, 2]}, "rows must be documents"),  # the document has no words
        ({"bounds": [2.0, 1.0]}, "bounds must ascend"),
        ({"bounds": [2.0]}, "bounds must have 2 values"),
        ({"limits": [1.0, 1.0]}, "limits must have 1 values"),
        ({"numbers": [5]}, "numbers must be those of queries"),
        ({"numbers": [-1]}, "numbers must be those of queries"),
        ({"numbers": [1]}, "must have words"),
    ],
)
def test_invalid_candidates_raise(change, message):
    bags = np.array([[1, 0], [1, 2], [0, 0]])
    mover = WordMover(np.eye(2)).fit(bags)
    blocks, documents = core_and_queries(mover, bags[1:])
    given_ = {"numbers": [0], "starts": [0, 2], "rows": [0, 1], "bounds": [0.0, 1.0]}
    given_ |= {"limits": [np.inf]} | change
    kinds = {"bounds": np.float64, "limits": np.float64}
    arrays = {name: np.array(v, dtype=kinds.get(name, np.int64)) for name, v in given_.items()}
    with pytest.raises(ValueError, match=message):
        blocks.solve(documents, **arrays, options=SearchOptions(k=1))
