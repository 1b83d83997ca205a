"""`IndexState`: rows, words, and statistics of a snapshot, as rankings use them.

Row numbers cover all parts of the snapshot, including rows of deleted documents, so that the arrays
of segments can be used without copying. Rows are in the order of catalog positions.
"""

import threading
from array import array
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from textkin import _core
from textkin._base import BoolArray, Float64Array, Int32Array, Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index.store import (
    DOCUMENT_COLUMNS,
    AnalyzerSettings,
    AttachedModels,
    Part,
    Snapshot,
    State,
    TermMap,
    TermStatistics,
)
from textkin.reading import Document
from textkin.text import TermReader
from textkin.vectors import WordVectors

__all__ = ["Bag", "DocumentSource", "IndexState"]

_Made = TypeVar("_Made")
_OwnReader: TypeAlias = tuple[TermReader, dict[str, list[int]]]
_MOST_WORDS = 1 << 17  # maximum number of query words in a table before it is rebuilt
_ASKED_BEFORE_ALL = 7  # after requests for 1/128 of all IDs, all IDs are read
_FETCHED = 4096  # rows fetched at a time
_ERRORS = "surrogatepass"  # error handler for IDs that UTF-8 cannot represent


class Bag(NamedTuple):
    """Word counts of one document: word IDs, counts, and unknown words.

    Attributes
    ----------
    words : ndarray of int32
        Word IDs in ascending order.
    counts : ndarray of float64
        Count of each word, above 0.
    unknown : dict of str to float
        Counts of words that the index does not contain.
    """

    words: Int32Array
    counts: Float64Array
    unknown: dict[str, float]


class DocumentSource(Protocol):
    """Interface to counted documents: a snapshot, or some blocks on a worker.

    A worker has no catalog and therefore no texts: only words, counts, and statistics.
    """

    state: State

    @property
    def parts(self) -> list[Part]:
        """Blocks of documents with their word counts, in row order."""

    @property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """Packed words of each segment and of the tail, each with the ID of its first word."""

    @property
    def frequencies(self) -> Int64Array:
        """Document frequency of each word: the number of documents that contain it."""

    @property
    def term_map(self) -> TermMap | None:
        """Map from word IDs to term numbers, or None for an index without an analyzer."""

    @property
    def term_statistics(self) -> TermStatistics:
        """Document frequencies and other statistics of the terms of the whole index."""

    def find_terms(self, terms: Sequence[str]) -> Int32Array:
        """Return the number of each term in the index, or -1 for an unknown term."""

    def term_names(self, numbers: Sequence[int]) -> list[str]:
        """Return the terms (stems, or words without an analyzer) with the given numbers."""

    def words(self) -> list[str]:
        """Return all words of the index in the order of their IDs."""

    def find(self, words: Sequence[str]) -> Int32Array:
        """Return the ID of each word, or -1 for a word that the index does not have."""


class IndexState:
    """Rows, words, and statistics of one snapshot of an index; thread-safe.

    An `IndexState` does not reference its scorers, which reference it. Therefore it is released
    with its last user, and its SQLite read transaction ends then.

    Parameters
    ----------
    source : DocumentSource
        Documents of the snapshot.
    reading : AnalyzerSettings
        Analyzer settings of the index.
    vectors : callable
        Function that returns the word vectors of the index.
    models : AttachedModels
        Attached models that can be applied.
    kept : dict, optional
        Cache that belongs to the open index and outlives this snapshot. An entry may be from
        another snapshot, so its user must check that it is valid.
    """

    def __init__(
        self,
        source: DocumentSource,
        reading: AnalyzerSettings,
        vectors: Callable[[], WordVectors],
        models: AttachedModels,
        kept: dict[Hashable, object] | None = None,
    ) -> None:
        self.source = source
        self.vectors = vectors
        self.models = models
        self.reading = reading
        self.kept: dict[Hashable, object] = {} if kept is None else kept
        self._mutex = threading.RLock()
        self._made: dict[Hashable, Any] = {}
        self._shared: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._readers = threading.local()
        self._ids_asked = 0

    @property
    def snapshot(self) -> Snapshot:
        """Snapshot with access to the catalog; not available on a worker."""
        assert isinstance(self.source, Snapshot)
        return self.source

    def once(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return the object cached under a key, or create and cache it."""
        found: _Made | None = self._made.get(key)
        if found is None:
            with self._mutex:
                found = self._made.get(key)
                if found is None:
                    found = self._made[key] = make()
        return found

    def shared(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return an object that several scorers share while one of them exists.

        Unlike an object of `once`, it may reference this `IndexState`.
        """
        with self._mutex:
            found: _Made | None = self._shared.get(key)
            if found is None:
                found = self._shared[key] = make()
            return found

    # ------------------------------------------------------------------ rows

    @property
    def parts(self) -> list[Part]:
        """Blocks of documents with their word counts, in row order."""
        return self.source.parts

    @cached_property
    def starts(self) -> Int64Array:
        """First row of each block of documents, then the total number of rows."""
        return np.cumsum([0, *(part.segment.rows for part in self.parts)], dtype=np.int64)

    @property
    def n_rows(self) -> int:
        """Number of rows, including the rows of deleted documents."""
        return int(self.starts[-1])

    @cached_property
    def live(self) -> BoolArray:
        """Boolean mask of all rows; False for rows of deleted documents."""
        return np.concatenate([part.live for part in self.parts])

    @cached_property
    def positions(self) -> Int64Array:
        """Position of each row's document in the catalog, in ascending order."""
        return np.concatenate([part.segment.positions for part in self.parts])

    @cached_property
    def lengths(self) -> Int64Array:
        """Number of words of each row's document."""
        return np.concatenate([part.segment.lengths for part in self.parts]).astype(np.int64)

    def row_of(self, id: str) -> int | None:
        """Return the row number of the document with an ID, or None if it does not exist."""
        with self.snapshot.catalog() as catalog:
            found = catalog.execute("SELECT position FROM documents WHERE id = ?", (id,))
            row = found.fetchone()
        return None if row is None else int(np.searchsorted(self.positions, row[0]))

    def ids(self, rows: Iterable[int]) -> list[str]:
        """Return the document IDs of the given row numbers.

        The catalog is queried for the first requests. After requests for 1/128 of all IDs, all IDs
        are read and stored in memory as UTF-8.
        """
        wanted = [int(row) for row in rows]
        self._ids_asked += len(wanted)
        if self._ids_asked <= self.n_rows >> _ASKED_BEFORE_ALL:
            return [id for (id,) in self._fetch("id", wanted)]
        every, ends = self._every_id
        return [every[ends[row] : ends[row + 1]].decode("utf-8", _ERRORS) for row in wanted]

    @cached_property
    def _every_id(self) -> tuple[bytes, "array[int]"]:
        """IDs of all rows in one UTF-8 string, with the offset of each."""
        every, sizes = bytearray(), np.zeros(self.n_rows + 1, np.int64)
        with self.snapshot.catalog() as catalog:
            cursor = catalog.execute("SELECT position, id FROM documents ORDER BY position")
            while found := cursor.fetchmany(_FETCHED):
                encoded = [id.encode("utf-8", _ERRORS) for _, id in found]
                rows = np.searchsorted(self.positions, [position for position, _ in found])
                sizes[rows + 1] = [*map(len, encoded)]
                every += b"".join(encoded)
        ends = array("q")
        ends.frombytes(np.cumsum(sizes).tobytes())
        return bytes(every), ends

    def documents(self, rows: Iterable[int]) -> list[Document]:
        """Return the documents of rows, read from the catalog."""
        return [self.snapshot.document(found) for found in self._fetch(DOCUMENT_COLUMNS, rows)]

    def texts(self, rows: Iterable[int]) -> list[str]:
        """Return the document texts of rows, read from the catalog."""
        return [text for (text,) in self._fetch("text", rows)]

    def field_texts(self, rows: Iterable[int]) -> list[list[str]]:
        """Return the texts of the fields of rows; in an index without text fields, one text."""
        snapshot = self.snapshot
        if snapshot.text_fields is None:
            return [[text] for text in self.texts(rows)]
        found = self._fetch("id, text, field_lengths", rows)
        return [[*snapshot.fields(*row).values()] for row in found]

    def _fetch(self, columns: str, rows: Iterable[int]) -> list[tuple[Any, ...]]:
        positions = [int(self.positions[row]) for row in rows]
        found = []
        with self.snapshot.catalog() as catalog:
            for position in positions:
                one = catalog.execute(
                    f"SELECT {columns} FROM documents WHERE position = ?", (position,)
                ).fetchone()
                if one is None:
                    raise DamagedIndexError(
                        f"{self.snapshot.folder} is corrupt: a segment has a document at position "
                        f"{position} that is missing in the catalog.",
                        [f"segments: position {position}"],
                        hint="`index.verify(repair=True)` rebuilds the segment.",
                    )
                found.append(one)
        return found

    # ------------------------------------------------------------------ words

    @property
    def n_documents(self) -> int:
        """Number of documents in the index."""
        return self.source.state.documents

    @property
    def n_words(self) -> int:
        """Number of distinct words, which have the IDs from 0 on."""
        return self.source.state.words

    @property
    def average_length(self) -> float:
        """Mean number of words per document; 0 without documents."""
        state = self.source.state
        return state.tokens / state.documents if state.documents else 0.0

    @property
    def frequencies(self) -> Int64Array:
        """Document frequency of each word: the number of documents that contain it."""
        return self.once("frequencies", lambda: self.source.frequencies)

    @cached_property
    def words(self) -> list[str]:
        """All words of the index, as a list in the order of their IDs."""
        return self.source.words()

    def words_from(self, first: int) -> list[str]:
        """Return the words whose ID is at least `first`, in the order of IDs."""
        if not first:
            return self.words
        found: list[str] = []
        for start, packed in self.source.packed_words:
            low = max(first, start)
            if low < start + len(packed):
                try:
                    found += packed.words(low - start, len(packed))
                except ValueError:  # the segment has invalid UTF-8; read the catalog
                    found += self.words[low : start + len(packed)]
        return found

    def find(self, words: Sequence[str]) -> Int32Array:
        """Return the ID of each word, or -1 for a word that the index does not have."""
        return self.source.find(words)

    def names(self, numbers: Iterable[int]) -> list[str]:
        """Return the words with the given word IDs."""
        found = []
        for number in numbers:
            at = bisect_right(self._first_words, number) - 1
            first, packed = self.source.packed_words[at]
            try:
                found += packed.words(int(number) - first, int(number) - first + 1)
            except ValueError:  # the segment has invalid UTF-8; read the catalog
                found.append(self.words[number])
        return found

    @cached_property
    def _first_words(self) -> list[int]:
        return [first for first, _ in self.source.packed_words]

    def rows_with(self, number: int) -> Int64Array:
        """Return the rows of the documents that contain a word, deleted ones included."""
        found = [np.empty(0, np.int64)]
        for part, start in zip(self.parts, self.starts, strict=False):
            part.segment.counted  # noqa: B018 (the property validates the arrays)
            arrays = part.segment.arrays
            terms, offsets = arrays["terms"], arrays["term_offsets"]
            at = int(np.searchsorted(terms, number))
            if at < len(terms) and terms[at] == number:
                rows = arrays["posting_rows"][int(offsets[at]) : int(offsets[at + 1])]
                found.append(rows.astype(np.int64) + start)
        return np.concatenate(found)

    def bag_of_row(self, row: int) -> Bag:
        """Return the word counts of the document in a row, as `Bag`."""
        at = int(np.searchsorted(self.starts, row, side="right")) - 1
        indptr, indices, counts = self.parts[at].segment.bags
        first = row - int(self.starts[at])
        inside = slice(int(indptr[first]), int(indptr[first + 1]))
        return Bag(indices[inside], counts[inside].astype(np.float64), {})

    def bag_of_text(self, text: str) -> Bag:
        """Count the words of a text with the analyzer of the index, as `Bag`."""
        return self.counted(text, "words", self.find)

    def counted(self, text: str, kind: str, find: Callable[[Sequence[str]], Int32Array]) -> Bag:
        """Count the words of a text; `find` gives the number of each word.

        Parameters
        ----------
        text : str
            Text.
        kind : str
            Name of the numbers, which are cached for each thread.
        find : callable
            Function from words to numbers: -1 for an unknown word, -2 for a word to ignore.
        """
        reader, known = self._own_reader()
        ids, _ = reader.read([text]).arrays()
        terms = reader.terms
        numbers = known.setdefault(kind, [])
        if len(numbers) < len(terms):  # look up only words that are new in this thread
            new = np.arange(len(numbers), len(terms), dtype=np.int32)
            numbers.extend(find(terms.words_at(new)).tolist())
        counted: dict[int, float] = {}
        unknown: dict[str, float] = {}
        for id in ids.tolist():
            number = numbers[id]
            if number >= 0:
                counted[number] = counted.get(number, 0.0) + 1.0
            elif number == -1:
                (name,) = terms.words_at(np.array([id], np.int32))
                unknown[name] = unknown.get(name, 0.0) + 1.0
        words = sorted(counted)
        counts = np.array([counted[word] for word in words], np.float64)
        return Bag(np.array(words, np.int32), counts, unknown)

    def bag_of_words(self, words: Sequence[str]) -> Bag:
        """Count words that are already in their indexed form, as `Bag`."""
        counted: dict[str, float] = {}
        for word in words:
            counted[word] = counted.get(word, 0.0) + 1.0
        return self.weighted_bag(counted)

    def weighted_bag(self, weights: dict[str, float]) -> Bag:
        """Convert a dict of words and weights to a `Bag` with weights as counts."""
        names = list(weights)
        numbers = self.find(names)
        values = np.fromiter(weights.values(), np.float64, len(names))
        known = numbers >= 0
        unknown = {names[at]: weights[names[at]] for at in np.flatnonzero(~known)}
        order = np.argsort(numbers[known], kind="stable")
        return Bag(numbers[known][order], values[known][order], unknown)

    def read(self, text: str) -> list[str]:
        """Return the words of a text in their indexed form."""
        return self._own_reader()[0].words(text)

    def _own_reader(self) -> _OwnReader:
        """Return this thread's text reader, and its cached word IDs."""
        found: _OwnReader | None = getattr(self._readers, "reader", None)
        if found is None or len(found[0].terms) > _MOST_WORDS:
            found = self._readers.reader = (self.reading.reader(_core.WordTable()), {})
        return found
