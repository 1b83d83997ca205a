"""`WordMover`: the Word Mover's Distance with the interface of scikit-learn."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError

from textkin import _core
from textkin._base import (
    PROGRESS,
    Constraint,
    Float64Array,
    HasText,
    Int64Array,
    instance_of,
    integer,
    is_count,
    one_of,
    real,
    rollback_on_error,
)
from textkin.corpus import (
    WORD_VECTOR_PARAMETERS,
    Document,
    DocumentRows,
    Documents,
    RankedRows,
    Vectors,
    VectorTable,
    WordVectorEstimator,
    listed,
    same_parameters,
)
from textkin.exceptions import EmptyDocumentError
from textkin.run import ProgressCallback, effective_jobs, memory_in_bytes, memory_limit
from textkin.text import StopWords, text_of
from textkin.transport._comparison import Bounds, Comparison, TextWords
from textkin.transport._core_search import (
    SEARCH_CONSTRAINTS,
    Algorithm,
    SearchOptions,
    TransportMetric,
)
from textkin.transport._engine import TransportEngine
from textkin.transport._neighbors import Neighbors
from textkin.transport._pairs import NeighborBlock, PairBlock, neighbor_blocks
from textkin.transport._solver import COSTS, CostName
from textkin.weighting import (
    TRANSPORT_WEIGHTS,
    TransportWeights,
    fixed_word_weights,
    learned_word_weights,
    weights_need_corpus,
)

__all__ = ["WordMover", "empty_document_error"]

Mode = Literal["connectivity", "distance"]

_CSR = (sparse.csr_array, sparse.csr_matrix)
_FIRST_ROW: Int64Array = np.zeros(1, dtype=np.int64)
# Parameters of reading and weighting the documents of `fit`: a change requires a new fit.
_READ_WITH = ("vectors", "word_weights", "cost", "unit", "stop_words", "max_words_per_document")
_parameters_of_corpus = attrgetter(*_READ_WITH)
# Thai, Lao, Burmese, Khmer; kana and Chinese characters.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


class WordMover(WordVectorEstimator):
    r"""Word Mover's Distance: minimum cost to move the words of one document to another.

    Parameters
    ----------
    vectors : WordVectors, str, ndarray of shape (n_columns, d) or None, default=None
        Word vectors. Pass `WordVectors`, or the name of built-in vectors ("glove" or "distilled"),
        for texts. Pass a matrix for bags; it has one row per column of the bags, and a row of NaN
        is a word without a vector. If None, the built-in vectors.
        The search uses float32 and may share the matrix: leave it unchanged.
    word_weights : {"nbow", "sif", "tfidf"} or ndarray of shape (n_columns,), default="nbow"
        Weight of each word in a document. "nbow": its count, as in Kusner et al. "sif": the count
        times a / (a + p), which lowers the weight of frequent words; `fit` learns p from bags, and
        for texts the rank of the word in the vectors gives it, because published files are in the
        order of frequency. "tfidf": the count times log2(N / df), learned in `fit`; a word with
        df = 0 is weighted as if df were 1. An array has one weight per word. Bags may contain
        weights instead of counts.
    cost : {"euclidean", "cosine", "sqeuclidean"}, default="euclidean"
        Cost of moving a word: the Euclidean distance of the vectors (as in Kusner et al.), one
        minus their cosine, or the squared distance. Only the first is a metric.
    unit : bool, default=False
        Whether to L2-normalize all vectors first (the default of gensim; Kusner et al. do not).
        The cosine cost always does.
    empty : {"error", "inf"}, default="error"
        Handling of a document without any word that has a vector: raise `EmptyDocumentError`, or
        return infinity, like the code of Kusner et al.
    oov : {"drop", "error"}, default="drop"
        Handling of words without a vector: drop them (see `coverage`), or raise an error.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to drop: the name of a list (see `textkin.text.stop_lists`), a file (a
        `pathlib.Path`), or a collection. If None, no word. Tokens and bags stay unchanged.
    max_words_per_document : int or None, default=None
        Maximum number of distinct words of a text or list of tokens; the most frequent ones stay,
        and `coverage` lists the rest. The time of a pair grows at least with the square of the
        number of distinct words. If None, no limit.
    n_neighbors : int, default=5
        Number of documents that `kneighbors` finds.
    radius : float, default=1.0
        Largest distance of the documents that `radius_neighbors` finds.
    metric : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"}, default="wmd"
        Distance. "wmd": the exact Word Mover's Distance. The other metrics are lower bounds of it:
        the distance of the centroids, or a relaxed distance (see `pairwise`).
    algorithm : {"auto", "prefetch", "brute"}, default="auto"
        Algorithm to find the nearest documents by "wmd"; the result is the same. "auto": bounds
        first, and exact distances only if they can matter. "prefetch": the method of Kusner et
        al., in the order of the centroids, pruned by the relaxed distance. "brute": every
        distance. With any other metric, every bound is computed.
    memory : str, int or None, default=None
        Memory limit, such as "2GB" or a number of bytes up to 2**62, for the tables of a search,
        and for the exact transport problems that the threads of a call solve at the same time:
        each may take that much. Problems that take up to 32 MB (two documents of about 1,200
        words) are always solved. If None, 512 MB for the tables; for the problems, half of the
        memory of the machine, or of its control group (cgroup) if that has less.
    device : str or None, default=None
        Device that computes bounds: "cuda" (or "cuda:1" if there are several) is a GPU through
        torch, and "cpu" is torch on the CPU. If None, the compiled core. A search by "wmd" finds
        the same documents at the same distances; lower bounds agree to 1e-6.
    device_memory : str, int or None, default=None
        Memory of the device for documents; more documents are copied to it in parts. If None, 60 %
        of the free memory.
    n_jobs : int or None, default=None
        Number of threads for many pairs and for searches. It does not change results. If None, 1;
        if -1, all cores.

    Attributes
    ----------
    n_documents_ : int
        Number of documents in `fit`.
    word_weights_ : ndarray of shape (n_columns,) or None
        Learned weight of each word. None if `word_weights` needs no corpus.

    See Also
    --------
    textkin.transport.optimal_transport : Transport with any weights and costs.

    Notes
    -----
    With masses d and d' that sum to one and the cost c(i, j) of moving word i to word j,

    .. math:: \mathrm{WMD}(d, d') = \min_{T \ge 0} \sum_{ij} T_{ij}\, c(i, j)
        \quad\text{s.t.}\quad \sum_j T_{ij} = d_i,\; \sum_i T_{ij} = d'_j.

    The distance is exact: within 1e-6 (relative) of the linear program over float64 costs of the
    float32 vectors, which are L2-normalized first if `unit` says so. It is bit-identical in a
    batch, on any number of threads, and with the documents swapped. `explain` proves optimality.

    A document is a text, a list of tokens or a row of bags. Words of texts are looked up as
    written, then in lowercase, then in title case; possessives also without their ending.

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
        **WORD_VECTOR_PARAMETERS,
        "word_weights": one_of(*TRANSPORT_WEIGHTS)
        | instance_of(np.ndarray, "an array with a weight for each word"),
        "cost": one_of(*COSTS),
        "empty": one_of("error", "inf"),
        **SEARCH_CONSTRAINTS,
    }

    _table_depends_on: ClassVar["attrgetter[tuple[object, ...]]"] = attrgetter(
        *WORD_VECTOR_PARAMETERS, "word_weights", "cost", "empty"
    )

    n_documents_: int
    word_weights_: Float64Array | None

    def __init__(
        self,
        vectors: Vectors = None,
        *,
        word_weights: TransportWeights = "nbow",
        cost: CostName = "euclidean",
        unit: bool = False,
        empty: Literal["error", "inf"] = "error",
        oov: Literal["drop", "error"] = "drop",
        stop_words: StopWords = "smart",
        max_words_per_document: int | None = None,
        n_neighbors: int = 5,
        radius: float = 1.0,
        metric: TransportMetric = "wmd",
        algorithm: Algorithm = "auto",
        memory: str | int | None = None,
        device: str | None = None,
        device_memory: str | int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vectors = vectors
        self.word_weights = word_weights
        self.cost = cost
        self.unit = unit
        self.empty = empty
        self.oov = oov
        self.stop_words = stop_words
        self.max_words_per_document = max_words_per_document
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.algorithm = algorithm
        self.memory = memory
        self.device = device
        self.device_memory = device_memory
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ corpus

    @rollback_on_error
    def fit(self, X: Documents, y: object = None) -> Self:
        """Store a corpus for searches, and learn word weights if `word_weights` needs a corpus.

        A search never finds documents without any word that has a vector.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            Corpus.
        y : object, optional
            Ignored.

        Returns
        -------
        WordMover
            The estimator itself.
        """
        table = self._vector_table()
        documents = self._document_rows(X, "X", table)
        if len(documents) == 0:
            raise ValueError("X must have at least one document; got none.")
        rows = documents.compact("X")
        weights = (
            learned_word_weights(self.word_weights, table, documents)
            if self._weighs_words()
            else None
        )
        self._learned_for = self._weights_depend_on(table)
        self.n_documents_ = len(documents)
        self.word_weights_ = weights
        self._keep(rows)
        return self

    def engine(self) -> TransportEngine:
        """Return the `TransportEngine` that searches the documents of `fit`.

        Returns
        -------
        TransportEngine
            The documents over the word vectors, made once.

        Raises
        ------
        NotFittedError
            If `fit` was not called, or a parameter that the documents depend on has changed.
        """
        if "_fitted_rows" not in self.__dict__:
            raise NotFittedError(
                "This WordMover instance is not fitted yet: call fit(corpus) with the documents "
                "to search in."
            )
        if not self._is_as_fitted():
            raise NotFittedError(
                f"One of {', '.join(_READ_WITH)} has changed since fit: call fit(corpus) again."
            )
        engine = self.__dict__.get("_cached_engine")
        if engine is None:
            table, weights = self._setting()
            engine = TransportEngine(table, self.cost, weights, [self._fitted_rows])
            self._cached_engine: TransportEngine = engine
        return engine

    def read_queries(self, X: Documents) -> DocumentRows:
        """Convert documents to query rows for the engine; a query without known words has no hits.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            Queries.

        Returns
        -------
        DocumentRows
            One row per document.
        """
        engine = self.engine()
        return self._read(X, "X", engine.table, engine.weights, empty="inf")

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

    def distance(self, a: Document, b: Document) -> float:
        """Return the distance of two documents by the estimator's `metric`.

        Parameters
        ----------
        a, b : str, list of str, or one row of bags
            The documents.

        Returns
        -------
        float
            Distance, at least 0.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector and `empty` is "error".
        MemoryError
            If the transport problem can take more than `memory`; nothing is allocated then.
        """
        table, weights = self._setting()
        exact = self.metric == "wmd"
        limit = 0 if self.memory is None else memory_in_bytes(self.memory)
        if exact and weights is None:
            direct = _distance_of_bags(table, a, b, self.cost, limit)
            if direct is not None:
                return direct
        first = self._document_row(a, "a", table, weights)
        second = self._document_row(b, "b", table, weights)
        rows, columns = self._documents(first, "a"), self._documents(second, "b")
        if not exact:
            engine = TransportEngine(table, self.cost)
            return float(engine.matrix(rows, columns, self._metric(), self._options())[0, 0])
        found = _core.distance_pairs(
            table.vectors, rows, _FIRST_ROW, columns, _FIRST_ROW, self.cost, limit, 1, None
        )
        return float(found[0])

    def pairwise(
        self,
        X: Documents,
        Y: Documents | None = None,
        *,
        metric: TransportMetric | None = None,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        r"""Return the matrix of distances between all documents of `X` and all documents of `Y`.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents; the queries of "rwmd-query".
        Y : the same, or None
            m documents. If None, the documents of `X` again, at half the work.
        metric : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"} or None, default=None
            Distance. "rwmd-query": each word of a document of `X` goes to its nearest word in the
            document of `Y`; "rwmd-document": the reverse; "rwmd": the larger of the two; "wcd":
            the distance of the centroids. If None, the parameter of the class.
        progress : callable, optional
            Function that is called with (pairs done, number of pairs), by blocks of rows for
            "wmd". Ctrl-C works with or without it.

        Returns
        -------
        ndarray of shape (n, m), float64
            Distances; the diagonal is 0 if `Y` is None. Lower bounds are bit-identical to the
            results of `bounds`, or within 1e-6 if `device` is set.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector and `empty` is "error".

        Notes
        -----
        The Word Centroid Distance is

        .. math:: \mathrm{WCD}(d, d') = \Big\|\sum_i d_i x_i - \sum_j d'_j x_j\Big\|_2,

        or its square, or half of that, for the squared and the cosine cost. A pair takes O(d),
        after one pass over the words of all documents. Dropping one constraint of the transport
        problem leaves the Relaxed Word Mover's Distances

        .. math:: \sum_i d_i \min_j c(i, j) \quad\text{and}\quad \sum_j d'_j \min_i c(i, j).

        The costs between the distinct words of `X` and of `Y` are computed once. A pair then
        takes one pass over the words of its document for "rwmd-document", and about (words of the
        document) x (words of the query) comparisons for "rwmd-query". The tables take at most 256
        MB, or 128 bytes per distinct word of `Y` if this is more, in addition to the result.

        References
        ----------
        Kusner et al., "From Word Embeddings To Document Distances", ICML 2015, section 4;
        Atasu et al., "Linear-complexity relaxed word mover's distance with GPU acceleration",
        IEEE Big Data 2017, for the method for many documents.

        Examples
        --------
        >>> import numpy as np
        >>> from textkin import WordMover
        >>> line = np.array([[1.0], [2.0], [6.0], [7.0]])  # four words
        >>> a, b = np.array([[1, 1, 1, 0]]), np.array([[1, 0, 0, 1], [0, 1, 0, 0]])
        >>> WordMover(line).pairwise(a, b, metric="wcd")
        array([[1., 1.]])
        >>> WordMover(line, metric="rwmd-query").pairwise(a, b).round(3)
        array([[0.667, 1.667]])
        """
        engine, rows, columns = self._pairs_of(X, Y)
        return engine.matrix(rows, columns, self._metric(metric), self._options(), progress)

    def paired(
        self, X: Documents, Y: Documents, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the distance between `X[i]` and `Y[i]` for each i, by the estimator's `metric`.

        Parameters
        ----------
        X, Y : iterable of texts or token lists, or bags
            n documents each.
        progress : callable, optional
            Function that is called with (pairs done, number of pairs).

        Returns
        -------
        ndarray of shape (n,), float64
            Distances.
        """
        table, weights = self._setting()
        first = self._document_rows(X, "X", table, weights)
        second = self._document_rows(Y, "Y", table, weights)
        rows, columns = self._documents(first, "X"), self._documents(second, "Y")
        engine, metric, options = TransportEngine(table, self.cost), self._metric(), self._options()
        if metric != "wmd":
            return engine.paired_bounds(first, second, metric, options, progress)
        return engine.paired(rows, columns, options, progress)

    def pairwise_below(
        self,
        X: Documents,
        radius: float,
        Y: Documents | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Yield blocks of all pairs of documents whose distance is at most `radius`.

        This needs no `fit`, unless `word_weights` does. Memory grows with the documents and with
        the pairs of one block, not with all pairs. Leave the loop or close the iterator to stop.

        With a lower bound as `metric`, the exact distance of a pair may exceed the radius.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents.
        radius : float
            Largest distance of a pair, inclusive.
        Y : the same, or None
            m documents. If None, the pairs are pairs of documents of `X`, each once (row < column).
        progress : callable, optional
            Function that is called with (documents of `X` done, number of documents of `X`).

        Yields
        ------
        PairBlock
            Pairs of some rows of `X`: rows ascend, and the nearest is first in each row. Blocks
            have at least one pair.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector and `empty` is "error". With "inf", it occurs in
            no pair.

        Examples
        --------
        >>> from textkin import WordMover
        >>> texts = ["Cats purr", "The stock market fell", "Cats purr!", "Stocks fell sharply"]
        >>> for block in WordMover(unit=True).pairwise_below(texts, 0.9):
        ...     print(block.rows, block.columns, block.distances.round(2))
        [0 1] [2 3] [0.   0.52]
        """
        real(0).check("radius", radius)
        PROGRESS.check("progress", progress)
        engine, queries = self._given_engine(X, Y)
        from_row = np.arange(1, len(queries) + 1, dtype=np.int64) if Y is None else None
        options = self.search_options(None, float(radius))
        return engine.pairs_within(queries, options, from_row, progress=progress)

    def pairwise_neighbors(
        self,
        X: Documents,
        k: int,
        Y: Documents | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[NeighborBlock]:
        """Yield the `k` nearest documents of `Y` (or `X`) for each document of `X`, in blocks.

        This needs no `fit`, unless `word_weights` does. Memory grows with the documents, not with
        their pairs. Leave the loop or close the iterator to stop.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents.
        k : int
            Maximum number of documents found for each document; the arrays have at most `m`
            columns.
        Y : the same, or None
            m documents to search in. If None, the documents of `X`; no document finds itself.
        progress : callable, optional
            Function that is called with (documents of `X` done, number of documents of `X`).

        Yields
        ------
        NeighborBlock
            Some rows of `X`, in order, each with its nearest documents.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector and `empty` is "error". With "inf", it finds
            nothing and is never found.

        Examples
        --------
        >>> from textkin import WordMover
        >>> texts = ["Cats purr", "The stock market fell", "Cats purr!", "Stocks fell sharply"]
        >>> for block in WordMover().pairwise_neighbors(texts, 1):
        ...     print(block.rows, block.indices.ravel())
        [0 1 2 3] [2 3 0 1]
        """
        integer(1).check("k", k)
        PROGRESS.check("progress", progress)
        engine, queries = self._given_engine(X, Y)
        without = np.arange(len(queries), dtype=np.int64) if Y is None else None
        options = self.search_options(int(k))
        return neighbor_blocks(engine, queries, options, without, progress)

    # ------------------------------------------------------------------ bounds

    def bounds(self, a: Document, b: Document) -> Bounds:
        r"""Return the lower bounds (centroid and relaxed) of the distance of two documents.

        Parameters
        ----------
        a, b : str, list of str, or one row of bags
            The documents.

        Returns
        -------
        Bounds
            Centroid bound, both one-sided relaxations, and the larger relaxation as ``relaxed``.

        Notes
        -----
        The centroid bound is :math:`\|Xd - Xd'\|` (its square, or half of that, for the squared
        and the cosine cost); the relaxations drop one of the two constraints:
        :math:`\sum_i d_i \min_j c(i, j)` and :math:`\sum_j d'_j \min_i c(i, j)`. The centroid
        bound may exceed the relaxed bound.

        References
        ----------
        Kusner et al., "From Word Embeddings To Document Distances", ICML 2015, section 4.
        """
        table, weights = self._setting()
        first = self._documents(self._document_row(a, "a", table, weights), "a")
        second = self._documents(self._document_row(b, "b", table, weights), "b")
        return TransportEngine(table, self.cost).bounds(first, second, self._options())

    # ------------------------------------------------------------------ explanation

    def explain(
        self, a: Document, b: Document, *, feature_names: Sequence[str] | None = None
    ) -> Comparison:
        """Return the `Comparison` of two documents: distance, flow, bounds, and certificate.

        Parameters
        ----------
        a, b : str, list of str, or one row of bags
            The documents.
        feature_names : sequence of str, optional
            Names of the columns of bags, such as ``vocabulary.words``.

        Returns
        -------
        Comparison
            Comparison whose contributions sum to its distance, which is bit-identical to the result
            of `distance`. ``verify()`` proves it. If several flows are optimal, the choice is
            deterministic.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector, for any value of `empty`.
        MemoryError
            If the transport problem can take more than `memory`.

        Examples
        --------
        >>> from textkin import WordMover
        >>> found = WordMover().explain("Obama speaks", "The President greets")
        >>> [(move.source, move.target) for move in found.moves]
        [('obama', 'president'), ('speaks', 'greets')]
        >>> found.verify().gap < 1e-6
        True
        """
        table, weights = self._setting()
        first = self._document_row(a, "a", table, weights)
        second = self._document_row(b, "b", table, weights)
        for rows, name in ((first, "a"), (second, "b")):
            self._documents(rows, name, "error")
        if feature_names is not None and len(feature_names) != len(table.vectors):
            raise ValueError(
                f"feature_names must name the {len(table.vectors)} columns of the bags; got "
                f"{len(feature_names)} names."
            )
        finder = None if table.lookup is None else TextWords(self._preparation(), table.lookup)
        return TransportEngine(table, self.cost).explain(
            first,
            second,
            self._options(),
            feature_names=feature_names,
            texts=(_written(a), _written(b)),
            finder=finder,
        )

    # ------------------------------------------------------------------ search

    def search(
        self,
        queries: Documents | str | HasText,
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

        The result is exact: bit-identical to a comparison with every document. `k` and `radius`
        are the arguments of this call; the parameters `n_neighbors` and `radius` of the class are
        for `kneighbors` and `radius_neighbors`. To find all documents within a radius, pass
        ``k=None``. A search never finds documents without any word that has a vector, and a query
        without such words has no hits.

        Parameters
        ----------
        queries : str, iterable of texts or token lists, or bags
            Queries; a single text is one query.
        k : int or None, default=10
            Maximum number of documents per query. If None, no limit. The arrays of the
            result have at most n_documents columns.
        radius : float or None, default=None
            Largest distance, inclusive. If None, no limit.
        metric : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"} or None, default=None
            Distance. If None, the parameter of the class.
        algorithm : {"auto", "prefetch", "brute"} or None, default=None
            Search algorithm. If None, the parameter of the class.
        max_candidates : int or None, default=None
            Maximum number of documents that ``algorithm="prefetch"`` considers. If None, all
            documents, which is exact.
        mask : array of bool of shape (n_documents,), or of positions, or None, default=None
            Documents that may be found. If None, all. Positions must be distinct. An array with
            one value per document, such as ``np.ones(n_documents, int)``, must be boolean.
        progress : callable, optional
            Function that is called with (queries done, number of queries).

        Returns
        -------
        Neighbors
            ``indices``, ``distances``, ``counts``, ``stats``, and ``certificate(i)``, which proves
            the result of query i.

        Raises
        ------
        NotFittedError
            If there is no corpus, or `vectors`, `word_weights`, `cost`, `unit`, `stop_words`, or
            `max_words_per_document` has changed since `fit`.

        See Also
        --------
        kneighbors, radius_neighbors : Same search with the interface of scikit-learn.

        Examples
        --------
        >>> from textkin import WordMover
        >>> corpus = ["Dogs bark at night", "The band played loud", "Cats purr", "The"]
        >>> mover = WordMover().fit(corpus)
        >>> found = mover.search("A kitten sleeps", k=2)
        >>> distances, indices = found[0]  # as many as were found
        >>> [corpus[i] for i in indices]
        ['Cats purr', 'Dogs bark at night']
        >>> mover.search("A kitten sleeps", mask=[0, 1]).indices[0, :3]
        array([ 0,  1, -1])
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
        many: Any = [queries] if isinstance(text_of(queries), str) else queries
        rows = self._read(many, "queries", engine.table, engine.weights, empty="inf")
        ranked = engine.search(rows, options, progress=progress)
        return Neighbors.of(ranked, engine, rows, options)

    @overload
    def kneighbors(
        self,
        X: Documents | None = ...,
        n_neighbors: int | None = ...,
        return_distance: Literal[True] = ...,
        *,
        progress: ProgressCallback | None = ...,
    ) -> tuple[Float64Array, Int64Array]: ...
    @overload
    def kneighbors(
        self,
        X: Documents | None,
        n_neighbors: int | None,
        return_distance: Literal[False],
        *,
        progress: ProgressCallback | None = ...,
    ) -> Int64Array: ...
    @overload
    def kneighbors(
        self,
        X: Documents | None = ...,
        n_neighbors: int | None = ...,
        *,
        return_distance: Literal[False],
        progress: ProgressCallback | None = ...,
    ) -> Int64Array: ...
    def kneighbors(
        self,
        X: Documents | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
        *,
        progress: ProgressCallback | None = None,
    ) -> tuple[Float64Array, Int64Array] | Int64Array:
        """Return the distances and positions of the nearest fitted documents, as scikit-learn does.

        Parameters
        ----------
        X : iterable of texts or token lists, bags, or None, default=None
            Queries. If None, the documents of the corpus; no document finds itself.
        n_neighbors : int or None, default=None
            Number of documents that each query finds. If None, the parameter of the class.
        return_distance : bool, default=True
            Whether to return the distances.
        progress : callable, optional
            Function that is called with (queries done, number of queries).

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors), float64
            Distances in ascending order; returned only if `return_distance` is True.
        indices : ndarray of shape (n_queries, n_neighbors), int64
            Positions in the corpus; ties go to the lowest position.

        Raises
        ------
        EmptyDocumentError
            If a query has no word with a vector and `empty` is "error". With "inf", such a query
            is infinitely far from all documents, and finds the first ones.
        ValueError
            If `n_neighbors` exceeds the number of documents.

        See Also
        --------
        search : Search with statistics and certificates.

        Examples
        --------
        >>> from textkin import WordMover
        >>> mover = WordMover(n_neighbors=1).fit(["Dogs bark", "A loud band", "Cats purr"])
        >>> mover.kneighbors(["A kitten sleeps"], return_distance=False)
        array([[2]])
        >>> mover.kneighbors(return_distance=False)
        array([[2],
               [2],
               [0]])
        """
        engine = self.engine()
        k = self._n_neighbors(n_neighbors)
        queries, without = self._neighbor_queries(X, engine, k)
        ranked = engine.search(queries, self.search_options(k), without=without, progress=progress)
        indices, distances = ranked.filled(k)
        if self.empty == "inf":
            _fill(indices, ranked, engine, queries, without)
        return (distances, indices) if return_distance else indices

    @overload
    def radius_neighbors(
        self,
        X: Documents | None = ...,
        radius: float | None = ...,
        return_distance: Literal[True] = ...,
        sort_results: bool = ...,
        *,
        progress: ProgressCallback | None = ...,
    ) -> tuple[NDArray[np.object_], NDArray[np.object_]]: ...
    @overload
    def radius_neighbors(
        self,
        X: Documents | None,
        radius: float | None,
        return_distance: Literal[False],
        sort_results: bool = ...,
        *,
        progress: ProgressCallback | None = ...,
    ) -> NDArray[np.object_]: ...
    @overload
    def radius_neighbors(
        self,
        X: Documents | None = ...,
        radius: float | None = ...,
        *,
        return_distance: Literal[False],
        sort_results: bool = ...,
        progress: ProgressCallback | None = ...,
    ) -> NDArray[np.object_]: ...
    def radius_neighbors(
        self,
        X: Documents | None = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
        *,
        progress: ProgressCallback | None = None,
    ) -> tuple[NDArray[np.object_], NDArray[np.object_]] | NDArray[np.object_]:
        """Return the fitted documents within a distance of each query, as scikit-learn does.

        Parameters
        ----------
        X : iterable of texts or token lists, bags, or None, default=None
            Queries. If None, the documents of the corpus; no document finds itself.
        radius : float or None, default=None
            Largest distance, inclusive. If None, the parameter of the class.
        return_distance : bool, default=True
            Whether to return the distances.
        sort_results : bool, default=False
            Whether to sort by distance. If False, documents are in the order of their positions.
        progress : callable, optional
            Function that is called with (queries done, number of queries).

        Returns
        -------
        distances : ndarray of shape (n_queries,) of arrays of float64
            Distances; returned only if `return_distance` is True.
        indices : ndarray of shape (n_queries,) of arrays of int64
            Positions in the corpus.

        Raises
        ------
        EmptyDocumentError
            If a query has no word with a vector and `empty` is "error". With "inf", it finds
            nothing.
        """
        ranked = self._within(X, radius, return_distance, sort_results, progress)
        inner = ranked.indptr[1:-1]
        indices = _array_of_arrays(np.split(ranked.rows, inner), len(ranked))
        if not return_distance:
            return indices
        return _array_of_arrays(np.split(ranked.scores, inner), len(ranked)), indices

    def kneighbors_graph(
        self,
        X: Documents | None = None,
        n_neighbors: int | None = None,
        mode: Mode = "connectivity",
        *,
        progress: ProgressCallback | None = None,
    ) -> "sparse.csr_array[np.float64, tuple[int, int]]":
        """Return a sparse matrix of queries and their nearest fitted documents; see `kneighbors`.

        Parameters
        ----------
        X : iterable of texts or token lists, bags, or None, default=None
            Queries. If None, the documents of the corpus; no document finds itself.
        n_neighbors : int or None, default=None
            Number of documents that each query finds. If None, the parameter of the class.
        mode : {"connectivity", "distance"}, default="connectivity"
            Values of the graph: ones, or the distances.
        progress : callable, optional
            Function that is called with (queries done, number of queries).

        Returns
        -------
        csr_array of shape (n_queries, n_documents), float64
            Graph with one row per query, nearest first.
        """
        _check_mode(mode)
        distances, indices = self.kneighbors(X, n_neighbors, progress=progress)
        starts = np.arange(len(indices) + 1) * indices.shape[1]
        return self._graph(distances.ravel(), indices.ravel(), starts, mode)

    def radius_neighbors_graph(
        self,
        X: Documents | None = None,
        radius: float | None = None,
        mode: Mode = "connectivity",
        sort_results: bool = False,
        *,
        progress: ProgressCallback | None = None,
    ) -> "sparse.csr_array[np.float64, tuple[int, int]]":
        """Return a sparse matrix of queries and the fitted documents within `radius`.

        Parameters
        ----------
        X : iterable of texts or token lists, bags, or None, default=None
            Queries. If None, the documents of the corpus; no document finds itself.
        radius : float or None, default=None
            Largest distance, inclusive. If None, the parameter of the class.
        mode : {"connectivity", "distance"}, default="connectivity"
            Values of the graph: ones, or the distances. A distance of 0 is an explicit 0.
        sort_results : bool, default=False
            Whether to sort each row by distance. If False, by position.
        progress : callable, optional
            Function that is called with (queries done, number of queries).

        Returns
        -------
        csr_array of shape (n_queries, n_documents), float64
            Graph with one row per query.
        """
        _check_mode(mode)
        ranked = self._within(X, radius, True, sort_results, progress)
        return self._graph(ranked.scores, ranked.rows, ranked.indptr, mode)

    # ------------------------------------------------------------------ queries of neighbors

    def _within(
        self,
        X: Documents | None,
        radius: float | None,
        return_distance: bool,
        sort_results: bool,
        progress: ProgressCallback | None,
    ) -> RankedRows:
        engine = self.engine()
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        radius = self.radius if radius is None else radius
        SEARCH_CONSTRAINTS["radius"].check("radius", radius)
        queries, without = self._neighbor_queries(X, engine, 0)
        options = self.search_options(None, float(radius))
        ranked = engine.search(queries, options, without=without, progress=progress)
        return ranked if sort_results else ranked.by_position()

    def _n_neighbors(self, given: object) -> int:
        """Validate and return the number of neighbors, with the error types of scikit-learn."""
        if given is None:
            SEARCH_CONSTRAINTS["n_neighbors"].check("n_neighbors", self.n_neighbors)
            return int(self.n_neighbors)
        if isinstance(given, bool) or not isinstance(given, Integral):
            raise TypeError(f"n_neighbors does not take {type(given)} value, enter integer value")
        if given <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {given}")
        return int(given)

    def _neighbor_queries(
        self, X: Documents | None, engine: TransportEngine, k: int
    ) -> tuple[DocumentRows, Int64Array | None]:
        """Return query rows, and for each the fitted document to exclude (itself), or None."""
        if X is None:
            rows, without = engine.rows, np.arange(len(engine), dtype=np.int64)
        else:
            rows = self._read(X, "X", engine.table, engine.weights, empty=self.empty)
            without = None
        documents, others = len(engine), len(engine) - (X is None)
        if k > others:
            expected = "<" if X is None else "<="
            raise ValueError(
                f"Expected n_neighbors {expected} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {documents}, n_samples = {len(rows)}"
            )
        if self.empty == "error":
            empty = np.flatnonzero(engine.rows.are_empty())
            if X is None and empty.size:
                raise _empty_in_corpus(empty)
            if k > documents - len(empty):
                raise ValueError(
                    f"Expected n_neighbors <= {documents - len(empty)}, the documents of the "
                    f"corpus with words that have vectors, but n_neighbors = {k}. The other "
                    f"{len(empty)} documents are never found: pass empty='inf' to have them at an "
                    "infinite distance."
                )
        return rows, without

    def _graph(
        self, distances: Float64Array, indices: Int64Array, starts: Int64Array, mode: Mode
    ) -> "sparse.csr_array[np.float64, tuple[int, int]]":
        data = distances if mode == "distance" else np.ones(len(indices))
        shape = (len(starts) - 1, len(self._fitted_rows))
        return sparse.csr_array((data, indices, starts), shape=shape)

    # ------------------------------------------------------------------ fitted documents

    def _keep(self, rows: DocumentRows) -> None:
        """Store the documents of `fit`, and prepare their search."""
        self._fitted_rows = rows
        self._fitted_with: object = _parameters_of_corpus(self)
        before: TransportEngine | None = self.__dict__.pop("_cached_engine", None)
        if before is not None:  # earlier results may still hold it, and need no device
            before.leave_device()
        try:
            if self.algorithm == "auto":
                self.engine().prepare(memory_limit(self.memory))
        except BaseException:  # after an error or an interrupt, the estimator is not fitted
            del self._fitted_rows
            raise

    def _is_as_fitted(self) -> bool:
        then, now = self._fitted_with, _parameters_of_corpus(self)
        return isinstance(then, tuple) and same_parameters(then, now)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_cached_engine", None)
        if "_fitted_with" in state:  # arrays are other objects after pickling
            state["_fitted_with"] = self._is_as_fitted()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if state.get("_fitted_with") is True:
            self._fitted_with = _parameters_of_corpus(self)

    @property
    def _takes_texts(self) -> bool:
        return not isinstance(self.vectors, np.ndarray)

    def _saved_state(self) -> dict[str, Any]:
        if "_fitted_rows" not in vars(self) or not self._is_as_fitted():
            return {}  # a search needs another `fit`
        rows = self._fitted_rows
        return {"indptr": rows.indptr, "indices": rows.indices, "counts": rows.counts}

    def _restore_state(self, state: dict[str, Any]) -> None:
        memory_limit(self.memory)
        memory_limit(self.device_memory)
        self._preparation()  # raises for invalid stop words
        if not is_count(self.n_documents_):
            raise ValueError("n_documents_ must be a whole number of at least 1")
        table = self._vector_table()
        weights = self.word_weights_
        if weights is not None and not (
            isinstance(weights, np.ndarray)
            and weights.dtype == np.float64
            and weights.shape == (len(table.vectors),)
            and bool(np.isfinite(weights).all() and (weights >= 0).all())
        ):
            raise ValueError("word_weights_ must have a finite weight of at least 0 for each word")
        if not state:
            return
        if set(state) != {"indptr", "indices", "counts"}:
            raise ValueError("the documents must have indptr, indices, and counts")
        indptr, indices, counts = state["indptr"], state["indices"], state["counts"]
        arrays = (indptr, np.int64), (indices, np.int32)
        if not (
            all(
                isinstance(array, np.ndarray) and array.dtype == kind and array.ndim == 1
                for array, kind in arrays
            )
            and isinstance(counts, np.ndarray)
            and counts.dtype in (np.float32, np.float64)
            and counts.shape == indices.shape
            and len(indptr) == self.n_documents_ + 1
            and bool(np.isfinite(counts).all() and (counts >= 0).all())
        ):
            raise ValueError("the documents must be rows of counts")
        _core.check_rows(indptr, indices, len(table.vectors))
        if weights_need_corpus(self.word_weights, table) and weights is None:
            raise ValueError("word_weights_ must have a weight for each word")
        self._learned_for = self._weights_depend_on(table)
        self._fitted_rows = DocumentRows(indptr, indices, len(table.vectors), counts)
        self._fitted_with = _parameters_of_corpus(self)

    # ------------------------------------------------------------------ reading

    def _read(
        self,
        X: Any,  # noqa: ANN401 (texts, tokens or any kind of bags)
        name: str,
        table: VectorTable,
        weights: Float64Array | None,
        *,
        empty: Literal["error", "inf"],
    ) -> DocumentRows:
        """Convert documents to `DocumentRows`; with `empty="error"`, raise for empty documents."""
        documents = self._document_rows(X, name, table, weights)
        rows = documents.compact(name)
        if empty == "error":
            found = np.flatnonzero(rows.are_empty())
            if found.size:
                raise empty_document_error(documents, found.tolist(), name, choice=True)
        return rows

    def _given_engine(
        self, X: Documents, Y: Documents | None
    ) -> tuple[TransportEngine, DocumentRows]:
        """Return an engine over the documents of `Y` (or `X`), and `X` as queries."""
        table, weights = self._setting()
        queries = self._read(X, "X", table, weights, empty=self.empty)
        rows = queries
        if Y is not None:
            rows = self._read(Y, "Y", table, weights, empty=self.empty)
        return TransportEngine(table, self.cost, weights, [rows]), queries

    def _pairs_of(
        self, X: Documents, Y: Documents | None
    ) -> tuple[TransportEngine, _core.Documents, _core.Documents]:
        """Return an engine without a corpus, and the documents of `X` and `Y` (or `X`)."""
        table, weights = self._setting()
        engine = TransportEngine(table, self.cost)
        rows = self._documents(self._document_rows(X, "X", table, weights), "X")
        if Y is None:
            return engine, rows, rows
        return engine, rows, self._documents(self._document_rows(Y, "Y", table, weights), "Y")

    def _documents(
        self, rows: DocumentRows, name: str, empty: str | None = None
    ) -> _core.Documents:
        """Convert `DocumentRows` to the core's type; with `empty="error"`, raise for empty ones."""
        documents = rows.documents()
        if (empty or self.empty) == "error":
            found = documents.empty_rows()
            if found.size:
                raise empty_document_error(rows, found.tolist(), name, choice=empty is None)
        return documents

    def _setting(self) -> tuple[VectorTable, Float64Array | None]:
        """Return the vector table, and the weight of each word, or None if all weights are 1."""
        table = self._vector_table()
        if not self._weighs_words():
            return table, None
        if not weights_need_corpus(self.word_weights, table):
            return table, fixed_word_weights(self.word_weights, table)
        if getattr(self, "_learned_for", None) != self._weights_depend_on(table):
            raise NotFittedError(
                f"word_weights={self.word_weights!r} uses the frequencies of a corpus: call "
                "fit(corpus) first (again, if word_weights or vectors have changed)."
            )
        return table, self.word_weights_

    def _weighs_words(self) -> bool:
        """Return True unless the weight of each word is 1."""
        return not (isinstance(self.word_weights, str) and self.word_weights == "nbow")

    def _weights_depend_on(self, table: VectorTable) -> tuple[str, int]:
        """Return a key that changes when word weights learned by `fit` become invalid."""
        return (
            self.word_weights if isinstance(self.word_weights, str) else "given",
            len(table.vectors),
        )

    def _wants_unit_vectors(self) -> bool:
        return self.unit or self.cost == "cosine"

    def _search_parameters(
        self, metric: TransportMetric | None = None, algorithm: Algorithm | None = None
    ) -> dict[str, Any]:
        return {
            "metric": self.metric if metric is None else metric,
            "algorithm": self.algorithm if algorithm is None else algorithm,
            "memory": self.memory,
            "n_jobs": self.n_jobs,
            "device": self.device,
            "device_memory": self.device_memory,
        }

    def _metric(self, metric: TransportMetric | None = None) -> TransportMetric:
        """Validate and return `metric`, or the estimator's parameter `metric` if it is None."""
        metric = self.metric if metric is None else metric
        SEARCH_CONSTRAINTS["metric"].check("metric", metric)
        return metric

    def _options(self) -> SearchOptions:
        """Return `SearchOptions` for distances of given pairs: threads and device."""
        return SearchOptions(
            memory=memory_limit(self.memory),
            threads=effective_jobs(self.n_jobs),
            device=self.device,
        )


def _check_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(
            'Unsupported mode, must be one of "connectivity", or "distance" but got '
            f'"{mode}" instead'
        )


def _empty_in_corpus(rows: NDArray[np.intp]) -> EmptyDocumentError:
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    reason = "it has no word that has a vector and a positive weight"
    return EmptyDocumentError(
        f"Document {rows[0]}{more} of the corpus cannot be compared: {reason}. Remove it from the "
        "corpus, or pass empty='inf' for an infinite distance.",
        rows.tolist(),
        "X",
        reason,
    )


def _fill(
    indices: Int64Array,
    ranked: RankedRows,
    engine: TransportEngine,
    queries: DocumentRows,
    without: Int64Array | None,
) -> None:
    """Fill rows of `indices` that have too few hits with documents at infinite distance.

    An empty query is at infinite distance from all documents, and empty documents are at infinite
    distance from every query.
    """
    width = indices.shape[1]
    counts = np.diff(ranked.indptr)
    short = np.flatnonzero(counts < width)
    if not short.size:
        return
    far = np.flatnonzero(engine.rows.are_empty())
    are_empty = queries.are_empty()
    for query in short.tolist():
        candidates = np.arange(min(width + 1, len(engine))) if are_empty[query] else far
        if without is not None:
            candidates = candidates[candidates != without[query]]
        indices[query, counts[query] :] = candidates[: width - counts[query]]


def _array_of_arrays(parts: list[NDArray[np.generic]], size: int) -> NDArray[np.object_]:
    """Pack arrays into an object array, one per element, even if their lengths are equal."""
    found = np.empty(size, dtype=object)
    for i, part in enumerate(parts[:size]):
        found[i] = part
    return found


def _written(document: Document) -> str:
    text = text_of(document)
    return text if isinstance(text, str) else ""


def _distance_of_bags(
    table: VectorTable, a: object, b: object, cost: str, memory: int
) -> float | None:
    """Return the distance of two one-row bags, or None if the input is not two such bags.

    This is the fast path of `WordMover.distance`, which validates any other input.
    """
    if table.known is not None or table.lookup is not None:
        return None
    if not (isinstance(a, _CSR) and isinstance(b, _CSR)):
        return None
    vectors = table.vectors
    shape = (1, len(vectors))
    if a.shape != shape or b.shape != shape:
        return None
    return _core.distance_of_bags(
        vectors, a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, cost, memory
    )


def empty_document_error(
    documents: DocumentRows, rows: list[int], name: str, *, choice: bool
) -> EmptyDocumentError:
    """Create the error that lists documents without known words, the reason, and the fix.

    If `choice` is True, the caller can request an infinite distance instead.
    """
    first = rows[0]
    coverage = documents.coverage(first)
    if coverage.known > 0:
        reason = "all its words have weight 0 under these word_weights"
        hint = "Pass word_weights='nbow'"
    elif coverage.unknown:
        reason = (
            "none of its words has a vector (coverage 0); not among the "
            f"{documents.n_columns} words: {listed(coverage.unknown)}"
        )
        hint = _hint(coverage.unknown)
    else:
        reason = "it has no words, or only stop words"
        hint = "Remove it, or pass stop_words=None"
    if len(documents) == 1:
        subject = f"Document {name} cannot be compared"
    else:
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        subject = f"Document {first}{more} of {name} cannot be compared"
    last = ", or pass empty='inf' for an infinite distance" if choice else ""
    message = f"{subject}: {reason}. {hint}{last}."
    return EmptyDocumentError(message, rows, name, reason)


def _hint(unknown: Iterable[str]) -> str:
    words = list(unknown)
    if any(" " in word for word in words):
        return "A list must contain tokens: pass a text as a string, not in a list"
    if any(_UNSPACED.search(word) for word in words):
        return (
            "Scripts without spaces are split into pairs of characters: pass lists of tokens, "
            "and vectors for these tokens"
        )
    return "Load vectors for these words, for example with WordVectors.load(path)"
