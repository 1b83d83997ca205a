"""What classifiers that make vectors of documents have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from textkin._saving import SavedEstimator
from textkin._typing import Float64Array, Int64Array, IntpArray, WordLookup
from textkin._validation import check_params
from textkin.learn._documents import DocumentsLike, are_numbers, listed, size
from textkin.learn._vectors import Representation
from textkin.text._stop_words import StopWords
from textkin.text._tokenise import text_of
from textkin.vectors._table import column_names

__all__ = ["DocumentClassifier", "Rows"]

Rows: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"

_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class DocumentClassifier(ClassifierMixin, SavedEstimator, BaseEstimator, ABC):
    """A classifier over texts, lists of words or rows of numbers, which become sparse rows.

    A document whose row is empty is given to the class that most documents of `fit` have, the
    earlier one among equals.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in ascending order.
    class_counts_ : ndarray of int of shape (n_classes,)
        How many documents of `fit` have each.
    words_ : list of str or None
        The words that texts are counted by; None if `fit` was given numbers, or the model reads
        texts by itself.
    model_ : transformer or None
        What makes the rows of counts or numbers, fitted.
    """

    stop_words: StopWords
    n_jobs: int | None
    classes_: NDArray[Any]
    class_counts_: Int64Array
    words_: list[str] | None
    model_: Any

    _weighs: ClassVar[bool] = True
    _takes_negative: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._takes_negative
        return tags

    def predict(self, X: DocumentsLike) -> NDArray[Any]:
        """Return the class of each document.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_columns)
            Documents of the kind that `fit` was given.

        Returns
        -------
        ndarray of shape (n_documents,)
            Labels. A document without anything that `fit` knows gets the most frequent one.
        """
        rows = self._rows(X)
        return np.asarray(self.classes_[self._codes(rows)])

    @abstractmethod
    def _scores(self, rows: Rows) -> Float64Array:
        """Return a score of each class, the larger the better: (n_documents, n_classes)."""

    def _codes(self, rows: Rows) -> IntpArray:
        """Return the position of the best class, the earlier one among equals."""
        codes: IntpArray = self._scores(rows).argmax(axis=1)
        codes[np.diff(rows.indptr) == 0] = self.class_counts_.argmax()
        return codes

    def _rows_to_fit(self, X: DocumentsLike) -> Rows:
        """Read documents for the first time."""
        given = listed(X)
        for name in ("n_features_in_", "feature_names_in_"):  # of numbers in an earlier fit
            self.__dict__.pop(name, None)
        if are_numbers(given):
            given = validate_data(self, X, **_ROWS)
        elif not size(given):
            raise ValueError("X must have at least one document; got none.")
        representation = self._new_representation()
        vectors, _ = representation.fit_transform(given)
        self._representation = representation
        self.words_ = representation.counted_words
        self.model_ = representation.model_
        return self._canonical(vectors)

    def _rows(self, X: DocumentsLike) -> Rows:
        """Read documents as those of `fit` were read."""
        check_is_fitted(self)
        check_params(self)  # which may have been set since
        given = listed(X)
        if are_numbers(given) and hasattr(self, "n_features_in_"):
            given = validate_data(self, X, reset=False, ensure_min_samples=0, **_ROWS)
        vectors, _ = self._representation.transform(given)
        return self._canonical(vectors)

    def _row(self, document: Any) -> Rows:  # noqa: ANN401 (a text, words, or a row of numbers)
        """Read one document."""
        if isinstance(text_of(document), str):
            return self._rows([document])
        given: Any = document
        if sparse.issparse(document):
            rows = self._rows(given)
        elif hasattr(self, "n_features_in_"):
            rows = self._rows(np.atleast_2d(np.asarray(document)))
        else:
            rows = self._rows([document])
        if rows.shape[0] != 1:
            raise ValueError(f"document must be one document; got {rows.shape[0]}.")
        return rows

    @property
    @abstractmethod
    def _transformer(self) -> Any:  # noqa: ANN401 (a transformer of anybody's, or None)
        """What makes the rows that are compared, not fitted; see `Representation`."""

    def _new_representation(self) -> Representation:
        return Representation(
            self._transformer, self.stop_words, weigh=self._weighs, n_jobs=self.n_jobs
        )

    @staticmethod
    def _canonical(vectors: Any) -> Rows:  # noqa: ANN401
        rows: Rows = sparse.csr_array(vectors, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        wrong = np.flatnonzero(~np.isfinite(rows.data))
        if wrong.size:
            document = np.searchsorted(rows.indptr, wrong[0], side="right") - 1
            raise ValueError(
                f"The model must make finite numbers; document {document} has "
                f"{rows.data[wrong[0]]}."
            )
        return rows

    def _code_of(self, label: object) -> int:
        """Return the position of a class."""
        found = [at for at, known in enumerate(self.classes_.tolist()) if known == label]
        if not found:
            shown = ", ".join(map(repr, self.classes_[:10].tolist()))
            more = ", ..." if len(self.classes_) > 10 else ""
            raise ValueError(f"label must be one of {shown}{more}; got {label!r}.")
        return found[0]

    def _names(
        self, words: "WordLookup | Mapping[str, int] | Sequence[str] | None", columns: int
    ) -> Sequence[str]:
        """Return what each column is called: words, names of the model's or the user's, numbers."""
        if words is not None:
            found = list(column_names(words, "words"))
            if len(found) != columns:
                raise ValueError(
                    f"words must be {columns:,}, one for each column; got {len(found):,}."
                )
            return found
        names = self._representation.names(getattr(self, "feature_names_in_", None))
        if names is None:
            return [f"column {at}" for at in range(columns)]
        return [str(name) for name in names]

    def _check_loaded_columns(self, columns: int) -> None:
        """Check what was loaded, and read documents as before; for `_check_loaded`."""
        if not (
            isinstance(self.classes_, np.ndarray)
            and self.classes_.ndim == 1
            and len(self.classes_) > 0
            and isinstance(self.class_counts_, np.ndarray)
            and self.class_counts_.dtype.kind == "i"
            and self.class_counts_.shape == self.classes_.shape
        ):
            raise ValueError("there must be a count for each of the classes")
        self._representation = self._new_representation().restored(
            self.words_, self.model_, columns
        )
