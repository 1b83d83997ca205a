"""Long documents in passages: paragraphs, each with its place in the whole."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from textkin.text.reading._document import Document

__all__ = ["Passage", "paragraphs", "passages_of"]

# The end of a line, nothing but spaces up to the end of the next, and the space that follows. A
# carriage return with its line feed is one end of line, hence the atomic groups.
_BLANK_LINES = re.compile(r"(?>\r\n|\r|\n)[^\S\r\n]*+(?>\r\n|\r|\n)\s*")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text.

    Attributes
    ----------
    text : str
        The part, without the white space around it.
    start, end : int
        Where it stands: ``whole[start:end] == text``.
    """

    text: str
    start: int
    end: int


def paragraphs(text: str) -> list[Passage]:
    r"""Cut a text at its blank lines.

    A line that holds nothing but white space is blank. White space around a paragraph is left
    out, line ends within it are kept. A text without blank lines is one paragraph however long it
    is; a text of nothing but white space has none.

    Parameters
    ----------
    text : str
        Any text; line ends may be LF, CRLF or CR.

    Returns
    -------
    list of Passage
        In the order of the text.

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
    """Give the paragraphs of a document as documents; a blank one gives one with an empty text.

    Raises
    ------
    ValueError
        Where the metadata has one of the fields that tell a passage's place already.
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
            raise ValueError(f"its field {clash[0]!r} has the name of one that split= adds; rename")
        yield Document(
            f"{document.id}#{position}",
            passage.text,
            document.label,
            {**document.metadata, **place},
        )


def _trimmed(text: str, start: int, end: int) -> Passage:
    part = text[start:end].rstrip()
    kept = part.lstrip()
    start += len(part) - len(kept)
    return Passage(kept, start, start + len(kept))
