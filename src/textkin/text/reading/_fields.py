"""From a record to a document: which field is what, and what a field may hold."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from textkin.text.reading._document import Document, Label, shortened
from textkin.text.reading._rows import Row

__all__ = ["Fields", "delimiter_in"]

_LISTED = 12
_DELIMITERS = "\t;|,"  # the comma last: it may well be part of a name
_PLAIN = frozenset({str, int, bool, type(None), list, dict})


@dataclass(frozen=True, slots=True)
class Fields:
    """The names of the fields that a document is made of.

    Attributes
    ----------
    text : str or None
        None: "text", and in a table without it the only column besides id and label.
    id, label : str, False or None
        None: "id" and "label" where a record has them. False: no field, whatever there is.
    """

    text: str | None = None
    id: str | Literal[False] | None = None
    label: str | Literal[False] | None = None

    def document(self, row: Row) -> Document:
        """Make the document of a row.

        Raises
        ------
        TypeError, ValueError
            With the reason only; where it was found is for the caller to say.
        """
        content = row.content
        if isinstance(content, Document):
            return content
        if isinstance(content, Mapping):
            return self._from_record(content, row)
        text = plain(content)
        if text is None:
            raise ValueError("the text is missing")
        if not isinstance(text, str):
            raise TypeError(
                "expected a text, a record (a mapping with the text in one of its fields) or a "
                f"Document; got {shortened(content, 40)} ({type(content).__name__}){_hint(content)}"
            )
        return Document(row.place.id, text)

    def _from_record(self, record: Mapping[Any, Any], row: Row) -> Document:
        id_name = self._name_of(self.id, "id", record)
        label_name = self._name_of(self.label, "label", record)
        text_name = self._text_name(record, (id_name, label_name), row.fixed)
        return Document(
            row.place.id if id_name is None else _id_of(record[id_name], id_name),
            _text_of(record[text_name], text_name),
            None if label_name is None else _label_of(record[label_name], label_name),
            {
                str(name): plain(value)
                for name, value in record.items()
                if name not in (text_name, id_name, label_name)
            },
        )

    def _text_name(
        self, record: Mapping[Any, Any], others: tuple[str | None, str | None], fixed: bool
    ) -> str:
        name = "text" if self.text is None else self.text
        if name in record:
            return name
        if self.text is None and fixed:
            left = [name for name in record if name not in others]
            delimiter = delimiter_in([str(name) for name in record])
            if len(left) == 1 and delimiter is None:
                return str(left[0])
            if len(left) == 1:
                raise ValueError(
                    f"there is no field 'text'; the only one is {shortened(left[0])}, which looks "
                    f"like several: pass delimiter={delimiter!r} if it is, and else the name as "
                    "text="
                )
        raise ValueError(
            f"there is no field {name!r}; there {_listed(record)}. Name the field of the text, as "
            "in text='body'"
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
            raise ValueError(f"there is no field {chosen!r}; there {_listed(record)}")
        return chosen


def delimiter_in(names: Sequence[str]) -> str | None:
    """Return what seems to part several names that stand in for the only one, if any does."""
    if len(names) != 1:
        return None
    return next((mark for mark in _DELIMITERS if mark in names[0]), None)


def plain(value: Any) -> Any:  # noqa: ANN401 (a stranger's record may hold anything)
    """Return NumPy's numbers, booleans and strings as Python's, None for a missing value.

    Missing are NaN, NaT, and pandas' NA and NaT. All else is returned as it came: times of NumPy,
    for one, which Python's may be too coarse for.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, np.datetime64 | np.timedelta64):  # the latter is a number to NumPy
        return None if np.isnat(value) else value
    if isinstance(value, np.number | np.bool_):
        value = value.item()
    elif isinstance(value, str):
        return str(value)
    if isinstance(value, float | np.floating) and math.isnan(value):
        return None
    # pandas' two; both refuse or falsify comparisons, and pandas need not be imported to know them
    return None if kind.__name__ in ("NAType", "NaTType") else value


def _text_of(value: object, name: str) -> str:
    value = plain(value)
    if value is None:
        raise ValueError(f"the text (field {name!r}) is missing")
    if not isinstance(value, str):
        raise TypeError(
            f"the text (field {name!r}) must be a string; got {shortened(value, 40)} "
            f"({type(value).__name__})"
        )
    return value


def _id_of(value: object, name: str) -> str:
    value = plain(value)
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None or value == "":
        raise ValueError(f"the id (field {name!r}) is missing; id=False numbers the documents")
    raise TypeError(
        f"the id (field {name!r}) must be a string or a whole number; got {shortened(value, 40)} "
        f"({type(value).__name__})"
    )


def _label_of(value: object, name: str) -> Label:
    value = plain(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(
        f"the label (field {name!r}) must be a string or a number; got {shortened(value, 40)} "
        f"({type(value).__name__}); label=False keeps it in the metadata"
    )


def _listed(record: Mapping[Any, Any]) -> str:
    names = [shortened(name, 40) for name in record]
    if not names:
        return "are none"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{'is' if len(names) == 1 else 'are'} {', '.join(names[:_LISTED])}{more}"


def _hint(content: object) -> str:
    if isinstance(content, bytes):
        return "; decode it first"
    if isinstance(content, tuple):
        return "; make records of tuples: ({'id': a, 'text': b} for a, b in pairs)"
    if isinstance(content, list):
        return "; join tokens to a text first"
    return ""
