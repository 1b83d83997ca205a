"""Fixtures for the store: indexes in temporary folders, with small segments."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import load_script
from textkin import Index
from textkin.index.store import _merge, _writer

SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """Return an empty index."""
    with Index.create(tmp_path / "test.kin", language=None) as made:
        yield made


@pytest.fixture
def filled(index: Index, small_segments: None) -> Index:
    """Return an index with segments, deleted rows, and recent documents."""
    records = load_script("tests/index/attached_models.py").RECORDS
    index.add(records[:20])
    index.delete(["d3", "d11"])
    index.add(records[20:23])
    return index


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """Return a folder in memory if possible, so that kills do not depend on the disk."""
    usable = SHARED_MEMORY.is_dir() and os.access(SHARED_MEMORY, os.W_OK)
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if usable else None) as name:
        yield Path(name)


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the sizes: a few documents form a segment, a few hundred words a large one."""
    monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 5)
    monkeypatch.setattr(_merge, "_SMALLEST", 40)
    monkeypatch.setattr(_merge, "_TOGETHER", 3)
    monkeypatch.setattr(_merge, "_GROWTH", 3)
    monkeypatch.setattr(_merge, "LARGEST", 400)
    monkeypatch.setattr(_merge, "_DEAD_ROWS", 3)
