"""From documents to rows of the catalogue and back."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from textkin.text import Document
from textkin.text.reading._fields import Fields
from textkin.text.reading._items import Items, items_of
from textkin.text.reading._rows import Place, Row

__all__ = [
    "DOCUMENT_COLUMNS",
    "Content",
    "content_of",
    "digest_of",
    "document_of",
    "documents_in",
    "is_text",
    "items_to_add",
]

DOCUMENT_COLUMNS = "id, label, metadata, text"
_DIGEST = 16  # bytes
_DEEPEST = 100  # lists and dicts within each other


class Content(NamedTuple):
    """What the catalogue keeps of a document, as it was given: label and metadata as JSON."""

    id: str
    label: str
    metadata: str
    text: str

    def digest(self) -> bytes:
        """Return a hash of all of it."""
        return digest_of(*self)


def digest_of(id: str, label: str, metadata: str, text: str) -> bytes:
    """Return a hash of what the catalogue keeps of a document."""
    # The lengths tell where a part ends, so that no two documents give one string.
    whole = f"{len(id)} {len(label)} {len(metadata)} {id}{label}{metadata}{text}"
    return hashlib.blake2b(whole.encode(), digest_size=_DIGEST).digest()


def content_of(document: Document) -> Content:
    """Return what is kept of a document.

    Raises
    ------
    TypeError, ValueError
        If its label or metadata cannot be kept as JSON; with the reason only.
    """
    metadata = "{}"
    if document.metadata:
        plain = dict(document.metadata)
        _check_value(plain, "metadata")
        metadata = _as_json(plain)
    label = "null"
    if document.label is not None:
        _check_value(document.label, "label")
        label = _as_json(document.label)
    return Content(document.id, label, metadata, document.text)


def document_of(row: tuple[str, str, str, str]) -> Document:
    """Return the document of a row of `DOCUMENT_COLUMNS`."""
    id, label, metadata, text = row
    return Document(id, text, json.loads(label), json.loads(metadata))


def is_text(id: str) -> bool:
    """Return whether an id can be that of a document: half a surrogate pair is no text."""
    try:
        id.encode()
    except UnicodeEncodeError:
        return False
    return True


def items_to_add(source: Iterable[object]) -> Items:
    """Return what a user adds as items: Documents, records, texts, rows of tables.

    Raises
    ------
    TypeError
        For what is no iterable, or a single document.
    """
    expected = "documents must be an iterable of documents, records or texts"
    if isinstance(source, str | os.PathLike):
        raise TypeError(
            f"{expected}; got a {type(source).__name__}. For files pass what textkin.read(path) "
            "returns, for one text a list with it."
        )
    if isinstance(source, Document | Mapping):
        raise TypeError(f"{expected}; got a single {type(source).__name__}. Put it into a list.")
    return items_of(source, expected)


def documents_in(items: Items, first: int, *, with_ids: bool) -> Iterator[Document]:
    """Give the documents of what a user adds.

    Parameters
    ----------
    items : Items
        What is added.
    first : int
        The position of the next document of the index; documents without an id are named by the
        position that they will have.
    with_ids : bool
        Whether each must bring an id of its own.

    Raises
    ------
    TypeError, ValueError
        For what is no document; with the reason only.
    """
    fields = Fields()
    for position, item in enumerate(items):
        if isinstance(item, Document):
            yield item
        else:
            if with_ids and not (isinstance(item, Mapping) and "id" in item):
                raise ValueError("it has no id, so that nobody knows which document it replaces")
            place = Place(unit="position", number=first + position)
            yield fields.document(Row(place, item, items.fixed))


def _as_json(value: object) -> str:
    try:
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        written.encode()
    except UnicodeEncodeError:
        raise ValueError("the metadata hold half of a surrogate pair, which is no text") from None
    return written


def _check_value(value: Any, where: str, depth: int = 0) -> None:  # noqa: ANN401 (a user's)
    """Raise unless JSON gives the value back as it is (tuples as lists)."""
    if depth > _DEEPEST:
        raise ValueError(f"{where[:80]}... must not be nested deeper than {_DEEPEST}")
    if value is None or isinstance(value, str | bool | int):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} must be JSON, which has no {value}; use None")
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            _check_value(item, f"{where}[{place}]", depth + 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str):
                raise TypeError(
                    f"the names in {where} must be strings; got {name!r} ({type(name).__name__})"
                )
            _check_value(item, f"{where}[{name!r}]", depth + 1)
    else:
        raise TypeError(
            f"{where} must be JSON (strings, numbers, booleans, None, lists and dicts of them); "
            f"got {type(value).__name__}: make a string or a number of it"
        )
