"""The normalised bag of words."""

import numpy as np

from textkin._typing import Bags
from textkin.weighting._rows import BagsLike, checked_bags, normalised, with_values

__all__ = ["nbow"]


def nbow(bags: BagsLike) -> Bags:
    """Divide each row by its sum: the normalised bag of words (nBOW).

    Parameters
    ----------
    bags : sparse or dense array of shape (n_documents, n_words)
        Counts, or other weights of at least 0; a one-row slice is one document.

    Returns
    -------
    csr_array of shape (n_documents, n_words)
        Rows that sum to 1; empty rows stay empty. float32, or float64 if `bags` is.

    Raises
    ------
    ValueError
        If a value is negative, infinite or NaN.

    See Also
    --------
    SIF : Give frequent words less weight, then normalise in the same way.

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
    counts = checked_bags(bags)
    return with_values(counts, normalised(counts, counts.data.astype(np.float64), "l1"))
