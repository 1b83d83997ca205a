"""The words that columns stand for, where a model is asked to show them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from textkin._typing import Float64Array, HasFeatureNames, WordLookup
from textkin.explain import Topics
from textkin.vectors import WordVectors
from textkin.vectors._table import column_names

__all__ = ["HasTopics", "HasWordVectors", "words_of_columns"]


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


class HasTopics(ABC):
    """A model whose topics are lists of words."""

    def topics(
        self,
        words: WordLookup | Mapping[str, int] | Sequence[str] | None = None,
        *,
        n_words: int = 10,
    ) -> Topics:
        """Return the most probable words of each topic, the heaviest topic first.

        Topics are the factors of PLSA, and the windows of a counting grid.

        Parameters
        ----------
        words : Vocabulary, vectoriser, mapping, sequence of str or None, default=None
            The word of each column, or what knows it: a fitted scikit-learn vectoriser, or its
            ``vocabulary_``. None takes the names of the columns of `fit`, if it was given any, or
            the numbers of the columns.
        n_words : int, default=10
            Words of each topic.

        Returns
        -------
        Topics
            Draws itself as text, SVG or HTML.
        """
        names = words_of_columns(self, words)
        probabilities, weights = self._topics()
        return Topics.of(probabilities, names, weights=weights, n_words=n_words)

    @abstractmethod
    def _topics(self) -> tuple[Float64Array, Float64Array]:
        """Return P(w|z), (n_topics, n_words), and the part of all tokens that a topic has."""


class HasWordVectors(ABC):
    """A model that places words."""

    def word_vectors(
        self,
        vocabulary: WordLookup | Sequence[str] | Mapping[str, int] | HasFeatureNames | None = None,
    ) -> WordVectors:
        """Return the words as vectors: the rows of U_k S_k for LSI, the columns of P for WTMF.

        Parameters
        ----------
        vocabulary : Vocabulary, sequence of str, or scikit-learn vectoriser
            Whatever names the columns in their order; None: the column names that `fit` saw.

        Returns
        -------
        WordVectors
            Words without a place, since `fit` never saw them, are left out.

        Examples
        --------
        >>> from textkin import LSI
        >>> lsi = LSI(2, random_state=0).fit([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
        >>> lsi.word_vectors(["cat", "dog", "car"]).nearest("cat", 1)
        [('dog', 1.0)]
        """
        check_is_fitted(self)
        matrix = self._word_places()
        if vocabulary is None:
            if not hasattr(self, "feature_names_in_"):
                raise ValueError("vocabulary must name the columns: fit saw no names for them.")
            vocabulary = [str(name) for name in self.feature_names_in_]
        words = column_names(vocabulary)
        if len(words) != len(matrix):
            raise ValueError(
                f"vocabulary must name the {len(matrix)} columns that fit saw; got {len(words)}."
            )
        small = matrix.astype(np.float32)
        placed = np.flatnonzero(small.any(axis=1)).tolist()
        if not placed:
            raise ValueError("The model has no word vectors: those of all words are 0.")
        return WordVectors([words[row] for row in placed], small[placed])

    @abstractmethod
    def _word_places(self) -> Float64Array:
        """Return a row for each word."""
