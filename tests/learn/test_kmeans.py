"""Tests of k-means: central documents and distinct rows."""

import numpy as np
from numpy.testing import assert_allclose

import textkin as tk
from learn.points import apart, rows
from textkin.learn._kmeans import count_distinct_rows, unit_rows


def test_central_documents_have_the_smallest_mean_distance():
    X = rows(5, 80, 4)
    found = tk.DocumentClustering(4, random_state=0).fit(X)
    matrix = apart(X, "cosine")
    for cluster in found.clusters_:
        sums = matrix[np.ix_(cluster.members, cluster.members)].sum(axis=1)
        assert cluster.members[sums.argmin()] == cluster.central == cluster.members[0]
    euclidean = tk.DocumentClustering(4, metric="euclidean", random_state=0).fit(X)
    for cluster, mean in zip(euclidean.clusters_, euclidean.cluster_centers_, strict=True):
        assert_allclose(mean, X[cluster.members].mean(axis=0))
        assert_allclose(cluster.distances, np.linalg.norm(X[cluster.members] - mean, axis=1))
        squares = apart(X[cluster.members]) ** 2
        assert squares.sum(axis=1).argmin() == 0
    assert_allclose(
        euclidean.inertia_, sum((cluster.distances**2).sum() for cluster in euclidean.clusters_)
    )


def test_count_distinct_rows():
    assert count_distinct_rows(np.array([[1.0, 2.0], [1.0, 2.0], [0.0, -0.0], [0.0, 0.0]])) == 2
    assert (
        count_distinct_rows(unit_rows(np.array([[1.0, 1, 1], [3, 3, 3], [1e300, 1e300, 1e300]])))
        == 1
    )
