"""How much each word of a pooled document weighs: all alike, by tf-idf, SIF or uSIF."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float64Array
from textkin.vectors._encode import Encoded
from textkin.weighting import sif_weights, zipf_probabilities
from textkin.weighting._over_words import (
    document_frequencies,
    given_weights,
    numbers_of_words,
    sif_weights_by_rank,
    tfidf_weights,
    word_probabilities,
)

__all__ = [
    "PROBABILITIES",
    "WEIGHTS",
    "Probabilities",
    "Weights",
    "WordWeights",
    "needs_corpus",
    "usif_weights",
    "weights_of",
]

WEIGHTS = ("mean", "tfidf", "sif", "usif")
PROBABILITIES = ("auto", "zipf", "corpus")

Weights: TypeAlias = Literal["mean", "tfidf", "sif", "usif"] | NDArray[np.floating[Any]]
Probabilities: TypeAlias = Literal["auto", "zipf", "corpus"] | NDArray[np.floating[Any]]


_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class WordWeights:
    """What was found out about words.

    Attributes
    ----------
    weights : ndarray of shape (n_words,), float64, or None
        The weight of each word; None is 1 for all.
    a : float or None
        The parameter of SIF or uSIF behind them.
    """

    weights: Float64Array | None
    a: float | None = None


def needs_corpus(weights: Weights, probabilities: Probabilities, *, named: bool) -> bool:
    """Tell whether the weights are learnt from a corpus; `named`: whether vectors have words."""
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
    corpus: Encoded | None,
    *,
    named: bool,
) -> WordWeights:
    """Return the weight of each word; `corpus` may be None where none is needed."""
    if not isinstance(weights, str):
        return WordWeights(given_weights(weights, n_words, "weights"))
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
    """Return the weight of each word by unsupervised SIF, and its parameter a.

    With V words that have a probability above 0 and n the mean length of a document (at least 1):
    ``threshold = 1 - (1 - 1/V)^n``, ``alpha`` the share of words with p above it, ``Z = V / 2``,
    ``a = (1 - alpha) / (alpha Z)``, weight ``a / (a/2 + p)``. Where no word is above the threshold
    a is infinite, and all words weigh 2. Where all are, which probabilities that sum to 1 at most
    never have, a would be 0 and no word weigh anything: that is refused.
    """
    n_words = int(np.count_nonzero(probabilities))
    threshold = -np.expm1(max(mean_length, 1.0) * np.log1p(-1 / n_words)) if n_words > 1 else 1.0
    # Equal ones, of documents of one word, are at the threshold but for rounding, not above it.
    alpha = np.count_nonzero(probabilities > threshold * (1 + _ROUNDING)) / n_words
    if alpha == 0:
        return np.full(len(probabilities), 2.0), float("inf")
    if alpha == 1:
        raise ValueError(
            "probabilities must sum to 1 for weights='usif'; these sum to "
            f"{probabilities.sum():.3g}, and all of them are above {threshold:.3g}, so that no "
            "word would weigh anything."
        )
    a = (1 - alpha) / (alpha * n_words / 2)
    return np.asarray(a / (a / 2 + probabilities)), a


def _mean_length(corpus: Encoded) -> float:
    """Return how many words the documents that have any have in the mean."""
    lengths = np.bincount(
        np.repeat(np.arange(len(corpus)), np.diff(corpus.indptr)), corpus.counts, len(corpus)
    )
    filled = lengths[lengths > 0]
    with np.errstate(over="ignore"):  # such documents have every word of the language
        return float(filled.mean()) if len(filled) else 0.0


def _by_rank(probabilities: str, named: bool) -> bool:
    # Named vectors are in the order of frequency, as published files are; columns are not.
    return probabilities == "zipf" or (probabilities == "auto" and named)


def _probabilities(
    probabilities: Probabilities, n_words: int, corpus: Encoded | None, named: bool
) -> Float64Array:
    if not isinstance(probabilities, str):
        given = numbers_of_words(probabilities, n_words, "probabilities")
        if not given.any():
            raise ValueError("probabilities must not all be 0.")
        wrong = np.flatnonzero(~((given >= 0) & (given <= 1)))
        if wrong.size:
            raise ValueError(
                f"probabilities must be between 0 and 1; position {wrong[0]} has {given[wrong[0]]}."
            )
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
