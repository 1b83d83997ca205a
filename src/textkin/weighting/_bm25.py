"""BM25 as a vector: documents whose inner product with a query's counts is its score."""

from typing import ClassVar, Literal, Self

import numpy as np

from textkin._typing import Bags
from textkin._validation import Constraint, check_params, one_of, real
from textkin.weighting._formulas import K1, B, bm25_saturation, inverse_document_frequency
from textkin.weighting._rows import (
    BagsLike,
    BagWeighting,
    Norm,
    normalised,
    rows_of,
    with_values,
)
from textkin.weighting._statistics import WordStatistics

__all__ = ["BM25"]


class BM25(BagWeighting, auto_wrap_output_keys=None):
    """Weigh words by Okapi BM25: rare words more, repeated words and long documents less.

    The inner product of a query's counts and a document's weights is the BM25 score of the
    document, so this is a ranking function and a vector at once.

    Parameters
    ----------
    k1 : float, default=1.2
        At least 0: how soon further occurrences stop counting; 0 counts presence alone.
    b : float, default=0.75
        From 0 to 1: how much a long document needs more occurrences for the same weight.
    idf : {"lucene", "okapi"}, default="lucene"
        "lucene" is above 0 for every word; "okapi", the classical form, is 0 for a word in half
        of the documents and below 0 for one in more.
    k3 : float or None, default=None
        At least 0: how soon further occurrences in a query stop counting; None: never.
    norm : "l2", "l1" or None, default=None
        What each row of documents is divided by. Anything but None gives other scores.

    Attributes
    ----------
    idf_ : ndarray of shape (n_words,), float64
        The idf of each column's word; 0 for a word that is in no document of `fit`.
    average_length_ : float
        The mean length of the documents of `fit`, empty ones included.

    See Also
    --------
    bm25_saturation, inverse_document_frequency : The two factors of a weight.
    TfIdf : Weights that grow with the count.

    Notes
    -----
    With n the count of word w in document d, |d| the length of d and avgdl the mean length in
    `fit`, the weight and the score of a query q are ::

        BM25(w, d) = idf(w) n (k1 + 1) / (n + k1 (1 - b + b |d| / avgdl)),
        score(d, q) = sum_w n(q, w) BM25(w, d),

    where with k3 the n(q, w) becomes (k3 + 1) n(q, w) / (k3 + n(q, w)). With N documents, df of
    which have w, idf is ln(1 + (N - df + 0.5) / (df + 0.5)) for "lucene" and
    ln((N - df + 0.5) / (df + 0.5)) for "okapi". An empty row stays empty, and scores 0; a word
    that `fit` never saw weighs 0.

    References
    ----------
    Robertson and Walker, "Some Simple Effective Approximations to the 2-Poisson Model for
    Probabilistic Weighted Retrieval", SIGIR 1994. Robertson and Zaragoza, "The Probabilistic
    Relevance Framework: BM25 and Beyond", Foundations and Trends in Information Retrieval 3,
    2009. As a vector: Kusner et al., "From Word Embeddings To Document Distances", ICML 2015,
    section 5.

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
        "idf": one_of("lucene", "okapi"),
        "k3": one_of(None) | real(0),
        "norm": one_of("l1", "l2", None),
    }

    def __init__(
        self,
        k1: float = 1.2,
        b: float = 0.75,
        *,
        idf: Literal["lucene", "okapi"] = "lucene",
        k3: float | None = None,
        norm: Norm = None,
    ) -> None:
        self.k1 = k1
        self.b = b
        self.idf = idf
        self.k3 = k3
        self.norm = norm

    def fit(self, X: BagsLike, y: object = None) -> Self:
        """Learn the idf of each word and the mean length of documents.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts.
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
        """Weigh documents.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts.

        Returns
        -------
        csr_array of shape (n_documents, n_words)
            The weighted bags. float32, or float64 if `X` is.
        """
        bags = self._bags_to_transform(X)
        rows = rows_of(bags)
        counts = bags.data.astype(np.float64)
        lengths = np.bincount(rows, counts, bags.shape[0])[rows]
        # Where no document of fit had a word, every idf is 0 and any length will do.
        average = self.average_length_ or 1.0
        saturated = bm25_saturation(counts, lengths, average, k1=self.k1, b=self.b)
        return with_values(bags, normalised(bags, saturated * self.idf_[bags.indices], self.norm))

    def transform_queries(self, X: BagsLike) -> Bags:
        """Weigh queries: the other side of the inner product.

        Parameters
        ----------
        X : sparse or dense array of shape (n_queries, n_words)
            Bags: counts.

        Returns
        -------
        csr_array of shape (n_queries, n_words)
            The counts themselves, or with `k3` the saturated ones. float32, or float64 if `X` is.
        """
        bags = self._bags_to_transform(X)
        counts = bags.data.astype(np.float64)
        if self.k3 is not None:
            most = self.k3 + 1  # divided by, since its product may be too large
            counts = counts / (self.k3 / most + counts / most)
        return with_values(bags, counts)

    def _learn(self, found: WordStatistics) -> None:
        self.idf_ = inverse_document_frequency(
            found.document_frequencies, found.n_documents, idf=self.idf
        )
        if not np.isfinite(found.length):
            raise ValueError("The counts must have a finite sum; scale them down.")
        self.average_length_ = found.length / found.n_documents

    def _check_loaded(self) -> None:
        self._check_shapes(idf_=(self.n_features_in_,), average_length_=())
        if self.average_length_ < 0:
            raise ValueError("average_length_ must be at least 0")
