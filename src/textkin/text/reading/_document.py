"""A document as it was read: its id, its text, its label, and whatever else came with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = ["Document", "Label", "counted", "shortened"]

Label: TypeAlias = str | int | float | bool | None
"""What a document may be labelled with; None is no label."""

_OWN_NAMES = ("id", "text", "label")


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A text with a name.

    Parameters
    ----------
    id : str
        The name of the document, not empty.
    text : str
        Its text; may be empty.
    label : str, int, float, bool or None, default=None
        Its class, where it has one.
    metadata : mapping, default={}
        Everything else that is known of it, as it came. Not counted in the hash.

    Raises
    ------
    TypeError
        Where the id or the text is no `str`, the label is none of its types, or the metadata are
        no mapping.
    ValueError
        Where the id is empty, or either holds half a surrogate pair, which no file can hold.

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

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("text", self.text)):
            if not isinstance(value, str):
                raise TypeError(f"the {name} must be a string; got {_described(value)}")
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise ValueError(
                    f"the {name} is not valid Unicode: character {error.start} is half of a "
                    "surrogate pair"
                ) from None
        if not self.id:
            raise ValueError("the id must not be empty")
        label: object = self.label
        if label is not None and not isinstance(label, str | int | float):
            raise TypeError(
                f"the label must be a string, a number or None; got {_described(label)}"
            )
        metadata: object = self.metadata
        if not isinstance(metadata, Mapping):
            raise TypeError(f"the metadata must be a mapping; got {_described(metadata)}")

    def to_dict(self) -> dict[str, Any]:
        """Return the document as one flat record: id, text, the label if any, the metadata.

        Raises
        ------
        ValueError
            Where the metadata has a field named id, text or label of its own.
        """
        clash = [name for name in _OWN_NAMES if name in self.metadata]
        if clash:
            raise ValueError(
                f"The metadata of document {self.id!r} has a field {clash[0]!r} of its own, which "
                "would hide the document's; rename that field before reading."
            )
        label = {} if self.label is None else {"label": self.label}
        return {"id": self.id, "text": self.text, **label, **self.metadata}

    def __repr__(self) -> str:
        parts = [f"id={self.id!r}", f"text={shortened(self.text)}"]
        if self.label is not None:
            parts.append(f"label={self.label!r}")
        if self.metadata:
            parts.append(f"metadata={shortened(self.metadata)}")
        return f"Document({', '.join(parts)})"


def counted(number: int, noun: str) -> str:
    """Return a number and what it counts, as in "1 field" and "2 fields"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shortened(value: object, length: int = 80) -> str:
    """Return the repr of a value, cut to about `length` characters."""
    if isinstance(value, str) and len(value) > length:  # repr of a whole book is slow
        value = f"{value[:length]}..."
    shown = repr(value)
    return shown if len(shown) <= length + 10 else f"{shown[:length]}..."


def _described(value: object) -> str:
    return "None" if value is None else f"{shortened(value, 40)} ({type(value).__name__})"
