"""Tests of distance matrices that are computed by halves."""

import numpy as np
from numpy.testing import assert_allclose

from learn.points import apart, rows
from textkin.learn._cluster_method import compute_matrix
from textkin.learn._measure import make_measure


def test_compute_matrix_computes_each_pair_once_and_reports_progress():
    X = rows(0, 150)
    told = []
    measure = make_measure("l2").fit(X)
    matrix = compute_matrix(measure, np.arange(150), lambda *done: told.append(done))
    assert_allclose(matrix, apart(X), atol=1e-12)
    assert told == sorted(told)
    assert told[-1] == (150 * 151 // 2,) * 2
