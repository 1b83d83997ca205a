"""What an object in memory holds, one by one: the rows of a table, or whatever it iterates over."""

import sys
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any

__all__ = ["Items", "is_of", "items_of"]


@dataclass(frozen=True, slots=True)
class Items:
    """Texts, records, Documents and paths from an object in memory.

    Attributes
    ----------
    source : object
        What they come from.
    frame : bool
        Whether that is a DataFrame of pandas or polars, which iterates over its columns.
    """

    source: Any
    frame: bool

    @property
    def fixed(self) -> bool:
        """Whether all records have the same fields."""
        # Hugging Face's data sets say so; of other records nobody knows what the next one has.
        return self.frame or isinstance(getattr(self.source, "column_names", None), list)

    @property
    def once(self) -> bool:
        """Whether it is an iterator, which is used up by reading it."""
        return isinstance(self.source, Iterator)

    def total(self) -> int | None:
        """Return the number of items, where they can be counted."""
        return len(self.source) if isinstance(self.source, Sized) else None

    def __iter__(self) -> Iterator[Any]:
        return self._records() if self.frame else iter(self.source)

    def _records(self) -> Iterator[dict[str, Any]]:
        names = [str(name) for name in self.source.columns]
        if len(set(names)) < len(names):
            raise ValueError(f"The names of the columns must differ; got {names}.")
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


def items_of(source: object, expected: str) -> Items:
    """Return what an object holds, unless it holds nothing, or nothing in a fixed order.

    Parameters
    ----------
    source : object
        Anything.
    expected : str
        What it must be, as the error shall say it.
    """
    kind = type(source).__name__
    if isinstance(source, set | frozenset):
        raise TypeError(f"{expected}; got a {kind}, which has no order: pass it sorted")
    if isinstance(source, bytes | bytearray) or not isinstance(source, Iterable):
        hint = ": pass what its collect() returns" if hasattr(source, "collect") else ""
        raise TypeError(f"{expected}; got {kind}{hint}")
    return Items(source, is_of(source, "DataFrame"))


def is_of(source: object, *kinds: str) -> bool:
    """Return whether an object is one of these of pandas or polars.

    Neither is imported to find out: what is an instance of one comes from a loaded one.
    """
    packages = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(isinstance(source, getattr(p, kind, ())) for p in packages for kind in kinds)
