"""Distance bounds on tensors compared with their equations, and safety of the pruning bounds."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_reference import COSTS, corpora, random_corpus
from textkin import WordMover
from textkin.transport.gpu import _bounds
from textkin.transport.gpu._bounds import document_side, lowered, query_side, refined
from textkin.transport.gpu._corpus import DeviceCorpus
from textkin.transport.gpu._matrices import centroid_matrix, relaxed_matrix
from textkin.transport.gpu._rows import HostRows

SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def rows_of(bags):
    """Return dense bags as the rows of a device corpus."""
    lengths = (bags > 0).sum(1)
    shares = bags / np.maximum(bags.sum(1, keepdims=True), 1e-300)
    _, words = np.nonzero(bags)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return HostRows(indptr, words.astype(np.int32), shares[bags > 0].astype(np.float32))


def corpus_on(device, table, bags, cost="euclidean", memory=1 << 20, resident=None):
    if cost == "cosine":
        table = (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)
    rows = rows_of(bags)
    return DeviceCorpus(table, cost, rows, device=device, memory=memory, resident=resident)


def reference_costs(table, cost):
    """Return the costs between all words, in float64."""
    wide = table.astype(np.float64)
    squares = ((wide[:, None] - wide[None]) ** 2).sum(-1)
    if cost == "euclidean":
        return np.sqrt(squares)
    return squares / 2 if cost == "cosine" else squares


def reference_relaxed(costs, query, document):
    """Return both relaxed distances of two bags, computed word by word."""
    if not query.any() or not document.any():
        return np.inf, np.inf
    inside = costs[np.ix_(document > 0, query > 0)]
    q, d = query[query > 0] / query.sum(), document[document > 0] / document.sum()
    return q @ inside.min(0), d @ inside.min(1)


@given(case=corpora(), cost=st.sampled_from(COSTS), resident=st.sampled_from([None, 1]))
@settings(max_examples=40, suppress_health_check=SLOW, deadline=None)
def test_relaxed_distances_equal_reference(device, case, cost, resident):
    table, bags = case
    if not bags.any():
        bags[0, 0] = 1
    corpus = corpus_on(device, table, bags, cost, resident=resident)
    costs = reference_costs(corpus.vectors, cost)
    slow = np.array([[reference_relaxed(costs, q, d) for d in bags] for q in bags])
    tolerance = 1e-6 * costs.max()  # for vectors that differ only by rounding
    sides = {"query": slow[..., 0], "document": slow[..., 1], "both": slow.max(-1)}
    for side, expected in sides.items():
        found = relaxed_matrix(corpus, rows_of(bags), side)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=tolerance)


@given(case=corpora(), cost=st.sampled_from(COSTS))
@settings(max_examples=40, suppress_health_check=SLOW, deadline=None)
def test_centroid_distances_equal_core(device, case, cost):
    table, bags = case
    expected = WordMover(table, cost=cost, empty="inf").pairwise(bags, metric="wcd")
    found = WordMover(table, cost=cost, empty="inf", device=device).pairwise(bags, metric="wcd")
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    rows = rows_of(bags)
    with pytest.raises(ValueError, match="device must be None, 'cpu'"):
        centroid_matrix(table, cost, rows, rows, "tpu")


@given(case=corpora(), cost=st.sampled_from(COSTS))
@settings(max_examples=60, suppress_health_check=SLOW, deadline=None)
def test_pruning_bounds_never_exceed_the_distance(device, case, cost):
    table, bags = case
    bags = bags[bags.any(1)]
    if not len(bags):
        return
    corpus = corpus_on(device, table, bags, cost)
    distances = WordMover(table, cost=cost).pairwise(bags)
    queries = rows_of(bags)
    _, rows = next(corpus.parts())
    for batch in corpus.batches(queries):
        asked = corpus.lay_out(queries, batch)
        nearest = asked.costs.amin(2).T.float().contiguous()
        sums = document_side(rows, nearest)
        q, d = (
            x.reshape(-1)
            for x in torch.meshgrid(
                torch.arange(len(batch), device=device),
                torch.arange(len(rows), device=device),
                indexing="ij",
            )
        )
        close = refined(rows, asked, q, d).reshape(len(batch), len(rows))
        true = distances[batch.numbers]
        slack = 2e-6 * true + 1e-12
        for bound in (lowered(sums, rows.lengths), close):
            assert np.all(bound.cpu().numpy() * corpus.value <= true + slack)


def test_refined_bound_is_tight(device):
    """The refined bound exceeds both relaxed distances and is close to the exact distance."""
    table, bags = random_corpus(np.random.default_rng(12), 60, 50)
    corpus = corpus_on(device, table, bags)
    distances = WordMover(table).pairwise(bags)
    queries = rows_of(bags)
    _, rows = next(corpus.parts())
    for batch in corpus.batches(queries):
        asked = corpus.lay_out(queries, batch)
        pairs = torch.cartesian_prod(
            torch.arange(len(batch), device=device), torch.arange(len(rows), device=device)
        )
        close = refined(rows, asked, pairs[:, 0], pairs[:, 1]).reshape(len(batch), -1)
        close = close.cpu().numpy() * corpus.value
        both = relaxed_matrix(corpus, queries, "both")[batch.numbers]
        assert np.all(close >= both * (1 - 1e-3) - 1e-3)
        apart = distances[batch.numbers] > 0
        assert np.mean((close / np.where(apart, distances[batch.numbers], 1))[apart]) > 0.93


def test_bounded_memory_gives_the_same_bounds(device, monkeypatch):
    table, bags = random_corpus(np.random.default_rng(13), 40, 30)
    corpus = corpus_on(device, table, bags)
    queries = rows_of(bags[:6])
    batch = next(corpus.batches(queries))
    asked = corpus.lay_out(queries, batch)
    nearest = asked.costs.amin(2).T.float().contiguous()
    _, rows = next(corpus.parts())
    pairs = torch.zeros(40, dtype=torch.int64, device=device), torch.arange(40, device=device)

    def bounds():
        return document_side(rows, nearest), query_side(rows, asked), refined(rows, asked, *pairs)

    whole = bounds()
    monkeypatch.setattr(_bounds, "_PART", 1)
    for a, b in zip(whole, bounds(), strict=True):
        torch.testing.assert_close(a, b)
    monkeypatch.setattr(_bounds, "_by_kernel", lambda tensor: False)
    for a, b in zip(whole, bounds(), strict=True):
        torch.testing.assert_close(a, b, rtol=2e-5, atol=1e-2)


def test_batches_are_as_large_as_memory_allows(device):
    table, bags = random_corpus(np.random.default_rng(14), 64, 30)
    queries = rows_of(bags)
    large = list(corpus_on(device, table, bags, memory=1 << 30).batches(queries))
    small = list(corpus_on(device, table, bags, memory=1).batches(queries))
    assert max(len(batch) for batch in large) == 32
    assert {len(batch) for batch in small} == {1}
    for batches in (large, small):
        asked = np.sort(np.concatenate([batch.numbers for batch in batches]))
        np.testing.assert_array_equal(asked, np.arange(64))
