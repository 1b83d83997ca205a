"""Pairs of documents within a distance, computed block by block on workers."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from textkin._base import Float64Array, Int64Array
from textkin.corpus import DocumentRows
from textkin.index.distributed._snapshot_description import (
    SnapshotDescription,
    UnreadableBlock,
    describe_snapshot,
    split_rows,
)
from textkin.index.distributed._workers import BlockScorers, LocalSnapshot, MissingSegment, opened
from textkin.index.search import IndexState, TransportRanking, TransportScorer
from textkin.run import Executor, ProgressCallback, format_size, map_blocks

__all__ = ["NearPairs", "Pairs"]

_ROWS = (512, 8192)  # minimum and maximum number of rows per block
_BLOCKS = 16  # target number of blocks of an index
_KEPT = 2  # blocks that a worker has open, which share its memory; they arrive one by one
_TAIL = -1
_BYTES = 24  # size of a pair


class Pairs(NamedTuple):
    """Arrays of document pairs (two rows) and their distances."""

    first: Int64Array
    second: Int64Array
    distances: Float64Array

    @classmethod
    def joined(cls, some: Iterable["Pairs"], memory: int) -> "Pairs":
        """Concatenate pairs, sorted by first row, distance, and second row.

        Raises
        ------
        MemoryError
            If the pairs take more than `memory` bytes.
        """
        parts = [cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        size = 0
        for one in some:
            size += sum(array.nbytes for array in one)
            if size > memory:
                raise MemoryError(
                    f"one block of documents has more than {memory // _BYTES:,} pairs within the "
                    f"threshold, the limit for memory={format_size(memory)}. Pass a smaller "
                    "threshold=, or more memory=."
                )
            parts.append(one)
        first, second, distances = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((second, distances, first))
        return cls(first[order], second[order], distances[order])


class Task(NamedTuple):
    """Two blocks of documents whose pairs are to be compared."""

    asked: int
    searched: int


@dataclass(frozen=True, eq=False)
class PairSearch:
    """Picklable function that finds the near pairs between two blocks of documents.

    Attributes
    ----------
    described : SnapshotDescription
        Description of the snapshot.
    tail : DocumentRows
        Documents that are not in a segment.
    radius : float
        Maximum distance of a pair.
    """

    described: SnapshotDescription
    tail: DocumentRows
    radius: float

    def __call__(self, task: Task, *, memory: int) -> tuple[Task, Pairs | UnreadableBlock]:
        """Return the near pairs between two blocks, with rows relative to each block."""
        here = opened(self.described.token, self.described)
        assert here is not None
        try:
            return task, self.on(here, task, memory)
        except MissingSegment as missing:
            return task, UnreadableBlock(task.searched, missing.segment, str(missing))

    def on(self, here: BlockScorers, task: Task, memory: int) -> Pairs:
        """Return the near pairs between two blocks of an open snapshot."""
        scorer = here.scorer(task.searched, memory, _KEPT)
        assert isinstance(scorer, TransportScorer)
        from_row = None
        if task.asked == _TAIL:
            queries = self.tail
        elif task.asked == task.searched:
            queries = scorer.rows()
            from_row = np.arange(1, len(queries) + 1, dtype=np.int64)
        else:
            parts = here.opened.parts(task.asked)
            other = here.opened.scorer_of(parts, 1)  # used for its documents, not for searches
            assert isinstance(other, TransportScorer)
            queries = other.rows()
        found = scorer.within(queries, self.radius, from_row)
        return Pairs.joined((Pairs(*one) for one in found), memory)


class NearPairs:
    """Computation of all pairs of documents of a snapshot within a distance.

    Parameters
    ----------
    state : IndexState
        Snapshot of the index.
    ranking : TransportRanking
        Distance of documents.
    radius : float
        Maximum distance of a pair, inclusive.
    executor, n_jobs, memory
        Arguments of `textkin.run.map_blocks`.
    """

    def __init__(
        self,
        state: IndexState,
        ranking: TransportRanking,
        radius: float,
        *,
        executor: Executor = None,
        n_jobs: int | None = None,
        memory: int = 512 << 20,
    ) -> None:
        self._executor, self._n_jobs, self._memory = executor, n_jobs, memory
        sizes = [part.segment.rows for part in state.parts[:-1]]
        rows = min(max(_ROWS[0], sum(sizes) // _BLOCKS), _ROWS[1])  # independent of the executor
        blocks = split_rows(sizes, -(-sum(sizes) // rows))
        self._starts = [int(state.starts[b[0].segment]) + b[0].first for b in blocks]
        self._tail_start = int(state.starts[-2])
        self._described = describe_snapshot(state, ranking, uuid.uuid4().hex, blocks)
        here = LocalSnapshot(self._described, state)
        self._here = BlockScorers(here)
        scorer = here.scorer_of([state.parts[-1]], memory)
        assert isinstance(scorer, TransportScorer)
        self._tail = scorer
        self._work = PairSearch(self._described, scorer.rows(), radius)

    def __len__(self) -> int:
        """Return the number of parts of the result: one per block, and one for the tail."""
        return len(self._starts) + 1

    def parts(
        self, wanted: Iterable[int], progress: ProgressCallback | None = None
    ) -> Iterator[tuple[int, Pairs]]:
        """Yield the result in parts: all pairs whose first document is in one block.

        Parameters
        ----------
        wanted : iterable of int
            Numbers of the parts, in ascending order.
        progress : callable, optional
            Function that is called with (pairs of blocks done, number of pairs of blocks).

        Yields
        ------
        int, Pairs
            Number of the part, and its pairs as rows of the snapshot.
        """
        last = len(self._starts)
        numbers = list(wanted)
        tasks = [
            Task(searched, part) if searched != last else Task(_TAIL, part)
            for part in numbers
            if part != last
            for searched in range(part, last + 1)
        ]
        found = map_blocks(
            self._work,
            tasks,
            executor=self._executor,
            n_jobs=self._n_jobs,
            memory=self._memory,
            progress=progress,
        )
        for part, some in groupby(found, key=lambda one: one[0].searched):
            yield part, Pairs.joined((self._placed(*one) for one in some), self._memory)
        if last in numbers:
            rows = np.arange(1, len(self._work.tail) + 1, dtype=np.int64)
            found_here = self._tail.within(self._work.tail, self._work.radius, rows)
            pairs = Pairs.joined((Pairs(*one) for one in found_here), self._memory)
            start = self._tail_start
            yield last, Pairs(pairs.first + start, pairs.second + start, pairs.distances)

    def _placed(self, task: Task, found: Pairs | UnreadableBlock) -> Pairs:
        """Convert rows within two blocks to rows of the snapshot, the smaller row first."""
        if isinstance(found, UnreadableBlock):
            self._described.refuse_unshared(found)
            found = self._work.on(self._here, task, self._memory)
        asked = self._tail_start if task.asked == _TAIL else self._starts[task.asked]
        searched = self._starts[task.searched]
        if task.asked == task.searched:
            return Pairs(found.first + asked, found.second + asked, found.distances)
        return Pairs(found.second + searched, found.first + asked, found.distances)
