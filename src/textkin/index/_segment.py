"""Segments: counts and postings of a range of documents, in a file that is mapped into memory.

A segment covers a range of positions and a range of word numbers, and is made from the catalogue
alone. Its file is a safetensors file: plain arrays behind a header of names, types and places.
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
from textkin._typing import BoolArray, Float32Array, Int32Array, Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index._catalogue import Catalogue, SegmentRecord
from textkin.index._files import Written, write_whole

__all__ = ["Extent", "Segment", "SegmentDamage", "map_segment", "merged", "segment_from_catalogue"]

_FORMAT = "textkin.segment"
_VERSION = "1"
_LARGEST_HEADER = 1 << 16

_TYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "F32": np.dtype("<f4"),
    "U8": np.dtype("u1"),
}

# The arrays of a file with their types, the widest first: each lies where its type wants it.
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
    """A segment's file is not what the catalogue says; never seen outside of this room."""


class Extent(NamedTuple):
    """What a segment covers: documents and words from a first one to before an end."""

    first_position: int
    end_position: int
    first_word: int
    end_word: int

    @classmethod
    def of(cls, record: SegmentRecord) -> "Extent":
        """Return what a segment of the catalogue covers."""
        return cls(record.first_position, record.end_position, record.first_word, record.end_word)


@dataclass(frozen=True)
class Segment:
    """Counted documents: rows as they are, and the other way round.

    Attributes
    ----------
    extent : Extent
        What is covered; documents that were deleted before the segment was made are not in it.
    arrays : dict
        - ``positions``, ``lengths``: of each row.
        - ``indptr``, ``indices``, ``counts``: the rows; indices are word numbers.
        - ``terms``: the words that occur; ``term_offsets``: where the postings of each are in
          ``posting_rows`` and ``posting_tf``.
        - ``block_offsets``: where the blocks of each term are in ``block_tf`` and
          ``block_length``: the largest count and the smallest length among 128 postings.
        - ``word_bytes``, ``word_offsets``, ``word_slots``: the words of the extent.
    mapped : mmap or None
        The file, if it is one; it stays as it is when its name is gone.
    """

    extent: Extent
    arrays: dict[str, NDArray[Any]]
    mapped: mmap.mmap | None = None

    def sha256(self) -> str:
        """Return the hash of the file that was mapped."""
        assert self.mapped is not None
        return hashlib.sha256(self.mapped).hexdigest()

    @property
    def rows(self) -> int:
        """How many documents it has."""
        return len(self.positions)

    @property
    def entries(self) -> int:
        """How many different words its documents have, summed up."""
        return len(self.arrays["indices"])

    @property
    def positions(self) -> Int64Array:
        """The position of each row, ascending."""
        return self.arrays["positions"]

    @property
    def lengths(self) -> Int32Array:
        """The number of words of each row."""
        return self.arrays["lengths"]

    @cached_property
    def bags(self) -> tuple[Int64Array, Int32Array, Float32Array]:
        """The rows (indptr, indices, counts), checked once: what is in a file may be damaged."""
        indptr, indices, counts = (self.arrays[name] for name in ("indptr", "indices", "counts"))
        try:
            _core.check_rows(indptr, indices, self.extent.end_word)
        except ValueError as error:
            raise SegmentDamage(str(error)) from error
        return indptr, indices, counts

    @cached_property
    def counted(self) -> "_core.CountedPart":
        """Rows and postings for a search in the core, checked once like `bags`."""
        part = _core.CountedPart(*self.bags, *(self.arrays[name] for name in _POSTINGS[:4]))
        try:
            part.check(self.extent.end_word)
        except ValueError as error:
            raise SegmentDamage(str(error)) from error
        return part

    @cached_property
    def words(self) -> "_core.PackedWords":
        """The words of the extent; their numbers there begin at 0."""
        parts = (self.arrays[name] for name in ("word_bytes", "word_offsets", "word_slots"))
        try:
            return _core.PackedWords(*parts)
        except ValueError as error:
            raise SegmentDamage(str(error)) from error

    def frequencies(self, n_words: int) -> Int64Array:
        """Return in how many of its documents each word occurs."""
        found = np.zeros(n_words, np.int64)
        found[self.arrays["terms"]] = np.diff(self.arrays["term_offsets"])
        return found

    def check(self) -> None:
        """Raise unless the arrays can be used without harm.

        Counts and lengths may still be wrong, which only the hash tells.

        Raises
        ------
        SegmentDamage
            If positions, rows or terms lie outside of what is covered, or are not in order.
        """
        extent, terms = self.extent, self.arrays["terms"]
        if not _ascends(self.positions, extent.first_position, extent.end_position):
            raise SegmentDamage("has positions that are not in order")
        if not _ascends(terms, 0, extent.end_word):
            raise SegmentDamage("has terms that are not in order")
        self.counted  # noqa: B018 (checks them)

    def live_rows(self, deleted: Sequence[int] | Int64Array) -> BoolArray:
        """Return which rows are not among the deleted positions."""
        live = np.ones(self.rows, np.bool_)
        gone = np.asarray(deleted, np.int64)
        places = np.searchsorted(self.positions, gone)
        there = places < self.rows
        there[there] = self.positions[places[there]] == gone[there]
        live[places[there]] = False
        return live

    def write(self, path: Path) -> Written:
        """Write the file, whole or not at all."""
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
    """Map a segment's file into memory, after a look at its size and its header.

    Raises
    ------
    SegmentDamage
        If it is not there, or not what the catalogue says. What the arrays hold is not looked at.
    """
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        raise SegmentDamage("is missing")
    extent = Extent.of(record)
    with path.open("rb") as file:
        file.seek(0, 2)
        size = file.tell()
        if size != record.bytes:
            raise SegmentDamage(f"has {size} bytes and must have {record.bytes}")
        file.seek(0)
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_LARGEST_HEADER, size - 8):
            raise SegmentDamage("has no header")
        header = _parsed(file.read(length))
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays = _arrays_of(header, mapped, 8 + length)
    metadata = {"format": _FORMAT, "version": _VERSION, "extent": " ".join(map(str, extent))}
    if header.get("__metadata__") != metadata:
        raise SegmentDamage("is the file of another segment, or in another format")
    _check_sizes(arrays, record, extent)
    return Segment(extent, arrays, mapped)


def segment_from_catalogue(catalogue: Catalogue, extent: Extent) -> Segment:
    """Make a segment of the documents and words of an extent, from the catalogue.

    Raises
    ------
    DamagedIndexError
        If what the catalogue holds cannot be read.
    """
    positions, blobs = [], []
    for position, packed in catalogue.counts(extent.first_position, extent.end_position):
        positions.append(position)
        blobs.append(packed)
    table = _core.WordTable()
    table.read_words([catalogue.words(extent.first_word, extent.end_word)])
    try:
        rows = _core.unpack_counts(blobs, extent.end_word)
        return _made(extent, np.array(positions, np.int64), *rows, *table.packed(0))
    except (SegmentDamage, TypeError, ValueError) as error:
        raise DamagedIndexError(
            f"{catalogue.path} is damaged: the counts of its documents from position "
            f"{extent.first_position} to {extent.end_position} cannot be read ({error}).",
            [f"{catalogue.path.name}: counts ({error})"],
        ) from error


def merged(segments: Sequence[tuple[Segment, BoolArray]]) -> Segment:
    """Make one segment of neighbours, in their order, of the rows that are marked.

    Raises
    ------
    SegmentDamage
        If what one of them holds is damaged.
    """
    first, last = segments[0][0].extent, segments[-1][0].extent
    extent = Extent(first.first_position, last.end_position, first.first_word, last.end_word)
    parts = [_rows_of(segment, live) for segment, live in segments]
    positions, lengths, sizes, indices, counts = (
        np.concatenate([part[i] for part in parts]) for i in range(5)
    )
    indptr = _summed(sizes)
    words = np.concatenate([segment.arrays["word_bytes"] for segment, _ in segments])
    lengths_of_words = [np.diff(segment.arrays["word_offsets"]) for segment, _ in segments]
    offsets = _summed(np.concatenate(lengths_of_words))
    return _made(extent, positions, indptr, indices, counts, lengths, words, offsets)


def _ascends(numbers: NDArray[Any], first: int, end: int) -> bool:
    """Say whether numbers ascend strictly, from `first` at the least to below `end`."""
    if len(numbers) == 0:
        return True
    return bool(numbers[0] >= first and numbers[-1] < end and (numbers[1:] > numbers[:-1]).all())


def _summed(sizes: Int64Array) -> Int64Array:
    """Return where parts of these sizes begin and end, one after another."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _rows_of(segment: Segment, live: BoolArray) -> tuple[NDArray[Any], ...]:
    """Return positions, lengths, sizes, indices and counts of the rows that are marked."""
    indptr, indices, counts = segment.bags
    sizes = np.diff(indptr)
    if live.all():
        return segment.positions, segment.lengths, sizes, indices, counts
    kept = np.repeat(live, sizes)
    return segment.positions[live], segment.lengths[live], sizes[live], indices[kept], counts[kept]


def _made(
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


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SegmentDamage("has a header that is not JSON") from error
    if not isinstance(header, dict):
        raise SegmentDamage("has a header that is not JSON")
    return header


def _arrays_of(header: dict[str, Any], mapped: mmap.mmap, start: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, which must lie one after another and fill it."""
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
            raise SegmentDamage(f"has no sound array {name!r}")
        arrays[name] = np.frombuffer(mapped, _TYPES[kind], count, start + end)
        end += size
    if start + end != len(mapped):
        raise SegmentDamage("has bytes behind its arrays")
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
        raise SegmentDamage("has arrays whose sizes do not agree")
