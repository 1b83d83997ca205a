"""Weights of the words of a vector table: nBOW, SIF, uSIF, tf-idf, or given."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin._base import Float32Array, Float64Array, Int32Array, Int64Array
from textkin.corpus import DocumentRows, VectorTable
from textkin.exceptions import ParameterError
from textkin.weighting._formulas import (
    check_probabilities,
    inverse_document_frequency,
    sif_weights,
    zipf_probabilities,
)

__all__ = [
    "PROBABILITIES",
    "TRANSPORT_WEIGHTS",
    "WEIGHTS",
    "Probabilities",
    "TransportWeights",
    "Weights",
    "WordWeights",
    "document_frequencies",
    "fixed_word_weights",
    "given_weights",
    "learned_word_weights",
    "needs_corpus",
    "numbers_of_words",
    "sif_weights_by_rank",
    "tfidf_weights",
    "usif_weights",
    "weights_need_corpus",
    "weights_of",
    "word_probabilities",
]


TRANSPORT_WEIGHTS = ("nbow", "sif", "tfidf")
TransportWeights: TypeAlias = Literal["nbow", "sif", "tfidf"] | NDArray[np.floating[Any]]
WEIGHTS = ("mean", "tfidf", "sif", "usif")
Weights: TypeAlias = Literal["mean", "tfidf", "sif", "usif"] | NDArray[np.floating[Any]]
PROBABILITIES = ("auto", "zipf", "corpus")
Probabilities: TypeAlias = Literal["auto", "zipf", "corpus"] | NDArray[np.floating[Any]]

_ROUNDING = 1e-12  # relative tolerance of probabilities at the threshold of uSIF


def numbers_of_words(given: NDArray[Any], n_words: int, name: str) -> Float64Array:
    """Return an array with one number per word in float64; raise for a wrong shape or type."""
    if given.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers; got dtype {given.dtype}.")
    if given.shape != (n_words,):
        raise ValueError(
            f"{name} must have one number for each of the {n_words} words; got shape {given.shape}."
        )
    return np.asarray(given, dtype=np.float64)


def given_weights(weights: NDArray[Any], n_words: int, name: str) -> Float64Array:
    """Return word weights of the user in float64; raise if one is invalid."""
    given = numbers_of_words(weights, n_words, name)
    wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if wrong.size:
        raise ValueError(
            f"{name} must be finite and at least 0; position {wrong[0]} has {given[wrong[0]]}."
        )
    return given


@lru_cache(maxsize=4)
def sif_weights_by_rank(n_words: int, a: float = 1e-3) -> Float64Array:
    """Return cached SIF weights of words by frequency rank."""
    weights = sif_weights(zipf_probabilities(n_words), a)
    weights.flags.writeable = False
    return weights


def document_frequencies(
    indices: Int32Array, counts: Float32Array | Float64Array, n_words: int
) -> Int64Array:
    """Return the number of documents that contain each word."""
    return np.bincount(indices[counts > 0], minlength=n_words)


def tfidf_weights(frequencies: Int64Array, n_documents: int) -> Float64Array:
    """Compute log2(N / df) of words; df is at least 1."""
    return inverse_document_frequency(np.maximum(frequencies, 1), n_documents)


def word_probabilities(
    indices: Int32Array, counts: Float32Array | Float64Array, n_words: int
) -> Float64Array | None:
    """Return each word's share of all tokens, or None for an empty corpus."""
    largest = counts.max(initial=0)
    if largest == 0:
        return None
    # Division by the maximum first keeps the sum from overflow and underflow.
    shares = np.bincount(indices, counts / largest, n_words)
    return np.asarray(shares / shares.sum())


def weights_need_corpus(weights: TransportWeights, table: VectorTable) -> bool:
    """Return True if a `word_weights` parameter requires a corpus."""
    if not isinstance(weights, str):
        return False
    # Named vectors are in the order of frequency, which is enough for SIF; columns are not.
    return weights == "tfidf" or (weights == "sif" and table.lookup is None)


def fixed_word_weights(weights: TransportWeights, table: VectorTable) -> Float64Array | None:
    """Return word weights that need no corpus, or None if all are 1."""
    if isinstance(weights, str):
        if weights == "sif" and table.lookup is not None:
            return sif_weights_by_rank(len(table.vectors))
        return None
    return given_weights(weights, len(table.vectors), "word_weights")


def learned_word_weights(
    weights: TransportWeights, table: VectorTable, corpus: DocumentRows
) -> Float64Array | None:
    """Compute word weights from a corpus, or return None if all are 1."""
    if not weights_need_corpus(weights, table):
        return None
    if weights == "tfidf":
        df = document_frequencies(corpus.indices, corpus.counts, corpus.n_columns)
        return tfidf_weights(df, len(corpus))
    p = word_probabilities(corpus.indices, corpus.counts, corpus.n_columns)
    if p is None:
        raise ValueError("X must have words for word_weights='sif' to learn from; got none.")
    return sif_weights(p)


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Weights of words, with the parameter a that SIF or uSIF used.

    Attributes
    ----------
    weights : ndarray of shape (n_words,), float64, or None
        Weight of each word. If None, 1 for each word.
    a : float or None
        Parameter of SIF or uSIF.
    """

    weights: Float64Array | None
    a: float | None = None


def needs_corpus(weights: Weights, probabilities: Probabilities, *, named: bool) -> bool:
    """Return True if the weights of pooling must be learned from a corpus."""
    if not isinstance(weights, str):
        return False
    if weights == "sif":
        return isinstance(probabilities, str) and not _by_rank(probabilities, named)
    return weights in ("tfidf", "usif")  # uSIF needs the mean length of documents at least


def weights_of(
    weights: Weights,
    probabilities: Probabilities,
    a: float,
    n_words: int,
    corpus: DocumentRows | None,
    *,
    named: bool,
) -> WordWeights:
    """Compute the weight of each word for pooling, from a corpus if needed."""
    if not isinstance(weights, str):
        return WordWeights(given_weights(weights, n_words, "word_weights"))
    if weights == "mean":
        return WordWeights(None)
    if weights == "tfidf":
        assert corpus is not None, "needs_corpus says so"
        df = document_frequencies(corpus.indices, corpus.counts, n_words)
        return WordWeights(tfidf_weights(df, len(corpus)))
    if weights == "sif" and isinstance(probabilities, str) and _by_rank(probabilities, named):
        return WordWeights(sif_weights_by_rank(n_words, float(a)), float(a))
    p = _probabilities(probabilities, n_words, corpus, named)
    if weights == "sif":
        return WordWeights(sif_weights(p, a), float(a))
    assert corpus is not None, "needs_corpus says so"
    return WordWeights(*usif_weights(p, _mean_length(corpus)))


def usif_weights(probabilities: Float64Array, mean_length: float) -> tuple[Float64Array, float]:
    """Compute the unsupervised SIF (uSIF) weight of each word, and the parameter a.

    Let V be the number of words with a probability above 0, and n the mean length of a document, at
    least 1. Then ``threshold = 1 - (1 - 1/V)^n``, ``alpha`` is the share of words with p above it,
    ``Z = V / 2``, ``a = (1 - alpha) / (alpha Z)``, and the weight is ``a / (a/2 + p)``. If no word
    is above the threshold, a is infinite and all weights are 2. If all words are above it, which
    requires probabilities that sum to more than 1, all weights would be 0; this raises.
    """
    n_words = int(np.count_nonzero(probabilities))
    threshold = -np.expm1(max(mean_length, 1.0) * np.log1p(-1 / n_words)) if n_words > 1 else 1.0
    # With documents of one word, equal probabilities are at the threshold, up to rounding.
    alpha = np.count_nonzero(probabilities > threshold * (1 + _ROUNDING)) / n_words
    if alpha == 0:
        return np.full(len(probabilities), 2.0), float("inf")
    if alpha == 1:
        raise ParameterError(
            "probabilities",
            "numbers that sum to 1 for word_weights='usif'",
            f"a sum of {probabilities.sum():.3g}, with all of them above {threshold:.3g}, which "
            "would make all weights 0",
        )
    a = (1 - alpha) / (alpha * n_words / 2)
    return np.asarray(a / (a / 2 + probabilities)), a


def _mean_length(corpus: DocumentRows) -> float:
    """Return the mean number of tokens of documents that are not empty."""
    lengths = np.bincount(
        np.repeat(np.arange(len(corpus)), np.diff(corpus.indptr)), corpus.counts, len(corpus)
    )
    filled = lengths[lengths > 0]
    with np.errstate(over="ignore"):  # an infinite length is valid: it makes the threshold 1
        return float(filled.mean()) if len(filled) else 0.0


def _by_rank(probabilities: str, named: bool) -> bool:
    # Named vectors are in descending order of frequency, like published files; columns are not.
    return probabilities == "zipf" or (probabilities == "auto" and named)


def _probabilities(
    probabilities: Probabilities, n_words: int, corpus: DocumentRows | None, named: bool
) -> Float64Array:
    if not isinstance(probabilities, str):
        given = numbers_of_words(probabilities, n_words, "probabilities")
        if not given.any():
            raise ValueError("probabilities must not all be 0.")
        check_probabilities(given)
        return given
    if _by_rank(probabilities, named):
        return zipf_probabilities(n_words)
    assert corpus is not None, "needs_corpus says so"
    p = word_probabilities(corpus.indices, corpus.counts, n_words)
    if p is None:
        raise ValueError(
            "X must have words with vectors to learn probabilities from; got none. Pass "
            "probabilities=, or fit on documents that have words."
        )
    return p
