"""Search options, and the core's search over blocks of documents."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from textkin import _core
from textkin._base import (
    DEVICE,
    PROGRESS,
    Constraint,
    Float32Array,
    Float64Array,
    Int32Array,
    Int64Array,
    integer,
    one_of,
    real,
)
from textkin.corpus import DocumentRows, MaskArray, RankedRows, VectorTable
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.run import ProgressCallback, effective_jobs, memory_limit
from textkin.transport._solver import CostName

__all__ = [
    "ALGORITHMS",
    "SEARCH_CONSTRAINTS",
    "TRANSPORT_METRICS",
    "Algorithm",
    "CoreSearch",
    "SearchOptions",
    "TransportMetric",
]

TransportMetric: TypeAlias = Literal["wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"]
"""Exact distance, its relaxations, and the distance of the centroids."""
TRANSPORT_METRICS: tuple[TransportMetric, ...] = get_args(TransportMetric)
Algorithm: TypeAlias = Literal["auto", "prefetch", "brute"]
"""Search algorithm for "wmd"; all three have the same result."""
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

SEARCH_CONSTRAINTS: dict[str, Constraint] = {
    "n_neighbors": integer(1),
    "radius": real(0),
    "metric": one_of(*TRANSPORT_METRICS),
    "algorithm": one_of(*ALGORITHMS),
    "device": DEVICE,
}
_K = one_of(None) | integer(1)
_CANDIDATES = one_of(None) | integer(1)
_RADIUS = one_of(None) | real(0)

# If less than this share of the documents may be found, a search over a copy of them is faster: it
# skips the rest, and needs no costs for words that occur only there. The copy takes time, so for a
# single search it is worthwhile only if the share is very small.
_FEW = 0.25
_VERY_FEW = 0.02
_MANY = 8  # number of queries that make a copy worthwhile
_LEFT_OUT = _core.VERDICTS.index("left_out")


@dataclass(frozen=True, slots=True, eq=False)
class SearchOptions:
    """Options of a nearest-neighbor search by transport: k, radius, algorithm, mask, memory.

    Attributes
    ----------
    k : int or None, default=None
        Maximum number of documents per query. If None, no limit.
    radii : float or ndarray of shape (n_queries,), float64, default=inf
        Maximum distance, inclusive: one for all queries, or one per query.
    metric : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"}, default="wmd"
        Distance.
    algorithm : {"auto", "prefetch", "brute"}, default="auto"
        Search algorithm for "wmd"; see `WordMover`.
    max_candidates : int or None, default=None
        Maximum number of documents that ``algorithm="prefetch"`` considers. If None, all.
    mask : ndarray of shape (n_documents,), uint8, or None, default=None
        1 for each document that may be found. If None, all may.
    memory : int or None, default=None
        Memory limit, in bytes, of the tables of a search and of the exact transport problems that
        its threads solve at the same time, each. If None, 512 MiB for the tables, and half of the
        memory of the machine, or of its cgroup if that is smaller, for the problems.
    threads : int, default=1
        Number of threads.
    device : str or None, default=None
        Device that computes bounds. If None, the core computes them.
    device_memory : int or None, default=None
        Memory of the device for documents, in bytes. If None, 60 % of the free memory.
    table_limit : int or None, default=None
        Memory limit of the tables, in bytes. If None, `memory`.
    """

    k: int | None = None
    radii: float | Float64Array = math.inf
    metric: TransportMetric = "wmd"
    algorithm: Algorithm = "auto"
    max_candidates: int | None = None
    mask: MaskArray | None = None
    memory: int | None = None
    threads: int = 1
    device: str | None = None
    device_memory: int | None = None
    table_limit: int | None = None

    @classmethod
    def of_parameters(
        cls,
        k: int | None,
        radius: float = math.inf,
        *,
        metric: TransportMetric,
        algorithm: Algorithm,
        memory: str | int | None,
        n_jobs: int | None,
        max_candidates: int | None = None,
        mask: MaskArray | None = None,
        device: str | None = None,
        device_memory: str | int | None = None,
    ) -> Self:
        """Validate the parameters of an estimator, and return them as `SearchOptions`."""
        SEARCH_CONSTRAINTS["metric"].check("metric", metric)
        SEARCH_CONSTRAINTS["algorithm"].check("algorithm", algorithm)
        DEVICE.check("device", device)
        _check_candidates(max_candidates, k, metric, algorithm)
        return cls(
            k,
            radius,
            metric,
            algorithm,
            None if max_candidates is None else int(max_candidates),
            mask,
            memory_limit(memory),
            effective_jobs(n_jobs),
            device,
            memory_limit(device_memory),
        )

    @classmethod
    def of_request(
        cls,
        n_documents: int,
        k: int | None,
        radius: float | None,
        max_candidates: int | None,
        mask: ArrayLike | None,
        progress: ProgressCallback | None,
        **parameters: Any,  # noqa: ANN401 (those of `of_parameters`)
    ) -> Self:
        """Validate the arguments of a public `search` method; return `SearchOptions`."""
        _K.check("k", k)
        _RADIUS.check("radius", radius)
        PROGRESS.check("progress", progress)
        return cls.of_parameters(
            None if k is None else int(k),
            math.inf if radius is None else float(radius),
            max_candidates=max_candidates,
            mask=_allowed(mask, n_documents),
            **parameters,
        )

    @property
    def plan(self) -> Algorithm | TransportMetric:
        """Core name of the search: an exact algorithm, or the lower bound to rank by."""
        return self.algorithm if self.metric == "wmd" else self.metric

    @property
    def table_memory(self) -> int:
        """Memory limit of the tables of a search, in bytes."""
        limit = self.memory if self.table_limit is None else self.table_limit
        return _core.TABLE_MEMORY if limit is None else limit

    @property
    def radius(self) -> float:
        """Largest distance of a hit, the same for all queries."""
        if isinstance(self.radii, np.ndarray):
            raise ValueError("radius requires one radius for all queries; got one per query.")
        return self.radii


@dataclass(frozen=True, eq=False)
class CoreSearch:
    """Nearest-neighbor search of the compiled core over blocks of documents, without a copy.

    Attributes
    ----------
    table : VectorTable
        Word vectors.
    cost : str
        Cost of moving a word.
    blocks : sequence of DocumentRows
        Documents in blocks. Only their counts are used; the weights are an attribute of the
        search.
    n_columns : int
        Number of columns of all blocks.
    column_map : ndarray of shape (n_columns,), int32, or None
        Row of the table for each column, or -1; several columns may share a row. If None, columns
        are rows.
    weights : ndarray of shape (n_columns,), float64, or None
        Factor of the counts of each column. If None, 1. Columns that share a row must have the
        same weight.
    """

    table: VectorTable
    cost: CostName
    blocks: Sequence[DocumentRows]
    n_columns: int
    column_map: Int32Array | None = None
    weights: Float64Array | None = None

    @cached_property
    def _size(self) -> int:
        return sum(map(len, self.blocks))

    def __len__(self) -> int:
        return self._size

    @cached_property
    def _all(self) -> _core.Searcher:
        return self._searcher(self.blocks)

    def _searcher(self, blocks: Sequence[DocumentRows]) -> _core.Searcher:
        weights = None if self.weights is None else np.ascontiguousarray(self.weights)
        parts = [(block.indptr, block.indices, block.counts, block.live) for block in blocks]
        return _core.Searcher(
            self.table.vectors, self.cost, parts, self.n_columns, self.column_map, weights
        )

    def prepare(self, memory: int | None = None) -> None:
        """Prepare searches with a memory limit now, instead of during the first search."""
        self._all.prepare(memory or 0)

    def search(
        self,
        queries: _core.Documents,
        options: SearchOptions,
        *,
        points: Float32Array | None = None,
        without: Int64Array | None = None,
        from_row: Int64Array | None = None,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Find the documents with the smallest distance to each query, as `RankedRows`.

        Parameters
        ----------
        queries : Documents
            Queries over the rows of the table.
        options : SearchOptions
            Options of the search.
        points : ndarray of shape (n_entries, d), float32, or None
            Vectors that belong to the queries, numbered after the last row of the table.
        without : ndarray of shape (n_queries,), int64, or None
            Document that each query must not find.
        from_row : ndarray of shape (n_queries,), int64, or None
            First document to search for each query.
        progress : callable or None
            Function that is called with (queries done, number of queries).
        """
        return self._search(queries, points, options, without, from_row, False, progress)[0]

    def record(
        self, query: _core.Documents, options: SearchOptions, points: Float32Array | None = None
    ) -> tuple[RankedRows, MaskArray, Float64Array]:
        """Search for one query; return a verdict and a distance or bound for every document."""
        found, verdicts, values = self._search(query, points, options, None, None, True, None)
        return found, verdicts[0], values[0]

    def solve(
        self,
        queries: _core.Documents,
        numbers: Int64Array,
        starts: Int64Array,
        rows: Int64Array,
        bounds: Float64Array,
        limits: Float64Array,
        options: SearchOptions,
        progress: ProgressCallback | None = None,
    ) -> tuple[Int64Array, Int64Array, Float64Array, Int64Array]:
        """Compute exact distances of candidates with known bounds; return the nearest ones."""
        k = self._at_most_all(options.k)
        return self._all.solve(
            queries,
            numbers,
            starts,
            rows,
            bounds,
            k,
            limits,
            options.memory or 0,
            options.threads,
            progress,
        )

    def _search(
        self,
        queries: _core.Documents,
        points: Float32Array | None,
        options: SearchOptions,
        without: Int64Array | None,
        from_row: Int64Array | None,
        record: bool,
        progress: ProgressCallback | None,
    ) -> tuple[RankedRows, MaskArray, Float64Array]:
        mask = options.mask
        few: _FewDocuments | None = None
        if mask is not None and without is None and from_row is None and not record:
            few = self._few_of(mask, len(queries))
        searcher = self._all
        if few is not None:
            searcher, mask = few.searcher, None
        starts, rows, distances, counts, seconds, verdicts, values = searcher.search(
            queries,
            points,
            self._at_most_all(options.k),
            options.radii,
            options.plan,
            self._at_most_all(options.max_candidates),
            mask,
            without,
            from_row,
            options.table_memory,
            options.memory or 0,
            options.threads,
            record,
            progress,
        )
        if few is not None:
            rows = few.rows[rows]
            counts[:, _LEFT_OUT] += len(self) - len(few.rows)
        stats = {"verdicts": counts[:, :-1], "refined": counts[:, -1], "seconds": seconds}
        return RankedRows(starts, rows, distances, True, stats), verdicts, values

    def _at_most_all(self, number: int | None) -> int | None:
        """Clip a number of hits to the range from 1 to the number of documents."""
        return None if number is None else min(number, max(len(self), 1))

    def _few_of(self, mask: MaskArray, queries: int) -> "_FewDocuments | None":
        """Return a search over a copy of the documents in a mask, or None if copying is slower."""
        share = np.count_nonzero(mask) / max(len(mask), 1)
        if share >= _FEW:
            return None
        last: _FewDocuments | None = self.__dict__.get("_few")
        if last is not None and np.array_equal(last.mask, mask):
            return last
        seen, times = self.__dict__.get("_asked", (None, 0))
        times = queries + (times if np.array_equal(seen, mask) else 0)
        if share >= _VERY_FEW and times < _MANY:
            self.__dict__["_asked"] = mask.copy(), times
            return None
        few = self.__dict__["_few"] = self._copy_of(mask.copy())
        return few

    def _copy_of(self, mask: MaskArray) -> "_FewDocuments":
        blocks: list[DocumentRows] = []
        places: list[Int64Array] = []
        start = 0
        for block in self.blocks:
            allowed = mask[start : start + len(block)]
            chosen = np.flatnonzero(allowed if block.live is None else allowed & block.live)
            if len(chosen):
                blocks.append(replace(block, live=None).take(chosen))
                places.append(chosen + start)
            start += len(block)
        rows = np.concatenate([np.empty(0, np.int64), *places])
        return _FewDocuments(mask, rows, self._searcher(blocks))


class _FewDocuments(NamedTuple):
    """Search over a copy of few selected documents, with their positions in the full corpus."""

    mask: MaskArray
    rows: Int64Array
    searcher: _core.Searcher


def _check_candidates(
    max_candidates: int | None, k: int | None, metric: str, algorithm: str
) -> None:
    _CANDIDATES.check("max_candidates", max_candidates)
    if max_candidates is None:
        return
    if metric != "wmd" or algorithm != "prefetch":
        raise ValueError(
            "max_candidates requires metric='wmd' and algorithm='prefetch'; got "
            f"max_candidates={max_candidates} with metric={metric!r} and algorithm={algorithm!r}. "
            "Pass algorithm='prefetch', or omit max_candidates."
        )
    if k is None or max_candidates < k:
        raise ParameterError(
            "max_candidates", "at least k", f"max_candidates={max_candidates} and k={k}"
        )


def _allowed(mask: ArrayLike | None, documents: int) -> MaskArray | None:
    """Convert a filter mask (booleans or positions) to the form that the core takes."""
    if mask is None:
        return None
    given = np.asarray(mask)
    if given.dtype == bool:
        if given.shape != (documents,):
            raise ValueError(
                f"mask must have one value for each of the {documents} documents; got shape "
                f"{given.shape}."
            )
        return given.astype(np.uint8)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ParameterTypeError(
            "mask",
            "an array of booleans, one per document, or an array of positions",
            f"dtype {given.dtype} and shape {given.shape}",
        )
    if given.size and not (given.min() >= 0 and given.max() < documents):
        raise ValueError(
            f"mask must contain positions from 0 to {documents - 1}; got {given.min()} to "
            f"{given.max()}."
        )
    allowed = np.zeros(documents, dtype=np.uint8)
    allowed[given.astype(np.int64)] = 1
    if np.count_nonzero(allowed) < given.size:
        values, times = np.unique(given, return_counts=True)
        raise ValueError(
            f"mask must contain distinct positions; got {values[times.argmax()]} {times.max()} "
            "times. If it has one value per document, pass mask.astype(bool)."
        )
    return allowed
