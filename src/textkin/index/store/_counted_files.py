"""Parallel ingestion of files: workers read and count, one writer stores.

A worker reads files in the same way as `textkin.read`, and counts words with its own word IDs. The
writer maps these to word IDs of the index, block by block in file order, so that the index equals
an index written by a single process.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from textkin import _core
from textkin._base import Int64Array, abbreviate
from textkin.index.store._schema import Content, content_of
from textkin.index.store._settings import AnalyzerSettings
from textkin.index.store._text_fields import TextFields, count_weighted_words
from textkin.reading import (
    Documents,
    Entry,
    FileOptions,
    FileSource,
    FolderSource,
    MemorySource,
    Meter,
    Place,
    Row,
    Skipped,
    Source,
    Walk,
    file_rows,
    same_reader,
    source_of,
)

__all__ = ["CountFiles", "CountedFiles", "RejectedDocument", "file_blocks", "file_counter"]

_BLOCK_FILES = 20_000
_BLOCK_BYTES = 1 << 21
_MOST_CHARACTERS = 1 << 29  # limit per block, because compressed files can expand to any size


@dataclass(frozen=True, eq=False)
class CountedFiles:
    """Documents of a block of files, with the word counts of each document.

    Attributes
    ----------
    columns : tuple of list of str
        Stored parts of the documents, in the order of `Content`: IDs, labels, metadata, texts, and
        lengths of text fields.
        Lists of strings are pickled ten times as fast as tuples of strings.
    digests : list of bytes
        Digest of each document.
    lengths : ndarray of int64
        Number of words of each document.
    counts : list of bytes
        Packed counts of each document, with word IDs that refer to `words`.
    words : list of str
        Words in the order of first occurrence.
    skipped : Skipped
        Skipped documents.
    """

    columns: tuple[list[str], ...]
    digests: list[bytes]
    lengths: Int64Array
    counts: list[bytes]
    words: list[str]
    skipped: Skipped

    @property
    def contents(self) -> list[Content]:
        """Stored fields (ID, label, metadata, text) of each document."""
        return [*map(Content._make, zip(*self.columns, strict=True))]


@dataclass(frozen=True)
class RejectedDocument:
    """Invalid document found by a worker: its row in the block, ID, and reason."""

    row: int
    id: str | None
    why: str


@dataclass(frozen=True, slots=True)
class _Files:
    """Source of documents for `read`: the files of one block."""

    entries: tuple[Entry, ...]
    options: FileOptions
    once = False

    def total(self) -> int | None:
        return None

    def files(self) -> list[Path]:
        return [entry.path for entry in self.entries if entry.problem is None]

    def rows(self, meter: Meter) -> Iterator[Row]:
        for entry in self.entries:
            if entry.size and not entry.path.is_file():  # an error even with errors="skip"
                raise FileNotFoundError(
                    errno.ENOENT,
                    "a worker cannot see this file. Files must have the same path on every worker, "
                    "and must exist until they are added",
                    str(entry.path),
                )
            if entry.problem is None:
                yield from file_rows(entry.path, entry.name, self.options, meter)
            else:
                yield Row(Place(str(entry.path), entry.name), entry.problem)


@dataclass(frozen=True)
class CountFiles:
    """Picklable function that reads a block of files and counts the words of documents.

    Attributes
    ----------
    analyzer : AnalyzerSettings
        Analyzer settings of the index.
    text_fields : TextFields or None
        Text fields of the index.
    options : FileOptions
        Options for reading files.
    read : callable
        Function from a source to its `Documents`, see `same_reader`.
    """

    analyzer: AnalyzerSettings
    text_fields: TextFields | None
    options: FileOptions
    read: Callable[[Source], Documents]

    def __call__(self, entries: tuple[Entry, ...]) -> CountedFiles | RejectedDocument:
        """Read a block of files; return its counted documents, or the first invalid one."""
        documents = self.read(_Files(entries, self.options))
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
                contents.append(content_of(document, self.text_fields))
                size += len(document.text)
                if size > _MOST_CHARACTERS:
                    raise MemoryError(
                        f"a file must have at most {_MOST_CHARACTERS:,} characters per block for a "
                        f"worker; exceeded at the document {abbreviate(id)}. Split the file, or "
                        "add it without executor=, which reads it in batches."
                    )
            except (TypeError, ValueError) as error:
                if documents.skipped is not None:
                    # All documents of this block were skipped, which is not an error.
                    break
                return RejectedDocument(len(contents), id, str(error))
        reader = self.analyzer.reader(_core.WordTable())
        if self.text_fields is None:
            texts = [content.text for content in contents]
            counts, lengths = reader.read(texts).count(1).packed()
        else:
            counts, lengths = count_weighted_words(reader, contents, self.text_fields)
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
    """Split the files of `textkin.read` into blocks of some megabytes, in file order.

    Raises
    ------
    ValueError
        If the documents are not stored in files.
    """
    source = source_of(documents) if isinstance(documents, Documents) else None
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


def file_counter(
    documents: Documents, analyzer: AnalyzerSettings, text_fields: TextFields | None
) -> CountFiles:
    """Create the function of workers that reads files and counts the words of each document."""
    source: Any = source_of(documents)
    names = None if text_fields is None else text_fields.names
    return CountFiles(analyzer, text_fields, source.options, same_reader(documents, names))


def _paths(source: MemorySource) -> Iterator[os.PathLike[str]]:
    for item in source.items:
        if not isinstance(item, os.PathLike):
            raise _no_files(item)
        yield item


def _no_files(given: object) -> ValueError:
    return ValueError(
        "executor= requires documents in files, which workers open by path: pass the result of "
        "textkin.read(folder), textkin.read(file) or textkin.read([Path(...), ...]); "
        f"got {abbreviate(given)}."
    )


def _entry(path: Path, name: str) -> Entry:
    return Entry(path, name, path.stat().st_size if path.is_file() else 0)


def _blocks(entries: Iterable[Entry]) -> Iterator[tuple[Entry, ...]]:
    block: list[Entry] = []
    size = 0
    for entry in entries:
        # The current folder of a worker may be different, so the path must be absolute.
        block.append(replace(entry, path=entry.path.absolute()))
        size += entry.size
        if len(block) >= _BLOCK_FILES or size >= _BLOCK_BYTES:
            yield tuple(block)
            block, size = [], 0
    if block:
        yield tuple(block)
