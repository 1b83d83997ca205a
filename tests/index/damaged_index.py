"""Index for corruption tests, and checks of its remains; loaded by path."""

import shutil
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from support import load_script
from textkin import LSI, Index
from textkin.exceptions import IndexWarning
from textkin.index.store import _writer
from textkin.reading import Document

model = load_script("tests/index/store_model.py")

CATALOG = "catalogue.sqlite"
FLIPS = 150

RECORDS = model.records(Random(3), [f"d{number}" for number in range(14)])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a closed index of two segments with deleted rows, recent documents, and a model."""
    path = tmp_path_factory.mktemp("template") / "test.kin"
    with pytest.MonkeyPatch.context() as patch, model.create(path) as index:
        patch.setattr(_writer, "_TAIL_DOCUMENTS", 5)
        index.add(RECORDS[:6])
        index.add(RECORDS[6:12])
        index.delete(["d2", "d7"])
        index.add(RECORDS[12:])
        index.attach(model.MODEL, LSI(2, random_state=0))
        info = index.info()
        assert (info.segments, info.deleted, info.recent) == (2, 2, 2)
    return path


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    """Return a copy of the template for corruption."""
    return Path(shutil.copytree(template, tmp_path / "test.kin"))


@pytest.fixture
def documents() -> dict[str, Document]:
    """Return the content of the index at `path`."""
    made = {record["id"]: model.document(record) for record in RECORDS}
    left = {id: document for id, document in made.items() if id not in ("d2", "d7")}
    return model.Documents(left).with_model(True)


def segments(path: Path) -> list[Path]:
    return sorted((path / "segments").iterdir())


def everything(path: Path) -> dict[str, bytes]:
    """Return all files except temporary ones: the lock, SQLite's log, and its index."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and not file.name.endswith((".lock", "-wal", "-shm"))
    }


def change(path: Path, *statements: str) -> None:
    """Write values to the catalog that textkin would not write."""
    with closing(sqlite3.connect(path / CATALOG, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def verify(path: Path) -> None:
    with Index.open(path) as index:
        index.verify()


def assert_whole(path: Path, documents: dict[str, Document]) -> None:
    """Check that nothing is lost, without remaining warnings."""
    with Index.open(path) as index:
        index.verify()
        model.check(index, [documents])
        assert len(segments(path)) == index.info().segments


def read_all(index: Index) -> None:
    """Read data derived from segments; it may be wrong, but must be harmless."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndexWarning)
        index.bags()
        index.document_frequencies()
        index.vocabulary()
        index._session.snapshot().find(["abc", "fff"])
        index._session.snapshot().lengths()
