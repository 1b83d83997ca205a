"""Experiment ``pruning``: tightness of lower bounds, and prefetch and prune (WMD Figures 5-7)."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from papers.cells import Task
from papers.experiments.knn.report import BASE
from papers.experiments.pruning.bounds import Search, bounds_of, most_asked, plan, search_of
from papers.experiments.pruning.report import (
    AUTO,
    BRUTE,
    EXACT,
    FACTORS,
    RANKINGS,
    REFINED,
    figures,
    findings,
    prefetch_name,
    tables,
)
from papers.labeled_texts import labelled_files
from papers.neighbors import (
    Finder,
    errors_by_k,
    neighbour_error,
    sides,
    some_of,
    transported,
    weighed,
)
from papers.runner import Experiment, Method
from textkin._base import Int64Array
from textkin.corpus import DocumentRows, RankedRows
from textkin.transport import SearchOptions, SearchStats, TransportEngine

__all__ = ["EXPERIMENT"]

_TIMED = 100  # number of test queries that are timed
_ENOUGH_SECONDS, _MOST_REPEATS = 1.0, 5  # fast searches are repeated
_WMD = {"masses": "nbow", "algorithm": "auto"}


def by_bound(task: Task, algorithm: str) -> dict[str, Any]:
    """Compute the tightness of a bound; also error and time, if the search can rank by it."""
    tight = dict(bounds_of(task)[algorithm])
    if algorithm == "refined":
        return tight
    alone = searched(task, algorithm)
    setting = {"masses": "nbow", "algorithm": algorithm}
    return {
        **tight,
        **_error(task, transported, setting),
        **{name: alone[name] for name in ("recall", "milliseconds")},
    }


def by_distance(task: Task) -> dict[str, Any]:
    """Compute the error of the exact distance, and the curve of sorted distances."""
    return {**bounds_of(task)["wmd"], **_exact(task)[0]}


def by_words(task: Task) -> dict[str, Any]:
    """Compute the error of the paper's baseline, unweighted counts."""
    setting = {"idf": "one", "norm": None, "metric": "l2"}
    return _error(task, weighed, setting)


def _error(task: Task, find: Finder, setting: Mapping[str, Any]) -> dict[str, Any]:
    most = most_asked(task)
    return neighbour_error(task, find, [setting], most_asked=most, most_held=most)


def searched(task: Task, algorithm: str, factor: int | None = None) -> dict[str, Any]:
    """Search for the neighbors of test documents, and time some of the searches on one thread.

    Parameters
    ----------
    task : Task
        Task of a labeled set.
    algorithm : str
        Algorithm of `WordMover`.
    factor : int, optional
        Cutoff m of "prefetch" as a multiple of k. If None, all documents.

    Returns
    -------
    dict
        "k" chosen for the exact distance, "m", and "milliseconds" of CPU time per query. Except
        for brute force, which is only timed, also: "error" by the vote of k neighbors; "recall",
        the percentage of the exact neighbors that are found; "solved", the percentage of exact
        distances that are computed (of bounds, if they rank alone).

    Raises
    ------
    ValueError
        If an exact search finds other neighbors than the pruned search.
    """
    search = search_of(task)
    chosen, exact = _exact(task)
    k, n = int(chosen["k"]), len(search.corpus)
    m = n if factor is None else min(factor * k, n)
    cutoff = m if algorithm == "prefetch" else None
    options = search.options(k, **plan(algorithm), max_candidates=cutoff)
    total = len(search.asked)
    # Spread evenly, because files are often sorted by label.
    timed = np.unique(np.linspace(0, total - 1, min(_TIMED, total)).astype(np.int64))
    seconds, first = _timed(task, search, replace(options, threads=1), timed)
    found = {"k": k, "m": m, "milliseconds": 1000 * seconds / len(timed), "n_timed": len(timed)}
    if algorithm == "brute":  # for all queries it would take minutes and find the same neighbors
        _compare(first, _rows_of(exact, timed), k)
        return found
    others = np.setdiff1d(np.arange(total), timed)
    near = RankedRows.joined([first, search.corpus.search(search.asked.take(others), options)])
    order = np.concatenate([timed, others])
    right = _rows_of(exact, order)
    if algorithm == "auto" or cutoff == n:
        _compare(near, right, k)
    train, test = sides(task)
    labels = some_of(test, most_asked(task)).part.labels[order]
    return {
        **found,
        "solved": 100 * float(SearchStats.of(near, n).solved.mean()) / n,
        "error": errors_by_k(near, train.part.labels, labels)[k],
        "recall": 100 * _recall(near, right, k),
    }


def _rows_of(near: RankedRows, rows: Int64Array) -> RankedRows:
    return RankedRows.of([near[int(row)] for row in rows])


def _timed(
    task: Task, search: Search, options: SearchOptions, rows: Int64Array
) -> tuple[float, RankedRows]:
    """Return the median CPU time of repeated searches, and their result."""
    queries = search.asked.take(rows)
    times: list[float] = []
    while not times or (
        not task.quick and sum(times) < _ENOUGH_SECONDS and len(times) < _MOST_REPEATS
    ):
        corpus = _as_new(search.corpus, queries, options)
        start = time.process_time()
        found = corpus.search(queries, options)
        times.append(time.process_time() - start)
    return float(np.median(times)), found


def _as_new(
    corpus: TransportEngine, queries: DocumentRows, options: SearchOptions
) -> TransportEngine:
    """Return a copy with the precomputed data of the documents, but without data of queries.

    A search caches costs of the words of its queries, so repeating a query would be faster.
    """
    new = replace(corpus)
    new.prepare(options.memory)
    new.search(
        queries, replace(options, metric="wcd", max_candidates=None)
    )  # computes the centroids
    return new


def _exact(task: Task) -> tuple[dict[str, Any], RankedRows]:
    """Return the error of the exact distance with its k, and the neighbors."""

    def made() -> tuple[dict[str, Any], RankedRows]:
        found = _error(task, transported, _WMD)
        train, test = sides(task)
        some = some_of(test, most_asked(task))
        [(_, near)] = transported(task, train, some, [_WMD])  # stored by the line above
        return found, near

    return task.memo("exact", made)


def _compare(near: RankedRows, exact: RankedRows, k: int) -> None:
    for query, (rows, distances) in enumerate(near):
        right, far = exact[query]
        if not (np.array_equal(rows, right[:k]) and np.array_equal(distances, far[:k])):
            raise ValueError(f"Query {query} finds other documents than the exact search.")


def _recall(near: RankedRows, exact: RankedRows, k: int) -> float:
    """Return the share of the exact neighbors that were found."""
    wanted = [exact[query][0][:k] for query in range(len(near))]
    shared = sum(
        len(np.intersect1d(rows[:k], right)) for (rows, _), right in zip(near, wanted, strict=True)
    )
    return float(shared) / max(sum(map(len, wanted)), 1)


def _methods() -> dict[str, Method]:
    made = {name: Method(by_bound, {"algorithm": by}) for name, by in RANKINGS.items()}
    made[REFINED] = Method(by_bound, {"algorithm": "refined"})
    made[EXACT] = Method(by_distance)
    made[BASE] = Method(by_words)
    made[BRUTE] = Method(searched, {"algorithm": "brute"})
    for factor in (*FACTORS, None):
        made[prefetch_name(factor)] = Method(searched, {"algorithm": "prefetch", "factor": factor})
    made[AUTO] = Method(searched, {"algorithm": "auto"}, version=2)
    return made


EXPERIMENT = Experiment(
    name="pruning",
    title="Lower bounds, prefetch and prune",
    source=(
        'Kusner et al., "From Word Embeddings To Document Distances", ICML 2015, Figures 5 to 7.'
    ),
    protocol=(
        "For each test document, the training documents of the first split are searched for "
        "nearest neighbors. At most 1,000 random test documents are used (500 of 20news), with "
        "the built-in GloVe vectors and with words and word weights as in `knn`. Tightness is "
        "bound / WMD, the mean over 25,000 random pairs. Errors: k is chosen as in `knn`, on at "
        "most as many validation documents, separately for every ranking; searches with a cutoff "
        f"m use the k of the exact WMD. Time is CPU time for {_TIMED} of the test documents on one "
        "thread, without cached data of earlier queries; speed is relative to computing all "
        "distances. A cell fails if a bound exceeds a distance, or if two exact searches find "
        "different documents."
    ),
    datasets=["twitter", "recipe_substitute", "ohsumed23", "classic", "r8", "20news"],
    methods=_methods(),
    files=labelled_files,
    tables=tables,
    figures=figures,
    findings=findings,
)
