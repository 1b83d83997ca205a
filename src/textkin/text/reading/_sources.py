"""Where documents come from: a file, a folder, a table in memory, or anything that iterates."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from textkin.text.reading._folder import Walk
from textkin.text.reading._formats import FileOptions, file_rows
from textkin.text.reading._rows import LeftOut, Meter, Place, Row

__all__ = ["FileSource", "FolderSource", "IterableSource", "TableSource", "in_memory"]


@dataclass(frozen=True, slots=True)
class FileSource:
    """One file."""

    path: Path
    options: FileOptions
    once = False

    def total(self) -> int | None:
        """Return the bytes of the file."""
        return _size(self.path)

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Read the file."""
        return file_rows(self.path, self.path.name, self.options, meter)

    def __str__(self) -> str:
        return repr(str(self.path))


@dataclass(frozen=True, slots=True)
class FolderSource:
    """The files of a folder that match a pattern."""

    root: Path
    patterns: Sequence[str]
    options: FileOptions
    once = False

    def total(self) -> int | None:
        """Return the bytes of all files."""
        return sum(entry.size for entry in Walk(self.root, self.patterns))

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Read one file after the other."""
        walk = Walk(self.root, self.patterns)
        left_out = before = 0
        nothing = True
        for entry in walk:
            if entry.problem is None:
                nothing = False
                yield from file_rows(entry.path, entry.name, self.options, meter, before)
                before += entry.size
                meter.reached(before)
                meter.tell()
            else:
                left_out += isinstance(entry.problem, LeftOut)
                nothing = nothing and isinstance(entry.problem, LeftOut)
                yield Row(Place(str(entry.path), entry.name), entry.problem)
        if nothing:
            besides = f" ({left_out} hidden, special or linked ones were left out)"
            raise ValueError(
                f"No file of the folder {str(self.root)!r} matches pattern={self._shown()}"
                f"{besides if left_out else ''}; {walk.nothing()}. Pass another pattern, such as "
                "'**/*' for all files."
            )

    def _shown(self) -> str:
        return repr(self.patterns[0]) if len(self.patterns) == 1 else repr(tuple(self.patterns))

    def __str__(self) -> str:
        return f"{str(self.root)!r}, pattern={self._shown()}"


@dataclass(frozen=True, slots=True)
class TableSource:
    """A DataFrame of pandas or polars."""

    table: Any
    once = False

    def total(self) -> int | None:
        """Return the number of rows."""
        return len(self.table)

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Read row by row."""
        names = [str(name) for name in self.table.columns]
        if len(set(names)) < len(names):
            raise ValueError(f"The names of the columns must differ; got {names}.")
        polars = hasattr(self.table, "iter_rows")
        rows: Iterable[tuple[Any, ...]] = (
            self.table.iter_rows() if polars else self.table.itertuples(index=False, name=None)
        )
        for position, cells in enumerate(rows):
            record = dict(zip(names, cells, strict=True))
            yield Row(Place(unit="position", number=position), record, fixed=True)
            _count(meter, position)

    def __str__(self) -> str:
        return f"<{type(self.table).__module__.split('.')[0]} DataFrame>"


@dataclass(frozen=True, slots=True)
class IterableSource:
    """Texts, records, Documents and paths from anything that iterates."""

    items: Iterable[Any]
    options: FileOptions

    @property
    def once(self) -> bool:
        """Whether it is an iterator, which is used up by reading it."""
        return isinstance(self.items, Iterator)

    def total(self) -> int | None:
        """Return the number of items, where they can be counted."""
        return len(self.items) if isinstance(self.items, Sized) else None

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Read item by item."""
        # Hugging Face's data sets say so; of other records nobody knows what the next one has.
        fixed = isinstance(getattr(self.items, "column_names", None), list)
        silent = Meter(None, None)  # files count bytes, and this counts items
        for position, item in enumerate(self.items):
            if isinstance(item, os.PathLike):
                path = Path(item)
                yield from file_rows(path, path.as_posix(), self.options, silent)
            else:
                yield Row(Place(unit="position", number=position), item, fixed)
            _count(meter, position)

    def __str__(self) -> str:
        return f"<{type(self.items).__name__}>"


def in_memory(source: object, options: FileOptions) -> TableSource | IterableSource:
    """Return the source that an object which is no path stands for.

    No package is imported to find out: what is an instance of one comes from a loaded one.
    """
    for name in ("pandas", "polars"):
        package = sys.modules.get(name)
        is_frame, is_column = (
            isinstance(source, getattr(package, kind, ())) for kind in ("DataFrame", "Series")
        )
        if (is_frame or is_column) and options.reader is not None:
            raise ValueError(f"reader= reads files; a {type(source).__name__} needs none.")
        if is_frame:
            return TableSource(source)
        if is_column:  # before its attributes are looked at: those of pandas have the index's names
            return IterableSource(cast("Iterable[Any]", source), options)
    kind = type(source).__name__
    if isinstance(source, Mapping):
        raise TypeError(
            f"source must be a path or hold documents one by one; got a mapping ({kind}). Pass "
            "[record] for one record, source['train'] for a split of a data set, or "
            "({'id': a, 'text': b} for a, b in source.items()) for texts by id."
        )
    if isinstance(source, set | frozenset):
        raise TypeError("source must have an order; got a set. Pass sorted(source).")
    if isinstance(source, bytes | bytearray) or hasattr(source, "read"):
        raise TypeError(
            f"source must be a path or hold documents one by one; got {kind}. Pass the path of a "
            "file in place of the open file or its content, or list(file) for one document a line."
        )
    if not isinstance(source, Iterable):
        collect = " Pass source.collect()." if hasattr(source, "collect") else ""
        raise TypeError(
            "source must be a path, a DataFrame, or an iterable of texts, records, Documents or "
            f"paths; got {kind}.{collect}"
        )
    return IterableSource(source, options)


def _count(meter: Meter, position: int) -> None:
    if meter.due():
        meter.reached(position + 1)
        meter.tell()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone meanwhile; reading it will say so
        return 0
