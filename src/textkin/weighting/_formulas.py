"""Formulas of all weightings as functions of NumPy arrays.

Each formula takes arrays and returns float64, so that bags and postings can share it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import (
    Bags,
    Constraint,
    Float64Array,
    Int64Array,
    integer,
    one_of,
    positive,
    real,
)
from textkin.exceptions import ParameterError

__all__ = [
    "BM25_VARIANT",
    "DELTA",
    "FLOOR",
    "IDF",
    "K1",
    "TF",
    "VARIANT",
    "B",
    "BM25Variant",
    "Idf",
    "Tf",
    "Variant",
    "WordStatistics",
    "bm25_saturation",
    "check_probabilities",
    "inverse_document_frequency",
    "resolve_bm25",
    "resolve_variant",
    "sif_weights",
    "term_frequency",
    "zipf_probabilities",
]

Tf: TypeAlias = Literal["count", "binary", "log", "max", "augmented", "log-average"]
Idf: TypeAlias = Literal[
    "one",
    "log",
    "log2",
    "inverse",
    "smooth",
    "unsmoothed",
    "wtmf",
    "lucene",
    "okapi",
    "bm25l",
    "bm25+",
    "probabilistic",
]
BM25Variant: TypeAlias = Literal["standard", "robertson", "lucene", "atire", "bm25l", "bm25+"]
Variant: TypeAlias = Literal["gensim", "lecture", "wmd", "sklearn", "sklearn-unsmoothed", "wtmf"]

# Inverse document frequency of a word that occurs in df of N documents, 1 <= df <= N.
_IDF: dict[str, Callable[[Float64Array, int], Float64Array]] = {
    "one": lambda df, N: np.ones_like(df),
    "log": lambda df, N: np.log(N / df),
    "log2": lambda df, N: np.log2(N / df),
    "inverse": lambda df, N: 1 / df,
    "smooth": lambda df, N: np.log((1 + N) / (1 + df)) + 1,
    "unsmoothed": lambda df, N: np.log(N / df) + 1,
    "wtmf": lambda df, N: np.log(N / (df + 1)),
    "lucene": lambda df, N: np.log1p((N - df + 0.5) / (df + 0.5)),
    "okapi": lambda df, N: np.log((N - df + 0.5) / (df + 0.5)),
    "bm25l": lambda df, N: np.log((N + 1) / (df + 0.5)),
    "bm25+": lambda df, N: np.log((N + 1) / df),
    # The maximum keeps the IDF at 0 or above.
    "probabilistic": lambda df, N: np.log(np.maximum(N - df, df) / df),
}
# idf and default delta of each form of BM25.
_BM25_VARIANTS: dict[str, tuple[Idf, float]] = {
    "standard": ("lucene", 0.0),
    "robertson": ("okapi", 0.0),
    "lucene": ("lucene", 0.0),
    "atire": ("log", 0.0),
    "bm25l": ("bm25l", 0.5),
    "bm25+": ("bm25+", 1.0),
}
_WITHOUT_FACTOR = ("robertson", "lucene")  # forms without the factor k1 + 1
_WITH_DELTA = ("bm25l", "bm25+")
# Term frequency and idf of each named variant.
_VARIANTS: dict[str, tuple[Tf, Idf]] = {
    "gensim": ("count", "log2"),
    "lecture": ("max", "log2"),
    "wmd": ("count", "inverse"),
    "sklearn": ("count", "smooth"),
    "sklearn-unsmoothed": ("count", "unsmoothed"),
    "wtmf": ("count", "wtmf"),
}

VARIANT = one_of(*_VARIANTS)
TF = one_of("count", "binary", "log", "max", "augmented", "log-average")
BM25_VARIANT = one_of(*_BM25_VARIANTS)
DELTA = one_of(None) | real(0)
FLOOR = one_of(None) | real()
IDF = one_of(*_IDF)
K1: Constraint = real(0)
B: Constraint = real(0, 1)
_POSITIVE = positive()
_ZIPF_SHIFT = 2.7


def resolve_variant(variant: Variant) -> tuple[Tf, Idf]:
    """Return the names of the term frequency and IDF formulas of a TF-IDF variant."""
    return _VARIANTS[variant]


def resolve_bm25(variant: BM25Variant, delta: float | None = None) -> tuple[Idf, float]:
    """Return the IDF formula's name and the delta of a BM25 variant.

    Raises
    ------
    ValueError
        If `delta` is given and the form has none.
    """
    idf, own = _BM25_VARIANTS[variant]
    if delta is None:
        return idf, own
    if variant not in _WITH_DELTA:
        raise ParameterError(
            "delta", f"None for variant={variant!r}", repr(delta), "'bm25l' and 'bm25+' have one."
        )
    return idf, float(delta)


def term_frequency(
    counts: ArrayLike,
    tf: Tf = "count",
    *,
    largest: ArrayLike | None = None,
    average: ArrayLike | None = None,
) -> Float64Array:
    """Compute the term frequency (TF) factor of word counts, by a named formula.

    Parameters
    ----------
    counts : array
        Counts of words, above 0.
    tf : {"count", "binary", "log", "max", "augmented", "log-average"}, default="count"
        Formula: n; 1; 1 + ln n (called sublinear); n divided by `largest`; 0.5 + 0.5 n divided by
        `largest`; (1 + ln n) / (1 + ln `average`).
    largest : array, optional
        For "max" and "augmented": largest count in the document of each count.
    average : array, optional
        For "log-average": mean count of the words in the document of each count.

    Returns
    -------
    ndarray, float64
        One factor per count. "log" is meant for integer counts: it is below 1 for n < 1, and below
        0 for n < 1 / e.

    See Also
    --------
    TfIdf : Weighting that uses these factors.

    References
    ----------
    Salton and Buckley, "Term-Weighting Approaches in Automatic Text Retrieval", Information
    Processing and Management 24, 1988, table 1.

    Examples
    --------
    >>> term_frequency([1, 2, 4], "log").round(3)
    array([1.   , 1.693, 2.386])
    >>> term_frequency([1, 2, 4], "max", largest=4)
    array([0.25, 0.5 , 1.  ])
    """
    TF.check("tf", tf)
    n = np.asarray(counts, dtype=np.float64)
    if not np.all((n > 0) & np.isfinite(n)):
        raise ValueError("counts must be finite and above 0; omit words that do not occur.")
    if tf == "count":
        return n
    if tf == "binary":
        return np.ones_like(n)
    if tf == "log":
        return np.asarray(1 + np.log(n))
    if tf == "log-average":
        if average is None:
            raise ValueError(
                "average must be given for tf='log-average': the mean count of each document."
            )
        means = np.asarray(average, dtype=np.float64)
        if not np.all((means >= 1) & np.isfinite(means)):
            raise ValueError("average must be finite and at least 1.")
        return np.asarray((1 + np.log(n)) / (1 + np.log(means)))
    if largest is None:
        raise ValueError(
            f"largest must be given for tf={tf!r}: the largest count of each document."
        )
    most = np.asarray(largest, dtype=np.float64)
    if not np.all((most >= n) & np.isfinite(most)):
        raise ValueError("largest must be finite and at least as large as the counts.")
    return np.asarray(n / most if tf == "max" else 0.5 + 0.5 * n / most)


def inverse_document_frequency(
    document_frequencies: ArrayLike,
    n_documents: int,
    *,
    variant: Variant = "gensim",
    idf: Idf | None = None,
    floor: float | None = None,
) -> Float64Array:
    """Compute the inverse document frequency (IDF) of words, by a named formula.

    Parameters
    ----------
    document_frequencies : array of shape (n_words,)
        Number of documents that contain each word.
    n_documents : int
        Number of documents.
    variant : str, default="gensim"
        Variant of `TfIdf` whose idf formula is used.
    idf : str, optional
        Name of the idf formula, see `TfIdf`; replaces the formula of the variant.
    floor : float or None, default=None
        Minimum idf of a word that is in any document, such as 0 for formulas that can be
        negative. If None, no minimum.

    Returns
    -------
    ndarray of shape (n_words,), float64
        Idf of each word; 0 for a word that is in no document, with any formula.

    Raises
    ------
    ValueError
        If a document frequency is negative or above `n_documents`.

    See Also
    --------
    TfIdf : Weighting that uses these factors.
    BM25 : Weighting by "lucene" or "okapi" and a saturated count.

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
    >>> inverse_document_frequency([2, 1], 4, idf="lucene")
    array([0.69314718, 1.2039728 ])
    >>> inverse_document_frequency([3], 4, idf="okapi", floor=0.0)
    array([0.])
    """
    VARIANT.check("variant", variant)
    FLOOR.check("floor", floor)
    if idf is not None:
        IDF.check("idf", idf)
    integer(0).check("n_documents", n_documents)
    df = np.asarray(document_frequencies, dtype=np.float64)
    if not np.all((df >= 0) & (df <= n_documents)):
        raise ParameterError(
            "document_frequencies",
            f"between 0 and n_documents, {n_documents}",
            f"values from {df.min()} to {df.max()}",
        )
    formula = _IDF[idf or resolve_variant(variant)[1]]
    weights = np.zeros_like(df)
    seen = df > 0
    weights[seen] = formula(df[seen], n_documents)
    if floor is not None:
        weights[seen] = np.maximum(weights[seen], floor)
    return weights


def bm25_saturation(
    counts: ArrayLike,
    lengths: ArrayLike,
    average_length: float,
    *,
    k1: float = 1.2,
    b: float = 0.75,
    variant: BM25Variant = "standard",
    delta: float | None = None,
) -> Float64Array:
    """Compute the term frequency part of BM25 from counts and document lengths.

    Parameters
    ----------
    counts : array
        Counts of words, at least 0.
    lengths : array
        Length of the document of each count.
    average_length : float
        Mean length of the documents of the collection, above 0.
    k1 : float, default=1.2
        Saturation of the count, at least 0. A higher value gives repeated words more weight; with
        0, only presence counts.
    b : float, default=0.75
        Strength of length normalization, from 0 to 1. With 0, the length does not matter.
    variant : str, default="standard"
        Form of BM25, see `BM25`.
    delta : float or None, default=None
        Constant of "bm25l" and "bm25+", see `BM25`.

    Returns
    -------
    ndarray, float64
        Factors, at least 0, increasing with the count; 0 for a count of 0.

    See Also
    --------
    BM25 : Weighting that uses these factors.

    Notes
    -----
    With n the count, ``|d|`` the length, and avgdl the mean length::

        n (k1 + 1) / (n + k1 (1 - b + b |d| / avgdl)).

    The factor k1 + 1 does not change rankings; newer versions of Lucene omit it.

    References
    ----------
    Robertson and Walker, "Some Simple Effective Approximations to the 2-Poisson Model for
    Probabilistic Weighted Retrieval", SIGIR 1994.

    Examples
    --------
    >>> bm25_saturation([1, 2, 1], [3, 3, 4], 3)
    array([1.   , 1.375, 0.88 ])
    """
    K1.check("k1", k1)
    B.check("b", b)
    BM25_VARIANT.check("variant", variant)
    DELTA.check("delta", delta)
    extra = resolve_bm25(variant, delta)[1]
    if not (np.isfinite(average_length) and average_length > 0):
        raise ParameterError("average_length", "a finite number above 0", str(average_length))
    n = np.asarray(counts, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    for name, values in (("counts", n), ("lengths", lengths)):
        if not np.all((values >= 0) & np.isfinite(values)):
            raise ValueError(f"{name} must be finite numbers, at least 0. Scale large ones down.")
    with np.errstate(over="ignore"):  # weights of a document with infinite length are 0
        longer = 1 - b + b * (lengths / average_length)
    most = k1 + 1  # a divisor, since the product with a count could overflow
    absent = n == 0  # avoids 0 / 0 for k1 = 0
    if variant == "bm25l":
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            adjusted = n / longer + extra
            saturated = most / (1 + k1 / adjusted)
        return np.asarray(np.where(absent, 0.0, saturated))
    shares = np.where(absent, 1.0, n / most + k1 / most * longer)
    saturated = n / shares
    if variant in _WITHOUT_FACTOR:
        saturated = saturated / most
    return np.asarray(np.where(absent, 0.0, saturated + extra))


def zipf_probabilities(n: int) -> Float64Array:
    """Estimate the probabilities of `n` words from their frequency ranks (Zipf's law).

    Parameters
    ----------
    n : int
        Number of words.

    Returns
    -------
    ndarray of shape (n,), float64
        Decreasing probabilities that sum to 1.

    See Also
    --------
    SIF : Weighting that uses these probabilities with ``probabilities="zipf"``.

    Notes
    -----
    The law of Zipf and Mandelbrot: the word of rank r = 0, 1, ... has the probability

        p(r) = c / (r + 2.7).

    References
    ----------
    Piantadosi, "Zipf's Word Frequency Law in Natural Language: A Critical Review and Future
    Directions", Psychonomic Bulletin & Review 21, 2014 (its ranks start at 1).

    Examples
    --------
    >>> zipf_probabilities(3).round(3)
    array([0.434, 0.317, 0.249])
    """
    integer(0).check("n", n)
    inverse_ranks = 1.0 / (np.arange(n) + _ZIPF_SHIFT)
    return np.asarray(inverse_ranks / inverse_ranks.sum())


def sif_weights(probabilities: ArrayLike, a: float = 1e-3) -> Float64Array:
    """Compute the SIF weight a / (a + p) of words with probabilities p.

    Parameters
    ----------
    probabilities : array of shape (n_words,)
        Probability p of each word in the language or corpus, from 0 to 1.
    a : float, default=1e-3
        Parameter above 0. The smaller it is, the less weight frequent words get; a word with p = a
        has the weight 0.5.

    Returns
    -------
    ndarray of shape (n_words,), float64
        Weights, above 0 and at most 1; 1 for a word that was never seen.

    Raises
    ------
    ValueError
        If a probability is outside 0 to 1.

    See Also
    --------
    SIF : Weighting that uses these weights.

    References
    ----------
    Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR
    2017, algorithm 1.

    Examples
    --------
    >>> sif_weights([0.0, 0.001, 0.999])
    array([1.   , 0.5  , 0.001])
    """
    _POSITIVE.check("a", a)
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1:
        raise ValueError(f"probabilities must have one dimension; got {p.ndim}.")
    check_probabilities(p)
    return np.asarray(a / (a + p))


def check_probabilities(p: Float64Array) -> None:
    """Raise an error if a number is not between 0 and 1."""
    outside = np.flatnonzero(~((p >= 0) & (p <= 1)))  # includes NaN
    if outside.size:
        raise ValueError(
            f"probabilities must be between 0 and 1; position {outside[0]} has {p[outside[0]]}."
        )


class _Weighting(Protocol):
    """Weighting whose fitted values follow from word statistics."""

    def _learn(self, found: "WordStatistics") -> None: ...


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """Number of documents, and document frequency and total count of each word."""

    n_documents: int
    document_frequencies: Int64Array  # (n_words,)
    totals: Float64Array  # (n_words,): sum of counts per word
    length: float  # sum of all counts; infinite on overflow

    @classmethod
    def of(cls, bags: Bags) -> Self:
        """Compute the statistics of validated bags."""
        n_documents, n_words = bags.shape
        with np.errstate(over="ignore"):  # the estimators that need the sums check them
            return cls(
                n_documents,
                np.bincount(bags.indices, minlength=n_words),
                np.asarray(np.bincount(bags.indices, bags.data, n_words), dtype=np.float64),
                float(bags.data.sum(dtype=np.float64)),
            )

    def fit(self, weighting: _Weighting) -> None:
        """Fit a weighting to these statistics, with the result of its `fit` on the bags."""
        weighting._learn(self)

    def __add__(self, more: "WordStatistics") -> "WordStatistics":
        with np.errstate(over="ignore"):
            return WordStatistics(
                self.n_documents + more.n_documents,
                self.document_frequencies + more.document_frequencies,
                self.totals + more.totals,
                self.length + more.length,
            )
