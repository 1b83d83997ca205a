"""Judged queries of a data folder, and rankings whose settings other queries choose.

A set is ``retrieval/NAME/`` with documents, queries and judgements, see `read_retrieval`. Where
queries have the parts "train" and "test", the first choose and the second are measured; otherwise
each half of the queries chooses for the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.evaluate._cells import Task
from textkin.evaluate._collections import RetrievalData, read_retrieval
from textkin.evaluate._retrieval import average_precision, ndcg_at_k, precision_at_k

__all__ = [
    "CUT",
    "Judged",
    "Scores",
    "Settings",
    "average_precisions",
    "candidates",
    "interpolated",
    "judged",
    "judged_files",
    "measured",
    "spread",
]

CUT = 1000
"""Only the first thousand documents of a ranking count."""

Scores: TypeAlias = Any
"""An array (queries, documents); the larger the better, -inf is no answer."""

Settings: TypeAlias = Mapping[str, Callable[[], Scores]]
"""By the name of a setting, what makes the scores."""

_QUICK_QUERIES, _QUICK_DOCUMENTS = 16, 150


@dataclass(frozen=True, eq=False)
class Judged:
    """Documents and the queries that have a relevant one.

    Attributes
    ----------
    data : RetrievalData
        All of it.
    queries : list of str
        Names of the judged queries: rows of scores.
    relevant : list of ndarray
        The positions of the relevant documents of each.
    rounds : list of (ndarray, ndarray)
        Rows of the queries that choose, and of those that are measured with what these chose.
    """

    data: RetrievalData
    queries: list[str]
    relevant: list[Int64Array]
    rounds: list[tuple[Int64Array, Int64Array]]

    @classmethod
    def of(cls, data: RetrievalData) -> "Judged":
        """Find the relevant documents, and who chooses for whom."""
        places = {name: at for at, name in enumerate(data.ids)}
        queries = data.judged
        relevant = [
            np.array(sorted(places[d] for d, grade in data.qrels[query].items() if grade > 0))
            for query in queries
        ]
        rows = np.arange(len(relevant))
        if {"train", "test"} <= data.splits.keys():
            parts = [set(data.splits[name]) for name in ("train", "test")]
            choose, measure = (
                np.array([row for row in rows if queries[row] in part], dtype=np.int64)
                for part in parts
            )
            return cls(data, queries, relevant, [(choose, measure)])
        halves = rows[0::2], rows[1::2]
        return cls(data, queries, relevant, [halves, halves[::-1]])

    @property
    def texts(self) -> list[str]:
        """The texts of the judged queries."""
        return [self.data.queries[query] for query in self.queries]


def judged_files(dataset: str) -> list[str]:
    """Return the files of a judged set."""
    return [
        f"retrieval/{dataset}/{name}"
        for name in ("docs.jsonl.gz", "queries.jsonl.gz", "qrels.tsv.gz")
    ]


def judged(task: Task) -> Judged:
    """Return the set of a task; when quick, a few queries and a few hundred documents."""

    def read() -> Judged:
        data = read_retrieval(task.file(judged_files(task.dataset)[0]).parent)
        return Judged.of(_few(data) if task.quick else data)

    return task.memo("judged", read, "dataset")


def _few(data: RetrievalData) -> RetrievalData:
    """Return every so many of the queries, with what is relevant to them and the first others."""
    asked = data.judged[:: max(len(data.judged) // _QUICK_QUERIES, 1)]
    needed = {document for query in asked for document in data.qrels[query]}
    rows = [row for row, name in enumerate(data.ids) if row < _QUICK_DOCUMENTS or name in needed]
    return RetrievalData(
        [data.ids[row] for row in rows],
        [data.titles[row] for row in rows],
        [data.texts[row] for row in rows],
        {query: data.queries[query] for query in asked},
        {query: data.qrels[query] for query in asked},
        {
            part: tuple(query for query in names if query in asked)
            for part, names in data.splits.items()
        },
    )


def measured(collection: Judged, settings: Settings) -> dict[str, Any]:
    """Measure the queries, each with the setting that is best for queries which choose for it.

    Returns
    -------
    dict
        "map", "p20" and "ndcg10" in percent, "queries", the average precision of each under
        "by_query", and what was "chosen" in each round.
    """
    by_setting = {
        name: average_precisions(make(), collection.relevant) for name, make in settings.items()
    }
    run: dict[str, Sequence[str]] = {}
    chosen = []
    for choose, measure in collection.rounds:
        best = max(by_setting, key=lambda name: _mean(by_setting[name][choose]))
        chosen.append(best)
        scores = settings[best]()
        for row in measure:
            run[collection.queries[row]] = _ranked(scores[row], collection.data.ids)
    qrels = {query: collection.data.qrels[query] for query in run}
    precisions = average_precision(qrels, run, k=CUT)
    return {
        "map": 100 * precisions.mean,
        "p20": 100 * precision_at_k(qrels, run, 20).mean,
        "ndcg10": 100 * ndcg_at_k(qrels, run, 10).mean,
        "queries": len(run),
        "chosen": chosen,
        "by_query": {query: round(100 * ap, 4) for query, ap in precisions.values.items()},
    }


def average_precisions(scores: Scores, relevant: Sequence[Int64Array]) -> Float64Array:
    """Return the average precision of each query, as `average_precision` does, from ranks alone.

    Settings are chosen by it: it needs no ranking of all documents. Equal scores rank by position.

    Examples
    --------
    >>> average_precisions(np.array([[5.0, 4.0, 3.0, 2.0]]), [np.array([0, 2])]).round(7).tolist()
    [0.8333333]
    """
    found = np.zeros(len(relevant))
    for row, (own, right) in enumerate(zip(scores, relevant, strict=True)):
        theirs = own[right]
        theirs, places = theirs[theirs > -np.inf], right[theirs > -np.inf]
        before = [
            np.count_nonzero(own > score) + np.count_nonzero(own[:place] == score)
            for score, place in zip(theirs, places, strict=True)
        ]
        ranks = np.sort(before) + 1.0
        hits = np.arange(1, len(ranks) + 1)[ranks <= CUT]
        found[row] = (hits / ranks[ranks <= CUT]).sum() / len(right)
    return found


def candidates(scores: Scores, n: int) -> Any:  # noqa: ANN401 (booleans)
    """Return which documents are among the n best of their query; others than -inf only.

    Examples
    --------
    >>> candidates(np.array([[1.0, 3.0, 2.0, -np.inf]]), 2).tolist()
    [[False, True, True, False]]
    """
    chosen = np.zeros(scores.shape, dtype=bool)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    np.put_along_axis(chosen, order, True, axis=1)
    return chosen & (scores > -np.inf)


def spread(scores: Scores, among: Any) -> Scores:  # noqa: ANN401 (booleans)
    """Bring scores to 0 to 1 over the candidates of each query (METHODS 18).

    0 for all where they are equal, and for a document that has none.

    Examples
    --------
    >>> spread(np.array([[10.0, 6.0, 2.0, 99.0]]), np.array([[True, True, True, False]])).tolist()
    [[1.0, 0.5, 0.0, 0.0]]
    """
    there = among & (scores > -np.inf)
    low = np.min(np.where(there, scores, np.inf), axis=1, keepdims=True)
    high = np.max(np.where(there, scores, -np.inf), axis=1, keepdims=True)
    width = np.where(high > low, high - low, 1.0)
    return np.where(there, (np.where(there, scores, 0.0) - np.where(there, low, 0.0)) / width, 0.0)


def interpolated(words: Scores, model: Scores) -> Callable[[float], Scores]:
    """Return a function of lambda: lambda * words + (1 - lambda) * model, both from 0 to 1.

    Zhang et al., equation 13, over the `CUT` best of either; a document that one of them has no
    score for gets 0 from it.

    Examples
    --------
    >>> mixed = interpolated(np.array([[10.0, 6.0, 2.0]]), np.array([[0.2, 0.8, 0.4]]))
    >>> mixed(0.8).round(7).tolist()
    [[0.8, 0.6, 0.0666667]]
    """
    among = candidates(words, CUT) | candidates(model, CUT)
    first, second = spread(words, among), spread(model, among)

    def mixed(weight: float) -> Scores:
        return np.where(among, weight * first + (1 - weight) * second, -np.inf)

    return mixed


def _ranked(scores: Any, ids: Sequence[str]) -> list[str]:  # noqa: ANN401 (an array)
    order = np.argsort(-scores, kind="stable")[:CUT]
    return [ids[row] for row in order if scores[row] > -np.inf]


def _mean(values: Float64Array) -> float:
    return float(values.mean()) if len(values) else 0.0
