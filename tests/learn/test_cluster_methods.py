"""k-medoids, linkage and words beside slow, obvious versions of the same."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, is_valid_linkage, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

import textkin as tk
from textkin.learn._choosing import measure_of
from textkin.learn._describing import log_odds
from textkin.learn._kmeans import n_distinct, unit_rows
from textkin.learn._linkage import cut, graph_linkage, neighbour_graph
from textkin.learn._medoids import seeded, swapped
from textkin.learn._pairs import Pairs, matrix_of
from textkin.learn._placing import placed

few = settings(deadline=None, max_examples=25)


def rows(seed, n, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def apart(X, metric="l2"):
    return tk.distances(X, metric=metric)


def cost(matrix, medoids):
    return sum(min(matrix[m, i] for m in medoids) for i in range(len(matrix)))


def pairs_of(X, metric="l2"):
    measure = measure_of(metric).fit(X)
    return Pairs(measure, np.flatnonzero(~measure.empty))


# ------------------------------------------------------------------ k-medoids


@few
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), k=st.integers(1, 4))
def test_no_exchange_of_a_medoid_lowers_the_cost(seed, n, k):
    k = min(k, n)
    matrix = apart(rows(seed, n))
    medoids = swapped(matrix, seeded(matrix, k, np.random.RandomState(seed)))
    assert len(set(medoids.tolist())) == k
    found = cost(matrix, medoids)
    for out in medoids:
        for candidate in set(range(n)) - set(medoids.tolist()):
            other = [candidate if m == out else m for m in medoids]
            assert cost(matrix, other) >= found - 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_the_best_of_ten_starts_is_the_best_of_all_medoids(seed):
    n, k = 9, 1 + seed % 3
    X = rows(seed, n)
    found = tk.DocumentClusters(k, method="kmedoids", metric="l2", random_state=0).fit(X)
    matrix = apart(X)
    best = min(cost(matrix, medoids) for medoids in combinations(range(n), k))
    assert_allclose(found.inertia_, best, rtol=1e-9)
    assert_allclose(found.inertia_, cost(matrix, [c.central for c in found.clusters_]), rtol=1e-9)


def test_seeds_differ_and_are_not_more_than_there_are():
    matrix = apart(np.array([[0.0], [0.0], [1.0], [1.0], [5.0]]))
    for seed in range(20):
        chosen = seeded(matrix, 3, np.random.RandomState(seed))
        assert_array_equal(np.sort(matrix[chosen].min(axis=0)), np.zeros(5))
    with pytest.raises(ValueError, match="at most 3, the number of documents that differ; got 4"):
        seeded(matrix, 4, np.random.RandomState(0))


def test_above_the_size_medoids_are_drawn_and_all_documents_assigned_exactly():
    X = np.vstack([rows(1, 60) * 0.2 + 5 * np.eye(3)[i] for i in range(3)])
    asked = {"method": "kmedoids", "metric": "l2", "random_state": 0}
    found = tk.DocumentClusters(3, max_matrix=30, **asked).fit(X)
    medoids = np.array([cluster.central for cluster in found.clusters_])
    assert_array_equal(found.labels_, apart(X)[:, medoids].argmin(axis=1))
    assert adjusted_rand_score(np.repeat(range(3), 60), found.labels_) == 1
    whole = tk.DocumentClusters(3, **asked).fit(X)
    assert whole.inertia_ <= found.inertia_ < 1.2 * whole.inertia_


def test_too_few_of_the_drawn_documents_differ():
    """It said that no more than one document differs, of all."""
    X = np.vstack([np.ones((3000, 2)), [[1.0, 2.0]]])
    asked = tk.DocumentClusters(2, method="kmedoids", metric="l2", max_matrix=10, random_state=0)
    with pytest.raises(ValueError, match=r"at most 1, .*\(of max_matrix=10 that were drawn"):
        asked.fit(X)


# ------------------------------------------------------------------ linkage


@few
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 40),
    how=st.sampled_from(["average", "single"]),
    metric=st.sampled_from(["l2", "cosine"]),
)
def test_a_graph_with_all_neighbours_merges_as_the_matrix_does(seed, n, how, metric):
    X = rows(seed, n)
    pairs = pairs_of(X, metric)
    merges = graph_linkage(pairs, neighbour_graph(pairs, n - 1), how, 2)
    expected = linkage(squareform(apart(X, metric), checks=False), how)
    assert is_valid_linkage(merges)
    assert_allclose(merges[:, 2], expected[:, 2], rtol=1e-9, atol=1e-12)
    assert_allclose(cophenet(merges), cophenet(expected), rtol=1e-9, atol=1e-12)
    assert_array_equal(merges[:, 3], expected[:, 3])


@few
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 40),
    k=st.integers(1, 6),
    how=st.sampled_from(["average", "single"]),
)
def test_a_sparse_graph_merges_as_a_matrix_in_which_other_pairs_are_far(seed, n, k, how):
    pairs = pairs_of(rows(seed, n))
    low, high, lengths = neighbour_graph(pairs, k)
    full = np.full((n, n), lengths.max())
    np.fill_diagonal(full, 0)
    full[low, high] = full[high, low] = lengths
    merges = graph_linkage(pairs, (low, high, lengths), how, 100)
    expected = linkage(squareform(full, checks=False), how)
    below = expected[:, 2] < lengths.max() * (1 - 1e-9)  # above are parts, by other distances
    assert is_valid_linkage(merges)
    assert_allclose(merges[below, 2], expected[below, 2], rtol=1e-9)
    assert (merges[~below, 2] >= lengths.max() * (1 - 1e-9)).all()
    count = n - int(below.sum())
    assert adjusted_rand_score(cut(merges, count, None), cut(expected, count, None)) == 1


def test_parts_of_a_graph_are_joined_by_the_distances_of_one_document_each():
    X = np.array([[0.0], [0.1], [10.0], [10.1], [30.0], [30.1]])
    pairs = pairs_of(X)
    merges = graph_linkage(pairs, neighbour_graph(pairs, 1), "average", 100)
    assert_allclose(merges[:3, 2], 0.1)
    assert_array_equal(cut(merges, 2, None), [0, 0, 0, 0, 1, 1])
    assert merges[3, 2] == pytest.approx(10, abs=0.2)
    with pytest.raises(ValueError, match="falls into 3 parts"):
        graph_linkage(pairs, neighbour_graph(pairs, 1), "average", 2)


@pytest.mark.parametrize("how", ["average", "single"])
def test_copies_merge_first_over_a_graph_and_count_as_in_the_matrix(how):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((20, 3)), np.repeat(rng.random((2, 3)), 30, axis=0)])
    X = X[rng.permutation(len(X))]
    pairs = pairs_of(X)
    merges = graph_linkage(pairs, neighbour_graph(pairs, 21), how, 2)  # 22 documents differ
    expected = linkage(squareform(apart(X), checks=False), how)
    assert is_valid_linkage(merges)
    assert (merges[:, 2] == 0).sum() == 58
    assert_allclose(cophenet(merges), cophenet(expected), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "jaccard"])
@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_documents_at_no_distance_are_together_over_a_graph(metric, n_neighbors):
    """More copies than neighbours: average linkage put them into different clusters."""
    rng = np.random.default_rng(1)
    words = (rng.random((40, 12)) < 0.5) * 1.0
    words[:, 0] = 1  # no row of zeros
    X = np.vstack([words, np.repeat(words[:1], 50, axis=0)])
    if metric != "euclidean":
        X *= 2.0 ** np.arange(len(X))[:, None] / 2.0**40  # no two are the same numbers
    found = tk.DocumentClusters(
        12, method="agglomerative", metric=metric, max_matrix=80, n_neighbors=n_neighbors
    ).fit(X)
    assert len(set(found.labels_[[0, *range(40, 90)]])) == 1
    assert found.n_clusters_ == 12


def test_equal_documents_are_together_over_a_graph_of_texts():
    texts = [f"The {animal} sleeps" for animal in ("cat", "dog", "horse", "cow", "mouse", "bird")]
    texts += ["Stocks fell", "stocks FELL!"] * 20
    found = tk.DocumentClusters(7, method="agglomerative", max_matrix=30, n_neighbors=2).fit(texts)
    assert_array_equal(found.labels_[6:], [0] * 40)
    with pytest.raises(ValueError, match="at most 7, the number of documents that differ"):
        found.set_params(n_clusters=8).fit(texts)


def test_single_linkage_over_a_graph_is_exact_where_edges_suffice():
    X = rows(3, 300, 2)
    pairs = pairs_of(X)
    merges = graph_linkage(pairs, neighbour_graph(pairs, 12), "single", 2)
    expected = linkage(squareform(apart(X), checks=False), "single")
    assert_allclose(merges[:, 2], expected[:, 2], rtol=1e-9)


def test_as_many_clusters_as_documents_need_no_matrix():
    """Distances from every centre were kept: 1.4 gigabytes for 2,600 clusters of 6,000."""
    X = rows(5, 3000)
    whole = tk.DocumentClusters(
        None, method="agglomerative", metric="euclidean", distance_threshold=0.02, max_matrix=500
    )
    tracemalloc.start()
    try:
        whole.fit(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert whole.n_clusters_ > 2500
    assert peak < len(X) * len(X) * 8 / 2
    for cluster in whole.clusters_:
        far = np.linalg.norm(X[cluster.members] - X[cluster.central], axis=1)
        assert_allclose(cluster.distances, far, atol=1e-9)
    assert np.isfinite(whole.picture().points).all()


def test_a_cut_by_number_and_by_distance():
    merges = linkage(np.array([[0.0], [1.0], [5.0], [5.5], [20.0]]), "single")
    assert_array_equal(cut(merges, 1, None), [0] * 5)
    assert_array_equal(cut(merges, 5, None), range(5))
    assert_array_equal(cut(merges, None, 1.0), [0, 0, 1, 1, 2])
    assert_array_equal(cut(merges, None, 0.99), [0, 1, 2, 2, 3])
    assert_array_equal(cut(np.empty((0, 4)), 1, None), [0])


def test_a_matrix_is_made_of_halves_and_tells_of_them():
    X = rows(0, 150)
    told = []
    measure = measure_of("l2").fit(X)
    matrix = matrix_of(measure, np.arange(150), lambda *done: told.append(done))
    assert_allclose(matrix, apart(X), atol=1e-12)
    assert told == sorted(told)
    assert told[-1] == (150 * 151 // 2,) * 2


# ------------------------------------------------------------------ k-means


def test_central_documents_of_means_have_the_smallest_mean_distance():
    X = rows(5, 80, 4)
    found = tk.DocumentClusters(4, random_state=0).fit(X)
    matrix = apart(X, "cosine")
    for cluster in found.clusters_:
        sums = matrix[np.ix_(cluster.members, cluster.members)].sum(axis=1)
        assert cluster.members[sums.argmin()] == cluster.central == cluster.members[0]
    euclidean = tk.DocumentClusters(4, metric="euclidean", random_state=0).fit(X)
    for cluster, mean in zip(euclidean.clusters_, euclidean.cluster_centers_, strict=True):
        assert_allclose(mean, X[cluster.members].mean(axis=0))
        assert_allclose(cluster.distances, np.linalg.norm(X[cluster.members] - mean, axis=1))
        squares = apart(X[cluster.members]) ** 2
        assert squares.sum(axis=1).argmin() == 0
    assert_allclose(
        euclidean.inertia_, sum((cluster.distances**2).sum() for cluster in euclidean.clusters_)
    )


def test_rows_that_differ():
    assert n_distinct(np.array([[1.0, 2.0], [1.0, 2.0], [0.0, -0.0], [0.0, 0.0]])) == 2
    assert n_distinct(unit_rows(np.array([[1.0, 1, 1], [3, 3, 3], [1e300, 1e300, 1e300]]))) == 1


# ------------------------------------------------------------------ words and places


def test_log_odds_by_hand():
    # One of two words: y = 8 and 2 of 10 inside, 2 and 8 outside, a prior of 1 each.
    delta = np.log(9 / 3) - np.log(3 / 9)
    z = delta / np.sqrt(1 / 9 + 1 / 3)
    assert_allclose(log_odds(np.array([8.0, 2]), np.array([2.0, 8]), prior=2.0), [z, -z])
    # Three words, a_0 = 6: shares 6/12, 4/12, 2/12 of all make priors of 3, 2 and 1.
    inside, outside = np.array([4.0, 1, 1]), np.array([2.0, 3, 1])
    first = np.log(7 / (6 + 6 - 7)) - np.log(5 / (6 + 6 - 5))
    assert_allclose(
        log_odds(inside, outside, prior=6.0)[0], first / np.sqrt(1 / 7 + 1 / 5), rtol=1e-12
    )


def test_log_odds_of_words_that_are_nowhere_or_alone():
    assert_array_equal(log_odds(np.zeros(2), np.zeros(2)), [0, 0])
    assert log_odds(np.array([3.0, 0.0, 2]), np.array([1.0, 0.0, 9]))[1] == 0
    assert_array_equal(log_odds(np.array([3.0]), np.array([1.0])), [0])
    assert_allclose(log_odds(np.array([3.0, 5]), np.zeros(2)), [0, 0], atol=1e-12)


def test_places_keep_clusters_together_and_near_ones_near():
    centres = np.array([[0.0, 0], [0, 2], [9, 0]])
    labels = np.repeat(range(3), 50)
    X = centres[labels] + 0.3 * rows(2, 150, 2)
    places = placed(tk.distances(X, centres, "l2"), labels)
    middles = np.array([places[labels == c].mean(axis=0) for c in range(3)])
    near, far = (np.linalg.norm(middles[0] - middles[c]) for c in (1, 2))
    assert near < far / 2
    for c in range(3):
        assert np.linalg.norm(places[labels == c] - middles[c], axis=1).max() < near
    assert np.isfinite(placed(np.zeros((4, 2)), np.array([0, 0, 1, 1]))).all()
    assert_array_equal(placed(np.array([[1.0], [2.0]]), np.zeros(2, int)), [[1, 0], [2, 0]])
