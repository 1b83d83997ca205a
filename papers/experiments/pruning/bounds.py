"""Lower bounds of the Word Mover's Distance, and their tightness."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from papers.cells import Task
from papers.neighbors import mover_of, sides, some_of
from textkin._base import Float64Array, Int32Array, Int64Array
from textkin.corpus import DocumentRows
from textkin.learn import TransportMeasure
from textkin.transport import SearchOptions, TransportEngine

__all__ = [
    "Search",
    "bounds_of",
    "most_asked",
    "plan",
    "refined_bound",
    "search_of",
    "sorted_curve",
    "tightness",
]

_SAMPLE, _QUICK_SAMPLE = (50, 500), (4, 20)  # numbers of queries and documents
_BINS = 20  # number of points of the curve of sorted distances
_ABOVE = 1e-6  # tolerance for bounds above the distance, because costs are float32
_BOUNDS = ("wcd", "rwmd-query", "rwmd-document", "rwmd")

Document = tuple[Int32Array, Float64Array]
"""Word IDs in ascending order, and word weights, which sum to one."""


@dataclass(frozen=True)
class Search:
    """Index of the training documents, with the test documents as queries."""

    measure: TransportMeasure
    corpus: TransportEngine
    asked: DocumentRows

    def options(self, k: int | None, **others: Any) -> SearchOptions:  # noqa: ANN401
        """Return search options with the given metric, algorithm, or cutoff."""
        found: SearchOptions = self.measure.mover.search_options(k)
        return replace(found, **others)

    def values(self, algorithm: str, queries: Int64Array, documents: Int64Array) -> Float64Array:
        """Return the matrix of distances or bounds between some queries and documents."""
        some = self.corpus.among(documents)
        options = self.options(None, **plan(algorithm))
        hits = some.search(self.asked.take(queries), options)
        matrix = np.full((len(queries), len(documents)), np.inf)
        at = np.repeat(np.arange(len(queries)), np.diff(hits.indptr))
        matrix[at, hits.rows] = hits.scores
        return matrix

    def refined(self, queries: Int64Array, documents: Int64Array) -> Float64Array:
        """Return the matrix of refined bounds, the last bound that our search prunes by."""
        table = self.corpus.table.vectors.astype(np.float64)
        columns = [self.corpus.rows.word_shares(int(row)) for row in documents]
        matrix = np.empty((len(queries), len(documents)))
        for at, query in enumerate(queries):
            first = self.asked.word_shares(int(query))
            x = table[first[0]]
            for column, second in enumerate(columns):
                y = table[second[0]]
                squares = (x * x).sum(axis=1)[:, np.newaxis] + (y * y).sum(axis=1) - 2 * (x @ y.T)
                costs = np.sqrt(np.maximum(squares, 0))
                matrix[at, column] = refined_bound(costs, first, second)
        # In the search, the refined bound is never below the document side of RWMD.
        return np.maximum(matrix, self.values("rwmd-document", queries, documents))


def plan(algorithm: str) -> dict[str, str]:
    """Return the search options of an algorithm name in results; a bound is a metric."""
    return {"metric" if algorithm in _BOUNDS else "algorithm": algorithm}


def most_asked(task: Task) -> int:
    """Return the maximum number of test documents, and of validation documents."""
    return 500 if task.dataset.startswith("20news") else 1000


def search_of(task: Task) -> Search:
    """Return the search of a split; it is built once."""

    def made() -> Search:
        train, test = sides(task)
        measure = TransportMeasure(mover_of(task)).fit(train.part.texts)
        asked = measure.read_queries(some_of(test, most_asked(task)).part.texts)
        return Search(measure, measure.engine, asked)

    return task.memo("search", made)


def bounds_of(task: Task) -> dict[str, dict[str, Any]]:
    """Return tightness and curve of every bound, and the curve of the distance."""
    return task.memo("bounds", lambda: _measured(task))


def _measured(task: Task) -> dict[str, dict[str, Any]]:
    search = search_of(task)
    corpus, asked = search.corpus, search.asked
    known = np.flatnonzero(~corpus.rows.are_empty())
    full = np.flatnonzero(~asked.are_empty())
    most = _QUICK_SAMPLE if task.quick else _SAMPLE
    rng = np.random.default_rng(0)
    queries = np.sort(rng.permutation(full)[: most[0]]).astype(np.int64)
    documents = np.sort(rng.permutation(known)[: most[1]]).astype(np.int64)
    lengths = np.diff(asked.indptr)[queries]  # `one` is a query of median length
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
    """Return the mean ratio of bound to distance, and its 10th and 90th percentiles.

    Pairs with distance 0 are excluded.

    Raises
    ------
    ValueError
        If the bound exceeds the distance.
    """
    apart = distances > 0
    shares = bounds[apart] / distances[apart]
    if shares.max(initial=0.0) > 1 + _ABOVE or bounds[~apart].max(initial=0.0) > _ABOVE:
        raise ValueError(
            "The values are not a lower bound: the largest is "
            f"{shares.max():.9f} times the distance."
        )
    low, high = np.percentile(shares, [10, 90])
    return {
        "tightness": float(shares.mean()),
        "percentile_10": float(low),
        "percentile_90": float(high),
    }


def sorted_curve(distances: Float64Array, values: Float64Array) -> list[tuple[int, float]]:
    """Return points (rank, mean value) of values sorted by distance, one for each bin."""
    order = np.argsort(distances, kind="stable")
    bins = np.array_split(order, min(_BINS, len(order)))
    ends = np.cumsum([len(one) for one in bins])
    return [
        (int(end), round(float(values[one].mean()), 4)) for end, one in zip(ends, bins, strict=True)
    ]


def refined_bound(costs: Float64Array, first: Document, second: Document) -> float:
    """Return the refined bound: shared weight removed, then one step of dual ascent.

    Weight that two documents share stays in place. For the remaining weights a and b,
    u_i = min_j c_ij and v_j = min_i (c_ij - u_i) are feasible for the dual problem, so that
    sum_i a_i u_i + sum_j b_j v_j is a lower bound. The same holds with the sides swapped; the
    function returns the larger bound.

    Parameters
    ----------
    costs : ndarray of shape (n, m)
        Distances between the words of both documents, from a metric.
    first, second : tuple of ndarray
        Word IDs in ascending order, and word weights, which sum to one.

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
