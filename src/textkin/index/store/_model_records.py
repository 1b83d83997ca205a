"""Catalog records of attached models, and document vectors stored as table rows."""

import re
import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._base import Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index.store._catalog import CATALOG, Catalog, is_decoding_error
from textkin.index.store._vector_files import VectorBlock, row_lengths

__all__ = [
    "METRICS",
    "MOST_DIMENSIONS",
    "MOST_STEPS",
    "NAME",
    "RANKING_NAMES",
    "ModelRecord",
    "add_model",
    "check_undamaged",
    "insert_vectors",
    "model_damage",
    "model_records",
    "remove_model",
    "stored_rows",
]

METRICS = ("cosine", "inner", "euclidean")
TAKES = ("bags", "texts")
RANKING_NAMES = ("bm25", "tfidf", "cosine", "inner", "binary", "wmd", "rwmd", "wcd", "hybrid")
"""Names of the rankings of every index; a model cannot have one of these names."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}", re.ASCII)
MOST_DIMENSIONS = 1 << 16
MOST_STEPS = 16
_CHUNK = 4096  # vectors read at a time


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """Catalog record of an attached model: name, input type, metric, dimensions, hash.

    Attributes
    ----------
    number : int
        Number of the transaction that attached the model, which is never reused.
    name : str
        Name of the model.
    takes : {"bags", "texts"}
        Input of the model.
    metric : {"cosine", "inner", "euclidean"}
        Similarity or distance of its vectors.
    columns : int
        Number of words that the model knows, which are the words with the lowest IDs; 0 if it
        takes texts.
    dimensions : int
        Number of dimensions of its vectors.
    steps : int
        Number of estimators in its folder; 0 if the model is not stored.
    sha256 : str
        Hash of the manifests in its folder.
    description : str
        Readable description.
    file : (int, int) or None
        Device and inode of the catalog; not stored. If another index replaces the folder, it may
        use the same numbers.
    damage : str
        Problem of a corrupt row, whose fields except number and name are placeholders; empty for
        an intact row. Not stored.
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
        """Create a placeholder for a model whose catalog row is corrupt."""
        damage = "its row in the table 'models' has changed (its checksum differs)"
        return cls(number, name, "texts", METRICS[0], 0, 1, 0, "", "damage_error", damage=damage)

    @property
    def folder(self) -> str:
        """Name of the model's folder, made from its number."""
        return f"{self.number:08d}"

    def written(self) -> tuple[object, ...]:
        """Return the fields of the record that the catalog stores."""
        return astuple(self)[: len(_NAMES)]

    def checksum(self) -> int:
        """Return the CRC-32 of the stored fields."""
        return zlib.crc32(repr(self.written()).encode())

    def is_sound(self, n_words: int) -> bool:
        """Return True if all stored fields have possible values."""
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
            and self.description.isprintable()  # no control characters for a terminal
        )


_NAMES = [field.name for field in fields(ModelRecord)][:-2]
_COLUMNS = ", ".join(_NAMES)


def model_records(catalog: Catalog) -> dict[str, ModelRecord]:
    """Return the records of all attached models by name, in the order of attachment.

    A corrupt row does not affect documents. It becomes a record with a description of the damage,
    which is raised when the model is used; the record keeps its name if the name is valid.
    """
    n_words = catalog.state().words
    numbers = [number for (number,) in catalog.execute("SELECT number FROM models")]
    found: dict[str, ModelRecord] = {}
    lost = []
    for number in sorted(numbers):
        *row, checksum = _row(catalog, number, f"{_COLUMNS}, checksum") or (None,)
        record = ModelRecord(*row) if row else None
        if record is None or not record.is_sound(n_words) or record.checksum() != checksum:
            lost.append(number)
        else:
            found[record.name] = replace(record, file=catalog.file)
    for number in lost:
        (name,) = _row(catalog, number, "name") or (None,)
        if not isinstance(name, str) or NAME.fullmatch(name) is None:
            name = f"damaged.{number}"
            while name in found:
                name += "_"
        found[name] = replace(ModelRecord.damaged(number, name), file=catalog.file)
    return found


def _row(catalog: Catalog, number: int, columns: str) -> tuple[Any, ...] | None:
    """Return the catalog row of a model, or None if it contains invalid UTF-8."""
    try:
        row: tuple[Any, ...] = catalog.execute(
            f"SELECT {columns} FROM models WHERE number = ?", (number,)
        ).fetchone()
    except sqlite3.OperationalError as error:
        if is_decoding_error(error):
            return None
        raise
    return row


def check_undamaged(record: ModelRecord) -> None:
    """Raise `DamagedIndexError` if the catalog row of a model is corrupt."""
    if record.damage:
        raise model_damage(record, record.damage)


def add_model(catalog: Catalog, record: ModelRecord) -> None:
    """Insert the record of a model into the catalog, within a transaction."""
    marks = ", ".join("?" * (1 + len(_NAMES)))
    catalog.execute(
        f"INSERT INTO models ({_COLUMNS}, checksum) VALUES ({marks})",
        (*record.written(), record.checksum()),
    )


def insert_vectors(
    catalog: Catalog, record: ModelRecord, positions: Int64Array, vectors: NDArray[Any]
) -> None:
    """Insert document vectors as catalog rows, within a transaction."""
    blobs = (vector.tobytes() for vector in vectors)
    catalog.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?, ?)",
        (
            (record.number, position, zlib.crc32(blob), blob)
            for position, blob in zip(positions.tolist(), blobs, strict=True)
        ),
    )


def remove_model(catalog: Catalog, record: ModelRecord) -> None:
    """Remove the record of a model from the catalog, within a transaction."""
    catalog.execute("DELETE FROM models WHERE number = ?", (record.number,))


def stored_rows(
    catalog: Catalog,
    record: ModelRecord,
    dtype: np.dtype[Any],
    known: tuple[Int64Array, NDArray[Any]] | None = None,
    most: int | None = None,
) -> VectorBlock:
    """Return the document vectors stored as catalog rows, after verifying checksums.

    Parameters
    ----------
    catalog : Catalog
        Catalog of a snapshot.
    record : ModelRecord
        Record of the model.
    dtype : dtype
        Type of the stored numbers.
    known : (positions, vectors), optional
        Vectors that need not be read again. They may be from another snapshot.
    most : int, optional
        Maximum number of vectors; the vectors at the lowest positions are returned.

    Raises
    ------
    DamagedIndexError
        If a vector is corrupt.
    """
    rows = catalog.execute(
        "SELECT position FROM vectors WHERE model = ? ORDER BY position LIMIT ?",
        (record.number, -1 if most is None else most),
    ).fetchall()
    if not all(type(position) is int for (position,) in rows):
        raise model_damage(record, "there are vectors at invalid positions")
    positions = np.fromiter((position for (position,) in rows), np.int64, len(rows))
    first = -1
    if known is not None and len(known[0]):
        first = int(known[0][-1]) + 1
        earlier = positions < first
        at = np.minimum(np.searchsorted(known[0], positions), len(known[0]) - 1)
        if not np.array_equal(known[0][at] == positions, earlier):  # `known` may be newer
            known, first = None, -1
    if first < 0 or known is None:
        known = np.zeros(0, np.int64), np.zeros((0, record.dimensions), dtype)
    old = positions[positions < first]
    parts = [known[1][np.searchsorted(known[0], old)]]
    left = len(positions) - len(old)
    for wanted, vectors in _blocks(catalog, record, dtype, first) if left else ():
        parts.append(vectors[:left])
        left -= len(wanted[:left])
        if not left:
            break
    whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return VectorBlock(positions, whole, row_lengths(whole))


def _blocks(
    catalog: Catalog, record: ModelRecord, dtype: np.dtype[Any], first: int
) -> Iterator[tuple[Int64Array, NDArray[Any]]]:
    """Yield blocks of positions and vectors from catalog rows, after verification."""
    size = record.dimensions * dtype.itemsize
    cursor = catalog.execute(
        "SELECT position, checksum, vector FROM vectors WHERE model = ? AND position >= ? "
        "ORDER BY position",
        (record.number, first),
    )
    while rows := cursor.fetchmany(_CHUNK):
        for position, checksum, vector in rows:
            whole = type(vector) is bytes and len(vector) == size
            if not whole or zlib.crc32(vector) != checksum:
                raise model_damage(record, f"the vector at position {position} is corrupt")
        vectors = np.frombuffer(b"".join([row[2] for row in rows]), dtype)
        if not np.isfinite(vectors).all():
            raise model_damage(record, "there are vectors with NaN or infinity")
        positions = np.array([row[0] for row in rows], np.int64)
        yield positions, vectors.reshape(len(rows), record.dimensions)


def model_damage(record: ModelRecord, problem: str) -> DamagedIndexError:
    """Create the `DamagedIndexError` for a problem of an attached model."""
    return DamagedIndexError(
        f"The model {record.name!r} of the index is corrupt: {problem}. The documents are not "
        f"affected: detach({record.name!r}), and attach it again.",
        [f"{CATALOG}: model {record.name!r}: {problem}"],
    )
