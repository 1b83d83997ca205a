"""Weights of the words of a vector table: of the user's own, by rank, or by their frequencies."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float64Array, Int32Array, Int64Array
from textkin.weighting._formulas import inverse_document_frequency
from textkin.weighting._sif import sif_weights, zipf_probabilities

__all__ = [
    "document_frequencies",
    "given_weights",
    "numbers_of_words",
    "sif_weights_by_rank",
    "tfidf_weights",
    "word_probabilities",
]


def numbers_of_words(given: NDArray[Any], n_words: int, name: str) -> Float64Array:
    """Return a number for each word as float64; refuse what is none."""
    if given.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers; got dtype {given.dtype}.")
    if given.shape != (n_words,):
        raise ValueError(
            f"{name} must have one number for each of the {n_words} words; got shape {given.shape}."
        )
    return np.asarray(given, dtype=np.float64)


def given_weights(weights: NDArray[Any], n_words: int, name: str) -> Float64Array:
    """Check weights of the user's own, one a word."""
    given = numbers_of_words(weights, n_words, name)
    wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if wrong.size:
        raise ValueError(
            f"{name} must be finite and at least 0; position {wrong[0]} has {given[wrong[0]]}."
        )
    return given


@lru_cache(maxsize=4)
def sif_weights_by_rank(n_words: int, a: float = 1e-3) -> Float64Array:
    """Return SIF weights by rank, which a call for one document should not wait for again."""
    weights = sif_weights(zipf_probabilities(n_words), a)
    weights.flags.writeable = False
    return weights


def document_frequencies(indices: Int32Array, counts: Float64Array, n_words: int) -> Int64Array:
    """Return in how many rows each word has a count above 0."""
    return np.bincount(indices[counts > 0], minlength=n_words)


def tfidf_weights(frequencies: Int64Array, n_documents: int) -> Float64Array:
    """Return log2(N / df); a word that no document has counts like one that a single one has."""
    return inverse_document_frequency(np.maximum(frequencies, 1), n_documents)


def word_probabilities(
    indices: Int32Array, counts: Float64Array, n_words: int
) -> Float64Array | None:
    """Return the share of each word in all counts; None where there are none."""
    largest = counts.max(initial=0)
    if largest == 0:
        return None
    # By the largest first, so that no sum overflows or vanishes.
    shares = np.bincount(indices, counts / largest, n_words)
    return np.asarray(shares / shares.sum())
