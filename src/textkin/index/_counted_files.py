"""Files that others read and count, for the one writer: the work of adding, spread over workers.

A worker reads some files as `textkin.read` does, and counts their words under numbers of its own.
The writer gives these words their numbers in the index, one block of files after another, so that
the index is the one that a single process makes.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from textkin import _core
from textkin._typing import Int64Array
from textkin.index._records import Content, content_of
from textkin.index._settings import Reading
from textkin.text.reading._document import shortened
from textkin.text.reading._folder import Entry, Walk
from textkin.text.reading._formats import FileOptions, file_rows
from textkin.text.reading._read import Documents, Skipped
from textkin.text.reading._rows import Meter, Place, Row
from textkin.text.reading._sources import FileSource, FolderSource, MemorySource

__all__ = ["CountFiles", "CountedFiles", "Refused", "counting", "file_blocks"]

_BLOCK_FILES = 20_000
_BLOCK_BYTES = 1 << 21
_MOST_CHARACTERS = 1 << 29  # of a block: what is compressed may be any size


@dataclass(frozen=True, eq=False)
class CountedFiles:
    """The documents of some files.

    Attributes
    ----------
    columns : tuple of list of str
        What the catalogue keeps, as `Content` has it: ids, labels, metadata, texts. Lists of
        strings travel ten times as fast as tuples of strings.
    digests : list of bytes
        Of each document.
    lengths : ndarray of int64
        The number of words of each document.
    counts : list of bytes
        Packed counts of each document, under the numbers of `words`.
    words : list of str
        In the order in which they come first.
    skipped : Skipped
        What was left out.
    """

    columns: tuple[list[str], ...]
    digests: list[bytes]
    lengths: Int64Array
    counts: list[bytes]
    words: list[str]
    skipped: Skipped

    @property
    def contents(self) -> list[Content]:
        """The documents."""
        return [*map(Content._make, zip(*self.columns, strict=True))]


@dataclass(frozen=True)
class Refused:
    """A document that cannot be added: where in its block, its id, and why."""

    row: int
    id: str | None
    why: str


@dataclass(frozen=True, slots=True)
class _Files:
    """Some files of a folder, as a source."""

    entries: tuple[Entry, ...]
    options: FileOptions
    once = False

    def total(self) -> int | None:
        return None

    def rows(self, meter: Meter) -> Iterator[Row]:
        for entry in self.entries:
            if entry.size and not entry.path.is_file():  # no reason to skip it
                raise FileNotFoundError(
                    errno.ENOENT,
                    "a worker does not see this file, which this process has found. Files must be "
                    "reachable under the same path on every worker, and stay until they are added",
                    str(entry.path),
                )
            if entry.problem is None:
                yield from file_rows(entry.path, entry.name, self.options, meter)
            else:
                yield Row(Place(str(entry.path), entry.name), entry.problem)


@dataclass(frozen=True)
class CountFiles:
    """Reads and counts files; a function that travels.

    Attributes
    ----------
    reading : Reading
        How the index counts words.
    options : FileOptions
        How files are read.
    fields, errors, split : object
        As `Documents` has them.
    """

    reading: Reading
    options: FileOptions
    fields: Any
    errors: Any
    split: Any

    def __call__(self, entries: tuple[Entry, ...]) -> CountedFiles | Refused:
        """Read the documents of some files, and count their words."""
        documents = Documents(
            _Files(entries, self.options),
            self.fields,
            errors=self.errors,
            split=self.split,
            progress=None,
        )
        contents: list[Content] = []
        size = 0
        found = iter(documents)
        while True:
            id = None
            try:
                document = next(found, None)
                if document is None:
                    break
                id = document.id
                contents.append(content_of(document))
                size += len(document.text)
                if size > _MOST_CHARACTERS:
                    raise MemoryError(
                        f"a file has more text than a worker can send at a time "
                        f"({_MOST_CHARACTERS:,} characters, up to the document {shortened(id)}): "
                        "split it, or add it without on=, which reads it piece by piece."
                    )
            except (TypeError, ValueError) as error:
                if documents.skipped is not None:  # all of this block was; others may have more
                    break
                return Refused(len(contents), id, str(error))
        reader = self.reading.reader(_core.WordTable())
        counts, lengths = reader.read([one.text for one in contents]).count(1).packed()
        assert documents.skipped is not None
        return CountedFiles(
            tuple([one[at] for one in contents] for at in range(len(Content._fields))),
            [one.digest() for one in contents],
            lengths,
            counts,
            reader.terms.words(0),
            documents.skipped,
        )


def file_blocks(documents: object) -> list[tuple[Entry, ...]]:
    """Return the files that `textkin.read` reads, in blocks of some megabytes, in their order.

    Raises
    ------
    ValueError
        If the documents do not lie in files.
    """
    source = documents._source if isinstance(documents, Documents) else None
    entries: Iterable[Entry]
    if isinstance(source, FolderSource):
        entries = Walk(source.root, source.patterns)
    elif isinstance(source, FileSource):
        entries = [_entry(source.path, source.path.name)]
    elif isinstance(source, MemorySource) and not source.once:
        entries = (_entry(Path(item), Path(item).as_posix()) for item in _paths(source))
    else:
        raise _no_files(documents)
    return list(_blocks(entries))


def counting(documents: Documents, reading: Reading) -> CountFiles:
    """Return what reads and counts the files of `textkin.read`."""
    options: Any = documents._source
    return CountFiles(
        reading, options.options, documents._fields, documents._errors, documents._split
    )


def _paths(source: MemorySource) -> Iterator[os.PathLike[str]]:
    for item in source.items:
        if not isinstance(item, os.PathLike):
            raise _no_files(item)
        yield item


def _no_files(given: object) -> ValueError:
    return ValueError(
        "on= is for documents that lie in files, which workers open by their paths: pass what "
        "textkin.read(folder), textkin.read(file) or textkin.read([Path(...), ...]) returns; got "
        f"{shortened(given)}."
    )


def _entry(path: Path, name: str) -> Entry:
    return Entry(path, name, path.stat().st_size if path.is_file() else 0)


def _blocks(entries: Iterable[Entry]) -> Iterator[tuple[Entry, ...]]:
    block: list[Entry] = []
    size = 0
    for entry in entries:
        # The folder that is the current one here may be another one there.
        block.append(replace(entry, path=entry.path.absolute()))
        size += entry.size
        if len(block) >= _BLOCK_FILES or size >= _BLOCK_BYTES:
            yield tuple(block)
            block, size = [], 0
    if block:
        yield tuple(block)
