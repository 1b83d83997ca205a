"""Arrays that the core reads through NumPy's fields, and arrays of other types."""

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


def with_metadata(array):
    """Return an array with a dtype that is not NumPy's shared dtype object."""
    return array.astype(np.dtype(np.float64, metadata={"unit": "share"}))


def test_expected_cost_equals_the_optimal_plan():
    # A tenth moves from the last word to the first: through the second word for 1 + 2, instead of
    # the same share that would stay there for 0.25.
    assert pytest.approx(0.5 * 0.25 + 0.1 * (1 + 2 - 0.25)) == EXPECTED


def test_arrays_of_all_origins_give_bit_identical_costs(tmp_path):
    a, b, costs = MASSES, MASSES[::-1].copy(), COSTS
    ways = {
        "read-only": read_only,
        "unpickled": lambda array: pickle.loads(pickle.dumps(array)),
        "mapped": lambda array: mapped(array, tmp_path),
        "part of a larger one": lambda array: np.concatenate([array, array])[len(array) :],
        "dtype of its own": with_metadata,
    }
    for name, way in ways.items():
        assert _core.transport_cost(way(a), way(b), way(costs)) == EXPECTED, name
        assert _core.transport_cost(a, way(b), costs) == EXPECTED, name


class DLPackArray:
    """Array that is passed through DLPack, as by other libraries."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_arrays_of_other_libraries_are_accepted():
    others = (DLPackArray(MASSES), DLPackArray(MASSES[::-1].copy()), DLPackArray(COSTS))
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
def test_invalid_arrays_raise(wrong):
    with pytest.raises(TypeError):
        _core.transport_cost(MASSES, MASSES, wrong)


def test_bags_from_all_origins_take_the_fast_path():
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
