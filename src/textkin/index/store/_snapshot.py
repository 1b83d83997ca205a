"""`Snapshot`: an immutable view of an index, unaffected by later writes.

A snapshot is a SQLite read transaction, together with the memory-mapped segments that the catalog
listed at its start. Documents that are not in a segment yet are read from the catalog.
"""

import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from textkin import _core
from textkin._base import Bags, BoolArray, Int32Array, Int64Array
from textkin.exceptions import DamagedIndexError, IndexLockedError, IndexWarning
from textkin.index.store._catalog import (
    CATALOG,
    Catalog,
    SegmentRecord,
    damage_error,
    translate_errors,
    words_checksum,
)
from textkin.index.store._model_records import ModelRecord, model_records
from textkin.index.store._schema import (
    DOCUMENT_COLUMNS,
    document_of,
    fields_of,
    is_text,
    open_catalog,
)
from textkin.index.store._segment import (
    Extent,
    Segment,
    SegmentDamage,
    map_segment,
    segment_from_catalog,
)
from textkin.index.store._term_map import (
    TermMap,
    TermStatistics,
    find_terms,
    read_term_map,
    term_names,
)
from textkin.index.store._text_fields import TextFields, load_text_fields
from textkin.index.store._vector_store import (
    KnownRows,
    MappedFiles,
    StoredVectors,
    count_missing,
    map_files,
    read_vectors,
    vector_settings,
)
from textkin.reading import Document

__all__ = ["SEGMENTS", "Part", "Snapshot", "find_words", "open_snapshot", "unpack_words"]

SEGMENTS = "segments"
_TRIES = 20
_CHUNK = 512  # documents fetched at a time


@dataclass(frozen=True)
class Part:
    """Segment of a snapshot, with a mask of its documents that are not deleted.

    Attributes
    ----------
    segment : Segment
        Counted documents.
    live : ndarray of bool
        True for each row whose document is not deleted.
    """

    segment: Segment
    live: BoolArray


class Snapshot:
    """Immutable view of an index at one time: documents, words, segments, models.

    Parameters
    ----------
    folder : Path
        Folder of the index.
    catalog : Catalog
        Catalog with an open read transaction; closed with the snapshot.
    segments : list of (SegmentRecord, Segment or str)
        Segments of the catalog. A segment that cannot be used is replaced by the reason.
    models : dict of str to ModelRecord
        Attached models, by name.
    vector_files : MappedFiles
        Files with vectors of attached models.
    """

    def __init__(
        self,
        folder: Path,
        catalog: Catalog,
        segments: list[tuple[SegmentRecord, Segment | str]],
        models: dict[str, ModelRecord],
        vector_files: MappedFiles,
    ) -> None:
        self.folder = folder
        self.state = catalog.state()
        self.models = models
        self.segments = segments
        self.vector_files = vector_files
        self._catalog = catalog
        self._mutex = threading.RLock()
        # Unlike a destructor, a finalizer also runs after an unfinished iteration.
        self.close = weakref.finalize(self, catalog.close)

    def __len__(self) -> int:
        return self.state.documents

    def get(self, id: str) -> Document | None:
        """Return the document with an ID, or None if there is none."""
        if not is_text(id):
            return None
        with self.catalog() as catalog:
            row = catalog.execute(
                f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE id = ?", (id,)
            ).fetchone()
        return None if row is None else self.document(row)

    def documents(self) -> Iterator[Document]:
        """Yield all documents in the order of insertion."""
        last = -1
        while True:
            with self.catalog() as catalog:
                rows = catalog.execute(
                    f"SELECT position, {DOCUMENT_COLUMNS} FROM documents WHERE position > ? "
                    f"ORDER BY position LIMIT {_CHUNK}",
                    (last,),
                ).fetchall()
            if not rows:
                return
            for row in rows:
                yield self.document(row[1:])
            last = rows[-1][0]

    def ids(self) -> list[str]:
        """Return the IDs of all documents in the order of insertion."""
        with self.catalog() as catalog:
            rows = catalog.execute("SELECT id FROM documents ORDER BY position").fetchall()
        return [id for (id,) in rows]

    @cached_property
    def text_fields(self) -> TextFields | None:
        """Text fields of the index, or None if its documents have a single text."""
        with self.catalog() as catalog:
            return load_text_fields(catalog)

    @cached_property
    def parts(self) -> list[Part]:
        """One `Part` per segment, and one for the documents not in a segment yet."""
        return [self.part(number) for number in range(len(self.segments) + 1)]

    def part(self, number: int) -> Part:
        """Return one of `parts` by its number, without reading the others."""
        with self.catalog() as catalog:
            if number == len(self.segments):
                tail = segment_from_catalog(catalog, self._tail)
                return Part(tail, np.ones(tail.rows, np.bool_))
            record, segment = self.segments[number]
            if isinstance(segment, str):
                segment = segment_from_catalog(catalog, Extent.of(record))
            return self._part(catalog, segment, record)

    def bags(self) -> Bags:
        """Return the document-term matrix (word counts), with rows in the order of `ids`."""
        return self.bags_of(*self.parts)

    def bags_of(self, *parts: Part) -> Bags:
        """Return the document-term matrix (word counts) of some parts."""
        blocks = []
        for part in parts:
            indptr, indices, counts = part.segment.bags
            block = sparse.csr_array(
                (counts, indices, indptr), shape=(part.segment.rows, self.state.words), copy=False
            )
            blocks.append(block if part.live.all() else block[np.flatnonzero(part.live)])
        found = sparse.vstack(blocks, format="csr", dtype=np.float32)
        # SciPy requires both index arrays to have the same type.
        kind = np.int32 if found.nnz <= np.iinfo(np.int32).max else np.int64
        found.indices = found.indices.astype(kind, copy=False)
        found.indptr = found.indptr.astype(kind, copy=False)
        return found

    def lengths(self) -> Int64Array:
        """Return the number of words of each document, in the order of `ids`."""
        parts = [part.segment.lengths[part.live] for part in self.parts]
        return np.concatenate(parts).astype(np.int64)

    @cached_property
    def frequencies(self) -> Int64Array:
        """Document frequency of each word: the number of documents that contain it."""
        found = np.zeros(self.state.words, np.int64)
        for part in self.parts:
            found += part.segment.frequencies(self.state.words)
            indptr, indices, _ = part.segment.bags
            for row in np.flatnonzero(~part.live):
                found[indices[indptr[row] : indptr[row + 1]]] -= 1
        if len(found) and not 0 <= found.min() <= found.max() <= len(self):
            raise DamagedIndexError(
                f"{self.folder} is corrupt: its segments disagree with the catalog.",
                [f"{SEGMENTS}: more documents than there are"],
                hint="`index.verify(repair=True)` rebuilds the segments.",
            )
        return found

    def vectors(
        self,
        record: ModelRecord,
        positions: Int64Array,
        live: BoolArray,
        known: KnownRows | None = None,
    ) -> tuple[StoredVectors, KnownRows]:
        """Return the stored vectors of a model for the rows; see `read_vectors`."""
        files = self.vector_files.get(record.number, [])
        with self.catalog() as catalog:
            return read_vectors(catalog, files, record, positions, live, known)

    def count_missing(self, record: ModelRecord) -> int:
        """Return the number of documents without a vector of a model."""
        with self.catalog() as catalog:
            return count_missing(catalog, record)

    def vector_dtype(self, record: ModelRecord) -> str:
        """Return the dtype of the stored vectors of a model."""
        with self.catalog() as catalog:
            return vector_settings(catalog, record).dtype

    def texts(self, positions: Sequence[int]) -> list[str]:
        """Return the texts of the documents at catalog positions."""
        with self.catalog() as catalog:
            return [
                catalog.execute(
                    "SELECT text FROM documents WHERE position = ?", (position,)
                ).fetchone()[0]
                for position in positions
            ]

    def find(self, words: Sequence[str]) -> Int32Array:
        """Return the ID of each word, or -1 for a word that the index does not have."""
        return find_words(self.packed_words, words)

    @cached_property
    def term_map(self) -> TermMap | None:
        """Map from word IDs to term numbers, or None for an index without an analyzer."""
        with self.catalog() as catalog:
            return read_term_map(catalog, self.state.words)

    @cached_property
    def term_statistics(self) -> TermStatistics:
        """Document frequencies and other statistics of terms; requires an analyzer."""
        assert self.term_map is not None
        live = np.concatenate([part.live for part in self.parts])
        counted = [part.segment.counted for part in self.parts]
        found = TermStatistics(*self.term_map.core.measure(counted, live.view(np.uint8)))
        if found.frequencies.max(initial=0) > len(self) or found.tokens > self.state.tokens:
            raise DamagedIndexError(
                f"{self.folder} is corrupt: its segments disagree with the catalog.",
                [f"{SEGMENTS}: more tokens than there are"],
                hint="`index.verify(repair=True)` rebuilds the segments.",
            )
        return found

    def find_terms(self, terms: Sequence[str]) -> Int32Array:
        """Return the number of each term in the index, or -1 for an unknown term."""
        with self.catalog() as catalog:
            return find_terms(catalog, terms)

    def term_names(self, numbers: Sequence[int]) -> list[str]:
        """Return the terms (stems, or words without an analyzer) with the given numbers."""
        with self.catalog() as catalog:
            return term_names(catalog, numbers)

    def words(self) -> list[str]:
        """Return all words in the order of IDs, including words of deleted documents.

        They are read from the segments, or from the catalog if its checksum shows that a segment
        is corrupt.
        """
        found = unpack_words(self.packed_words)
        if not self._is_intact(found):
            with self.catalog() as catalog:
                found = catalog.words(0, self.state.words)
                extents = [Extent.of(record) for record, _ in self.segments] + [self._tail]
                packed_words = [
                    (extent.first_word, _pack_words(catalog, extent)) for extent in extents
                ]
            if not self._is_intact(found):
                raise damage_error(self.folder / CATALOG, "its table 'words' has changed")
            warnings.warn(
                IndexWarning(
                    f"{self.folder}: the words of its segments are corrupt; they are read from "
                    "the catalog.",
                    hint="`index.verify(repair=True)` rebuilds the segments.",
                ),
                stacklevel=2,
            )
            vars(self)["packed_words"] = packed_words  # used by all later lookups
        return found

    def _is_intact(self, words: Sequence[str]) -> bool:
        """Return True if words agree with the recorded number and checksum."""
        if len(words) != self.state.words or len(set(words)) != len(words):
            return False
        return words_checksum(words, 0) == self.state.words_checksum

    def unusable(self) -> list[SegmentRecord]:
        """Return the records of segments whose files are missing or corrupt."""
        return [record for record, found in self.segments if isinstance(found, str)]

    @cached_property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """Packed words of each segment and of the tail, each with the ID of its first word."""
        found = []
        with self.catalog() as catalog:
            for record, segment in self.segments:
                try:
                    if isinstance(segment, str):
                        raise SegmentDamage(segment)
                    packed = segment.words
                except SegmentDamage:
                    packed = _pack_words(catalog, Extent.of(record))
                found.append((record.first_word, packed))
            found.append((self._tail.first_word, _pack_words(catalog, self._tail)))
        return found

    @property
    def _tail(self) -> Extent:
        state = self.state
        return Extent(state.tail_position, state.next_position, state.tail_word, state.words)

    def _part(self, catalog: Catalog, segment: Segment, record: SegmentRecord) -> Part:
        try:
            segment.check()
        except SegmentDamage as damage:
            _warn(self.folder, record, damage)
            segment = segment_from_catalog(catalog, Extent.of(record))
        deleted = catalog.deleted(record.first_position, record.end_position)
        return Part(segment, segment.live_rows(deleted))

    def document(self, row: tuple[str, str, str, str, str]) -> Document:
        """Convert a catalog row to a `Document`; raise `DamagedIndexError` if corrupt."""
        try:
            return document_of(row, self.text_fields)
        except (RecursionError, TypeError, ValueError) as error:
            raise self._corrupt(row[0], error) from error

    def fields(self, id: str, text: str, lengths: str) -> dict[str, str]:
        """Return the fields of the text of a document; empty in an index without text fields."""
        try:
            return fields_of(text, lengths, self.text_fields)
        except (RecursionError, TypeError, ValueError) as error:
            raise self._corrupt(id, error) from error

    def _corrupt(self, id: str, error: Exception) -> DamagedIndexError:
        return DamagedIndexError(
            f"{self.folder / CATALOG}: the document {id!r} is corrupt ({error}).",
            [f"{CATALOG}: document {id!r}"],
        )

    @contextmanager
    def catalog(self) -> Iterator[Catalog]:
        """Lend the catalog connection to one thread, in the snapshot's transaction."""
        with self._mutex, translate_errors(self._catalog.path):
            yield self._catalog


def open_snapshot(folder: Path) -> Snapshot:
    """Open the newest snapshot of an index folder.

    If the file of a segment is missing, a writer may have merged the segment concurrently; the
    snapshot is then taken again from the newer state. If there is no newer state, the file is lost:
    the snapshot reads its contents from the catalog, which is slower, and `unusable` lists it.
    """
    path = folder / CATALOG
    catalog = open_catalog(path)
    try:
        with translate_errors(path):
            seen = -1
            for _ in range(_TRIES):
                catalog.execute("BEGIN")
                catalog.check_numbers()
                number = catalog.state().number
                segments, whole = _map_segments(folder, catalog.segments())
                models = model_records(catalog)
                files, all_files = (
                    map_files(folder, catalog, models.values()) if models else ({}, True)
                )
                if (whole and all_files) or number == seen:
                    return Snapshot(folder, catalog, segments, models, files)
                seen = number
                catalog.execute("ROLLBACK")
        raise IndexLockedError(
            f"{folder} changed too often during {_TRIES} attempts to read it. Try again when fewer "
            "writes occur."
        )
    except BaseException:
        catalog.close()
        raise


def find_words(
    packed_words: "Iterable[tuple[int, _core.PackedWords]]", words: Sequence[str]
) -> Int32Array:
    """Return the ID of each word from packed word tables, or -1."""
    wanted = list(words)
    found = np.full(len(wanted), -1, np.int32)
    for first, packed in packed_words:
        here = packed.find(wanted)
        found[here >= 0] = here[here >= 0] + first
    return found


def unpack_words(packed_words: "Iterable[tuple[int, _core.PackedWords]]") -> list[str]:
    """Return the words of all tables, or an empty list if some are not valid UTF-8."""
    found: list[str] = []
    try:
        for _, packed in packed_words:
            found += packed.words(0, len(packed))
    except ValueError:
        return []
    return found


def _map_segments(
    folder: Path, records: Sequence[SegmentRecord]
) -> tuple[list[tuple[SegmentRecord, Segment | str]], bool]:
    """Map segment files; return segments or problems, and False if a file is unusable."""
    found: list[tuple[SegmentRecord, Segment | str]] = []
    for record in records:
        try:
            found.append((record, map_segment(folder / SEGMENTS / record.file, record)))
        except SegmentDamage as damage:
            found.append((record, str(damage)))
        except OSError as error:
            found.append((record, f"cannot be read ({error.strerror})"))
    return found, not any(isinstance(segment, str) for _, segment in found)


def _pack_words(catalog: Catalog, extent: Extent) -> "_core.PackedWords":
    table = _core.WordTable()
    table.read_words([catalog.words(extent.first_word, extent.end_word)])
    packed, offsets = table.packed(0)
    return _core.PackedWords(packed, offsets, _core.PackedWords.slots_of(packed, offsets))


def _warn(folder: Path, record: SegmentRecord, damage: SegmentDamage) -> None:
    warnings.warn(
        IndexWarning(
            f"{folder / SEGMENTS / record.file} is corrupt ({damage}); its contents are read from "
            "the catalog.",
            hint="`index.verify(repair=True)` rebuilds it.",
        ),
        stacklevel=2,
    )
