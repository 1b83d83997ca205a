"""Interface of sources of rows, and objects in memory as sources."""

import sys
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from textkin.reading._document import Meter, Row

__all__ = ["Items", "Source", "is_frame_type", "make_items"]


class Source(Protocol):
    """Protocol of a source of rows: files, folders, or objects in memory."""

    @property
    def once(self) -> bool:
        """True if the source can be read only once."""
        ...

    def files(self) -> list[Path]:
        """Return the files to read, or [] for objects in memory."""
        ...

    def total(self) -> int | None:
        """Return the size of the source in bytes or items, or None if unknown."""
        ...

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Yield all rows of the source (texts, records, or problems), in order."""
        ...


@dataclass(frozen=True, slots=True)
class Items:
    """Object in memory as a source: texts, records, Documents, or table rows.

    Attributes
    ----------
    source : object
        The object.
    frame : bool
        True for a DataFrame of pandas or polars, which iterates over its columns.
    """

    source: Any
    frame: bool

    @property
    def fixed(self) -> bool:
        """True if all records have the same fields, as in a table."""
        # Hugging Face data sets have column names; other records may differ.
        return self.frame or isinstance(getattr(self.source, "column_names", None), list)

    @property
    def once(self) -> bool:
        """True if the object is an iterator, which can be read only once."""
        return isinstance(self.source, Iterator)

    def total(self) -> int | None:
        """Return the number of items, or None if the object has no length."""
        return len(self.source) if isinstance(self.source, Sized) else None

    def __iter__(self) -> Iterator[Any]:
        return self._records() if self.frame else iter(self.source)

    def _records(self) -> Iterator[dict[str, Any]]:
        names = [str(name) for name in self.source.columns]
        if len(set(names)) < len(names):
            raise ValueError(f"The names of the columns must be distinct; got {names}.")
        polars = hasattr(self.source, "iter_rows")
        rows: Iterable[tuple[Any, ...]] = (
            self.source.iter_rows() if polars else self.source.itertuples(index=False, name=None)
        )
        for cells in rows:
            yield dict(zip(names, cells, strict=True))

    def __str__(self) -> str:
        kind = type(self.source)
        return (
            f"<{kind.__module__.split('.')[0]} DataFrame>" if self.frame else f"<{kind.__name__}>"
        )


def make_items(source: object, expected: str) -> Items:
    """Wrap an object as `Items`; raise if it is not iterable or has no fixed order.

    Parameters
    ----------
    source : object
        Any object.
    expected : str
        Start of the error message: the requirement for the object.
    """
    kind = type(source).__name__
    if isinstance(source, set | frozenset):
        raise TypeError(f"{expected}; got a {kind}, which has no order: pass it sorted")
    if isinstance(source, bytes | bytearray) or not isinstance(source, Iterable):
        hint = ": pass what its collect() returns" if hasattr(source, "collect") else ""
        raise TypeError(f"{expected}; got {kind}{hint}")
    return Items(source, is_frame_type(source, "DataFrame"))


def is_frame_type(source: object, *kinds: str) -> bool:
    """Return True if an object is of one of these pandas or polars classes.

    Neither package is imported: an instance exists only if its package is loaded.
    """
    packages = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(isinstance(source, getattr(p, kind, ())) for p in packages for kind in kinds)
