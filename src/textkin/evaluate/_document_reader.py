"""Wrapper of `textkin.read` for evaluation data, with other hints and a size limit."""

import os
from collections.abc import Iterator, Mapping

from textkin._base import hinted, integer, without_hint
from textkin.reading import SKIP_HINT, Document, Documents, Place

__all__ = ["OF_READ", "REPAIR", "Bound", "named", "placed"]

OF_READ = {
    SKIP_HINT: "Repair it, or leave such records out by `textkin.read(..., errors='skip')`.",
}
"""Replacements for hints of `read`, for readers that accept the result of `textkin.read`, too."""

REPAIR = "Repair the file."
"""Hint of readers that accept only files of one format."""


def placed(
    documents: Documents, hints: Mapping[str, str] | str
) -> Iterator[tuple[Place, Document]]:
    """Yield documents with their positions in the source, and rewrite the hints of errors.

    Parameters
    ----------
    documents : Documents
        Result of `textkin.read`.
    hints : mapping of str to str, or str
        Replacements for parts of the hint, or for the whole hint.
    """
    try:
        yield from documents.placed()
    except (TypeError, ValueError) as error:
        hint = getattr(error, "hint", "")
        if not hint:
            raise
        reason, kind = without_hint(error), type(error)
        if isinstance(hints, str):
            raise hinted(kind, f"{reason.rstrip('.')}.", hints) from error
        for part, instead in hints.items():
            hint = hint.replace(part, instead)
        raise hinted(kind, reason if reason.endswith(".") else f"{reason};", hint) from error


def named(source: object) -> str:
    """Return the quoted path of a source for messages, or a general phrase."""
    return repr(os.fspath(source)) if isinstance(source, str | os.PathLike) else "the given source"


class Bound:
    """Limit on the total number of characters that a reader loads into memory.

    Parameters
    ----------
    max_bytes : int
        Maximum number of characters.
    """

    def __init__(self, max_bytes: int) -> None:
        integer(low=1).check("max_bytes", max_bytes)
        self._most = max_bytes
        self._used = 0

    def add(self, place: Place, *parts: object) -> None:
        """Add the size of a record; raise if the total exceeds the limit.

        Raises
        ------
        ValueError
            If the total exceeds the limit; the message starts with `place`.
        """
        self._used += 1 + sum(len(str(part)) for part in parts)
        if self._used > self._most:
            raise hinted(
                ValueError,
                f"{place}: the documents up to here exceed max_bytes={self._most};",
                "pass a larger `max_bytes` if they are right.",
            )
