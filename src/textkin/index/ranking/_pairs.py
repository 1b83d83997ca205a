"""All pairs of documents of an index that are near, blocks against blocks, on workers."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.index.ranking._pieces import Described, Lost, cut, described_for
from textkin.index.ranking._transport import TransportRanking
from textkin.index.ranking._transport_ranker import TransportRanker
from textkin.index.ranking._view import View
from textkin.index.ranking._workers import MissingSegment, OpenedHere, Rankers, opened
from textkin.run import Place, ProgressCallback, map_blocks
from textkin.run._memory import size_in_words
from textkin.vectors._encode import Encoded

__all__ = ["NearPairs", "Pairs"]

_ROWS = (512, 8192)  # of a block, at least and at most
_BLOCKS = 16  # into which an index is cut, as far as that allows
_KEPT = 2  # searched blocks that a worker has, which share its memory: they come one by one
_TAIL = -1
_BYTES = 24  # of a pair


class Pairs(NamedTuple):
    """Pairs of rows, the first before the second, and how far they are apart."""

    first: Int64Array
    second: Int64Array
    distances: Float64Array

    @classmethod
    def joined(cls, some: Iterable["Pairs"], memory: int) -> "Pairs":
        """Put pairs together: by the first row, then by distance, then by the second.

        Raises
        ------
        MemoryError
            If they take more than some bytes.
        """
        parts = [cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        size = 0
        for one in some:
            size += sum(array.nbytes for array in one)
            if size > memory:
                raise MemoryError(
                    f"more than {memory // _BYTES:,} pairs of one block of documents are so near, "
                    f"which is all that {size_in_words(memory)} hold: pass a smaller threshold=, "
                    "or more memory=."
                )
            parts.append(one)
        first, second, distances = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((second, distances, first))
        return cls(first[order], second[order], distances[order])


class Task(NamedTuple):
    """Documents of a block (or of the tail) against those of another, or of the same."""

    asked: int
    searched: int


@dataclass(frozen=True, eq=False)
class PairSearch:
    """Finds the pairs of two blocks; a function that travels.

    Attributes
    ----------
    described : Described
        The state.
    tail : Encoded
        The documents that are in no segment.
    radius : float
        How far two may be apart.
    """

    described: Described
    tail: Encoded
    radius: float

    def __call__(self, task: Task, *, memory: int) -> tuple[Task, Pairs | Lost]:
        """Find the pairs; rows are counted from the first one of each block."""
        here = opened(self.described.token, self.described)
        assert here is not None
        try:
            return task, self.on(here, task, memory)
        except MissingSegment as missing:
            return task, Lost(task.searched, missing.segment, str(missing))

    def on(self, here: Rankers, task: Task, memory: int) -> Pairs:
        """Find the pairs with what is open."""
        ranker = here.ranker(task.searched, memory, _KEPT)
        assert isinstance(ranker, TransportRanker)
        from_row = None
        if task.asked == _TAIL:
            queries = self.tail
        elif task.asked == task.searched:
            queries = ranker.rows()
            from_row = np.arange(1, len(queries) + 1, dtype=np.int64)
        else:
            parts = here.opened.parts(task.asked)
            other = here.opened.ranker_of(parts, 1)  # only read, never searched
            assert isinstance(other, TransportRanker)
            queries = other.rows()
        found = ranker.within(queries, self.radius, from_row)
        return Pairs.joined((Pairs(*one) for one in found), memory)


class NearPairs:
    """All pairs of documents of a view that are near each other.

    Parameters
    ----------
    view : View
        The documents.
    ranking : TransportRanking
        How far they are apart.
    radius : float
        How far two may be, that far included.
    on, n_jobs, memory
        As for `textkin.run.map_blocks`.
    """

    def __init__(
        self,
        view: View,
        ranking: TransportRanking,
        radius: float,
        *,
        on: Place = None,
        n_jobs: int | None = None,
        memory: int = 512 << 20,
    ) -> None:
        self._on, self._n_jobs, self._memory = on, n_jobs, memory
        sizes = [part.segment.rows for part in view.parts[:-1]]
        rows = min(max(_ROWS[0], sum(sizes) // _BLOCKS), _ROWS[1])  # whoever does the work
        blocks = cut(sizes, -(-sum(sizes) // rows))
        self._starts = [int(view.starts[b[0].segment]) + b[0].first for b in blocks]
        self._tail_start = int(view.starts[-2])
        self._described = described_for(view, ranking, uuid.uuid4().hex, blocks)
        here = OpenedHere(self._described, view)
        self._here = Rankers(here)
        ranker = here.ranker_of([view.parts[-1]], memory)
        assert isinstance(ranker, TransportRanker)
        self._tail = ranker
        self._work = PairSearch(self._described, ranker.rows(), radius)

    def __len__(self) -> int:
        """Return the number of parts: one for each block, and one for the tail."""
        return len(self._starts) + 1

    def parts(
        self, wanted: Iterable[int], progress: ProgressCallback | None = None
    ) -> Iterator[tuple[int, Pairs]]:
        """Give some parts: the pairs whose first document is in that block.

        Parameters
        ----------
        wanted : iterable of int
            Which parts, ascending.
        progress : callable, optional
            Gets (pairs of blocks that are done, all of them).

        Yields
        ------
        int, Pairs
            The part, and its pairs as rows of the view.
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
            on=self._on,
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

    def _placed(self, task: Task, found: Pairs | Lost) -> Pairs:
        """Return pairs as rows of the view; the documents of a part come first in each."""
        if isinstance(found, Lost):
            self._described.refuse_unshared(found)
            found = self._work.on(self._here, task, self._memory)
        asked = self._tail_start if task.asked == _TAIL else self._starts[task.asked]
        searched = self._starts[task.searched]
        if task.asked == task.searched:
            return Pairs(found.first + asked, found.second + asked, found.distances)
        return Pairs(found.second + searched, found.first + asked, found.distances)
