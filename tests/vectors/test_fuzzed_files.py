"""Randomly corrupted files of any format are read, or raise ValueError."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from support import VECTOR_FORMATS, vector_files
from textkin.vectors import WordVectors


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return vector_files(tmp_path_factory.mktemp("fuzz"))


@st.composite
def damages(draw):
    """Return a function that corrupts bytes."""
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


FOLDERS = {
    "saved": ("manifest.json", "words.json", "vectors.safetensors"),
    "static": ("config.json", "tokenizer.json", "model.safetensors"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("folders")
    WordVectors(["the", "cat"], np.eye(2)).save(home / "saved")
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordPiece({"[UNK]": 0, "the": 1, "cat": 2}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    (home / "static").mkdir()
    tokenizer.save(str(home / "static" / "tokenizer.json"))
    save_file({"embeddings": np.eye(3, dtype=np.float32)}, home / "static" / "model.safetensors")
    (home / "static" / "config.json").write_text('{"normalize": true}')
    return home


@pytest.mark.parametrize(
    ("kind", "file"), [(kind, file) for kind, files in FOLDERS.items() for file in files]
)
@given(several=st.lists(damages(), min_size=1, max_size=3))
@settings(max_examples=25, suppress_health_check=[HealthCheck.differing_executors])
def test_corruption_in_folders_raises_or_is_harmless(folders, kind, file, several):
    path = folders / kind / file
    sound = path.read_bytes()
    data = sound
    for damage in several:
        data = damage(data)
    path.write_bytes(data)
    error = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            vectors = WordVectors.load(folders / kind, words=["the", "cat"])
    except ValueError as raised:
        error = raised
    finally:
        path.write_bytes(sound)
    if error is None:
        assert set(vectors.words) <= {"the", "cat"}
    else:
        assert str(folders / kind) in str(error), "an error names its folder"


@pytest.mark.parametrize("name", VECTOR_FORMATS)
@given(
    several=st.lists(damages(), min_size=1, max_size=3), errors=st.sampled_from(["raise", "skip"])
)
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)
def test_corruption_raises_or_is_harmless(files, name, several, errors):
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
