"""The formulas of weightings, as functions of numbers: what a bag, or a list of postings, applies.

Each takes arrays and returns float64; nothing here knows how bags are stored.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import Float64Array
from textkin._validation import Constraint, integer, one_of, real

__all__ = [
    "IDF",
    "K1",
    "TF",
    "VARIANT",
    "B",
    "Idf",
    "Tf",
    "Variant",
    "bm25_saturation",
    "inverse_document_frequency",
    "parts_of",
    "term_frequency",
]

Tf: TypeAlias = Literal["count", "binary", "log", "max"]
Idf: TypeAlias = Literal[
    "one", "log", "log2", "inverse", "smooth", "unsmoothed", "wtmf", "lucene", "okapi"
]
Variant: TypeAlias = Literal["gensim", "lecture", "wmd", "sklearn", "sklearn-unsmoothed", "wtmf"]

# The idf of a word that is in df of N documents, 1 <= df <= N.
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
}
# What a named variant means by term frequency and by idf.
_VARIANTS: dict[str, tuple[Tf, Idf]] = {
    "gensim": ("count", "log2"),
    "lecture": ("max", "log2"),
    "wmd": ("count", "inverse"),
    "sklearn": ("count", "smooth"),
    "sklearn-unsmoothed": ("count", "unsmoothed"),
    "wtmf": ("count", "wtmf"),
}

VARIANT = one_of(*_VARIANTS)
TF = one_of("count", "binary", "log", "max")
IDF = one_of(*_IDF)
K1: Constraint = real(0)
B: Constraint = real(0, 1)


def parts_of(variant: Variant) -> tuple[Tf, Idf]:
    """Return the term frequency and the idf of a named variant."""
    return _VARIANTS[variant]


def term_frequency(
    counts: ArrayLike, tf: Tf = "count", *, largest: ArrayLike | None = None
) -> Float64Array:
    """Return how much counts say about their document.

    Parameters
    ----------
    counts : array
        How often each word occurs, above 0.
    tf : {"count", "binary", "log", "max"}, default="count"
        n itself; 1; 1 + ln n (called sublinear); n divided by `largest`.
    largest : array, optional
        For "max": the largest count of the document that each count is from.

    Returns
    -------
    ndarray, float64
        One for each count. "log" is below 1 for n < 1, and below 0 for n < 1 / e: it is meant
        for whole counts.

    See Also
    --------
    TfIdf : Weigh bags by it.

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
        raise ValueError("counts must be finite and above 0; a word that is absent has no weight.")
    if tf == "count":
        return n
    if tf == "binary":
        return np.ones_like(n)
    if tf == "log":
        return np.asarray(1 + np.log(n))
    if largest is None:
        raise ValueError("largest must be given for tf='max': the largest count of each document.")
    most = np.asarray(largest, dtype=np.float64)
    if not np.all((most >= n) & np.isfinite(most)):
        raise ValueError("largest must be finite and at least as large as the counts.")
    return np.asarray(n / most)


def inverse_document_frequency(
    document_frequencies: ArrayLike,
    n_documents: int,
    *,
    variant: Variant = "gensim",
    idf: Idf | None = None,
) -> Float64Array:
    """Return the idf of words that are in so many of the documents.

    Parameters
    ----------
    document_frequencies : array of shape (n_words,)
        In how many documents each word is.
    n_documents : int
        How many documents there are.
    variant : str, default="gensim"
        One of the variants of `TfIdf`, whose idf is taken.
    idf : str, optional
        The formula by its own name, in place of a variant's: see `TfIdf`.

    Returns
    -------
    ndarray of shape (n_words,), float64
        The idf of each word; 0 for a word that is in no document, whatever the formula.

    Raises
    ------
    ValueError
        If a document frequency is negative or above `n_documents`.

    See Also
    --------
    TfIdf : Weigh bags by it.
    BM25 : Weigh bags by "lucene" or "okapi" and a saturated count.

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
    """
    VARIANT.check("variant", variant)
    if idf is not None:
        IDF.check("idf", idf)
    integer(0).check("n_documents", n_documents)
    df = np.asarray(document_frequencies, dtype=np.float64)
    if not np.all((df >= 0) & (df <= n_documents)):
        raise ValueError(
            f"document_frequencies must be between 0 and n_documents, {n_documents}; "
            f"got values from {df.min()} to {df.max()}."
        )
    formula = _IDF[idf or parts_of(variant)[1]]
    weights = np.zeros_like(df)
    seen = df > 0
    weights[seen] = formula(df[seen], n_documents)
    return weights


def bm25_saturation(
    counts: ArrayLike,
    lengths: ArrayLike,
    average_length: float,
    *,
    k1: float = 1.2,
    b: float = 0.75,
) -> Float64Array:
    """Return the part of a BM25 weight that depends on the document: all but the idf.

    Parameters
    ----------
    counts : array
        How often each word occurs, at least 0.
    lengths : array
        The length of the document that each count is from.
    average_length : float
        The mean length of the documents of the collection, above 0.
    k1 : float, default=1.2
        At least 0: how soon further occurrences stop counting; 0 counts presence alone.
    b : float, default=0.75
        From 0 to 1: how much a long document needs more occurrences for the same weight.

    Returns
    -------
    ndarray, float64
        From 0 to k1 + 1, rising with the count.

    See Also
    --------
    BM25 : Weigh bags by it.

    Notes
    -----
    With n the count, |d| the length and avgdl the mean length::

        n (k1 + 1) / (n + k1 (1 - b + b |d| / avgdl)).

    The factor k1 + 1 changes no ranking; newer Lucene leaves it out.

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
    if not (np.isfinite(average_length) and average_length > 0):
        raise ValueError(f"average_length must be a finite number above 0; got {average_length}.")
    n = np.asarray(counts, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    for name, values in (("counts", n), ("lengths", lengths)):
        if not np.all((values >= 0) & np.isfinite(values)):
            raise ValueError(f"{name} must be finite numbers of at least 0; scale large ones down.")
    with np.errstate(over="ignore"):  # a document so long weighs nothing
        longer = 1 - b + b * (lengths / average_length)
    most = k1 + 1  # divided by, since its product with a count may be too large
    absent = n == 0  # which k1 = 0 would make 0 / 0
    shares = np.where(absent, 1.0, n / most + k1 / most * longer)
    return np.asarray(np.where(absent, 0.0, n / shares))
