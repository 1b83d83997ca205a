"""`BM25`: weights of words in documents; summed over query words, they are BM25 scores."""

from typing import ClassVar, Literal, Self

import numpy as np

from textkin._base import (
    Bags,
    BagsLike,
    BagWeighting,
    Constraint,
    Norm,
    check_params,
    normalize_rows,
    one_of,
    real,
    replace_values,
    rollback_on_error,
    row_indices,
)
from textkin.weighting._formulas import (
    BM25_VARIANT,
    DELTA,
    FLOOR,
    K1,
    B,
    BM25Variant,
    WordStatistics,
    bm25_saturation,
    inverse_document_frequency,
    resolve_bm25,
)

__all__ = ["BM25"]


class BM25(BagWeighting):
    """BM25 weighting of bags: high for rare words, saturated by count, lower in long documents.

    The inner product of a query's counts and a document's weights is the BM25 score of the
    document, so BM25 is both a ranking function and a vector representation.

    Parameters
    ----------
    k1 : float, default=1.2
        Saturation of the count of a word, at least 0. A higher value gives repeated words more
        weight; with 0, only presence counts.
    b : float, default=0.75
        Strength of length normalization, from 0 to 1. With 0, the length does not matter.
    variant : str, default="standard"
        Form of the formula: "standard", "robertson", "lucene", "atire", "bm25l", or "bm25+", see
        Notes.
    idf : {"lucene", "okapi", "log", "bm25l", "bm25+"} or None, default=None
        Formula of the idf, see `TfIdf`. If None, the idf of the variant. "lucene" is above 0
        for every word; "okapi", the classical formula, is 0 for a word in half of the documents,
        and negative for more frequent words.
    idf_floor : float or None, default=None
        Minimum idf of a word, such as 0 with "okapi". If None, no minimum.
    delta : float or None, default=None
        Constant of "bm25l" and "bm25+", which raises the weights of words in long documents. If
        None, 0.5 for "bm25l" and 1 for "bm25+".
    k3 : float or None, default=None
        Saturation of the count of a word in a query, at least 0. If None, no saturation.
    norm : "l2", "l1" or None, default=None
        Norm by which each document is divided. With a norm, scores are not BM25 scores.

    Attributes
    ----------
    idf_ : ndarray of shape (n_words,), float64
        Idf of the word of each column; 0 for a word that is in no document of `fit`.
    average_length_ : float
        Mean length of the documents of `fit`, including empty ones.

    See Also
    --------
    bm25_saturation, inverse_document_frequency : The two factors of a weight.
    TfIdf : Weights that grow with the count, without saturation.

    Notes
    -----
    Let n be the count of word w in document d, ``|d|`` the length of d, and avgdl the mean length
    in `fit`. The weight and the score of a query q are ::

        BM25(w, d) = idf(w) n (k1 + 1) / (n + k1 (1 - b + b |d| / avgdl)),
        score(d, q) = sum_w n(q, w) BM25(w, d),

    where `k3` replaces n(q, w) by (k3 + 1) n(q, w) / (k3 + n(q, w)). An empty row stays empty, and
    has the score 0; a word that `fit` never saw has the weight 0.

    With N documents, of which df contain w, and ``L = 1 - b + b |d| / avgdl``, the variants are

    ===========  =====================================  =================================
    variant      idf                                    times
    ===========  =====================================  =================================
    "standard"   ln(1 + (N - df + 0.5) / (df + 0.5))    n (k1 + 1) / (n + k1 L)
    "robertson"  ln((N - df + 0.5) / (df + 0.5))        n / (n + k1 L)
    "lucene"     ln(1 + (N - df + 0.5) / (df + 0.5))    n / (n + k1 L)
    "atire"      ln(N / df)                             n (k1 + 1) / (n + k1 L)
    "bm25l"      ln((N + 1) / (df + 0.5))               (n/L + delta) (k1 + 1) / (n/L + delta + k1)
    "bm25+"      ln((N + 1) / df)                       n (k1 + 1) / (n + k1 L) + delta
    ===========  =====================================  =================================

    "standard" and "lucene" give the same ranking; "lucene" is the form of Lucene since version 8.
    An index ranks by all variants except "bm25l" and "bm25+".

    References
    ----------
    Robertson and Walker, "Some Simple Effective Approximations to the 2-Poisson Model for
    Probabilistic Weighted Retrieval", SIGIR 1994. Robertson and Zaragoza, "The Probabilistic
    Relevance Framework: BM25 and Beyond", Foundations and Trends in Information Retrieval 3,
    2009. The variants: Kamphuis, de Vries, Boytsov and Lin, "Which BM25 Do You Mean? A Large-Scale
    Reproducibility Study of Scoring Variants", ECIR 2020; Lv and Zhai, "When Documents Are Very
    Long, BM25 Fails!", SIGIR 2011 ("bm25l"); Lv and Zhai, "Lower-Bounding Term Frequency
    Normalization", CIKM 2011 ("bm25+"). As a vector: Kusner et al., "From Word
    Embeddings To Document Distances", ICML 2015, section 5.

    Examples
    --------
    >>> from textkin.text import BagOfWords
    >>> counter = BagOfWords(stop_words=None)
    >>> bags = counter.fit_transform(
    ...     ["cat sat mat", "cat cat dog", "dog barked", "bird sang song loud"]
    ... )
    >>> bm25 = BM25().fit(bags)
    >>> query = bm25.transform_queries(counter.transform(["the cat"]))
    >>> (query @ bm25.transform(bags).T).toarray().round(4)
    array([[0.6931, 0.9531, 0.    , 0.    ]], dtype=float32)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "k1": K1,
        "b": B,
        "variant": BM25_VARIANT,
        "idf": one_of(None, "lucene", "okapi", "log", "bm25l", "bm25+"),
        "idf_floor": FLOOR,
        "delta": DELTA,
        "k3": one_of(None) | real(0),
        "norm": one_of("l1", "l2", None),
    }

    def __init__(
        self,
        k1: float = 1.2,
        b: float = 0.75,
        *,
        variant: BM25Variant = "standard",
        idf: Literal["lucene", "okapi", "log", "bm25l", "bm25+"] | None = None,
        idf_floor: float | None = None,
        delta: float | None = None,
        k3: float | None = None,
        norm: Norm = None,
    ) -> None:
        self.k1 = k1
        self.b = b
        self.variant = variant
        self.idf = idf
        self.idf_floor = idf_floor
        self.delta = delta
        self.k3 = k3
        self.norm = norm

    @rollback_on_error
    def fit(self, X: BagsLike, y: object = None) -> Self:
        """Learn the inverse document frequency of each word, and the mean document length.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags of counts.
        y : object, optional
            Ignored.

        Returns
        -------
        BM25
            The estimator itself.
        """
        check_params(self)
        self._learn(WordStatistics.of(self._bags_to_fit(X)))
        return self

    def transform(self, X: BagsLike) -> Bags:
        """Return the BM25 weight of each word in each document.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags of counts.

        Returns
        -------
        csr_array of shape (n_documents, n_words)
            Weighted bags; float32, or float64 if `X` is float64.
        """
        bags = self._bags_to_transform(X)
        rows = row_indices(bags)
        counts = bags.data.astype(np.float64)
        lengths = np.bincount(rows, counts, bags.shape[0])[rows]
        # If fit saw no words, every idf is 0, and the average length has no effect.
        average = self.average_length_ or 1.0
        saturated = bm25_saturation(
            counts,
            lengths,
            average,
            k1=self.k1,
            b=self.b,
            variant=self.variant,
            delta=self.delta,
        )
        return replace_values(
            bags, normalize_rows(bags, saturated * self.idf_[bags.indices], self.norm)
        )

    def transform_queries(self, X: BagsLike) -> Bags:
        """Return query weights, whose inner product with documents is the BM25 score.

        Parameters
        ----------
        X : sparse or dense array of shape (n_queries, n_words)
            Bags of counts.

        Returns
        -------
        csr_array of shape (n_queries, n_words)
            Counts, saturated if `k3` is given; float32, or float64 if `X` is float64.
        """
        bags = self._bags_to_transform(X)
        counts = bags.data.astype(np.float64)
        if self.k3 is not None:
            most = self.k3 + 1  # dividing first avoids overflow of the product
            counts = counts / (self.k3 / most + counts / most)
        return replace_values(bags, counts)

    def _learn(self, found: WordStatistics) -> None:
        self.idf_ = inverse_document_frequency(
            found.document_frequencies,
            found.n_documents,
            idf=self.idf or resolve_bm25(self.variant, self.delta)[0],
            floor=self.idf_floor,
        )
        if not np.isfinite(found.length):
            raise ValueError("X must have counts with a finite sum. Scale them down.")
        self.average_length_ = found.length / found.n_documents

    def _check_loaded(self) -> None:
        resolve_bm25(self.variant, self.delta)
        self._check_shapes(idf_=(self.n_features_in_,), average_length_=())
        if self.average_length_ < 0:
            raise ValueError("average_length_ must be at least 0")
