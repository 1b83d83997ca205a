"""What rankings see of an index: one state of it, as rows, words and statistics.

Rows are counted through all parts of the snapshot, those of deleted documents included, so that
the arrays of segments are used where they lie. The order of rows is that of positions.
"""

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from textkin import _core
from textkin._typing import BoolArray, Float64Array, Int32Array, Int64Array
from textkin.index._models import Models
from textkin.index._records import DOCUMENT_COLUMNS
from textkin.index._settings import Reading
from textkin.index._snapshot import Part, Snapshot
from textkin.text import Document
from textkin.text._terms import TermReader
from textkin.vectors import WordVectors

__all__ = ["Bag", "View"]

_Made = TypeVar("_Made")
_MOST_WORDS = 1 << 17  # of queries, whose table is made anew then


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
        self._reader: TermReader | None = None

    # ------------------------------------------------------------------ what is kept

    def once(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return what was made under a key, or make it: statistics, rankers, columns."""
        with self._mutex:
            made = self._made  # which may be let go meanwhile
            if key not in made:
                made[key] = make()
            found: _Made = made[key]
            return found

    def let_go(self) -> None:
        """Forget what was made, when this is the present state no more.

        Rankers know their view: the two would keep each other, and with them a read transaction of
        SQLite, until Python looks for such circles. Hits keep what they need.
        """
        self._made = {}

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
        """Return the ids of rows."""
        return [id for (id,) in self._fetch("id", rows)]

    def documents(self, rows: Iterable[int]) -> list[Document]:
        """Return the documents of rows."""
        return [self.snapshot._document(found) for found in self._fetch(DOCUMENT_COLUMNS, rows)]

    def _fetch(self, columns: str, rows: Iterable[int]) -> list[tuple[Any, ...]]:
        found = []
        with self.snapshot.catalogue() as catalogue:
            for row in rows:
                found.append(
                    catalogue.execute(
                        f"SELECT {columns} FROM documents WHERE position = ?",
                        (int(self.positions[row]),),
                    ).fetchone()
                )
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

    def bag_of_row(self, row: int) -> Bag:
        """Return the words of a document."""
        at = int(np.searchsorted(self.starts, row, side="right")) - 1
        indptr, indices, counts = self.parts[at].segment.bags
        first = row - int(self.starts[at])
        inside = slice(int(indptr[first]), int(indptr[first + 1]))
        return Bag(indices[inside], counts[inside].astype(np.float64), {})

    def bag_of_text(self, text: str) -> Bag:
        """Read a text as documents of the index are read."""
        return self.bag_of_words(self.read(text))

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
        with self._mutex:
            if self._reader is None or len(self._reader.terms) > _MOST_WORDS:
                self._reader = self.reading.reader(_core.WordTable())
            return self._reader.words(text)
