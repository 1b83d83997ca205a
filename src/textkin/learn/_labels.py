"""Labels of any type: checked, and numbered in their order."""

import math
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from textkin._typing import Int64Array

__all__ = ["LabelsLike", "checked_labels", "value_of"]

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


def value_of(classes: NDArray[Any], at: int) -> Any:  # noqa: ANN401
    """Return a class as a plain Python value."""
    value = classes[at]
    return value.item() if isinstance(value, np.generic) else value


def _array(y: Any) -> Any:  # noqa: ANN401
    """Keep NumPy from writing numbers among strings as strings."""
    if not isinstance(y, list | tuple):
        return y
    array: Any = np.asarray(y)
    if array.dtype.kind in "US" and not all(isinstance(label, str | bytes) for label in y):
        raise _mixed(y)
    return array


def _mixed(labels: Any) -> TypeError:  # noqa: ANN401
    kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
    return TypeError(f"y must hold labels that can be sorted, all of one type; got {kinds}.")


def _is_missing(label: object) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float) and not math.isfinite(label)
