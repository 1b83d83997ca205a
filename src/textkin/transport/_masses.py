"""How much of a document each word is: the weights that counts are multiplied by."""

from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float64Array, Int64Array
from textkin.vectors._encode import Encoded
from textkin.vectors._space import Space
from textkin.weighting import inverse_document_frequency, sif_weights, zipf_probabilities

__all__ = [
    "MASSES",
    "Masses",
    "fixed_word_weights",
    "learnt_word_weights",
    "needs_corpus",
    "tfidf_word_weights",
]

MASSES = ("nbow", "sif", "tfidf")
Masses: TypeAlias = Literal["nbow", "sif", "tfidf"] | NDArray[np.floating[Any]]


def needs_corpus(masses: Masses, space: Space) -> bool:
    """Tell whether the weights are learnt from a corpus."""
    if not isinstance(masses, str):
        return False
    # Named vectors are in the order of frequency, which is enough for SIF; columns are not.
    return masses == "tfidf" or (masses == "sif" and space.lookup is None)


def fixed_word_weights(masses: Masses, space: Space) -> Float64Array | None:
    """Return the weight of each word where no corpus is needed; None for 1 everywhere."""
    if isinstance(masses, str):
        if masses == "sif" and space.lookup is not None:
            return _weights_by_rank(len(space))
        return None
    weights = np.asarray(masses, dtype=np.float64)
    if weights.shape != (len(space),):
        raise ValueError(
            f"masses must have one weight for each of the {len(space)} words; got shape "
            f"{weights.shape}."
        )
    if not np.all(np.isfinite(weights)) or weights.min() < 0:
        raise ValueError("masses must be finite and not negative.")
    return weights


@lru_cache(maxsize=4)
def _weights_by_rank(n_words: int) -> Float64Array:
    weights = sif_weights(zipf_probabilities(n_words))
    weights.flags.writeable = False
    return weights


def learnt_word_weights(masses: Masses, space: Space, corpus: Encoded) -> Float64Array | None:
    """Return the weight of each word learnt from a corpus; None where none is needed."""
    if not needs_corpus(masses, space):
        return None
    if masses == "tfidf":
        df = np.bincount(corpus.indices[corpus.counts > 0], minlength=corpus.columns)
        return tfidf_word_weights(df, len(corpus))
    counts = np.bincount(corpus.indices, corpus.counts, corpus.columns)
    if counts.sum() == 0:
        raise ValueError("X must have words for masses='sif' to learn from; got none.")
    return sif_weights(counts / counts.sum())


def tfidf_word_weights(document_frequencies: Int64Array, n_documents: int) -> Float64Array:
    """Return the weights of words that are in so many of the documents; in none is as in one."""
    return inverse_document_frequency(np.maximum(document_frequencies, 1), n_documents)
