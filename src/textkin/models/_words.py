"""The words that columns stand for, where a model is asked to show them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from textkin._typing import Float64Array, HasFeatureNames, WordLookup
from textkin.vectors import WordVectors
from textkin.vectors._table import column_names

__all__ = ["word_vectors_of", "words_of_columns"]


def words_of_columns(
    estimator: Any,  # noqa: ANN401 (any fitted estimator over bags)
    words: "WordLookup | Mapping[str, int] | Sequence[str] | None",
) -> Sequence[str]:
    """Return the word of each column: those given, those of `fit`, or numbers."""
    check_is_fitted(estimator)
    columns = int(estimator.n_features_in_)
    if words is None:
        known = getattr(estimator, "feature_names_in_", None)
        return [f"#{at}" for at in range(columns)] if known is None else list(known)
    found = column_names(words)
    if len(found) != columns:
        raise ValueError(
            f"words must be {columns:,}, one for each column of the bags of fit; got "
            f"{len(found):,}."
        )
    return list(found)


def word_vectors_of(
    estimator: Any,  # noqa: ANN401 (any fitted estimator over bags)
    matrix: Float64Array,
    vocabulary: "WordLookup | Sequence[str] | Mapping[str, int] | HasFeatureNames | None",
) -> WordVectors:
    """Return the rows of a matrix as vectors of the words of the columns; those of 0 left out."""
    if vocabulary is None:
        if not hasattr(estimator, "feature_names_in_"):
            raise ValueError("vocabulary must name the columns: fit saw no names for them.")
        vocabulary = [str(name) for name in estimator.feature_names_in_]
    words = column_names(vocabulary)
    if len(words) != len(matrix):
        raise ValueError(
            f"vocabulary must name the {len(matrix)} columns that fit saw; got {len(words)}."
        )
    small = matrix.astype(np.float32)
    placed = np.flatnonzero(small.any(axis=1)).tolist()
    return WordVectors([words[row] for row in placed], small[placed])
