"""Exact transport between documents that are arrays of token vectors."""

import math
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from textkin._base import (
    Constraint,
    Float32Array,
    Float64Array,
    Int64Array,
    SavedEstimator,
    check_params,
    integer,
    is_count,
    one_of,
    rollback_on_error,
)
from textkin.corpus import (
    DocumentRows,
    TokenDocument,
    TokenDocuments,
    TokenStack,
    TokenVectors,
    VectorTable,
    one_document,
    refuse_empty,
    stack_tokens,
    totals_of,
)
from textkin.exceptions import ParameterTypeError
from textkin.run import ProgressCallback, effective_jobs, memory_limit
from textkin.transport._comparison import Bounds, Comparison
from textkin.transport._core_search import (
    SEARCH_CONSTRAINTS,
    Algorithm,
    SearchOptions,
    TransportMetric,
)
from textkin.transport._engine import TransportEngine
from textkin.transport._neighbors import Neighbors
from textkin.transport._search_certificate import read_only
from textkin.transport._solver import COSTS, CostName

__all__ = ["TokenMover"]

_DEPENDS_ON = ("cost", "token_weights", "unit")
# Largest difference of a squared length from one, in float32.
_UNIT = 1e-5


class TokenMover(SavedEstimator, BaseEstimator):
    r"""Exact Word Mover's Distance between documents that are arrays of token vectors.

    A document is an array of token vectors of shape (n_tokens, d) from any encoder, or
    `TokenVectors`, which also has weights and words. The interface is the same as for `WordMover`,
    but each document has its own points: tokens are never the same word, only similar.

    Parameters
    ----------
    cost : {"cosine", "euclidean", "sqeuclidean"}, default="cosine"
        Cost of moving a token: one minus the cosine, the Euclidean distance (a metric), or its
        square.
    token_weights : {"uniform", "norm"}, default="uniform"
        Weight of each token in a document. "uniform": the weight that the document gives it, or 1.
        "norm": that weight times the length of its vector, as in Word Rotator's Distance (with the
        cosine cost).
    unit : bool, default=False
        Whether to L2-normalize all vectors first; the cosine cost always does.
    empty : {"error", "inf"}, default="error"
        Handling of a document without tokens, or with tokens of weight 0 only: raise
        `EmptyDocumentError`, or return infinity.
    metric : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"}, default="wmd"
        Distance, as in `WordMover`: the exact distance, or a lower bound of it.
    algorithm : {"auto", "prefetch", "brute"}, default="auto"
        Algorithm to find the nearest documents by "wmd", as in `WordMover`; the result is the
        same.
    memory : str, int or None, default=None
        Memory limit, such as "2GB" or a number of bytes up to 2**62, for the tables of a search,
        and for the exact transport problems that the threads of a call solve at the same time:
        each may take that much. Problems that take up to 32 MB (two documents of about 1,200
        tokens) are always solved. If None, 512 MB for the tables; for the problems, half of the
        memory of the machine, or of its control group (cgroup) if that has less.
    n_jobs : int or None, default=None
        Number of threads for many pairs and for searches. It does not change results. If None, 1;
        if -1, all cores.

    Attributes
    ----------
    vectors_ : ndarray of shape (n_tokens, d), float32
        Tokens of the corpus, one document after another; L2-normalized for the cosine cost and
        `unit`.
    offsets_ : ndarray of shape (n_documents + 1,), int64
        First token of each document in `vectors_`.
    weights_ : ndarray of shape (n_tokens,), float64
        Weight of each token in its document.
    n_documents_ : int
        Number of documents in `fit`.

    See Also
    --------
    TokenVectors : Document with weights and words.
    textkin.weighting.TokenIdf : Token weights by rarity.
    textkin.transport.max_sim : MaxSim (ColBERT) of all pairs.
    textkin.transport.bert_score : BERTScore of pairs.

    Notes
    -----
    With masses a and b that sum to one, and vectors x and y,

    .. math:: D(a, b) = \min_{T \ge 0} \sum_{ij} T_{ij}\, c(x_i, y_j)
        \quad\text{s.t.}\quad \sum_j T_{ij} = a_i,\; \sum_i T_{ij} = b_j,

    exact as in `WordMover`. ``distance(query, document)``, ``pairwise``, and ``search`` return
    bit-identical numbers; with the two documents swapped, the distance agrees within 1e-6.

    The tokens of the corpus are the vector table of the search, each document is a range of its
    rows, and a query has its own points. A token takes 4 d bytes, which `fit` copies, and about 20
    more. A pair of documents with n and m tokens takes O(nmd) for the costs, and somewhat more
    than O(nm) for the plan.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015.
    Zhao et al., "MoverScore", EMNLP 2019, for contextual tokens. Yokoi et al., "Word Rotator's
    Distance", EMNLP 2020, for masses by norm.

    Examples
    --------
    >>> from textkin import TokenMover, TokenVectors
    >>> a = TokenVectors([[1, 0], [0, 2]], tokens=["old", "dog"])
    >>> b = TokenVectors([[0, 1], [3, 4]], tokens=["hound", "aged"])
    >>> mover = TokenMover()
    >>> round(mover.distance(a, b), 6)
    0.2
    >>> [(move.source, move.target) for move in mover.explain(a, b).moves]
    [('old', 'aged'), ('dog', 'hound')]
    >>> mover.fit([a, b]).search([[[5, 12]]], k=1).indices
    array([[1]])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "cost": one_of(*COSTS),
        "token_weights": one_of("uniform", "norm"),
        "unit": one_of(True, False),
        "empty": one_of("error", "inf"),
        "metric": SEARCH_CONSTRAINTS["metric"],
        "algorithm": SEARCH_CONSTRAINTS["algorithm"],
        "n_jobs": one_of(None) | integer(),
    }

    vectors_: Float32Array
    offsets_: Int64Array
    weights_: Float64Array
    n_documents_: int
    n_features_in_: int
    fitted_with_: tuple[str | bool, ...]
    _cached_engine: TransportEngine

    def __init__(
        self,
        cost: CostName = "cosine",
        *,
        token_weights: Literal["uniform", "norm"] = "uniform",
        unit: bool = False,
        empty: Literal["error", "inf"] = "error",
        metric: TransportMetric = "wmd",
        algorithm: Algorithm = "auto",
        memory: str | int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.cost = cost
        self.token_weights = token_weights
        self.unit = unit
        self.empty = empty
        self.metric = metric
        self.algorithm = algorithm
        self.memory = memory
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ corpus

    @rollback_on_error
    def fit(self, X: TokenDocuments, y: object = None) -> Self:
        """Store a corpus of token-vector documents, which `search` then searches.

        A search never finds documents without tokens.

        Parameters
        ----------
        X : iterable of arrays of shape (n_tokens, d), or of TokenVectors
            Corpus.
        y : object, optional
            Ignored.

        Returns
        -------
        TokenMover
            The estimator itself.

        Raises
        ------
        MemoryError
            If the vectors do not fit into memory; `fit` then stores nothing.
        """
        stack = self._stack(X, "X")
        if len(stack) == 0:
            raise ValueError("X must have at least one document; got none.")
        if not len(stack.table):
            raise ValueError("X must have at least one token; all documents are empty.")
        self._keep(stack)
        return self

    def engine(self) -> TransportEngine:
        """Return the `TransportEngine` that searches the documents of `fit`.

        Returns
        -------
        TransportEngine
            The documents over their own tokens, made once.

        Raises
        ------
        NotFittedError
            If `fit` was not called, or a parameter that the documents depend on has changed.
        """
        if not hasattr(self, "vectors_"):
            raise NotFittedError(
                "This TokenMover instance is not fitted yet: call fit(corpus) with the documents "
                "to search in."
            )
        if self.fitted_with_ != self._current_parameters():
            raise NotFittedError(
                f"One of {', '.join(_DEPENDS_ON)} has changed since fit: call fit(corpus) again."
            )
        if "_cached_engine" not in self.__dict__:
            stack = TokenStack(self.offsets_, self.vectors_, self.weights_)
            self._cached_engine = self._engine_of(stack)
        return self._cached_engine

    def read_queries(self, X: TokenDocuments | TokenDocument) -> DocumentRows:
        """Convert token-vector documents to query rows for the engine.

        Parameters
        ----------
        X : TokenVectors, array of shape (n_tokens, d), or iterable of these
            Queries; a single document is one query.

        Returns
        -------
        DocumentRows
            One row per document; its tokens are numbered after the tokens of the corpus.
        """
        engine = self.engine()
        many: Any = X
        if isinstance(X, TokenVectors) or getattr(X, "ndim", 3) == 2:
            many = [X]
        return self._stack(many, "queries", self.n_features_in_).queries(len(engine.table.vectors))

    def search_options(self, k: int | None = None, radius: float = math.inf) -> SearchOptions:
        """Return the parameters of the estimator as `SearchOptions`, with `k` and `radius`.

        Parameters
        ----------
        k : int or None, default=None
            Maximum number of documents per query. If None, no limit.
        radius : float, default=inf
            Largest distance, inclusive.

        Returns
        -------
        SearchOptions
            Validated options.
        """
        return SearchOptions.of_parameters(k, radius, **self._search_parameters())

    # ------------------------------------------------------------------ distances

    def distance(self, a: TokenDocument, b: TokenDocument) -> float:
        """Return the distance of two token-vector documents by the estimator's `metric`.

        Parameters
        ----------
        a, b : array of shape (n_tokens, d), or TokenVectors
            The documents.

        Returns
        -------
        float
            Distance, at least 0.

        Raises
        ------
        EmptyDocumentError
            If a document has no tokens of positive weight and `empty` is "error".
        """
        return float(self._paired([a], [b], ("a", "b"), None)[0])

    def pairwise(
        self,
        X: TokenDocuments,
        Y: TokenDocuments | None = None,
        *,
        metric: TransportMetric | None = None,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the matrix of distances between all documents of `X` and all documents of `Y`.

        Parameters
        ----------
        X : iterable of arrays of shape (n_tokens, d), or of TokenVectors
            n documents.
        Y : the same, or None
            m documents. If None, the documents of `X` again, at half the work.
        metric : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"} or None, default=None
            Distance; see `WordMover.pairwise`. If None, the parameter of the class.
        progress : callable, optional
            Function that is called with (pairs done, number of pairs).

        Returns
        -------
        ndarray of shape (n, m), float64
            Distances; the diagonal is 0 if `Y` is None.
        """
        engine, rows, columns = self._pairs_of(X, Y)
        documents = rows.documents()
        others = documents if Y is None else columns.documents()
        return engine.matrix(documents, others, self._metric(metric), self._options(), progress)

    def paired(
        self, X: TokenDocuments, Y: TokenDocuments, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the distance between `X[i]` and `Y[i]` for each i, by the estimator's `metric`.

        Parameters
        ----------
        X, Y : iterable of arrays of shape (n_tokens, d), or of TokenVectors
            n documents each.
        progress : callable, optional
            Function that is called with (pairs done, number of pairs).

        Returns
        -------
        ndarray of shape (n,), float64
            Distances.
        """
        return self._paired(X, Y, ("X", "Y"), progress)

    # ------------------------------------------------------------------ bounds

    def bounds(self, a: TokenDocument, b: TokenDocument) -> Bounds:
        """Return the lower bounds of the distance of two documents; see `WordMover.bounds`.

        Parameters
        ----------
        a, b : array of shape (n_tokens, d), or TokenVectors
            The documents.

        Returns
        -------
        Bounds
            Centroid bound, both one-sided relaxations, and the larger relaxation as ``relaxed``.
        """
        engine, first, second = self._pairs_of([a], [b], ("a", "b"))
        return engine.bounds(first.documents(), second.documents())

    # ------------------------------------------------------------------ explanation

    def explain(self, a: TokenDocument, b: TokenDocument) -> Comparison:
        """Return the `Comparison` of two documents: distance, flow, bounds, and certificate.

        Parameters
        ----------
        a, b : array of shape (n_tokens, d), or TokenVectors
            The documents. Tokens are named by the words of `TokenVectors`, or by their numbers if
            there are no words.

        Returns
        -------
        Comparison
            Comparison whose contributions sum to its distance, which is bit-identical to the result
            of `distance`. ``verify()`` proves it.

        Raises
        ------
        EmptyDocumentError
            If a document has no tokens of positive weight, for any value of `empty`.
        """
        read = one_document(a, "a"), one_document(b, "b")
        source, target = self._stacks([read[0]], [read[1]], ("a", "b"))
        table = VectorTable(target.followed_by(source))
        first = source.rows(len(target.table), len(table.vectors))
        second = target.rows(0, len(table.vectors))
        for rows, name in ((first, "a"), (second, "b")):
            refuse_empty(rows.documents(), name, choice=False)
        names = [*_words(read[1]), *_words(read[0])]
        return TransportEngine(table, self.cost).explain(
            first, second, self._options(), feature_names=names
        )

    # ------------------------------------------------------------------ search

    def search(
        self,
        queries: TokenDocuments | TokenDocument,
        k: int | None = 10,
        *,
        radius: float | None = None,
        metric: TransportMetric | None = None,
        algorithm: Algorithm | None = None,
        max_candidates: int | None = None,
        mask: ArrayLike | None = None,
        progress: ProgressCallback | None = None,
    ) -> Neighbors:
        """Find the fitted documents with the smallest distance to each query, as `Neighbors`.

        The result is exact: bit-identical to a comparison with every document. A search never finds
        documents without tokens, and a query without tokens has no hits.

        Parameters
        ----------
        queries : TokenVectors, array of shape (n_tokens, d), or iterable of these
            Queries; a single document is one query.
        k, radius, metric, algorithm, max_candidates, mask, progress
            As in `WordMover.search`.

        Returns
        -------
        Neighbors
            ``indices``, ``distances``, ``counts``, ``stats``, and ``certificate(i)``, which proves
            the result of query i.

        Raises
        ------
        NotFittedError
            If there is no corpus, or `cost`, `token_weights`, or `unit` has changed since `fit`.
        """
        engine = self.engine()
        options = SearchOptions.of_request(
            len(engine),
            k,
            radius,
            max_candidates,
            mask,
            progress,
            **self._search_parameters(metric, algorithm),
        )
        rows = self.read_queries(queries)
        ranked = engine.search(rows, options, progress=progress)
        return Neighbors.of(ranked, engine, rows, options)

    def search_max_sim(
        self,
        queries: TokenDocuments | TokenDocument,
        k: int = 10,
        *,
        mask: ArrayLike | None = None,
        progress: ProgressCallback | None = None,
    ) -> Neighbors:
        r"""Find the fitted documents with the largest MaxSim (ColBERT's score) for each query.

        Parameters
        ----------
        queries : TokenVectors, array of shape (n_tokens, d), or iterable of these
            Queries; a single document is one query.
        k : int, default=10
            Maximum number of documents per query.
        mask : array of bool of shape (n_documents,), or of positions, or None, default=None
            Documents that may be found. If None, all.
        progress : callable, optional
            Function that is called with (queries done, number of queries).

        Returns
        -------
        Neighbors
            ``scores`` are MaxSim, as computed by `max_sim`, in descending order. ``indices``,
            ``counts``, and ``stats`` are as for `search`. There are no distances or certificates.

        Raises
        ------
        ValueError
            If the cost is not "cosine" or the token weights are not "uniform": MaxSim sums cosines.

        Notes
        -----
        With the cosine cost and weights w of the query that sum to W,

        .. math:: \sum_i w_i \max_j \cos(q_i, d_j) = W \Big(1 - \sum_i \tfrac{w_i}{W}
            \min_j c(q_i, d_j)\Big),

        so MaxSim ranks documents in the same order as the relaxed distance of the query side
        (``metric="rwmd-query"``).

        References
        ----------
        Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized
        Late Interaction over BERT", SIGIR 2020, equation 3.

        Examples
        --------
        >>> from textkin import TokenMover
        >>> mover = TokenMover().fit([[[1, 0], [0, 1]], [[3, 4]]])
        >>> found = mover.search_max_sim([[[1, 0], [0, 2]], [[3, 4]]])
        >>> found.indices, found.scores.round(6)
        (array([[0, 1],
               [1, 0]]), array([[2. , 1.4],
               [1. , 0.8]]))
        """
        engine = self.engine()
        if self.cost != "cosine" or self.token_weights != "uniform":
            raise ValueError(
                "search_max_sim requires cost='cosine' and token_weights='uniform'; got "
                f"cost={self.cost!r} and token_weights={self.token_weights!r}."
            )
        if k is None:
            raise ParameterTypeError("k", "an integer of at least 1", "None")
        options = SearchOptions.of_request(
            len(engine),
            k,
            None,
            None,
            mask,
            progress,
            **self._search_parameters("rwmd-query", "auto"),
        )
        rows = self.read_queries(queries)
        ranked = engine.search(rows, options, progress=progress)
        totals = np.repeat(totals_of(rows.indptr, rows.counts), np.diff(ranked.indptr))
        ranked = replace(ranked, scores=totals * (1 - ranked.scores), ascending=False)
        return Neighbors.of(ranked, engine, rows, options)

    # ------------------------------------------------------------------ fitted documents

    def _keep(self, stack: TokenStack) -> None:
        """Store the documents of `fit`, and prepare their search."""
        engine = self._engine_of(stack)
        if self.algorithm == "auto":
            engine.prepare(memory_limit(self.memory))
        read_only(stack.offsets, stack.table, stack.weights)  # the core reads these arrays later
        self.offsets_, self.vectors_, self.weights_ = stack.offsets, stack.table, stack.weights
        self.n_documents_ = len(stack)
        self.n_features_in_ = stack.table.shape[1]
        self.fitted_with_ = self._current_parameters()
        self._cached_engine = engine

    def _current_parameters(self) -> tuple[str | bool, ...]:
        return tuple(getattr(self, name) for name in _DEPENDS_ON)

    def _engine_of(self, stack: TokenStack) -> TransportEngine:
        return TransportEngine(VectorTable(stack.table), self.cost, blocks=[stack.compact_rows()])

    def _search_parameters(
        self, metric: TransportMetric | None = None, algorithm: Algorithm | None = None
    ) -> dict[str, Any]:
        return {
            "metric": self.metric if metric is None else metric,
            "algorithm": self.algorithm if algorithm is None else algorithm,
            "memory": self.memory,
            "n_jobs": self.n_jobs,
        }

    def _metric(self, metric: TransportMetric | None = None) -> TransportMetric:
        """Validate and return `metric`, or the estimator's parameter `metric` if it is None."""
        metric = self.metric if metric is None else metric
        SEARCH_CONSTRAINTS["metric"].check("metric", metric)
        return metric

    def _options(self) -> SearchOptions:
        """Return `SearchOptions` for distances of given pairs: the number of threads."""
        return SearchOptions(memory=memory_limit(self.memory), threads=effective_jobs(self.n_jobs))

    def _check_loaded(self) -> None:
        memory_limit(self.memory)
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
            raise ValueError(
                "vectors_, offsets_ and weights_ must have matching lengths and valid numbers"
            )
        cost, _, unit = self.fitted_with_
        if unit or cost == "cosine":
            lengths = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
            if np.abs(lengths - 1).max() > _UNIT:
                raise ValueError("the vectors of the tokens must have unit length")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_cached_engine", None)
        return state

    # ------------------------------------------------------------------ reading

    def _stack(self, X: TokenDocuments, name: str, dimension: int | None = None) -> TokenStack:
        """Validate token-vector documents, and concatenate their tokens into a `TokenStack`."""
        check_params(self)
        unit = bool(self.unit) or self.cost == "cosine"
        by_norm = self.token_weights == "norm"
        return stack_tokens(X, name, unit=unit, by_norm=by_norm, dimension=dimension)

    def _stacks(
        self, X: TokenDocuments, Y: TokenDocuments, names: tuple[str, str]
    ) -> tuple[TokenStack, TokenStack]:
        first = self._stack(X, names[0])
        dimension = first.table.shape[1] if len(first.table) else None
        return first, self._stack(Y, names[1], dimension)

    def _pairs_of(
        self,
        X: TokenDocuments,
        Y: TokenDocuments | None,
        names: tuple[str, str] = ("X", "Y"),
    ) -> tuple[TransportEngine, DocumentRows, DocumentRows]:
        """Return an engine over the tokens of `X` and `Y`, and the documents of each as rows."""
        if Y is None:
            stack = self._stack(X, names[0])
            rows = stack.rows(0, len(stack.table))
            self._check_empty(rows, names[0])
            return TransportEngine(VectorTable(stack.table), self.cost), rows, rows
        # The documents to search in come first, as in a search: for two documents with equally
        # many tokens, the solver starts with the document whose tokens have the lower numbers.
        first, second = self._stacks(X, Y, names)
        table = VectorTable(second.followed_by(first))
        rows = first.rows(len(second.table), len(table.vectors))
        columns = second.rows(0, len(table.vectors))
        self._check_empty(rows, names[0])
        self._check_empty(columns, names[1])
        return TransportEngine(table, self.cost), rows, columns

    def _paired(
        self,
        X: TokenDocuments,
        Y: TokenDocuments,
        names: tuple[str, str],
        progress: ProgressCallback | None,
    ) -> Float64Array:
        engine, first, second = self._pairs_of(X, Y, names)
        metric, options = self._metric(), self._options()
        if metric != "wmd":
            return engine.paired_bounds(first, second, metric, options, progress)
        return engine.paired(first.documents(), second.documents(), options, progress)

    def _check_empty(self, rows: DocumentRows, name: str) -> None:
        if self.empty == "error":
            refuse_empty(rows.documents(), name, choice=True)


def _words(document: TokenVectors) -> list[str]:
    if document.tokens is not None:
        return list(document.tokens)
    return [f"#{i}" for i in range(len(document))]
