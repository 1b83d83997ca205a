"""The Word Mover's Distance as an estimator."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from textkin import _core
from textkin._typing import Float64Array, Int64Array
from textkin._validation import Constraint, instance_of, one_of
from textkin.run import ProgressCallback, effective_jobs
from textkin.text._stop_words import StopWords
from textkin.text._tokenise import text_of
from textkin.transport._aligning import TextWords
from textkin.transport._comparison import Bounds, Comparison, bounds_of_rows, compare_rows
from textkin.transport._corpus import Algorithm, Rows
from textkin.transport._costs import COSTS, CostName
from textkin.transport._kneighbors import FindsNeighbors
from textkin.transport._masses import MASSES, Masses, learnt_word_weights
from textkin.transport._matrices import MeasuresBounds
from textkin.transport._quick import distance_of_bags
from textkin.transport._search import SEARCH_CONSTRAINTS
from textkin.transport._streams import StreamsPairs
from textkin.vectors._documents import OVER_VECTORS, Documents, Vectors
from textkin.vectors._encode import Document

__all__ = ["WordMover"]

_FIRST_ROW: Int64Array = np.zeros(1, dtype=np.int64)


class WordMover(FindsNeighbors, StreamsPairs, MeasuresBounds):
    r"""The Word Mover's Distance: how far the words of one document travel to become another.

    Parameters
    ----------
    vectors : WordVectors, ndarray of shape (n_columns, d) or None, default=None
        Where words lie. None: the built-in vectors. `WordVectors` go with texts; a matrix goes
        with bags, one row a column, and a row of NaN says that a word has no vector.
        Numbers are used as float32; leave the matrix unchanged while it is in use.
    masses : {"nbow", "sif", "tfidf"} or ndarray of shape (n_columns,), default="nbow"
        How much of a document each word is. "nbow": its share of the counts, as in the paper.
        "sif": the count times a / (a + p), which gives frequent words less; p is learnt from the
        bags of `fit`, or estimated from the rank of the word in the vectors for texts, whose
        order is that of frequency in published files. "tfidf": the count times
        log2(N / df), learnt in `fit`; a word that no document has counts like one that a single
        document has. An array gives each word a weight of its own. Bags may also hold weights
        in place of counts.
    cost : {"euclidean", "cosine", "sqeuclidean"}, default="euclidean"
        What moving a word costs: the Euclidean distance of the vectors (the paper's), one minus
        their cosine, or the squared distance. Only the first is a metric.
    unit : bool, default=False
        Bring all vectors to length one first (gensim's default; the paper uses raw vectors). The
        cosine cost always does.
    empty : {"error", "inf"}, default="error"
        What to answer for a document without any word that has a vector: raise
        `EmptyDocumentError`, or infinity as the paper's code does.
    oov : {"drop", "error"}, default="drop"
        What to do with words without a vector: leave them out (see `coverage`), or raise.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to leave out: a list by name (see `textkin.text.stop_lists`), none, a file
        (a `pathlib.Path`) or your own. Tokens and bags are taken as they are.
    max_words_per_document : int or None, default=None
        Keep only the most frequent words of each text or list of tokens; `coverage` says what
        was cut. The time for a pair grows with the square of the number of different words, at
        least.
    n_neighbors : int, default=5
        How many documents `kneighbors` finds.
    radius : float, default=1.0
        How far the documents may be that `radius_neighbors` finds.
    algorithm : str, default="auto"
        How nearest documents are found. "auto": bounds first, and exact distances only where they
        can matter. "prefetch": the paper's, in the order of the centroids, pruned by the relaxed
        distance. "brute": every distance. All three find the same. "wcd", "rwmd", "rwmd-query",
        "rwmd-document": rank by a lower bound alone, and report that bound.
    memory : str or int, default="512MB"
        How much memory the tables of a search may take, such as "2GB", or bytes; at most 2**62.
    device : str or None, default=None
        Where bounds are computed: None is the compiled core; "cuda", or "cuda:1" of several, a GPU
        through torch; "cpu" the same through torch on the processor. A search finds the same
        documents at the same distances; `wcd`, `rwmd` and rankings by them agree to 1e-6.
    device_memory : str, int or None, default=None
        How much of the device's memory documents may take; more come to it in parts. None: 60 %
        of what is free.
    n_jobs : int or None, default=None
        Threads for many pairs and for searching: None is one, -1 all cores. They never change
        results.

    Attributes
    ----------
    n_documents_ : int
        The number of documents that `fit` saw.
    word_weights_ : ndarray of shape (n_columns,) or None
        The weight of each word, where it was learnt.

    See Also
    --------
    textkin.transport.optimal_transport : The same problem with masses and costs of your own.

    Notes
    -----
    With masses d and d' that sum to one and the cost c(i, j) of moving word i to word j,

    .. math:: \mathrm{WMD}(d, d') = \min_{T \ge 0} \sum_{ij} T_{ij}\, c(i, j)
        \quad\text{s.t.}\quad \sum_j T_{ij} = d_i,\; \sum_i T_{ij} = d'_j.

    The answer is exact: within 1e-6 (relative) of the linear programme over float64 costs of the
    vectors as they are in float32 (after they were brought to unit length, where that is asked
    for). It is the same to the last bit in a batch, on any number of threads and with the
    documents exchanged. Every distance can be proven, see `explain`.

    A document is a text, a list of tokens or a row of bags. Words of texts are looked up as
    written, then in lower case, then in title case; possessives also without their ending.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015.

    Examples
    --------
    >>> from textkin import WordMover
    >>> mover = WordMover()
    >>> near = mover.distance("Obama speaks to the media in Illinois",
    ...                       "The President greets the press in Chicago")
    >>> far = mover.distance("Obama speaks to the media in Illinois",
    ...                      "The band gave a concert in Japan")
    >>> near < far
    True
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        **OVER_VECTORS,
        "masses": one_of(*MASSES) | instance_of(np.ndarray, "an array with a weight for each word"),
        "cost": one_of(*COSTS),
        "empty": one_of("error", "inf"),
        **SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        vectors: Vectors = None,
        *,
        masses: Masses = "nbow",
        cost: CostName = "euclidean",
        unit: bool = False,
        empty: Literal["error", "inf"] = "error",
        oov: Literal["drop", "error"] = "drop",
        stop_words: StopWords = "smart",
        max_words_per_document: int | None = None,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: Algorithm = "auto",
        memory: str | int = "512MB",
        device: str | None = None,
        device_memory: str | int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vectors = vectors
        self.masses = masses
        self.cost = cost
        self.unit = unit
        self.empty = empty
        self.oov = oov
        self.stop_words = stop_words
        self.max_words_per_document = max_words_per_document
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.memory = memory
        self.device = device
        self.device_memory = device_memory
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ learning

    def fit(self, X: Documents, y: object = None) -> Self:
        """Keep a corpus to search in, and learn from it what the masses need, if anything.

        Documents without any word that has a vector may be among them; they are never found.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            The corpus.
        y : object, optional
            Ignored.

        Returns
        -------
        WordMover
            The estimator itself.
        """
        space = self._space()
        encoded = self._encode(X, "X", space)
        if len(encoded) == 0:
            raise ValueError("X must have at least one document; got none.")
        rows = Rows.of(encoded, "X")
        weights = learnt_word_weights(self.masses, space, encoded)
        self._learnt_for = self._what_is_learnt(space)
        self.n_documents_ = len(encoded)
        self.word_weights_ = weights
        self._keep(rows)
        return self

    # ------------------------------------------------------------------ distances

    def distance(self, a: Document, b: Document) -> float:
        """Return the exact distance of two documents.

        Parameters
        ----------
        a, b : str, list of str, or one row of bags
            The documents.

        Returns
        -------
        float
            At least 0; smaller is nearer.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector and `empty` is "error".
        """
        space, weights = self._setting()
        if weights is None and (quick := distance_of_bags(space, a, b, self.cost)) is not None:
            return quick
        first = self._single(a, "a", space, weights)
        second = self._single(b, "b", space, weights)
        found = _core.distance_pairs(
            space.table,
            self._documents(first, "a"),
            _FIRST_ROW,
            self._documents(second, "b"),
            _FIRST_ROW,
            self.cost,
            1,
            None,
        )
        return float(found[0])

    def pairwise(
        self, X: Documents, Y: Documents | None = None, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the exact distances between all documents of `X` and of `Y`.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents.
        Y : the same, or None
            m documents; None compares those of `X` with each other, at half the work.
        progress : callable, optional
            Called now and then with the pairs done and their number. Ctrl-C works with or
            without it.

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
        self, X: Documents, Y: Documents, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the exact distance of each document of `X` to the same one of `Y`.

        Parameters
        ----------
        X, Y : iterable of texts or token lists, or bags
            n documents each.
        progress : callable, optional
            Called now and then with the pairs done and their number.

        Returns
        -------
        ndarray of shape (n,), float64
            Distances.
        """
        space, weights = self._setting()
        first = self._documents(self._encode(X, "X", space, weights), "X")
        second = self._documents(self._encode(Y, "Y", space, weights), "Y")
        if len(first) != len(second):
            raise ValueError(
                f"X and Y must have the same number of documents; got {len(first)} and "
                f"{len(second)}."
            )
        both = np.arange(len(first), dtype=np.int64)
        return _core.distance_pairs(
            space.table, first, both, second, both, self.cost, effective_jobs(self.n_jobs), progress
        )

    # ------------------------------------------------------------------ bounds

    def bounds(self, a: Document, b: Document) -> Bounds:
        r"""Return the lower bounds of the distance of two documents.

        Parameters
        ----------
        a, b : str, list of str, or one row of bags
            The documents.

        Returns
        -------
        Bounds
            Centroid, both one-sided relaxations, and the larger of these as ``relaxed``.

        Notes
        -----
        The centroid bound is :math:`\|Xd - Xd'\|` (its square, or half of that, for the squared
        and the cosine cost); the relaxations drop one of the two constraints:
        :math:`\sum_i d_i \min_j c(i, j)` and :math:`\sum_j d'_j \min_i c(i, j)`. The centroid
        bound may exceed the relaxed one.

        References
        ----------
        Kusner et al., "From Word Embeddings To Document Distances", ICML 2015, section 4.
        """
        space, weights = self._setting()
        first = self._documents(self._single(a, "a", space, weights), "a")
        second = self._documents(self._single(b, "b", space, weights), "b")
        return bounds_of_rows(space, first, second, self.cost)

    def word_centroid_distance(self, a: Document, b: Document) -> float:
        """Return the Word Centroid Distance (WCD), a lower bound; see `bounds`."""
        return self.bounds(a, b).centroid

    def relaxed_word_mover_distance(
        self, a: Document, b: Document, *, side: Literal["both", "source", "target"] = "both"
    ) -> float:
        """Return the Relaxed Word Mover's Distance (RWMD), a lower bound; see `bounds`.

        Parameters
        ----------
        a, b : str, list of str, or one row of bags
            The documents.
        side : {"both", "source", "target"}, default="both"
            The larger of both relaxations; or that which keeps the masses of `a` alone, or of
            `b` alone.

        Returns
        -------
        float
            At least 0 and at most the distance.
        """
        one_of("both", "source", "target").check("side", side)
        bounds = self.bounds(a, b)
        if side == "both":
            return bounds.relaxed
        return bounds.source if side == "source" else bounds.target

    # ------------------------------------------------------------------ explanation

    def explain(
        self, a: Document, b: Document, *, words: Sequence[str] | None = None
    ) -> Comparison:
        """Return the distance of two documents with its flow, bounds, coverage and proof.

        Parameters
        ----------
        a, b : str, list of str, or one row of bags
            The documents.
        words : sequence of str, optional
            Names of the columns of bags, such as ``vocabulary.words``.

        Returns
        -------
        Comparison
            Its contributions sum to its distance, which is that of `distance` to the last bit;
            ``verify()`` proves it. Where several flows are optimal, the answer is always the
            same one.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector, whatever `empty` says: nothing flows.

        Examples
        --------
        >>> from textkin import WordMover
        >>> found = WordMover().explain("Obama speaks", "The President greets")
        >>> [(move.source, move.target) for move in found.moves]
        [('obama', 'president'), ('speaks', 'greets')]
        >>> found.verify().gap < 1e-6
        True
        """
        space, weights = self._setting()
        first = self._single(a, "a", space, weights)
        second = self._single(b, "b", space, weights)
        rows, columns = self._documents(first, "a", "error"), self._documents(second, "b", "error")
        if words is not None and len(words) != len(space):
            raise ValueError(
                f"words must name the {len(space)} columns of the bags; got {len(words)} names."
            )
        finder = None if space.lookup is None else TextWords(self._preparation(), space.lookup)
        texts = (_written(a), _written(b))
        return compare_rows(space, first, rows, second, columns, self.cost, words, texts, finder)


def _written(document: Document) -> str:
    text = text_of(document)
    return text if isinstance(text, str) else ""
