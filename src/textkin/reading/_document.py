"""`Document`, and rows of sources with position, content, or error."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from textkin._base import abbreviate, describe_value, without_hint
from textkin.run import ProgressCallback

__all__ = [
    "FIELD_SEPARATOR",
    "BadRow",
    "Document",
    "ExcludedFile",
    "Label",
    "Meter",
    "Place",
    "Row",
    "join_fields",
]

Label: TypeAlias = str | int | float | bool | None
"""Label of a document, or None without a label."""

FIELD_SEPARATOR = "\n\n"
"""Blank line between the texts of two fields."""

_ROWS_BETWEEN_CALLS = 256


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """Immutable text with an ID, an optional label, and metadata.

    Parameters
    ----------
    id : str
        ID of the document, not empty.
    text : str
        Text of the document; may be empty.
    label : str, int, float, bool or None, default=None
        Class of the document, if known.
    metadata : mapping, default={}
        Other fields of the document, unchanged. They do not affect the hash.
    fields : mapping of str to str, default={}
        Texts of the fields that `text` consists of, such as title and body; empty for a document
        with a single text. See `of_fields`.

    Raises
    ------
    TypeError
        If the ID or a text is not a `str`, the label has another type, or the metadata or the
        fields are not a mapping.
    ValueError
        If the ID is empty, the ID or the text contains an unpaired surrogate, which no file can
        contain, or `text` is not the text of the fields.

    Examples
    --------
    >>> document = Document("a17", "The cat sat on the mat.", label="pets", metadata={"year": 2015})
    >>> document
    Document(id='a17', text='The cat sat on the mat.', label='pets', metadata={'year': 2015})
    >>> document.to_dict()
    {'id': 'a17', 'text': 'The cat sat on the mat.', 'label': 'pets', 'year': 2015}
    """

    id: str
    text: str
    label: Label = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def of_fields(
        cls,
        id: str,
        fields: Mapping[str, str],
        label: Label = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> "Document":
        r"""Make a document from several texts.

        Parameters
        ----------
        id : str
            ID of the document, not empty.
        fields : mapping of str to str
            Texts by the names of their fields. The text of the document joins them with blank
            lines, without empty ones.
        label, metadata
            As for `Document`.

        Examples
        --------
        >>> document = Document.of_fields("a", {"title": "Cats", "body": "Cats purr."})
        >>> document.text
        'Cats\n\nCats purr.'
        >>> document.fields["title"]
        'Cats'
        """
        if not isinstance(fields, Mapping):
            raise TypeError(f"the fields must be a mapping; got {describe_value(fields)}")
        for name, text in fields.items():
            if not isinstance(text, str):
                raise TypeError(
                    f"the text of {name!r} must be a string; got {describe_value(text)}"
                )
        return cls(id, join_fields(fields.values()), label, metadata or {}, dict(fields))

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("text", self.text)):
            if not isinstance(value, str):
                raise TypeError(f"the {name} must be a string; got {describe_value(value)}")
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise ValueError(
                    f"the {name} is not valid Unicode: character {error.start} is an unpaired "
                    "surrogate"
                ) from None
        if not self.id:
            raise ValueError("the id must not be empty")
        label: object = self.label
        if label is not None and not isinstance(label, str | int | float):
            raise TypeError(
                f"the label must be a string, a number or None; got {describe_value(label)}"
            )
        metadata: object = self.metadata
        if not isinstance(metadata, Mapping):
            raise TypeError(f"the metadata must be a mapping; got {describe_value(metadata)}")
        fields: object = self.fields
        if not isinstance(fields, Mapping):
            raise TypeError(f"the fields must be a mapping; got {describe_value(fields)}")
        if self.fields and self.text != join_fields(self.fields.values()):
            raise ValueError(
                "the text must consist of the fields, joined with blank lines; make the document "
                "with Document.of_fields"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return ID, text, label (if any), and metadata as one flat dict.

        A document with fields has its fields instead of the text.

        Raises
        ------
        ValueError
            If the metadata has a field named id or label, or like a field of the text.
        """
        texts = dict(self.fields) or {"text": self.text}
        clash = [name for name in ("id", *texts, "label") if name in self.metadata]
        if clash:
            raise ValueError(
                f"The metadata of document {self.id!r} must not have a field {clash[0]!r}, which "
                "would hide the field of the document; rename it before reading."
            )
        label = {} if self.label is None else {"label": self.label}
        return {"id": self.id, **texts, **label, **self.metadata}

    def __repr__(self) -> str:
        parts = [f"id={self.id!r}"]
        if self.fields:
            shown = (f"{name!r}: {abbreviate(text)}" for name, text in self.fields.items())
            parts.append(f"fields={{{', '.join(shown)}}}")
        else:
            parts.append(f"text={abbreviate(self.text)}")
        if self.label is not None:
            parts.append(f"label={self.label!r}")
        if self.metadata:
            parts.append(f"metadata={abbreviate(self.metadata)}")
        return f"Document({', '.join(parts)})"


def join_fields(texts: Iterable[str]) -> str:
    """Return the text of a document with these fields: blank lines separate texts, none empty."""
    return FIELD_SEPARATOR.join(filter(None, texts))


class Place(NamedTuple):
    """Position of a row in its source, such as a file and a line number.

    Attributes
    ----------
    file : str
        Path of the file; empty for objects in memory.
    name : str
        Path of the file relative to its folder, used for ids.
    unit : str
        "line", "row", "record" (counted from 1) or "position" (from 0); empty for a whole file.
    number : int
        Number of the line, row, record or position.
    """

    file: str = ""
    name: str = ""
    unit: str = ""
    number: int = 0

    def at(self, unit: str, number: int) -> "Place":
        """Return a position in the same file, such as line 5."""
        return Place(self.file, self.name, unit, number)

    @property
    def id(self) -> str:
        """Default ID of a document at this position, such as "news.txt:5"."""
        if not self.name:
            return str(self.number)
        return f"{self.name}:{self.number}" if self.unit else self.name

    def __str__(self) -> str:
        # Escape control characters in a file name, because messages are printed to terminals.
        file = self.file if self.file.isprintable() else repr(self.file)
        within = f"{self.unit} {self.number}" if self.unit else ""
        return ", ".join(part for part in (file, within) if part)


@dataclass(frozen=True, slots=True)
class BadRow:
    """Row or file that cannot be read, with the error; skipped with ``errors="skip"``.

    Attributes
    ----------
    reason : str
        Reason, without a period at its end.
    cause : Exception or None
        Error that was raised, if any.
    hint : str
        How to fix it, with code in backticks; may be empty.
    """

    reason: str
    cause: Exception | None = None
    hint: str = ""

    @classmethod
    def from_error(cls, error: Exception, note: str = "") -> "BadRow":
        """Create a `BadRow` from an exception, with a note added to its message."""
        return cls(f"{without_hint(error)}{note}", error, getattr(error, "hint", ""))

    def __str__(self) -> str:
        return f"{self.reason}; {self.hint}" if self.hint else self.reason


@dataclass(frozen=True, slots=True)
class ExcludedFile:
    """File that is never read, such as a hidden file, without being an error."""

    reason: str
    hidden: bool = False


class Row(NamedTuple):
    """Row of a source: its position, and a text, record, Document, or problem.

    Attributes
    ----------
    place : Place
        Position of the row.
    content : object
        Content of the row.
    fixed : bool
        True if all records of the source have the same fields, as in a table.
    """

    place: Place
    content: object
    fixed: bool = False


class Meter:
    """Progress reporter for reading, which calls the callback from time to time.

    Parameters
    ----------
    callback : callable or None
        Function that is called with (done, total).
    total : int or None
        Bytes of files or number of rows. If None, the callback is never called.
    """

    def __init__(self, callback: ProgressCallback | None, total: int | None) -> None:
        self._callback = callback if total is not None else None
        self._total = total or 0
        self._done = 0
        self._rows = 0

    def reached(self, done: int) -> None:
        """Set the number of bytes or rows read so far; it never decreases."""
        self._done = max(self._done, min(done, self._total))

    def due(self) -> bool:
        """Count one more row, and return True if progress should be reported now."""
        self._rows += 1
        return self._callback is not None and self._rows % _ROWS_BETWEEN_CALLS == 0

    def tell(self) -> None:
        """Call the progress callback with the amount read so far and the total."""
        if self._callback is not None:
            self._callback(self._done, self._total)

    def finish(self) -> None:
        """Call the progress callback with the total as the amount read."""
        self.reached(self._total)
        self.tell()
