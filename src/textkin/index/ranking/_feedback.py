"""Relevance feedback by Rocchio's formula: a query moves towards documents that were right.

Rankings by words bring documents to the length of the query first (`as_long_as`). Taken as they
are scored, the many words of long documents drown the query: ``textkin evaluate feedback`` shows
that this gains more where feedback helps anyway, and loses far more where it does not. Feedback
without a marked document leaves query and scores as they were.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import Float64Array, Int32Array
from textkin._validation import integer, one_of, real

__all__ = ["Rocchio", "WeightedWords", "as_long_as", "moved_words", "rocchio"]

WeightedWords = tuple[Int32Array, Float64Array]
"""Numbers of words, ascending, and their weights."""

_FACTOR = real(0)
_N_TERMS = one_of(None) | integer(1)


@dataclass(frozen=True, slots=True)
class Rocchio:
    """How far a query moves.

    Attributes
    ----------
    alpha, beta, gamma : float
        What the query, the mean of the relevant documents and the mean of the others are
        multiplied by; none below 0, and not both of the first two 0.
    n_terms : int or None
        How many words the new query keeps, the heaviest, of equal ones the first; None: all.

    Raises
    ------
    ValueError, TypeError
        If one of them is none of these.
    """

    alpha: float = 1.0
    beta: float = 0.75
    gamma: float = 0.15
    n_terms: int | None = 50

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "gamma"):
            _FACTOR.check(name, getattr(self, name))
        _N_TERMS.check("n_terms", self.n_terms)
        if self.alpha == self.beta == 0:
            raise ValueError("alpha and beta must not both be 0: nothing of the query would stay.")


def rocchio(
    query: ArrayLike,
    relevant: ArrayLike = (),
    nonrelevant: ArrayLike = (),
    *,
    alpha: float = 1.0,
    beta: float = 0.75,
    gamma: float = 0.15,
    n_terms: int | None = None,
) -> Float64Array:
    """Move a query towards relevant documents and away from others.

    Parameters
    ----------
    query : array-like of shape (n_words,)
        A vector.
    relevant, nonrelevant : array-like of shape (n_documents, n_words)
        Vectors of documents; where there are none, their term is left out.
    alpha, beta, gamma : float
        What the query, the mean of the relevant documents and the mean of the others are
        multiplied by, at least 0; 1, 0.75 and 0.15 by default.
    n_terms : int or None, default=None
        How many entries stay, the largest, of equal ones the first; the others become 0.
        None: all.

    Returns
    -------
    ndarray of shape (n_words,), float64
        The new query, without entries below 0.

    Notes
    -----
    With the relevant documents R and the others N ::

        q' = alpha q + beta / |R| sum_{d in R} d - gamma / |N| sum_{d in N} d,

    and 0 where that is below 0.

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
    how = Rocchio(alpha, beta, gamma, n_terms)
    start = np.asarray(query, np.float64)
    if start.ndim != 1:
        raise ValueError(f"query must be one vector; got an array of shape {start.shape}.")
    right = _documents("relevant", relevant, len(start))
    wrong = _documents("nonrelevant", nonrelevant, len(start))
    if not all(np.isfinite(array).all() for array in (start, right, wrong)):
        raise ValueError("query and documents must be finite; got NaN or infinity.")
    moved = _moved(start, right, wrong, how)
    moved[_heaviest(moved, how.n_terms)[1]] = 0.0
    return moved


def as_long_as(query: WeightedWords, document: WeightedWords) -> WeightedWords:
    """Return a document brought to the Euclidean length of a query; to 1, if that has no words."""
    words, weights = document
    largest, length = _length(weights)
    wanted_largest, wanted = _length(query[1])
    if not wanted:
        wanted_largest, wanted = 1.0, 1.0
    if not length:
        return words, weights
    return words, (weights / largest) * (wanted / length) * wanted_largest


def _length(weights: Float64Array) -> tuple[float, float]:
    """Return the largest weight and the length by it, so that no square is too large or small."""
    largest = float(np.abs(weights).max(initial=0.0))
    return largest, float(np.linalg.norm(weights / largest)) if largest else 0.0


def moved_words(
    query: WeightedWords,
    relevant: Sequence[WeightedWords],
    nonrelevant: Sequence[WeightedWords],
    how: Rocchio,
) -> WeightedWords:
    """Apply `rocchio` to words with weights; words without weight are left out."""
    every = np.unique(np.concatenate([words for words, _ in (query, *relevant, *nonrelevant)]))

    def dense(vectors: Sequence[WeightedWords]) -> Float64Array:
        found = np.zeros((len(vectors), len(every)))
        for row, (words, weights) in zip(found, vectors, strict=True):
            row[np.searchsorted(every, words)] = weights
        return found

    weights = _moved(dense([query])[0], dense(relevant), dense(nonrelevant), how)
    kept = np.sort(_heaviest(weights, how.n_terms)[0])
    kept = kept[weights[kept] > 0]
    return every[kept].astype(np.int32), weights[kept]


def _moved(
    query: Float64Array, relevant: Float64Array, nonrelevant: Float64Array, how: Rocchio
) -> Float64Array:
    moved = how.alpha * query
    if len(relevant):
        moved = moved + how.beta * relevant.mean(axis=0)
    if len(nonrelevant):
        moved = moved - how.gamma * nonrelevant.mean(axis=0)
    return np.maximum(moved, 0.0)


def _heaviest(weights: Float64Array, n_terms: int | None) -> tuple[Int32Array, Int32Array]:
    """Return the places of the largest weights, and all others."""
    order = np.argsort(-weights, kind="stable").astype(np.int32)
    most = len(order) if n_terms is None else n_terms
    return order[:most], order[most:]


def _documents(name: str, given: ArrayLike, n_words: int) -> Float64Array:
    rows = np.asarray(given, np.float64)
    if rows.size == 0 and rows.ndim == 1:
        return np.zeros((0, n_words))
    if rows.ndim != 2 or rows.shape[1] != n_words:
        raise ValueError(
            f"{name} must be rows of {n_words} numbers, as the query has; got an array of shape "
            f"{rows.shape}."
        )
    return rows
