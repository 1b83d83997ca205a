"""How much each word of a pooled document weighs: all alike, by tf-idf, SIF or uSIF."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float64Array
from textkin.vectors._encode import Encoded
from textkin.weighting import inverse_document_frequency, sif_weights, zipf_probabilities

__all__ = [
    "PROBABILITIES",
    "WEIGHTS",
    "Probabilities",
    "Weights",
    "WordWeights",
    "given_weights",
    "needs_corpus",
    "usif_weights",
    "weights_of",
]

WEIGHTS = ("mean", "tfidf", "sif", "usif")
PROBABILITIES = ("auto", "zipf", "corpus")

Weights: TypeAlias = Literal["mean", "tfidf", "sif", "usif"] | NDArray[np.floating[Any]]
Probabilities: TypeAlias = Literal["auto", "zipf", "corpus"] | NDArray[np.floating[Any]]


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
        return WordWeights(given_weights(weights, n_words))
    if weights == "mean":
        return WordWeights(None)
    if weights == "tfidf":
        assert corpus is not None, "needs_corpus says so"
        df = np.bincount(corpus.indices[corpus.counts > 0], minlength=n_words)
        # A word that no document has counts like one that a single document has.
        return WordWeights(inverse_document_frequency(np.maximum(df, 1), len(corpus)))
    if weights == "sif" and isinstance(probabilities, str) and _by_rank(probabilities, named):
        return WordWeights(_sif_by_rank(n_words, float(a)), float(a))
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
    a is infinite, and all words weigh 2.
    """
    n_words = int(np.count_nonzero(probabilities))
    threshold = -np.expm1(max(mean_length, 1.0) * np.log1p(-1 / n_words)) if n_words > 1 else 1.0
    alpha = np.count_nonzero(probabilities > threshold) / n_words
    if alpha == 0:
        return np.full(len(probabilities), 2.0), float("inf")
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


def given_weights(weights: NDArray[np.floating[Any]], n_words: int) -> Float64Array:
    """Check weights of the user's own."""
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n_words,):
        raise ValueError(
            f"weights must have one number for each of the {n_words} words; got shape "
            f"{given.shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if wrong.size:
        raise ValueError(
            f"weights must be finite and at least 0; position {wrong[0]} has {given[wrong[0]]}."
        )
    return given


@lru_cache(maxsize=4)
def _sif_by_rank(n_words: int, a: float) -> Float64Array:
    """Return SIF weights by rank, which a call for one document should not wait for again."""
    weights = sif_weights(zipf_probabilities(n_words), a)
    weights.flags.writeable = False
    return weights


def _by_rank(probabilities: str, named: bool) -> bool:
    # Named vectors are in the order of frequency, as published files are; columns are not.
    return probabilities == "zipf" or (probabilities == "auto" and named)


def _probabilities(
    probabilities: Probabilities, n_words: int, corpus: Encoded | None, named: bool
) -> Float64Array:
    if not isinstance(probabilities, str):
        given = np.asarray(probabilities, dtype=np.float64)
        if given.shape != (n_words,) or not given.any():
            raise ValueError(
                f"probabilities must have one number for each of the {n_words} words, not all 0; "
                f"got shape {given.shape}."
            )
        wrong = np.flatnonzero(~((given >= 0) & (given <= 1)))
        if wrong.size:
            raise ValueError(
                f"probabilities must be between 0 and 1; position {wrong[0]} has {given[wrong[0]]}."
            )
        return given
    if _by_rank(probabilities, named):
        return zipf_probabilities(n_words)
    assert corpus is not None, "needs_corpus says so"
    largest = corpus.counts.max(initial=0)
    if largest == 0:
        raise ValueError(
            "X must have words with vectors to learn probabilities from; got none. Pass "
            "probabilities=, or fit on documents that have words."
        )
    counts = np.bincount(corpus.indices, corpus.counts / largest, n_words)
    return np.asarray(counts / counts.sum())
