"""The rows of one file, whatever its format; the ending of its name tells which.

Nothing that a file says makes it open another. A row that cannot be read is handed over as `Bad`,
and reading goes on behind it where the format has a next line to go on from.
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

from textkin.text.reading._document import Document
from textkin.text.reading._encoding import Lines, Refused, TooLong, decoded, whole
from textkin.text.reading._items import items_of
from textkin.text.reading._rows import Bad, Meter, Place, Row
from textkin.text.reading._tables import checked_names, table_rows

__all__ = ["FileOptions", "Reader", "file_lines", "file_rows", "is_table"]

Reader: TypeAlias = Callable[[Path], str | Document | Mapping[str, Any] | Iterable[Any]]
"""Reads a file of another format: gives its text, its record, a table or an iterable of such."""

# Rows of Parquet held at a time: few, since a file of a few bytes can repeat one long value.
_BATCH = 128

_JSON_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How files are read; see `read`."""

    encoding: str | None = None
    quoted: bool | None = None
    delimiter: str | None = None
    max_bytes: int = 1 << 26
    reader: Reader | None = None


def file_rows(
    path: Path, name: str, options: FileOptions, meter: Meter, before: int = 0
) -> Iterator[Row]:
    r"""Read one file.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        What ids are made of; bytes that are not UTF-8 stand in them as ``\xe9``.
    options : FileOptions
        How to read it.
    meter : Meter
        Gets the bytes read, after the `before` bytes of the files that came first.
    before : int, default=0
        See `meter`.

    Yields
    ------
    Row
        In the order of the file.
    """
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    place = Place(str(path), name)
    return _guarded(path, place, lambda file: _rows(file, path, place, options), meter, before)


def file_lines(path: Path, encoding: str | None = None, max_bytes: int = 1 << 20) -> Iterator[Row]:
    """Give the lines of a text file, whatever its ending (".gz": decompressed), without blank ones.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str or None, default=None
        As in `read`.
    max_bytes : int, default=1048576
        The most characters of a line; a longer one is `Bad`.

    Yields
    ------
    Row
        A line, with its end, or `Bad`.
    """
    place = Place(str(path), path.name)

    def lines(file: BinaryIO) -> Iterator[Row]:
        unpacked = _unpacked(file, _ending(path)[1])
        return _lines(unpacked, place, FileOptions(encoding, max_bytes=max_bytes))

    return _guarded(path, place, lines, Meter(None, None))


def _guarded(
    path: Path,
    place: Place,
    rows: Callable[[BinaryIO], Iterator[Row]],
    meter: Meter,
    before: int = 0,
) -> Iterator[Row]:
    """Open a file and give its rows; what goes wrong with the file is a row, too."""
    last = place
    try:
        with _opened(path) as file:
            for row in rows(file):
                last = row.place
                yield row
                if meter.due():
                    meter.reached(before + file.tell())
                    meter.tell()
    except Refused as error:
        yield Row(place, Bad(f"{error}{_lost(last)}"))
    except (OSError, EOFError, zlib.error) as error:  # the last two: gzip that is cut or damaged
        reason = getattr(error, "strerror", None) or error
        yield Row(place, Bad(f"cannot be read: {reason}{_lost(last)}", error))


def _lost(last: Place) -> str:
    """Say what is not read of a file that was given up after some of its rows."""
    return f"; what follows {last.unit} {last.number} is not read" if last.unit else ""


def is_table(path: Path) -> bool:
    """Return whether a file is read as CSV or TSV."""
    return _ending(path)[0] in (".csv", ".tsv", ".tab")


def _opened(path: Path) -> BinaryIO:
    """Open an ordinary file; a pipe would wait for ever, and a device do who knows what."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Refused("is a folder" if path.is_dir() else "is no ordinary file")
    # Non-blocking, and looked at again, in case that a pipe has taken the file's place meanwhile.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Refused("is no ordinary file")
    return os.fdopen(handle, "rb")


def _rows(file: BinaryIO, path: Path, place: Place, options: FileOptions) -> Iterator[Row]:
    if options.reader is not None:
        return _read_by(options.reader, path, place)
    ending, packed = _ending(path)
    file = _unpacked(file, packed)
    match ending:
        case ".parquet" | ".pq" if not packed:
            return _parquet(file, place)
        case ".jsonl" | ".ndjson":
            return _json_lines(file, place, options)
        case ".json":
            return _json(file, place, options)
        case ".csv":
            return _table(file, place, options, ",", options.quoted is not False)
        case ".tsv" | ".tab":
            return _table(file, place, options, "\t", options.quoted is True)
    return _text(file, place, options)


def _unpacked(file: BinaryIO, packed: bool) -> BinaryIO:
    return cast("BinaryIO", gzip.GzipFile(fileobj=file)) if packed else file


def _ending(path: Path) -> tuple[str, bool]:
    """Return the ending that tells the format, and whether there was ".gz" behind it."""
    endings = [ending.lower() for ending in PurePath(path.name).suffixes]
    packed = endings[-1:] == [".gz"]
    if packed:
        endings.pop()
    return endings[-1] if endings else "", packed


def _text(file: BinaryIO, place: Place, options: FileOptions) -> Iterator[Row]:
    yield Row(place, decoded(whole(file, options.max_bytes), options.encoding))


def _json(file: BinaryIO, place: Place, options: FileOptions) -> Iterator[Row]:
    text = decoded(whole(file, options.max_bytes), options.encoding)
    try:
        start = _behind_space(text, 0)
        if not text.startswith("[", start):
            yield Row(place, json.loads(text))
            return
        for number, item in enumerate(_listed(text, start + 1), 1):
            yield Row(place.at("record", number), item)
    except (ValueError, RecursionError) as error:
        raise Refused(f"is not valid JSON ({error}); JSON Lines must be named .jsonl") from None


def _listed(text: str, at: int) -> Iterator[object]:
    """Decode the items of a list one by one: all at once may take 30 times the text's memory."""
    decode = json.JSONDecoder().raw_decode
    at = _behind_space(text, at)
    mark = "" if text.startswith("]", at) else ","
    while mark == ",":
        item, at = decode(text, at)
        yield item
        at = _behind_space(text, at)
        mark = text[at : at + 1]
        if mark == ",":
            at = _behind_space(text, at + 1)
        elif mark != "]":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    at = _behind_space(text, at + 1)
    if at < len(text):
        raise json.JSONDecodeError("Extra data", text, at)


def _behind_space(text: str, at: int) -> int:
    found = _JSON_SPACE.match(text, at)
    assert found is not None  # no space is some, too
    return found.end()


def _json_lines(file: BinaryIO, place: Place, options: FileOptions) -> Iterator[Row]:
    for row in _lines(file, place, options):
        yield row if isinstance(row.content, Bad) else Row(row.place, _parsed(str(row.content)))


def _lines(file: BinaryIO, place: Place, options: FileOptions) -> Iterator[Row]:
    """Give each line that is not blank."""
    with Lines(file, options.encoding, options.max_bytes, newline="\n") as lines:
        while True:
            lines.begin()
            try:
                line = next(lines, None)
            except TooLong as error:
                yield Row(place.at("line", lines.number), Bad(str(error)))
                lines.resume()  # only now: it may be long, and nobody may want what follows
                continue
            if line is None:
                return
            if lines.problem is not None:
                yield Row(place.at("line", lines.number), Bad(lines.problem))
            elif line.strip():
                yield Row(place.at("line", lines.number), line)


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return Bad(f"is not valid JSON ({error})")


def _table(
    file: BinaryIO, place: Place, options: FileOptions, delimiter: str, quoted: bool
) -> Iterator[Row]:
    with Lines(file, options.encoding, options.max_bytes, newline="") as lines:
        yield from table_rows(lines, place, options.delimiter or delimiter, quoted)


def _parquet(file: BinaryIO, place: Place) -> Iterator[Row]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "Parquet files are read with pyarrow; install it: pip install 'textkin[parquet]'"
        ) from error
    number = 0
    try:
        table = parquet.ParquetFile(file)
        names = checked_names(table.schema_arrow.names)
        for batch in table.iter_batches(batch_size=_BATCH, use_threads=False):
            columns = [column.to_pylist() for column in batch.columns]
            for cells in zip(*columns, strict=True):
                number += 1
                record = dict(zip(names, cells, strict=True))
                yield Row(place.at("row", number), record, fixed=True)
    except Refused:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise Refused(f"is not valid Parquet ({error})") from None


def _read_by(reader: Reader, path: Path, place: Place) -> Iterator[Row]:
    content: object = None
    number = 0
    try:
        content = cast("object", reader(path))
        if isinstance(content, str | Mapping | Document):
            yield Row(place, content)
            return
        items = items_of(content, "it must give a text, a record, a table or an iterable of such")
        fixed = items.fixed
        for number, item in enumerate(items, 1):
            yield Row(place.at("record", number), item, fixed)
    except Exception as error:  # whatever a stranger's function raises is about this file
        after = f" after record {number}" if number else ""
        reason = f"the reader failed{after}: {type(error).__name__}: {error}"
        yield Row(place, Bad(reason, error))
    finally:
        close = getattr(content, "close", None)  # an open file, or a generator that holds one
        if callable(close):
            close()
