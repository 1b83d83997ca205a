"""The search among documents of token vectors: exact transport, its bounds, and MaxSim."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from textkin._folders import is_count
from textkin._typing import Float32Array, Float64Array, Int64Array
from textkin._validation import check_params
from textkin.run import ProgressCallback, memory_in_bytes
from textkin.transport._corpus import Algorithm, Corpus, Rows, read_only
from textkin.transport._costs import CostName
from textkin.transport._neighbors import Neighbors, Question
from textkin.transport._search import Searches
from textkin.transport._token_stack import Stack, stacked, totals_of
from textkin.transport._token_vectors import TokenDocument, TokenDocuments, TokenVectors
from textkin.vectors._space import Space

__all__ = ["SearchesTokens"]

_DEPENDS_ON = ("cost", "masses", "unit")
# How far the square of a length may be from one, in float32.
_UNIT = 1e-5


class SearchesTokens(Searches, BaseEstimator):
    """Reads documents of token vectors, keeps those of `fit`, and finds the nearest of them."""

    cost: CostName
    masses: str
    unit: bool
    vectors_: Float32Array
    offsets_: Int64Array
    weights_: Float64Array
    n_documents_: int
    n_features_in_: int
    fitted_with_: tuple[str | bool, ...]

    def _stacked(self, X: TokenDocuments, name: str, dimension: int | None = None) -> Stack:
        """Read documents, and put their tokens one after another."""
        check_params(self)
        unit = bool(self.unit) or self.cost == "cosine"
        by_norm = self.masses == "norm"
        return stacked(X, name, unit=unit, by_norm=by_norm, dimension=dimension)

    # ------------------------------------------------------------------ the corpus

    def _keep(self, stack: Stack) -> None:
        """Keep the documents of `fit`, ready to be searched."""
        corpus = self._corpus_of(stack)
        if self.algorithm == "auto":
            corpus.prepare(memory_in_bytes(self.memory))
        read_only(stack.offsets, stack.table, stack.weights)  # the searcher looks into them
        self.offsets_, self.vectors_, self.weights_ = stack.offsets, stack.table, stack.weights
        self.n_documents_ = len(stack)
        self.n_features_in_ = stack.table.shape[1]
        self.fitted_with_ = self._as_now()
        self._cached_corpus: Corpus = corpus

    def _as_now(self) -> tuple[str | bool, ...]:
        return tuple(getattr(self, name) for name in _DEPENDS_ON)

    def _corpus(self) -> Corpus:
        """Return the documents of `fit`, ready to be searched; refuse if they are none now."""
        if not hasattr(self, "vectors_"):
            raise NotFittedError(
                "This TokenMover instance is not fitted yet: call fit(corpus) with the documents "
                "to search in."
            )
        if self.fitted_with_ != self._as_now():
            raise NotFittedError(
                f"One of {', '.join(_DEPENDS_ON)} has changed since fit: call fit(corpus) again."
            )
        if "_cached_corpus" not in self.__dict__:
            stack = Stack(self.offsets_, self.vectors_, self.weights_)
            self._cached_corpus = self._corpus_of(stack)
        return self._cached_corpus

    def _corpus_of(self, stack: Stack) -> Corpus:
        return Corpus(Space(stack.table, None, None), self.cost, None, stack.rows())

    def _check_loaded(self) -> None:
        memory_in_bytes(self.memory)
        vectors, offsets, weights = self.vectors_, self.offsets_, self.weights_
        sound = (
            vectors.ndim == 2
            and vectors.dtype == np.float32
            and offsets.ndim == weights.ndim == 1
            and is_count(self.n_documents_)
            and len(offsets) == self.n_documents_ + 1
            and offsets.dtype == np.int64
            and weights.dtype == np.float64
            and len(vectors) == len(weights) == offsets[-1] > 0
            and vectors.shape[1] == self.n_features_in_ > 0
            and offsets[0] == 0
            and bool(np.all(np.diff(offsets) >= 0))
            and bool(np.isfinite(weights).all() and (weights >= 0).all())
            and bool(np.isfinite(vectors).all() and vectors.any(axis=1).all())
            and isinstance(self.fitted_with_, tuple)
            and len(self.fitted_with_) == len(_DEPENDS_ON)
        )
        if not sound:
            raise ValueError("the vectors, offsets and weights of the tokens do not fit together")
        cost, _, unit = self.fitted_with_
        if unit or cost == "cosine":
            lengths = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
            if np.abs(lengths - 1).max() > _UNIT:
                raise ValueError("the vectors of the tokens must be of length one")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_cached_corpus", None)
        return state

    # ------------------------------------------------------------------ the search

    def search(
        self,
        queries: TokenDocuments | TokenDocument,
        k: int | None = 10,
        *,
        radius: float | None = None,
        algorithm: Algorithm | None = None,
        m: int | None = None,
        mask: ArrayLike | None = None,
        progress: ProgressCallback | None = None,
    ) -> Neighbors:
        """Find the nearest documents of the fitted corpus, exactly, with the reasons.

        What is found is what comparing with every document would find, to the last bit.
        Documents without tokens are never found; a query without any finds nothing.

        Parameters
        ----------
        queries : TokenVectors, array of shape (n_tokens, d), or iterable of these
            What to look for; a single document is one query.
        k, radius, algorithm, m, mask, progress
            As in `WordMover.search`.

        Returns
        -------
        Neighbors
            ``indices``, ``distances``, ``counts``, ``stats``, and ``certificate(i)``, which proves
            the answer to query i.

        Raises
        ------
        NotFittedError
            If there is no corpus, or it was read with another cost, other masses or `unit`.
        """
        corpus = self._corpus()
        options = self._asked_for(len(corpus), k, radius, algorithm, m, mask, progress)
        asked = self._asked(queries, corpus)
        hits = corpus.search(asked, options, progress=progress)
        return Neighbors.of(hits, Question(corpus, asked, options))

    def search_max_sim(
        self,
        queries: TokenDocuments | TokenDocument,
        k: int = 10,
        *,
        mask: ArrayLike | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[Int64Array, Float64Array]:
        r"""Find the documents with the largest MaxSim, the late interaction of ColBERT.

        Parameters
        ----------
        queries : TokenVectors, array of shape (n_tokens, d), or iterable of these
            What to look for; a single document is one query.
        k : int, default=10
            How many documents each query finds at most.
        mask : array of bool of shape (n_documents,), or of positions, or None, default=None
            Which documents may be found.
        progress : callable, optional
            Called now and then with the queries done and their number.

        Returns
        -------
        indices : ndarray of shape (n_queries, min(k, n_documents)), int64
            Positions in the corpus, the best first, ties by position; -1 where fewer were found.
        scores : ndarray of the same shape, float64
            MaxSim, as `max_sim` gives it; minus infinity where fewer were found.

        Raises
        ------
        ValueError
            If the cost is not "cosine" or the masses are not "uniform": MaxSim sums cosines.

        Notes
        -----
        With the cosine cost and weights w of the query that sum to W,

        .. math:: \sum_i w_i \max_j \cos(q_i, d_j) = W \Big(1 - \sum_i \tfrac{w_i}{W}
            \min_j c(q_i, d_j)\Big),

        so that it ranks as the relaxed distance that keeps the query's masses alone
        (``algorithm="rwmd-query"``) does.

        References
        ----------
        Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized
        Late Interaction over BERT", SIGIR 2020, equation 3.

        Examples
        --------
        >>> from textkin import TokenMover
        >>> mover = TokenMover().fit([[[1, 0], [0, 1]], [[3, 4]]])
        >>> indices, scores = mover.search_max_sim([[[1, 0], [0, 2]], [[3, 4]]])
        >>> indices, scores.round(6)
        (array([[0, 1],
               [1, 0]]), array([[2. , 1.4],
               [1. , 0.8]]))
        """
        corpus = self._corpus()
        if self.cost != "cosine" or self.masses != "uniform":
            raise ValueError(
                "MaxSim needs cost='cosine' and masses='uniform'; got "
                f"cost={self.cost!r} and masses={self.masses!r}."
            )
        if k is None:
            raise TypeError("k must be a whole number at least 1; got None.")
        options = self._asked_for(len(corpus), k, None, "rwmd-query", None, mask, progress)
        asked = self._asked(queries, corpus)
        hits = corpus.search(asked, options, progress=progress)
        indices, distances = hits.filled(min(int(k), len(corpus)))
        totals = totals_of(asked.indptr, asked.counts)
        with np.errstate(invalid="ignore"):  # an empty query: 0 times infinity
            scores = totals[:, np.newaxis] * (1 - distances)
        return indices, np.where(indices < 0, -np.inf, scores)

    def _asked(self, queries: TokenDocuments | TokenDocument, corpus: Corpus) -> Rows:
        """Read queries as rows with points of their own, numbered on from the corpus's tokens."""
        many: Any = queries
        if isinstance(queries, TokenVectors) or getattr(queries, "ndim", 3) == 2:
            many = [queries]
        stack = self._stacked(many, "queries", self.n_features_in_)
        return stack.points(len(corpus.space))
