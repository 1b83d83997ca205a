"""Agglomerative clustering, compared with SciPy on full matrices."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, is_valid_linkage, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

import textkin as tk
from learn.points import apart, pairs_of, rows
from textkin.learn._hierarchy import build_neighbor_graph, cut_merges, link_graph

few = settings(deadline=None, max_examples=25)


@few
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 40),
    how=st.sampled_from(["average", "single"]),
    metric=st.sampled_from(["l2", "cosine"]),
)
def test_graph_of_all_neighbors_merges_like_the_matrix(seed, n, how, metric):
    X = rows(seed, n)
    pairs = pairs_of(X, metric)
    merges = link_graph(pairs, build_neighbor_graph(pairs, n - 1), how, 2)
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
def test_sparse_graph_merges_like_a_matrix_with_the_longest_edge_elsewhere(seed, n, k, how):
    pairs = pairs_of(rows(seed, n))
    low, high, lengths = build_neighbor_graph(pairs, k)
    full = np.full((n, n), lengths.max())
    np.fill_diagonal(full, 0)
    full[low, high] = full[high, low] = lengths
    merges = link_graph(pairs, (low, high, lengths), how, 100)
    expected = linkage(squareform(full, checks=False), how)
    below = expected[:, 2] < lengths.max() * (1 - 1e-9)  # higher merges join components
    assert is_valid_linkage(merges)
    assert_allclose(merges[below, 2], expected[below, 2], rtol=1e-9)
    assert (merges[~below, 2] >= lengths.max() * (1 - 1e-9)).all()
    count = n - int(below.sum())
    assert (
        adjusted_rand_score(cut_merges(merges, count, None), cut_merges(expected, count, None)) == 1
    )


def test_graph_components_merge_by_distances_of_one_document_each():
    X = np.array([[0.0], [0.1], [10.0], [10.1], [30.0], [30.1]])
    pairs = pairs_of(X)
    merges = link_graph(pairs, build_neighbor_graph(pairs, 1), "average", 100)
    assert_allclose(merges[:3, 2], 0.1)
    assert_array_equal(cut_merges(merges, 2, None), [0, 0, 0, 0, 1, 1])
    assert merges[3, 2] == pytest.approx(10, abs=0.2)
    with pytest.raises(ValueError, match="has 3 components"):
        link_graph(pairs, build_neighbor_graph(pairs, 1), "average", 2)


@pytest.mark.parametrize("how", ["average", "single"])
def test_copies_merge_first_and_count_individually(how):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((20, 3)), np.repeat(rng.random((2, 3)), 30, axis=0)])
    X = X[rng.permutation(len(X))]
    pairs = pairs_of(X)
    merges = link_graph(pairs, build_neighbor_graph(pairs, 21), how, 2)  # 22 distinct documents
    expected = linkage(squareform(apart(X), checks=False), how)
    assert is_valid_linkage(merges)
    assert (merges[:, 2] == 0).sum() == 58
    assert_allclose(cophenet(merges), cophenet(expected), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "jaccard"])
@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_documents_at_distance_zero_share_a_cluster(metric, n_neighbors):
    """Check a regression: with more copies than neighbors, average linkage split the copies."""
    rng = np.random.default_rng(1)
    words = (rng.random((40, 12)) < 0.5) * 1.0
    words[:, 0] = 1  # avoids rows of zeros
    X = np.vstack([words, np.repeat(words[:1], 50, axis=0)])
    if metric != "euclidean":
        X *= 2.0 ** np.arange(len(X))[:, None] / 2.0**40  # no two rows are equal
    found = tk.DocumentClustering(
        12, method="agglomerative", metric=metric, max_matrix=80, n_neighbors=n_neighbors
    ).fit(X)
    assert len(set(found.labels_[[0, *range(40, 90)]])) == 1
    assert found.n_clusters_ == 12


def test_equal_texts_share_a_cluster_over_a_graph():
    texts = [f"The {animal} sleeps" for animal in ("cat", "dog", "horse", "cow", "mouse", "bird")]
    texts += ["Stocks fell", "stocks FELL!"] * 20
    found = tk.DocumentClustering(7, method="agglomerative", max_matrix=30, n_neighbors=2).fit(
        texts
    )
    assert_array_equal(found.labels_[6:], [0] * 40)
    with pytest.raises(ValueError, match="at most 7, the number of documents that differ"):
        found.set_params(n_clusters=8).fit(texts)


def test_single_linkage_over_a_graph_equals_scipy():
    X = rows(3, 300, 2)
    pairs = pairs_of(X)
    merges = link_graph(pairs, build_neighbor_graph(pairs, 12), "single", 2)
    expected = linkage(squareform(apart(X), checks=False), "single")
    assert_allclose(merges[:, 2], expected[:, 2], rtol=1e-9)


def test_as_many_clusters_as_documents_need_little_memory():
    """Check a regression: distances from all centers of 2,600 clusters needed 1.4 GB."""
    X = rows(5, 3000)
    whole = tk.DocumentClustering(
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


def test_cut_by_number_and_by_distance():
    merges = linkage(np.array([[0.0], [1.0], [5.0], [5.5], [20.0]]), "single")
    assert_array_equal(cut_merges(merges, 1, None), [0] * 5)
    assert_array_equal(cut_merges(merges, 5, None), range(5))
    assert_array_equal(cut_merges(merges, None, 1.0), [0, 0, 1, 1, 2])
    assert_array_equal(cut_merges(merges, None, 0.99), [0, 1, 2, 2, 3])
    assert_array_equal(cut_merges(np.empty((0, 4)), 1, None), [0])
