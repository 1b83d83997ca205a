"""Tests that searches with GPU bounds are bit-identical to exhaustive searches."""

import gc
import pickle
import weakref
from concurrent.futures import CancelledError
from threading import Thread
from time import sleep

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from search_reference import COSTS, assert_same_results, by_brute_force, movers, random_corpus
from textkin import WordMover
from textkin.run import stoppable
from textkin.transport._core_search import CoreSearch
from textkin.transport.gpu import _corpus, _search

SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
# pairs of (documents compared first, device memory for documents)
WAYS = ((1024, None), (1, None), (2, 40), (1, 1))


@pytest.fixture
def set_first_count(monkeypatch):
    return lambda count: monkeypatch.setattr(_search, "_FIRST", count)


def on(device, mover, memory=None):
    """Move a mover to a device and return it."""
    return mover.set_params(device=device, device_memory=memory)


@given(case=movers(), k=st.sampled_from([1, 3, None]), way=st.sampled_from(WAYS))
@settings(max_examples=60, suppress_health_check=SLOW, deadline=None)
def test_k_nearest_equal_brute_force(device, set_first_count, case, k, way):
    mover, bags, queries = case
    set_first_count(way[0])
    expected = by_brute_force(mover.pairwise(queries, bags), k)
    assert_same_results(on(device, mover, way[1]).search(queries, k), expected)


@given(case=movers(), nth=st.integers(0, 20), k=st.sampled_from([None, 2]))
@settings(max_examples=30, suppress_health_check=SLOW, deadline=None)
def test_radius_search_equals_brute_force(device, set_first_count, case, nth, k):
    mover, bags, queries = case
    set_first_count(1)
    distances = mover.pairwise(queries, bags)
    finite = np.unique(distances[np.isfinite(distances)])
    radius = float(finite[nth % len(finite)]) if len(finite) else 1.0
    found = on(device, mover).search(queries, k, radius=radius)
    assert_same_results(found, by_brute_force(distances, k, radius))


@given(case=movers(), way=st.sampled_from(WAYS), data=st.data())
@settings(max_examples=30, suppress_health_check=SLOW, deadline=None)
def test_filtered_search_equals_brute_force(device, set_first_count, case, way, data):
    mover, bags, queries = case
    set_first_count(way[0])
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(bags), max_size=len(bags))))
    expected = by_brute_force(mover.pairwise(queries, bags), 3, allowed=allowed)
    assert_same_results(on(device, mover, way[1]).search(queries, 3, mask=allowed), expected)


@pytest.mark.parametrize("cost", COSTS)
def test_other_search_methods_equal_core(device, set_first_count, cost):
    """Test neighbors of all documents, within a radius, and streams of pairs and neighbors."""
    set_first_count(5)
    table, bags = random_corpus(np.random.default_rng(3), 30, 40)
    here = WordMover(table, cost=cost, n_neighbors=4).fit(bags)
    there = on(device, clone(here), "2KB").fit(bags)
    for queries in (None, bags[:5]):
        for a, b in zip(here.kneighbors(queries), there.kneighbors(queries), strict=True):
            np.testing.assert_array_equal(a, b)
    radius = float(np.median(here.kneighbors()[0]))
    for a, b in zip(*(m.radius_neighbors(radius=radius) for m in (here, there)), strict=True):
        for mine, theirs in zip(a, b, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    for pairs in ((bags,), (bags, bags[:7])):
        a, b = (list(m.pairwise_below(pairs[0], radius, *pairs[1:])) for m in (here, there))
        for name in ("rows", "columns", "distances"):
            np.testing.assert_array_equal(
                *(np.concatenate([getattr(x, name) for x in part]) for part in (a, b))
            )


def test_long_queries_are_searched_by_the_core(device, monkeypatch):
    monkeypatch.setattr(_corpus, "WIDEST", 16)
    monkeypatch.setattr("textkin.transport.gpu._adapter.WIDEST", 16)
    table, bags = random_corpus(np.random.default_rng(4), 50, 60, longest=40)
    lengths = (bags > 0).sum(1)
    assert (lengths > 16).any()
    assert (lengths <= 16).any()
    here, there = (WordMover(table, device=where).fit(bags) for where in (None, device))
    a, b = here.search(bags, 5), there.search(bags, 5)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.distances, b.distances)
    np.testing.assert_array_equal(a.stats.documents, b.stats.documents)
    assert_same_results(b, by_brute_force(here.pairwise(bags, bags), 5))


@pytest.mark.parametrize("scale", [1e-18, 1e-3, 1e15])
@pytest.mark.parametrize("cost", COSTS)
def test_vectors_of_any_scale_give_the_same(device, set_first_count, cost, scale):
    set_first_count(3)
    table, bags = random_corpus(np.random.default_rng(5), 40, 30)
    table = (table * scale).astype(np.float32)
    here, there = (WordMover(table, cost=cost, device=where).fit(bags) for where in (None, device))
    np.testing.assert_array_equal(here.search(bags, 4).indices, there.search(bags, 4).indices)
    np.testing.assert_allclose(
        there.pairwise(bags, metric="rwmd"),
        here.pairwise(bags, metric="rwmd"),
        rtol=1e-6,
        atol=1e-7 * scale,
    )
    np.testing.assert_allclose(
        there.pairwise(bags, metric="wcd"),
        here.pairwise(bags, metric="wcd"),
        rtol=1e-6,
        atol=1e-7 * scale,
    )


@pytest.mark.parametrize("cost", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e15])
def test_query_words_with_much_longer_or_shorter_vectors(device, set_first_count, cost, scale):
    """The corpus lacks these words, so bounds must be safe for the words of queries, too."""
    set_first_count(3)
    table, bags = random_corpus(np.random.default_rng(15), 40, 30)
    corpus = bags.copy()
    corpus[:, :10] = 0
    corpus[0, 15] = 1
    for changed in (slice(0, 10), slice(10, None)):
        vectors = table.copy()
        vectors[changed] *= np.float32(scale)
        here, there = (
            WordMover(vectors, cost=cost, empty="inf", device=where).fit(corpus)
            for where in (None, device)
        )
        a, b = here.search(bags, 4), there.search(bags, 4)
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_array_equal(a.distances, b.distances)
        for mine, theirs in zip(
            *([m.pairwise(bags, corpus, metric="rwmd")] for m in (here, there)),
            strict=True,
        ):
            most = mine[np.isfinite(mine)].max()
            np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-6 * most)


def test_subnormal_vectors_give_the_same(device):
    table, bags = random_corpus(np.random.default_rng(16), 20, 30)
    table = np.where(table > 0, 3e-45, 1e-44).astype(np.float32)
    here, there = (WordMover(table, device=where).fit(bags) for where in (None, device))
    np.testing.assert_allclose(
        there.pairwise(bags, metric="wcd"),
        here.pairwise(bags, metric="wcd"),
        rtol=1e-6,
        atol=0,
    )
    np.testing.assert_array_equal(here.search(bags, 3).indices, there.search(bags, 3).indices)
    found = there.search(bags, 3, radius=1e300)
    np.testing.assert_array_equal(found.indices, here.search(bags, 3).indices)


@pytest.mark.parametrize("cost", ["euclidean", "sqeuclidean"])
def test_almost_equal_vectors_give_the_same(device, cost):
    """The relaxed distance must be precise relative to the distances, not to vector lengths."""
    draw = np.random.default_rng(18)
    _, bags = random_corpus(draw, 20, 30)
    table = (draw.normal(size=5) + 1e-6 * draw.normal(size=(30, 5))).astype(np.float32)
    here, there = (WordMover(table, cost=cost, device=where) for where in (None, device))
    np.testing.assert_allclose(
        there.pairwise(bags, metric="rwmd"),
        here.pairwise(bags, metric="rwmd"),
        rtol=1e-6,
        atol=0,
    )


@pytest.mark.parametrize("metric", ["rwmd", "rwmd-query", "rwmd-document"])
@pytest.mark.parametrize("memory", [None, 100])
def test_rankings_by_a_bound_equal_core(device, metric, memory):
    table, bags = random_corpus(np.random.default_rng(6), 50, 40)
    bags[7] = 0
    here = WordMover(table, metric=metric).fit(bags)
    there = on(device, clone(here), memory).fit(bags)
    a, b = here.search(bags[:9], 6), there.search(bags[:9], 6)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_allclose(a.distances, b.distances, rtol=1e-6)
    np.testing.assert_array_equal(a.stats.solved, b.stats.solved)
    assert (b.indices[7] == -1).all()


def test_batches_and_threads_do_not_change_results(device):
    table, bags = random_corpus(np.random.default_rng(8), 300, 80)
    mover = WordMover(table, device=device, n_jobs=2).fit(bags)
    all_of_them = mover.search(bags[:40], 5)
    mover.set_params(n_jobs=1, memory=1)
    for q in range(40):
        one = mover.search(bags[q : q + 1], 5)
        np.testing.assert_array_equal(one.indices[0], all_of_them.indices[q])
        np.testing.assert_array_equal(one.distances[0], all_of_them.distances[q])


def test_pickled_mover_searches_again(device):
    table, bags = random_corpus(np.random.default_rng(9), 30, 20)
    mover = WordMover(table, device=device).fit(bags)
    before = mover.search(bags[:3], 2)
    again = pickle.loads(pickle.dumps(mover))
    np.testing.assert_array_equal(again.search(bags[:3], 2).indices, before.indices)
    assert before.certificate(0).verify() is not None


def test_progress_is_reported_and_can_stop_a_search(device):
    table, bags = random_corpus(np.random.default_rng(10), 80, 30)
    mover = WordMover(table, device=device, device_memory="1KB", memory=1).fit(bags)
    seen = []
    mover.search(bags, 3, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (80, 80)

    def raise_timeout(done, total):
        raise TimeoutError("enough")

    with stoppable(raise_timeout), pytest.raises(TimeoutError, match="enough"):
        mover.search(bags, 3)
    assert len(mover.search(bags[:2], 3)) == 2


def test_progress_counts_empty_and_long_queries(device, monkeypatch):
    monkeypatch.setattr("textkin.transport.gpu._adapter.WIDEST", 16)
    table, bags = random_corpus(np.random.default_rng(4), 50, 60, longest=40)
    bags[3] = 0
    mover, seen = WordMover(table, device=device, empty="inf").fit(bags), []
    mover.search(bags, 3, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (50, 50)
    mover.search(bags[3:4], 3, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1, 1)


def test_stopping_a_search_cancels_its_comparisons(device, monkeypatch):
    ended = []

    def slow(*given):
        for _ in range(1000):
            try:
                given[-1](0, 1)
            except CancelledError:
                ended.append(True)
                raise
            sleep(0.01)

    def raise_timeout(done, total):
        raise TimeoutError("enough")

    table, bags = random_corpus(np.random.default_rng(10), 80, 30)
    mover = WordMover(table, device=device).fit(bags)
    monkeypatch.setattr(CoreSearch, "solve", slow)
    with stoppable(raise_timeout), pytest.raises(TimeoutError, match="enough"):
        mover.search(bags, 3)
    assert ended == [True]


def test_error_in_a_comparison_is_raised(device, monkeypatch):
    def raise_error(*given):
        raise RuntimeError("no")

    table, bags = random_corpus(np.random.default_rng(10), 80, 30)
    mover = WordMover(table, device=device).fit(bags)
    with monkeypatch.context() as patch:
        patch.setattr(CoreSearch, "solve", raise_error)
        with pytest.raises(RuntimeError, match="no"):
            mover.search(bags, 3)
    assert len(mover.search(bags[:2], 3)) == 2


def test_threads_can_share_a_mover(device):
    table, bags = random_corpus(np.random.default_rng(18), 60, 40)
    expected = WordMover(table).fit(bags).search(bags, 4)
    mover, found = WordMover(table, device=device, memory=1).fit(bags), []
    threads = [Thread(target=lambda: found.append(mover.search(bags, 4))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for one in found:
        np.testing.assert_array_equal(one.indices, expected.indices)
        np.testing.assert_array_equal(one.distances, expected.distances)


def test_device_memory_is_freed_when_no_longer_used(device):
    """Memory is freed at once, not at the next garbage collection, and results do not keep it."""
    table, bags = random_corpus(np.random.default_rng(19), 30, 20)
    mover = WordMover(table, device=device).fit(bags)

    def device_documents():
        return weakref.ref(mover.engine().__dict__["_on_device"][1])

    gc.disable()
    try:
        answer = mover.search(bags[:3], 2)
        first = device_documents()
        mover.search(bags[:3], 2, algorithm="brute")
        assert first() is not None
        mover.set_params(memory="1MB").search(bags[:3], 2)
        second = device_documents()
        assert first() is None
        mover.fit(bags[5:])
        assert second() is None
        np.testing.assert_array_equal(
            mover.search(bags[:3], 2).indices,
            WordMover(table).fit(bags[5:]).search(bags[:3], 2).indices,
        )
        third = device_documents()
        mover.set_params(device=None).search(bags[:3], 2)
        assert third() is None
        assert answer.certificate(0).verify() is not None
    finally:
        gc.enable()


def test_precision_setting_of_the_user_is_unchanged(device):
    table, bags = random_corpus(np.random.default_rng(11), 200, 60, dimension=64)
    expected = WordMover(table).fit(bags).search(bags, 5)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        found = WordMover(table, device=device).fit(bags).search(bags, 5)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    np.testing.assert_array_equal(found.indices, expected.indices)


def test_corpus_without_words_finds_nothing(device):
    bags = np.zeros((4, 3))
    mover = WordMover(np.eye(3), device=device, empty="inf").fit(bags)
    found = mover.search(np.eye(3), 2)
    assert found.counts.tolist() == [0, 0, 0]
    assert found.stats.empty.tolist() == [4, 4, 4]
    assert np.isinf(mover.pairwise(np.eye(3), bags, metric="rwmd")).all()
    assert mover.search(np.zeros((2, 3)), 2).stats.left_out.tolist() == [4, 4]


def test_k_above_the_number_of_documents_returns_all(device):
    mover = WordMover(np.eye(3), device=device).fit(np.array([[0, 1, 1]]))
    found = mover.search(np.array([[0, 1, 1], [1, 0, 0]]), 10)
    assert found.indices.tolist() == [[0], [0]]
    np.testing.assert_allclose(found.distances[:, 0], [0, np.sqrt(2)])
