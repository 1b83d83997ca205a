"""Alternating least squares for WTMF in the core, and the interface of its back ends."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from textkin import _core
from textkin._base import Bags, Float64Array
from textkin.models._arrays import entries_of, table_of

__all__ = ["ALSBackend", "ALSProblem", "CoreALS", "precision_for"]

_SMALL = 2**20  # maximum size, in numbers, of a model fitted in double precision at little cost
_LARGEST_FLOAT = 1e12  # largest weight for float32; sums of squares stay in range


@dataclass(frozen=True, slots=True)
class ALSProblem:
    """Missing-word weight, regularization, size, and precision of a WTMF factorization."""

    n_components: int
    missing_weight: float
    regularization: float
    jobs: int
    dtype: Any

    def solver(self, factors: Any, gram: Float64Array | None = None) -> Any:  # noqa: ANN401 (core)
        """Create the core's least-squares solver for given fixed factors.

        Parameters
        ----------
        factors : table
            Vectors of the other side.
        gram : ndarray of shape (n_components, n_components), optional
            Sum of outer products of all vectors, if `factors` are some of them.
        """
        kind: Any = _core.FactorSolver if factors.dtype == np.float32 else _core.FineFactorSolver
        weights = self.missing_weight, self.regularization
        return kind(factors, self.n_components, *weights, self.jobs, gram)


class ALSBackend(Protocol):
    """Interface of a WTMF factorization in progress: updates of text and word vectors.

    `_als_reference.ReferenceALS` defines what each method returns.
    """

    problem: ALSProblem
    words: Any  # vectors of the words, a table of the core

    def solve_texts(self) -> float:
        """Update all text vectors by least squares, with fixed word vectors; return the loss."""
        ...

    def solve_words(self) -> float:
        """Update all word vectors by least squares, with fixed text vectors; return the loss."""
        ...


class CoreALS:
    """Alternating least squares for WTMF in the core, for bags in memory.

    Parameters
    ----------
    bags : csr_array of shape (n_texts, n_words)
        Weighted bags.
    problem : ALSProblem
        Weights, size and precision.
    start : ndarray of shape (n_words, n_components)
        Initial vectors of the words.
    """

    def __init__(self, bags: Bags, problem: ALSProblem, start: Float64Array) -> None:
        self.problem = problem
        self._by_text = entries_of(bags, problem.dtype)
        self._by_word = entries_of(bags.T.tocsr(), problem.dtype)
        self.words = table_of(start, problem.dtype)
        self.texts = table_of(np.zeros((bags.shape[0], problem.n_components)), problem.dtype)

    def solve_texts(self) -> float:
        """Update all text vectors by least squares, with fixed word vectors; return the loss."""
        return self._solve(self.words, self._by_text, self.texts)

    def solve_words(self) -> float:
        """Update all word vectors by least squares, with fixed text vectors; return the loss."""
        return self._solve(self.texts, self._by_word, self.words)

    def _solve(self, factors: Any, entries: tuple[Any, Any, Any], out: Any) -> float:  # noqa: ANN401
        solver = self.problem.solver(factors)
        return float(solver.solve(*entries, out, self.problem.jobs, None))


def precision_for(dtype: Any, size: int, values: Any) -> Any:  # noqa: ANN401 (float32 or float64)
    """Return float32 for a large model of moderate float32 weights, otherwise float64."""
    single = dtype == np.float32 and size > _SMALL
    in_range = single and np.abs(values).max(initial=0) <= _LARGEST_FLOAT
    return np.float32 if in_range else np.float64
