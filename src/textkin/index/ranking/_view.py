"""What rankings see of an index: one state of it, as rows, words and statistics.

Rows are counted through all parts of the snapshot, those of deleted documents included, so that
the arrays of segments are used where they lie. The order of rows is that of positions.
"""

import threading
from array import array
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from textkin import _core
from textkin._typing import BoolArray, Float64Array, Int32Array, Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index._models import Models
from textkin.index._records import DOCUMENT_COLUMNS
from textkin.index._settings import Reading
from textkin.index._snapshot import Part, Snapshot
from textkin.text import Document
from textkin.text._terms import TermReader
from textkin.vectors import WordVectors

__all__ = ["Bag", "View"]

_MOST_RANKERS = 16  # of a state that are kept
_Made = TypeVar("_Made")
_MOST_WORDS = 1 << 17  # of queries, whose table is made anew then
_ASKED_BEFORE_ALL = 7  # ids: a 128th of all
_FETCHED = 4096  # at a time
_ERRORS = "surrogatepass"  # for ids that UTF-8 has no form for


class Bag(NamedTuple):
    """Counted words, by their numbers in the index.

    Attributes
    ----------
    words : ndarray of int32
        Ascending.
    counts : ndarray of float64
        Above 0.
    unknown : dict of str to float
        Words that the index has not, with their counts.
    """

    words: Int32Array
    counts: Float64Array
    unknown: dict[str, float]


class View:
    """One state of an index, as rankings want it; safe to be used by several threads.

    Parameters
    ----------
    snapshot : Snapshot
        The state.
    reading : Reading
        How texts become words.
    vectors : callable
        Returns the word vectors of the index.
    models : Models
        The attached models that can be applied.
    kept : dict, optional
        What outlives this state, because it belongs to the open index; never more than a start for
        what a view needs, which must see itself whether it still fits.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        reading: Reading,
        vectors: Callable[[], WordVectors],
        models: Models,
        kept: dict[Hashable, object] | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.vectors = vectors
        self.models = models
        self.reading = reading
        self.kept: dict[Hashable, object] = {} if kept is None else kept
        self._mutex = threading.RLock()
        self._made: dict[Hashable, Any] = {}
        self._rankers: dict[Hashable, Any] = {}
        self._gone = False
        self._readers = threading.local()
        self._ids_asked = 0

    # ------------------------------------------------------------------ what is kept

    def once(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return what was made under a key, or make it: statistics, columns."""
        return self._kept_in(self._made, key, make)

    def ranker(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return a ranker that was made under a key, or make it; the latest few are kept.

        Each may take as much memory as the index, and users may try many.
        """
        found = self._kept_in(self._rankers, key, make)
        if len(self._rankers) > _MOST_RANKERS:
            with self._mutex:
                while len(self._rankers) > _MOST_RANKERS:
                    del self._rankers[next(iter(self._rankers))]
        return found

    def _kept_in(
        self, made: dict[Hashable, Any], key: Hashable, make: Callable[[], _Made]
    ) -> _Made:
        found: _Made | None = made.get(key)
        if found is None:
            with self._mutex:
                found = made.get(key)
                if found is None:
                    found = make()
                    if not self._gone:
                        made[key] = found
        return found

    def let_go(self) -> None:
        """Forget what was made, when this is the present state no more.

        Rankers know their view: the two would keep each other, and with them a read transaction of
        SQLite, until Python looks for such circles. Hits keep what they need, and what else they
        ask for is made each time.
        """
        self._gone = True
        self._made.clear()
        self._rankers.clear()

    # ------------------------------------------------------------------ rows

    @property
    def parts(self) -> list[Part]:
        """The counted documents, in the order of rows."""
        return self.snapshot.parts

    @cached_property
    def starts(self) -> Int64Array:
        """The first row of each part, and the number of all rows."""
        return np.cumsum([0, *(part.segment.rows for part in self.parts)], dtype=np.int64)

    @property
    def n_rows(self) -> int:
        """How many rows there are, those of deleted documents included."""
        return int(self.starts[-1])

    @cached_property
    def live(self) -> BoolArray:
        """Which rows are documents."""
        return np.concatenate([part.live for part in self.parts])

    @cached_property
    def positions(self) -> Int64Array:
        """The position of each row in the catalogue, ascending."""
        return np.concatenate([part.segment.positions for part in self.parts])

    @cached_property
    def lengths(self) -> Int64Array:
        """The number of words of each row."""
        return np.concatenate([part.segment.lengths for part in self.parts]).astype(np.int64)

    def row_of(self, id: str) -> int | None:
        """Return the row of the document with this id, or None."""
        with self.snapshot.catalogue() as catalogue:
            found = catalogue.execute("SELECT position FROM documents WHERE id = ?", (id,))
            row = found.fetchone()
        return None if row is None else int(np.searchsorted(self.positions, row[0]))

    def ids(self, rows: Iterable[int]) -> list[str]:
        """Return the ids of rows.

        They are asked of the catalogue, until they were many: then all of them are read and kept
        in memory, in the bytes that they have.
        """
        wanted = [int(row) for row in rows]
        self._ids_asked += len(wanted)
        if self._ids_asked <= self.n_rows >> _ASKED_BEFORE_ALL:
            return [id for (id,) in self._fetch("id", wanted)]
        every, ends = self._every_id
        return [every[ends[row] : ends[row + 1]].decode("utf-8", _ERRORS) for row in wanted]

    @cached_property
    def _every_id(self) -> tuple[bytes, "array[int]"]:
        """The ids of all rows in UTF-8 one after another, and where each begins and ends."""
        every, sizes = bytearray(), np.zeros(self.n_rows + 1, np.int64)
        with self.snapshot.catalogue() as catalogue:
            cursor = catalogue.execute("SELECT position, id FROM documents ORDER BY position")
            while found := cursor.fetchmany(_FETCHED):
                encoded = [id.encode("utf-8", _ERRORS) for _, id in found]
                rows = np.searchsorted(self.positions, [position for position, _ in found])
                sizes[rows + 1] = [*map(len, encoded)]
                every += b"".join(encoded)
        ends = array("q")
        ends.frombytes(np.cumsum(sizes).tobytes())
        return bytes(every), ends

    def documents(self, rows: Iterable[int]) -> list[Document]:
        """Return the documents of rows."""
        return [self.snapshot._document(found) for found in self._fetch(DOCUMENT_COLUMNS, rows)]

    def _fetch(self, columns: str, rows: Iterable[int]) -> list[tuple[Any, ...]]:
        positions = [int(self.positions[row]) for row in rows]
        found = []
        with self.snapshot.catalogue() as catalogue:
            for position in positions:
                one = catalogue.execute(
                    f"SELECT {columns} FROM documents WHERE position = ?", (position,)
                ).fetchone()
                if one is None:
                    raise DamagedIndexError(
                        f"{self.snapshot.folder} is damaged: a segment has a document at position "
                        f"{position}, and the catalogue has none. index.verify(repair=True) makes "
                        "the segment again.",
                        [f"segments: position {position}"],
                    )
                found.append(one)
        return found

    # ------------------------------------------------------------------ words

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return self.snapshot.state.documents

    @property
    def n_words(self) -> int:
        """How many words have a number."""
        return self.snapshot.state.words

    @property
    def average_length(self) -> float:
        """The mean number of words of a document, 0 if there are none."""
        state = self.snapshot.state
        return state.tokens / state.documents if state.documents else 0.0

    @property
    def frequencies(self) -> Int64Array:
        """In how many documents each word occurs."""
        return self.once("frequencies", lambda: self.snapshot.frequencies)

    @cached_property
    def words(self) -> list[str]:
        """All words by their numbers."""
        return self.snapshot.words()

    def names(self, numbers: Iterable[int]) -> list[str]:
        """Return words by their numbers."""
        found = []
        for number in numbers:
            at = bisect_right(self._first_words, number) - 1
            first, packed = self.snapshot.packed_words[at]
            try:
                found += packed.words(int(number) - first, int(number) - first + 1)
            except ValueError:  # bytes that are no text; the catalogue has them
                found.append(self.words[number])
        return found

    @cached_property
    def _first_words(self) -> list[int]:
        return [first for first, _ in self.snapshot.packed_words]

    def bag_of_row(self, row: int) -> Bag:
        """Return the words of a document."""
        at = int(np.searchsorted(self.starts, row, side="right")) - 1
        indptr, indices, counts = self.parts[at].segment.bags
        first = row - int(self.starts[at])
        inside = slice(int(indptr[first]), int(indptr[first + 1]))
        return Bag(indices[inside], counts[inside].astype(np.float64), {})

    def bag_of_text(self, text: str) -> Bag:
        """Read a text as documents of the index are read."""
        reader, numbers = self._own_reader()
        ids, _ = reader.read([text]).arrays()
        terms = reader.terms
        if len(numbers) < len(terms):  # each word is looked up once
            new = np.arange(len(numbers), len(terms), dtype=np.int32)
            numbers.extend(self.snapshot.find(terms.words_at(new)).tolist())
        counted: dict[int, float] = {}
        unknown: dict[str, float] = {}
        for id in ids.tolist():
            number = numbers[id]
            if number >= 0:
                counted[number] = counted.get(number, 0.0) + 1.0
            else:
                (name,) = terms.words_at(np.array([id], np.int32))
                unknown[name] = unknown.get(name, 0.0) + 1.0
        words = sorted(counted)
        counts = np.array([counted[word] for word in words], np.float64)
        return Bag(np.array(words, np.int32), counts, unknown)

    def bag_of_words(self, words: Sequence[str]) -> Bag:
        """Count words, as they are written in the index."""
        counted: dict[str, float] = {}
        for word in words:
            counted[word] = counted.get(word, 0.0) + 1.0
        return self.weighted_bag(counted)

    def weighted_bag(self, weights: dict[str, float]) -> Bag:
        """Return words with weights in place of counts."""
        names = list(weights)
        numbers = self.snapshot.find(names)
        values = np.fromiter(weights.values(), np.float64, len(names))
        known = numbers >= 0
        unknown = {names[at]: weights[names[at]] for at in np.flatnonzero(~known)}
        order = np.argsort(numbers[known], kind="stable")
        return Bag(numbers[known][order], values[known][order], unknown)

    def read(self, text: str) -> list[str]:
        """Return the words of a text, as the index counts them."""
        return self._own_reader()[0].words(text)

    def _own_reader(self) -> tuple[TermReader, list[int]]:
        """Return what reads texts in this thread, and the numbers of the words it has met."""
        found: tuple[TermReader, list[int]] | None = getattr(self._readers, "reader", None)
        if found is None or len(found[0].terms) > _MOST_WORDS:
            found = self._readers.reader = (self.reading.reader(_core.WordTable()), [])
        return found
