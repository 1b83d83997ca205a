"""Groups of documents that pairs join, made while the pairs come by."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from textkin._typing import Float64Array, Int64Array
from textkin.transport import PairBlock

__all__ = ["Groups", "KeptPairs", "joined", "one_block"]

_MOST_PAIRS = 2**25  # that are kept: 800 megabytes
_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Documents in groups, the largest first, of equal ones that with the earliest document.

    Attributes
    ----------
    labels : ndarray of shape (n_documents,), int64
        The group of each document; -1 for one that is alone.
    representatives : ndarray of shape (n_groups,), int64
        The most central document of each group.
    starts, order : ndarray of int64
        Group g has the documents ``order[starts[g]:starts[g + 1]]``, in the order of positions.
    """

    labels: Int64Array
    representatives: Int64Array
    starts: Int64Array
    order: Int64Array

    def __len__(self) -> int:
        return len(self.representatives)

    def members(self, group: int) -> Int64Array:
        """Return the positions of a group, ascending."""
        return self.order[self.starts[group] : self.starts[group + 1]]


class KeptPairs:
    """Pairs that were found, as long as there is room for them."""

    def __init__(self, most: int = _MOST_PAIRS) -> None:
        self._most = most
        self._blocks: list[PairBlock] | None = []
        self.count = 0

    def add(self, block: PairBlock) -> None:
        """Keep a block; beyond the limit, nothing more and nothing of what there was."""
        self.count += len(block)
        if self.count > self._most:
            self._blocks = None
        elif self._blocks is not None:
            self._blocks.append(block)

    def all(self) -> PairBlock | None:
        """Return all pairs in the order of their positions, or None where they were too many."""
        if self._blocks is None:
            return None
        pairs = one_block(self._blocks)
        order = np.lexsort((pairs.columns, pairs.rows))
        return PairBlock(pairs.rows[order], pairs.columns[order], pairs.distances[order])


def one_block(blocks: list[PairBlock]) -> PairBlock:
    """Put blocks of pairs together."""
    none = np.empty(0, np.int64)
    return PairBlock(
        np.concatenate([none, *(block.rows for block in blocks)]),
        np.concatenate([none, *(block.columns for block in blocks)]),
        np.concatenate([np.empty(0), *(block.distances for block in blocks)]),
    )


def joined(firsts: Int64Array, pairs: Iterable[PairBlock], kept: KeptPairs) -> Groups:
    """Join documents that are equal, and those that a chain of pairs links.

    The pairs pass by once: what is held is a few numbers a document.

    Parameters
    ----------
    firsts : ndarray of shape (n_documents,), int64
        The first of the documents that are equal to each.
    pairs : iterable of PairBlock
        Between documents that are the first of their equals.
    kept : KeptPairs
        Gets the pairs.

    Returns
    -------
    Groups
        The representative of a group is the document that the most of the group are near to (of
        equal documents each counts); among those the one with the smallest sum of distances to
        them, and then the first.
    """
    n = len(firsts)
    copies = np.bincount(firsts, minlength=n)
    labels = firsts
    near, sums = (copies - 1).astype(np.float64), np.zeros(n)
    waiting: list[PairBlock] = []
    size = 0

    def settle() -> Int64Array:
        some = one_block(waiting)
        for ends, others in ((some.rows, some.columns), (some.columns, some.rows)):
            near[:] += np.bincount(ends, copies[others], n)
            sums[:] += np.bincount(ends, copies[others] * some.distances, n)
        return _linked(labels, some)

    for block in pairs:
        kept.add(block)
        waiting.append(block)
        size += len(block)
        if size >= max(n, _AT_ONCE):
            labels = settle()
            waiting, size = [], 0
    if waiting:
        labels = settle()
    return _groups(labels, firsts, near, sums)


def _linked(labels: Int64Array, pairs: PairBlock) -> Int64Array:
    """Return labels after the groups of each pair have become one."""
    n = len(labels)
    ends = labels[pairs.rows], labels[pairs.columns]
    graph = sparse.coo_array((np.ones(len(pairs), dtype=np.int8), ends), shape=(n, n))
    _, found = connected_components(graph, directed=False)
    return np.asarray(found[labels], dtype=np.int64)


def _groups(
    labels: Int64Array, firsts: Int64Array, near: Float64Array, sums: Float64Array
) -> Groups:
    n = len(labels)
    _, earliest, numbers, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((earliest, -sizes))
    order = order[sizes[order] > 1]
    new = np.full(len(sizes), -1, dtype=np.int64)
    new[order] = np.arange(len(order))
    labels = new[numbers]
    members = np.flatnonzero(labels >= 0)
    members = members[np.argsort(labels[members], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.int64)
    # Documents that are equal are as central as their first, which comes before them.
    best = np.lexsort((np.arange(n), sums[firsts], -near[firsts], labels))
    best = best[labels[best] >= 0]
    return Groups(labels, best[starts[:-1]].astype(np.int64), starts, members.astype(np.int64))
