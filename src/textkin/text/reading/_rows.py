"""What the sources hand over: rows with the place where each was found."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from textkin.run import ProgressCallback

__all__ = ["Bad", "LeftOut", "Meter", "Place", "Row", "Source"]

_ROWS_BETWEEN_CALLS = 256


class Place(NamedTuple):
    """Where a row was found.

    Attributes
    ----------
    file : str
        The path of the file, as it can be opened; empty where there is none.
    name : str
        What ids are made of: the path of the file within its folder.
    unit : str
        "line", "row", "record" (counted from 1) or "position" (from 0); empty for a whole file.
    number : int
        Which line, row, record or position.
    """

    file: str = ""
    name: str = ""
    unit: str = ""
    number: int = 0

    def at(self, unit: str, number: int) -> "Place":
        """Return a place within this file."""
        return Place(self.file, self.name, unit, number)

    @property
    def id(self) -> str:
        """The id of a document found here that brings none of its own."""
        if not self.name:
            return str(self.number)
        return f"{self.name}:{self.number}" if self.unit else self.name

    def __str__(self) -> str:
        # The name of a file may hold anything, and messages go to terminals.
        file = self.file if self.file.isprintable() else repr(self.file)
        within = f"{self.unit} {self.number}" if self.unit else ""
        return ", ".join(part for part in (file, within) if part)


@dataclass(frozen=True, slots=True)
class Bad:
    """A row or file that is an error, or is skipped where that was chosen."""

    reason: str
    cause: Exception | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that is never read, whatever was chosen; never an error."""

    reason: str
    hidden: bool = False


class Row(NamedTuple):
    """What was found at a place: a text, a record, a Document, `Bad` or `LeftOut`.

    Attributes
    ----------
    place : Place
        Where.
    content : object
        What.
    fixed : bool
        Whether all records of the source have the same fields, as those of a table have.
    """

    place: Place
    content: object
    fixed: bool = False


class Meter:
    """Tells a callback how far the reading has come, now and then.

    Parameters
    ----------
    callback : callable or None
        Gets (done, total).
    total : int or None
        Bytes of files or number of rows; None where nobody knows, and nothing is told.
    """

    def __init__(self, callback: ProgressCallback | None, total: int | None) -> None:
        self._callback = callback if total is not None else None
        self._total = total or 0
        self._done = 0
        self._rows = 0

    def reached(self, done: int) -> None:
        """Note how far the reading has come; never further than the end, never back."""
        self._done = max(self._done, min(done, self._total))

    def due(self) -> bool:
        """Count a row, and say whether `reached` and `tell` are worth their time now."""
        self._rows += 1
        return self._callback is not None and self._rows % _ROWS_BETWEEN_CALLS == 0

    def tell(self) -> None:
        """Call the callback."""
        if self._callback is not None:
            self._callback(self._done, self._total)

    def finish(self) -> None:
        """Call the callback for the last time."""
        self.reached(self._total)
        self.tell()


class Source(Protocol):
    """Something that rows come from."""

    @property
    def once(self) -> bool:
        """Whether it can be read only once."""
        ...

    def total(self) -> int | None:
        """Return how much there is to read (bytes or rows), None where nobody knows."""
        ...

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Read it from its beginning."""
        ...
