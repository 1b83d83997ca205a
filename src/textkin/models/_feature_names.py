"""Names of columns, and base classes of models that have topics or word vectors."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from textkin._base import Float64Array, HasFeatureNames, WordLookup
from textkin.exceptions import ParameterError
from textkin.explain import Topics
from textkin.vectors import WordVectors, column_names

__all__ = ["HasTopics", "HasWordVectors", "names_of_columns"]


def names_of_columns(
    estimator: Any,  # noqa: ANN401 (any fitted estimator over bags)
    feature_names: "WordLookup | Mapping[str, int] | Sequence[str] | None",
) -> Sequence[str]:
    """Return the name of each column: given, learned by `fit`, or the column number."""
    check_is_fitted(estimator)
    columns = int(estimator.n_features_in_)
    if feature_names is None:
        known = getattr(estimator, "feature_names_in_", None)
        return [f"#{at}" for at in range(columns)] if known is None else list(known)
    found = column_names(feature_names, "feature_names")
    if len(found) != columns:
        raise ParameterError(
            "feature_names",
            f"{columns:,}, one for each column of the bags of fit",
            f"{len(found):,}",
        )
    return list(found)


class HasTopics(ABC):
    """Base class of models with topics, each a probability distribution over words."""

    def topics(
        self,
        feature_names: WordLookup | Mapping[str, int] | Sequence[str] | None = None,
        *,
        n_words: int = 10,
    ) -> Topics:
        """Return the most probable words of each topic, by descending weight, as `Topics`.

        The topics of PLSA are its factors; the topics of a counting grid are its windows.

        Parameters
        ----------
        feature_names : Vocabulary, vectorizer, mapping, sequence of str or None, default=None
            Word of each column, or an object that has them: a fitted scikit-learn vectorizer, or
            its ``vocabulary_``. If None, the column names of `fit` if it had any, otherwise the
            column numbers.
        n_words : int, default=10
            Number of words per topic.

        Returns
        -------
        Topics
            Topics with methods to draw them as text, SVG, or HTML.
        """
        names = names_of_columns(self, feature_names)
        probabilities, weights = self._topics()
        return Topics.of(probabilities, names, weights=weights, n_words=n_words)

    @abstractmethod
    def _topics(self) -> tuple[Float64Array, Float64Array]:
        """Return P(w|z), one row per topic, and each topic's share of all tokens."""


class HasWordVectors(ABC):
    """Base class of models that learn a vector for each word."""

    def word_vectors(
        self,
        feature_names: WordLookup
        | Sequence[str]
        | Mapping[str, int]
        | HasFeatureNames
        | None = None,
    ) -> WordVectors:
        """Return the learned vector of each word as `WordVectors`.

        Parameters
        ----------
        feature_names : Vocabulary, sequence of str, or scikit-learn vectorizer
            Word of each column. If None, the column names of `fit`.

        Returns
        -------
        WordVectors
            Word vectors, without words that `fit` never saw.

        Examples
        --------
        >>> from textkin import LSI
        >>> lsi = LSI(2, random_state=0).fit([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
        >>> lsi.word_vectors(["cat", "dog", "car"]).nearest("cat", 1)
        [('dog', 1.0)]
        """
        check_is_fitted(self)
        matrix = self._word_places()
        if feature_names is None:
            if not hasattr(self, "feature_names_in_"):
                raise ParameterError(
                    "feature_names",
                    "the words of the columns, since fit had no column names",
                    "None",
                    "Pass `vocabulary.words`.",
                )
            feature_names = [str(name) for name in self.feature_names_in_]
        words = column_names(feature_names, "feature_names")
        if len(words) != len(matrix):
            raise ParameterError(
                "feature_names", f"the names of the {len(matrix)} columns of fit", f"{len(words)}"
            )
        small = matrix.astype(np.float32)
        placed = np.flatnonzero(small.any(axis=1)).tolist()
        if not placed:
            raise ValueError(
                "The model must have a word vector other than 0; the vectors of all words are 0. "
                "Fit it to more documents."
            )
        return WordVectors([words[row] for row in placed], small[placed])

    @abstractmethod
    def _word_places(self) -> Float64Array:
        """Return the learned vector of each word as a matrix with one row per word."""
