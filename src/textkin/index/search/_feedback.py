"""Relevance feedback by Rocchio's formula, which moves a query toward relevant documents.

Rankings by words first scale each document to the length of the query (`as_long_as`). Without
scaling, the many words of long documents dominate the query: ``python -m papers feedback`` shows
that this gains more where feedback helps in any case, and loses far more where it does not.
Feedback without a marked document changes neither the query nor the scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import Float64Array, Int32Array, abbreviate, integer, one_of, real
from textkin.exceptions import ParameterError, ParameterTypeError

__all__ = ["FeedbackRound", "WeightedWords", "as_long_as", "moved_words", "rocchio", "shown_ids"]

WeightedWords = tuple[Int32Array, Float64Array]
"""Word IDs in ascending order, and their weights."""

_FACTOR = real(0)
_PSEUDO = one_of(None) | integer(1)
_SHOWN = 3  # IDs shown in a message
_MAX_TERMS = one_of(None) | integer(1)


@dataclass(frozen=True, slots=True)
class FeedbackRound:
    """One round of relevance feedback: marked documents, and parameters of Rocchio's formula.

    Parameters
    ----------
    relevant, nonrelevant : tuple of str, default=()
        IDs of documents that the query moves toward, and away from.
    pseudo : int or None, default=None
        Number of top-ranked documents to treat as relevant, instead of `relevant`.
    alpha, beta, gamma : float, default=1, 0.75, 0.15
        Factors of the query, of the mean of the relevant documents, and of the mean of the
        nonrelevant documents. All must be at least 0; alpha and beta must not both be 0.
    max_terms : int or None, default=50
        Maximum number of words in the new query; words with the largest weights stay. If None,
        no limit.

    Raises
    ------
    ValueError, TypeError
        If an ID is in both lists, or a value is invalid.

    Examples
    --------
    >>> from textkin.index import FeedbackRound, SearchRequest
    >>> request = SearchRequest("cat").with_feedback(FeedbackRound(("a", "b")))
    >>> request.rounds[0].relevant
    ('a', 'b')
    """

    relevant: tuple[str, ...] = ()
    nonrelevant: tuple[str, ...] = ()
    pseudo: int | None = None
    alpha: float = 1.0
    beta: float = 0.75
    gamma: float = 0.15
    max_terms: int | None = 50

    def __post_init__(self) -> None:
        for name in ("relevant", "nonrelevant"):
            ids = getattr(self, name)
            if not isinstance(ids, tuple) or not all(isinstance(id, str) for id in ids):
                raise ParameterTypeError(
                    name, "a tuple of IDs (str)", abbreviate(ids, 40), 'Pass `("a", "b")`.'
                )
            object.__setattr__(self, name, tuple(dict.fromkeys(ids)))
        both = [id for id in self.relevant if id in self.nonrelevant]
        if both:
            raise ParameterError(
                "relevant",
                message="relevant and nonrelevant must not share documents; got "
                f"{shown_ids(both)} in both.",
            )
        _PSEUDO.check("pseudo", self.pseudo)
        if self.pseudo is not None and (self.relevant or self.nonrelevant):
            raise ParameterError(
                "pseudo",
                "None if relevant or nonrelevant is given",
                str(self.pseudo),
                "Pass two rounds.",
            )
        for name in ("alpha", "beta", "gamma"):
            _FACTOR.check(name, getattr(self, name))
        _MAX_TERMS.check("max_terms", self.max_terms)
        if self.alpha == self.beta == 0:
            raise ValueError("alpha and beta must not both be 0; the new query would be empty.")


def shown_ids(ids: Sequence[str]) -> str:
    """Format the first few document IDs and the number of others, for a message."""
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(abbreviate(id) for id in ids[:_SHOWN]) + more


def rocchio(
    query: ArrayLike,
    relevant: ArrayLike = (),
    nonrelevant: ArrayLike = (),
    *,
    alpha: float = 1.0,
    beta: float = 0.75,
    gamma: float = 0.15,
    max_terms: int | None = None,
) -> Float64Array:
    """Compute Rocchio's new query: alpha query + beta mean(relevant) - gamma mean(nonrelevant).

    Parameters
    ----------
    query : array-like of shape (n_words,)
        Vector of the query.
    relevant, nonrelevant : array-like of shape (n_documents, n_words)
        Vectors of documents. An empty set contributes nothing.
    alpha, beta, gamma : float
        Factors of the query, of the mean of the relevant documents, and of the mean of the
        nonrelevant documents, at least 0; 1, 0.75, and 0.15 by default.
    max_terms : int or None, default=None
        Maximum number of nonzero entries. The largest stay, and ties go to the lowest index; the
        remaining entries become 0. If None, no limit.

    Returns
    -------
    ndarray of shape (n_words,), float64
        New query. Negative entries are replaced by 0.

    Notes
    -----
    With the relevant documents R and the nonrelevant documents N ::

        q' = alpha q + beta / |R| sum_{d in R} d - gamma / |N| sum_{d in N} d,

    and negative entries are replaced by 0.

    References
    ----------
    Rocchio, "Relevance Feedback in Information Retrieval", in Salton, "The SMART Retrieval
    System", 1971. Salton and Buckley, "Improving Retrieval Performance by Relevance Feedback",
    JASIS 41, 1990.

    Examples
    --------
    >>> rocchio([1, 0, 0], [[1, 1, 0], [0, 1, 0]], [[0, 0, 2]])
    array([1.375, 0.75 , 0.   ])
    """
    how = FeedbackRound(alpha=alpha, beta=beta, gamma=gamma, max_terms=max_terms)
    start = np.asarray(query, np.float64)
    if start.ndim != 1:
        raise ParameterError("query", "one vector", f"an array of shape {start.shape}")
    right = _documents("relevant", relevant, len(start))
    wrong = _documents("nonrelevant", nonrelevant, len(start))
    if not all(np.isfinite(array).all() for array in (start, right, wrong)):
        raise ValueError("query and documents must be finite; got NaN or infinity.")
    moved = _moved(start, right, wrong, how)
    moved[_heaviest(moved, how.max_terms)[1]] = 0.0
    return moved


def as_long_as(query: WeightedWords, document: WeightedWords) -> WeightedWords:
    """Scale a document vector to the length of a query vector; to 1 if the query is empty."""
    words, weights = document
    largest, length = _length(weights)
    wanted_largest, wanted = _length(query[1])
    if not wanted:
        wanted_largest, wanted = 1.0, 1.0
    if not length:
        return words, weights
    return words, (weights / largest) * (wanted / length) * wanted_largest


def _length(weights: Float64Array) -> tuple[float, float]:
    """Return the largest weight, and the length divided by it, which cannot overflow."""
    largest = float(np.abs(weights).max(initial=0.0))
    return largest, float(np.linalg.norm(weights / largest)) if largest else 0.0


def moved_words(
    query: WeightedWords,
    relevant: Sequence[WeightedWords],
    nonrelevant: Sequence[WeightedWords],
    how: FeedbackRound,
) -> WeightedWords:
    """Apply Rocchio's formula to sparse word weights; words of weight 0 are dropped."""
    every = np.unique(np.concatenate([words for words, _ in (query, *relevant, *nonrelevant)]))

    def dense(vectors: Sequence[WeightedWords]) -> Float64Array:
        found = np.zeros((len(vectors), len(every)))
        for row, (words, weights) in zip(found, vectors, strict=True):
            row[np.searchsorted(every, words)] = weights
        return found

    weights = _moved(dense([query])[0], dense(relevant), dense(nonrelevant), how)
    kept = np.sort(_heaviest(weights, how.max_terms)[0])
    kept = kept[weights[kept] > 0]
    return every[kept].astype(np.int32), weights[kept]


def _moved(
    query: Float64Array, relevant: Float64Array, nonrelevant: Float64Array, how: FeedbackRound
) -> Float64Array:
    moved = how.alpha * query
    if len(relevant):
        moved = moved + how.beta * relevant.mean(axis=0)
    if len(nonrelevant):
        moved = moved - how.gamma * nonrelevant.mean(axis=0)
    return np.maximum(moved, 0.0)


def _heaviest(weights: Float64Array, max_terms: int | None) -> tuple[Int32Array, Int32Array]:
    """Return the positions of the `max_terms` largest weights, and all others."""
    order = np.argsort(-weights, kind="stable").astype(np.int32)
    most = len(order) if max_terms is None else max_terms
    return order[:most], order[most:]


def _documents(name: str, given: ArrayLike, n_words: int) -> Float64Array:
    rows = np.asarray(given, np.float64)
    if rows.size == 0 and rows.ndim == 1:
        return np.zeros((0, n_words))
    if rows.ndim != 2 or rows.shape[1] != n_words:
        raise ParameterError(
            name, f"rows of {n_words} numbers, like the query", f"an array of shape {rows.shape}"
        )
    return rows
