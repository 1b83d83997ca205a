"""Base class of classifiers over document vectors, and validation of labels."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from textkin._base import (
    BoolArray,
    Float64Array,
    Int64Array,
    IntpArray,
    SavedEstimator,
    WordLookup,
    check_params,
)
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.learn._documents import DocumentsLike, are_numbers, listed, size
from textkin.learn._representation import Representation
from textkin.text import StopWords, prepare, text_of
from textkin.vectors import column_names

__all__ = [
    "DocumentClassifier",
    "LabelsLike",
    "Rows",
    "checked_labels",
    "labels_and_gaps",
    "value_of",
]

Rows: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"

_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class DocumentClassifier(ClassifierMixin, SavedEstimator, BaseEstimator, ABC):
    """Base class of classifiers that predict labels from sparse vectors of documents.

    A document with an empty row gets the most frequent class of `fit` (the first one in a tie).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    class_counts_ : ndarray of int of shape (n_classes,)
        Number of documents of `fit` in each class.
    feature_names_ : list of str or None
        Vocabulary of texts. None if `fit` got numbers, or if the model takes texts.
    model_ : transformer or None
        Fitted model.
    """

    stop_words: StopWords
    n_jobs: int | None
    classes_: NDArray[Any]
    class_counts_: Int64Array
    feature_names_: list[str] | None
    model_: Any

    _weighs: ClassVar[bool] = True
    _takes_negative: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._takes_negative
        return tags

    def predict(self, X: DocumentsLike) -> NDArray[Any]:
        """Return the predicted class of each document.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_columns)
            Documents of the same kind as in `fit`.

        Returns
        -------
        ndarray of shape (n_documents,)
            Labels. A document without words or numbers known from `fit` gets the most frequent
            label.
        """
        rows = self._rows(X)
        return np.asarray(self.classes_[self._codes(rows)])

    @abstractmethod
    def _scores(self, rows: Rows) -> Float64Array:
        """Return a score per document and class; the class with the highest score is predicted."""

    def _codes(self, rows: Rows) -> IntpArray:
        """Return the index of the predicted class of each row; empty rows get the largest class."""
        codes: IntpArray = self._scores(rows).argmax(axis=1)
        codes[np.diff(rows.indptr) == 0] = self.class_counts_.argmax()
        return codes

    def _rows_to_fit(self, X: DocumentsLike) -> Rows:
        """Fit the vocabulary and the model to documents, and return their sparse vectors."""
        given = listed(X)
        for name in ("n_features_in_", "feature_names_in_"):
            # A previous fit to numbers may have set it.
            self.__dict__.pop(name, None)
        if are_numbers(given):
            given = validate_data(self, X, **_ROWS)
        elif not size(given):
            raise ValueError("X must have at least one document; got none.")
        representation = self._new_representation()
        vectors, _ = representation.fit_transform(given)
        self._representation = representation
        self.feature_names_ = representation.counted_words
        self.model_ = representation.model_
        return self._canonical(vectors)

    def _rows(self, X: DocumentsLike) -> Rows:
        """Convert documents to sparse vectors by the fitted vocabulary and model."""
        check_is_fitted(self)
        check_params(self)  # parameters may have been set after fit
        given = listed(X)
        if are_numbers(given) and hasattr(self, "n_features_in_"):
            given = validate_data(self, X, reset=False, ensure_min_samples=0, **_ROWS)
        vectors, _ = self._representation.transform(given)
        return self._canonical(vectors)

    def _row(self, document: Any) -> Rows:  # noqa: ANN401 (a text, words, or a row of numbers)
        """Convert one document to a sparse vector by the fitted vocabulary and model."""
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
            raise ParameterError("document", "one document", str(rows.shape[0]))
        return rows

    @property
    @abstractmethod
    def _transformer(self) -> Any:  # noqa: ANN401 (a transformer of anybody's, or None)
        """Unfitted model that converts word counts to vectors, or None to use the counts."""

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
        """Return the index of a class label in `classes_`; raise if no class has the label."""
        found = [at for at, known in enumerate(self.classes_.tolist()) if known == label]
        if not found:
            shown = ", ".join(map(repr, self.classes_[:10].tolist()))
            more = ", ..." if len(self.classes_) > 10 else ""
            raise ParameterError("label", f"one of {shown}{more}", repr(label))
        return found[0]

    def _names(
        self, given: "WordLookup | Mapping[str, int] | Sequence[str] | None", columns: int
    ) -> Sequence[str]:
        """Return a name for each column of the vectors: given, learned, or the column number."""
        if given is not None:
            found = list(column_names(given, "feature_names"))
            if len(found) != columns:
                raise ParameterError(
                    "feature_names", f"{columns:,}, one for each column", f"{len(found):,}"
                )
            return found
        names = self._representation.names(getattr(self, "feature_names_in_", None))
        if names is None:
            return [f"column {at}" for at in range(columns)]
        return [str(name) for name in names]

    def _check_loaded_columns(self, columns: int) -> None:
        """Validate attributes read from a saved folder, and restore the representation."""
        if not (
            isinstance(self.classes_, np.ndarray)
            and self.classes_.ndim == 1
            and len(self.classes_) > 0
            and isinstance(self.class_counts_, np.ndarray)
            and self.class_counts_.dtype.kind == "i"
            and self.class_counts_.shape == self.classes_.shape
        ):
            raise ValueError("there must be a count for each of the classes")
        prepare(stop_words=self.stop_words)  # raises for invalid stop words
        model, names = self.model_, self.feature_names_
        if model is not None:
            if not hasattr(model, "transform"):
                raise ValueError("model_ must be None or have a method transform")
            check_is_fitted(model)
        wanted = columns if model is None else getattr(model, "n_features_in_", None)
        for name, given in (
            ("n_features_in_", getattr(self, "n_features_in_", None)),
            ("the number of feature_names_", None if names is None else len(names)),
        ):
            if None not in (wanted, given) and wanted != given:
                raise ValueError(f"{name} must be {wanted}; got {given}")
        self._representation = self._new_representation().restore(names, model, columns)


LabelsLike: TypeAlias = ArrayLike | None


def checked_labels(
    y: LabelsLike, n_documents: int, estimator: str
) -> tuple[NDArray[Any], Int64Array]:
    """Validate labels; return the sorted classes, and the class index of each document.

    Raises
    ------
    ValueError
        If `y` is None, a label is missing (None, NaN, infinity, a blank string), labels are not
        classes, or the numbers of labels and documents differ.
    TypeError
        If the labels are of types that cannot be sorted together.
    """
    labels = _column(y, n_documents, estimator)
    missing = np.flatnonzero([_is_missing(label) for label in labels.tolist()])
    if len(missing):
        first = labels[missing[0]]
        shown = repr(str(first)) if isinstance(first, str) else first
        raise ValueError(
            "y must not have missing labels, such as None, NaN, infinity, or an empty string; "
            f"position {missing[0]} has {shown}. Remove these documents."
        )
    if labels.dtype.kind == "O" and all(isinstance(label, Real) for label in labels):
        labels = np.asarray(labels.tolist())  # a dtype that scikit-learn's metrics accept
    if labels.dtype.kind == "S":
        raise ParameterTypeError("y", "strings or numbers", "bytes", "Decode the labels first.")
    if labels.dtype.kind != "O":
        check_classification_targets(labels)
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except TypeError:
        raise _mixed(labels.tolist()) from None
    return classes, numbers.astype(np.int64)


def labels_and_gaps(
    y: LabelsLike, n_documents: int, estimator: str
) -> tuple[NDArray[Any], BoolArray]:
    """Return unchecked labels, and a mask of missing labels (None, NaN, blank, or -1).

    Raises
    ------
    ValueError
        If `y` is None, the numbers of labels and documents differ, or a label is the string "-1",
        which is NumPy's conversion of -1 in an array of strings.
    """
    given: Any = y
    if isinstance(y, list | tuple):  # NumPy would convert -1 among strings to a string
        given = [None if _is_gap(label) else label for label in y]
    labels = _column(given, n_documents, estimator)
    values = labels.tolist()
    strings = [at for at, label in enumerate(values) if isinstance(label, str) and label == "-1"]
    if strings:
        raise ValueError(
            f"y must not have the string '-1'; position {strings[0]} has it. NumPy converts -1 "
            "among strings to it. For documents without a label, pass None in a list, or in an "
            "array of dtype object."
        )
    return labels, np.array([_is_gap(label) for label in values], dtype=np.bool_)


def value_of(classes: NDArray[Any], at: int) -> Any:  # noqa: ANN401
    """Return a class label as a Python object, such as int instead of a NumPy integer."""
    value = classes[at]
    if not isinstance(value, np.generic):
        return value
    plain = value.item()
    # `item` converts a time in nanoseconds to an integer.
    return value if value.dtype.kind in "mM" and isinstance(plain, int) else plain


def _column(y: LabelsLike, n_documents: int, estimator: str) -> NDArray[Any]:
    if y is None:
        raise ValueError(
            f"{estimator} requires y to be passed, but the target y is None: pass the label of "
            "each document."
        )
    labels = column_or_1d(_array(y), warn=True)
    if len(labels) != n_documents:
        raise ValueError(
            f"y must have one label for each of the {n_documents:,} documents; got {len(labels):,}."
        )
    return np.asarray(labels)


def _array(y: Any) -> Any:  # noqa: ANN401
    """Convert labels to an array without turning numbers into strings, unlike `np.asarray`."""
    if not isinstance(y, list | tuple):
        # NumPy would convert integers of pandas with missing values to floats.
        of_pandas = hasattr(y, "to_numpy") and not isinstance(getattr(y, "dtype", None), np.dtype)
        return y.to_numpy(dtype=object) if of_pandas and getattr(y, "ndim", 0) == 1 else y
    array: Any = np.asarray(y)
    strings = array.dtype.kind in "US" and array.ndim == 1
    if strings and not all(isinstance(label, str | bytes) for label in y):
        if not all(isinstance(label, str | bytes) or _is_missing(label) for label in y):
            raise _mixed(y)
        array = np.asarray(
            y, dtype=object
        )  # a later check reports the position of the missing label
    return array


def _mixed(labels: Any) -> TypeError:  # noqa: ANN401
    kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
    return TypeError(f"y must hold labels that can be sorted, all of one type; got {kinds}.")


def _is_missing(label: object) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(label, str):  # an empty cell of a CSV file
        return not label.strip()
    return isinstance(label, float | np.floating | Decimal) and not math.isfinite(label)


def _is_gap(label: object) -> bool:
    if isinstance(label, Real):
        return float(label) == -1 or math.isnan(label)
    return _is_missing(label)
