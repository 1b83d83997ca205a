"""Lower bounds of the Word Mover's Distance, and how much of it they are."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textkin._typing import Float64Array, Int32Array, Int64Array
from textkin.evaluate._cells import Task
from textkin.evaluate.experiments._knn_finders import mover_of
from textkin.evaluate.experiments._neighbours import sides, some_of
from textkin.learn._candidates import taken
from textkin.learn._transport import TransportMeasure
from textkin.transport._corpus import Corpus, Hits, Options, Rows

__all__ = [
    "Search",
    "bounds_of",
    "most_asked",
    "refined_bound",
    "search_of",
    "sorted_curve",
    "tightness",
]

_SAMPLE, _QUICK_SAMPLE = (50, 500), (4, 20)  # queries and documents
_BINS = 20  # of the curve of sorted distances
_ABOVE = 1e-6  # by how much a lower bound may exceed the distance: float32 costs
_BOUNDS = ("wcd", "rwmd-query", "rwmd-document", "rwmd")

Document = tuple[Int32Array, Float64Array]
"""Words, ascending, and their masses, which sum to one."""


@dataclass(frozen=True)
class Search:
    """Training documents, ready to be searched, and test documents to ask for."""

    measure: TransportMeasure
    corpus: Corpus
    asked: Rows

    def options(self, k: int | None, **others: Any) -> Options:  # noqa: ANN401
        """Return how to search: an algorithm, a cutoff."""
        found: Options = self.measure.mover._options(k, **others)
        return found

    def values(self, algorithm: str, queries: Int64Array, documents: Int64Array) -> Float64Array:
        """Return all distances or bounds of some queries and documents."""
        some = replace(self.corpus, rows=taken(self.corpus.rows, documents))
        options = self.options(None, radius=math.inf, algorithm=algorithm)
        hits: Hits = some.search(taken(self.asked, queries), options)
        matrix = np.full((len(queries), len(documents)), np.inf)
        at = np.repeat(np.arange(len(queries)), np.diff(hits.starts))
        matrix[at, hits.rows] = hits.distances
        return matrix

    def refined(self, queries: Int64Array, documents: Int64Array) -> Float64Array:
        """Return the bound that ends our search's exclusions, of some queries and documents."""
        table = self.corpus.space.table.astype(np.float64)
        columns = [self.corpus.masses(self.corpus.rows, int(row)) for row in documents]
        matrix = np.empty((len(queries), len(documents)))
        for at, query in enumerate(queries):
            first = self.corpus.masses(self.asked, int(query))
            x = table[first[0]]
            for column, second in enumerate(columns):
                y = table[second[0]]
                squares = (x * x).sum(axis=1)[:, np.newaxis] + (y * y).sum(axis=1) - 2 * (x @ y.T)
                costs = np.sqrt(np.maximum(squares, 0))
                matrix[at, column] = refined_bound(costs, first, second)
        # The search comes from that one.
        return np.maximum(matrix, self.values("rwmd-document", queries, documents))


def most_asked(task: Task) -> int:
    """Return how many test documents to search for, and held-out ones to choose on, at most."""
    return 500 if task.dataset.startswith("20news") else 1000


def search_of(task: Task) -> Search:
    """Return the search of a split, made once."""

    def made() -> Search:
        train, test = sides(task)
        measure = TransportMeasure(mover_of(task)).fit(train.part.texts)
        corpus: Corpus = measure._corpus
        asked = measure._asked(some_of(test, most_asked(task)).part.texts)
        return Search(measure, corpus, asked)

    return task.memo("search", made)


def bounds_of(task: Task) -> dict[str, dict[str, Any]]:
    """Return tightness and curve of every bound, made once; and the curve of the distance."""
    return task.memo("bounds", lambda: _measured(task))


def _measured(task: Task) -> dict[str, dict[str, Any]]:
    search = search_of(task)
    corpus, asked = search.corpus, search.asked
    known = np.flatnonzero(~corpus.are_empty(corpus.rows))
    full = np.flatnonzero(~corpus.are_empty(asked))
    most = _QUICK_SAMPLE if task.quick else _SAMPLE
    rng = np.random.default_rng(0)
    queries = np.sort(rng.permutation(full)[: most[0]]).astype(np.int64)
    documents = np.sort(rng.permutation(known)[: most[1]]).astype(np.int64)
    lengths = np.diff(asked.indptr)[queries]  # a query that is neither short nor long
    one = queries[[int(np.argmin(np.abs(lengths - np.median(lengths))))]]
    found: dict[str, dict[str, Any]] = {"wmd": {}}
    everything = known.astype(np.int64)
    distances = search.values("brute", queries, documents)
    to_one = search.values("brute", one, everything)[0]
    found["wmd"]["curve"] = sorted_curve(to_one, to_one)
    for name in (*_BOUNDS, "refined"):
        if name == "refined":
            values = search.refined(queries, documents)
            of_one = search.refined(one, everything)[0]
        else:
            values = search.values(name, queries, documents)
            of_one = search.values(name, one, everything)[0]
        found[name] = {**tightness(distances, values), "curve": sorted_curve(to_one, of_one)}
    return found


def tightness(distances: Float64Array, bounds: Float64Array) -> dict[str, float]:
    """Return how much of the distance a bound is, over all pairs that differ.

    Raises
    ------
    ValueError
        If it is above the distance.
    """
    apart = distances > 0
    shares = bounds[apart] / distances[apart]
    if shares.max(initial=0.0) > 1 + _ABOVE or bounds[~apart].max(initial=0.0) > _ABOVE:
        raise ValueError(f"This is no lower bound: it is {shares.max():.9f} of a distance.")
    low, high = np.percentile(shares, [10, 90])
    return {
        "tightness": float(shares.mean()),
        "percentile_10": float(low),
        "percentile_90": float(high),
    }


def sorted_curve(distances: Float64Array, values: Float64Array) -> list[tuple[int, float]]:
    """Return means of values in the order of the distances: (rank, mean) of each bin."""
    order = np.argsort(distances, kind="stable")
    bins = np.array_split(order, min(_BINS, len(order)))
    ends = np.cumsum([len(one) for one in bins])
    return [
        (int(end), round(float(values[one].mean()), 4)) for end, one in zip(ends, bins, strict=True)
    ]


def refined_bound(costs: Float64Array, first: Document, second: Document) -> float:
    """Return the bound that our search refines to: common mass removed, potentials on both sides.

    Mass that two documents share stays where it is. On what remains, with masses a and b,
    u_i = min_j c_ij and v_j = min_i (c_ij - u_i) are feasible for the dual problem, so that
    sum_i a_i u_i + sum_j b_j v_j is a bound; so is the same with the sides exchanged.

    Parameters
    ----------
    costs : ndarray of shape (n, m)
        Between the words of both documents; a metric.
    first, second : tuple of ndarray
        Words, ascending, and their masses, which sum to one.

    Examples
    --------
    >>> places = np.array([0.0, 2.0, 3.0])               # words on a line
    >>> first = np.array([0, 1]), np.array([0.75, 0.25])
    >>> second = np.array([0, 2]), np.array([0.25, 0.75])
    >>> costs = np.abs(places[first[0]][:, None] - places[second[0]])
    >>> refined_bound(costs, first, second)              # relaxed 0.75; exact 1.75
    1.75
    """
    a, b = first[1].copy(), second[1].copy()
    _, in_first, in_second = np.intersect1d(
        first[0], second[0], assume_unique=True, return_indices=True
    )
    common = np.minimum(a[in_first], b[in_second])
    a[in_first] -= common
    b[in_second] -= common
    rows, columns = np.flatnonzero(a > 0), np.flatnonzero(b > 0)
    if not (len(rows) and len(columns)):
        return 0.0
    a, b, costs = a[rows], b[columns], costs[np.ix_(rows, columns)]
    return max(_dual_value(a, b, costs), _dual_value(b, a, costs.T))


def _dual_value(a: Float64Array, b: Float64Array, costs: Float64Array) -> float:
    u = costs.min(axis=1)
    v = (costs - u[:, np.newaxis]).min(axis=0)
    return float(a @ u + b @ v)
