"""Documents of `textkin.read`, its messages without options that a reader here does not have."""

import os
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from textkin.text import Document, Documents
from textkin.text.reading._rows import Place

__all__ = ["AS_IT_IS", "BY_READ", "Words", "named", "placed", "worded"]

Words: TypeAlias = Sequence[tuple[str, str]]
"""What messages say, as regular expressions, and what they are to say instead."""

BY_READ: Words = (
    (
        r"pass errors='skip' to leave such documents out\.",
        "leave such records out by textkin.read(..., errors='skip').",
    ),
)
"""For readers that also take what `textkin.read` returns."""

AS_IT_IS: Words = (
    (r" Repair it, or pass errors='skip' to leave such documents out\.", ""),
    (r" Name the field of the text, as in text='body'\.", ""),
    (r", and id=False gives each document one", ""),
    (r"; name its encoding if you know it, .* choose", "; convert it"),
    (r"; pass reader= for other formats, encoding= for UTF-16", ""),
    (
        r"is longer than max_bytes=(\d+); pass a larger max_bytes if that is right",
        r"is longer than \1 characters, the most that is read",
    ),
)
"""For readers that take files as they are."""


def placed(documents: Documents, words: Words) -> Iterator[tuple[Place, Document]]:
    """Give the documents with their places; what cannot be read is told in other words."""
    try:
        yield from documents.placed()
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(worded(str(error), words)) from error


def named(source: object) -> str:
    """Return what a source is called: its path, if it has one."""
    return repr(os.fspath(source)) if isinstance(source, str | os.PathLike) else "what was given"


def worded(message: str, words: Words) -> str:
    """Return a message with some of its words exchanged."""
    for pattern, instead in words:
        message = re.sub(pattern, instead, message)
    return message
