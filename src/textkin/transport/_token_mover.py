"""Exact transport between documents that are arrays of token vectors."""

from typing import ClassVar, Literal, Self

import numpy as np

from textkin import _core
from textkin._saving import SavedEstimator
from textkin._typing import Float32Array, Float64Array
from textkin._validation import Constraint, integer, one_of
from textkin.run import ProgressCallback, effective_jobs
from textkin.transport._comparison import Bounds, Comparison, bounds_of_rows, compare_rows
from textkin.transport._corpus import Algorithm
from textkin.transport._costs import COSTS, CostName
from textkin.transport._matrices import MeasuresBounds
from textkin.transport._search import SEARCH_CONSTRAINTS
from textkin.transport._token_search import SearchesTokens
from textkin.transport._token_stack import Stack, refuse_empty
from textkin.transport._token_vectors import (
    TokenDocument,
    TokenDocuments,
    TokenVectors,
    one_document,
)
from textkin.vectors._space import Space

__all__ = ["TokenMover"]


class TokenMover(SearchesTokens, MeasuresBounds, SavedEstimator):
    r"""How far the tokens of one document travel to become another, by vectors in their context.

    A document is an array of token vectors of shape (n_tokens, d) from any encoder, or
    `TokenVectors`, which has weights and words beside them. All is as with `WordMover`, but that
    each document brings its own points: no two tokens are the same word, only near.

    Parameters
    ----------
    cost : {"cosine", "euclidean", "sqeuclidean"}, default="cosine"
        What moving a token costs: one minus the cosine, the Euclidean distance (a metric), or its
        square.
    masses : {"uniform", "norm"}, default="uniform"
        How much of a document each token is. "uniform": its weight, or the same for all where
        a document has no weights; "norm": the weight times the length of its vector, as in Word
        Rotator's Distance (with the cosine cost).
    unit : bool, default=False
        Bring all vectors to length one first; the cosine cost always does.
    empty : {"error", "inf"}, default="error"
        What to answer for a document without tokens, or whose tokens all weigh nothing: raise
        `EmptyDocumentError`, or infinity.
    algorithm : str, default="auto"
        How nearest documents are found, as in `WordMover`: "auto", "prefetch" and "brute" are
        exact; "wcd", "rwmd", "rwmd-query" and "rwmd-document" rank by a lower bound alone, and
        report that bound.
    memory : str or int, default="512MB"
        How much memory the tables of a search may take, beside the vectors.
    n_jobs : int or None, default=None
        Threads for many pairs and for searching: None is one, -1 all cores. They never change
        results.

    Attributes
    ----------
    vectors_ : ndarray of shape (n_tokens, d), float32
        The tokens of the corpus, one document after another, as they are compared: of length one
        for the cosine cost and `unit`.
    offsets_ : ndarray of shape (n_documents + 1,), int64
        Where the documents begin in `vectors_`.
    weights_ : ndarray of shape (n_tokens,), float64
        How much each token counts in its document.
    n_documents_ : int
        The number of documents that `fit` saw.

    See Also
    --------
    TokenVectors : A document with weights and words.
    textkin.transport.TokenIdf : Weights by how rare tokens are.
    textkin.transport.max_sim : ColBERT's similarity, of all pairs.
    textkin.transport.bert_score : BERTScore.

    Notes
    -----
    With masses a and b that sum to one, and vectors x and y,

    .. math:: D(a, b) = \min_{T \ge 0} \sum_{ij} T_{ij}\, c(x_i, y_j)
        \quad\text{s.t.}\quad \sum_j T_{ij} = a_i,\; \sum_i T_{ij} = b_j,

    exact as in `WordMover`. ``distance(query, document)``, ``pairwise`` and ``search`` give the
    same number to the last bit; with the two documents exchanged it is the same within 1e-6.

    The corpus's tokens are the vector table of the search, each document a range of its rows, and
    a query brings points of its own. A token takes 4 d bytes, which `fit` copies, and about 20
    more; a pair of documents of n and m tokens takes O(nmd) for the costs, and somewhat more than
    O(nm) for the plan.

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
        "masses": one_of("uniform", "norm"),
        "unit": one_of(True, False),
        "empty": one_of("error", "inf"),
        "algorithm": SEARCH_CONSTRAINTS["algorithm"],
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        cost: CostName = "cosine",
        *,
        masses: Literal["uniform", "norm"] = "uniform",
        unit: bool = False,
        empty: Literal["error", "inf"] = "error",
        algorithm: Algorithm = "auto",
        memory: str | int = "512MB",
        n_jobs: int | None = None,
    ) -> None:
        self.cost = cost
        self.masses = masses
        self.unit = unit
        self.empty = empty
        self.algorithm = algorithm
        self.memory = memory
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ the corpus

    def fit(self, X: TokenDocuments, y: object = None) -> Self:
        """Keep a corpus to search in.

        Documents without tokens may be among them; they are never found.

        Parameters
        ----------
        X : iterable of arrays of shape (n_tokens, d), or of TokenVectors
            The corpus.
        y : object, optional
            Ignored.

        Returns
        -------
        TokenMover
            The estimator itself.

        Raises
        ------
        MemoryError
            If the vectors cannot fit into the memory of the machine; nothing is kept.
        """
        stack = self._stacked(X, "X")
        if len(stack) == 0:
            raise ValueError("X must have at least one document; got none.")
        if not len(stack.table):
            raise ValueError("X must have at least one token; all documents are empty.")
        self._keep(stack)
        return self

    # ------------------------------------------------------------------ distances

    def distance(self, a: TokenDocument, b: TokenDocument) -> float:
        """Return the exact distance of two documents.

        Parameters
        ----------
        a, b : array of shape (n_tokens, d), or TokenVectors
            The documents.

        Returns
        -------
        float
            At least 0; smaller is nearer.

        Raises
        ------
        EmptyDocumentError
            If a document has no tokens, or only such as weigh nothing, and `empty` is "error".
        """
        return float(self._paired([a], [b], ("a", "b"), None)[0])

    def pairwise(
        self,
        X: TokenDocuments,
        Y: TokenDocuments | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the exact distances between all documents of `X` and of `Y`.

        Parameters
        ----------
        X : iterable of arrays of shape (n_tokens, d), or of TokenVectors
            n documents.
        Y : the same, or None
            m documents; None compares those of `X` with each other, at half the work.
        progress : callable, optional
            Called now and then with the pairs done and their number.

        Returns
        -------
        ndarray of shape (n, m), float64
            Distances; the diagonal is 0 if `Y` is None.
        """
        table, rows, columns = self._pairs_of(X, Y)
        return _core.distance_matrix(
            table, rows, columns, self.cost, effective_jobs(self.n_jobs), progress
        )

    def paired(
        self, X: TokenDocuments, Y: TokenDocuments, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the exact distance of each document of `X` to the same one of `Y`.

        Parameters
        ----------
        X, Y : iterable of arrays of shape (n_tokens, d), or of TokenVectors
            n documents each.
        progress : callable, optional
            Called now and then with the pairs done and their number.

        Returns
        -------
        ndarray of shape (n,), float64
            Distances.
        """
        return self._paired(X, Y, ("X", "Y"), progress)

    def _paired(
        self,
        X: TokenDocuments,
        Y: TokenDocuments,
        names: tuple[str, str],
        progress: ProgressCallback | None,
    ) -> Float64Array:
        table, first, second = self._pairs_of(X, Y, names)
        if len(first) != len(second):
            raise ValueError(
                f"X and Y must have the same number of documents; got {len(first)} and "
                f"{len(second)}."
            )
        both = np.arange(len(first), dtype=np.int64)
        return _core.distance_pairs(
            table, first, both, second, both, self.cost, effective_jobs(self.n_jobs), progress
        )

    def bounds(self, a: TokenDocument, b: TokenDocument) -> Bounds:
        """Return the lower bounds of the distance of two documents; see `WordMover.bounds`.

        Parameters
        ----------
        a, b : array of shape (n_tokens, d), or TokenVectors
            The documents.

        Returns
        -------
        Bounds
            Centroid, both one-sided relaxations, and the larger of these as ``relaxed``.
        """
        table, first, second = self._pairs_of([a], [b], ("a", "b"))
        return bounds_of_rows(Space(table, None, None), first, second, self.cost)

    def explain(self, a: TokenDocument, b: TokenDocument) -> Comparison:
        """Return the distance of two documents with its flow, bounds and proof.

        Parameters
        ----------
        a, b : array of shape (n_tokens, d), or TokenVectors
            The documents. Tokens go by their words, where `TokenVectors` have them, else by
            their number.

        Returns
        -------
        Comparison
            Its contributions sum to its distance, which is that of `distance` to the last bit;
            ``verify()`` proves it.

        Raises
        ------
        EmptyDocumentError
            If a document has nothing that could move, whatever `empty` says.
        """
        read = one_document(a, "a"), one_document(b, "b")
        source, target = self._stacks([read[0]], [read[1]], ("a", "b"))
        table = target.followed_by(source)
        first, second = source.encoded(len(target.table), len(table)), target.encoded(0, len(table))
        rows, columns = first.documents(), second.documents()
        for documents, name in ((rows, "a"), (columns, "b")):
            refuse_empty(documents, name, choice=False)
        names = [*_words(read[1]), *_words(read[0])]
        space = Space(table, None, None)
        return compare_rows(space, first, rows, second, columns, self.cost, names, ("", ""))

    # ------------------------------------------------------------------ reading

    def _stacks(
        self, X: TokenDocuments, Y: TokenDocuments, names: tuple[str, str]
    ) -> tuple[Stack, Stack]:
        first = self._stacked(X, names[0])
        dimension = first.table.shape[1] if len(first.table) else None
        return first, self._stacked(Y, names[1], dimension)

    def _pairs_of(
        self,
        X: TokenDocuments,
        Y: TokenDocuments | None,
        names: tuple[str, str] = ("X", "Y"),
    ) -> tuple[Float32Array, _core.Documents, _core.Documents]:
        if Y is None:
            stack = self._stacked(X, names[0])
            rows = stack.encoded(0, len(stack.table)).documents()
            self._check_empty(rows, names[0])
            return stack.table, rows, rows
        # What is searched comes first, as in a search: of two documents with equally many tokens
        # the solver begins with the first, which is all that their numbers decide.
        first, second = self._stacks(X, Y, names)
        table = second.followed_by(first)
        rows = first.encoded(len(second.table), len(table)).documents()
        columns = second.encoded(0, len(table)).documents()
        self._check_empty(rows, names[0])
        self._check_empty(columns, names[1])
        return table, rows, columns

    def _check_empty(self, documents: _core.Documents, name: str) -> None:
        if self.empty == "error":
            refuse_empty(documents, name, choice=True)


def _words(document: TokenVectors) -> list[str]:
    if document.tokens is not None:
        return list(document.tokens)
    return [f"#{i}" for i in range(len(document))]
