"""Results of `find_duplicates`: groups within one collection, and repeats of another one."""

from collections.abc import Sequence
from functools import cached_property
from operator import index as whole_number
from typing import Any, overload

import numpy as np

from textkin._base import Float64Array, Int64Array
from textkin.exceptions import ParameterError
from textkin.explain import Contributions
from textkin.learn._duplicate_results import ComparedDocuments, Duplicate, DuplicateResult, Table
from textkin.learn._equal_rows import Groups
from textkin.transport import Comparison, PairBlock

__all__ = ["DuplicateGroup", "Duplicates", "Repeat", "Repeats"]


class DuplicateGroup(Sequence[Duplicate]):
    """Group of equal or similar documents; the first document is the representative.

    The other members are in the order of their distances from the representative.

    Attributes
    ----------
    number : int
        Index among the groups, as in `Duplicates.labels`.

    See Also
    --------
    Duplicates : The groups of a set.
    """

    def __init__(
        self, number: int, compared: ComparedDocuments, members: tuple[Duplicate, ...]
    ) -> None:
        self.number = number
        self._compared = compared
        self._members = members

    @overload
    def __getitem__(self, at: int) -> Duplicate: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Duplicate, ...]: ...
    def __getitem__(self, at: int | slice) -> Duplicate | tuple[Duplicate, ...]:
        return self._members[at]

    def __len__(self) -> int:
        return len(self._members)

    @property
    def representative(self) -> Duplicate:
        """Document to keep: the one with the most duplicates in the group."""
        return self._members[0]

    @property
    def positions(self) -> list[int]:
        """Positions of the group's documents in the input, in ascending order."""
        return sorted(member.position for member in self._members)

    @property
    def diameter(self) -> float:
        """Largest distance of a document of the group from the representative."""
        return max(member.distance for member in self._members)

    def explain(self, member: Duplicate | int) -> Comparison | Contributions | None:
        """Explain why a member is similar to the representative, by the parts of the distance.

        Parameters
        ----------
        member : Duplicate or int
            Member of the group, or its position among the documents.

        Returns
        -------
        Comparison, Contributions or None
            Transport plan of the words for a transport metric; otherwise contributions to the
            distance, or to the similarity (1 minus the distance). None if there is no
            explanation, for example if documents were compared for equality.
        """
        position = member.position if isinstance(member, Duplicate) else whole_number(member)
        if all(position != one.position for one in self._members):
            raise ParameterError(
                "member",
                f"one of the group, or its position: one of {self._shown_positions()}",
                str(position),
            )
        return self._compared.explain(position, self.representative.position)

    def _shown_positions(self) -> str:
        shown = ", ".join(map(str, self.positions[:10]))
        return shown if len(self) <= 10 else f"{shown}, …"

    def __repr__(self) -> str:
        return f"DuplicateGroup({len(self)} documents at {self._shown_positions()})"


class Duplicates(DuplicateResult[DuplicateGroup]):
    """Groups of duplicates within one collection, largest first; result of `find_duplicates`.

    Chains of pairs link the documents of a group: the distance of two members can exceed the
    radius if other members are between them. Each member has its distance from the
    representative, which shows such chains.

    Attributes
    ----------
    labels : ndarray of shape (n_documents,), int64
        Group of each document; -1 for a document without duplicates.
    empty : ndarray of int64
        Positions of documents without words (or rows of zeros, with "cosine"), which have no
        duplicates.

    See Also
    --------
    Repeats : Documents of one set that duplicate documents of another set.
    """

    def __init__(
        self,
        compared: ComparedDocuments,
        groups: Groups,
        distances: Float64Array,
        empty: Int64Array,
        pairs: PairBlock | None,
    ) -> None:
        self._compared = compared
        self._groups = groups
        self._distances = distances
        self._pairs = pairs
        self.labels = groups.labels
        self.empty = empty

    def __len__(self) -> int:
        return len(self._groups)

    def _item(self, at: int) -> DuplicateGroup:
        members = self._groups.members(at)
        chosen = int(self._groups.representatives[at])
        others = members[members != chosen]
        others = others[np.argsort(self._distances[others], kind="stable")]
        first = self._compared.duplicate(chosen, 0.0, "representative")
        rest = self._compared.duplicates(chosen, others, self._distances[others])
        return DuplicateGroup(at, self._compared, (first, *rest))

    @property
    def representatives(self) -> Int64Array:
        """Position of the representative document of each group."""
        return self._groups.representatives

    @cached_property
    def removed(self) -> Int64Array:
        """Positions of redundant documents: members of groups that are not representatives."""
        return np.setdiff1d(np.flatnonzero(self.labels >= 0), self.representatives)

    @cached_property
    def kept(self) -> Int64Array:
        """Positions of documents to keep: representatives, and documents without duplicates."""
        return np.setdiff1d(np.arange(self.n_documents), self.removed)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict per member of each group: group, position, ID, distance, and reason.

        A record has the group, the position of the representative, the position and ID of the
        member, its distance from the representative, and the reason.
        """
        return [
            {"group": group.number, "representative": group[0].position, **member.to_dict()}
            for group in self
            for member in group
        ]

    def _summary(self) -> str:
        groups = f"{len(self):,} group{'' if len(self) == 1 else 's'}"
        return (
            f"Duplicates: {groups}, {len(self.removed):,} of {self.n_documents:,} documents to "
            f"remove ({self._compared.criterion()})"
        )

    def _bars(self, limit: int) -> list[tuple[str, int, str]]:
        return [(f"group {group.number}", len(group), group[0].text) for group in self[:limit]]

    def _tables(self, limit: int) -> tuple[list[Table], str]:
        tables = [
            Table(
                f"Group {group.number}, {len(group):,} documents",
                ("document", "reason", "text"),
                [(member.name, member.reason, member.text) for member in group[:limit]],
                max(len(group) - limit, 0),
            )
            for group in self[:limit]
        ]
        more = len(self) - limit
        return tables, f"and {more:,} more group{'' if more == 1 else 's'}" if more > 0 else ""


class Repeat:
    """Document that duplicates one or more documents of the other collection (`against`).

    Attributes
    ----------
    position : int
        Position among the documents.
    id : str or None
        ID, or None for a document without an ID.
    text : str
        Text. Empty for rows of numbers.
    nearest : Duplicate
        Nearest document of the other set, with its position there; ties go to the lowest
        position.
    count : int
        Number of documents of the other set that it duplicates.
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
        """ID of the document, or its position as a string if it has no ID."""
        return str(self.position) if self.id is None else self.id

    @property
    def matches(self) -> tuple[Duplicate, ...]:
        """Duplicates of this document in the other collection, nearest first."""
        return self._repeats._matches(self.position)

    def explain(self, match: Duplicate | int | None = None) -> Comparison | Contributions | None:
        """Explain why this document is similar to one of `matches` (default: the nearest).

        Parameters
        ----------
        match : Duplicate, int or None
            Item of `matches`, or a position in the other set. If None, the nearest document.

        Returns
        -------
        Comparison, Contributions or None
            Explanation, see `DuplicateGroup.explain`.
        """
        match = self.nearest if match is None else match
        position = match.position if isinstance(match, Duplicate) else whole_number(match)
        compared = self._repeats._compared
        if not 0 <= position < self._repeats.n_against:
            raise ParameterError(
                "match",
                f"a position in the other set, which has {self._repeats.n_against} documents",
                str(position),
            )
        return compared.explain(self.position, compared.n_documents + position)

    def __repr__(self) -> str:
        return (
            f"Repeat({self.position} of {self.nearest.position}, {self.nearest.reason}, "
            f"{self.count} in all)"
        )


class Repeats(DuplicateResult[Repeat]):
    """Documents that duplicate documents of another collection; result with `against`.

    Attributes
    ----------
    n_against : int
        Number of documents of the other set.
    positions : ndarray of int64
        Positions of the documents that duplicate documents of the other set, ascending.
    counts : ndarray of int64
        Number of documents of the other set that each of these documents duplicates.
    empty : ndarray of int64
        Positions of documents without words, which have no duplicates.

    See Also
    --------
    Duplicates : Groups of duplicates in one set.
    """

    def __init__(
        self,
        compared: ComparedDocuments,
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

    def _item(self, at: int) -> Repeat:
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
        # Documents equal to a found document have the same distance.
        copies = np.flatnonzero(np.isin(self._firsts[n:], columns)) + n
        far = distances[np.searchsorted(columns, self._firsts[copies])]
        order = np.argsort(far, kind="stable")
        return self._compared.duplicates(position, copies[order], far[order])

    @property
    def share(self) -> float:
        """Fraction of the documents that have a duplicate in the other collection."""
        return len(self) / self.n_documents if self.n_documents else 0.0

    @property
    def removed(self) -> Int64Array:
        """Positions of documents that have a duplicate in the other collection."""
        return self.positions

    @cached_property
    def kept(self) -> Int64Array:
        """Positions of documents that have no duplicate in the other collection."""
        return np.setdiff1d(np.arange(self.n_documents), self.positions)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each duplicate with its nearest match in the other collection.

        A record has the position and ID of the document, the position and ID of the nearest
        document of the other set, its distance, the reason, and the number of documents of the
        other set that the document duplicates.
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

    def _summary(self) -> str:
        return (
            f"Repeats: {len(self):,} of {self.n_documents:,} documents duplicate some of the "
            f"{self.n_against:,} others ({self._compared.criterion()})"
        )

    def _bars(self, limit: int) -> list[tuple[str, int, str]]:
        return [(repeat.name, repeat.count, repeat.text) for repeat in self[:limit]]

    def _tables(self, limit: int) -> tuple[list[Table], str]:
        rows = [
            (repeat.name, repeat.nearest.name, repeat.nearest.reason, repeat.text)
            for repeat in self[:limit]
        ]
        heads = ("document", "repeats", "reason", "text")
        return [Table("", heads, rows, max(len(self) - limit, 0))] if rows else [], ""
