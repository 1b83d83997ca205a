"""TF-IDF in the variants of the literature."""

from collections.abc import Callable
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import Bags, Float64Array
from textkin._validation import Constraint, check_params, integer, one_of
from textkin.weighting._rows import (
    BagsLike,
    BagWeighting,
    Norm,
    normalised,
    rows_of,
    with_values,
)

__all__ = ["TfIdf", "inverse_document_frequency"]

Variant: TypeAlias = Literal["gensim", "lecture", "wmd", "sklearn", "sklearn-unsmoothed", "wtmf"]

_Idf: TypeAlias = Callable[[Float64Array, int], Float64Array]

# The idf of a word that is in df of N documents, 1 <= df <= N.
_IDF: dict[str, _Idf] = {
    "gensim": lambda df, N: np.log2(N / df),
    "lecture": lambda df, N: np.log2(N / df),
    "wmd": lambda df, N: 1 / df,
    "sklearn": lambda df, N: np.log((1 + N) / (1 + df)) + 1,
    "sklearn-unsmoothed": lambda df, N: np.log(N / df) + 1,
    "wtmf": lambda df, N: np.log(N / (df + 1)),
}
_VARIANT = one_of(*_IDF)


def inverse_document_frequency(
    document_frequencies: ArrayLike, n_documents: int, *, variant: Variant = "gensim"
) -> Float64Array:
    """Return the idf of words that are in so many of the documents.

    Parameters
    ----------
    document_frequencies : array of shape (n_words,)
        In how many documents each word is.
    n_documents : int
        How many documents there are.
    variant : str, default="gensim"
        One of the variants of `TfIdf`, which gives their formulas.

    Returns
    -------
    ndarray of shape (n_words,), float64
        The idf of each word; 0 for a word that is in no document, whatever the variant.

    Raises
    ------
    ValueError
        If a document frequency is negative or above `n_documents`.

    See Also
    --------
    TfIdf : Weigh bags by it.

    References
    ----------
    Sparck Jones, "A Statistical Interpretation of Term Specificity and Its Application in
    Retrieval", Journal of Documentation 28, 1972.

    Examples
    --------
    >>> inverse_document_frequency([1, 2, 4, 0], 4)
    array([2., 1., 0., 0.])
    >>> inverse_document_frequency([2], 4, variant="sklearn")
    array([1.51082562])
    """
    _VARIANT.check("variant", variant)
    integer(0).check("n_documents", n_documents)
    df = np.asarray(document_frequencies, dtype=np.float64)
    if not np.all((df >= 0) & (df <= n_documents)):
        raise ValueError(
            f"document_frequencies must be between 0 and n_documents, {n_documents}; "
            f"got values from {df.min()} to {df.max()}."
        )
    idf = np.zeros_like(df)
    seen = df > 0
    idf[seen] = _IDF[variant](df[seen], n_documents)
    return idf


class TfIdf(BagWeighting, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Weigh words by how often they occur here and in how few documents they occur at all.

    Parameters
    ----------
    variant : str, default="gensim"
        The formula, see Notes: "gensim", "lecture", "wmd", "sklearn", "sklearn-unsmoothed" or
        "wtmf".
    norm : "l2", "l1" or None, default="l2"
        What each row is divided by: "l2" for cosines and Euclidean distances, "l1" for masses
        and L1 distances, None for nothing.
    sublinear : bool, default=False
        Take 1 + ln n(d, w) as the term frequency in place of the variant's own.

    Attributes
    ----------
    idf_ : ndarray of shape (n_words,), float64
        The idf of each column's word; 0 for a word that is in no document of `fit`.

    See Also
    --------
    inverse_document_frequency : The idf alone.
    SIF : Weigh by the number of occurrences instead of documents.

    Notes
    -----
    The weight of word w in document d is tf(d, w) idf(w), divided by the norm of the row, with
    n the count, N the number of documents of `fit` and df the number of them that have the word:

    ==================  ===========  ==========================  ==================
    variant             tf           idf                         norm in the source
    ==================  ===========  ==========================  ==================
    gensim              n            log2(N / df)                "l2"
    lecture             n / max_w n  log2(N / df)                None
    wmd                 n            1 / df                      None
    sklearn             n            ln((1 + N) / (1 + df)) + 1  "l2"
    sklearn-unsmoothed  n            ln(N / df) + 1              "l2"
    wtmf                n            ln(N / (df + 1))            None
    ==================  ===========  ==========================  ==================

    "gensim" is also what Sato et al. use, with norm "l1" or "l2". A word in every document
    weighs 0 in "gensim" and "lecture" and vanishes from the bags; in "wtmf" it weighs less than
    0. A row in which nothing is left stays empty. A word that `fit` never saw weighs 0.

    References
    ----------
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
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "variant": _VARIANT,
        "norm": one_of("l1", "l2", None),
        "sublinear": one_of(True, False),
    }

    def __init__(
        self, variant: Variant = "gensim", *, norm: Norm = "l2", sublinear: bool = False
    ) -> None:
        self.variant = variant
        self.norm = norm
        self.sublinear = sublinear

    def fit(self, X: BagsLike, y: object = None) -> Self:
        """Learn the idf of each word.

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
        bags = self._bags_to_fit(X)
        n_documents, n_words = bags.shape
        df = np.bincount(bags.indices, minlength=n_words)
        self.idf_ = inverse_document_frequency(df, n_documents, variant=self.variant)
        return self

    def transform(self, X: BagsLike) -> Bags:
        """Weigh and normalise each row.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags.

        Returns
        -------
        csr_array of shape (n_documents, n_words)
            The weighted bags. float32, or float64 if `X` is.
        """
        bags = self._bags_to_transform(X)
        values = self._term_frequencies(bags) * self.idf_[bags.indices]
        return with_values(bags, normalised(bags, values, self.norm))

    def _term_frequencies(self, bags: Bags) -> Float64Array:
        counts = bags.data.astype(np.float64)
        if self.sublinear:
            return 1 + np.log(counts)
        if self.variant == "lecture":
            return _over_largest(bags, counts)
        return counts


def _over_largest(bags: Bags, counts: Float64Array) -> Float64Array:
    """Divide each count by the largest of its row."""
    rows = rows_of(bags)
    largest = np.zeros(bags.shape[0])
    np.maximum.at(largest, rows, counts)
    return np.asarray(counts / largest[rows])
