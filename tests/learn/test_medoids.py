"""k-medoids, compared with all choices of medoids."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

import textkin as tk
from learn.points import apart, rows
from textkin.learn._medoids import seed_medoids, swap_medoids

few = settings(deadline=None, max_examples=25)


def cost(matrix, medoids):
    return sum(min(matrix[m, i] for m in medoids) for i in range(len(matrix)))


@few
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), k=st.integers(1, 4))
def test_no_swap_of_a_medoid_lowers_the_cost(seed, n, k):
    k = min(k, n)
    matrix = apart(rows(seed, n))
    medoids = swap_medoids(matrix, seed_medoids(matrix, k, np.random.RandomState(seed)))
    assert len(set(medoids.tolist())) == k
    found = cost(matrix, medoids)
    for out in medoids:
        for candidate in set(range(n)) - set(medoids.tolist()):
            other = [candidate if m == out else m for m in medoids]
            assert cost(matrix, other) >= found - 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_best_of_ten_starts_is_optimal(seed):
    n, k = 9, 1 + seed % 3
    X = rows(seed, n)
    found = tk.DocumentClustering(k, method="kmedoids", metric="l2", random_state=0).fit(X)
    matrix = apart(X)
    best = min(cost(matrix, medoids) for medoids in combinations(range(n), k))
    assert_allclose(found.inertia_, best, rtol=1e-9)
    assert_allclose(found.inertia_, cost(matrix, [c.central for c in found.clusters_]), rtol=1e-9)


def test_seeds_are_distinct_and_limited():
    matrix = apart(np.array([[0.0], [0.0], [1.0], [1.0], [5.0]]))
    for seed in range(20):
        chosen = seed_medoids(matrix, 3, np.random.RandomState(seed))
        assert_array_equal(np.sort(matrix[chosen].min(axis=0)), np.zeros(5))
    with pytest.raises(ValueError, match="at most 3, the number of documents that differ; got 4"):
        seed_medoids(matrix, 4, np.random.RandomState(0))


def test_large_sets_sample_medoids_and_assign_all_documents():
    X = np.vstack([rows(1, 60) * 0.2 + 5 * np.eye(3)[i] for i in range(3)])
    asked = {"method": "kmedoids", "metric": "l2", "random_state": 0}
    found = tk.DocumentClustering(3, max_matrix=30, **asked).fit(X)
    medoids = np.array([cluster.central for cluster in found.clusters_])
    assert_array_equal(found.labels_, apart(X)[:, medoids].argmin(axis=1))
    assert adjusted_rand_score(np.repeat(range(3), 60), found.labels_) == 1
    whole = tk.DocumentClustering(3, **asked).fit(X)
    assert whole.inertia_ <= found.inertia_ < 1.2 * whole.inertia_


def test_too_few_distinct_sampled_documents_raise():
    """Check a regression: the message counted distinct documents of the whole set."""
    X = np.vstack([np.ones((3000, 2)), [[1.0, 2.0]]])
    asked = tk.DocumentClustering(2, method="kmedoids", metric="l2", max_matrix=10, random_state=0)
    with pytest.raises(ValueError, match=r"at most 1, .*\(of max_matrix=10 sampled ones"):
        asked.fit(X)
