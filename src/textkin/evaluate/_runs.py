"""Relevance judgments (qrels) and runs: types, validation, and sorting."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import Float64Array, IntpArray, integer, one_of
from textkin.exceptions import ParameterTypeError

__all__ = ["Qrels", "Run", "Ties", "as_run", "check_run", "checked_qrels", "ranking"]

Qrels: TypeAlias = Mapping[str, Mapping[str, float]]
"""Grades by query and document ID; usually 0 (not relevant) and 1 (relevant)."""

Run: TypeAlias = Mapping[str, Mapping[str, float] | Sequence[str]]
"""Answers by query: scores by document ID (higher is better), or document IDs in order."""

Ties: TypeAlias = Literal["descending", "ascending"]
"""Order of documents with equal scores, by ID."""


def as_run(
    query_ids: Sequence[str],
    document_ids: Sequence[str],
    scores: ArrayLike,
    *,
    k: int = 1000,
    ties: Ties = "descending",
) -> dict[str, dict[str, float]]:
    """Convert a matrix of scores (queries by documents) to a run with the best documents.

    Parameters
    ----------
    query_ids : sequence of str
        ID of each row.
    document_ids : sequence of str
        ID of each column.
    scores : array-like of shape (n_queries, n_documents)
        Scores; higher is better. Negate distances.
    k : int, default=1000
        Maximum number of documents per query.
    ties : {"descending", "ascending"}, default="descending"
        Order of documents with equal scores by ID, see `average_precision`.

    Returns
    -------
    dict of str to dict of str to float
        Scores by query and document, in descending order.

    Raises
    ------
    ValueError
        If `scores` has another shape, a score is NaN, or IDs are not distinct.

    Examples
    --------
    >>> from textkin.evaluate import as_run
    >>> as_run(["q1", "q2"], ["a", "b", "c"], [[0.1, 0.7, 0.2], [0, 0, 0]], k=2)
    {'q1': {'b': 0.7, 'c': 0.2}, 'q2': {'c': 0.0, 'b': 0.0}}
    """
    integer(low=1).check("k", k)
    one_of("descending", "ascending").check("ties", ties)
    for name, ids in (("query_ids", query_ids), ("document_ids", document_ids)):
        for one in ids:
            if not isinstance(one, str):
                raise TypeError(
                    f"{name} must hold strings; got {one!r}. Ids of files are strings: pass "
                    "[str(id) for id in ids]."
                )
        if len(set(ids)) < len(ids):
            raise ValueError(
                f"{name} must be distinct; {len(ids) - len(set(ids))} of them are repeated."
            )
    if hasattr(scores, "toarray"):
        raise ParameterTypeError(
            "scores", "a dense array", "a sparse one", "Pass scores.toarray()."
        )
    table = np.asarray(scores)
    if table.dtype.kind not in "fiub":
        raise ParameterTypeError("scores", "numbers", f"an array of {table.dtype}")
    if table.shape != (len(query_ids), len(document_ids)):
        raise ValueError(
            f"scores must have a row for each of {len(query_ids)} queries and a column for each of "
            f"{len(document_ids)} documents; got shape {table.shape}."
        )
    # Sorted by ID first: a stable sort by score then keeps the order of equal scores.
    by_id = sorted(range(len(document_ids)), key=lambda column: document_ids[column])
    columns = np.array(by_id if ties == "ascending" else by_id[::-1], dtype=np.intp)
    return {
        query: _best(query, row.astype(np.float64), columns, document_ids, k)
        for query, row in zip(query_ids, table, strict=True)  # row by row, to limit memory
    }


def _best(
    query: str, scores: Float64Array, columns: IntpArray, ids: Sequence[str], k: int
) -> dict[str, float]:
    if np.isnan(scores).any():
        raise ValueError(f"scores must be numbers; some of query {query!r} are NaN.")
    best = columns[np.argsort(-scores[columns], kind="stable")[:k]]
    return {ids[column]: float(scores[column]) for column in best}


def checked_qrels(qrels: Qrels) -> Qrels:
    """Return relevance judgments unchanged, or raise if they are invalid.

    Raises
    ------
    TypeError, ValueError
        If `qrels` is not a mapping of mappings, or a grade is not a finite number.
    """
    _check_mapping("qrels", qrels, "{query: {document: grade}}")
    _check_ids("qrels", "queries", qrels)
    for query, judged in qrels.items():
        _check_mapping(f"qrels[{query!r}]", judged, "{document: grade}")
        _check_ids(f"qrels[{query!r}]", "documents", judged)
        for document, grade in judged.items():
            if not _is_number(grade) or not math.isfinite(grade):
                raise ValueError(
                    f"qrels[{query!r}][{document!r}] must be a finite number; got {grade!r}."
                )
    return qrels


def ranking(query: str, answer: Mapping[str, float] | Sequence[str], ties: Ties) -> list[str]:
    """Return the documents of one query of a run, by descending score.

    Raises
    ------
    TypeError, ValueError
        If the answer is neither a mapping of scores nor a sequence of IDs, a score is NaN, or a
        document occurs twice.
    """
    name = f"run[{query!r}]"
    if isinstance(answer, Mapping):
        _check_ids(name, "documents", answer)
        for document, score in answer.items():
            if not _is_number(score) or math.isnan(score):
                raise ValueError(f"{name}[{document!r}] must be a number; got {score!r}.")
        by_id = sorted(answer, reverse=ties == "descending")
        return sorted(by_id, key=lambda document: -answer[document])  # stable: keeps ties in order
    if isinstance(answer, str | bytes) or not isinstance(answer, Sequence | np.ndarray):
        raise ParameterTypeError(
            name, "scores by document, or a list of documents in order", type(answer).__name__
        )
    documents = list(answer)
    _check_ids(name, "documents", documents)
    if len(set(documents)) < len(documents):
        twice = Counter(documents).most_common(1)[0][0]
        raise ValueError(f"{name} must name each document once; {twice!r} comes twice.")
    return documents


def check_run(run: Run) -> None:
    """Raise if a run is not a mapping from query IDs to results."""
    _check_mapping("run", run, "{query: {document: score}} or {query: [documents in order]}")
    _check_ids("run", "queries", run)


def _check_mapping(name: str, value: object, expected: str) -> None:
    if not isinstance(value, Mapping):
        raise ParameterTypeError(name, expected, type(value).__name__)


def _check_ids(name: str, of: str, ids: Iterable[object]) -> None:
    """Raise TypeError if an ID is not a string, because 7 and "7" would not match."""
    for one in ids:
        if not isinstance(one, str):
            raise TypeError(f"{name} must hold the ids of {of}, strings; got {one!r}.")


def _is_number(value: Any) -> bool:  # noqa: ANN401 (a dict of the caller's may hold anything)
    return isinstance(value, int | float | np.integer | np.floating)
