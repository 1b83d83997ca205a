"""Weightings without IDF: nBOW, other row norms, and binary."""

import numpy as np

from textkin._base import Bags, BagsLike, Norm, check_bags, normalize_rows, one_of, replace_values

__all__ = ["binary", "nbow", "normalize"]

_NORM = one_of("l1", "l2", None)


def nbow(bags: BagsLike) -> Bags:
    """Divide each bag by its sum: the normalized bag of words (nBOW).

    Parameters
    ----------
    bags : sparse or dense array of shape (n_documents, n_words)
        Counts, or other weights, at least 0; a one-row slice is one document.

    Returns
    -------
    csr_array of shape (n_documents, n_words)
        Rows that sum to 1; empty rows stay empty. float32, or float64 if `bags` is float64.

    Raises
    ------
    ValueError
        If a value is negative, infinite or NaN.

    See Also
    --------
    SIF : Weighting that gives frequent words less weight before it normalizes in the same way.

    Notes
    -----
    With n(d, w) occurrences of word w in document d, the weight is

        x_w = n(d, w) / sum_v n(d, v).

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015,
    section 3.

    Examples
    --------
    >>> nbow([[3, 1], [0, 0]]).toarray()
    array([[0.75, 0.25],
           [0.  , 0.  ]], dtype=float32)
    """
    return normalize(bags, "l1")


def normalize(bags: BagsLike, norm: Norm = "l2") -> Bags:
    """Divide each bag by its norm (L1, L2, or maximum).

    Parameters
    ----------
    bags : sparse or dense array of shape (n_documents, n_words)
        Counts, or other weights, at least 0; a one-row slice is one document.
    norm : "l2", "l1" or None, default="l2"
        Norm: the Euclidean norm, the sum, or 1.

    Returns
    -------
    csr_array of shape (n_documents, n_words)
        Rows of norm 1; empty rows stay empty. float32, or float64 if `bags` is float64.

    See Also
    --------
    nbow : Division by the sum.

    Examples
    --------
    >>> normalize([[3, 4], [0, 0]]).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    _NORM.check("norm", norm)
    counts = check_bags(bags)
    return replace_values(counts, normalize_rows(counts, counts.data.astype(np.float64), norm))


def binary(bags: BagsLike) -> Bags:
    """Replace every nonzero count by 1.

    Parameters
    ----------
    bags : sparse or dense array of shape (n_documents, n_words)
        Counts, or other weights, at least 0; a one-row slice is one document.

    Returns
    -------
    csr_array of shape (n_documents, n_words)
        Ones where `bags` is above 0; float32, or float64 if `bags` is float64.

    See Also
    --------
    TfIdf : With ``tf="binary"``, presence times idf.

    Notes
    -----
    The inner product of two such rows is the number of distinct words in both documents.

    Examples
    --------
    >>> binary([[3, 0, 1]]).toarray()
    array([[1., 0., 1.]], dtype=float32)
    """
    counts = check_bags(bags)
    return replace_values(counts, np.ones(counts.nnz))
