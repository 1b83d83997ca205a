"""Fixtures for the store: indexes in temporary folders, with segments of a few documents."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import load_script
from textkin import Index
from textkin.index import _merging, _writer

SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An empty index."""
    with Index.create(tmp_path / "test.kin") as made:
        yield made


@pytest.fixture
def filled(index: Index, small_segments: None) -> Index:
    """An index with segments, dead rows and recent documents."""
    records = load_script("tests/index/attached_models.py").RECORDS
    index.add(records[:20])
    index.delete(["d3", "d11"])
    index.add(records[20:23])
    return index


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """A folder in memory, where there is one: a kill does not depend on the disk."""
    usable = SHARED_MEMORY.is_dir() and os.access(SHARED_MEMORY, os.W_OK)
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if usable else None) as name:
        yield Path(name)


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few documents make a segment, and a few hundred words a large one."""
    monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 5)
    monkeypatch.setattr(_merging, "_SMALLEST", 40)
    monkeypatch.setattr(_merging, "_TOGETHER", 3)
    monkeypatch.setattr(_merging, "_GROWTH", 3)
    monkeypatch.setattr(_merging, "LARGEST", 400)
    monkeypatch.setattr(_merging, "_DEAD_ROWS", 3)
