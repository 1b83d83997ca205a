"""How much of a document each word is: the weights that counts are multiplied by."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float64Array
from textkin.vectors._encode import Encoded
from textkin.vectors._space import Space
from textkin.weighting import sif_weights
from textkin.weighting._over_words import (
    document_frequencies,
    given_weights,
    sif_weights_by_rank,
    tfidf_weights,
    word_probabilities,
)

__all__ = [
    "MASSES",
    "Masses",
    "fixed_word_weights",
    "learnt_word_weights",
    "needs_corpus",
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
            return sif_weights_by_rank(len(space))
        return None
    return given_weights(masses, len(space), "masses")


def learnt_word_weights(masses: Masses, space: Space, corpus: Encoded) -> Float64Array | None:
    """Return the weight of each word learnt from a corpus; None where none is needed."""
    if not needs_corpus(masses, space):
        return None
    if masses == "tfidf":
        df = document_frequencies(corpus.indices, corpus.counts, corpus.columns)
        return tfidf_weights(df, len(corpus))
    p = word_probabilities(corpus.indices, corpus.counts, corpus.columns)
    if p is None:
        raise ValueError("X must have words for masses='sif' to learn from; got none.")
    return sif_weights(p)
