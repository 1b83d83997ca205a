"""``pruning``: how tight lower bounds are, and what prefetch and prune gives (WMD Figures 5-7)."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from textkin._typing import Int64Array
from textkin.distance._near import NearRows
from textkin.evaluate._cells import Task
from textkin.evaluate._experiment import Experiment, Method
from textkin.evaluate.experiments._knn_finders import transported, weighed
from textkin.evaluate.experiments._knn_report import BASE
from textkin.evaluate.experiments._labelled import labelled_files
from textkin.evaluate.experiments._neighbours import (
    Finder,
    errors_by_k,
    neighbour_error,
    sides,
    some_of,
)
from textkin.evaluate.experiments._pruning_bounds import Search, bounds_of, most_asked, search_of
from textkin.evaluate.experiments._pruning_report import (
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
from textkin.learn._candidates import taken
from textkin.transport._corpus import Corpus, Hits, Options, Rows
from textkin.transport._neighbors import SearchStats

__all__ = ["EXPERIMENT"]

_TIMED = 100  # queries of those that are asked
_ENOUGH_SECONDS, _MOST_REPEATS = 1.0, 5  # quick searches are repeated
_WMD = {"masses": "nbow", "algorithm": "auto"}


def by_bound(task: Task, algorithm: str) -> dict[str, Any]:
    """Compute how tight a bound is; and error and time, if the search can rank by it alone."""
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
    """Compute the error of the exact distance, and its curve."""
    return {**bounds_of(task)["wmd"], **_exact(task)[0]}


def by_words(task: Task) -> dict[str, Any]:
    """Compute the error of counted words, which the paper compares with."""
    setting = {"idf": "one", "norm": None, "metric": "l2"}
    return _error(task, weighed, setting)


def _error(task: Task, find: Finder, setting: Mapping[str, Any]) -> dict[str, Any]:
    most = most_asked(task)
    return neighbour_error(task, find, [setting], most_asked=most, most_held=most)


def searched(task: Task, algorithm: str, factor: int | None = None) -> dict[str, Any]:
    """Search for test documents; time a part of them on one thread.

    Parameters
    ----------
    task : Task
        Of a labelled set.
    algorithm : str
        As for `WordMover`.
    factor : int, optional
        The cutoff m of "prefetch" in multiples of k; else all documents.

    Returns
    -------
    dict
        "k", that of the exact distance, "m", and "milliseconds" of processor time a query. But of
        brute force, which is only timed: "error" by the vote of k; "recall", the percent of the
        exact neighbours that are found; "solved", the percent of exact distances (or of bounds,
        where they rank alone).

    Raises
    ------
    ValueError
        If an exact search finds others than the pruned one.
    """
    search = search_of(task)
    chosen, exact = _exact(task)
    k, n = int(chosen["k"]), len(search.corpus)
    m = n if factor is None else min(factor * k, n)
    cutoff = m if algorithm == "prefetch" else None
    options = search.options(k, algorithm=algorithm, m=cutoff)
    total = len(search.asked)
    # Spread over all: files are often sorted by label.
    timed = np.unique(np.linspace(0, total - 1, min(_TIMED, total)).astype(np.int64))
    seconds, first = _timed(task, search, replace(options, threads=1), timed)
    found = {"k": k, "m": m, "milliseconds": 1000 * seconds / len(timed), "n_timed": len(timed)}
    if algorithm == "brute":  # all of them would take minutes, and find the same
        _compare(_near(first), _rows_of(exact, timed), k)
        return found
    others = np.setdiff1d(np.arange(total), timed)
    hits = Hits.joined([first, search.corpus.search(taken(search.asked, others), options)])
    near, order = _near(hits), np.concatenate([timed, others])
    right = _rows_of(exact, order)
    if algorithm == "auto" or cutoff == n:
        _compare(near, right, k)
    train, test = sides(task)
    labels = some_of(test, most_asked(task)).part.labels[order]
    return {
        **found,
        "solved": 100 * float(SearchStats.of(hits, n).solved.mean()) / n,
        "error": errors_by_k(near, train.part.labels, labels)[k],
        "recall": 100 * _recall(near, right, k),
    }


def _near(hits: Hits) -> NearRows:
    return NearRows(hits.starts, hits.rows, hits.distances)


def _rows_of(near: NearRows, rows: Int64Array) -> NearRows:
    return NearRows.of([near[int(row)] for row in rows])


def _timed(task: Task, search: Search, options: Options, rows: Int64Array) -> tuple[float, Hits]:
    """Return the processor time of a search, of several the median, and what it found."""
    queries = taken(search.asked, rows)
    times: list[float] = []
    while not times or (
        not task.quick and sum(times) < _ENOUGH_SECONDS and len(times) < _MOST_REPEATS
    ):
        corpus = _as_new(search.corpus, queries, options)
        start = time.process_time()
        found = corpus.search(queries, options)
        times.append(time.process_time() - start)
    return float(np.median(times)), found


def _as_new(corpus: Corpus, queries: Rows, options: Options) -> Corpus:
    """Return documents with what is made of them once, and nothing kept of queries.

    A search keeps costs of the words it was asked for: whoever asks the same again waits less.
    """
    new = replace(corpus)
    new.prepare(options.memory)
    new.search(queries, replace(options, algorithm="wcd", m=None))  # makes the centroids
    return new


def _exact(task: Task) -> tuple[dict[str, Any], NearRows]:
    """Return the error of the exact distance with its k, and the neighbours it found."""

    def made() -> tuple[dict[str, Any], NearRows]:
        found = _error(task, transported, _WMD)
        train, test = sides(task)
        some = some_of(test, most_asked(task))
        [(_, near)] = transported(task, train, some, [_WMD])  # kept just now
        return found, near

    return task.memo("exact", made)


def _compare(near: NearRows, exact: NearRows, k: int) -> None:
    for query, (rows, distances) in enumerate(near):
        right, far = exact[query]
        if not (np.array_equal(rows, right[:k]) and np.array_equal(distances, far[:k])):
            raise ValueError(f"Query {query} finds others than the exact search.")


def _recall(near: NearRows, exact: NearRows, k: int) -> float:
    """Return the share of the exact neighbours that were found."""
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
        "Training documents are searched for the neighbours of test documents, at most 1,000 of "
        "them (500 of 20news), drawn at random, of the first split; built-in GloVe vectors, "
        "words and masses as in `knn`. Tightness is bound / WMD, the mean over 25,000 random "
        "pairs. Errors: k is chosen as in `knn`, on as many held-out documents at most, for "
        "every ranking on its own; searches with a cutoff m use that of the exact WMD. Time is "
        f"that of the processor for {_TIMED} of the test documents on one thread, with nothing "
        "kept of queries before, and how many times less than that of computing all distances. A "
        "cell fails where a bound exceeds a distance, or an exact search finds other documents "
        "than another."
    ),
    datasets=["twitter", "recipe_substitute", "ohsumed23", "classic", "r8", "20news"],
    methods=_methods(),
    files=labelled_files,
    tables=tables,
    figures=figures,
    findings=findings,
)
