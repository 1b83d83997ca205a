"""Indexes that several tests of rankings search."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support import load_script
from textkin import Index

PAPERS = load_script("tests/index/ranking/papers.py").PAPERS


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Four documents that no test changes."""
    with Index.create(tmp_path_factory.mktemp("papers") / "test.kin") as index:
        index.add(PAPERS)
        yield index


@pytest.fixture
def animals(quick_folder: Path) -> Iterator[Index]:
    """An index whose documents are near and far, without vectors, and twice."""
    with Index.create(quick_folder / "test.kin") as index:
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
