"""What the catalogue keeps of models: a row for each, and a vector for each document."""

import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

import numpy as np

from textkin._typing import BoolArray, Float32Array, Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index._catalogue import CATALOGUE, Catalogue, is_no_text

__all__ = [
    "METRICS",
    "MODEL_TABLES",
    "MOST_DIMENSIONS",
    "MOST_STEPS",
    "NAME",
    "ModelRecord",
    "add_model",
    "add_vectors",
    "check_vectors",
    "damaged_model",
    "model_records",
    "read_vectors",
    "refuse_damaged",
    "remove_model",
    "remove_vectors",
    "stray_vectors",
]

MODEL_TABLES = (
    "CREATE TABLE models (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
    "takes TEXT NOT NULL, metric TEXT NOT NULL, columns INTEGER NOT NULL, "
    "dimensions INTEGER NOT NULL, steps INTEGER NOT NULL, sha256 TEXT NOT NULL, "
    "description TEXT NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE vectors (model INTEGER NOT NULL, position INTEGER NOT NULL, "
    "checksum INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE (model, position))",
)

METRICS = ("cosine", "inner")
TAKES = ("bags", "texts")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}", re.ASCII)
MOST_DIMENSIONS = 1 << 16
MOST_STEPS = 16
_CHUNK = 4096  # vectors that are read at a time
_NUMBERS = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A model that is attached to an index.

    Attributes
    ----------
    number : int
        That of the transaction in which it was attached; so it is never used again.
    name : str
        What users call it.
    takes : {"bags", "texts"}
        What it makes vectors of.
    metric : {"cosine", "inner"}
        How its vectors are compared.
    columns : int
        Words that it knows, by their numbers; 0 for one that takes texts.
    dimensions : int
        Of its vectors.
    steps : int
        Estimators that lie in its folder, one after the other; 0 if it is not ours to keep.
    sha256 : str
        Of the manifests in its folder.
    description : str
        What it is, for people.
    file : (int, int) or None
        Which catalogue it is of, by device and inode; not written there. Another index that lies
        in the folder later may use the same numbers.
    damage : str
        What is wrong with the row of the catalogue, of which nothing but number and name is told
        then; empty if nothing is. Not written there.
    """

    number: int
    name: str
    takes: str
    metric: str
    columns: int
    dimensions: int
    steps: int
    sha256: str
    description: str
    file: tuple[int, int] | None = None
    damage: str = ""

    @classmethod
    def damaged(cls, number: int, name: str) -> "ModelRecord":
        """Return what stands for a model whose row is not what it was."""
        damage = "its row in the table 'models' is not what it was"
        return cls(number, name, "texts", METRICS[0], 0, 1, 0, "", "damaged", damage=damage)

    @property
    def folder(self) -> str:
        """The name of its folder in ``models``; made of a number, so it cannot lead elsewhere."""
        return f"{self.number:08d}"

    def written(self) -> tuple[object, ...]:
        """Return what the catalogue has of it."""
        return astuple(self)[: len(_NAMES)]

    def checksum(self) -> int:
        """Return the checksum of all that is written."""
        return zlib.crc32(repr(self.written()).encode())

    def is_sound(self, n_words: int) -> bool:
        """Return whether it can be what textkin wrote."""
        whole = (self.number, self.columns, self.dimensions, self.steps)
        told = (self.name, self.takes, self.metric, self.sha256, self.description)
        return (
            all(type(value) is int for value in whole)
            and all(type(value) is str for value in told)
            and self.number > 0
            and NAME.fullmatch(self.name) is not None
            and self.takes in TAKES
            and self.metric in METRICS
            and (0 < self.columns <= n_words if self.takes == "bags" else self.columns == 0)
            and 0 < self.dimensions <= MOST_DIMENSIONS
            and 0 <= self.steps <= MOST_STEPS
            and self.description.isprintable()  # nothing that a terminal would obey
        )


_NAMES = [field.name for field in fields(ModelRecord)][:-2]
_COLUMNS = ", ".join(_NAMES)


def model_records(catalogue: Catalogue) -> dict[str, ModelRecord]:
    """Return the models of an index by their names, in the order in which they came.

    A row that is not what it was concerns no document: it becomes a record that tells its damage
    where the model is used, under its name as far as that is one.
    """
    n_words = catalogue.state().words
    numbers = [number for (number,) in catalogue.execute("SELECT number FROM models")]
    found: dict[str, ModelRecord] = {}
    lost = []
    for number in sorted(numbers):
        *row, checksum = _row(catalogue, number, f"{_COLUMNS}, checksum") or (None,)
        record = ModelRecord(*row) if row else None
        if record is None or not record.is_sound(n_words) or record.checksum() != checksum:
            lost.append(number)
        else:
            found[record.name] = replace(record, file=catalogue.file)
    for number in lost:
        (name,) = _row(catalogue, number, "name") or (None,)
        if not isinstance(name, str) or NAME.fullmatch(name) is None:
            name = f"damaged.{number}"
            while name in found:
                name += "_"
        found[name] = replace(ModelRecord.damaged(number, name), file=catalogue.file)
    return found


def _row(catalogue: Catalogue, number: int, columns: str) -> tuple[Any, ...] | None:
    """Return the row of a model, None if it has bytes that are no text."""
    try:
        row: tuple[Any, ...] = catalogue.execute(
            f"SELECT {columns} FROM models WHERE number = ?", (number,)
        ).fetchone()
    except sqlite3.OperationalError as error:
        if is_no_text(error):
            return None
        raise
    return row


def refuse_damaged(record: ModelRecord) -> None:
    """Raise `DamagedIndexError` if the row of a model is not what it was."""
    if record.damage:
        raise damaged_model(record, record.damage)


def add_model(catalogue: Catalogue, record: ModelRecord) -> None:
    """Name a model, inside of a transaction."""
    marks = ", ".join("?" * (1 + len(_NAMES)))
    catalogue.execute(
        f"INSERT INTO models ({_COLUMNS}, checksum) VALUES ({marks})",
        (*record.written(), record.checksum()),
    )


def add_vectors(
    catalogue: Catalogue, record: ModelRecord, positions: Iterable[int], vectors: Float32Array
) -> None:
    """Keep the vectors of documents, inside of a transaction."""
    blobs = (vector.tobytes() for vector in vectors.astype(_NUMBERS, copy=False))
    catalogue.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?, ?)",
        (
            (record.number, position, zlib.crc32(blob), blob)
            for position, blob in zip(positions, blobs, strict=True)
        ),
    )


def remove_model(catalogue: Catalogue, record: ModelRecord) -> None:
    """Forget a model and its vectors, inside of a transaction, and vectors of no model at all.

    Such are left where a damaged row had lost its number.
    """
    catalogue.execute("DELETE FROM models WHERE number = ?", (record.number,))
    catalogue.execute("DELETE FROM vectors WHERE model NOT IN (SELECT number FROM models)")


def remove_vectors(catalogue: Catalogue, positions: Sequence[int]) -> None:
    """Forget the vectors of documents, inside of a transaction."""
    numbers = [number for (number,) in catalogue.execute("SELECT number FROM models")]
    for number in numbers:
        catalogue.executemany(
            "DELETE FROM vectors WHERE model = ? AND position = ?",
            ((number, position) for position in positions),
        )


def read_vectors(
    catalogue: Catalogue,
    record: ModelRecord,
    positions: Int64Array,
    live: BoolArray,
    known: tuple[Int64Array, BoolArray, Float32Array] | None = None,
) -> Float32Array:
    """Return the vectors of all rows, in their order; those of deleted documents are 0.

    Parameters
    ----------
    catalogue : Catalogue
        Of a snapshot.
    record : ModelRecord
        The model.
    positions : ndarray of int64
        Of each row, ascending.
    live : ndarray of bool
        Which rows are documents.
    known : (positions, live, vectors), optional
        As this returned them for another state of the index: a position has one vector for ever,
        so that only those behind the last of them are read.

    Raises
    ------
    DamagedIndexError
        If one is missing, or not what it was.
    """
    refuse_damaged(record)
    matrix: Float32Array | None = None
    there = np.zeros(len(positions), np.bool_)
    first = 0
    if known is not None and len(known[0]):
        first = int(known[0][-1]) + 1
        matrix = np.zeros((len(positions), record.dimensions), np.float32)
        at = np.minimum(np.searchsorted(known[0], positions), len(known[0]) - 1)
        there = (known[0][at] == positions) & live & known[1][at]
        matrix[there] = known[2][at[there]]
        if not np.array_equal(there, live & (positions < first)):  # of a later state, perhaps
            return read_vectors(catalogue, record, positions, live)
    for wanted, vectors in _blocks(catalogue, record, first):
        if matrix is None:  # only now is it known that there are vectors of that size
            matrix = np.zeros((len(positions), record.dimensions), np.float32)
        at = np.searchsorted(positions, wanted)
        if at[-1] >= len(positions) or not np.array_equal(positions[at], wanted):
            raise damaged_model(record, _WITHOUT_DOCUMENT)
        matrix[at] = vectors
        there[at] = True
    if not np.array_equal(there, live):
        raise damaged_model(record, _WITHOUT_VECTOR if (live & ~there).any() else _WITHOUT_DOCUMENT)
    return np.zeros((len(positions), record.dimensions), np.float32) if matrix is None else matrix


def check_vectors(catalogue: Catalogue, record: ModelRecord) -> None:
    """Raise `DamagedIndexError` unless each document has a vector, which is what it was."""
    refuse_damaged(record)
    seen = [wanted for wanted, _ in _blocks(catalogue, record)]
    found = np.concatenate([np.zeros(0, np.int64), *seen])
    rows = catalogue.execute("SELECT position FROM documents ORDER BY position")
    expected = np.fromiter((position for (position,) in rows), np.int64)
    if not np.isin(expected, found).all():
        raise damaged_model(record, _WITHOUT_VECTOR)
    if len(found) != len(expected):
        raise damaged_model(record, _WITHOUT_DOCUMENT)


def stray_vectors(catalogue: Catalogue) -> int:
    """Return how many vectors belong to no model."""
    (count,) = catalogue.execute(
        "SELECT count(*) FROM vectors WHERE model NOT IN (SELECT number FROM models)"
    ).fetchone()
    return int(count)


_WITHOUT_DOCUMENT = "there are vectors without a document"
_WITHOUT_VECTOR = "there are documents without a vector"


def _blocks(
    catalogue: Catalogue, record: ModelRecord, first: int = -1
) -> Iterator[tuple[Int64Array, Float32Array]]:
    """Give positions from `first` on and their vectors, some at a time, after a check of each."""
    size = record.dimensions * _NUMBERS.itemsize
    cursor = catalogue.execute(
        "SELECT position, checksum, vector FROM vectors WHERE model = ? AND position >= ? "
        "ORDER BY position",
        (record.number, first),
    )
    while rows := cursor.fetchmany(_CHUNK):
        for position, checksum, vector in rows:
            whole = type(position) is int and type(vector) is bytes and len(vector) == size
            if not whole or zlib.crc32(vector) != checksum:
                raise damaged_model(record, f"the vector at position {position} is not what it was")
        vectors = np.frombuffer(b"".join([row[2] for row in rows]), _NUMBERS)
        if not np.isfinite(vectors).all():
            raise damaged_model(record, "there are vectors that are no numbers")
        positions = np.array([row[0] for row in rows], np.int64)
        yield positions, vectors.reshape(len(rows), record.dimensions)


def damaged_model(record: ModelRecord, problem: str) -> DamagedIndexError:
    """Return the error that says what is wrong with a model."""
    return DamagedIndexError(
        f"The model {record.name!r} of the index is damaged: {problem}. The documents are not "
        f"concerned: detach({record.name!r}), and attach it again.",
        [f"{CATALOGUE}: model {record.name!r}: {problem}"],
    )
