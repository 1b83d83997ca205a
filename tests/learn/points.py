"""Random points, and their distances."""

import numpy as np

import textkin as tk
from textkin.learn._cluster_method import DocumentDistances
from textkin.learn._measure import make_measure


def rows(seed, n, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def apart(X, metric="l2"):
    return tk.pairwise_distances(X, metric=metric)


def pairs_of(X, metric="l2"):
    measure = make_measure(metric).fit(X)
    return DocumentDistances(measure, np.flatnonzero(~measure.empty))
