"""Interface of a source of rows, and the items of objects in memory."""

import sys
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from textkin.reading._document import Meter, Row

__all__ = ["Items", "Source", "is_frame_type", "make_items"]


class Source(Protocol):
    """Interface of a source of rows."""

    @property
    def once(self) -> bool:
        """True if the source can be read only once."""
        ...

    def files(self) -> list[Path]:
        """Return the files to read; empty for objects in memory."""
        ...

    def total(self) -> int | None:
        """Return the size of the source in bytes or rows, or None if unknown."""
        ...

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Yield all rows."""
        ...


@dataclass(frozen=True, slots=True)
class Items:
    """Texts, records, Documents, and paths from an object in memory.

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
    """Return the items of an object; raise an error if it is not iterable or has no order.

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
    """Return True if an object is an instance of one of these classes of pandas or polars.

    Neither package is imported: an instance exists only if its package is loaded.
    """
    packages = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(isinstance(source, getattr(p, kind, ())) for p in packages for kind in kinds)
