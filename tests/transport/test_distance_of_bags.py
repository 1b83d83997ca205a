"""Tests of the fast path for the distance between two valid bags of one row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from textkin import WordMover, _core
from textkin.exceptions import EmptyDocumentError

TABLE = np.random.default_rng(3).normal(size=(9, 5)).astype(np.float32)
ROWS = arrays(np.float32, len(TABLE), elements=st.sampled_from([0, 0, 1, 2, 0.25])).filter(
    lambda row: bool(row.any())
)


def bag(row, kind=sparse.csr_array, index=np.int32, weight=np.float64):
    made = kind(np.atleast_2d(row).astype(weight))
    made.indices, made.indptr = made.indices.astype(index), made.indptr.astype(index)
    return made


def parts(made):
    return made.indptr, made.indices, made.data


def fast_distance(a, b):
    return _core.distance_of_bags(TABLE, *parts(a), *parts(b), "euclidean", 0)


@given(
    ROWS,
    ROWS,
    st.sampled_from([sparse.csr_array, sparse.csr_matrix]),
    st.sampled_from([np.int32, np.int64]),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["euclidean", "cosine", "sqeuclidean"]),
)
def test_fast_and_slow_path_give_bit_identical_distances(a, b, kind, index, weight, cost):
    mover = WordMover(TABLE, cost=cost)
    short = mover.distance(bag(a, kind, index, weight), bag(b, kind, index, weight))
    assert short == mover.distance(a, b)  # dense rows use the slow path
    assert short == mover.pairwise(np.stack([a, b]))[0, 1]


def test_fast_path_is_used():
    a, b = bag([0, 1, 2, 0, 0, 0, 0, 0, 0]), bag([1, 0, 0, 0, 0, 0, 0, 1, 1])
    assert fast_distance(a, b) == WordMover(TABLE).distance(a, b)


def test_zeros_and_unused_capacity_are_ignored():
    b = bag([1, 0, 0, 0, 0, 0, 0, 1, 1])
    plain = bag([0, 1, 0, 2, 0, 0, 0, 0, 0])
    zeros = sparse.csr_array(([1.0, 0.0, 2.0], [1, 2, 3], [0, 3]), shape=(1, 9))
    room = sparse.csr_array(([1.0, 2.0, 7.0], [1, 3, 0], [0, 2]), shape=(1, 9))
    assert fast_distance(plain, b) == fast_distance(zeros, b) == fast_distance(room, b)


def csr(data, indices, count=None):
    made = sparse.csr_array((1, 9))
    made.data, made.indices = np.asarray(data), np.asarray(indices, dtype=np.int32)
    made.indptr = np.array([0, len(indices) if count is None else count], dtype=np.int32)
    return made


@pytest.mark.parametrize(
    "odd",
    [
        csr([], []),
        csr([0.0], [3]),
        csr([1.0, 1.0], [3, 2]),
        csr([1.0, 1.0], [3, 3]),
        csr([1.0, np.nan], [2, 3]),
        csr([1.0, np.inf], [2, 3]),
        csr([1.0, -1.0], [2, 3]),
        csr([1.0], [9]),
        csr([1.0], [-1]),
        csr([1, 2], [2, 3]),
        csr([True, True], [2, 3]),
        csr([1.0], [2], count=2),
    ],
)
def test_unusual_bags_use_the_slow_path(odd):
    good = csr([1.0, 2.0], [1, 4])
    assert fast_distance(odd, good) is None
    assert fast_distance(good, odd) is None


def test_slow_path_sums_duplicates_and_reports_errors():
    mover, good = WordMover(TABLE), csr([1.0, 2.0], [1, 4])
    twice = mover.distance(csr([1.0, 1.0], [3, 3]), good)
    assert twice == mover.distance(csr([2.0], [3]), good)
    assert mover.distance(csr([1, 2], [2, 3]), good) == mover.distance(
        csr([1.0, 2.0], [2, 3]), good
    )
    with pytest.raises(EmptyDocumentError, match="Document b"):
        mover.distance(good, csr([], []))
    assert mover.set_params(empty="inf").distance(good, csr([0.0], [3])) == np.inf
    with pytest.raises(ValueError, match="finite"):
        mover.distance(csr([np.nan], [2]), good)
    with pytest.raises(ValueError, match="9 columns"):
        mover.distance(sparse.csr_array((1, 8)), good)


def test_columns_without_vectors_use_the_slow_path():
    table = TABLE.copy()
    table[4] = np.nan
    a, b = csr([1.0, 2.0], [1, 4]), csr([1.0], [5])
    assert WordMover(table).distance(a, b) == WordMover(TABLE).distance(csr([1.0], [1]), b)
    with pytest.raises(ValueError, match="#4"):
        WordMover(table, oov="error").distance(a, b)
