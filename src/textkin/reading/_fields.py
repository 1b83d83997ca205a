"""Conversion of records (dicts) to documents, by field names."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from textkin._base import abbreviate, describe_value, hinted
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.reading._document import Document, Label, Row
from textkin.reading._encoding import UnreadableError

__all__ = ["TEXTS_HINT", "TEXT_HINT", "Fields", "TextNames", "guess_delimiter", "text_names"]

TextNames: TypeAlias = str | Sequence[str] | None
"""Field with the text of a document; several fields; or None for the field "text"."""

TEXT_HINT = "pass the name of the field with the text, such as `text='body'`"

TEXTS_HINT = "pass the names of the fields with the text, such as `text=['title', 'body']`"

_LISTED = 12
_DELIMITERS = "\t;|,"  # the comma is last, because it may be part of a name
_TAKEN = ("id", "label", "metadata")  # fields with another meaning
_PLAIN = frozenset({str, int, bool, type(None), list, dict})


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of the record fields that hold text, ID, and label.

    Attributes
    ----------
    text : str, tuple of str or None
        Field of the text. If None, "text"; in a table without it, the only column other than ID
        and label. If a tuple, the fields of documents with several texts; a record has at least
        one of them.
    id, label : str, False or None
        Fields of the ID and the label. If None, "id" and "label" if a record has them. If False,
        no field.
    """

    text: str | tuple[str, ...] | None = None
    id: str | Literal[False] | None = None
    label: str | Literal[False] | None = None

    def document(self, row: Row) -> Document:
        """Convert a row with a text or record to a `Document`; raise if a field is missing.

        Raises
        ------
        TypeError, ValueError
            If the row is invalid. The message has only the reason; the caller adds the position.
        """
        content = row.content
        if isinstance(content, Document):
            return content
        if isinstance(content, Mapping):
            return self._from_record(content, row)
        text = to_plain(content)
        if text is None:
            raise ValueError("the text is missing")
        if not isinstance(text, str):
            raise TypeError(
                "expected a text, a record (a mapping with the text in one of its fields) or a "
                f"Document; got {describe_value(content)}{_hint(content)}"
            )
        return Document(row.place.id, text)

    def _from_record(self, record: Mapping[Any, Any], row: Row) -> Document:
        id_name = self._name_of(self.id, "id", record)
        label_name = self._name_of(self.label, "label", record)
        id = row.place.id if id_name is None else _id_of(record[id_name], id_name)
        label = None if label_name is None else _label_of(record[label_name], label_name)
        if isinstance(self.text, tuple):
            fields = _texts_of(record, self.text, row.fixed)
            metadata = _metadata_of(record, (*self.text, id_name, label_name), self.text)
            return Document.of_fields(id, fields, label, metadata)
        text_name = self._text_name(record, (id_name, label_name), row.fixed)
        text = _text_of(record[text_name], text_name)
        return Document(id, text, label, _metadata_of(record, (text_name, id_name, label_name)))

    def _text_name(
        self, record: Mapping[Any, Any], others: tuple[str | None, str | None], fixed: bool
    ) -> str:
        assert not isinstance(self.text, tuple)
        name = "text" if self.text is None else self.text
        if name in record:
            return name
        if self.text is None and fixed:
            left = [name for name in record if name not in others]
            delimiter = guess_delimiter([str(name) for name in record])
            if len(left) == 1 and delimiter is None:
                return str(left[0])
            if len(left) == 1:
                raise UnreadableError(
                    f"there is no field 'text'; the only one is {abbreviate(left[0])}, which looks "
                    "like several names;",
                    f"pass `delimiter={delimiter!r}` if it is several, otherwise pass it as `text`",
                )
        raise UnreadableError(
            f"there is no field {name!r}; there {_list_fields(record)};", TEXT_HINT
        )

    @staticmethod
    def _name_of(
        chosen: str | Literal[False] | None, default: str, record: Mapping[Any, Any]
    ) -> str | None:
        if chosen is False:
            return None
        if chosen is None:
            return default if default in record else None
        if chosen not in record:
            raise ValueError(f"there is no field {chosen!r}; there {_list_fields(record)}")
        return chosen


def text_names(text: object, name: str = "text") -> tuple[str, ...]:
    """Return the names of the fields with the text: one or several distinct names.

    Raises
    ------
    ParameterError, ParameterTypeError
        If `text` is something else, or a name has another meaning. `name` is its parameter.
    """
    expected = "the name of a field, or a list of distinct names"
    if not isinstance(text, str | Sequence) or isinstance(text, bytes | bytearray):
        raise ParameterTypeError(name, expected, describe_value(text))
    names = (text,) if isinstance(text, str) else tuple(text)
    for one in names:
        if not isinstance(one, str):
            raise ParameterTypeError(name, expected, f"{describe_value(one)} in the list")
        if not one or not one.isprintable() or one in _TAKEN or len(names) > len(set(names)):
            raise ParameterError(
                name,
                f"{expected}, printable and none of {', '.join(map(repr, _TAKEN))}",
                abbreviate(text, 60),
                "Rename the field, and name each field once.",
            )
    if not names:
        raise ParameterError(name, expected, "an empty list", "Name a field, or omit `text`.")
    return names


def _texts_of(record: Mapping[Any, Any], names: tuple[str, ...], fixed: bool) -> dict[str, str]:
    """Return the texts of the fields; a field that is missing or None is empty, but not all.

    A table must have all fields, because a wrong name would leave a field empty everywhere.
    """
    listed = " or ".join(map(repr, names))
    missing = [name for name in names if name not in record]
    if len(missing) == len(names) or (fixed and missing):
        unknown = " or ".join(map(repr, missing))
        raise UnreadableError(
            f"there is no field {unknown}; there {_list_fields(record)};",
            TEXTS_HINT,
        )
    there = [name for name in names if to_plain(record.get(name)) is not None]
    if not there:
        raise ValueError(f"the text (field {listed}) is missing")
    return {name: _text_of(record[name], name) if name in there else "" for name in names}


def _metadata_of(
    record: Mapping[Any, Any],
    others: tuple[str | None, ...],
    taken: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the metadata fields of a record, with the fields of a mapping "metadata" merged in.

    The names in `taken` must not be in the mapping.
    """
    metadata = {str(name): to_plain(value) for name, value in record.items() if name not in others}
    nested = metadata.get("metadata")
    if not isinstance(nested, Mapping):
        return metadata
    del metadata["metadata"]
    for name, value in nested.items():
        if str(name) in metadata or name in taken:
            raise ValueError(
                f"the field {str(name)!r} is in the record and in its mapping 'metadata'; remove "
                "one of the two"
            )
        metadata[str(name)] = to_plain(value)
    return metadata


def guess_delimiter(names: Sequence[str]) -> str | None:
    """Return the likely delimiter of a table whose header was read as one column, or None."""
    if len(names) != 1:
        return None
    return next((mark for mark in _DELIMITERS if mark in names[0]), None)


def to_plain(value: Any) -> Any:  # noqa: ANN401 (records may hold any type)
    """Convert NumPy scalars to Python types, and missing values (NaN, NaT) to None.

    Missing values are NaN, NaT, and the NA and NaT of pandas. Other values are returned unchanged,
    such as NumPy times, which can be finer than Python's.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, np.datetime64 | np.timedelta64):  # timedelta64 is a subclass of np.number
        return None if np.isnat(value) else value
    if isinstance(value, np.number | np.bool_):
        value = value.item()
    elif isinstance(value, str):
        return str(value)
    if isinstance(value, float | np.floating) and math.isnan(value):
        return None
    # pandas.NA and pandas.NaT by name: comparisons with them fail, and pandas may not be loaded.
    return None if kind.__name__ in ("NAType", "NaTType") else value


def _text_of(value: object, name: str) -> str:
    value = to_plain(value)
    if value is None:
        raise ValueError(f"the text (field {name!r}) is missing")
    if not isinstance(value, str):
        raise TypeError(
            f"the text (field {name!r}) must be a string; got {abbreviate(value, 40)} "
            f"({type(value).__name__})"
        )
    return value


def _id_of(value: object, name: str) -> str:
    value = to_plain(value)
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None or value == "":
        raise UnreadableError(
            f"the ID (field {name!r}) is missing;", "`id=False` numbers the documents"
        )
    raise TypeError(
        f"the ID (field {name!r}) must be a string or an integer; got {abbreviate(value, 40)} "
        f"({type(value).__name__})"
    )


def _label_of(value: object, name: str) -> Label:
    value = to_plain(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise hinted(
        TypeError,
        f"the label (field {name!r}) must be a string or a number; got {abbreviate(value, 40)} "
        f"({type(value).__name__});",
        "`label=False` keeps it in the metadata",
    )


def _list_fields(record: Mapping[Any, Any]) -> str:
    names = [abbreviate(name, 40) for name in record]
    if not names:
        return "are none"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{'is' if len(names) == 1 else 'are'} {', '.join(names[:_LISTED])}{more}"


def _hint(content: object) -> str:
    if isinstance(content, bytes):
        return "; decode it first"
    if isinstance(content, tuple):
        return "; convert tuples to records: ({'id': a, 'text': b} for a, b in pairs)"
    if isinstance(content, list):
        return "; join tokens to a text first"
    return ""
