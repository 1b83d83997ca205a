"""Reading of the rows of one file, by the format of its suffix.

The contents of a file never cause another file to be opened. A row that cannot be read becomes a
`BadRow`, and reading continues after it if the format has lines.
"""

import gzip
import json
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, BinaryIO, TypeAlias, cast

from textkin._base import open_flags
from textkin.reading._document import BadRow, Document, Meter, Place, Row
from textkin.reading._encoding import (
    LineReader,
    TooLongError,
    UnreadableError,
    decode_text,
    read_whole,
)
from textkin.reading._items import make_items
from textkin.reading._tables import check_names, table_rows

__all__ = ["FileOptions", "Reader", "file_lines", "file_rows", "is_table"]

Reader: TypeAlias = Callable[[Path], str | Document | Mapping[str, Any] | Iterable[Any]]
"""Reader of another format: returns a text, a record, a table or an iterable of these."""

# Number of Parquet rows in memory; small, because a small file can repeat one long value.
_BATCH = 128

_JSON_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class FileOptions:
    """Options for reading files, such as encoding and delimiter; see `read`."""

    encoding: str | None = None
    quoted: bool | None = None
    delimiter: str | None = None
    max_bytes: int = 1 << 26
    reader: Reader | None = None


def file_rows(
    path: Path, name: str, options: FileOptions, meter: Meter, before: int = 0
) -> Iterator[Row]:
    r"""Yield the rows of one file of any supported format.

    Parameters
    ----------
    path : Path
        Path of the file.
    name : str
        Name for IDs; bytes that are not UTF-8 are escaped as ``\xe9``.
    options : FileOptions
        Options for reading.
    meter : Meter
        Receives the number of bytes read, plus `before`.
    before : int, default=0
        Bytes of the files before this one.

    Yields
    ------
    Row
        Rows in the order of the file.
    """
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    place = Place(str(path), name)
    return _convert_errors(
        path, place, lambda file: _rows_of_format(file, path, place, options), meter, before
    )


def file_lines(path: Path, encoding: str | None = None, max_bytes: int = 1 << 20) -> Iterator[Row]:
    """Yield the nonblank lines of a text file, gzipped if its name ends in ".gz".

    Parameters
    ----------
    path : Path
        Path of the file.
    encoding : str or None, default=None
        Encoding, as in `read`.
    max_bytes : int, default=1048576
        Maximum number of characters in a line; a longer line is a `BadRow`.

    Yields
    ------
    Row
        Line with its line end, or a `BadRow`.
    """
    place = Place(str(path), path.name)

    def lines(file: BinaryIO) -> Iterator[Row]:
        unpacked = _decompress(file, _suffix_of(path)[1])
        return _text_lines(unpacked, place, FileOptions(encoding, max_bytes=max_bytes))

    return _convert_errors(path, place, lines, Meter(None, None))


def _convert_errors(
    path: Path,
    place: Place,
    rows: Callable[[BinaryIO], Iterator[Row]],
    meter: Meter,
    before: int = 0,
) -> Iterator[Row]:
    """Yield the rows of an open file; an error of the file becomes a `BadRow`."""
    last = place
    try:
        with _open_regular(path) as file:
            for row in rows(file):
                last = row.place
                yield row
                if meter.due():
                    meter.reached(before + file.tell())
                    meter.tell()
    except UnreadableError as error:
        yield Row(place, BadRow.from_error(error, _unread_note(last)))
    except (OSError, EOFError, zlib.error) as error:
        # EOFError and zlib.error: truncated or corrupt gzip.
        reason = getattr(error, "strerror", None) or error
        yield Row(place, BadRow(f"cannot be read: {reason}{_unread_note(last)}", error))


def _unread_note(last: Place) -> str:
    """Return a note that the lines after a position are not read."""
    return f"; lines after {last.unit} {last.number} are not read" if last.unit else ""


def is_table(path: Path) -> bool:
    """Return True if the suffix of a file means CSV or TSV."""
    return _suffix_of(path)[0] in (".csv", ".tsv", ".tab")


_OPEN_FLAGS = open_flags("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC")


def _open_regular(path: Path) -> BinaryIO:
    """Open a regular file; raise for pipes and devices, which could block."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise UnreadableError("is a folder" if path.is_dir() else "is not a regular file")
    # Open in nonblocking mode and check again, because a pipe may have replaced the file.
    handle = os.open(path, _OPEN_FLAGS)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UnreadableError("is not a regular file")
    return os.fdopen(handle, "rb")


def _rows_of_format(
    file: BinaryIO, path: Path, place: Place, options: FileOptions
) -> Iterator[Row]:
    if options.reader is not None:
        return _reader_rows(options.reader, path, place)
    ending, packed = _suffix_of(path)
    file = _decompress(file, packed)
    match ending:
        case ".parquet" | ".pq" if not packed:
            return _parquet_rows(file, place)
        case ".jsonl" | ".ndjson":
            return _json_lines(file, place, options)
        case ".json":
            return _json_items(file, place, options)
        case ".csv":
            return _table_records(file, place, options, ",", options.quoted is not False)
        case ".tsv" | ".tab":
            return _table_records(file, place, options, "\t", options.quoted is True)
    return _whole_text(file, place, options)


def _decompress(file: BinaryIO, packed: bool) -> BinaryIO:
    return cast("BinaryIO", gzip.GzipFile(fileobj=file)) if packed else file


def _suffix_of(path: Path) -> tuple[str, bool]:
    """Return the suffix that determines the format, and whether ".gz" follows it."""
    endings = [ending.lower() for ending in PurePath(path.name).suffixes]
    packed = endings[-1:] == [".gz"]
    if packed:
        endings.pop()
    return endings[-1] if endings else "", packed


def _whole_text(file: BinaryIO, place: Place, options: FileOptions) -> Iterator[Row]:
    yield Row(place, decode_text(read_whole(file, options.max_bytes), options.encoding))


def _json_items(file: BinaryIO, place: Place, options: FileOptions) -> Iterator[Row]:
    text = decode_text(read_whole(file, options.max_bytes), options.encoding)
    try:
        start = _skip_space(text, 0)
        if not text.startswith("[", start):
            yield Row(place, json.loads(text))
            return
        for number, item in enumerate(_decode_items(text, start + 1), 1):
            yield Row(place.at("record", number), item)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(
            f"is not valid JSON ({error}); JSON Lines must be named .jsonl"
        ) from None


def _decode_items(text: str, at: int) -> Iterator[object]:
    """Yield the items of a JSON list one by one, to save memory."""
    decode = json.JSONDecoder().raw_decode
    at = _skip_space(text, at)
    mark = "" if text.startswith("]", at) else ","
    while mark == ",":
        item, at = decode(text, at)
        yield item
        at = _skip_space(text, at)
        mark = text[at : at + 1]
        if mark == ",":
            at = _skip_space(text, at + 1)
        elif mark != "]":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    at = _skip_space(text, at + 1)
    if at < len(text):
        raise json.JSONDecodeError("Extra data", text, at)


def _skip_space(text: str, at: int) -> int:
    found = _JSON_SPACE.match(text, at)
    assert found is not None  # the pattern matches the empty string
    return found.end()


def _json_lines(file: BinaryIO, place: Place, options: FileOptions) -> Iterator[Row]:
    for row in _text_lines(file, place, options):
        yield (
            row
            if isinstance(row.content, BadRow)
            else Row(row.place, _parse_json(str(row.content)))
        )


def _text_lines(file: BinaryIO, place: Place, options: FileOptions) -> Iterator[Row]:
    """Yield each nonblank line of a text file as a row."""
    with LineReader(file, options.encoding, options.max_bytes, newline="\n") as lines:
        while True:
            lines.begin()
            try:
                line = next(lines, None)
            except TooLongError as error:
                yield Row(place.at("line", lines.number), BadRow.from_error(error))
                lines.resume()  # after the yield: the line may be long, and the caller may stop
                continue
            if line is None:
                return
            if lines.problem is not None:
                yield Row(place.at("line", lines.number), BadRow.from_error(lines.problem))
            elif line.strip():
                yield Row(place.at("line", lines.number), line)


def _parse_json(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return BadRow(f"is not valid JSON ({error})")


def _table_records(
    file: BinaryIO, place: Place, options: FileOptions, delimiter: str, quoted: bool
) -> Iterator[Row]:
    with LineReader(file, options.encoding, options.max_bytes, newline="") as lines:
        yield from table_rows(lines, place, options.delimiter or delimiter, quoted)


def _parquet_rows(file: BinaryIO, place: Place) -> Iterator[Row]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "Parquet files require pyarrow; install it: pip install 'textkin[parquet]'"
        ) from error
    number = 0
    try:
        table = parquet.ParquetFile(file)
        names = check_names(table.schema_arrow.names)
        for batch in table.iter_batches(batch_size=_BATCH, use_threads=False):
            columns = [column.to_pylist() for column in batch.columns]
            for cells in zip(*columns, strict=True):
                number += 1
                record = dict(zip(names, cells, strict=True))
                yield Row(place.at("row", number), record, fixed=True)
    except UnreadableError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise UnreadableError(f"is not valid Parquet ({error})") from None


def _reader_rows(reader: Reader, path: Path, place: Place) -> Iterator[Row]:
    content: object = None
    number = 0
    try:
        content = cast("object", reader(path))
        if isinstance(content, str | Mapping | Document):
            yield Row(place, content)
            return
        items = make_items(content, "it must give a text, a record, a table or an iterable of such")
        fixed = items.fixed
        for number, item in enumerate(items, 1):
            yield Row(place.at("record", number), item, fixed)
    except Exception as error:  # a custom reader may raise any error
        after = f" after record {number}" if number else ""
        reason = f"the reader failed{after}: {type(error).__name__}: {error}"
        yield Row(place, BadRow(reason, error))
    finally:
        close = getattr(content, "close", None)  # an open file, or a generator that holds one
        if callable(close):
            close()
