"""Blocks of documents, searched by the core where they lie: a corpus in memory, or a store."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._typing import Float32Array, Float64Array, Int32Array, Int64Array
from textkin.run import ProgressCallback
from textkin.transport._costs import CostName
from textkin.vectors._space import Space

__all__ = ["ALGORITHMS", "Algorithm", "Block", "Blocks", "Hits", "Mask", "Options"]

Algorithm: TypeAlias = Literal[
    "auto", "prefetch", "brute", "wcd", "rwmd", "rwmd-query", "rwmd-document"
]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

Mask: TypeAlias = NDArray[np.uint8]
Block: TypeAlias = tuple[Int64Array, Int32Array, Float32Array | Float64Array, Mask | None]
"""Rows of a CSR matrix (indptr, columns, counts), and which of them are there; None: all."""

# Below this share of documents that may be found, a corpus of their own pays: it looks at no
# others, and computes nothing for words that none of them has. It has to be made first, which
# pays for a single search only if they are very few.
_FEW = 0.25
_VERY_FEW = 0.02
_MANY = 8  # queries of the same documents
_LEFT_OUT = _core.VERDICTS.index("left_out")


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """What is searched for, and how; `radii` are those of each query, in place of `radius`."""

    k: int | None = None
    radius: float = math.inf
    radii: Float64Array | None = None
    algorithm: Algorithm = "auto"
    m: int | None = None
    mask: Mask | None = None
    memory: int = 512 << 20
    threads: int = 1
    device: str | None = None
    resident: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """What the core found: hits as rows of a CSR matrix, and what each query took.

    Attributes
    ----------
    starts, rows, distances : ndarray
        Of query q: those from ``starts[q]`` to ``starts[q + 1]``, the nearest first.
    verdicts : ndarray of shape (n_queries, 8), int64
        How many documents got each of ``_core.VERDICTS``; they sum to the documents.
    refined : ndarray of shape (n_queries,), int64
        Documents whose bound was refined.
    seconds : ndarray of shape (n_queries, 5), float64
        By ``_core.STAGES``.
    """

    starts: Int64Array
    rows: Int64Array
    distances: Float64Array
    verdicts: Int64Array
    refined: Int64Array
    seconds: Float64Array

    @classmethod
    def joined(cls, parts: list["Hits"]) -> "Hits":
        """Put the hits of several batches one after another."""
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.diff(part.starts) for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.distances for part in parts]),
            np.concatenate([part.verdicts for part in parts]),
            np.concatenate([part.refined for part in parts]),
            np.concatenate([part.seconds for part in parts]),
        )

    def with_query(self, number: int, other: "Hits") -> "Hits":
        """Return the same, with what another search found for its only query as that of one."""
        starts, end = self.starts, len(self.starts) - 1
        before, after = slice(0, int(starts[number])), slice(int(starts[number + 1]), None)
        lengths = np.diff(starts)
        lengths[number] = len(other.rows)
        of = np.arange(end) == number
        return Hits(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([self.rows[before], other.rows, self.rows[after]]),
            np.concatenate([self.distances[before], other.distances, self.distances[after]]),
            np.where(of[:, np.newaxis], other.verdicts, self.verdicts),
            np.where(of, other.refined, self.refined),
            np.where(of[:, np.newaxis], other.seconds, self.seconds),
        )

    def each(self) -> Iterator["Hits"]:
        """Give the hits of one query after another."""
        for query, (start, end) in enumerate(pairwise(self.starts.tolist())):
            one = slice(query, query + 1)
            yield Hits(
                np.array([0, end - start], np.int64),
                self.rows[start:end],
                self.distances[start:end],
                self.verdicts[one],
                self.refined[one],
                self.seconds[one],
            )

    def filled(self, width: int) -> tuple[Int64Array, Float64Array]:
        """Return rows and distances of shape (n_queries, width), -1 and inf where none is."""
        counts = np.diff(self.starts)
        present = np.arange(width) < counts[:, np.newaxis]
        rows = np.full(present.shape, -1, dtype=np.int64)
        distances = np.full(present.shape, np.inf)
        rows[present] = self.rows
        distances[present] = self.distances
        return rows, distances


@dataclass(frozen=True, eq=False)
class Blocks:
    """Documents in blocks that belong to others, one after another, and what they mean.

    Attributes
    ----------
    space : Space
        The vectors.
    cost : str
        What moving a word costs.
    blocks : list of Block
        The documents; none is copied.
    columns : int
        The number of columns of all blocks.
    words : ndarray of shape (columns,), int32, or None
        The row of the vectors that each column is, -1 for none; several columns may be one. None:
        the column itself.
    weights : ndarray of shape (columns,), float64, or None
        What counts are multiplied by; None is 1. Columns of one word have one weight.
    """

    space: Space
    cost: CostName
    blocks: list[Block]
    columns: int
    words: Int32Array | None = None
    weights: Float64Array | None = None

    @cached_property
    def _size(self) -> int:
        return sum(len(block[0]) - 1 for block in self.blocks)

    def __len__(self) -> int:
        return self._size

    def __getstate__(self) -> dict[str, Any]:
        made = ("_all", "_few", "_asked")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    @cached_property
    def _all(self) -> _core.Searcher:
        return self._searcher(self.blocks)

    def _searcher(self, blocks: list[Block]) -> _core.Searcher:
        weights = None if self.weights is None else np.ascontiguousarray(self.weights)
        return _core.Searcher(
            self.space.table, self.cost, blocks, self.columns, self.words, weights
        )

    def prepare(self, memory: int) -> None:
        """Do now what the first search would have to do first."""
        self._all.prepare(memory)

    def search(
        self,
        queries: _core.Documents,
        options: Options,
        *,
        points: Float32Array | None = None,
        without: Int64Array | None = None,
        from_row: Int64Array | None = None,
        progress: ProgressCallback | None = None,
    ) -> Hits:
        """Find the nearest documents of every query.

        `points` are vectors of the queries' own, whose words are numbered on from the last vector
        of the space; `without` names a document that each query leaves out, `from_row` says from
        which document on it looks.
        """
        return self._search(queries, points, options, without, from_row, False, progress)[0]

    def solve(
        self,
        queries: _core.Documents,
        numbers: Int64Array,
        starts: Int64Array,
        rows: Int64Array,
        bounds: Float64Array,
        limits: Float64Array,
        options: Options,
        progress: ProgressCallback | None = None,
    ) -> tuple[Int64Array, Int64Array, Float64Array, Int64Array]:
        """Return the nearest of candidates, whose bounds others have found; see the core."""
        k = self._at_most_all(options.k)
        return self._all.solve(
            queries, numbers, starts, rows, bounds, k, limits, options.threads, progress
        )

    def record(
        self, query: _core.Documents, options: Options, points: Float32Array | None = None
    ) -> tuple[Hits, NDArray[np.uint8], Float64Array]:
        """Search for one query; give also verdict and value of every document."""
        hits, verdicts, values = self._search(query, points, options, None, None, True, None)
        return hits, verdicts[0], values[0]

    def _search(
        self,
        queries: _core.Documents,
        points: Float32Array | None,
        options: Options,
        without: Int64Array | None,
        from_row: Int64Array | None,
        record: bool,
        progress: ProgressCallback | None,
    ) -> tuple[Hits, NDArray[np.uint8], Float64Array]:
        mask = options.mask
        few: _Few | None = None
        alike = without is None and from_row is None and not record
        if mask is not None and alike:
            few = self._few_of(mask, len(queries))
        searcher = self._all
        if few is not None:
            searcher, mask = few.searcher, None
        starts, rows, distances, counts, seconds, verdicts, values = searcher.search(
            queries,
            points,
            self._at_most_all(options.k),
            options.radius if options.radii is None else options.radii,
            options.algorithm,
            self._at_most_all(options.m),
            mask,
            without,
            from_row,
            options.memory,
            options.threads,
            record,
            progress,
        )
        if few is not None:
            rows = few.rows[rows]
            counts[:, _LEFT_OUT] += len(self) - len(few.rows)
        hits = Hits(starts, rows, distances, counts[:, :-1], counts[:, -1], seconds)
        return hits, verdicts, values

    def _at_most_all(self, number: int | None) -> int | None:
        """Return how many documents the core is asked for: no number that it cannot hold, nor 0."""
        return None if number is None else min(number, max(len(self), 1))

    def _few_of(self, mask: Mask, queries: int) -> "_Few | None":
        """Return the documents of a mask by themselves, if that pays."""
        share = np.count_nonzero(mask) / max(len(mask), 1)
        if share >= _FEW:
            return None
        last: _Few | None = self.__dict__.get("_few")
        if last is not None and np.array_equal(last.mask, mask):
            return last
        seen, times = self.__dict__.get("_asked", (None, 0))
        times = queries + (times if np.array_equal(seen, mask) else 0)
        if share >= _VERY_FEW and times < _MANY:
            self.__dict__["_asked"] = mask.copy(), times
            return None
        few = self.__dict__["_few"] = self._made(mask.copy())
        return few

    def _made(self, mask: Mask) -> "_Few":
        found: list[Block] = []
        places: list[Int64Array] = []
        start = 0
        for block in self.blocks:
            size = len(block[0]) - 1
            live = mask[start : start + size]
            chosen = np.flatnonzero(live if block[3] is None else live & block[3])
            if len(chosen):
                found.append(_rows_of(block, chosen))
                places.append(chosen + start)
            start += size
        rows = np.concatenate([np.empty(0, np.int64), *places])
        return _Few(mask, rows, self._searcher(found))


class _Few(NamedTuple):
    """Some documents of many: a copy of their rows, and where these are among all."""

    mask: Mask
    rows: Int64Array
    searcher: _core.Searcher


def _rows_of(block: Block, rows: Int64Array) -> Block:
    indptr, columns, counts, _ = block
    starts, lengths = indptr[rows], indptr[rows + 1] - indptr[rows]
    ends = np.cumsum(lengths)
    entries = np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]))
    kept = np.concatenate([np.zeros(1, np.int64), ends])
    return kept, columns[entries], counts[entries], None
