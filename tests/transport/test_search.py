"""Searches are bit-identical to exhaustive comparison."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from search_reference import (
    COSTS,
    EXACT,
    assert_same_results,
    by_brute_force,
    movers,
    random_corpus,
)
from support import ROOT
from textkin import WordMover, WordVectors, _core, read
from textkin.transport import _engine


@given(movers(), st.sampled_from(EXACT), st.sampled_from([1, 3, None]))
@settings(max_examples=60)
def test_k_nearest_equal_brute_force(case, algorithm, k):
    mover, bags, queries = case
    distances = mover.pairwise(queries, bags)
    assert_same_results(mover.search(queries, k, algorithm=algorithm), by_brute_force(distances, k))


@given(movers(), st.sampled_from(EXACT), st.integers(0, 20), st.sampled_from([None, 2]))
@settings(max_examples=40)
def test_radius_search_equals_brute_force(case, algorithm, nth, k):
    """The radius is one of the distances, and is inclusive."""
    mover, bags, queries = case
    distances = mover.pairwise(queries, bags)
    finite = np.unique(distances[np.isfinite(distances)])
    radius = float(finite[nth % len(finite)]) if len(finite) else 1.0
    found = mover.search(queries, k, radius=radius, algorithm=algorithm)
    assert_same_results(found, by_brute_force(distances, k, radius))


@given(movers(), st.sampled_from(EXACT), st.data())
@settings(max_examples=40)
def test_masked_search_equals_brute_force(case, algorithm, data):
    mover, bags, queries = case
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(bags), max_size=len(bags))))
    expected = by_brute_force(mover.pairwise(queries, bags), 3, allowed=allowed)
    found = mover.search(queries, 3, algorithm=algorithm, mask=allowed)
    assert_same_results(found, expected)
    assert np.all(found.stats.left_out >= np.count_nonzero(~allowed))
    assert_same_results(mover.search(queries, 3, mask=np.flatnonzero(allowed)), expected)


@given(movers(), st.sampled_from(EXACT))
@settings(max_examples=15)
def test_n_jobs_gives_bit_identical_results(case, algorithm):
    mover, _, queries = case
    one = mover.set_params(n_jobs=1).search(queries, algorithm=algorithm)
    for n_jobs in (2, 4):
        found = mover.set_params(n_jobs=n_jobs).search(queries, algorithm=algorithm)
        np.testing.assert_array_equal(found.indices, one.indices)
        np.testing.assert_array_equal(found.distances, one.distances)


@pytest.fixture
def restore_instruction_set():
    usual = _core.instruction_set()
    yield
    _core.use_instruction_set(usual)


@pytest.mark.usefixtures("restore_instruction_set")
@pytest.mark.parametrize("cost", COSTS)
def test_instruction_sets_give_the_same_neighbors(rng, cost):
    table, bags = random_corpus(rng, 60, 80, dimension=17)
    found = {}
    for name in _core.instruction_sets():
        _core.use_instruction_set(name)
        mover = WordMover(table, cost=cost).fit(bags)
        found[name] = mover.search(bags[:8], 7)
        assert_same_results(found[name], by_brute_force(mover.pairwise(bags[:8], bags), 7))
    for other in found.values():  # no two documents have almost equal distances here
        np.testing.assert_array_equal(other.indices, found["baseline"].indices)
        np.testing.assert_allclose(other.distances, found["baseline"].distances, rtol=1e-6)


@pytest.mark.parametrize("algorithm", EXACT)
@pytest.mark.parametrize("cost", COSTS)
def test_larger_corpus_equals_brute_force(rng, algorithm, cost):
    table, bags = random_corpus(rng, 150, 200)
    bags[40], bags[90] = bags[10], 2 * bags[10]
    mover = WordMover(table, cost=cost, n_jobs=2).fit(sparse.csr_array(bags))
    distances = mover.pairwise(bags[5:15], bags)
    for k in (1, 10, 150, 400):
        found = mover.search(bags[5:15], k, algorithm=algorithm)
        assert_same_results(found, by_brute_force(distances, k))
        assert found.indices.shape == (10, min(k, 150))


@pytest.mark.parametrize("algorithm", EXACT)
def test_documents_of_one_and_of_five_hundred_words(rng, algorithm):
    table = rng.normal(size=(900, 10)).astype(np.float32)
    bags = np.zeros((8, 900))
    for row, length in enumerate([1, 500, 1, 500, 3, 250, 1, 500]):
        bags[row, rng.choice(900, length, replace=False)] = rng.integers(1, 5, length)
    mover = WordMover(table).fit(bags)
    queries = bags[[0, 1, 5]]
    found = mover.search(queries, 5, algorithm=algorithm)
    assert_same_results(found, by_brute_force(mover.pairwise(queries, bags), 5))


# ---------------------------------------------------------------- METHODS.md, section 10.7


@pytest.mark.parametrize(
    ("places", "query", "document", "expected"),
    [
        ([[0, 0], [4, 0], [0, 3], [4, 3]], [1, 1, 0, 0], [0, 0, 1, 1], 3),
        ([[0], [1], [5], [6]], [1, 1, 1, 0], [1, 0, 0, 1], 4 / 3),
        ([[-1], [1], [0]], [1, 1, 0], [0, 0, 1], 1),
        ([[0], [2], [3]], [0.75, 0.25, 0], [0.25, 0, 0.75], 1.75),
    ],
)
@pytest.mark.parametrize("algorithm", EXACT)
def test_search_matches_worked_examples(places, query, document, expected, algorithm):
    # Zero vectors are invalid, so all points are shifted away from the origin.
    table = np.array(places, dtype=np.float32) + 10
    far = np.zeros(len(table))
    far[-1] = 1
    mover = WordMover(table).fit(np.array([far, document, document]))
    found = mover.search(np.array([query]), 3, algorithm=algorithm)
    distances, indices = found[0]
    assert distances[indices == 1] == pytest.approx(expected, rel=1e-6)
    # ties are ordered by position
    assert indices.tolist().index(1) + 1 == indices.tolist().index(2)


def test_costs_of_0_and_1_give_half_the_l1_distance():
    """The distance is half the sum of the absolute differences: 0.5 here."""
    table = np.eye(4, dtype=np.float32) / np.float32(np.sqrt(2))
    mover = WordMover(table).fit(np.array([[0.2, 0.3, 0, 0.5]]))
    found = mover.search(np.array([[0.5, 0.3, 0.2, 0]]), 1)
    assert found.distances[0, 0] == pytest.approx(0.5, rel=1e-6)


# ---------------------------------------------------------------- types of queries

WORDS = ["the", "press", "media", "band", "Paris"]
MATRIX = np.array([[9, 1], [1, 1], [1, 2], [5, 5], [8, 8]], dtype=np.float32)
TEXTS = ["the press", "media media band", "Paris press media", "", "xyzzy", "press"]


@pytest.fixture
def mover():
    return WordMover(WordVectors(WORDS, MATRIX)).fit(TEXTS)


def test_single_text_is_one_query(mover):
    alone, listed = mover.search("press", 3), mover.search(["press"], 3)
    np.testing.assert_array_equal(alone.indices, listed.indices)
    assert alone.indices.tolist() == [[0, 5, 1]]  # equal documents are ordered by position
    [document] = read(["press"])
    np.testing.assert_array_equal(mover.search(document, 3).indices, alone.indices)
    np.testing.assert_array_equal(mover.search([["press"]], 3).indices, alone.indices)
    np.testing.assert_array_equal(mover.search(iter(["press"]), 3).indices, alone.indices)


def test_empty_documents_are_never_found_and_are_counted(mover):
    found = mover.search("press", 10)
    assert found.counts.tolist() == [4]
    assert found.stats.empty.tolist() == [2]
    assert found.stats.candidates.tolist() == [4]


def test_empty_query_finds_nothing(mover):
    found = mover.search(["", "press", "xyzzy"], 2)
    assert found.counts.tolist() == [0, 2, 0]
    assert found.indices.tolist() == [[-1, -1], [0, 5], [-1, -1]]
    assert np.isinf(found.distances[[0, 2]]).all()
    assert found.stats.solved[0] == 0
    assert found.stats.documents.tolist() == [6, 6, 6]


def test_no_queries_give_empty_results(mover):
    found = mover.search([], 3)
    assert found.indices.shape == found.distances.shape == (0, 3)
    assert len(found) == len(found.stats) == 0
    assert repr(found)
    assert repr(found.stats)


def test_corpus_of_empty_documents_finds_nothing():
    mover = WordMover(WordVectors(WORDS, MATRIX)).fit(["", "xyzzy"])
    found = mover.search("press")
    assert found.counts.tolist() == [0]
    assert found.stats.empty.tolist() == [2]


def test_query_words_missing_from_the_corpus_count(mover):
    assert mover.fit(["press", "media"]).search("band").distances[0, 0] > 4


def test_fitted_corpus_is_a_copy():
    bags = sparse.csr_array(np.eye(5, dtype=np.float32))
    mover = WordMover(MATRIX).fit(bags)
    before = mover.search(np.eye(5), 2).indices
    bags.indices[:] = 0
    bags.data[:] = 7
    again = WordMover(MATRIX).fit(np.eye(5)).search(np.eye(5), 2).indices
    np.testing.assert_array_equal(mover.search(np.eye(5), 2).indices, before)
    np.testing.assert_array_equal(again, before)


def test_repeated_mask_finds_the_same(rng):
    """Few documents are searched separately after several searches with the same mask."""
    table, bags = random_corpus(rng, 60, 50)
    mover = WordMover(table).fit(bags)
    for allowed in ([3, 9, 44], [1], []):  # some documents, a single one, and none
        expected = by_brute_force(
            mover.pairwise(bags[:1], bags), 5, allowed=np.isin(range(60), allowed)
        )
        for _ in range(12):
            found = mover.search(bags[:1], 5, mask=np.isin(np.arange(60), allowed))
            assert_same_results(found, expected)
            assert found.stats.left_out[0] == 60 - len(allowed)
            assert not allowed or found.certificate(0).verify(sample=None).exact


def test_mask_of_the_caller_is_copied(mover):
    mask = np.array([False, True, True, True, True, True])
    found = mover.search("press", 2, mask=mask)
    mask[:] = True
    assert found.certificate(0).verify().exact
    assert found.indices.tolist() == [[5, 1]]


def test_python_code_of_the_guide_runs():
    guide = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    space = {"queries": ["A kitten sleeps", "Their concert"], "texts": ["Cats purr"] * 3}
    # the guide's corpus is small
    code = "\n".join(blocks).replace("n_neighbors=5", "n_neighbors=3")
    exec(compile(code, "search.md", "exec"), space)
    assert space["found"].indices.tolist() == [[2, 0]]
    assert space["graph"].shape == (4, 4)


def test_batches_of_queries_do_not_change_results(rng, monkeypatch):
    table, bags = random_corpus(rng, 40, 60)
    mover = WordMover(table).fit(bags)
    whole = mover.search(bags, 4)
    seen = []
    monkeypatch.setattr(_engine, "_BATCH", 7)
    parts = mover.search(bags, 4, progress=lambda done, total: seen.append((done, total)))
    np.testing.assert_array_equal(parts.indices, whole.indices)
    np.testing.assert_array_equal(parts.distances, whole.distances)
    np.testing.assert_array_equal(parts.stats.solved, whole.stats.solved)
    assert seen == sorted(seen)
    assert seen[-1] == (40, 40)
    assert {total for _, total in seen} == {40}


# ---------------------------------------------------------------- results


def test_results_are_sequences_of_neighbors(mover):
    found = mover.search(["press", "", "band"], 2)
    assert [indices.tolist() for _, indices in found] == [[0, 5], [], [1, 2]]
    assert found[-1].indices.tolist() == [1, 2]
    with pytest.raises(IndexError, match="must be below 3, the number of queries; got 3"):
        found[3]
    assert repr(found) == (
        "Neighbors: 3 queries, 4 found among 6 documents\n"
        "  0: 0 (0), 5 (0)\n"
        "  1: nothing\n"
        "  2: 1 (3.333), 2 (4.966)"
    )
    assert "and 3 more queries" in repr(mover.search(["press"] * 8, 1))
    assert found.to_records()[0] == {"query": 0, "rank": 0, "index": 0, "distance": 0.0}
    assert len(found.to_records()) == 4
    assert repr(found.stats).startswith(
        "SearchStats: 3 queries over 6 documents, 8 candidates in all (6 empty, 4 left out)"
    )
    totals = found.stats.totals
    assert totals["candidates"] == 8
    assert totals["solved"] + sum(totals["removed"].values()) == 8
    assert set(totals["seconds"]) == {"table", "bound", "order", "refine", "solve"}


def test_k_none_ranks_all_documents(mover):
    found = mover.search("press", None)
    assert found.indices.shape == (1, 4)
    assert mover.search(["", "xyzzy"], None).indices.shape == (2, 0)
