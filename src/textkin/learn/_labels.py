"""Labels of any type: checked, and numbered in their order."""

import math
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from textkin._typing import BoolArray, Int64Array

__all__ = ["LabelsLike", "checked_labels", "labels_and_gaps", "value_of"]

LabelsLike: TypeAlias = ArrayLike | None


def checked_labels(
    y: LabelsLike, n_documents: int, estimator: str
) -> tuple[NDArray[Any], Int64Array]:
    """Return the classes, sorted, and the class of each document.

    Raises
    ------
    ValueError
        If there are no labels, one is missing (None, NaN, infinity), they are no classes, or not
        as many as documents.
    TypeError
        If they are of types that cannot be sorted together.
    """
    labels = _column(y, n_documents, estimator)
    missing = np.flatnonzero([_is_missing(label) for label in labels.tolist()])
    if len(missing):
        raise ValueError(
            "y must not have missing labels, such as None, NaN or infinity; position "
            f"{missing[0]} has {labels[missing[0]]}. Leave these documents out."
        )
    if labels.dtype.kind == "O" and all(isinstance(label, Real) for label in labels):
        labels = np.asarray(labels.tolist())  # which scikit-learn's scores can tell apart
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
    """Return labels, not yet checked, and which documents have none: None, NaN, or the number -1.

    Raises
    ------
    ValueError
        If there are no labels, or not as many as documents; if one is the string "-1", which
        NumPy makes of -1 among strings.
    """
    given: Any = y
    if isinstance(y, list | tuple):  # -1 among strings is no number for NumPy
        given = [None if _is_gap(label) else label for label in y]
    labels = _column(given, n_documents, estimator)
    values = labels.tolist()
    strings = [at for at, label in enumerate(values) if isinstance(label, str) and label == "-1"]
    if strings:
        raise ValueError(
            f"y has the string '-1' at position {strings[0]}, which NumPy makes of -1 "
            "among strings. For documents without a label use None, in a list or an array of "
            "dtype object."
        )
    return labels, np.array([_is_gap(label) for label in values], dtype=np.bool_)


def value_of(classes: NDArray[Any], at: int) -> Any:  # noqa: ANN401
    """Return a class as a plain Python value."""
    value = classes[at]
    if not isinstance(value, np.generic):
        return value
    plain = value.item()
    # A time in nanoseconds would be a bare number.
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
    """Keep NumPy from writing numbers among strings as strings."""
    if not isinstance(y, list | tuple):
        # Whole numbers of pandas may have gaps, and would be read as floats.
        of_pandas = hasattr(y, "to_numpy") and not isinstance(getattr(y, "dtype", None), np.dtype)
        return y.to_numpy(dtype=object) if of_pandas and getattr(y, "ndim", 0) == 1 else y
    array: Any = np.asarray(y)
    strings = array.dtype.kind in "US" and array.ndim == 1
    if strings and not all(isinstance(label, str | bytes) for label in y):
        if not all(isinstance(label, str | bytes) or _is_missing(label) for label in y):
            raise _mixed(y)
        array = np.asarray(y, dtype=object)  # what is missing is told by its position
    return array


def _mixed(labels: Any) -> TypeError:  # noqa: ANN401
    kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
    return TypeError(f"y must hold labels that can be sorted, all of one type; got {kinds}.")


def _is_missing(label: object) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating | Decimal) and not math.isfinite(label)


def _is_gap(label: object) -> bool:
    if isinstance(label, Real):
        return float(label) == -1 or math.isnan(label)
    return _is_missing(label)
