"""Division of long documents into paragraphs with offsets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from textkin.reading._document import FIELD_SEPARATOR, Document

__all__ = ["Passage", "paragraphs", "passages_of"]

# A line end, only spaces up to the next line end, and the white space that follows. CRLF is a
# single line end, hence the atomic groups.
_BLANK_LINES = re.compile(r"(?>\r\n|\r|\n)[^\S\r\n]*+(?>\r\n|\r|\n)\s*")


@dataclass(frozen=True, slots=True)
class Passage:
    """Paragraph of a text, with its start and end offsets.

    Attributes
    ----------
    text : str
        Text of the passage, without surrounding white space.
    start, end : int
        Offsets of the passage: ``whole[start:end] == text``.
    """

    text: str
    start: int
    end: int


def paragraphs(text: str) -> list[Passage]:
    r"""Split a text at blank lines, and return its paragraphs with offsets.

    A line with only white space is blank. White space around a paragraph is removed, and line ends
    within it are kept. A text without blank lines is one paragraph of any length; a text with only
    white space has no paragraphs.

    Parameters
    ----------
    text : str
        Text; line ends may be LF, CRLF, or CR.

    Returns
    -------
    list of Passage
        Paragraphs in the order of the text.

    Examples
    --------
    >>> [passage.text for passage in paragraphs("One line,\nand its next.\n\nAnother one.\n")]
    ['One line,\nand its next.', 'Another one.']
    >>> paragraphs("Another one.")
    [Passage(text='Another one.', start=0, end=12)]
    """
    found = []
    start = 0
    for gap in _BLANK_LINES.finditer(text):
        found.append(_trimmed(text, start, gap.start()))
        start = gap.end()
    found.append(_trimmed(text, start, len(text)))
    return [passage for passage in found if passage.text]


def passages_of(document: Document) -> Iterator[Document]:
    """Yield the paragraphs of a document as separate documents.

    Raises
    ------
    ValueError
        If the metadata already has one of the fields that passages add.
    """
    whole = document.text
    for position, passage in enumerate(paragraphs(whole) or [Passage("", 0, 0)], 1):
        place = {
            "parent_id": document.id,
            "passage": position,
            "passage_start": passage.start,
            "passage_end": passage.end,
        }
        clash = sorted(place.keys() & document.metadata.keys())
        if clash:
            raise ValueError(f"metadata must not have the field {clash[0]!r}, which split adds")
        fields = {}
        if document.fields:
            there = _field_at(document, passage.start)
            fields = {name: passage.text if name == there else "" for name in document.fields}
        yield Document(
            f"{document.id}#{position}",
            passage.text,
            document.label,
            {**document.metadata, **place},
            fields,
        )


def _field_at(document: Document, offset: int) -> str:
    """Return the name of the field at an offset in the text; fields are separate paragraphs."""
    end = 0
    for name, text in document.fields.items():
        end += len(text) + len(FIELD_SEPARATOR) if text else 0
        if offset < end:
            return name
    return name


def _trimmed(text: str, start: int, end: int) -> Passage:
    part = text[start:end].rstrip()
    kept = part.lstrip()
    start += len(part) - len(kept)
    return Passage(kept, start, start + len(kept))
