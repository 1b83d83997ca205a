"""`TfIdf`: TF-IDF weights by named variants, formulas, or SMART codes."""

import re
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from textkin._base import (
    Bags,
    BagsLike,
    BagWeighting,
    Constraint,
    Float64Array,
    Norm,
    check_params,
    normalize_rows,
    one_of,
    real,
    replace_values,
    rollback_on_error,
    row_indices,
)
from textkin.exceptions import ParameterError
from textkin.weighting._formulas import (
    IDF,
    TF,
    VARIANT,
    Idf,
    Tf,
    Variant,
    WordStatistics,
    inverse_document_frequency,
    resolve_variant,
    term_frequency,
)

__all__ = ["TfIdf", "TfIdfParts"]

_SMART_TF: dict[str, Tf] = {
    "n": "count",
    "l": "log",
    "a": "augmented",
    "b": "binary",
    "L": "log-average",
    "m": "max",
}
_SMART_IDF: dict[str, Idf] = {"n": "one", "t": "log", "p": "probabilistic"}
_SMART_NORM: dict[str, Norm | Literal["pivoted"]] = {"n": None, "c": "l2", "u": "pivoted"}
_SMART_CODE = re.compile(r"[nlabLm][ntp][ncu](\.[nlabLm][ntp][ncu])?")

SMART = Constraint(
    lambda value: (
        value is None or (isinstance(value, str) and _SMART_CODE.fullmatch(value) is not None)
    ),
    "None or a SMART code such as 'lnc.ltc': a letter of tf (n, l, a, b, L, m), of idf (n, t, p), "
    "and of the norm (n, c, u), for documents and after a dot for queries",
    lambda value: not isinstance(value, str),
)


class TfIdfParts(NamedTuple):
    """Names of the term frequency, IDF, and norm that a weighting uses."""

    tf: Tf
    idf: Idf
    norm: Norm | Literal["pivoted"]


class TfIdf(BagWeighting):
    """TF-IDF weighting of bags: term frequency times inverse document frequency.

    Parameters
    ----------
    variant : str, default="gensim"
        Named formula, see Notes: "gensim", "lecture", "wmd", "sklearn", "sklearn-unsmoothed" or
        "wtmf".
    tf : {"count", "binary", "log", "max", "augmented", "log-average"}, optional
        Term frequency. If None, the term frequency of the variant.
    idf : str, optional
        Idf: "one" (no idf), "log", "log2", "inverse", "smooth", "unsmoothed", "wtmf", "lucene",
        "okapi", "bm25l", "bm25+" or "probabilistic". If None, the idf of the variant.
    norm : {"l2", "l1", "pivoted"} or None, default="l2"
        Norm by which each row is divided: "l2" for cosines and Euclidean distances, "l1" for
        transport and L1 distances, "pivoted" for a length between the length of the document and
        the mean length (see `slope`). If None, rows are not divided.
    sublinear : bool, default=False
        The same as ``tf="log"``, under scikit-learn's name.
    smart : str or None, default=None
        SMART code of documents and queries, such as "lnc.ltc", or of both, such as "ltc". It
        replaces `variant`, `tf`, `idf`, `norm`, and `sublinear`; see Notes.
    slope : float, default=0.2
        Weight of the document's own length with ``norm="pivoted"``, from 0 to 1. 0 divides all
        documents by the same number, 1 by their numbers of distinct words.
    keep_zeros : bool, default=False
        If True, words with weight 0 stay stored, for models that distinguish them from missing
        words, such as `WTMF`.

    Attributes
    ----------
    idf_ : ndarray of shape (n_words,), float64
        Idf of the word of each column; 0 for a word that is in no document of `fit`.

    See Also
    --------
    inverse_document_frequency, term_frequency : The two factors of a weight.
    BM25 : Weights with saturated counts.
    SIF : Weighting by the number of occurrences instead of documents.

    Notes
    -----
    The weight of word w in document d is tf(d, w) idf(w), divided by the norm of the row. In the
    formulas, n is the count, N the number of documents of `fit`, and df the number of documents of
    `fit` that contain the word:

    ==================  =======  ============  ==================
    variant             tf       idf           norm in the source
    ==================  =======  ============  ==================
    gensim              "count"  "log2"        "l2"
    lecture             "max"    "log2"        None
    wmd                 "count"  "inverse"     None
    sklearn             "count"  "smooth"      "l2"
    sklearn-unsmoothed  "count"  "unsmoothed"  "l2"
    wtmf                "count"  "wtmf"        None
    ==================  =======  ============  ==================

    ========  ===========
    tf        formula
    ========  ===========
    "count"   n
    "binary"  1
    "log"     1 + ln n
    "max"     n / max_w n
    ========  ===========

    ============  ===================================
    idf           formula
    ============  ===================================
    "one"         1
    "log"         ln(N / df)
    "log2"        log2(N / df)
    "inverse"     1 / df
    "smooth"      ln((1 + N) / (1 + df)) + 1
    "unsmoothed"  ln(N / df) + 1
    "wtmf"        ln(N / (df + 1))
    "lucene"      ln(1 + (N - df + 0.5) / (df + 0.5))
    "okapi"       ln((N - df + 0.5) / (df + 0.5))
    ============  ===================================

    "gensim" is also the variant of Sato et al., with norm "l1" or "l2". A word that is in every
    document has the weight 0 in "gensim" and "lecture", and is removed from the bags; in "wtmf"
    and "okapi", its weight is negative. A row without remaining words stays empty. A word that
    `fit` never saw has the weight 0.

    ``norm="pivoted"`` divides a row by (1 - slope) pivot + slope u, where u is the number of
    distinct words of the document, and the pivot the mean of u over the documents of `fit`. With
    "l2", long documents are found less often than they are relevant; a pivot corrects this.

    A SMART code has three letters for documents and, after a dot, three for queries:

    ============================  ==================  =======================
    tf                            idf                 norm
    ============================  ==================  =======================
    n "count"                     n "one"             n None
    l "log"                       t "log"             c "l2"
    a "augmented"                 p "probabilistic"   u "pivoted"
    b "binary"
    L "log-average"
    m "max"
    ============================  ==================  =======================

    "augmented" is 0.5 + 0.5 n / max_w n, "log-average" (1 + ln n) / (1 + ln of the mean count of
    the words of the document), "probabilistic" max(0, ln((N - df) / df)). `transform` weighs
    documents, `transform_queries` queries; their inner product is the score.

    References
    ----------
    Singhal, Buckley and Mitra, "Pivoted Document Length Normalization", SIGIR 1996. Manning,
    Raghavan and Schütze, "Introduction to Information Retrieval", 2008, section 6.4 (SMART).
    Salton and Buckley, "Term-Weighting Approaches in Automatic Text Retrieval", Information
    Processing and Management 24, 1988. Kusner et al., "From Word Embeddings To Document
    Distances", ICML 2015, section 5 ("wmd"). Sato, Yamada and Kashima, "Re-evaluating Word
    Mover's Distance", ICML 2022. Guo and Diab, "Modeling Sentences in the Latent Space", ACL
    2012 ("wtmf").

    Examples
    --------
    >>> bags = [[2, 1, 0], [0, 1, 1], [1, 1, 0], [0, 1, 0]]
    >>> tfidf = TfIdf(norm=None).fit(bags)
    >>> tfidf.idf_
    array([1., 0., 2.])
    >>> tfidf.transform(bags).toarray()[:2]
    array([[2., 0., 0.],
           [0., 0., 2.]], dtype=float32)

    Separate formulas, here for a binary vector of unit length:

    >>> TfIdf(tf="binary", idf="one").fit_transform([[5, 1, 0, 2, 1]]).toarray()
    array([[0.5, 0.5, 0. , 0.5, 0.5]], dtype=float32)

    Documents and queries by a SMART code:

    >>> smart = TfIdf(smart="lnc.ltc").fit(bags)
    >>> scores = smart.transform_queries([[1, 0, 1]]) @ smart.transform(bags).T
    >>> scores.toarray().round(2)
    array([[0.39, 0.63, 0.32, 0.  ]], dtype=float32)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "variant": VARIANT,
        "tf": one_of(None) | TF,
        "idf": one_of(None) | IDF,
        "norm": one_of("l1", "l2", "pivoted", None),
        "sublinear": one_of(True, False),
        "smart": SMART,
        "slope": real(0, 1),
        "keep_zeros": one_of(True, False),
    }

    def __init__(
        self,
        variant: Variant = "gensim",
        *,
        tf: Tf | None = None,
        idf: Idf | None = None,
        norm: Norm | Literal["pivoted"] = "l2",
        sublinear: bool = False,
        keep_zeros: bool = False,
        smart: str | None = None,
        slope: float = 0.2,
    ) -> None:
        self.variant = variant
        self.tf = tf
        self.idf = idf
        self.norm = norm
        self.sublinear = sublinear
        self.keep_zeros = keep_zeros
        self.smart = smart
        self.slope = slope

    @rollback_on_error
    def fit(self, X: BagsLike, y: object = None) -> Self:
        """Learn the inverse document frequency of each word.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags.
        y : object, optional
            Ignored.

        Returns
        -------
        TfIdf
            The estimator itself.
        """
        check_params(self)
        self._learn(WordStatistics.of(self._bags_to_fit(X)))
        return self

    def transform(self, X: BagsLike) -> Bags:
        """Return the normalized TF-IDF weight of each word in each document.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags.

        Returns
        -------
        csr_array of shape (n_documents, n_words)
            Weighted bags; float32, or float64 if `X` is float64.
        """
        return self._weigh(X, self.parts())

    def transform_queries(self, X: BagsLike) -> Bags:
        """Return the TF-IDF weights of queries, which a SMART code can treat differently.

        Parameters
        ----------
        X : sparse or dense array of shape (n_queries, n_words)
            Bags.

        Returns
        -------
        csr_array of shape (n_queries, n_words)
            Weighted bags; float32, or float64 if `X` is float64.
        """
        return self._weigh(X, self.parts(of="queries"))

    def parts(self, of: Literal["documents", "queries"] = "documents") -> TfIdfParts:
        """Return the names of the term frequency, IDF, and norm in use.

        Parameters
        ----------
        of : {"documents", "queries"}, default="documents"
            Side; both are the same unless a SMART code differs.

        Returns
        -------
        TfIdfParts
            Names of the three parts.

        Examples
        --------
        >>> TfIdf("sklearn", sublinear=True).parts()
        TfIdfParts(tf='log', idf='smooth', norm='l2')
        >>> TfIdf(smart="lnc.ltu").parts(of="queries")
        TfIdfParts(tf='log', idf='log', norm='pivoted')
        """
        if self.smart is not None:
            if self.tf is not None or self.idf is not None or self.sublinear:
                raise ParameterError(
                    "smart", "None if tf, idf or sublinear is given", repr(self.smart)
                )
            documents, _, queries = self.smart.partition(".")
            tf, idf, norm = tuple(queries if queries and of == "queries" else documents)
            return TfIdfParts(_SMART_TF[tf], _SMART_IDF[idf], _SMART_NORM[norm])
        if self.sublinear and self.tf not in (None, "log"):
            raise ParameterError("tf", "None or 'log' with sublinear=True", repr(self.tf))
        tf_of, idf_of = resolve_variant(self.variant)
        return TfIdfParts(
            "log" if self.sublinear else self.tf or tf_of, self.idf or idf_of, self.norm
        )

    def _weigh(self, X: BagsLike, parts: TfIdfParts) -> Bags:
        bags = self._bags_to_transform(X)
        idf = self.idf_
        if parts.idf != self.parts().idf and self.query_idf_ is not None:
            idf = self.query_idf_
        with np.errstate(over="ignore"):  # `replace_values` raises on overflow
            values = _term_frequencies(bags, parts.tf) * idf[bags.indices]
            if parts.norm == "pivoted":
                pivot = self.pivot_ or 1.0  # if fit saw no words, the pivot has no effect
                lengths = (1 - self.slope) * pivot + self.slope * np.diff(bags.indptr)
                values = values / lengths[row_indices(bags)]
        norm = None if parts.norm == "pivoted" else parts.norm
        weights = normalize_rows(bags, values, norm)
        return replace_values(bags, weights, keep_zeros=self.keep_zeros)

    def _learn(self, found: WordStatistics) -> None:
        documents, queries = self.parts(), self.parts(of="queries")
        df, n = found.document_frequencies, found.n_documents
        self.idf_ = inverse_document_frequency(df, n, idf=documents.idf)
        self.query_idf_: Float64Array | None = None
        if queries.idf != documents.idf:
            self.query_idf_ = inverse_document_frequency(df, n, idf=queries.idf)
        self.pivot_ = float(df.sum()) / n

    def _check_loaded(self) -> None:
        shape = (self.n_features_in_,)
        self.__dict__.setdefault("query_idf_", None)  # folders of earlier versions lack it
        self.__dict__.setdefault("pivot_", 0.0)
        self._check_shapes(idf_=shape, pivot_=())
        if self.query_idf_ is not None:
            self._check_shapes(query_idf_=shape)
        elif self.parts().idf != self.parts(of="queries").idf:
            raise ValueError("query_idf_ must hold the idf of queries")
        if self.pivot_ < 0:
            raise ValueError("pivot_ must be at least 0")


def _term_frequencies(bags: Bags, tf: Tf) -> Float64Array:
    largest = _largest_of_rows(bags) if tf in ("max", "augmented") else None
    average = None
    if tf == "log-average":
        rows = row_indices(bags)
        sums = np.bincount(rows, bags.data, bags.shape[0])
        average = np.maximum(sums / np.maximum(np.diff(bags.indptr), 1), 1.0)[rows]
    return term_frequency(bags.data, tf, largest=largest, average=average)


def _largest_of_rows(bags: Bags) -> Float64Array:
    """Return for each stored value the maximum of its row."""
    rows = row_indices(bags)
    largest = np.zeros(bags.shape[0])
    np.maximum.at(largest, rows, bags.data)
    return np.asarray(largest[rows])
