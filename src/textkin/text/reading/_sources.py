"""Where documents come from: a file, a folder, a table in memory, or anything that iterates."""

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textkin.text.reading._document import shortened
from textkin.text.reading._folder import Walk
from textkin.text.reading._formats import FileOptions, file_rows
from textkin.text.reading._items import Items, is_of, items_of
from textkin.text.reading._rows import LeftOut, Meter, Place, Row

__all__ = ["FileSource", "FolderSource", "MemorySource", "in_memory"]

_NAMES = 100  # how many texts are looked at, whether all are names of files


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
            ones = "one was" if left_out == 1 else "ones were"
            besides = f" ({left_out} hidden, special or linked {ones} left out)"
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
class MemorySource:
    """A table, or texts, records, Documents and paths from anything that iterates."""

    items: Items
    options: FileOptions

    @property
    def once(self) -> bool:
        """Whether it is an iterator, which is used up by reading it."""
        return self.items.once

    def total(self) -> int | None:
        """Return the number of items, where they can be counted."""
        return self.items.total()

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Read item by item."""
        fixed = self.items.fixed
        silent = Meter(None, None)  # files count bytes, and this counts items
        for position, item in enumerate(self.items):
            if isinstance(item, os.PathLike):
                path = Path(item)
                yield from file_rows(path, path.as_posix(), self.options, silent)
            else:
                yield Row(Place(unit="position", number=position), item, fixed)
            if meter.due():
                meter.reached(position + 1)
                meter.tell()

    def __str__(self) -> str:
        return str(self.items)


def in_memory(source: object, options: FileOptions) -> MemorySource:
    """Return the source that an object which is no path stands for."""
    kind = type(source).__name__
    table = is_of(source, "DataFrame", "Series")
    if table and options.reader is not None:
        raise ValueError(f"reader= reads files; a {kind} needs none.")
    if isinstance(source, Mapping):
        raise TypeError(
            f"source must be a path or hold documents one by one; got a mapping ({kind}). Pass "
            "[record] for one record, source['train'] for a split of a data set, or "
            "({'id': a, 'text': b} for a, b in source.items()) for texts by id."
        )
    # A column is not asked: the attributes of one of pandas are the names of its index, too.
    if isinstance(source, bytes | bytearray) or (not table and hasattr(source, "read")):
        raise TypeError(
            f"source must be a path or hold documents one by one; got {kind}. Pass the path of a "
            "file in place of the open file or its content, or list(file) for one document a line."
        )
    expected = (
        "source must be a path, a DataFrame, or an iterable of texts, records, Documents or paths"
    )
    items = items_of(source, expected)
    if isinstance(source, Sequence | np.ndarray) or is_of(source, "Series"):
        _check_no_names(items)
    return MemorySource(items, options)


def _check_no_names(items: Items) -> None:
    """Raise where all texts (the first hundred) are names of files, which nobody would compare."""
    names = list(itertools.takewhile(_is_name, itertools.islice(items, _NAMES)))
    if names and len(names) == min(_NAMES, len(items.source)):
        raise ValueError(
            f"source holds the names of files, such as {shortened(names[0])}, and not their texts. "
            "To read the files, pass [Path(p) for p in paths]; to read the names as texts, pass "
            "[{'text': p} for p in paths]."
        )


def _is_name(item: object) -> bool:
    return isinstance(item, str) and os.path.isfile(item)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone meanwhile; reading it will say so
        return 0
