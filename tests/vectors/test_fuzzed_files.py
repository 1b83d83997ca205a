"""Damage at random: a file of any format is read, or refused with a ValueError. Nothing else."""

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import VECTOR_FORMATS, vector_files
from textkin.vectors import WordVectors


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return vector_files(tmp_path_factory.mktemp("fuzz"))


@st.composite
def damages(draw):
    """Return a function that damages bytes."""
    kind = draw(st.sampled_from(["flip", "cut", "insert", "repeat", "number"]))
    where = draw(st.floats(0, 1))
    some = draw(st.binary(min_size=1, max_size=12))
    number = draw(st.sampled_from([b"99999999999", b"-1", b"0", b"nan", b"1e999", b"\xff" * 8]))

    def damage(data):
        at = int(where * len(data))
        if kind == "flip":
            return data[:at] + some + data[at + len(some) :]
        if kind == "cut":
            return data[:at]
        if kind == "insert":
            return data[:at] + some + data[at:]
        if kind == "number":
            return data[:at] + number + data[at + len(number) :]
        return data + data[at:]

    return damage


@pytest.mark.parametrize("name", VECTOR_FORMATS)
@given(
    several=st.lists(damages(), min_size=1, max_size=3), errors=st.sampled_from(["raise", "skip"])
)
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)
def test_damage_is_seen_or_harmless(files, name, several, errors):
    original = files[name]
    data = original.read_bytes()
    for damage in several:
        data = damage(data)
    path = original.parent / ("array.npy" if name == "npy" else "damaged")
    kept = path.read_bytes() if path.exists() else None
    path.write_bytes(data)
    error = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            vectors = WordVectors.load(path, errors=errors)
    except ValueError as raised:
        error = raised
    finally:
        if kept is not None and name == "npy":
            path.write_bytes(kept)
    if error is None:
        assert len(vectors) == len(vectors.words) == len(vectors.matrix) >= 1
        assert len(set(vectors.words)) == len(vectors)
    else:
        assert str(path) in str(error), "an error names its file"
