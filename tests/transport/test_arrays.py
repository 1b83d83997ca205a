"""Arrays that the core reads by NumPy's own fields, and those that come another way."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from textkin import WordMover, _core

MASSES = np.array([0.2, 0.5, 0.3])
COSTS = np.array([[0.0, 2.0, 3.5], [2.0, 0.25, 1.0], [3.5, 1.0, 0.0]])
EXPECTED = _core.transport_cost(MASSES, MASSES[::-1].copy(), COSTS)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def mapped(array, folder):
    path = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def named(array):
    """An array whose dtype is not the usual object."""
    return array.astype(np.dtype(np.float64, metadata={"unit": "share"}))


def test_the_cost_is_that_of_the_best_plan():
    # A tenth goes from the last word to the first: by way of the second one for 1 + 2, in place
    # of as much that would stay there for 0.25.
    assert pytest.approx(0.5 * 0.25 + 0.1 * (1 + 2 - 0.25)) == EXPECTED


def test_arrays_of_every_origin_give_the_same_bits(tmp_path):
    a, b, costs = MASSES, MASSES[::-1].copy(), COSTS
    ways = {
        "read-only": read_only,
        "unpickled": lambda array: pickle.loads(pickle.dumps(array)),
        "mapped": lambda array: mapped(array, tmp_path),
        "part of a larger one": lambda array: np.concatenate([array, array])[len(array) :],
        "dtype of its own": named,
    }
    for name, way in ways.items():
        assert _core.transport_cost(way(a), way(b), way(costs)) == EXPECTED, name
        assert _core.transport_cost(a, way(b), costs) == EXPECTED, name


class Elsewhere:
    """Hands over an array as libraries other than NumPy do."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_arrays_of_other_libraries_are_taken():
    others = (Elsewhere(MASSES), Elsewhere(MASSES[::-1].copy()), Elsewhere(COSTS))
    assert _core.transport_cost(*others) == EXPECTED


@pytest.mark.parametrize(
    "wrong",
    [
        COSTS.astype(np.float32),
        COSTS.astype(np.int64),
        COSTS.astype(">f8"),
        np.asfortranarray(COSTS[:, :2]),
        COSTS[:, ::2],
        COSTS[0],
        COSTS[np.newaxis],
        COSTS.tolist(),
        None,
    ],
    ids=["float32", "int64", "big-endian", "Fortran", "strided", "1-d", "3-d", "list", "None"],
)
def test_other_arrays_are_refused(wrong):
    with pytest.raises(TypeError):
        _core.transport_cost(MASSES, MASSES, wrong)


def test_a_short_way_for_bags_of_any_origin():
    table = np.random.default_rng(5).normal(size=(6, 4)).astype(np.float32)
    mover = WordMover(table)
    a = sparse.csr_array([[1.0, 0, 2, 0, 0, 0]])
    b = sparse.csr_array([[0, 1.0, 0, 0, 3, 1]])
    expected = mover.pairwise(a, b)[0, 0]
    again = pickle.loads(pickle.dumps(b))
    frozen = b.copy()
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.flags.writeable = False
    for other in (b, again, frozen):
        assert mover.distance(a, other) == expected
    assert mover.distance(frozen, again) == mover.distance(b, b) == 0
