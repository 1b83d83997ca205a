"""Groups of duplicates in one set of documents."""

from collections.abc import Sequence
from functools import cached_property
from operator import index as whole_number
from typing import Any, overload

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.explain import Contributions
from textkin.learn._compared import Compared, Duplicate
from textkin.learn._duplicates_drawing import Table
from textkin.learn._found_duplicates import FoundDuplicates
from textkin.learn._grouping import Groups
from textkin.transport import Comparison, PairBlock

__all__ = ["DuplicateGroup", "Duplicates"]


class DuplicateGroup(Sequence[Duplicate]):
    """Documents that are duplicates of each other: the representative, then the nearest to it.

    Attributes
    ----------
    number : int
        Its place among the groups, which `Duplicates.labels` says of documents.

    See Also
    --------
    Duplicates : The groups of a set.
    """

    def __init__(self, number: int, compared: Compared, members: tuple[Duplicate, ...]) -> None:
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
        """The document that the most of the group are near to; the first of equal ones."""
        return self._members[0]

    @property
    def positions(self) -> list[int]:
        """Where its documents stand, in the order of positions."""
        return sorted(member.position for member in self._members)

    @property
    def diameter(self) -> float:
        """How far the farthest member is from the representative."""
        return max(member.distance for member in self._members)

    def explain(self, member: Duplicate | int) -> Comparison | Contributions | None:
        """Return why a member is as far from the representative as it is.

        Parameters
        ----------
        member : Duplicate or int
            One of the group, or its position among the documents.

        Returns
        -------
        Comparison, Contributions or None
            The words that move, for transport; for vectors what the distance comes from, or the
            similarity, 1 less it; None if there is nothing more to say, as for documents that
            were compared for equality.
        """
        position = member.position if isinstance(member, Duplicate) else whole_number(member)
        if all(position != one.position for one in self._members):
            raise ValueError(
                f"member must be one of the group, or its position: one of {self._named()}; "
                f"got {position}."
            )
        return self._compared.explain(position, self.representative.position)

    def _named(self) -> str:
        shown = ", ".join(map(str, self.positions[:10]))
        return shown if len(self) <= 10 else f"{shown}, …"

    def __repr__(self) -> str:
        return f"DuplicateGroup({len(self)} documents at {self._named()})"


class Duplicates(FoundDuplicates[DuplicateGroup]):
    """The groups of duplicates among documents, the largest first; made by `find_duplicates`.

    Groups are what chains of pairs link: two documents of a group may be farther apart than the
    threshold, if others lie between them. Every member says how far it is from the
    representative, so such a chain shows.

    Attributes
    ----------
    labels : ndarray of shape (n_documents,), int64
        The group of each document; -1 for one that is alone.
    empty : ndarray of int64
        Positions of documents without words (or without direction, by "cosine"), which are
        duplicates of none.

    See Also
    --------
    Repeats : What one set repeats of another.
    """

    def __init__(
        self,
        compared: Compared,
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

    def _made(self, at: int) -> DuplicateGroup:
        members = self._groups.members(at)
        chosen = int(self._groups.representatives[at])
        others = members[members != chosen]
        others = others[np.argsort(self._distances[others], kind="stable")]
        first = self._compared.duplicate(chosen, 0.0, "representative")
        rest = self._compared.duplicates(chosen, others, self._distances[others])
        return DuplicateGroup(at, self._compared, (first, *rest))

    @property
    def representatives(self) -> Int64Array:
        """The position of the representative of each group."""
        return self._groups.representatives

    @cached_property
    def removed(self) -> Int64Array:
        """Positions of the documents to drop: all of a group but its representative."""
        return np.setdiff1d(np.flatnonzero(self.labels >= 0), self.representatives)

    @cached_property
    def kept(self) -> Int64Array:
        """Positions of the documents that are left: without duplicates, and representatives."""
        return np.setdiff1d(np.arange(self.n_documents), self.removed)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record a document of a group, in plain types, as for a table.

        Group, position, id, the position of the representative, distance to it and reason.
        """
        return [
            {"group": group.number, "representative": group[0].position, **member.to_dict()}
            for group in self
            for member in group
        ]

    def _head(self) -> str:
        groups = f"{len(self):,} group{'' if len(self) == 1 else 's'}"
        return (
            f"Duplicates: {groups}, {len(self.removed):,} of {self.n_documents:,} documents to "
            f"remove ({self._compared.said()})"
        )

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
