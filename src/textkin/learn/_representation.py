"""Conversion of documents to vectors: word counts, then an optional model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, clone
from sklearn.utils.validation import check_is_fitted

from textkin._base import Bags, BoolArray, describe_non_text, takes_texts
from textkin.exceptions import ParameterTypeError
from textkin.learn._documents import are_numbers
from textkin.text import BagOfWords, StopWords, Vocabulary, count_words, prepare, text_of
from textkin.weighting import TfIdf

__all__ = ["Representation", "are_zero_rows"]


class Representation:
    """Converter of documents to vectors: words are counted, then a model may transform.

    Parameters
    ----------
    model : transformer or None
        Transformer of bags, or of texts if it takes texts (`Pooling`, or a pipeline that begins
        with `BagOfWords`). If None, texts are counted, see `weigh`, and numbers stay unchanged.
    stop_words : str, None, path or collection of str
        Words of texts to ignore.
    weigh : bool
        If True and `model` is None, weight the counts of texts by tf-idf.
    n_jobs : int or None
        Number of threads for counting.

    Attributes
    ----------
    words : sequence of str or None
        Words of the columns. None if a model made other columns.
    model_ : transformer or None
        Fitted model.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 (a transformer of anybody's)
        stop_words: StopWords,
        *,
        weigh: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self._given = model
        self._stop_words = stop_words
        self._weigh = weigh
        self._n_jobs = n_jobs
        self._vocabulary: Any = None
        self.model_: Any = None
        self.words: Any = None

    def fit_transform(self, X: Any) -> tuple[Any, BoolArray]:  # noqa: ANN401
        """Fit vocabulary and model; return the document vectors, and a mask of empty ones."""
        given = X
        self.model_ = None if self._given is None else clone(self._given)
        if not are_numbers(X) and not takes_texts(self.model_):
            given = self._fit_count(X)
            self.words = self._vocabulary.words
            if self.model_ is None and self._weigh:
                self.model_ = TfIdf()
        vectors = given if self.model_ is None else self.model_.fit_transform(given)
        if not _keeps_columns(self.model_):
            self.words = None
        return self._with_empty(vectors, given)

    def transform(self, X: Any) -> tuple[Any, BoolArray]:  # noqa: ANN401
        """Return the vectors of new documents, and a mask of the empty documents."""
        given = X
        if not are_numbers(X) and not takes_texts(self.model_):
            if self._vocabulary is None:
                raise ParameterTypeError("X", "rows of numbers, like in fit", "texts")
            given = self._count(X)
        elif self._vocabulary is not None:
            raise ParameterTypeError("X", "texts, like in fit", "numbers")
        vectors = given if self.model_ is None else self.model_.transform(given)
        return self._with_empty(vectors, given)

    def names(self, given: Sequence[str] | None = None) -> Sequence[str] | None:
        """Return the name of each vector column, or None if the columns have no names.

        `given` are the names of the columns of the input, for rows of numbers.
        """
        if self.words is not None:
            return self.words  # type: ignore[no-any-return]
        if self.model_ is None:
            return given
        try:
            found: Sequence[str] = self.model_.get_feature_names_out()
        except (AttributeError, ValueError, TypeError):  # a model without names of its outputs
            return None
        return found

    @property
    def counted_words(self) -> list[str] | None:
        """Vocabulary of the counted words, or None for documents that are vectors."""
        return None if self._vocabulary is None else list(self._vocabulary.words)

    def restore(
        self,
        words: Sequence[str] | None,
        model: Any,  # noqa: ANN401
        columns: int,
    ) -> "Representation":
        """Set the fitted vocabulary and model, and return this representation.

        Parameters
        ----------
        words : sequence of str or None
            `counted_words` of the saved representation.
        model : transformer or None
            Fitted model.
        columns : int
            Number of columns of the vectors.
        """
        self.model_ = model
        if words is not None:
            self._vocabulary = Vocabulary(words)
            same = len(words) == columns and _keeps_columns(model)
            self.words = self._vocabulary.words if same else None
        return self

    def state(self) -> dict[str, Any]:
        """Return the fitted vocabulary and model, for `save`."""
        words = self.counted_words
        return {
            "words": None if words is None else np.array(words, dtype=object),
            "model": self.model_,
        }

    def restore_state(self, state: dict[str, Any], columns: int, *, of_numbers: bool) -> None:
        """Restore the result of `state` from an untrusted file, after validation.

        `columns` is the number of columns of the vectors; `of_numbers` is True if `fit` took rows
        of numbers.
        """
        words, model = state["words"], state["model"]
        prepare(stop_words=self._stop_words)  # raises for invalid stop words
        if model is not None:
            if not hasattr(model, "transform"):
                raise ValueError("the model must have a method transform")
            check_is_fitted(model)
        self.restore(None if words is None else words.tolist(), model, columns)
        wanted = columns if model is None else getattr(model, "n_features_in_", None)
        if words is not None and wanted not in (None, len(words)):
            raise ValueError(f"there must be {wanted} words; got {len(words)}")
        if (words is None) != (of_numbers or takes_texts(model)):
            raise ValueError("there must be words if they are counted")

    def _fit_count(self, X: list[Any]) -> Bags:
        """Learn the vocabulary of texts or token lists, and return their bags of words."""
        self._vocabulary = None
        if _are_token_lists(X):
            words = {word for words in X for word in words}
            for word in words:
                if not isinstance(word, str):
                    raise TypeError(
                        f"X must hold lists of words; one holds {describe_non_text(word)}."
                    )
            self._vocabulary = Vocabulary(sorted(words))
            return self._count(X)
        counter = BagOfWords(stop_words=self._stop_words, n_jobs=self._n_jobs)
        bags: Bags = counter.fit_transform(X)
        self._vocabulary = counter.vocabulary_
        return bags

    def _count(self, X: list[Any]) -> Bags:
        if _are_token_lists(X):
            return count_words(X, self._vocabulary).bags
        counter = BagOfWords(
            stop_words=self._stop_words, vocabulary=self._vocabulary, n_jobs=self._n_jobs
        )
        bags: Bags = counter.transform(X)
        return bags

    def _with_empty(self, vectors: Any, given: Any) -> tuple[Any, BoolArray]:  # noqa: ANN401
        """Return vectors as a CSR or dense array, and a mask of empty documents."""
        is_sparse: bool = sparse.issparse(vectors)
        vectors = vectors.tocsr() if is_sparse else np.asarray(vectors)
        empty = are_zero_rows(vectors)
        if self._vocabulary is not None:
            empty = are_zero_rows(given)
        elif not isinstance(given, list):  # a row of zeros of the user's may be a point
            empty = np.zeros_like(empty)
        return vectors, empty


def are_zero_rows(vectors: Any) -> BoolArray:  # noqa: ANN401
    """Return a mask that is True for rows of a matrix with only zeros."""
    if vectors.ndim != 2:  # a later check raises
        return np.zeros(len(vectors), dtype=np.bool_)
    if not isinstance(vectors, np.ndarray):
        rows = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
        filled = np.bincount(rows[vectors.data != 0], minlength=vectors.shape[0])
        return np.asarray(filled == 0)
    return np.asarray(~vectors.any(axis=1))


def _keeps_columns(model: Any) -> bool:  # noqa: ANN401
    """Return True if a model's output has the columns of its input, as a weighting has."""
    if model is None or isinstance(model, OneToOneFeatureMixin):
        return True
    steps: Any = getattr(model, "steps", ())
    return bool(steps) and all(_keeps_columns(step) for _, step in steps if step != "passthrough")


def _are_token_lists(X: list[Any]) -> bool:
    return bool(X) and not isinstance(text_of(X[0]), str)
