"""Caches of other users and corrupt caches are never used."""

import json
import os
import shutil
import stat

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file

from textkin.vectors import Repairs, WordVectors, _cache

pytestmark = pytest.mark.usefixtures("small_files_count")


def beside(path):
    return path.with_name(path.name + ".textkin")


def leftovers(folder):
    return [file.name for file in folder.iterdir() if file.name.endswith(".tmp")]


def test_cache_of_another_source_is_ignored(tmp_path):
    """An untrusted archive may include a cache with other content."""
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    (there / "v.txt").write_text("a 1 2\n")
    WordVectors.load(there / "v.txt")
    shutil.copytree(there, here, copy_function=shutil.copy2)
    cache = here / "v.txt.textkin"
    evil = np.array([1, 2], dtype="<f4").tobytes()
    cache.write_bytes(cache.read_bytes().replace(evil, np.array([np.nan] * 2, "<f4").tobytes()))
    assert WordVectors.load(here / "v.txt")["a"].tolist() == [1, 2]


def test_corrupt_cache_is_recreated(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\nb 3 4\n")
    WordVectors.load(path)
    sound = beside(path).read_bytes()
    table = sound.index(np.array([1, 2, 3, 4], dtype="<f4").tobytes())
    words = sound.index(b"a\nb\n", table)
    altered = [sound[:at] + b"\x7f" + sound[at + 1 :] for at in (table + 5, words, len(sound) - 3)]
    lost_page = sound[:65536] + bytes(len(sound) - 65536)
    for damaged in (sound[:100], sound[:-1], lost_page, *altered):
        beside(path).write_bytes(damaged)
        assert _cache.cache_of(path) is None
        vectors = WordVectors.load(path)
        assert vectors.words == ("a", "b")
        assert vectors["b"].tolist() == [3, 4]
        assert beside(path).read_bytes() == sound
        assert _cache.cache_of(path) == beside(path)


@pytest.mark.parametrize("content", [b"", b"junk", b"a 1 2\n", b"\xff" * 70_000])
def test_other_file_with_the_cache_name_is_kept(tmp_path, content, unread):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    beside(path).write_bytes(content)
    assert WordVectors.load(path).words == ("a",)
    assert beside(path).read_bytes() == content
    [cache] = _cache.cached_files()
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.parent.stat().st_mode) == 0o700
    assert _cache.cache_of(path) == cache
    assert _cache.source_path(cache) == str(path)
    unread()
    assert WordVectors.load(path).words == ("a",)


def test_pipe_or_link_in_place_of_the_cache_is_ignored(tmp_path):
    path, target = tmp_path / "v.txt", tmp_path / "precious"
    path.write_text("a 1 2\n")
    os.mkfifo(beside(path))
    assert WordVectors.load(path).words == ("a",)
    assert stat.S_ISFIFO(beside(path).stat().st_mode)
    beside(path).unlink()
    _cache.cached_files()[0].unlink()
    WordVectors.load(path)
    beside(path).rename(target)
    beside(path).symlink_to(target)
    assert _cache.cache_of(path) is None
    assert WordVectors.load(path).words == ("a",)
    assert beside(path).is_symlink()


def owned_by(monkeypatch, uid, *files):
    """Assign an owner to these files, as seen by open files."""
    real, inodes = os.fstat, {file.stat().st_ino for file in files}

    def fstat(descriptor):
        found = real(descriptor)
        if found.st_ino not in inodes:
            return found
        return os.stat_result((*found[:4], uid, *found[5:]), {"st_mtime_ns": found.st_mtime_ns})

    monkeypatch.setattr(_cache.os, "fstat", fstat)


def test_cache_of_another_user_is_ignored(tmp_path, monkeypatch):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    WordVectors.load(path)
    assert _cache.cache_of(path) == beside(path)
    foreign = os.geteuid() + 4321
    before = beside(path).read_bytes()
    owned_by(monkeypatch, foreign, beside(path))
    assert _cache.cache_of(path) is None
    assert WordVectors.load(path).words == ("a",)
    assert beside(path).read_bytes() == before, "and is kept"
    [mine] = _cache.cached_files()
    assert _cache.cache_of(path) == mine


def test_cache_writable_by_others_is_ignored(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    WordVectors.load(path)
    beside(path).chmod(0o666)
    assert _cache.cache_of(path) is None
    WordVectors.load(path)
    assert not beside(path).stat().st_mode & 0o022, "made again"


@pytest.mark.parametrize(
    ("mode", "umask", "expected"),
    [(0o600, 0, 0o600), (0o666, 0, 0o644), (0o444, 0o022, 0o644), (0o644, 0o077, 0o600)],
)
def test_cache_is_as_private_as_its_source(tmp_path, mode, umask, expected):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    path.chmod(mode)
    before = os.umask(umask)
    try:
        WordVectors.load(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(beside(path).stat().st_mode) == expected


def test_group_of_the_source_is_trusted(tmp_path):
    like = os.stat_result((0o100640, 0, 0, 0, 0, os.getegid() + 1, 0, 0, 0, 0))
    with _cache._create(tmp_path / "a", like):
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "change",
    [
        {"repairs": {"zero": "many"}},
        {"repairs": {"zero": -1}},
        {"repairs": {"zero": True}},
        {"repairs": {"nonsense": 1}},
        {"repairs": [1]},
        {"source": 1},
        {"samples": None},
    ],
)
def test_crafted_metadata_is_ignored(tmp_path, change):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    WordVectors.load(path)
    sound = beside(path).read_bytes()
    header = json.loads(sound[8:65536])
    about = json.loads(header["__metadata__"]["textkin.vector-cache"])
    header["__metadata__"]["textkin.vector-cache"] = json.dumps(about | change)
    crafted = sound[:8] + json.dumps(header).encode().ljust(65528) + sound[65536:]
    beside(path).write_bytes(crafted)
    vectors = WordVectors.load(path)
    assert vectors.words == ("a",)
    assert vectors.repairs == Repairs()
    assert beside(path).read_bytes() == sound


def test_deeply_nested_metadata_is_ignored(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    deep = json.dumps({"__metadata__": {"textkin.vector-cache": "[" * 60_000}}).encode()
    beside(path).write_bytes(len(deep).to_bytes(8, "little") + deep)
    assert WordVectors.load(path).words == ("a",)
    assert _cache.cache_of(path) == beside(path)


def test_cache_is_safetensors_with_default_permissions(files):
    vectors = WordVectors.load(files["glove"])
    cache = beside(files["glove"])
    found = load_file(cache)
    assert_array_equal(found["vectors"], vectors.matrix)
    assert found["words"].tobytes().decode() == "the\nnaïve\nNew_York\n"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o666 & ~umask
    assert WordVectors.load(cache).words == vectors.words, "and is a vector file itself"
