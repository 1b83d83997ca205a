"""Document vectors in an index: files for many vectors, catalog rows for few.

A vector is in a file or in the table ``vectors``. A later file replaces vectors of earlier files,
and the table replaces vectors of files. A document without a vector is listed in the table
``missing_vectors``; a document that is nowhere is a corruption.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textkin._base import BoolArray, Float32Array, Float64Array, Int64Array
from textkin.index.store._catalog import Catalog
from textkin.index.store._model_records import (
    ModelRecord,
    check_undamaged,
    insert_vectors,
    model_damage,
    stored_rows,
)
from textkin.index.store._vector_files import (
    DTYPES,
    EMBEDDINGS,
    VectorBlock,
    VectorFile,
    VectorFileDamage,
    VectorFileRecord,
    map_vector_file,
    write_vector_file,
)

__all__ = [
    "KnownRows",
    "MappedFiles",
    "StoredVectors",
    "VectorSettings",
    "add_missing",
    "add_settings",
    "add_vectors",
    "check_vectors",
    "compact_vectors",
    "count_missing",
    "gathered",
    "map_files",
    "missing_positions",
    "read_vectors",
    "remove_model_vectors",
    "remove_vectors",
    "set_vectors",
    "stray_vectors",
    "tidy_vectors",
    "vector_file_records",
    "vector_settings",
]

FILE_ROWS = 1024  # vectors of one transaction from which they are written to a file
TIDY_ROWS = 8192  # vectors in the catalog from which they are moved to a file
LARGEST = 64 << 20  # size of the vectors of one file, in bytes
_CHUNK = 4096  # rows copied at a time

MappedFiles = dict[int, list[tuple[VectorFileRecord, VectorFile | str]]]
"""Files by number of the model; a file that cannot be used is replaced by the reason."""


class VectorSettings(NamedTuple):
    """Storage settings of a model's vectors: dtype, and next file number.

    Attributes
    ----------
    dtype : {"float32", "float16"}
        Type of the stored numbers.
    generation : int
        Number of times that vectors of existing documents were set; caches depend on it.
    next_file : int
        Number of the next file.
    """

    dtype: str
    generation: int
    next_file: int


class KnownRows(NamedTuple):
    """Vectors from catalog rows that an earlier snapshot has already read."""

    generation: int
    positions: Int64Array
    vectors: NDArray[Any]


def vector_settings(catalog: Catalog, record: ModelRecord) -> VectorSettings:
    """Return the storage settings of a model's vectors; raise if they are corrupt."""
    row = catalog.execute(
        "SELECT dtype, generation, next_file FROM embeddings WHERE model = ?", (record.number,)
    ).fetchone()
    sound = row is not None and row[0] in DTYPES and type(row[1]) is type(row[2]) is int
    if not sound or min(row[1:]) < 0:
        raise model_damage(record, "its row in the table 'embeddings' is corrupt")
    return VectorSettings(*row)


def add_settings(catalog: Catalog, record: ModelRecord, dtype: str) -> None:
    """Store the settings of a new model's vectors, within a transaction."""
    catalog.execute("INSERT INTO embeddings VALUES (?, ?, 0, 0)", (record.number, dtype))


def vector_file_records(catalog: Catalog) -> list[VectorFileRecord]:
    """Return the records of all vector files, in the order of writing."""
    rows = catalog.execute(
        "SELECT model, number, rows, bytes, sha256 FROM vector_files ORDER BY model, number"
    )
    return [VectorFileRecord(*row) for row in rows]


def map_files(
    folder: Path, catalog: Catalog, records: Iterable[ModelRecord]
) -> tuple[MappedFiles, bool]:
    """Map the vector files of all models; also return whether all are usable."""
    by_number = {record.number: record for record in records if not record.damage}
    found: MappedFiles = {}
    whole = True
    for file in vector_file_records(catalog):
        model = by_number.get(file.model)
        if model is None:
            continue
        used: VectorFile | str
        try:
            if not all(type(value) is int and value >= 0 for value in file[:4]):
                raise VectorFileDamage("has an invalid row in the table 'vector_files'")
            dtype = vector_settings(catalog, model).dtype
            used = map_vector_file(folder, file, dtype, model.dimensions)
        except (VectorFileDamage, OSError) as error:
            used, whole = f"{EMBEDDINGS}/{file.file} {error}", False
        except ValueError:  # corrupt settings, which are reported when the model is used
            continue
        found.setdefault(file.model, []).append((file, used))
    return found, whole


# ------------------------------------------------------------------ reading


class StoredVectors:
    """Vectors of a model for the rows of a snapshot, read on use.

    Parameters
    ----------
    record : ModelRecord
        Record of the model.
    blocks : sequence of VectorBlock
        Vectors; later blocks replace vectors of earlier blocks.
    rows : sequence of ndarray of int64
        For each block, the row of each of its vectors, or -1 for a vector that is not used.
    n_rows : int
        Number of rows.

    Attributes
    ----------
    present : ndarray of bool
        True for rows that have a vector.
    lengths : ndarray of float64
        Length of the vector of each row; 0 for rows without a vector.
    """

    def __init__(
        self,
        record: ModelRecord,
        blocks: Sequence[VectorBlock],
        rows: Sequence[Int64Array],
        n_rows: int,
    ) -> None:
        self.record = record
        self.blocks = list(blocks)
        self._block_of = np.full(n_rows, -1, np.int32)
        self._place_of = np.zeros(n_rows, np.int64)
        self.lengths: Float64Array = np.zeros(n_rows)
        for number, (block, of_block) in enumerate(zip(blocks, rows, strict=True)):
            used = np.flatnonzero(of_block >= 0)
            taken = of_block[used]
            self._block_of[taken] = number
            self._place_of[taken] = used
            self.lengths[taken] = block.lengths[used]
        self.rows = [of.copy() for of in rows]
        for number, of_block in enumerate(self.rows):
            used = np.flatnonzero(of_block >= 0)
            of_block[used[self._block_of[of_block[used]] != number]] = -1  # replaced later
        self.present: BoolArray = self._block_of >= 0

    def of_rows(self, rows: Int64Array) -> Float32Array:
        """Return the vectors of rows in float32; a row without a vector gives 0.

        Raises
        ------
        DamagedIndexError
            If a vector has changed since it was written.
        """
        wanted = np.asarray(rows, np.int64)
        found = np.zeros((len(wanted), self.record.dimensions), np.float32)
        of = self._block_of[wanted]
        for number in np.unique(of[of >= 0]):
            here = np.flatnonzero(of == number)
            try:
                found[here] = self.blocks[number].take(self._place_of[wanted[here]])
            except VectorFileDamage as damage:
                raise model_damage(self.record, str(damage)) from None
        return found


def read_vectors(
    catalog: Catalog,
    files: Sequence[tuple[VectorFileRecord, VectorFile | str]],
    record: ModelRecord,
    positions: Int64Array,
    live: BoolArray,
    known: KnownRows | None = None,
) -> tuple[StoredVectors, KnownRows]:
    """Return a model's vectors for a snapshot, and separately the part from catalog rows.

    Parameters
    ----------
    catalog : Catalog
        Catalog of the snapshot.
    files : sequence of (VectorFileRecord, VectorFile or str)
        Mapped files of the model.
    record : ModelRecord
        Record of the model.
    positions : ndarray of int64
        Position of each row, in ascending order.
    live : ndarray of bool
        Mask of the rows whose documents are not deleted.
    known : KnownRows, optional
        Second result of a call for another snapshot; vectors in it are not read again.

    Raises
    ------
    DamagedIndexError
        If a document has neither a vector nor a row that lists it as missing, or a file is corrupt.
    """
    check_undamaged(record)
    settings = vector_settings(catalog, record)
    blocks: list[VectorBlock] = []
    rows = []
    for _, file in files:
        if isinstance(file, str):
            raise model_damage(record, file)
        blocks.append(file)
        rows.append(_rows_of(file.positions, positions, live))
    stored = stored_rows(
        catalog,
        record,
        DTYPES[settings.dtype],
        None if known is None or known.generation != settings.generation else known[1:],
    )
    if len(stored.positions):
        blocks.append(stored)
        rows.append(_rows_of(stored.positions, positions, live))
        if (rows[-1] < 0).any():
            raise model_damage(record, _WITHOUT_DOCUMENT)
    found = StoredVectors(record, blocks, rows, len(positions))
    missing = np.zeros(len(positions), np.bool_)
    listed = _rows_of(missing_positions(catalog, record), positions, live)
    if (listed < 0).any() or (record.steps and len(listed)):
        problem = _WITHOUT_VECTOR if record.steps else "documents without a vector do not exist"
        raise model_damage(record, problem)
    missing[listed] = True
    if not np.array_equal(found.present ^ missing, live) or (found.present & missing).any():
        raise model_damage(record, _WITHOUT_VECTOR)
    return found, KnownRows(settings.generation, stored.positions, stored.vectors)


_WITHOUT_DOCUMENT = "there are vectors without a document"
_WITHOUT_VECTOR = "there are documents without a vector"


def _rows_of(wanted: Int64Array, positions: Int64Array, live: BoolArray) -> Int64Array:
    """Return the row of each position, or -1 if no document has it."""
    if not len(positions):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(positions, wanted), len(positions) - 1)
    found: Int64Array = np.where((positions[at] == wanted) & live[at], at, -1)
    return found


def missing_positions(catalog: Catalog, record: ModelRecord) -> Int64Array:
    """Return the ascending positions of documents without a vector of a model."""
    rows = catalog.execute(
        "SELECT position FROM missing_vectors WHERE model = ? ORDER BY position", (record.number,)
    ).fetchall()
    if not all(type(position) is int for (position,) in rows):
        raise model_damage(record, "the table 'missing_vectors' has rows of wrong types")
    return np.fromiter((position for (position,) in rows), np.int64, len(rows))


def count_missing(catalog: Catalog, record: ModelRecord) -> int:
    """Return the number of documents without a vector of a model."""
    (count,) = catalog.execute(
        "SELECT count(*) FROM missing_vectors WHERE model = ?", (record.number,)
    ).fetchone()
    return int(count)


def check_vectors(
    catalog: Catalog,
    files: Sequence[tuple[VectorFileRecord, VectorFile | str]],
    record: ModelRecord,
) -> None:
    """Raise `DamagedIndexError` if a vector is corrupt, or a document has none unexpectedly."""
    check_undamaged(record)
    for named, file in files:
        if not isinstance(file, str) and file.sha256() != named.sha256:
            changed = "has changed since it was written (its hash differs)"
            raise model_damage(record, f"{EMBEDDINGS}/{named.file} {changed}")
    positions = _document_positions(catalog)
    read_vectors(catalog, files, record, positions, np.ones(len(positions), np.bool_))


def _document_positions(catalog: Catalog) -> Int64Array:
    rows = catalog.execute("SELECT position FROM documents ORDER BY position")
    return np.fromiter((position for (position,) in rows), np.int64)


def stray_vectors(catalog: Catalog) -> int:
    """Return the number of stored vectors and files that belong to no model."""
    count = 0
    for table in _TABLES:
        (some,) = catalog.execute(
            f"SELECT count(*) FROM {table} WHERE model NOT IN (SELECT number FROM models)"
        ).fetchone()
        count += some
    return count


_TABLES = ("vectors", "vector_files", "missing_vectors", "embeddings")


# ------------------------------------------------------------------ writing


def add_vectors(
    folder: Path,
    catalog: Catalog,
    record: ModelRecord,
    positions: Int64Array,
    vectors: NDArray[Any],
) -> None:
    """Store the vectors of new documents, within a transaction.

    Raises
    ------
    ValueError
        If a number is not finite in the stored type.
    """
    if not len(positions):
        return
    settings = vector_settings(catalog, record)
    if len(positions) < FILE_ROWS:
        insert_vectors(catalog, record, positions, _converted(record, vectors, settings.dtype))
        return
    width = record.dimensions * DTYPES[settings.dtype].itemsize
    most = max(1, LARGEST // width)
    for start in range(0, len(positions), most):
        some = slice(start, start + most)
        parts = [_converted(record, vectors[some], settings.dtype)]
        _add_file(folder, catalog, record, settings.dtype, positions[some], parts)


def gathered(
    blocks: Iterable[tuple[Int64Array, NDArray[Any]]],
) -> Iterator[tuple[Int64Array, NDArray[Any]]]:
    """Merge small blocks of positions and vectors into blocks for one file each."""
    positions: list[Int64Array] = []
    parts: list[NDArray[Any]] = []
    size = 0
    for some, vectors in blocks:
        positions.append(some)
        parts.append(vectors)
        size += vectors.nbytes
        if size >= LARGEST:
            yield np.concatenate(positions), np.concatenate(parts)
            positions, parts, size = [], [], 0
    if positions:
        yield np.concatenate(positions), np.concatenate(parts)


def _converted(record: ModelRecord, vectors: NDArray[Any], dtype: str) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(vectors, DTYPES[dtype])
    if not np.isfinite(found).all():
        raise ValueError(
            f"The vectors of {record.name!r} must be finite in {dtype}; got a number that is too "
            "large. Attach the model with dtype='float32', or scale the vectors."
        )
    return found


def _add_file(
    folder: Path,
    catalog: Catalog,
    record: ModelRecord,
    dtype: str,
    positions: Int64Array,
    parts: Sequence[NDArray[Any]],
) -> None:
    number = _next_file(catalog, record)
    made = VectorFileRecord(record.number, number, len(positions), 0, "")
    made = write_vector_file(folder, made, dtype, positions, parts)
    _name_file(catalog, made)


def _name_file(catalog: Catalog, made: VectorFileRecord) -> None:
    catalog.execute("INSERT INTO vector_files VALUES (?, ?, ?, ?, ?)", made)
    catalog.execute(
        "UPDATE embeddings SET next_file = ? WHERE model = ?", (made.number + 1, made.model)
    )


def _next_file(catalog: Catalog, record: ModelRecord) -> int:
    """Return an unused number for a new vector file of a model."""
    (highest,) = catalog.execute(
        "SELECT max(number) FROM vector_files WHERE model = ?", (record.number,)
    ).fetchone()
    return max(vector_settings(catalog, record).next_file, (-1 if highest is None else highest) + 1)


def add_missing(catalog: Catalog, record: ModelRecord, positions: Iterable[int]) -> None:
    """Record that documents have no vector of a model, within a transaction."""
    catalog.executemany(
        "INSERT INTO missing_vectors VALUES (?, ?)",
        ((record.number, position) for position in positions),
    )


def set_vectors(
    folder: Path,
    catalog: Catalog,
    record: ModelRecord,
    positions: Int64Array,
    vectors: NDArray[Any],
) -> None:
    """Replace the vectors of existing documents, within a transaction."""
    which = [(record.number, int(position)) for position in positions]
    for table in ("vectors", "missing_vectors"):
        catalog.executemany(f"DELETE FROM {table} WHERE model = ? AND position = ?", which)
    order = np.argsort(positions, kind="stable")
    add_vectors(folder, catalog, record, positions[order], vectors[order])
    catalog.execute(
        "UPDATE embeddings SET generation = generation + 1 WHERE model = ?", (record.number,)
    )


def remove_vectors(catalog: Catalog, positions: Sequence[int]) -> None:
    """Remove the catalog rows of deleted documents' vectors; files stay unchanged."""
    numbers = [number for (number,) in catalog.execute("SELECT number FROM models")]
    for number in numbers:
        for table in ("vectors", "missing_vectors"):
            catalog.executemany(
                f"DELETE FROM {table} WHERE model = ? AND position = ?",
                ((number, position) for position in positions),
            )


def remove_model_vectors(catalog: Catalog) -> None:
    """Remove vectors and settings of models that no longer exist."""
    for table in _TABLES:
        catalog.execute(f"DELETE FROM {table} WHERE model NOT IN (SELECT number FROM models)")


def tidy_vectors(
    folder: Path, catalog: Catalog, record: ModelRecord, transaction: Callable[[], Any]
) -> None:
    """Move vectors from catalog rows to files if there are many."""
    (count,) = catalog.execute(
        "SELECT count(*) FROM vectors WHERE model = ?", (record.number,)
    ).fetchone()
    if count < TIDY_ROWS:
        return
    dtype = DTYPES[vector_settings(catalog, record).dtype]
    most = max(1, LARGEST // (record.dimensions * dtype.itemsize))
    while count > 0:
        with transaction():
            block = stored_rows(catalog, record, dtype, None, most)
            _add_file(folder, catalog, record, dtype.name, block.positions, [block.vectors])
            catalog.execute(
                "DELETE FROM vectors WHERE model = ? AND position <= ?",
                (record.number, int(block.positions[-1])),
            )
        count -= len(block.positions)


def compact_vectors(
    folder: Path, catalog: Catalog, record: ModelRecord, transaction: Callable[[], Any]
) -> None:
    """Rewrite the vector files of a model without deleted documents.

    Raises
    ------
    DamagedIndexError
        If the vectors are corrupt; they stay.
    """
    mapped, _ = map_files(folder, catalog, [record])
    files = mapped.get(record.number, [])
    settings = vector_settings(catalog, record)
    most = max(1, LARGEST // (record.dimensions * DTYPES[settings.dtype].itemsize))
    (in_rows,) = catalog.execute(
        "SELECT count(*) FROM vectors WHERE model = ?", (record.number,)
    ).fetchone()
    in_files = sum(named.rows for named, _ in files)
    embedded = catalog.state().documents - count_missing(catalog, record)
    dense = in_files == embedded and len(files) <= -(-in_files // most)
    if dense if not in_rows else not files and in_rows < FILE_ROWS:
        return
    positions = _document_positions(catalog)
    live = np.ones(len(positions), np.bool_)
    found, _ = read_vectors(catalog, files, record, positions, live)
    kept = np.flatnonzero(found.present)
    made: list[VectorFileRecord] = []
    number = _next_file(catalog, record)
    for start in range(0, len(kept), most):
        some = kept[start : start + most]
        parts = [part.astype(DTYPES[settings.dtype]) for part in _pieces(found, some)]
        named = VectorFileRecord(record.number, number + len(made), len(some), 0, "")
        made.append(write_vector_file(folder, named, settings.dtype, positions[some], parts))
    with transaction():
        for table in ("vectors", "vector_files"):
            catalog.execute(f"DELETE FROM {table} WHERE model = ?", (record.number,))
        for named in made:
            _name_file(catalog, named)


def _pieces(found: StoredVectors, rows: Int64Array) -> Iterator[Float32Array]:
    for start in range(0, len(rows), _CHUNK):
        yield found.of_rows(rows[start : start + _CHUNK])
