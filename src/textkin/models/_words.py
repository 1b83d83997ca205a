"""The words that columns stand for, where a model is asked to show them."""

from collections.abc import Sequence
from typing import Any

from textkin._typing import WordLookup

__all__ = ["words_of_columns"]


def words_of_columns(
    estimator: Any,  # noqa: ANN401 (any fitted estimator over bags)
    words: WordLookup | Sequence[str] | None,
) -> Sequence[str]:
    """Return the word of each column: those given, those of `fit`, or numbers."""
    columns = int(estimator.n_features_in_)
    if words is None:
        known = getattr(estimator, "feature_names_in_", None)
        return [f"#{at}" for at in range(columns)] if known is None else list(known)
    found: Any = getattr(words, "words", words)
    if isinstance(found, str) or len(found) != columns:
        raise ValueError(
            f"words must be {columns:,}, one for each column of the bags of fit; got "
            f"{len(found):,}."
        )
    return list(found)
