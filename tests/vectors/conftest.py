import pytest

from support import vector_files
from textkin.vectors import WordVectors, _cache


@pytest.fixture
def tiny():
    """Five words in the plane."""
    return WordVectors(
        ["cat", "dog", "car", "Paris", "New_York"],
        [[3, 4], [4, 3], [5, 0], [0, -2], [-1, -1]],
    )


@pytest.fixture
def small_files_count(monkeypatch, tmp_path):
    """Files of any size are worth a cache, which is in a home of its own."""
    monkeypatch.setattr(_cache, "SMALLEST", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))


@pytest.fixture
def files(tmp_path):
    return vector_files(tmp_path / "files")


@pytest.fixture
def unread(monkeypatch):
    """From here on no source may be parsed: what loads comes from a cache."""

    def begin():
        def fail(*_):
            raise AssertionError("the file itself was read")

        monkeypatch.setattr("textkin.vectors._load.first_bytes", fail)

    return begin
