"""A snapshot: one state of an index, unchanged by whatever is written meanwhile.

It is a read transaction of SQLite together with the segments that the catalogue named at that
moment, mapped into memory. Documents that are in no segment yet are read from the catalogue.
"""

import threading
import warnings
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from textkin import _core
from textkin._typing import Bags, BoolArray, Int32Array, Int64Array
from textkin.exceptions import DamagedIndexError, IndexLockedError, IndexWarning
from textkin.index._catalogue import (
    CATALOGUE,
    Catalogue,
    SegmentRecord,
    plain_errors,
)
from textkin.index._model_records import model_records
from textkin.index._opening import open_catalogue
from textkin.index._records import DOCUMENT_COLUMNS, document_of, is_text
from textkin.index._segment import (
    Extent,
    Segment,
    SegmentDamage,
    map_segment,
    segment_from_catalogue,
)
from textkin.text import Document

__all__ = ["SEGMENTS", "Part", "Snapshot", "open_snapshot"]

SEGMENTS = "segments"
_TRIES = 20
_CHUNK = 512  # documents that are fetched at a time


@dataclass(frozen=True)
class Part:
    """A segment as a snapshot sees it.

    Attributes
    ----------
    segment : Segment
        The counted documents.
    live : ndarray of bool
        Which of its rows are still there.
    """

    segment: Segment
    live: BoolArray


class Snapshot:
    """One state of an index.

    Parameters
    ----------
    folder : Path
        The index.
    catalogue : Catalogue
        With a read transaction that has begun; closed with the snapshot.
    segments : list of (SegmentRecord, Segment or str)
        Those of the catalogue; of one whose file cannot be used, why.
    """

    def __init__(
        self,
        folder: Path,
        catalogue: Catalogue,
        segments: list[tuple[SegmentRecord, Segment | str]],
    ) -> None:
        self.folder = folder
        self.state = catalogue.state()
        self.models = model_records(catalogue)
        self.segments = segments
        self._catalogue = catalogue
        self._mutex = threading.RLock()
        # A snapshot may be in use by an iteration that was left unfinished.
        self.close = weakref.finalize(self, catalogue.close)

    def __len__(self) -> int:
        return self.state.documents

    def get(self, id: str) -> Document | None:
        """Return the document with this id, or None."""
        if not is_text(id):
            return None
        with self.catalogue() as catalogue:
            row = catalogue.execute(
                f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE id = ?", (id,)
            ).fetchone()
        return None if row is None else self._document(row)

    def documents(self) -> Iterator[Document]:
        """Give all documents in the order of their positions."""
        last = -1
        while True:
            with self.catalogue() as catalogue:
                rows = catalogue.execute(
                    f"SELECT position, {DOCUMENT_COLUMNS} FROM documents WHERE position > ? "
                    f"ORDER BY position LIMIT {_CHUNK}",
                    (last,),
                ).fetchall()
            if not rows:
                return
            for row in rows:
                yield self._document(row[1:])
            last = rows[-1][0]

    def ids(self) -> list[str]:
        """Return the ids of all documents in the order of their positions."""
        with self.catalogue() as catalogue:
            rows = catalogue.execute("SELECT id FROM documents ORDER BY position").fetchall()
        return [id for (id,) in rows]

    @cached_property
    def parts(self) -> list[Part]:
        """The counted documents: the segments, then what is in none yet."""
        return [self.part(number) for number in range(len(self.segments) + 1)]

    def part(self, number: int) -> Part:
        """Return one of the parts, and read no other."""
        with self.catalogue() as catalogue:
            if number == len(self.segments):
                tail = segment_from_catalogue(catalogue, self._tail)
                return Part(tail, np.ones(tail.rows, np.bool_))
            record, segment = self.segments[number]
            if isinstance(segment, str):
                segment = segment_from_catalogue(catalogue, Extent.of(record))
            return self._part(catalogue, segment, record)

    def bags(self) -> Bags:
        """Return the counts of all documents, a row each in the order of `ids`."""
        return self.bags_of(*self.parts)

    def bags_of(self, *parts: Part) -> Bags:
        """Return the counts of the documents of some parts."""
        blocks = []
        for part in parts:
            indptr, indices, counts = part.segment.bags
            block = sparse.csr_array(
                (counts, indices, indptr), shape=(part.segment.rows, self.state.words), copy=False
            )
            blocks.append(block if part.live.all() else block[np.flatnonzero(part.live)])
        found = sparse.vstack(blocks, format="csr", dtype=np.float32)
        # SciPy wants both of one type.
        kind = np.int32 if found.nnz <= np.iinfo(np.int32).max else np.int64
        found.indices = found.indices.astype(kind, copy=False)
        found.indptr = found.indptr.astype(kind, copy=False)
        return found

    def lengths(self) -> Int64Array:
        """Return how many words each document has."""
        parts = [part.segment.lengths[part.live] for part in self.parts]
        return np.concatenate(parts).astype(np.int64)

    @cached_property
    def frequencies(self) -> Int64Array:
        """In how many documents each word of the vocabulary occurs."""
        found = np.zeros(self.state.words, np.int64)
        for part in self.parts:
            found += part.segment.frequencies(self.state.words)
            indptr, indices, _ = part.segment.bags
            for row in np.flatnonzero(~part.live):
                found[indices[indptr[row] : indptr[row + 1]]] -= 1
        if len(found) and not 0 <= found.min() <= found.max() <= len(self):
            raise DamagedIndexError(
                f"{self.folder} is damaged: its segments do not agree with the catalogue. "
                "index.verify(repair=True) makes them again.",
                [f"{SEGMENTS}: more documents than there are"],
            )
        return found

    def find(self, words: Sequence[str]) -> Int32Array:
        """Return the number of each word, -1 where the vocabulary does not have it."""
        wanted = list(words)
        found = np.full(len(wanted), -1, np.int32)
        for first, packed in self.packed_words:
            here = packed.find(wanted)
            found[here >= 0] = here[here >= 0] + first
        return found

    def words(self) -> list[str]:
        """Return all words by their numbers, those that no document has any more too."""
        found: list[str] = []
        for _, packed in self.packed_words:
            try:
                found += packed.words(0, len(packed))
            except ValueError:  # bytes that are no text; the catalogue has them
                with self.catalogue() as catalogue:
                    end = len(found) + len(packed)
                    found += catalogue.words(len(found), end)
        return found

    def unusable(self) -> list[SegmentRecord]:
        """Return the segments whose files are missing or damaged, as far as that was seen."""
        return [record for record, found in self.segments if isinstance(found, str)]

    @cached_property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """The words of each segment and of the tail, with the number of the first one."""
        found = []
        with self.catalogue() as catalogue:
            for record, segment in self.segments:
                try:
                    if isinstance(segment, str):
                        raise SegmentDamage(segment)
                    packed = segment.words
                except SegmentDamage:
                    packed = _packed(catalogue, Extent.of(record))
                found.append((record.first_word, packed))
            found.append((self._tail.first_word, _packed(catalogue, self._tail)))
        return found

    @property
    def _tail(self) -> Extent:
        state = self.state
        return Extent(state.tail_position, state.next_position, state.tail_word, state.words)

    def _part(self, catalogue: Catalogue, segment: Segment, record: SegmentRecord) -> Part:
        try:
            segment.check()
        except SegmentDamage as damage:
            _warn(self.folder, record, damage)
            segment = segment_from_catalogue(catalogue, Extent.of(record))
        deleted = catalogue.deleted(record.first_position, record.end_position)
        return Part(segment, segment.live_rows(deleted))

    def _document(self, row: tuple[str, str, str, str]) -> Document:
        try:
            return document_of(row)
        except (RecursionError, TypeError, ValueError) as error:
            raise DamagedIndexError(
                f"{self.folder / CATALOGUE}: the document {row[0]!r} is damaged ({error}).",
                [f"{CATALOGUE}: document {row[0]!r}"],
            ) from error

    @contextmanager
    def catalogue(self) -> Iterator[Catalogue]:
        """Give the catalogue, in the transaction of the snapshot, to one thread at a time."""
        with self._mutex, plain_errors(self._catalogue.path):
            yield self._catalogue


def open_snapshot(folder: Path) -> Snapshot:
    """Take a snapshot of an index.

    A segment that is gone may have been merged by a writer meanwhile: then there is a newer state,
    and that one is taken. If there is none, the file is lost; what was in it is read from the
    catalogue, which is slower, and the snapshot tells in `unusable`.
    """
    path = folder / CATALOGUE
    catalogue = open_catalogue(path)
    try:
        with plain_errors(path):
            seen = -1
            for _ in range(_TRIES):
                catalogue.execute("BEGIN")
                catalogue.check_numbers()
                number = catalogue.state().number
                segments, whole = _mapped(folder, catalogue.segments())
                if whole or number == seen:
                    return Snapshot(folder, catalogue, segments)
                seen = number
                catalogue.execute("ROLLBACK")
        raise IndexLockedError(
            f"{folder} changes too fast to be read; try again when less is written to it."
        )
    except BaseException:
        catalogue.close()
        raise


def _mapped(
    folder: Path, records: Sequence[SegmentRecord]
) -> tuple[list[tuple[SegmentRecord, Segment | str]], bool]:
    """Map segments, and say whether all could be."""
    found: list[tuple[SegmentRecord, Segment | str]] = []
    for record in records:
        try:
            found.append((record, map_segment(folder / SEGMENTS / record.file, record)))
        except SegmentDamage as damage:
            found.append((record, str(damage)))
        except OSError as error:
            found.append((record, f"cannot be read ({error.strerror})"))
    return found, not any(isinstance(segment, str) for _, segment in found)


def _packed(catalogue: Catalogue, extent: Extent) -> "_core.PackedWords":
    table = _core.WordTable()
    table.read_words([catalogue.words(extent.first_word, extent.end_word)])
    packed, offsets = table.packed(0)
    return _core.PackedWords(packed, offsets, _core.PackedWords.slots_of(packed, offsets))


def _warn(folder: Path, record: SegmentRecord, damage: SegmentDamage) -> None:
    warnings.warn(
        f"{folder / SEGMENTS / record.file} is damaged ({damage}); what was in it is read from the "
        "catalogue. index.verify(repair=True) makes it again.",
        IndexWarning,
        stacklevel=2,
    )
