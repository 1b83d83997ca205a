"""The words that columns stand for, where a model is asked to show them."""

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from textkin._typing import WordLookup
from textkin.vectors._table import column_names

__all__ = ["words_of_columns"]


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
    found = column_names(words, "words")
    if len(found) != columns:
        raise ValueError(
            f"words must be {columns:,}, one for each column of the bags of fit; got "
            f"{len(found):,}."
        )
    return list(found)
