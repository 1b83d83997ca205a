"""Documents as this room takes them: texts, lists of tokens, or rows of numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textkin._typing import HasText
from textkin.explain import shortened
from textkin.text._tokenise import described, text_of
from textkin.weighting._rows import two_dimensional

__all__ = [
    "DocumentsLike",
    "are_numbers",
    "id_of",
    "listed",
    "one",
    "part",
    "size",
    "snippet_of",
]

_SNIPPET = 160  # columns
_BEGINNING = 400  # characters, or words, that a snippet is made of

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
            return _numbers(X, name)
        X = X.tolist()
    if not isinstance(X, Iterable):  # what only NumPy can read
        return listed(np.asarray(X), name)
    items = X if isinstance(X, list) else list(X)
    if not _are_texts(items):
        return _numbers(np.asarray(items), name)
    for at, item in enumerate(items):
        if item is None or isinstance(item, float):
            raise TypeError(f"{name} must hold documents; position {at} holds {described(item)}.")
    return items


def are_numbers(X: object) -> bool:
    """Tell rows of numbers from texts, for what `listed` returned."""
    return not isinstance(X, list)


def size(X: Any) -> int:  # noqa: ANN401
    """Return how many documents there are, for what `listed` returned."""
    return len(X) if isinstance(X, list) else int(X.shape[0])


def part(X: Any, rows: Any) -> Any:  # noqa: ANN401 (what `listed` returned; positions)
    """Return some of the documents, for what `listed` returned."""
    return [X[row] for row in rows] if isinstance(X, list) else X[rows]


def one(X: Any, row: int) -> Any:  # noqa: ANN401
    """Return one document: a text or tokens, or a row of numbers that is a matrix still."""
    return X[row] if isinstance(X, list) else X[[row]]


def id_of(document: object) -> str | None:
    """Return the id of a document that has one."""
    found = getattr(document, "id", None)
    return found if isinstance(found, str) else None


def snippet_of(document: object) -> str:
    """Return how the text of a document begins, or its tokens; nothing for rows of numbers."""
    text = text_of(document)
    if isinstance(text, list | tuple):
        text = " ".join(map(str, text[:_BEGINNING]))
    return shortened(text[:_BEGINNING], _SNIPPET) if isinstance(text, str) else ""


def _numbers(rows: Any, name: str) -> Any:  # noqa: ANN401
    """Return rows that may be numbers; tell strings, of which NumPy makes arrays as well."""
    if rows.dtype.kind not in "US":
        return rows
    if rows.ndim == 1:
        held = f"{described(rows.tolist()[0])}."
    else:
        held = "an array of strings. Words of documents stand in lists: pass X.tolist()."
    raise TypeError(f"{name} must hold texts, lists of words, or rows of numbers; got {held}")


def _are_texts(items: list[Any]) -> bool:
    if not items:
        return True
    if any(isinstance(text_of(item), str) for item in items):  # what is none is told by position
        return True
    # A list of tokens; an empty one, or a missing value, may stand before others.
    for item in items:
        if item is None or (isinstance(item, float) and item != item):
            continue
        if isinstance(item, list | tuple) and item:
            return isinstance(item[0], str)
        if not isinstance(item, list | tuple):
            return isinstance(text_of(item), str) or _has_tokens(item)
    return True


def _has_tokens(item: object) -> bool:
    """Tell a document of token vectors: one row a token."""
    return hasattr(item, "vectors") or (isinstance(item, np.ndarray) and item.ndim == 2)
