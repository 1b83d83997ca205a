"""Judged collections of a data folder, ``retrieval/NAME/``, and how well scores rank them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from textkin._typing import Bags, Float64Array
from textkin.evaluate._cells import Task
from textkin.evaluate._collections import read_retrieval
from textkin.text import BagOfWords, Stemmer

__all__ = ["Collection", "Scores", "collection", "collection_files", "crossed", "precisions"]

CUT = 1000
_LEVELS = np.arange(1, 10) / 10
_QUICK = {"queries": 12, "documents": 200}

Scores: TypeAlias = Float64Array
"""Of every query (row) and document (column); the larger, the better."""


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents and judged queries as counts over the words of the documents.

    Attributes
    ----------
    documents, queries : csr_array
        Counts.
    relevant : list of frozenset of int
        For each query, the rows of its relevant documents.
    """

    documents: Bags
    queries: Bags
    relevant: list[frozenset[int]]

    @property
    def sides(self) -> tuple[Bags, Bags]:
        """Queries and documents."""
        return self.queries, self.documents


def collection_files(dataset: str) -> list[str]:
    """Return the files of a judged collection."""
    return [f"retrieval/{dataset}/{name}" for name in ("docs.jsonl.gz", "queries.jsonl.gz")] + [
        f"retrieval/{dataset}/qrels.tsv.gz"
    ]


def collection(task: Task) -> Collection:
    """Return the collection of a task: Porter's stems, without SMART stop words.

    Only queries with a relevant document; when quick, a dozen of them and few other documents
    than theirs.
    """
    return task.memo("collection", lambda: _read(task), "dataset")


def _read(task: Task) -> Collection:
    data = read_retrieval(task.file(collection_files(task.dataset)[0]).parent)
    judged, texts = data.judged, data.documents
    places = {name: at for at, name in enumerate(data.ids)}
    relevant = [
        {places[name] for name, grade in data.qrels[query].items() if grade > 0} for query in judged
    ]
    if task.quick:
        judged, relevant = judged[: _QUICK["queries"]], relevant[: _QUICK["queries"]]
        first = range(min(len(texts), _QUICK["documents"]))
        kept = sorted(set(first).union(*relevant))
        texts = [texts[at] for at in kept]
        moved = {at: new for new, at in enumerate(kept)}
        relevant = [{moved[at] for at in rows} for rows in relevant]
    counter = BagOfWords(stop_words="smart", normalize=Stemmer("porter"), n_jobs=task.n_jobs)
    documents = counter.fit_transform(texts)
    queries = counter.transform([data.queries[query] for query in judged])
    return Collection(documents, queries, list(map(frozenset, relevant)))


def precisions(scores: Float64Array, relevant: frozenset[int]) -> tuple[float, float]:
    """Return the average precision of a query, and that interpolated at recall 10 % to 90 %.

    The first is over all relevant documents, cut at rank 1000, the second the mean over the nine
    levels of the best precision at that recall or beyond: `average_precision` and
    `interpolated_precision` for the hundreds of rankings that a choice looks at. Equal scores
    rank by position; documents with the score -inf are not ranked.
    """
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > -np.inf]
    hits = np.isin(order, list(relevant))
    found = np.cumsum(hits)
    precision = found / np.arange(1, len(hits) + 1)
    average = float((precision * hits)[:CUT].sum() / len(relevant))
    best_from = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    reached = np.searchsorted(found, np.ceil(_LEVELS * len(relevant) - 1e-9))
    return average, float(best_from[reached].mean())


def crossed(
    settings: Iterable[tuple[str, Scores]], relevant: Sequence[frozenset[int]]
) -> dict[str, Any]:
    """Return mean precisions in percent, where no query has a part in its own setting.

    The setting with the best average precision on half of the queries, every other one, is used
    for the other half, and the other way round.

    Parameters
    ----------
    settings : iterable of (str, ndarray of shape (n_queries, n_documents))
        Names of settings, with the scores that they give.
    relevant : sequence of frozenset of int
        The relevant documents of each query.

    Returns
    -------
    dict
        ``average_precision``, ``interpolated``, the ``chosen`` settings (for queries 0, 2, ... and
        1, 3, ...), how many were tried, and the average precision ``of_queries``.
    """
    of_queries = {name: np.array(list(map(precisions, s, relevant))) for name, s in settings}
    halves = np.arange(len(relevant)) % 2
    rows, chosen = np.empty((len(halves), 2)), []
    for half in (0, 1):
        best = _best(of_queries, halves != half)
        rows[halves == half] = of_queries[best][halves == half]
        chosen.append(best)
    average, interpolated = 100 * rows.mean(axis=0)
    found: dict[str, Any] = {
        "average_precision": float(average),
        "interpolated": float(interpolated),
        "of_queries": [round(100 * value, 4) for value in rows[:, 0].tolist()],
    }
    if len(of_queries) > 1:
        found |= {"settings": len(of_queries), "chosen": chosen}
    return found


def _best(of_queries: Mapping[str, Any], rows: Any) -> str:  # noqa: ANN401 (arrays)
    if not rows.any():  # one query alone: the first setting
        return next(iter(of_queries))
    return max(of_queries, key=lambda name: of_queries[name][rows, 0].mean())
