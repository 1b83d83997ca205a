"""Saved vectors: save and load, and errors for corrupt folders."""

import hashlib
import json
import shutil
import stat

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file, save_file

from support import change_manifest
from textkin.vectors import WordVectors


@pytest.fixture
def saved(tiny, tmp_path):
    tiny.save(tmp_path / "tiny")
    return tmp_path / "tiny"


def rewrite(folder, **changes):
    """Change the manifest."""
    change_manifest(folder, lambda manifest: manifest.update(changes))


def resign(folder):
    """Update the manifest to the present sizes and hashes of the files."""
    files = {}
    for name in ("vectors.safetensors", "words.json"):
        data = (folder / name).read_bytes()
        files[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    rewrite(folder, files=files)


def test_round_trip(tiny, saved):
    again = WordVectors.load(str(saved))
    assert again.words == tiny.words
    assert_array_equal(again.matrix, tiny.matrix)
    assert not again.matrix.flags.writeable


def test_round_trip_of_unusual_words(tmp_path):
    words = ["new\nline", "", "ß", "单词", "\ud800", '"']
    WordVectors(words, np.ones((6, 3))).save(tmp_path / "strange")
    assert WordVectors.load(tmp_path / "strange").words == tuple(words)


def test_matrix_is_memory_mapped(saved):
    base = WordVectors.load(saved).matrix
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_matrix_file_is_plain_safetensors(tiny, saved):
    assert_array_equal(load_file(saved / "vectors.safetensors")["vectors"], tiny.matrix)


def test_files_have_default_permissions(saved):
    modes = {stat.S_IMODE(file.stat().st_mode) for file in saved.iterdir()}
    assert len(modes) == 1


def test_folder_can_be_moved(tiny, saved, tmp_path):
    shutil.move(saved, tmp_path / "elsewhere")
    assert WordVectors.load(tmp_path / "elsewhere").words == tiny.words


def test_equal_vectors_are_saved_as_identical_bytes(tiny, saved, tmp_path):
    WordVectors.load(saved).save(tmp_path / "again")
    for file in saved.iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_save_creates_parents_and_accepts_an_empty_folder(tiny, tmp_path):
    (tmp_path / "empty").mkdir()
    tiny.save(tmp_path / "empty")
    tiny.save(tmp_path / "some" / "where")
    assert WordVectors.load(tmp_path / "empty").words == tiny.words
    assert WordVectors.load(tmp_path / "some" / "where").words == tiny.words
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty", "some"]


def test_save_overwrites_nothing(tiny, saved, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for path in (saved, tmp_path / "file", tmp_path / "link"):
        with pytest.raises(FileExistsError, match="Remove it, or save to another path"):
            tiny.save(path)
    assert (tmp_path / "file").read_text() == "mine"


def test_failed_save_leaves_nothing(tiny, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("textkin.vectors._storage.save_file", fail)
    with pytest.raises(OSError, match="disk full"):
        tiny.save(tmp_path / "tiny")
    assert list(tmp_path.iterdir()) == []


def test_load_other_folder_raises(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        WordVectors.load(tmp_path / "nothing")
    (tmp_path / "glove.txt").write_text("the 0.1 0.2\n")
    with pytest.raises(ValueError, match=r"must be a folder.*WordVectors.save.*is a file"):
        WordVectors.load(tmp_path / "glove.txt", format="textkin")
    with pytest.raises(ValueError, match=r"has no manifest\.json"):
        WordVectors.load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "textkin.index"}, "does not contain word vectors"),
        ({"version": 3}, r"version 3 of its format.*up to 2\. Install a newer textkin"),
        ({"version": "1"}, "corrupt: .* version '1'"),
        ({"version": 0}, "corrupt"),
        ({"version": True}, "corrupt"),
        ({"count": None}, "must give count, dimension and files"),
        ({"count": -5}, "must give count"),
        ({"count": 4}, "list of 4 words"),
        ({"dimension": 3}, "5 x 3 float32"),
        ({"files": []}, "must give count, dimension and files"),
        ({"files": {}}, r"bytes and sha256 of vectors\.safetensors"),
        ({"files": {"../../etc/passwd": {}}}, r"bytes and sha256 of vectors\.safetensors"),
        ({"files": {"vectors.safetensors": {"bytes": 1}}}, "bytes and sha256"),
    ],
)
def test_load_invalid_manifest_raises(saved, changes, message):
    rewrite(saved, **changes)
    with pytest.raises(ValueError, match=message):
        WordVectors.load(saved)


def test_error_has_the_given_path(tiny, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", ".hidden.tmp/words.json")

    monkeypatch.setattr("textkin.vectors._storage.save_file", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/out'$"):
        tiny.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[" * 200_000])
def test_load_manifest_that_is_not_json_raises(saved, text):
    (saved / "manifest.json").write_bytes(text)
    with pytest.raises(ValueError, match=r"manifest\.json is not valid JSON"):
        WordVectors.load(saved)


def test_load_manifest_that_is_not_an_object_raises(saved):
    (saved / "manifest.json").write_text("[]")
    with pytest.raises(ValueError, match="does not contain word vectors"):
        WordVectors.load(saved)


@pytest.mark.parametrize("name", ["vectors.safetensors", "words.json"])
def test_load_corrupt_files_raises(saved, name):
    data = (saved / name).read_bytes()
    flipped = bytearray(data)
    flipped[-2] ^= 1
    for damaged, message in [(data[:-1], "bytes; got"), (bytes(flipped), "sha256 of")]:
        (saved / name).write_bytes(damaged)
        with pytest.raises(ValueError, match=f"corrupt.*{message}"):
            WordVectors.load(saved)
    (saved / name).unlink()
    with pytest.raises(ValueError, match=f"{name} is missing"):
        WordVectors.load(saved)


@pytest.mark.parametrize(
    "tensors",
    [
        {"vectors": np.ones((5, 2), dtype=np.int32)},
        {"vectors": np.ones((2, 5), dtype=np.float32)},
        {"other": np.ones((5, 2), dtype=np.float32)},
        {"vectors": np.ones((5, 1), dtype=np.float32)},
        {"a": np.ones((5, 1), dtype=np.float32), "vectors": np.ones((5, 1), dtype=np.float32)},
    ],
)
def test_load_other_tensor_with_valid_hash_raises(saved, tensors):
    save_file(tensors, saved / "vectors.safetensors")
    resign(saved)
    with pytest.raises(ValueError, match="5 x 2 float32"):
        WordVectors.load(saved)


@pytest.mark.parametrize("start", [b"", b"\xff" * 8, (32).to_bytes(8, "little") + b"{" * 32])
def test_load_matrix_that_is_not_safetensors_raises(saved, start):
    (saved / "vectors.safetensors").write_bytes(start + bytes(40))
    resign(saved)
    with pytest.raises(ValueError, match="corrupt"):
        WordVectors.load(saved)


@pytest.mark.parametrize("words", ["{}", '"abcde"', '["a"]', "nonsense"])
def test_load_words_that_are_not_a_list_raises(saved, words):
    (saved / "words.json").write_text(words)
    resign(saved)
    with pytest.raises(ValueError, match=r"corrupt: words\.json"):
        WordVectors.load(saved)


@pytest.mark.parametrize("word", ["3", "null", "[]", '"cat"'])
def test_load_words_that_are_not_distinct_strings_raises(saved, word):
    words = json.loads((saved / "words.json").read_text())
    assert words[0] == "cat"
    words[1] = json.loads(word)
    (saved / "words.json").write_text(json.dumps(words))
    resign(saved)
    with pytest.raises(ValueError, match=r"corrupt: words\.json must hold distinct words \("):
        WordVectors.load(saved)


def test_loaded_numbers_are_checked(saved):
    """Numbers of an untrusted folder get the same checks as arguments."""
    save_file({"vectors": np.zeros((5, 2), dtype=np.float32)}, saved / "vectors.safetensors")
    resign(saved)
    with pytest.raises(ValueError, match=r"corrupt: vectors\.safetensors.*'cat'.*is zero"):
        WordVectors.load(saved)
