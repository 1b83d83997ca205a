"""Indexes shared by tests of rankings."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support import load_script
from textkin import Index

PAPERS = load_script("tests/index/search/paper_records.py").PAPERS


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Return an index of four documents that no test changes."""
    with Index.create(tmp_path_factory.mktemp("papers") / "test.kin", language=None) as index:
        index.add(PAPERS)
        yield index


@pytest.fixture
def animals(quick_folder: Path) -> Iterator[Index]:
    """Return an index with similar, distant, empty, and duplicate documents."""
    with Index.create(quick_folder / "test.kin", language=None) as index:
        index.add(
            [
                "Dogs bark at night",
                "The band played loud",
                "Cats purr",
                "the",
                "zzzq",
                "Loud dogs sleep",
                "Dogs bark at night",
            ]
        )
        yield index
