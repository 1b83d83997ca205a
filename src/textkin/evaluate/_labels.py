"""Two lists of labels as a table of counts, which all measures of labels are made of."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from textkin._typing import Int64Array, IntpArray

__all__ = ["LabelsLike", "coded", "contingency"]

LabelsLike: TypeAlias = Iterable[Any]
"""One label a document: strings, numbers, anything that can be a key of a dict."""


def coded(first: LabelsLike, second: LabelsLike, names: tuple[str, str]) -> tuple[list[Any], Any]:
    """Return the distinct labels in order of their coming, and both lists as positions in them.

    Raises
    ------
    TypeError, ValueError
        For one text, labels that cannot be compared, lists of different length, and none at all.
    """
    sides = [_listed(side, name) for side, name in zip((first, second), names, strict=True)]
    if len(sides[0]) != len(sides[1]):
        raise ValueError(
            f"{names[0]} and {names[1]} must have one label a document; got {len(sides[0])} and "
            f"{len(sides[1])} of them."
        )
    if not sides[0]:
        raise ValueError(f"{names[0]} must have at least one label; got none.")
    numbers: dict[Any, int] = {}
    codes = np.array(
        [[numbers.setdefault(label, len(numbers)) for label in side] for side in sides],
        dtype=np.intp,
    )
    return list(numbers), codes


def contingency(first: IntpArray, second: IntpArray) -> Int64Array:
    """Return how many documents have each pair of labels that any has: (row, column, count)."""
    pairs, counts = np.unique(np.stack([first, second]), axis=1, return_counts=True)
    return np.vstack([pairs, counts]).astype(np.int64)


def _listed(labels: LabelsLike, name: str) -> list[Any]:
    if isinstance(labels, str | bytes | Mapping) or not isinstance(labels, Iterable):
        raise TypeError(f"{name} must be a list of labels; got {type(labels).__name__}.")
    shape = getattr(labels, "shape", (0,))
    if len(shape) != 1:
        raise ValueError(f"{name} must be a list of labels; got an array of shape {shape}.")
    plain = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    for position, label in enumerate(plain):
        try:
            hash(label)
        except TypeError:
            raise TypeError(
                f"{name} must hold strings, numbers or other keys of a dict; got "
                f"{type(label).__name__} for document {position}."
            ) from None
        if _is_missing(label):
            shown = "NaN" if isinstance(label, float) else repr(label)
            raise ValueError(f"{name} must hold labels; got {shown} for document {position}.")
    return plain


def _is_missing(label: Any) -> bool:  # noqa: ANN401 (anything that can be a key)
    """Return whether a label does not equal itself, as NaN; pandas.NA will not even say."""
    try:
        return bool(label != label)
    except TypeError:
        return True
