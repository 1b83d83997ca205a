"""A search with bounds on a device finds what comparing with every document finds, bit by bit."""

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

from search_oracle import COSTS, by_brute_force, movers, random_corpus, same_as
from textkin import WordMover
from textkin.device import _corpus, _search
from textkin.run import stoppable
from textkin.transport._blocks import Blocks

SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
# How many are compared first, and how many bytes documents may take: all at once, or both in parts.
WAYS = ((1024, None), (1, None), (2, 40), (1, 1))


@pytest.fixture
def looking_first(monkeypatch):
    return lambda count: monkeypatch.setattr(_search, "_FIRST", count)


def on(device, mover, memory=None):
    """Return the same mover on a device."""
    return mover.set_params(device=device, device_memory=memory)


@given(case=movers(), k=st.sampled_from([1, 3, None]), way=st.sampled_from(WAYS))
@settings(max_examples=60, suppress_health_check=SLOW, deadline=None)
def test_the_nearest(device, looking_first, case, k, way):
    mover, bags, queries = case
    looking_first(way[0])
    expected = by_brute_force(mover.pairwise(queries, bags), k)
    same_as(on(device, mover, way[1]).search(queries, k), expected)


@given(case=movers(), nth=st.integers(0, 20), k=st.sampled_from([None, 2]))
@settings(max_examples=30, suppress_health_check=SLOW, deadline=None)
def test_all_within_a_radius(device, looking_first, case, nth, k):
    mover, bags, queries = case
    looking_first(1)
    distances = mover.pairwise(queries, bags)
    finite = np.unique(distances[np.isfinite(distances)])
    radius = float(finite[nth % len(finite)]) if len(finite) else 1.0
    found = on(device, mover).search(queries, k, radius=radius)
    same_as(found, by_brute_force(distances, k, radius))


@given(case=movers(), way=st.sampled_from(WAYS), data=st.data())
@settings(max_examples=30, suppress_health_check=SLOW, deadline=None)
def test_only_what_the_mask_allows(device, looking_first, case, way, data):
    mover, bags, queries = case
    looking_first(way[0])
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(bags), max_size=len(bags))))
    expected = by_brute_force(mover.pairwise(queries, bags), 3, allowed=allowed)
    same_as(on(device, mover, way[1]).search(queries, 3, mask=allowed), expected)


@pytest.mark.parametrize("cost", COSTS)
def test_the_other_ways_to_ask(device, looking_first, cost):
    """Neighbours of all, within a radius, streams of pairs and of neighbours."""
    looking_first(5)
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


def test_queries_that_are_too_long_stay_with_the_core(device, monkeypatch):
    monkeypatch.setattr(_corpus, "WIDEST", 16)
    monkeypatch.setattr("textkin.transport._device.WIDEST", 16)
    table, bags = random_corpus(np.random.default_rng(4), 50, 60, longest=40)
    lengths = (bags > 0).sum(1)
    assert (lengths > 16).any()
    assert (lengths <= 16).any()
    here, there = (WordMover(table, device=where).fit(bags) for where in (None, device))
    a, b = here.search(bags, 5), there.search(bags, 5)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.distances, b.distances)
    np.testing.assert_array_equal(a.stats.documents, b.stats.documents)
    same_as(b, by_brute_force(here.pairwise(bags, bags), 5))


@pytest.mark.parametrize("scale", [1e-18, 1e-3, 1e15])
@pytest.mark.parametrize("cost", COSTS)
def test_vectors_of_any_size(device, looking_first, cost, scale):
    looking_first(3)
    table, bags = random_corpus(np.random.default_rng(5), 40, 30)
    table = (table * scale).astype(np.float32)
    here, there = (WordMover(table, cost=cost, device=where).fit(bags) for where in (None, device))
    np.testing.assert_array_equal(here.search(bags, 4).indices, there.search(bags, 4).indices)
    np.testing.assert_allclose(there.rwmd(bags), here.rwmd(bags), rtol=1e-6, atol=1e-7 * scale)
    np.testing.assert_allclose(there.wcd(bags), here.wcd(bags), rtol=1e-6, atol=1e-7 * scale)


@pytest.mark.parametrize("cost", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e15])
def test_words_of_queries_that_are_far_longer_or_shorter(device, looking_first, cost, scale):
    """The corpus has none of them: what is safe for its words must be for theirs."""
    looking_first(3)
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
        for mine, theirs in zip(*([m.rwmd(bags, corpus)] for m in (here, there)), strict=True):
            most = mine[np.isfinite(mine)].max()
            np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-6 * most)


def test_vectors_that_are_the_smallest_there_are(device):
    table, bags = random_corpus(np.random.default_rng(16), 20, 30)
    table = np.where(table > 0, 3e-45, 1e-44).astype(np.float32)
    here, there = (WordMover(table, device=where).fit(bags) for where in (None, device))
    np.testing.assert_allclose(there.wcd(bags), here.wcd(bags), rtol=1e-6, atol=0)
    np.testing.assert_array_equal(here.search(bags, 3).indices, there.search(bags, 3).indices)
    found = there.search(bags, 3, radius=1e300)
    np.testing.assert_array_equal(found.indices, here.search(bags, 3).indices)


@pytest.mark.parametrize("cost", ["euclidean", "sqeuclidean"])
def test_vectors_that_are_nearly_the_same(device, cost):
    """The relaxed distance is precise beside the distances, not beside the vectors' lengths."""
    draw = np.random.default_rng(18)
    _, bags = random_corpus(draw, 20, 30)
    table = (draw.normal(size=5) + 1e-6 * draw.normal(size=(30, 5))).astype(np.float32)
    here, there = (WordMover(table, cost=cost, device=where) for where in (None, device))
    np.testing.assert_allclose(there.rwmd(bags), here.rwmd(bags), rtol=1e-6, atol=0)


@pytest.mark.parametrize("algorithm", ["rwmd", "rwmd-query", "rwmd-document"])
@pytest.mark.parametrize("memory", [None, 100])
def test_rankings_by_a_bound(device, algorithm, memory):
    table, bags = random_corpus(np.random.default_rng(6), 50, 40)
    bags[7] = 0
    here = WordMover(table, algorithm=algorithm).fit(bags)
    there = on(device, clone(here), memory).fit(bags)
    a, b = here.search(bags[:9], 6), there.search(bags[:9], 6)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_allclose(a.distances, b.distances, rtol=1e-6)
    np.testing.assert_array_equal(a.stats.solved, b.stats.solved)
    assert (b.indices[7] == -1).all()


def test_a_batch_is_its_items_and_threads_change_nothing(device):
    table, bags = random_corpus(np.random.default_rng(8), 300, 80)
    mover = WordMover(table, device=device, n_jobs=2).fit(bags)
    all_of_them = mover.search(bags[:40], 5)
    mover.set_params(n_jobs=1, memory=1)
    for q in range(40):
        one = mover.search(bags[q : q + 1], 5)
        np.testing.assert_array_equal(one.indices[0], all_of_them.indices[q])
        np.testing.assert_array_equal(one.distances[0], all_of_them.distances[q])


def test_a_pickled_mover_searches_again(device):
    table, bags = random_corpus(np.random.default_rng(9), 30, 20)
    mover = WordMover(table, device=device).fit(bags)
    before = mover.search(bags[:3], 2)
    again = pickle.loads(pickle.dumps(mover))
    np.testing.assert_array_equal(again.search(bags[:3], 2).indices, before.indices)
    assert before.certificate(0).verify() is not None


def test_progress_is_told_and_a_search_can_be_ended(device):
    table, bags = random_corpus(np.random.default_rng(10), 80, 30)
    mover = WordMover(table, device=device, device_memory="1KB", memory=1).fit(bags)
    seen = []
    mover.search(bags, 3, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (80, 80)

    def enough(done, total):
        raise TimeoutError("enough")

    with stoppable(enough), pytest.raises(TimeoutError, match="enough"):
        mover.search(bags, 3)
    assert len(mover.search(bags[:2], 3)) == 2


def test_progress_counts_queries_without_words_and_long_ones(device, monkeypatch):
    monkeypatch.setattr("textkin.transport._device.WIDEST", 16)
    table, bags = random_corpus(np.random.default_rng(4), 50, 60, longest=40)
    bags[3] = 0
    mover, seen = WordMover(table, device=device, empty="inf").fit(bags), []
    mover.search(bags, 3, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (50, 50)
    mover.search(bags[3:4], 3, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1, 1)


def test_what_is_being_compared_ends_with_the_search(device, monkeypatch):
    ended = []

    def slow(*given):
        for _ in range(1000):
            try:
                given[-1](0, 1)
            except CancelledError:
                ended.append(True)
                raise
            sleep(0.01)

    def enough(done, total):
        raise TimeoutError("enough")

    table, bags = random_corpus(np.random.default_rng(10), 80, 30)
    mover = WordMover(table, device=device).fit(bags)
    monkeypatch.setattr(Blocks, "solve", slow)
    with stoppable(enough), pytest.raises(TimeoutError, match="enough"):
        mover.search(bags, 3)
    assert ended == [True]


def test_an_error_while_comparing_is_raised(device, monkeypatch):
    def fails(*given):
        raise RuntimeError("no")

    table, bags = random_corpus(np.random.default_rng(10), 80, 30)
    mover = WordMover(table, device=device).fit(bags)
    with monkeypatch.context() as patch:
        patch.setattr(Blocks, "solve", fails)
        with pytest.raises(RuntimeError, match="no"):
            mover.search(bags, 3)
    assert len(mover.search(bags[:2], 3)) == 2


def test_several_threads_search_with_one_mover(device):
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


def test_the_device_is_left_when_documents_are_not_searched_there_any_more(device):
    """At once, not when Python next looks for what is unused; answers do not keep it either."""
    table, bags = random_corpus(np.random.default_rng(19), 30, 20)
    mover = WordMover(table, device=device).fit(bags)

    def there():
        return weakref.ref(mover._corpus().__dict__["_there"][1])

    gc.disable()
    try:
        answer = mover.search(bags[:3], 2)
        first = there()
        mover.search(bags[:3], 2, algorithm="brute")
        assert first() is not None
        mover.set_params(memory="1MB").search(bags[:3], 2)
        second = there()
        assert first() is None
        mover.fit(bags[5:])
        assert second() is None
        np.testing.assert_array_equal(
            mover.search(bags[:3], 2).indices,
            WordMover(table).fit(bags[5:]).search(bags[:3], 2).indices,
        )
        third = there()
        mover.set_params(device=None).search(bags[:3], 2)
        assert third() is None
        assert answer.certificate(0).verify() is not None
    finally:
        gc.enable()


def test_the_user_s_precision_of_products_is_left_alone(device):
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


def test_a_corpus_without_any_words(device):
    bags = np.zeros((4, 3))
    mover = WordMover(np.eye(3), device=device, empty="inf").fit(bags)
    found = mover.search(np.eye(3), 2)
    assert found.counts.tolist() == [0, 0, 0]
    assert found.stats.empty.tolist() == [4, 4, 4]
    assert np.isinf(mover.rwmd(np.eye(3), bags)).all()
    assert mover.search(np.zeros((2, 3)), 2).stats.left_out.tolist() == [4, 4]


def test_one_document_and_more_wanted_than_there_are(device):
    mover = WordMover(np.eye(3), device=device).fit(np.array([[0, 1, 1]]))
    found = mover.search(np.array([[0, 1, 1], [1, 0, 0]]), 10)
    assert found.indices.tolist() == [[0], [0]]
    np.testing.assert_allclose(found.distances[:, 0], [0, np.sqrt(2)])
