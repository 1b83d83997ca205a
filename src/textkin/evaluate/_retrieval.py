"""How well rankings follow judgements: average precision, P@k, nDCG, recall, reciprocal rank."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textkin._typing import Float64Array
from textkin._validation import integer, one_of, real
from textkin.evaluate._runs import Qrels, Run, Ties, check_run, checked_qrels, ranking

__all__ = [
    "QueryScores",
    "average_precision",
    "interpolated_precision",
    "ndcg_at_k",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
]

_LEVELS = tuple(step / 10 for step in range(1, 10))


@dataclass(frozen=True, slots=True, repr=False)
class QueryScores:
    """What a measure says of each query, and their mean.

    Attributes
    ----------
    measure : str
        Its name, such as "AP@1000".
    values : dict of str to float
        By query, in the order of the judgements: all queries with a relevant document. One that
        the run does not answer has 0.
    left_out : tuple of str
        Judged queries without a relevant document, of which nothing can be said.
    unjudged : tuple of str
        Queries of the run that nobody has judged.
    mean : float
        The mean of the values: MAP of average precision, MRR of reciprocal ranks.
    """

    measure: str
    values: dict[str, float]
    left_out: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """The mean over the queries."""
        return math.fsum(self.values.values()) / len(self.values)

    def to_records(self) -> list[dict[str, str | float]]:
        """Return a record for each query: its name, and the value under the measure's name."""
        return [{"query": query, self.measure: value} for query, value in self.values.items()]

    def __array__(
        self, dtype: np.dtype[np.float64] | None = None, copy: bool | None = None
    ) -> Float64Array:
        """Return the values in their order, as tests of significance take them."""
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
    """The grades of a ranking, in its order, and of all judged documents, the best first."""

    grades: list[float]
    ideal: list[float]
    level: float

    @property
    def hits(self) -> list[bool]:
        """Whether the document at each rank is relevant; NaN stands for one nobody judged."""
        return [grade >= self.level for grade in self.grades]

    @property
    def relevant(self) -> int:
        """How many relevant documents there are, found or not."""
        return sum(grade >= self.level for grade in self.ideal)


def average_precision(
    qrels: Qrels, run: Run, *, k: int = 1000, level: float = 1, ties: Ties = "descending"
) -> QueryScores:
    r"""Return the average precision of each query; its mean is MAP.

    Parameters
    ----------
    qrels : mapping of str to mapping of str to number
        The grade of each judged document, by query: ``{"q1": {"d7": 1, "d9": 0}}``. A document
        that is not there is not relevant.
    run : mapping of str to (mapping of str to number, or sequence of str)
        The answer to each query: scores by document, the larger the better, or documents in order.
    k : int, default=1000
        Only the first k documents count.
    level : float, default=1
        The least grade of a relevant document.
    ties : {"descending", "ascending"}, default="descending"
        Which of two documents with equal scores is first: that with the larger id, as in
        trec_eval, or the smaller. Ids are strings: "9" is larger than "10".

    Returns
    -------
    QueryScores
        A value for each query with a relevant document; 0 where the run has no answer (trec_eval
        does so with ``-c``, and without it leaves such queries out).

    Raises
    ------
    TypeError, ValueError
        For anything else than such mappings, scores that are NaN, a document that comes twice,
        and where no query has a relevant document.

    Notes
    -----
    :math:`\frac{1}{R} \sum_{r \le k,\ \text{relevant}} P@r` over the ranks r of relevant
    documents, with R all relevant ones, found or not. Equal to ``map_cut_k`` of trec_eval, which
    holds scores in single precision: where yours differ only beyond that, it sees ties. Round
    them (``numpy.float32``) for its figures to the last digit.

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

    return _scores(f"AP@{k}", value, qrels, run, level, ties)


def precision_at_k(
    qrels: Qrels, run: Run, k: int, *, level: float = 1, ties: Ties = "descending"
) -> QueryScores:
    """Return the share of relevant documents among the first k, always divided by k.

    Parameters
    ----------
    qrels, run, level, ties
        As for `average_precision`.
    k : int
        How many documents count. An answer with fewer is as if the rest were not relevant.

    Returns
    -------
    QueryScores
        A value for each query with a relevant document.

    Examples
    --------
    >>> from textkin.evaluate import precision_at_k
    >>> precision_at_k({"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, 20).mean
    0.1
    """
    integer(low=1).check("k", k)
    return _scores(f"P@{k}", lambda judged: sum(judged.hits[:k]) / k, qrels, run, level, ties)


def recall_at_k(
    qrels: Qrels, run: Run, k: int, *, level: float = 1, ties: Ties = "descending"
) -> QueryScores:
    """Return the share of all relevant documents that are among the first k.

    Parameters
    ----------
    qrels, run, level, ties
        As for `average_precision`.
    k : int
        How many documents count.

    Returns
    -------
    QueryScores
        A value for each query with a relevant document.

    Examples
    --------
    >>> from textkin.evaluate import recall_at_k
    >>> recall_at_k({"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, 2).mean
    0.5
    """
    integer(low=1).check("k", k)
    return _scores(
        f"R@{k}", lambda judged: sum(judged.hits[:k]) / judged.relevant, qrels, run, level, ties
    )


def reciprocal_rank(
    qrels: Qrels, run: Run, *, k: int | None = None, level: float = 1, ties: Ties = "descending"
) -> QueryScores:
    """Return 1 / the rank of the first relevant document; the mean is MRR.

    Parameters
    ----------
    qrels, run, level, ties
        As for `average_precision`.
    k : int, default=None
        Only the first k documents count; None is all.

    Returns
    -------
    QueryScores
        A value for each query with a relevant document; 0 where none was found.

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

    return _scores("RR" if k is None else f"RR@{k}", value, qrels, run, level, ties)


def ndcg_at_k(qrels: Qrels, run: Run, k: int, *, ties: Ties = "descending") -> QueryScores:
    r"""Return the discounted gain of the first k documents, over that of the best order.

    Parameters
    ----------
    qrels, run, ties
        As for `average_precision`. Grades are the gains; those below 0 count as 0.
    k : int
        How many documents count, also of the best order.

    Returns
    -------
    QueryScores
        A value for each query with a grade above 0.

    Notes
    -----
    :math:`\mathrm{DCG@k} = \sum_{r=1}^{k} \mathrm{rel}_r / \log_2(r + 1)`, divided by the same sum
    over all judged documents, the best first. The gain is the grade itself, as in trec_eval
    (``ndcg_cut_k``); some other tools take :math:`2^{\mathrm{rel}} - 1`.

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

    anything = math.nextafter(0, 1)  # any grade above 0 is some gain
    return _scores(f"nDCG@{k}", value, qrels, run, anything, ties)


def interpolated_precision(
    qrels: Qrels,
    run: Run,
    *,
    levels: Sequence[float] = _LEVELS,
    level: float = 1,
    ties: Ties = "descending",
) -> QueryScores:
    """Return the precision at some levels of recall, the best at each or beyond, averaged.

    Parameters
    ----------
    qrels, run, level, ties
        As for `average_precision`.
    levels : sequence of float, default=(0.1, 0.2, ..., 0.9)
        The levels of recall, from 0 to 1. Nine are common in papers of the 1990s, eleven, from 0
        to 1, in early TRECs. Level s of R relevant documents is reached with s R of them, rounded
        up.

    Returns
    -------
    QueryScores
        A value for each query with a relevant document. A level that the ranking never reaches
        counts with 0.

    Examples
    --------
    >>> from textkin.evaluate import interpolated_precision
    >>> interpolated_precision({"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, levels=[0.5, 1])
    QueryScores(interpolated P at 2 levels: mean 0.8333 of 1 query)
    """
    if not len(levels):
        raise ValueError("levels must be at least one level of recall; got none.")
    for one in levels:
        real(0, 1).check("each of levels", one)

    def value(judged: _Judged) -> float:
        found = np.cumsum(judged.hits)
        precision = found / np.arange(1, len(found) + 1)
        best = np.maximum.accumulate(precision[::-1])[::-1]
        # 0.1 * 30 is a little more than 3; that must not ask for a fourth document.
        needed = [math.ceil(one * judged.relevant - 1e-9) for one in levels]
        at = np.searchsorted(found, needed)
        return float(np.append(best, 0.0)[at].mean())

    name = f"interpolated P at {len(levels)} level{'' if len(levels) == 1 else 's'}"
    return _scores(name, value, qrels, run, level, ties)


def _scores(
    measure: str,
    value: Callable[[_Judged], float],
    qrels: Qrels,
    run: Run,
    level: float,
    ties: Ties,
) -> QueryScores:
    one_of("descending", "ascending").check("ties", ties)
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
        else:
            left_out.append(query)
    if not values:
        raise ValueError(
            f"qrels must have a relevant document for some query; none of {len(qrels)} queries has."
        )
    unjudged = tuple(query for query in run if query not in qrels)
    return QueryScores(measure, values, tuple(left_out), unjudged)
