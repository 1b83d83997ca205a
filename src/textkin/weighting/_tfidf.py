"""TF-IDF in the variants of the literature, by name and by parts."""

from typing import ClassVar, Self

import numpy as np

from textkin._typing import Bags, Float64Array
from textkin._validation import Constraint, check_params, one_of
from textkin.weighting._formulas import (
    IDF,
    TF,
    VARIANT,
    Idf,
    Tf,
    Variant,
    inverse_document_frequency,
    parts_of,
    term_frequency,
)
from textkin.weighting._rows import (
    BagsLike,
    BagWeighting,
    Norm,
    normalised,
    rows_of,
    with_values,
)
from textkin.weighting._statistics import WordStatistics

__all__ = ["TfIdf"]


class TfIdf(BagWeighting, auto_wrap_output_keys=None):
    """Weigh words by how often they occur here and in how few documents they occur at all.

    Parameters
    ----------
    variant : str, default="gensim"
        The formula, see Notes: "gensim", "lecture", "wmd", "sklearn", "sklearn-unsmoothed" or
        "wtmf".
    tf : {"count", "binary", "log", "max"}, optional
        The term frequency, in place of the variant's.
    idf : str, optional
        The idf, in place of the variant's: "one" (no idf), "log", "log2", "inverse", "smooth",
        "unsmoothed", "wtmf", "lucene" or "okapi".
    norm : "l2", "l1" or None, default="l2"
        What each row is divided by: "l2" for cosines and Euclidean distances, "l1" for masses
        and L1 distances, None for nothing.
    sublinear : bool, default=False
        The same as ``tf="log"``, as scikit-learn calls it.
    keep_zeros : bool, default=False
        Whether words that weigh 0 stay stored, for models that tell a word without a weight from
        one that is missing, as `WTMF` does.

    Attributes
    ----------
    idf_ : ndarray of shape (n_words,), float64
        The idf of each column's word; 0 for a word that is in no document of `fit`.

    See Also
    --------
    inverse_document_frequency, term_frequency : The two factors of a weight.
    BM25 : Weights that hardly grow with the count.
    SIF : Weigh by the number of occurrences instead of documents.

    Notes
    -----
    The weight of word w in document d is tf(d, w) idf(w), divided by the norm of the row, with
    n the count, N the number of documents of `fit` and df the number of them that have the word:

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

    "gensim" is also what Sato et al. use, with norm "l1" or "l2". A word in every document
    weighs 0 in "gensim" and "lecture" and vanishes from the bags; in "wtmf" and "okapi" it weighs
    less than 0. A row in which nothing is left stays empty. A word that `fit` never saw weighs 0.

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

    By parts, here a binary vector of unit length:

    >>> TfIdf(tf="binary", idf="one").fit_transform([[5, 1, 0, 2, 1]]).toarray()
    array([[0.5, 0.5, 0. , 0.5, 0.5]], dtype=float32)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "variant": VARIANT,
        "tf": one_of(None) | TF,
        "idf": one_of(None) | IDF,
        "norm": one_of("l1", "l2", None),
        "sublinear": one_of(True, False),
        "keep_zeros": one_of(True, False),
    }

    def __init__(
        self,
        variant: Variant = "gensim",
        *,
        tf: Tf | None = None,
        idf: Idf | None = None,
        norm: Norm = "l2",
        sublinear: bool = False,
        keep_zeros: bool = False,
    ) -> None:
        self.variant = variant
        self.tf = tf
        self.idf = idf
        self.norm = norm
        self.sublinear = sublinear
        self.keep_zeros = keep_zeros

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
        self._learn(WordStatistics.of(self._bags_to_fit(X)))
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
        with np.errstate(over="ignore"):  # told by with_values
            values = self._term_frequencies(bags) * self.idf_[bags.indices]
        weights = normalised(bags, values, self.norm)
        return with_values(bags, weights, keep_zeros=self.keep_zeros)

    def _learn(self, found: WordStatistics) -> None:
        self._tf()
        self.idf_ = inverse_document_frequency(
            found.document_frequencies, found.n_documents, variant=self.variant, idf=self.idf
        )

    def _check_loaded(self) -> None:
        self._check_shapes(idf_=(self.n_features_in_,))

    def _tf(self) -> Tf:
        if self.sublinear and self.tf not in (None, "log"):
            raise ValueError(f"tf must be None or 'log' with sublinear=True; got {self.tf!r}.")
        return "log" if self.sublinear else self.tf or parts_of(self.variant)[0]

    def _term_frequencies(self, bags: Bags) -> Float64Array:
        tf = self._tf()
        largest = _largest_of_rows(bags) if tf == "max" else None
        return term_frequency(bags.data, tf, largest=largest)


def _largest_of_rows(bags: Bags) -> Float64Array:
    """Return for each stored value the largest of its row."""
    rows = rows_of(bags)
    largest = np.zeros(bags.shape[0])
    np.maximum.at(largest, rows, bags.data)
    return np.asarray(largest[rows])
