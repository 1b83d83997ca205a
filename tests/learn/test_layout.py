"""Tests of layouts: clusters stay together, and similar clusters are close."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import textkin as tk
from learn.points import rows
from textkin.learn._layout import cluster_layout, map_layout


def silent(_done, _total):
    pass


def test_map_layout_keeps_groups_together():
    random = np.random.default_rng(0)
    centres = np.eye(4)
    labels = np.repeat(np.arange(4), 50)
    rows = centres[labels] + random.normal(0, 0.1, (200, 4))
    places = map_layout(rows, silent)
    near = ((places[:, None] - places) ** 2).sum(axis=2)
    np.fill_diagonal(near, np.inf)
    nearest = near.argsort(axis=1)[:, :10]
    assert (labels[nearest] == labels[:, None]).mean() > 0.95
    assert np.array_equal(places, map_layout(rows, silent))


def test_map_layout_of_empty_and_equal_rows():
    assert map_layout(np.zeros((0, 3)), silent).shape == (0, 2)
    same = map_layout(np.ones((30, 3)), silent)
    assert np.isfinite(same).all()
    empty = map_layout(np.vstack([np.eye(3), np.zeros((2, 3))]), silent)
    assert (empty[3:, 1] == 0).all()
    assert (empty[:3, 1] > 0).all()


def test_map_layout_can_be_interrupted():
    def stop(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_layout(np.random.default_rng(0).normal(size=(50, 3)), stop)


def test_cluster_layout_keeps_clusters_together_and_similar_ones_close():
    centres = np.array([[0.0, 0], [0, 2], [9, 0]])
    labels = np.repeat(range(3), 50)
    X = centres[labels] + 0.3 * rows(2, 150, 2)
    places = cluster_layout(tk.pairwise_distances(X, centres, "l2"), labels)
    middles = np.array([places[labels == c].mean(axis=0) for c in range(3)])
    near, far = (np.linalg.norm(middles[0] - middles[c]) for c in (1, 2))
    assert near < far / 2
    for c in range(3):
        assert np.linalg.norm(places[labels == c] - middles[c], axis=1).max() < near
    assert np.isfinite(cluster_layout(np.zeros((4, 2)), np.array([0, 0, 1, 1]))).all()
    assert_array_equal(cluster_layout(np.array([[1.0], [2.0]]), np.zeros(2, int)), [[1, 0], [2, 0]])
