"""Documents as this room takes them: texts, lists of tokens, or rows of numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textkin._typing import HasText
from textkin.text._tokenise import described, text_of
from textkin.weighting._rows import two_dimensional

__all__ = ["DocumentsLike", "are_numbers", "listed", "part", "size"]

DocumentsLike: TypeAlias = (
    Iterable[str | Sequence[str] | HasText] | ArrayLike | sparse.sparray | sparse.spmatrix
)
"""Texts, documents with a text, lists of tokens; or bags and vectors, one row a document."""


def listed(X: Any, name: str = "X") -> Any:  # noqa: ANN401 (whatever users pass)
    """Return documents that can be counted and taken apart: a list of texts, or rows of numbers.

    Raises
    ------
    TypeError
        For one text, a mapping, bytes, or anything that is no collection of documents.
    """
    if sparse.issparse(X):
        rows: Any = two_dimensional(X)
        return rows.tocsr()
    if isinstance(X, str):
        raise TypeError(f"{name} must hold many documents; got one text. Put it in a list.")
    if isinstance(X, bytes | bytearray | Mapping) or not (
        isinstance(X, Iterable) or hasattr(X, "__array__")
    ):
        raise TypeError(f"{name} must hold documents; got {described(X)}.")
    if hasattr(X, "columns") and hasattr(X, "iloc"):  # a table: numbers are rows, texts are not
        values = np.asarray(X)
        if values.dtype.kind in "OUS":
            raise TypeError(
                f"{name} must be a list of documents; got {type(X).__name__}: pass a column of "
                "texts, such as df['text'], or textkin.read(df)."
            )
        return values
    if isinstance(X, np.ndarray):
        if X.dtype.kind not in "OUS" or X.ndim != 1:
            return X
        return X.tolist()
    items = X if isinstance(X, list) else list(X)
    return items if _are_texts(items) else np.asarray(items)


def are_numbers(X: object) -> bool:
    """Tell rows of numbers from texts, for what `listed` returned."""
    return not isinstance(X, list)


def size(X: Any) -> int:  # noqa: ANN401
    """Return how many documents there are, for what `listed` returned."""
    return len(X) if isinstance(X, list) else int(X.shape[0])


def part(X: Any, rows: Any) -> Any:  # noqa: ANN401 (what `listed` returned; positions)
    """Return some of the documents, for what `listed` returned."""
    return [X[row] for row in rows] if isinstance(X, list) else X[rows]


def _are_texts(items: list[Any]) -> bool:
    if not items:
        return True
    if any(isinstance(text_of(item), str) for item in items):  # what is none is told by position
        return True
    # A list of tokens; an empty one may stand before others.
    for item in items:
        if isinstance(item, list | tuple) and item:
            return isinstance(item[0], str)
        if not isinstance(item, list | tuple):
            return isinstance(text_of(item), str) or hasattr(item, "vectors")
    return True
