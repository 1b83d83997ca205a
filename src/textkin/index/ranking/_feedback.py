"""Relevance feedback by Rocchio's formula: a query moves towards documents that were right."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textkin._typing import Float64Array, Int32Array

__all__ = ["Rocchio", "WeightedWords", "moved_words", "rocchio"]

WeightedWords = tuple[Int32Array, Float64Array]
"""Numbers of words, ascending, and their weights."""


@dataclass(frozen=True, slots=True)
class Rocchio:
    """How far a query moves.

    Attributes
    ----------
    alpha, beta, gamma : float
        What the query, the mean of the relevant documents and the mean of the others are
        multiplied by.
    n_terms : int or None
        How many words the new query keeps, the heaviest; None: all.
    """

    alpha: float = 1.0
    beta: float = 0.75
    gamma: float = 0.15
    n_terms: int | None = 50


def rocchio(
    query: Float64Array,
    relevant: Sequence[Float64Array],
    nonrelevant: Sequence[Float64Array] = (),
    how: Rocchio | None = None,
) -> Float64Array:
    """Move a query towards relevant documents and away from others.

    Parameters
    ----------
    query : ndarray
        A vector.
    relevant, nonrelevant : sequences of ndarray
        Vectors of documents; where there are none, their term is left out.
    how : Rocchio, optional
        The weights.

    Returns
    -------
    ndarray, float64
        alpha q + beta mean(relevant) - gamma mean(nonrelevant), and 0 where that is below 0.

    Examples
    --------
    >>> rocchio(np.array([1.0, 0, 0]), [[1, 1, 0], [0, 1, 0]], [[0, 0, 2]])
    array([1.375, 0.75 , 0.   ])
    """
    how = how or Rocchio()
    moved = how.alpha * np.asarray(query, np.float64)
    if len(relevant):
        moved = moved + how.beta * np.mean(np.asarray(relevant, np.float64), axis=0)
    if len(nonrelevant):
        moved = moved - how.gamma * np.mean(np.asarray(nonrelevant, np.float64), axis=0)
    return np.maximum(moved, 0.0)


def moved_words(
    query: WeightedWords,
    relevant: Sequence[WeightedWords],
    nonrelevant: Sequence[WeightedWords],
    how: Rocchio,
) -> WeightedWords:
    """Apply `rocchio` to words with weights; the heaviest words stay, of equals the first."""
    every = np.unique(np.concatenate([words for words, _ in (query, *relevant, *nonrelevant)]))

    def dense(vector: WeightedWords) -> Float64Array:
        found = np.zeros(len(every))
        found[np.searchsorted(every, vector[0])] = vector[1]
        return found

    weights = rocchio(dense(query), [*map(dense, relevant)], [*map(dense, nonrelevant)], how)
    order = np.argsort(-weights, kind="stable")[: how.n_terms]
    kept = np.sort(order[weights[order] > 0])
    return every[kept].astype(np.int32), weights[kept]
