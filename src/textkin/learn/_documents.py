"""Uniform access to documents that are texts, token lists, or rows of a matrix."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textkin._base import HasText, as_two_dimensional, describe_non_text
from textkin.exceptions import ParameterTypeError
from textkin.text import text_of

__all__ = [
    "DocumentsLike",
    "are_numbers",
    "beginning_of",
    "csr_or_dense",
    "frame_index",
    "id_of",
    "listed",
    "one",
    "part",
    "restored_documents",
    "saved_documents",
    "size",
]

_BEGINNING = 400  # number of characters, or tokens, from which a snippet is made

DocumentsLike: TypeAlias = (
    Iterable[str | Sequence[str] | HasText] | ArrayLike | sparse.sparray | sparse.spmatrix
)
"""Texts, documents with a text, or lists of tokens; or bags or vectors, one row per document."""


def listed(X: Any, name: str = "X") -> Any:  # noqa: ANN401 (whatever users pass)
    """Convert any input of documents to a list of texts or token lists, or to a matrix.

    Raises
    ------
    TypeError
        If `X` is a single text, a mapping, bytes, or not a collection of documents.
    """
    if sparse.issparse(X):
        rows: Any = as_two_dimensional(X)
        return rows.tocsr()
    if isinstance(X, str):
        raise TypeError(f"{name} must hold many documents; got one text. Put it in a list.")
    if isinstance(X, bytes | bytearray | Mapping) or not (
        isinstance(X, Iterable) or hasattr(X, "__array__")
    ):
        raise TypeError(f"{name} must hold documents; got {describe_non_text(X)}.")
    if hasattr(X, "columns") and hasattr(X, "iloc"):  # a table holds documents only as numbers
        values = np.asarray(X)
        if values.dtype.kind in "OUS":
            raise ParameterTypeError(
                name,
                "a list of documents",
                f"{type(X).__name__}: pass a column of texts, such as df['text'], or "
                "textkin.read(df)",
            )
        return values
    if isinstance(X, np.ndarray):
        if X.dtype.kind not in "OUS" or X.ndim != 1:
            return _numbers(X, name)
        X = X.tolist()
    if not isinstance(X, Iterable):  # possibly an array of another library
        return listed(np.asarray(X), name)
    items = X if isinstance(X, list) else list(X)
    if not _are_texts(items):
        return _numbers(np.asarray(items), name)
    for at, item in enumerate(items):
        if item is None or isinstance(item, float):
            raise TypeError(
                f"{name} must hold documents; position {at} holds {describe_non_text(item)}."
            )
    return items


def are_numbers(X: object) -> bool:
    """Return True if documents from `listed` are a matrix, and False if they are a list."""
    return not isinstance(X, list)


def size(X: Any) -> int:  # noqa: ANN401
    """Return the number of documents in a list or matrix from `listed`."""
    return len(X) if isinstance(X, list) else int(X.shape[0])


def part(X: Any, rows: Any) -> Any:  # noqa: ANN401 (what `listed` returned; positions)
    """Return the documents at positions `rows` of a list or matrix from `listed`."""
    return [X[row] for row in rows] if isinstance(X, list) else X[rows]


def one(X: Any, row: int) -> Any:  # noqa: ANN401
    """Return one document from `listed`: a text, a token list, or a matrix with one row."""
    return X[row] if isinstance(X, list) else X[[row]]


@dataclass(frozen=True, slots=True)
class SavedDocument:
    """Document of an estimator read from a folder: its ID, and its text or tokens."""

    id: str
    text: Any


def csr_or_dense(rows: Any) -> Any:  # noqa: ANN401
    """Convert a sparse matrix to `csr_array`; return other matrices unchanged."""
    return sparse.csr_array(rows) if sparse.issparse(rows) else rows  # type: ignore[call-overload]


def saved_documents(X: Any) -> dict[str, Any]:  # noqa: ANN401
    """Convert documents from `listed` to values for `save`.

    Raises
    ------
    TypeError
        If the documents are neither numbers nor texts nor lists of words.
    """
    if are_numbers(X):
        return {"rows": csr_or_dense(X)}
    texts = [text_of(item) for item in X]
    words: list[Any] = [[text] if isinstance(text, str) else text for text in texts]
    for at, item in enumerate(words):
        if not isinstance(item, list | tuple) or not all(isinstance(word, str) for word in item):
            raise TypeError(
                f"the documents of fit cannot be saved: position {at} holds "
                f"{describe_non_text(texts[at])}. Texts, lists of words, and rows of numbers can."
            )
    ids = [id_of(item) or "" for item in X]
    return {
        "words": np.array([word for item in words for word in item], dtype=object),
        "ends": np.cumsum([0, *map(len, words)], dtype=np.int64),
        "are_texts": np.array([isinstance(text, str) for text in texts], dtype=np.bool_),
        "ids": np.array(ids, dtype=object) if any(ids) else None,
    }


def restored_documents(state: dict[str, Any]) -> Any:  # noqa: ANN401
    """Create documents from the result of `saved_documents`, or raise if it is invalid."""
    if set(state) == {"rows"}:
        rows = state["rows"]
        if not isinstance(rows, np.ndarray | sparse.csr_array) or rows.ndim != 2:
            raise ValueError("the documents must be rows of numbers")
        return rows
    words, ends, are_texts, ids = (state[key] for key in ("words", "ends", "are_texts", "ids"))
    n = len(are_texts)
    if not (
        words.dtype == object
        and ends.dtype == np.int64
        and ends.shape == (n + 1,)
        and are_texts.dtype == np.bool_
        and ends[0] == 0
        and ends[-1] == len(words)
        and bool((np.diff(ends) >= are_texts).all())
        and (ids is None or (ids.dtype == object and ids.shape == (n,)))
    ):
        raise ValueError("the words, ends, and IDs of the documents do not fit together")
    found: list[Any] = []
    for at, is_text in enumerate(are_texts.tolist()):
        inside = words[ends[at] : ends[at + 1]].tolist()
        found.append(inside[0] if is_text else inside)
    if ids is None:
        return found
    return [SavedDocument(id, item) if id else item for id, item in zip(ids, found, strict=True)]


def id_of(document: object) -> str | None:
    """Return the ID of a document, or None for a document without an ID."""
    found = getattr(document, "id", None)
    return found if isinstance(found, str) else None


def beginning_of(document: object) -> str:
    """Return the first characters of a text or of joined tokens, or "" for a row of numbers."""
    text = text_of(document)
    if isinstance(text, list | tuple):
        text = " ".join(map(str, text[:_BEGINNING]))
    return text[:_BEGINNING] if isinstance(text, str) else ""


def _numbers(rows: Any, name: str) -> Any:  # noqa: ANN401
    """Return a matrix of documents unchanged; raise TypeError if it holds strings."""
    if rows.dtype.kind not in "US":
        return rows
    if rows.ndim == 1:
        held = f"{describe_non_text(rows.tolist()[0])}."
    else:
        held = "an array of strings. For lists of words, pass X.tolist()."
    raise TypeError(f"{name} must hold texts, lists of words, or rows of numbers; got {held}")


def _are_texts(items: list[Any]) -> bool:
    if not items:
        return True
    if any(isinstance(text_of(item), str) for item in items):  # `listed` reports other items
        return True
    # The first nonempty list decides; empty lists and missing values can come before it.
    for item in items:
        if item is None or (isinstance(item, float) and item != item):
            continue
        if isinstance(item, list | tuple) and item:
            return isinstance(item[0], str)
        if not isinstance(item, list | tuple):
            return isinstance(text_of(item), str) or _has_tokens(item)
    return True


def _has_tokens(item: object) -> bool:
    """Return True if a document is an array of token vectors, one row per token."""
    return hasattr(item, "vectors") or (isinstance(item, np.ndarray) and item.ndim == 2)


def frame_index(values: object) -> Any:  # noqa: ANN401 (a pandas index, or None)
    """Return the index of a pandas Series or DataFrame, or None for other input."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(values, pandas.Series | pandas.DataFrame):
        return None
    return values.index
