"""Queries that move by Rocchio's formula, and what the new ranking is worth."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from textkin._typing import Bags, Float64Array, Int64Array
from textkin.evaluate._cells import Task
from textkin.evaluate._significance import paired_randomisation
from textkin.evaluate.experiments._judged import Counted, counted, judged
from textkin.evaluate.experiments._rankings import precisions
from textkin.index import rocchio
from textkin.weighting import BM25, TfIdf

__all__ = ["Searcher", "feedback"]

SHOWN = 10
ROUNDS = 2
_NOTHING: Int64Array = np.array([], dtype=np.int64)

Weighted: TypeAlias = tuple[Float64Array, Bags]
"""Queries as dense rows, documents as sparse ones; scores are their inner products."""


def _bm25(some: Counted) -> Weighted:
    weigh = BM25().fit(some.documents)
    queries = weigh.transform_queries(some.queries)
    return queries.toarray().astype(np.float64), weigh.transform(some.documents)


def _tfidf(some: Counted) -> Weighted:
    weigh = TfIdf().fit(some.documents)
    queries = weigh.transform(some.queries)
    return queries.toarray().astype(np.float64), weigh.transform(some.documents)


_RANKINGS: dict[str, Callable[[Counted], Weighted]] = {"bm25": _bm25, "tfidf": _tfidf}


class Searcher:
    """The documents of a collection under one ranking, and how queries move.

    Parameters
    ----------
    documents : csr_array
        Weighted.
    beta : float
        What the mean of the relevant documents is multiplied by.
    n_terms : int or None
        How many words the new query keeps.
    as_scored : bool
        Whether documents enter the formula as they are scored, or with the length of the query.
    """

    def __init__(
        self, documents: Bags, beta: float = 0.75, n_terms: int | None = 50, as_scored: bool = False
    ) -> None:
        self.documents: Any = documents.astype(np.float64).tocsr()
        self.beta, self.n_terms, self.as_scored = beta, n_terms, as_scored

    def scores(self, query: Float64Array) -> Float64Array:
        """Score every document."""
        found: Float64Array = self.documents @ query
        return found

    def moved(
        self, query: Float64Array, right: Int64Array, wrong: Int64Array, gamma: float = 0.15
    ) -> Float64Array:
        """Move a query towards some documents and away from others."""
        rows = [self.documents[marked].toarray() for marked in (right, wrong)]
        if not self.as_scored:
            rows = [_as_long_as(query, each) for each in rows]
        return rocchio(query, *rows, beta=self.beta, gamma=gamma, n_terms=self.n_terms)

    def lists(self, query: Float64Array, relevant: Int64Array) -> dict[str, Float64Array]:
        """Return the scores before, after pseudo-feedback, and after marks.

        After marks twice: *frozen*, where documents that were shown keep the ranks that they had;
        and *residual*, where they are left out, and so they are before.
        """
        before = self.scores(query)
        best = best_of(before, SHOWN)
        found = {
            "before": before,
            "pseudo": self.scores(self.moved(query, best, _NOTHING, gamma=0.0)),
            "residual before": _without(before, best),
        }
        shown = _NOTHING
        for number in range(1, ROUNDS + 1):
            new = best_of(_without(self.scores(query), shown), SHOWN)
            shown = np.concatenate([shown, new])
            right = np.isin(new, relevant)
            query = self.moved(query, new[right], new[~right])
            after = self.scores(query)
            if number == 1:
                found["residual after"] = _without(after, shown)
            frozen = after.copy()
            frozen[shown] = after.max() + np.arange(len(shown), 0, -1)
            found[f"marked {number}"] = frozen
        return found


def best_of(scores: Float64Array, k: int) -> Int64Array:
    """Return the best documents, equal ones by position."""
    return np.argsort(-scores, kind="stable")[:k].astype(np.int64)


def _without(scores: Float64Array, rows: Int64Array) -> Float64Array:
    left = scores.copy()
    left[rows] = -np.inf
    return left


def _as_long_as(query: Float64Array, rows: Float64Array) -> Float64Array:
    """Bring documents to the length of a query, as an index does; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    found: Float64Array = np.linalg.norm(query) * rows / np.where(lengths > 0, lengths, 1)
    return found


def feedback(
    task: Task,
    ranking: str,
    beta: float = 0.75,
    n_terms: int | None = 50,
    as_scored: bool = False,
) -> dict[str, Any]:
    """Compute a cell: average precisions in percent, and how many queries rose and fell."""
    some = counted(task, "porter")
    queries, documents = task.memo(f"weighted {ranking}", lambda: _RANKINGS[ranking](some))
    searcher = Searcher(documents, beta, n_terms, as_scored)
    return measured(searcher, queries, judged(task).relevant)


def measured(
    searcher: Searcher, queries: Float64Array, relevant: list[Int64Array]
) -> dict[str, Any]:
    """Return means over queries.

    The residual ones are over queries of which a relevant document was not shown yet.
    """
    of: dict[str, list[float]] = {}
    for query, right in zip(queries, relevant, strict=True):
        lists = searcher.lists(query, right)
        left = np.setdiff1d(right, best_of(lists["before"], SHOWN))
        for name, scores in lists.items():
            wanted = left if name.startswith("residual") else right
            if len(wanted):
                of.setdefault(name, []).append(100 * precisions(scores, wanted)[0])
    found: dict[str, Any] = {name: float(np.mean(values)) for name, values in of.items()}
    found |= {"queries": len(queries), "residual queries": len(of.get("residual before", ()))}
    for name, first in (
        ("pseudo", "before"),
        *((f"marked {number}", "before") for number in range(1, ROUNDS + 1)),
        ("residual after", "residual before"),
    ):
        if name in of:
            change = np.array(of[name]) - np.array(of[first])
            found[f"{name}: better"] = int((change > 1e-9).sum())
            found[f"{name}: worse"] = int((change < -1e-9).sum())
            if len(change) > 1:
                found[f"{name}: p"] = paired_randomisation(of[name], of[first]).p_value
    return found
