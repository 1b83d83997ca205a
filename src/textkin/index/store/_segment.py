"""Segments: memory-mapped files with word counts and postings of a range of documents.

A segment covers a range of positions and a range of word IDs, and is built only from the catalog.
Its file has the safetensors format: arrays after a header with their names, types, and offsets.
"""

import hashlib
import json
import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._base import BoolArray, Float32Array, Int32Array, Int64Array, Written, write_whole
from textkin.exceptions import DamagedIndexError
from textkin.index.store._catalog import Catalog, SegmentRecord
from textkin.index.store._memory_maps import map_checked_file

__all__ = [
    "Extent",
    "Segment",
    "SegmentDamage",
    "map_segment",
    "merge_segments",
    "segment_from_catalog",
]

_FORMAT = "textkin.segment"
_VERSION = "1"

_TYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "F32": np.dtype("<f4"),
    "U8": np.dtype("u1"),
}

# Arrays of a file with their types, widest first, so that each array is aligned.
_ARRAYS = {
    "positions": "I64",
    "indptr": "I64",
    "term_offsets": "I64",
    "block_offsets": "I64",
    "word_offsets": "I64",
    "indices": "I32",
    "counts": "F32",
    "lengths": "I32",
    "terms": "I32",
    "posting_rows": "I32",
    "posting_tf": "U32",
    "block_tf": "U32",
    "block_length": "U32",
    "word_slots": "I32",
    "word_bytes": "U8",
}

_POSTINGS = (
    "terms",
    "term_offsets",
    "posting_rows",
    "posting_tf",
    "block_offsets",
    "block_tf",
    "block_length",
)


class SegmentDamage(Exception):
    """Internal error: a segment file disagrees with its catalog record."""


class Extent(NamedTuple):
    """Range of positions and range of word IDs that a segment covers."""

    first_position: int
    end_position: int
    first_word: int
    end_word: int

    @classmethod
    def of(cls, record: SegmentRecord) -> "Extent":
        """Create the extent from the catalog record of a segment."""
        return cls(record.first_position, record.end_position, record.first_word, record.end_word)


@dataclass(frozen=True)
class Segment:
    """Word counts of a range of documents, by document and by word (postings).

    Attributes
    ----------
    extent : Extent
        Range of the segment. Documents deleted before the segment was built are missing.
    arrays : dict
        - ``positions``, ``lengths``: position and number of words of each row.
        - ``indptr``, ``indices``, ``counts``: rows in CSR format; the indices are word IDs.
        - ``terms``: IDs of the words that occur; ``term_offsets``: offsets of their postings in
          ``posting_rows`` and ``posting_tf``.
        - ``block_offsets``: offsets of the blocks of each term in ``block_tf`` and
          ``block_length``: the largest count and the smallest length among 128 postings.
        - ``word_bytes``, ``word_offsets``, ``word_slots``: words of the extent.
    mapped : mmap or None
        Mapped file, or None for a segment in memory. The mapping remains valid after the file is
        deleted.
    """

    extent: Extent
    arrays: dict[str, NDArray[Any]]
    mapped: mmap.mmap | None = None

    def sha256(self) -> str:
        """Return the SHA-256 hash of the memory-mapped segment file."""
        assert self.mapped is not None
        return hashlib.sha256(self.mapped).hexdigest()

    @property
    def rows(self) -> int:
        """Number of documents in the segment, deleted ones included."""
        return len(self.positions)

    @property
    def entries(self) -> int:
        """Number of nonzero word counts in the segment."""
        return len(self.arrays["indices"])

    @property
    def positions(self) -> Int64Array:
        """Catalog position of each row, in ascending order."""
        return self.arrays["positions"]

    @property
    def lengths(self) -> Int32Array:
        """Number of words of each document."""
        return self.arrays["lengths"]

    @cached_property
    def bags(self) -> tuple[Int64Array, Int32Array, Float32Array]:
        """Word counts as CSR arrays (indptr, indices, counts), validated on first use."""
        indptr, indices, counts = (self.arrays[name] for name in ("indptr", "indices", "counts"))
        try:
            _core.check_rows(indptr, indices, self.extent.end_word)
        except ValueError as error:
            raise SegmentDamage(str(error)) from error
        return indptr, indices, counts

    @cached_property
    def counted(self) -> "_core.CountMatrix":
        """Word counts and postings in the core's type, validated on first use."""
        part = _core.CountMatrix(*self.bags, *(self.arrays[name] for name in _POSTINGS[:4]))
        try:
            part.check(self.extent.end_word)
        except ValueError as error:
            raise SegmentDamage(str(error)) from error
        return part

    @cached_property
    def words(self) -> "_core.PackedWords":
        """Words that first occur in this segment, in the order of IDs."""
        parts = (self.arrays[name] for name in ("word_bytes", "word_offsets", "word_slots"))
        try:
            return _core.PackedWords(*parts)
        except ValueError as error:
            raise SegmentDamage(str(error)) from error

    def frequencies(self, n_words: int) -> Int64Array:
        """Return the number of the segment's documents that contain each word."""
        found = np.zeros(n_words, np.int64)
        found[self.arrays["terms"]] = np.diff(self.arrays["term_offsets"])
        return found

    def check(self) -> None:
        """Raise unless all arrays have values that are safe to use as indices.

        Counts and lengths may still be wrong, which only the hash reveals.

        Raises
        ------
        SegmentDamage
            If positions, rows, or terms are outside the extent or not in order.
        """
        extent, terms = self.extent, self.arrays["terms"]
        if not _is_ascending(self.positions, extent.first_position, extent.end_position):
            raise SegmentDamage("has positions out of order")
        if not _is_ascending(terms, 0, extent.end_word):
            raise SegmentDamage("has terms out of order")
        self.counted  # noqa: B018 (the property validates the arrays)

    def live_rows(self, deleted: Sequence[int] | Int64Array) -> BoolArray:
        """Return a mask of the rows whose positions are not deleted."""
        live = np.ones(self.rows, np.bool_)
        gone = np.asarray(deleted, np.int64)
        places = np.searchsorted(self.positions, gone)
        there = places < self.rows
        there[there] = self.positions[places[there]] == gone[there]
        live[places[there]] = False
        return live

    def write(self, path: Path) -> Written:
        """Write the segment to a file atomically; return its size and hash."""
        return write_whole(path, self._parts())

    def _parts(self) -> Iterator[bytes | memoryview]:
        header: dict[str, Any] = {
            "__metadata__": {
                "format": _FORMAT,
                "version": _VERSION,
                "extent": " ".join(map(str, self.extent)),
            }
        }
        end = 0
        for name, kind in _ARRAYS.items():
            array = self.arrays[name]
            assert array.dtype == _TYPES[kind], name
            header[name] = {
                "dtype": kind,
                "shape": [len(array)],
                "data_offsets": [end, end + array.nbytes],
            }
            end += array.nbytes
        written = json.dumps(header, separators=(",", ":")).encode()
        written += b" " * (-len(written) % 8)
        yield len(written).to_bytes(8, "little")
        yield written
        for name in _ARRAYS:
            if len(self.arrays[name]):
                yield np.ascontiguousarray(self.arrays[name]).data.cast("B")


def map_segment(path: Path, record: SegmentRecord) -> Segment:
    """Map the file of a segment into memory, after a check of its size and header.

    Raises
    ------
    SegmentDamage
        If the file is missing or disagrees with the catalog. The array values are not checked.
    """
    extent = Extent.of(record)
    written, mapped = map_checked_file(path, record.bytes, SegmentDamage)
    header = _parse_header(written)
    arrays = _arrays_of(header, mapped, 8 + len(written))
    metadata = {"format": _FORMAT, "version": _VERSION, "extent": " ".join(map(str, extent))}
    if header.get("__metadata__") != metadata:
        raise SegmentDamage("is the file of another segment or has another format")
    _check_sizes(arrays, record, extent)
    return Segment(extent, arrays, mapped)


def segment_from_catalog(catalog: Catalog, extent: Extent) -> Segment:
    """Build the segment of an extent (range of documents and words) from the catalog.

    Raises
    ------
    DamagedIndexError
        If the contents of the catalog cannot be read.
    """
    positions, blobs = [], []
    for position, packed in catalog.counts(extent.first_position, extent.end_position):
        positions.append(position)
        blobs.append(packed)
    table = _core.WordTable()
    table.read_words([catalog.words(extent.first_word, extent.end_word)])
    try:
        rows = _core.unpack_counts(blobs, extent.end_word)
        return _make_segment(extent, np.array(positions, np.int64), *rows, *table.packed(0))
    except (SegmentDamage, TypeError, ValueError) as error:
        raise DamagedIndexError(
            f"{catalog.path} is corrupt: the counts of the documents from position "
            f"{extent.first_position} to {extent.end_position} cannot be read ({error}).",
            [f"{catalog.path.name}: counts ({error})"],
        ) from error


def merge_segments(segments: Sequence[tuple[Segment, BoolArray]]) -> Segment:
    """Merge adjacent segments into one, without deleted documents.

    Raises
    ------
    SegmentDamage
        If the contents of a segment are corrupt.
    """
    first, last = segments[0][0].extent, segments[-1][0].extent
    extent = Extent(first.first_position, last.end_position, first.first_word, last.end_word)
    parts = [_rows_of(segment, live) for segment, live in segments]
    positions, lengths, sizes, indices, counts = (
        np.concatenate([part[i] for part in parts]) for i in range(5)
    )
    indptr = _offsets_of(sizes)
    words = np.concatenate([segment.arrays["word_bytes"] for segment, _ in segments])
    lengths_of_words = [np.diff(segment.arrays["word_offsets"]) for segment, _ in segments]
    offsets = _offsets_of(np.concatenate(lengths_of_words))
    return _make_segment(extent, positions, indptr, indices, counts, lengths, words, offsets)


def _is_ascending(numbers: NDArray[Any], first: int, end: int) -> bool:
    """Return True if numbers ascend strictly within `first` to before `end`."""
    if len(numbers) == 0:
        return True
    return bool(numbers[0] >= first and numbers[-1] < end and (numbers[1:] > numbers[:-1]).all())


def _offsets_of(sizes: Int64Array) -> Int64Array:
    """Return the cumulative sums of sizes, starting with 0."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _rows_of(segment: Segment, live: BoolArray) -> tuple[NDArray[Any], ...]:
    """Return positions, lengths, sizes, indices, and counts of the rows not deleted."""
    indptr, indices, counts = segment.bags
    sizes = np.diff(indptr)
    if live.all():
        return segment.positions, segment.lengths, sizes, indices, counts
    kept = np.repeat(live, sizes)
    return segment.positions[live], segment.lengths[live], sizes[live], indices[kept], counts[kept]


def _make_segment(
    extent: Extent,
    positions: Int64Array,
    indptr: Int64Array,
    indices: Int32Array,
    counts: Float32Array,
    lengths: NDArray[np.integer[Any]],
    word_bytes: NDArray[np.uint8],
    word_offsets: Int64Array,
) -> Segment:
    try:
        postings = _core.invert(indptr, indices, counts, lengths.astype(np.int64), extent.end_word)
        slots = _core.PackedWords.slots_of(word_bytes, word_offsets)
    except ValueError as error:
        raise SegmentDamage(str(error)) from error
    arrays: dict[str, NDArray[Any]] = {
        "positions": positions,
        "indptr": indptr,
        "indices": indices,
        "counts": counts,
        "lengths": lengths.astype(np.int32),
        "word_bytes": word_bytes,
        "word_offsets": word_offsets,
        "word_slots": slots,
        **dict(zip(_POSTINGS, postings, strict=True)),
    }
    return Segment(extent, arrays)


def _parse_header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SegmentDamage("has a header that is not JSON") from error
    if not isinstance(header, dict):
        raise SegmentDamage("has a header that is not JSON")
    return header


def _arrays_of(header: dict[str, Any], mapped: mmap.mmap, start: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of a mapped segment file by name, after a check of its layout."""
    arrays = {}
    end = 0
    for name, kind in _ARRAYS.items():
        entry = header.get(name)
        try:
            (count,) = entry["shape"]  # type: ignore[index]
            sound = type(count) is int and count >= 0
            size = count * _TYPES[kind].itemsize if sound else 0
            sound = sound and entry == {
                "dtype": kind,
                "shape": [count],
                "data_offsets": [end, end + size],
            }
        except (KeyError, TypeError, ValueError):
            sound = False
        if not sound or start + end + size > len(mapped):
            raise SegmentDamage(f"has no valid array {name!r}")
        arrays[name] = np.frombuffer(mapped, _TYPES[kind], count, start + end)
        end += size
    if start + end != len(mapped):
        raise SegmentDamage("has bytes after its arrays")
    return arrays


def _check_sizes(arrays: dict[str, NDArray[Any]], record: SegmentRecord, extent: Extent) -> None:
    size = {name: len(array) for name, array in arrays.items()}
    words = extent.end_word - extent.first_word
    sound = (
        size["positions"] == size["lengths"] == size["indptr"] - 1 == record.rows
        and size["indices"] == size["counts"] == record.entries
        and size["posting_rows"] == size["posting_tf"] == record.entries
        and size["term_offsets"] == size["block_offsets"] == size["terms"] + 1
        and size["block_tf"] == size["block_length"]
        and size["word_offsets"] == words + 1
    )
    if not sound:
        raise SegmentDamage("has arrays whose sizes disagree")
