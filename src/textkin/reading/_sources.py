"""Sources of rows: a file, a table in memory, or any other iterable."""

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textkin._base import abbreviate
from textkin.exceptions import ParameterTypeError
from textkin.reading._document import Meter, Place, Row
from textkin.reading._formats import FileOptions, file_rows
from textkin.reading._items import Items, is_frame_type, make_items

__all__ = ["FileSource", "MemorySource", "memory_source"]

_NAMES = 100  # number of texts checked for being file names


@dataclass(frozen=True, slots=True)
class FileSource:
    """Source of rows that reads one file."""

    path: Path
    options: FileOptions
    once = False

    def files(self) -> list[Path]:
        """Return a list with the path of the file."""
        return [self.path]

    def total(self) -> int | None:
        """Return the size of the file in bytes."""
        return _size(self.path)

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Yield the rows (texts or records) of the file."""
        return file_rows(self.path, self.path.name, self.options, meter)

    def __str__(self) -> str:
        return repr(str(self.path))


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Source of rows from a table, or an iterable of texts, records, or Documents."""

    items: Items
    options: FileOptions

    @property
    def once(self) -> bool:
        """True if the source is an iterator, which can be read only once."""
        return self.items.once

    def files(self) -> list[Path]:
        """Return [], because objects in memory are not files."""
        return []

    def total(self) -> int | None:
        """Return the number of items, or None if the source has no length."""
        return self.items.total()

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Yield one row for each text, record, or table row in memory."""
        fixed = self.items.fixed
        silent = Meter(None, None)  # file readers count bytes, but this source counts items
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


def memory_source(source: object, options: FileOptions) -> MemorySource:
    """Wrap a table or an iterable in memory as a source of rows."""
    kind = type(source).__name__
    table = is_frame_type(source, "DataFrame", "Series")
    if table and options.reader is not None:
        raise ValueError(f"reader must be None for a {kind}; it is only for files.")
    if isinstance(source, Mapping):
        raise ParameterTypeError(
            "source",
            "a path or hold documents one by one",
            f"a mapping ({kind})",
            "Pass [record] for one record, source['train'] for a split of a data set, or "
            "({'id': a, 'text': b} for a, b in source.items()) for texts by id.",
        )
    # A pandas column is excluded here, because its index names may include `read`.
    if isinstance(source, bytes | bytearray) or (not table and hasattr(source, "read")):
        raise ParameterTypeError(
            "source",
            "a path or hold documents one by one",
            str(kind),
            "Pass the path of the file instead of the open file or its content, or list(file) for "
            "one document per line.",
        )
    expected = (
        "source must be a path, a DataFrame, or an iterable of texts, records, Documents or paths"
    )
    items = make_items(source, expected)
    if isinstance(source, Sequence | np.ndarray) or is_frame_type(source, "Series"):
        _raise_for_file_names(items)
    return MemorySource(items, options)


def _raise_for_file_names(items: Items) -> None:
    """Raise if the texts are names of existing files, which should be passed as paths."""
    names = list(itertools.takewhile(_is_file_name, itertools.islice(items, _NAMES)))
    if names and len(names) == min(_NAMES, len(items.source)):
        raise ValueError(
            f"source must contain texts; got names of files, such as {abbreviate(names[0])}."
            " To read the files, pass [Path(p) for p in paths]; to read the names as texts, pass "
            "[{'text': p} for p in paths]."
        )


def _is_file_name(item: object) -> bool:
    return isinstance(item, str) and os.path.isfile(item)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # removed concurrently; reading the file reports it
        return 0
