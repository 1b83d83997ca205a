"""Documents of one set that repeat some of another."""

from functools import cached_property
from operator import index as whole_number
from typing import Any

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.explain import Contributions
from textkin.learn._compared import Compared, Duplicate
from textkin.learn._duplicates_drawing import Table
from textkin.learn._found_duplicates import FoundDuplicates
from textkin.transport import Comparison, PairBlock

__all__ = ["Repeat", "Repeats"]


class Repeat:
    """A document that repeats some of another set.

    Attributes
    ----------
    position : int
        Where it stands among the documents.
    id : str or None
        Its id, if it has one.
    text : str
        Its text; empty where documents are rows of numbers.
    nearest : Duplicate
        The nearest of the other set, with its position there; the first of equally near ones.
    count : int
        How many of the other set it repeats.
    """

    def __init__(self, repeats: "Repeats", position: int, nearest: Duplicate, count: int) -> None:
        self._repeats = repeats
        self.position = position
        self.id = repeats._compared.id(position)
        self.text = repeats._compared.text(position)
        self.nearest = nearest
        self.count = count

    @property
    def name(self) -> str:
        """Its id, or its position where it has none."""
        return str(self.position) if self.id is None else self.id

    @property
    def matches(self) -> tuple[Duplicate, ...]:
        """All of the other set that it repeats, the nearest first, ties by position."""
        return self._repeats._matches(self.position)

    def explain(self, match: Duplicate | int | None = None) -> Comparison | Contributions | None:
        """Return why it is as far from a document of the other set as it is.

        Parameters
        ----------
        match : Duplicate, int or None
            One of `matches`, or a position in the other set; None for the nearest.

        Returns
        -------
        Comparison, Contributions or None
            As `DuplicateGroup.explain`.
        """
        match = self.nearest if match is None else match
        position = match.position if isinstance(match, Duplicate) else whole_number(match)
        compared = self._repeats._compared
        if not 0 <= position < self._repeats.n_against:
            raise ValueError(
                f"match must be a position in the other set, which has {self._repeats.n_against} "
                f"documents; got {position}."
            )
        return compared.explain(self.position, compared.n_documents + position)

    def __repr__(self) -> str:
        return (
            f"Repeat({self.position} of {self.nearest.position}, {self.nearest.reason}, "
            f"{self.count} in all)"
        )


class Repeats(FoundDuplicates[Repeat]):
    """Documents that repeat some of another set, by position; `find_duplicates(against=...)`.

    Attributes
    ----------
    n_against : int
        How many documents the other set has.
    positions : ndarray of int64
        Of the documents that repeat some of the other set, ascending.
    counts : ndarray of int64
        How many of the other set each of them repeats.
    empty : ndarray of int64
        Positions of documents without words, which repeat none.

    See Also
    --------
    Duplicates : Groups in one set.
    """

    def __init__(
        self,
        compared: Compared,
        firsts: Int64Array,
        nearest: Int64Array,
        distances: Float64Array,
        counts: Int64Array,
        empty: Int64Array,
        pairs: PairBlock | None,
    ) -> None:
        self._compared = compared
        self._firsts = firsts
        self._nearest = nearest
        self._distances = distances
        self._pairs = pairs
        self.positions = np.flatnonzero(counts).astype(np.int64)
        self.counts = counts[self.positions]
        self.empty = empty
        self.n_against = len(firsts) - compared.n_documents

    def __len__(self) -> int:
        return len(self.positions)

    def _made(self, at: int) -> Repeat:
        position = int(self.positions[at])
        [nearest] = self._compared.duplicates(
            position, self._nearest[[position]], self._distances[[position]]
        )
        return Repeat(self, position, nearest, int(self.counts[at]))

    def _matches(self, position: int) -> tuple[Duplicate, ...]:
        pairs, n = self.pairs, self.n_documents
        first = self._firsts[position]
        begin, end = np.searchsorted(pairs.rows, [first, first + 1])
        columns, distances = pairs.columns[begin:end] + n, pairs.distances[begin:end]
        # Those that are equal to one that was found are as near.
        copies = np.flatnonzero(np.isin(self._firsts[n:], columns)) + n
        far = distances[np.searchsorted(columns, self._firsts[copies])]
        order = np.argsort(far, kind="stable")
        return self._compared.duplicates(position, copies[order], far[order])

    @property
    def share(self) -> float:
        """The part of the documents that repeat some of the other set."""
        return len(self) / self.n_documents if self.n_documents else 0.0

    @property
    def removed(self) -> Int64Array:
        """Positions of the documents to drop: those that repeat some of the other set."""
        return self.positions

    @cached_property
    def kept(self) -> Int64Array:
        """Positions of the documents that repeat none of the other set."""
        return np.setdiff1d(np.arange(self.n_documents), self.positions)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record a repeated document, in plain types, as for a table.

        Its position and id; position and id of the nearest of the other set, distance, reason;
        and how many of that set it repeats.
        """
        return [
            {
                "position": repeat.position,
                "id": repeat.id,
                "against": repeat.nearest.position,
                "against_id": repeat.nearest.id,
                "distance": repeat.nearest.distance,
                "reason": repeat.nearest.reason,
                "count": repeat.count,
            }
            for repeat in self
        ]

    def _head(self) -> str:
        return (
            f"Repeats: {len(self):,} of {self.n_documents:,} documents stand among the "
            f"{self.n_against:,} others ({self._compared.said()})"
        )

    def _tables(self, limit: int) -> tuple[list[Table], str]:
        rows = [
            (repeat.name, repeat.nearest.name, repeat.nearest.reason, repeat.text)
            for repeat in self[:limit]
        ]
        heads = ("document", "repeats", "reason", "text")
        return [Table("", heads, rows, max(len(self) - limit, 0))] if rows else [], ""
