"""Searches of documents long enough for Sinkhorn bounds equal brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_reference import COSTS, assert_same_results, by_brute_force
from textkin import WordMover, _core
from textkin.transport import SearchOptions

LENGTHS = (1e-30, 1e-17, 1e-9, 1.0, 1e9, 1e17, 1e30)


@pytest.fixture(scope="module", autouse=True)
def restore_instruction_set():
    usual = _core.instruction_set()
    yield
    _core.use_instruction_set(usual)


def vectors(draw, rng, words):
    dimension = draw(st.sampled_from([1, 2, 20]))
    table = rng.normal(size=(words, dimension))
    kind = draw(st.sampled_from(["any", "lattice", "nudged", "heaps", "far", "scattered"]))
    if kind in ("lattice", "nudged"):  # many equal distances and equal vectors
        table = np.round(table)
    if kind == "nudged":
        table *= 1 + 1e-6 * rng.integers(-1, 2, size=(words, 1))
    if kind == "heaps":
        table = 100 * table[rng.integers(4, size=words)] + 1e-3 * table
    if kind == "far":  # shift away from the origin
        table = table / 16 + 4
    table *= draw(st.sampled_from(LENGTHS))
    if kind == "scattered":
        table *= rng.choice([1e-7, 1e-3, 1.0, 1e3, 1e7], size=(words, 1))
    table = table.astype(np.float32)
    table[~table.any(axis=1)] = table.flat[np.abs(table).argmax()]  # zero vectors have no direction
    return table


def documents(draw, rng, rows, words):
    """Return bags, many of which are almost equal to the first."""
    bags = rng.integers(1, 4, size=(rows, words)) * (rng.random((rows, words)) < 0.6)
    bags = bags.astype(np.float64)
    bags[0, :20] = 1
    kind = draw(st.sampled_from(["counts", "weights", "wide", "tiny"]))
    if kind == "weights":
        bags *= rng.random(bags.shape)
    if kind == "wide":
        bags *= 10.0 ** rng.integers(-20, 20, size=bags.shape)
    for row in range(2, rows, 2):
        if draw(st.booleans()):
            bags[row] = bags[0] * rng.choice([1, 2, 3, 0.1])
            bags[row, rng.integers(words)] += rng.choice([0, 1, 1e-3, 1e-9, 1e-13])
    if kind == "tiny":  # relative to the mass common to all documents
        bags = bags[0] + bags * draw(st.sampled_from([1e-6, 1e-12, 1e-300]))
    return bags


@st.composite
def long_movers(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, words = draw(st.sampled_from([(14, 40), (40, 70)]))
    table = vectors(draw, rng, words)
    bags = documents(draw, rng, rows, words)
    cost = draw(st.sampled_from(COSTS))
    mover = WordMover(table, cost=cost, n_jobs=draw(st.sampled_from([1, 2, 5])))
    _core.use_instruction_set(draw(st.sampled_from(_core.instruction_sets())))
    queries = np.vstack([bags[:2], rng.permutation(bags[0])])
    return mover.fit(bags), bags, queries


@given(long_movers(), st.sampled_from([1, 3, None]), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_long_documents_equal_brute_force(case, k, near, masked):
    mover, bags, queries = case
    distances = mover.pairwise(queries, bags)
    radius = float(np.median(distances)) if near else None  # exactly one of the distances
    mask = np.arange(len(bags)) % 3 > 0 if masked else None
    found = mover.search(queries, k, radius=radius, mask=mask)
    assert_same_results(
        found, by_brute_force(distances, k, np.inf if radius is None else radius, mask)
    )
    assert found.certificate(2).verify(sample=None).exact


@given(long_movers(), st.sampled_from([1, 3]), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_long_candidates_equal_brute_force(case, k, threads):
    mover, bags, queries = case
    distances = mover.pairwise(queries, bags)
    found = mover.engine().core.solve(
        mover.read_queries(queries).documents(),
        np.arange(3),
        len(bags) * np.arange(4),
        np.tile(np.arange(len(bags)), 3),
        np.zeros(3 * len(bags)),
        np.full(3, np.inf),
        SearchOptions(k=k, threads=threads),
    )
    for i, (indices, values) in enumerate(by_brute_force(distances, k)):
        np.testing.assert_array_equal(found[1][k * i : k * i + k], indices)
        np.testing.assert_array_equal(found[2][k * i : k * i + k], values)
