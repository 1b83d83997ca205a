"""Immutable, memory-mapped files of document vectors.

The catalog names each file with its size and hash after the file is on disk. A file has the
safetensors format: positions, lengths, and checksums of its rows, and then the vectors.
"""

import hashlib
import json
import mmap
import os
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textkin._base import Float32Array, Float64Array, Int64Array, Written, own_folder, write_whole
from textkin.index.store._memory_maps import map_checked_file

__all__ = [
    "DTYPES",
    "EMBEDDINGS",
    "VectorBlock",
    "VectorFile",
    "VectorFileDamage",
    "VectorFileRecord",
    "map_vector_file",
    "remove_strays",
    "row_checksums",
    "row_lengths",
    "write_vector_file",
]

EMBEDDINGS = "embeddings"
DTYPES: dict[str, np.dtype[Any]] = {"float32": np.dtype("<f4"), "float16": np.dtype("<f2")}
_KINDS = {"float32": "F32", "float16": "F16"}
_FORMAT = "textkin.vectors"
_VERSION = "1"
_ALIGNMENT = 64  # alignment of the vectors, in bytes
_ROWS = 4096  # rows converted to float64 at a time


class VectorFileDamage(Exception):
    """Internal error: a vector file disagrees with its catalog record."""


class VectorFileRecord(NamedTuple):
    """Catalog row of a vector file: model, number of rows, size, and hash.

    Attributes
    ----------
    model, number : int
        Number of the model, and number of the file among the files of this model.
    rows, bytes : int
        Number of vectors, and size of the file.
    sha256 : str
        Hash of the file.
    """

    model: int
    number: int
    rows: int
    bytes: int
    sha256: str

    @property
    def file(self) -> str:
        """Name of the vector file, made from the numbers of model and file."""
        return f"{self.model:08d}-{self.number:08d}.safetensors"


@dataclass(frozen=True)
class VectorBlock:
    """Positions and vectors of some documents, from a file or the catalog.

    Attributes
    ----------
    positions : ndarray of int64
        Position of the document of each vector, in ascending order.
    vectors : ndarray of shape (n, dimensions), float32 or float16
        The vectors.
    lengths : ndarray of float64
        Euclidean length of each vector.
    checksums : ndarray of int64 or None
        CRC-32 of each vector; None if the vectors were checked when they were read.
    """

    positions: Int64Array
    vectors: NDArray[Any]
    lengths: Float64Array
    checksums: Int64Array | None = None

    def take(self, places: Int64Array) -> Float32Array:
        """Return the vectors at indices of the block, in float32.

        Raises
        ------
        VectorFileDamage
            If a vector has changed since it was written.
        """
        found = self.vectors[places]
        if self.checksums is not None:
            wrong = np.flatnonzero(row_checksums(found) != self.checksums[places])
            if len(wrong):
                position = int(self.positions[places[wrong[0]]])
                raise VectorFileDamage(f"the vector at position {position} is corrupt")
        return found.astype(np.float32, copy=False)


@dataclass(frozen=True)
class VectorFile(VectorBlock):
    """Memory-mapped file of document vectors, with positions and lengths.

    Attributes
    ----------
    mapped : mmap
        The whole file.
    """

    mapped: mmap.mmap | None = None

    def sha256(self) -> str:
        """Return the SHA-256 hash of the memory-mapped file."""
        assert self.mapped is not None
        return hashlib.sha256(self.mapped).hexdigest()


def row_lengths(vectors: NDArray[Any]) -> Float64Array:
    """Return the Euclidean length of each row, independent of the other rows."""
    lengths = np.empty(len(vectors))
    for start in range(0, len(vectors), _ROWS):
        rows = vectors[start : start + _ROWS].astype(np.float64)
        lengths[start : start + _ROWS] = np.sqrt((rows * rows).sum(axis=1))
    return lengths


def row_checksums(vectors: NDArray[Any]) -> Int64Array:
    """Return the CRC-32 of the bytes of each row."""
    rows = np.ascontiguousarray(vectors)
    return np.fromiter((zlib.crc32(row) for row in rows), np.int64, len(rows))


def write_vector_file(
    folder: Path,
    record: VectorFileRecord,
    dtype: str,
    positions: Int64Array,
    parts: Sequence[NDArray[Any]],
) -> VectorFileRecord:
    """Write vectors to a file atomically; return its record with size and hash."""
    written = write_whole(
        own_folder(folder, EMBEDDINGS) / record.file, _contents(dtype, positions, parts)
    )
    return _with_size(record._replace(rows=len(positions)), written)


def _with_size(record: VectorFileRecord, written: Written) -> VectorFileRecord:
    return record._replace(bytes=written.size, sha256=written.sha256)


def _contents(
    dtype: str, positions: Int64Array, parts: Sequence[NDArray[Any]]
) -> Iterator[bytes | memoryview]:
    n, width = len(positions), parts[0].shape[1]
    arrays = {
        "positions": positions.astype("<i8"),
        "lengths": np.concatenate([row_lengths(part) for part in parts]).astype("<f8"),
        "checksums": np.concatenate([row_checksums(part) for part in parts]).astype("<i8"),
    }
    check = 0
    for array in arrays.values():
        check = zlib.crc32(array.data.cast("B"), check)
    written = _encoded_header(dtype, n, width, check)
    written += b" " * (-(8 + len(written) + 24 * n) % _ALIGNMENT)
    yield len(written).to_bytes(8, "little")
    yield written
    for array in arrays.values():
        yield array.data.cast("B")
    for part in parts:
        yield np.ascontiguousarray(part, DTYPES[dtype]).data.cast("B")


def _encoded_header(dtype: str, n: int, width: int, check: int) -> bytes:
    """Return the header; `check` is the CRC-32 of positions, lengths, and checksums."""
    about = {"format": _FORMAT, "version": _VERSION, "check": str(check)}
    header: dict[str, Any] = {"__metadata__": about}
    end = 0
    for name, kind in (("positions", "I64"), ("lengths", "F64"), ("checksums", "I64")):
        header[name] = {"dtype": kind, "shape": [n], "data_offsets": [end, end + 8 * n]}
        end += 8 * n
    size = n * width * DTYPES[dtype].itemsize
    header["vectors"] = {
        "dtype": _KINDS[dtype],
        "shape": [n, width],
        "data_offsets": [end, end + size],
    }
    return json.dumps(header, separators=(",", ":")).encode()


def map_vector_file(folder: Path, record: VectorFileRecord, dtype: str, width: int) -> VectorFile:
    """Map a file after a check of its size, header, positions, lengths, and checksums.

    Raises
    ------
    VectorFileDamage
        If the file is missing or disagrees with the catalog. The vectors are not read.
    """
    path = folder / EMBEDDINGS / record.file
    header, mapped = map_checked_file(path, record.bytes, VectorFileDamage)
    n = record.rows
    start = 8 + len(header)
    whole = start + 24 * n + n * width * DTYPES[dtype].itemsize
    if whole != record.bytes or start % 8:
        raise VectorFileDamage("is the file of other vectors or has another format")
    # The vectors have a checksum each, which is compared when one is used.
    check = zlib.crc32(memoryview(mapped)[start : start + 24 * n])
    if header.rstrip(b" ") != _encoded_header(dtype, n, width, check):
        raise VectorFileDamage("is the file of other vectors, or its lengths are corrupt")
    positions = np.frombuffer(mapped, "<i8", n, start)
    lengths = np.frombuffer(mapped, "<f8", n, start + 8 * n)
    checksums = np.frombuffer(mapped, "<i8", n, start + 16 * n)
    vectors = np.frombuffer(mapped, DTYPES[dtype], n * width, start + 24 * n)
    if n and not (positions[0] >= 0 and (positions[1:] > positions[:-1]).all()):
        raise VectorFileDamage("has positions that do not ascend")
    if not (np.isfinite(lengths).all() and (lengths >= 0).all()):
        raise VectorFileDamage("has invalid lengths of vectors")
    return VectorFile(positions, vectors.reshape(n, width), lengths, checksums, mapped)


def remove_strays(folder: Path, named: Collection[str]) -> None:
    """Remove vector files that the catalog does not list."""
    if not (folder / EMBEDDINGS).exists():
        return
    place = own_folder(folder, EMBEDDINGS)
    for name in sorted(os.listdir(place)):
        if name not in named:
            with suppress(OSError):
                (place / name).unlink()
