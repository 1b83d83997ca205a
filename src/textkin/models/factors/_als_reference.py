"""Reference implementation of alternating least squares for WTMF in NumPy.

Tests compare every back end with these functions; nothing else uses them.

References
----------
Guo and Diab, "Modeling Sentences in the Latent Space", ACL 2012, equations 1 and 2. Guo, Liu and
Diab, "Fast Tweet Retrieval with Compact Binary Codes", COLING 2014 (the orthogonal step).
"""

from typing import Any

import numpy as np

from textkin._base import Bags, Float64Array, row_indices
from textkin.models._arrays import table_of
from textkin.models.factors._als_core import ALSProblem

__all__ = ["ReferenceALS", "objective", "orthogonal_step", "solve_rows"]


def solve_rows(
    bags: Bags, factors: Float64Array, missing_weight: float, regularization: float
) -> Float64Array:
    """Solve the regularized least-squares problem of each row's vector, for fixed factors.

    ::

        Q_j = (P W^(j) P^T + lambda I)^-1 P W^(j) X_j

    W^(j) is diagonal: 1 for stored entries of row j, and w_m for others.

    Parameters
    ----------
    bags : csr_array of shape (n_rows, n_columns)
        X, with a row per text (or its transpose, with a row per word).
    factors : ndarray of shape (n_columns, n_components)
        P^T: a vector for each column.
    missing_weight : float
        w_m.
    regularization : float
        lambda.

    Returns
    -------
    ndarray of shape (n_rows, n_components)
        Q^T: a vector for each row.
    """
    weights, values = _dense(bags, missing_weight)
    unit = np.eye(factors.shape[1])
    found = np.zeros((bags.shape[0], factors.shape[1]))
    for row, (weight, x) in enumerate(zip(weights, values, strict=True)):
        system = (factors.T * weight) @ factors + regularization * unit
        found[row] = np.linalg.solve(system, factors.T @ (weight * x))
    return found


def objective(
    bags: Bags,
    rows: Float64Array,
    factors: Float64Array,
    missing_weight: float,
    regularization: float,
) -> float:
    """Compute the WTMF loss: weighted squared errors plus lambda (||P||^2 + ||Q||^2).

    Parameters
    ----------
    bags : csr_array of shape (n_rows, n_columns)
        X.
    rows, factors : ndarray
        Vectors of the rows and of the columns.
    missing_weight, regularization : float
        w_m and lambda.
    """
    weights, values = _dense(bags, missing_weight)
    errors = float((weights * (rows @ factors.T - values) ** 2).sum())
    return errors + regularization * float((rows**2).sum() + (factors**2).sum())


def orthogonal_step(words: Float64Array, step: float) -> Float64Array:
    """Take a gradient step that makes the dimensions of the word vectors P orthogonal.

    Parameters
    ----------
    words : ndarray of shape (n_words, n_components)
        P^T.
    step : float
        alpha; reduced to 1 / (2 e) if larger, where e is the largest absolute eigenvalue of
        P P^T - c I.
    """
    gram = words.T @ words
    excess = gram - np.trace(gram) / len(gram) * np.eye(len(gram))
    largest = float(np.abs(np.linalg.eigvalsh(excess)).max())
    alpha = min(step, 0.5 / largest) if largest > 0 else 0.0
    return np.asarray(words - alpha * words @ excess)


def _dense(bags: Bags, missing_weight: float) -> tuple[Float64Array, Float64Array]:
    """Return the weights W and values X of bags as dense arrays."""
    weights = np.full(bags.shape, float(missing_weight))
    values = np.zeros(bags.shape)
    at = row_indices(bags), bags.indices
    weights[at], values[at] = 1.0, bags.data
    return weights, values


class ReferenceALS:
    """Alternating least squares for WTMF that calls the NumPy reference functions.

    Parameters
    ----------
    bags : csr_array of shape (n_texts, n_words)
        Weighted bags.
    problem : ALSProblem
        Weights and size.
    start : ndarray of shape (n_words, n_components)
        Initial vectors of the words.
    """

    def __init__(self, bags: Bags, problem: ALSProblem, start: Float64Array) -> None:
        self.problem = problem
        self._bags: Any = bags
        self._by_word: Any = bags.T.tocsr()
        self.words: Any = table_of(start, np.float64)
        self._texts = np.zeros((bags.shape[0], problem.n_components))

    def solve_texts(self) -> float:
        """Update all text vectors by least squares, with fixed word vectors; return the loss."""
        weights = self.problem.missing_weight, self.problem.regularization
        words = self._words()
        self._texts = solve_rows(self._bags, words, *weights)
        return objective(self._bags, self._texts, words, *weights)

    def solve_words(self) -> float:
        """Update all word vectors by least squares, with fixed text vectors; return the loss."""
        weights = self.problem.missing_weight, self.problem.regularization
        self.words = table_of(solve_rows(self._by_word, self._texts, *weights), np.float64)
        return objective(self._bags, self._texts, self._words(), *weights)

    def _words(self) -> Float64Array:
        return np.asarray(self.words[:, : self.problem.n_components])
