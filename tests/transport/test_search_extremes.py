"""Corpora with extreme numbers: answers stay exact and bounds stay effective."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from search_reference import (
    COSTS,
    EXACT,
    assert_same_results,
    by_brute_force,
    corpora,
    random_corpus,
)
from textkin import WordMover

TINY_OF_FLOAT32 = 2.0**-149


@pytest.mark.parametrize(
    "mass", [2.3355e-49, *np.linspace(1, 3, 21) * TINY_OF_FLOAT32 / 6000, 1e-57, 1e-200, 5e-324]
)
def test_weights_below_float32_find_the_nearest_document(mass):
    """Issue 6: the nearest document was not found, because its only word has a tiny weight."""
    table = np.array([[0, 1], [1, 1], [1.02, 1], [3, 1]], dtype=np.float32)
    bags = np.eye(4)[1:3] * 1e12
    mover = WordMover(table, word_weights=np.array([1, mass, 1, 1])).fit(bags)
    query = np.eye(4)[:1]
    expected = by_brute_force(mover.pairwise(query, bags), 1)
    assert expected[0][0].tolist() == [0]
    for algorithm in EXACT:
        found = mover.search(query, 1, algorithm=algorithm)
        assert_same_results(found, expected)
        assert found.certificate(0).verify().exact


@st.composite
def wide_weights(draw):
    """Draw vectors, bags, and word weights that differ by up to 79 powers of ten."""
    table, bags = draw(corpora())
    size = st.sampled_from([1e-49, 1e-30, 0.0, 0.1, 1.0, 1e30])
    return table, bags, draw(arrays(np.float64, len(table), elements=size))


@given(
    wide_weights(), st.sampled_from(COSTS), st.sampled_from(EXACT), st.sampled_from([1, 3, None])
)
@settings(max_examples=100)
def test_weights_of_a_wide_range_equal_brute_force(case, cost, algorithm, k):
    table, bags, weights = case
    mover = WordMover(table, word_weights=weights, cost=cost, empty="inf").fit(bags)
    queries = np.vstack([bags[:3], np.eye(len(table))[:3]])
    expected = by_brute_force(mover.pairwise(queries, bags), k)
    assert_same_results(mover.search(queries, k, algorithm=algorithm), expected)


@pytest.mark.parametrize("cost", COSTS)
def test_certificates_ignore_words_of_negligible_weight(rng, cost):
    """Some of these masses are 0 as integers, so that such words have no effect."""
    table, bags = random_corpus(rng, 30, 60)
    bags *= 10.0 ** rng.integers(-20, 1, size=bags.shape)
    mover = WordMover(table, cost=cost).fit(bags)
    found = mover.search(bags[:4], 2)
    assert_same_results(found, by_brute_force(mover.pairwise(bags[:4], bags), 2))
    for query in range(4):
        assert found.certificate(query).verify(sample=None).exact


@pytest.mark.parametrize("scale", [1e-38, 1e-10, 1, 1e10, 1e20])
def test_one_extreme_vector_changes_neither_answers_nor_bounds(rng, scale):
    """Issue 6: one scale for all vectors made every bound useless because of one extreme vector."""
    table, bags = random_corpus(rng, 300, 400, dimension=10)
    table[7] = (table[7].astype(float) * scale).astype(np.float32)
    bags[:5, 7] = 1
    queries = random_corpus(rng, 10, 400)[1]
    queries[0, 7] = 1
    mover = WordMover(table).fit(bags)
    found = mover.search(queries, 5)
    assert_same_results(found, by_brute_force(mover.pairwise(queries, bags), 5))
    if scale <= 1e10:  # larger vectors leave float32 no digits for the others
        assert found.stats.solved.mean() < len(bags) / 2


@pytest.mark.parametrize("words", [13, 14, 15])
def test_bounds_are_tight_for_any_number_of_words(rng, words):
    """Issue 6: bounds were tight only if the words of a query filled vector registers, such as 16.

    The same query has 15, 16, or 17 words if some are split over two columns of the same vector.
    """
    table, bags = random_corpus(rng, 600, 1000, dimension=20, longest=40)
    table, bags = np.vstack([table, table]), np.hstack([bags, np.zeros_like(bags)])
    queries = np.zeros((12, 2000))
    for query in queries:
        query[rng.choice(1000, words, replace=False)] = 2
    mover = WordMover(table).fit(bags)
    plain = mover.search(queries, 10)
    for written in (15, 16, 17):
        split = queries.copy()
        for query in split:
            chosen = np.flatnonzero(query)[: written - words]
            query[chosen] = query[chosen + 1000] = 1
        assert np.all(np.count_nonzero(split, axis=1) == written)
        found = mover.search(split, 10)
        np.testing.assert_allclose(found.distances, plain.distances, rtol=2e-6)
        assert found.stats.solved.mean() == pytest.approx(plain.stats.solved.mean(), rel=0.25)


LITTLE_MEMORY = """
import resource
import numpy as np
from scipy import sparse
from textkin import WordMover

rng = np.random.default_rng(0)
table = rng.normal(size=(3000, 4)).astype(np.float32)
bags = sparse.random_array((400, 3000), density=0.004, rng=rng, format="csr")
query = np.ones((1, 3000))
mover = WordMover(table, n_jobs=1).fit(bags)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
usual = resource.getrlimit(resource.RLIMIT_AS)
failed, found = 0, None
while found is None:
    resource.setrlimit(resource.RLIMIT_AS, (used + (failed << 21), usual[1]))
    try:
        found = mover.search(query, 3)
    except MemoryError:
        failed += 1
resource.setrlimit(resource.RLIMIT_AS, usual)
assert (found.distances == mover.search(query, 3, algorithm="brute").distances).all()
assert failed > 5
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory in use")
def test_search_out_of_memory_does_not_affect_the_next():
    """Increase the memory step by step; each search must again request missing memory."""
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
