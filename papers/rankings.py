"""Quality of rankings of judged queries, with settings chosen on other queries."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from papers.judged_collections import Judged
from textkin._base import Float64Array, Int64Array
from textkin.evaluate import average_precision, ndcg_at_k, precision_at_k

__all__ = [
    "CUT",
    "Scores",
    "Settings",
    "candidates",
    "crossed",
    "interpolated",
    "measured",
    "precisions",
    "spread",
]

CUT = 1000
"""Rank at which rankings are cut."""

Scores: TypeAlias = Any
"""Array of shape (n_queries, n_documents). Larger is better; -inf excludes a document."""

Settings: TypeAlias = Mapping[str, Callable[[], Scores]]
"""Functions that compute scores, by the name of the setting."""

_LEVELS = np.arange(1, 10) / 10


# ------------------------------------------------------------------ choice of settings


def measured(collection: Judged, settings: Settings) -> dict[str, Any]:
    """Measure each query with the best setting for the queries that choose for it.

    Returns
    -------
    dict
        "map", "p20", and "ndcg10" in percent; "queries", their number; "by_query", the average
        precision of each query; and "chosen", the setting of each round.
    """
    by_setting = {
        name: _of_queries(make(), collection.relevant)[:, 0] for name, make in settings.items()
    }
    run: dict[str, Sequence[str]] = {}
    chosen = []
    for choose, measure in collection.rounds:
        best = _best(by_setting, choose)
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


def crossed(settings: Iterable[tuple[str, Scores]], collection: Judged) -> dict[str, Any]:
    """Measure Hofmann's two precisions with settings chosen on other queries.

    Only one array of scores is in memory at a time.

    Parameters
    ----------
    settings : iterable of (str, ndarray of shape (n_queries, n_documents))
        Names of settings, with their scores.
    collection : Judged
        Queries and relevance judgments.

    Returns
    -------
    dict
        ``average_precision`` and ``interpolated`` in percent, see `precisions`; ``of_queries``,
        the average precision of each query. With several settings also ``settings``, their number,
        and ``chosen``, the chosen settings in the order of the first queries measured with them.
    """
    tried = {name: _of_queries(scores, collection.relevant) for name, scores in settings}
    averages = {name: numbers[:, 0] for name, numbers in tried.items()}
    rows = np.full((len(collection.queries), 2), np.nan)
    chosen = []
    for choose, measure in sorted(collection.rounds, key=lambda each: each.measure[:1].tolist()):
        best = _best(averages, choose)
        rows[measure] = tried[best][measure]
        chosen.append(best)
    rows = rows[~np.isnan(rows[:, 0])]
    average, at_levels = 100 * rows.mean(axis=0)
    found: dict[str, Any] = {
        "average_precision": float(average),
        "interpolated": float(at_levels),
        "of_queries": [round(100 * value, 4) for value in rows[:, 0].tolist()],
    }
    if len(tried) > 1:
        found |= {"settings": len(tried), "chosen": chosen}
    return found


def _best(averages: Mapping[str, Float64Array], rows: Int64Array) -> str:
    """Return the setting with the largest mean; the first on ties and without choosing queries."""
    return max(averages, key=lambda name: averages[name][rows].mean() if len(rows) else 0.0)


def _ranked(scores: Any, ids: Sequence[str]) -> list[str]:  # noqa: ANN401 (an array)
    order = np.argsort(-scores, kind="stable")[:CUT]
    return [ids[row] for row in order if scores[row] > -np.inf]


# ------------------------------------------------------------------ precision


def precisions(scores: Any, relevant: Int64Array) -> tuple[float, float]:  # noqa: ANN401 (an array)
    """Return the average precision of a query, and its precision interpolated at recall 10..90 %.

    The first covers all relevant documents, cut at rank 1000. The second is the mean over nine
    levels of recall of the best precision at that recall or above. The results equal
    `average_precision` and `interpolated_precision`, but need only the ranks of the relevant
    documents, because choices compare hundreds of rankings. Ties rank by position. Documents with
    score -inf are not ranked.

    Examples
    --------
    >>> average, at_levels = precisions(np.array([5.0, 4.0, 3.0, 2.0]), np.array([0, 2]))
    >>> round(average, 7), round(at_levels, 7)
    (0.8333333, 0.8518519)
    """
    places = relevant[scores[relevant] > -np.inf]
    before = [
        np.count_nonzero(scores > score) + np.count_nonzero(scores[:place] == score)
        for score, place in zip(scores[places], places, strict=True)
    ]
    ranks = np.sort(before) + 1.0
    of_hits = np.arange(1, len(ranks) + 1) / ranks
    average = of_hits[ranks <= CUT].sum() / len(relevant)
    best_from = np.append(np.maximum.accumulate(of_hits[::-1])[::-1], 0.0)
    # 0.1 * 30 is slightly above 3 in floating point, and must not require a fourth document.
    needed = np.ceil(_LEVELS * len(relevant) - 1e-9).astype(np.int64)
    return float(average), float(best_from[np.minimum(needed, len(ranks) + 1) - 1].mean())


def _of_queries(scores: Scores, relevant: Sequence[Int64Array]) -> Float64Array:
    """Return both precisions of each query, one row per query."""
    both = [precisions(*each) for each in zip(scores, relevant, strict=True)]
    return np.array(both, dtype=np.float64).reshape(-1, 2)


# ------------------------------------------------------------------ combination of two scores


def candidates(scores: Scores, n: int) -> Any:  # noqa: ANN401 (booleans)
    """Return a mask of the n best documents of each query, without documents of score -inf.

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
    """Scale scores to 0..1 over the candidates of each query (METHODS 18).

    Documents without a score get 0. If all scores are equal, they become 0.

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
    """Return a function of lambda: lambda * words + (1 - lambda) * model, both scaled to 0..1.

    This is equation 13 of Zhang et al. over the `CUT` best documents of either score. A document
    without one of the scores gets 0 for it.

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
