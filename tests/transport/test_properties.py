"""Properties of every pair: metric axioms, bounds, scale, order, and batches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from textkin.transport import WordMover

N_WORDS = 12
COORDINATE = st.floats(-4, 4, width=32).filter(lambda x: abs(x) > 1e-3 or x == 0)
VECTORS = arrays(np.float32, (N_WORDS, 3), elements=COORDINATE).filter(
    lambda table: bool(np.all(np.any(table != 0, axis=1)))
)
COUNTS = arrays(np.float32, N_WORDS, elements=st.integers(0, 3).map(float)).filter(
    lambda counts: bool(counts.any())
)
WEIGHTS = arrays(np.float64, N_WORDS, elements=st.floats(0, 1)).filter(
    lambda weights: weights.max() > 1e-3
)
ROWS = st.one_of(COUNTS, WEIGHTS)


def close(value, scale=10.0):
    return pytest.approx(value, rel=2e-6, abs=2e-7 * scale)


@given(VECTORS, ROWS, ROWS)
def test_distance_is_symmetric_bit_by_bit(vectors, a, b):
    mover = WordMover(vectors)
    assert mover.distance(a, b) == mover.distance(b, a)


@given(VECTORS, ROWS)
def test_distance_to_itself_and_its_multiples_is_zero(vectors, a):
    mover = WordMover(vectors)
    assert mover.distance(a, a) == 0
    assert mover.distance(a, a * 2) == pytest.approx(0, abs=1e-6)


@given(VECTORS, ROWS, ROWS, ROWS)
def test_triangle_inequality(vectors, a, b, c):
    mover = WordMover(vectors)
    direct = mover.distance(a, c)
    assert direct <= (mover.distance(a, b) + mover.distance(b, c)) * (1 + 2e-6) + 1e-6


@given(VECTORS, ROWS, ROWS, st.sampled_from(["euclidean", "sqeuclidean", "cosine"]))
@settings(max_examples=200)
def test_bounds_explanation_and_certificate_are_consistent(vectors, a, b, cost):
    found = WordMover(vectors, cost=cost).explain(a, b)
    verification = found.verify()
    assert verification.gap <= verification.allowed
    slack = found.distance * 1e-6 + 1e-6
    assert 0 <= found.bounds.centroid <= found.distance + slack
    assert 0 <= found.bounds.source <= found.distance + slack
    assert 0 <= found.bounds.target <= found.distance + slack
    assert found.bounds.relaxed == max(found.bounds.source, found.bounds.target)
    contributions = sum(move.contribution for move in found.moves)
    assert contributions == pytest.approx(found.distance, rel=1e-9, abs=1e-12)
    assert sum(move.mass for move in found.moves) == pytest.approx(1, rel=1e-9)
    assert sum(mass for _, mass in found.flow.sources) == pytest.approx(1, rel=1e-9)
    shares = [found.flow.share(move) for move in found.moves]
    assert sum(shares) == pytest.approx(1 if found.distance > 0 else 0, rel=1e-9)


@given(VECTORS, ROWS, ROWS, st.sampled_from([0.25, 3.0, 1000.0]))
def test_scaled_vectors_scale_the_distance(vectors, a, b, factor):
    small = WordMover(vectors).distance(a, b)
    large = WordMover((vectors * np.float32(factor)).astype(np.float32)).distance(a, b)
    assert large == close(small * factor, 10 * factor)


@given(VECTORS, ROWS, ROWS, st.permutations(range(N_WORDS)))
def test_order_of_columns_does_not_matter(vectors, a, b, order):
    order = list(order)
    plain = WordMover(vectors).distance(a, b)
    assert WordMover(vectors[order]).distance(a[order], b[order]) == close(plain)


@given(st.permutations(["obama", "speaks", "media", "illinois", "press", "chicago"]))
def test_order_of_words_in_a_text_does_not_matter(words):
    mover = WordMover()
    other = "The President greets the press"
    plain = mover.distance(" ".join(sorted(words)), other)
    assert mover.distance(" ".join(words), other) == plain


@given(VECTORS, st.lists(ROWS, min_size=1, max_size=5), st.integers(1, 4))
@settings(max_examples=30)
def test_batch_equals_single_pairs_for_any_n_jobs(vectors, rows, n_jobs):
    bags = sparse.csr_array(np.array(rows, dtype=np.float64))
    mover = WordMover(vectors)
    single = np.array([[mover.distance(a, b) for b in rows] for a in rows])
    threaded = WordMover(vectors, n_jobs=n_jobs)
    np.testing.assert_array_equal(threaded.pairwise(bags, bags.copy()), single)
    np.testing.assert_array_equal(threaded.pairwise(bags), single)
    np.testing.assert_array_equal(threaded.paired(bags, bags[::-1]), np.diag(single[:, ::-1]))


@given(VECTORS, ROWS, ROWS)
def test_explain_gives_the_identical_distance_and_a_stable_flow(vectors, a, b):
    mover = WordMover(vectors)
    first, second = mover.explain(a, b), mover.explain(a, b)
    assert first.distance == mover.distance(a, b)
    assert first.moves == second.moves


def test_removing_common_mass_does_not_change_the_distance(rng):
    """Shared words in other columns are not recognized, so that no mass is removed."""
    vectors = rng.normal(size=(40, 20)).astype(np.float32)
    twice = WordMover(np.vstack([vectors, vectors]))
    once = WordMover(vectors)
    for _ in range(20):
        a, b = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
        nothing = np.zeros(40)
        full = twice.explain(np.append(a, nothing), np.append(nothing, b))
        full.verify()
        assert once.distance(a, b) == pytest.approx(full.distance, rel=1e-6)


def test_ties_are_always_broken_in_the_same_way():
    corners = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=np.float32)
    mover = WordMover(corners)
    a, b = np.array([1, 0, 1, 0]), np.array([0, 1, 0, 1])
    flows = [mover.explain(a, b).moves for _ in range(5)]
    assert all(flow == flows[0] for flow in flows)
    backwards = mover.explain(b, a)
    assert {(m.target, m.source) for m in backwards.moves} == {
        (m.source, m.target) for m in flows[0]
    }
