import pytest

from support import vector_files
from textkin.vectors import WordVectors, _cache


@pytest.fixture
def tiny():
    """Return five two-dimensional words."""
    return WordVectors(
        ["cat", "dog", "car", "Paris", "New_York"],
        [[3, 4], [4, 3], [5, 0], [0, -2], [-1, -1]],
    )


@pytest.fixture
def small_files_count(monkeypatch, tmp_path):
    """Cache files of any size, in a separate home folder."""
    monkeypatch.setattr(_cache, "SMALLEST", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))


@pytest.fixture
def files(tmp_path):
    return vector_files(tmp_path / "files")


@pytest.fixture
def unread(monkeypatch):
    """Make parsing of sources an error: from here on, loads must use the cache."""

    def begin():
        def fail(*_):
            raise AssertionError("the file itself was read")

        monkeypatch.setattr("textkin.vectors._storage.first_bytes", fail)

    return begin
