"""Retrieval measures: MAP, precision and recall at k, reciprocal rank, and nDCG."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from textkin._base import Float64Array, TableResult, integer, one_of, real
from textkin.evaluate._runs import Qrels, Run, Ties, check_run, checked_qrels, ranking
from textkin.exceptions import ParameterError

__all__ = [
    "QueryScores",
    "WithoutRelevant",
    "average_precision",
    "interpolated_precision",
    "ndcg_at_k",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
]

WithoutRelevant: TypeAlias = Literal["exclude", "zero"]
"""Treatment of judged queries without a relevant document."""

_LEVELS = tuple(step / 10 for step in range(1, 10))


@dataclass(frozen=True, slots=True, repr=False)
class QueryScores(TableResult):
    """Value of a retrieval measure for each query, with the mean.

    Attributes
    ----------
    measure : str
        Name of the measure, such as "AP@1000".
    values : dict of str to float
        Value of each query with a relevant document, in the order of the judgments. Queries
        without an answer in the run have the value 0.
    left_out : tuple of str
        Judged queries without a relevant document, which have no value.
    unjudged : tuple of str
        Queries of the run without judgments.
    mean : float
        Mean of the values: MAP for average precision, MRR for reciprocal ranks.
    """

    measure: str
    values: dict[str, float]
    left_out: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """Mean of the measure over all queries."""
        return math.fsum(self.values.values()) / len(self.values)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict per query with its ID and the value of the measure."""
        return [{"query": query, self.measure: value} for query, value in self.values.items()]

    def __array__(
        self, dtype: np.dtype[np.float64] | None = None, copy: bool | None = None
    ) -> Float64Array:
        """Return the values of all queries as an array, for significance tests."""
        return np.array(list(self.values.values()), dtype=dtype or np.float64)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        left = f", {len(self.left_out)} left out" if self.left_out else ""
        left += f", {len(self.unjudged)} unjudged" if self.unjudged else ""
        queries = "1 query" if len(self) == 1 else f"{len(self)} queries"
        return f"QueryScores({self.measure}: mean {self.mean:.4f} of {queries}{left})"


@dataclass(frozen=True, slots=True)
class _Judged:
    """Relevance grades of the ranked documents of a query, and of all its judged documents."""

    grades: list[float]
    ideal: list[float]
    level: float

    @property
    def hits(self) -> list[bool]:
        """True for each ranked document that is relevant; unjudged documents are not."""
        return [grade >= self.level for grade in self.grades]

    @property
    def relevant(self) -> int:
        """Number of relevant documents of the query, ranked or not."""
        return sum(grade >= self.level for grade in self.ideal)


def average_precision(
    qrels: Qrels,
    run: Run,
    *,
    k: int = 1000,
    level: float = 1,
    ties: Ties = "descending",
    without_relevant: WithoutRelevant = "exclude",
) -> QueryScores:
    r"""Compute the average precision of each query; the mean is MAP.

    Parameters
    ----------
    qrels : mapping of str to mapping of str to number
        Grades of the judged documents by query: ``{"q1": {"d7": 1, "d9": 0}}``. Unjudged
        documents are not relevant.
    run : mapping of str to (mapping of str to number, or sequence of str)
        Answer to each query: scores by document (higher is better), or documents in order.
    k : int, default=1000
        Number of documents to use, from the first.
    level : float, default=1
        Lowest grade of a relevant document.
    ties : {"descending", "ascending"}, default="descending"
        Order of documents with equal scores by ID: "descending", as in trec_eval, or "ascending".
        IDs are strings: "9" is larger than "10".
    without_relevant : {"exclude", "zero"}, default="exclude"
        Treatment of judged queries without a relevant document: exclude them from the mean, as
        trec_eval does, or count them with the value 0.

    Returns
    -------
    QueryScores
        Value of each query with a relevant document; 0 for a query without an answer in the run
        (as ``trec_eval -c``; without ``-c``, trec_eval excludes such queries).

    Raises
    ------
    TypeError, ValueError
        If `qrels` or `run` have another form, a score is NaN, a document occurs twice, or no
        query has a relevant document.

    Notes
    -----
    :math:`\frac{1}{R} \sum_{r \le k,\ \text{relevant}} P@r` over the ranks r of relevant
    documents, where R is the number of all relevant documents, found or not. Equal to
    ``map_cut_k`` of trec_eval, which stores scores in single precision and can see ties between
    scores that differ in double precision. To get its results to the last digit, round the scores
    (``numpy.float32``).

    References
    ----------
    Buckley and Voorhees, "Retrieval System Evaluation", in: TREC, MIT Press 2005.

    Examples
    --------
    >>> from textkin.evaluate import average_precision
    >>> qrels = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 2}}
    >>> found = average_precision(qrels, {"q1": ["a", "c", "b"], "q2": {"a": 0.1, "b": 0.4}})
    >>> found
    QueryScores(AP@1000: mean 0.6667 of 2 queries)
    >>> found.values
    {'q1': 0.8333333333333333, 'q2': 0.5}
    """
    integer(low=1).check("k", k)

    def value(judged: _Judged) -> float:
        hits = np.array(judged.hits[:k], dtype=np.float64)
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        return float(precision @ hits) / judged.relevant

    return _scores(f"AP@{k}", value, qrels, run, level, ties, without_relevant)


def precision_at_k(
    qrels: Qrels,
    run: Run,
    k: int,
    *,
    level: float = 1,
    ties: Ties = "descending",
    without_relevant: WithoutRelevant = "exclude",
) -> QueryScores:
    """Compute for each query the fraction of relevant documents among the first k.

    Parameters
    ----------
    qrels, run, level, ties, without_relevant
        See `average_precision`.
    k : int
        Number of documents, and the divisor. In a shorter answer, missing documents are not
        relevant.

    Returns
    -------
    QueryScores
        Value of each query with a relevant document.

    Examples
    --------
    >>> from textkin.evaluate import precision_at_k
    >>> precision_at_k({"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, 20).mean
    0.1
    """
    integer(low=1).check("k", k)
    return _scores(
        f"P@{k}", lambda judged: sum(judged.hits[:k]) / k, qrels, run, level, ties, without_relevant
    )


def recall_at_k(
    qrels: Qrels,
    run: Run,
    k: int,
    *,
    level: float = 1,
    ties: Ties = "descending",
    without_relevant: WithoutRelevant = "exclude",
) -> QueryScores:
    """Compute for each query the fraction of its relevant documents among the first k.

    Parameters
    ----------
    qrels, run, level, ties, without_relevant
        See `average_precision`.
    k : int
        Number of documents to use, from the first.

    Returns
    -------
    QueryScores
        Value of each query with a relevant document.

    Examples
    --------
    >>> from textkin.evaluate import recall_at_k
    >>> recall_at_k({"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, 2).mean
    0.5
    """
    integer(low=1).check("k", k)
    return _scores(
        f"R@{k}",
        lambda judged: sum(judged.hits[:k]) / judged.relevant,
        qrels,
        run,
        level,
        ties,
        without_relevant,
    )


def reciprocal_rank(
    qrels: Qrels,
    run: Run,
    *,
    k: int | None = None,
    level: float = 1,
    ties: Ties = "descending",
    without_relevant: WithoutRelevant = "exclude",
) -> QueryScores:
    """Compute 1 / rank of the first relevant document of each query; the mean is MRR.

    Parameters
    ----------
    qrels, run, level, ties, without_relevant
        See `average_precision`.
    k : int, default=None
        Number of documents to use, from the first. If None, all.

    Returns
    -------
    QueryScores
        Value of each query with a relevant document; 0 if none is found.

    Examples
    --------
    >>> from textkin.evaluate import reciprocal_rank
    >>> reciprocal_rank({"q": {"b": 1}}, {"q": ["a", "b"]}).mean
    0.5
    """
    (one_of(None) | integer(low=1)).check("k", k)

    def value(judged: _Judged) -> float:
        hits = judged.hits[:k]
        return 1 / (hits.index(True) + 1) if True in hits else 0.0

    return _scores(
        "RR" if k is None else f"RR@{k}", value, qrels, run, level, ties, without_relevant
    )


def ndcg_at_k(
    qrels: Qrels,
    run: Run,
    k: int,
    *,
    ties: Ties = "descending",
    without_relevant: WithoutRelevant = "exclude",
) -> QueryScores:
    r"""Compute the normalized discounted cumulative gain (nDCG) at k of each query.

    Parameters
    ----------
    qrels, run, ties, without_relevant
        See `average_precision`. Grades are gains; negative grades count as 0.
    k : int
        Number of documents to use, from the first, also of the ideal ranking.

    Returns
    -------
    QueryScores
        Value of each query with a positive grade.

    Notes
    -----
    :math:`\mathrm{DCG@k} = \sum_{r=1}^{k} \mathrm{rel}_r / \log_2(r + 1)`, divided by the same sum
    over all judged documents by descending grade. The gain is the grade, as in trec_eval
    (``ndcg_cut_k``); some other tools use :math:`2^{\mathrm{rel}} - 1`.

    References
    ----------
    Järvelin and Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques", TOIS 20, 2002.

    Examples
    --------
    >>> from textkin.evaluate import ndcg_at_k
    >>> round(ndcg_at_k({"q": {"a": 1, "b": 3}}, {"q": ["a", "c", "b"]}, 10).mean, 4)
    0.6885
    """
    integer(low=1).check("k", k)

    def gain(grades: Sequence[float]) -> float:
        return math.fsum(
            grade / math.log2(rank + 1) for rank, grade in enumerate(grades[:k], 1) if grade > 0
        )

    def value(judged: _Judged) -> float:
        return gain(judged.grades) / gain(judged.ideal)

    anything = math.nextafter(0, 1)  # any positive grade is a gain
    return _scores(f"nDCG@{k}", value, qrels, run, anything, ties, without_relevant)


def interpolated_precision(
    qrels: Qrels,
    run: Run,
    *,
    levels: Sequence[float] = _LEVELS,
    level: float = 1,
    ties: Ties = "descending",
    without_relevant: WithoutRelevant = "exclude",
) -> QueryScores:
    """Compute for each query the interpolated precision, averaged over recall levels.

    Parameters
    ----------
    qrels, run, level, ties, without_relevant
        See `average_precision`.
    levels : sequence of float, default=(0.1, 0.2, ..., 0.9)
        Recall levels from 0 to 1. Papers of the 1990s use these nine levels; early TRECs use
        eleven, from 0 to 1. With R relevant documents, level s requires s R of them, rounded up.

    Returns
    -------
    QueryScores
        Value of each query with a relevant document. The precision is 0 at levels that the
        ranking does not reach.

    Examples
    --------
    >>> from textkin.evaluate import interpolated_precision
    >>> interpolated_precision({"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, levels=[0.5, 1])
    QueryScores(interpolated P at 2 levels: mean 0.8333 of 1 query)
    """
    if not len(levels):
        raise ParameterError("levels", "at least one level of recall", "none")
    for one in levels:
        real(0, 1).check("each of levels", one)

    def value(judged: _Judged) -> float:
        found = np.cumsum(judged.hits)
        precision = found / np.arange(1, len(found) + 1)
        best = np.maximum.accumulate(precision[::-1])[::-1]
        # In floating point, 0.1 * 30 is above 3, but level 0.1 requires 3 documents, not 4.
        needed = [math.ceil(one * judged.relevant - 1e-9) for one in levels]
        at = np.searchsorted(found, needed)
        return float(np.append(best, 0.0)[at].mean())

    name = f"interpolated P at {len(levels)} level{'' if len(levels) == 1 else 's'}"
    return _scores(name, value, qrels, run, level, ties, without_relevant)


def _scores(
    measure: str,
    value: Callable[[_Judged], float],
    qrels: Qrels,
    run: Run,
    level: float,
    ties: Ties,
    without_relevant: WithoutRelevant = "exclude",
) -> QueryScores:
    one_of("descending", "ascending").check("ties", ties)
    one_of("exclude", "zero").check("without_relevant", without_relevant)
    real().check("level", level)
    check_run(run)
    values, left_out = {}, []
    for query, judged in checked_qrels(qrels).items():
        answer: Mapping[str, float] | Sequence[str] = run.get(query, ())
        documents = ranking(query, answer, ties)
        found = _Judged(
            [judged.get(document, math.nan) for document in documents],
            sorted(judged.values(), reverse=True),
            level,
        )
        if found.relevant:
            values[query] = value(found) if documents else 0.0
        elif without_relevant == "zero":
            values[query] = 0.0
        else:
            left_out.append(query)
    if not values:
        raise ValueError(
            f"qrels must have a relevant document for some query; none of {len(qrels)} queries "
            "has. Pass judgments with grades above 0."
        )
    unjudged = tuple(query for query in run if query not in qrels)
    return QueryScores(measure, values, tuple(left_out), unjudged)
