"""Bytes to text by one stated rule, whole or line by line, never more than was allowed.

A byte order mark decides (UTF-8, UTF-16, UTF-32); without one the text is UTF-8 or an error. Only
``encoding="detect"`` tries others: Windows-1252 where all bytes are defined in it, else Latin-1,
in which every byte is.
"""

import codecs
import io
import sys
from collections.abc import Iterator
from typing import BinaryIO, Self, cast

__all__ = ["DETECT", "Lines", "Refused", "TooLong", "check_encoding", "decoded", "whole"]

DETECT = "detect"

# The mark of UTF-32 begins with that of UTF-16, so it is tried first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONGEST_MARK = 4
_MARK = "\ufeff"
_CHUNK = 1 << 16
_BINARY = "holds a NUL, so it is no text; pass reader= for other formats, encoding= for UTF-16"


class Refused(ValueError):
    """The rest of a file cannot be read; the message is the reason."""


class TooLong(Refused):
    """A document is longer than was allowed."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(
            f"is longer than max_bytes={max_bytes}; pass a larger max_bytes if that is right"
        )


def check_encoding(encoding: str | None) -> None:
    """Raise unless `encoding` is None, "detect" or the name of a text encoding."""
    if encoding is None or encoding == DETECT:
        return
    if not isinstance(encoding, str):
        raise TypeError(f"encoding must be a string or None; got {encoding!r}.")
    try:
        b"\0\0\0\0".decode(encoding)  # of no bytes at all, any encoding will do
    except UnicodeDecodeError:
        pass
    except (LookupError, ValueError):
        raise ValueError(
            f"encoding must be the name of a text encoding, such as 'cp1252', or {DETECT!r}; got "
            f"{encoding!r}."
        ) from None


def whole(stream: BinaryIO, max_bytes: int) -> bytes:
    """Read a file to its end, unless that lies too far."""
    content = stream.read(min(max_bytes, sys.maxsize - 1) + 1)
    if len(content) > max_bytes:
        raise TooLong(max_bytes)
    return content


def decoded(content: bytes, encoding: str | None) -> str:
    """Return the text of a whole file, with LF for every end of line."""
    name = _by_mark(content[:_LONGEST_MARK], encoding)
    if name is None:
        guess = _Guess()
        guess.feed(content)
        name = guess.encoding()
    try:
        text = content.decode(name)
    except UnicodeDecodeError as error:
        raise Refused(_not_valid(name, f"byte {error.start}", content[error.start])) from None
    except ValueError as error:  # other errors of encodings such as punycode
        raise Refused(f"is not valid {name}: {error}") from None
    if "\0" in text:
        raise Refused(_BINARY)
    return text.removeprefix(_MARK).replace("\r\n", "\n").replace("\r", "\n")


class Lines:
    r"""The lines of a file, with their ends; one record may take several.

    Bytes that are not valid spoil their line only. `begin` is called before each record: from
    there on lengths are added up, the first problem is kept, and so are all lines but the first,
    for `resume`.

    Parameters
    ----------
    stream : binary file
        Read from its beginning, and closed by leaving the context.
    encoding : str or None
        As in `read`.
    max_bytes : int
        The most characters of a record.
    newline : str
        As in `open`: "\n" ends lines at LF alone, "" also at CR and CRLF.

    Attributes
    ----------
    max_bytes : int
        As given.
    number : int
        Of the last line, counted from 1.
    problem : str or None
        The first one since `begin`.
    quotes : bool
        Whether there were quotation marks since `begin`.
    """

    def __init__(
        self, stream: BinaryIO, encoding: str | None, max_bytes: int, newline: str
    ) -> None:
        # GzipFile and BytesIO lack nothing of a raw file that a buffer asks for.
        buffer = io.BufferedReader(cast("io.RawIOBase", stream), _CHUNK)
        name = _by_mark(buffer.peek(_LONGEST_MARK)[:_LONGEST_MARK], encoding)
        if name is None:
            guess = _Guess()
            while chunk := buffer.read(_CHUNK):
                guess.feed(chunk)
            name = guess.encoding()
            buffer.seek(0)
        self._encoding = name
        self._file = io.TextIOWrapper(buffer, name, errors="surrogateescape", newline=newline)
        self._newline = newline
        self._ends = ("\n", "\r") if newline == "" else ("\n",)
        self._last = "\n"
        self._used = 0
        self._first = 1
        self._alone = 0  # a record that begins before this line must end in its own
        self._kept: io.StringIO | None = None  # the lines of this record, without the first
        self._again: io.StringIO | None = None  # lines to be read before those of the file
        self.max_bytes = max_bytes
        self.number = 0
        self.problem: str | None = None
        self.quotes = False

    def begin(self) -> None:
        """Begin a record."""
        self._used = 0
        self._first = self.number + 1
        self._kept = None
        self.problem = None
        self.quotes = False

    def resume(self) -> None:
        """Go on behind the first line since `begin`, because the record that it began is none.

        Where that record was given up (in the line that was last), any other would be that runs
        into it from a line in between, for it would go the same way from there. Each line in
        between is therefore a record of its own or none: to a record that goes on behind it, the
        lines seem to end. So no line is read more than twice, whatever the file holds.
        """
        if self._kept is not None:
            self._alone = self.number
            self.number = self._first
            self._again, self._kept = self._kept, None
            self._again.seek(0)
            return
        while self._last and not self._last.endswith(self._ends):  # it was too long
            self._last = self._file.readline(_CHUNK)

    def others(self) -> Iterator[str]:
        """Give the lines since `begin` once more, without the first."""
        if self._kept is not None:
            yield from io.StringIO(self._kept.getvalue(), newline=self._newline)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        if self._used and self.number < self._alone:
            raise StopIteration
        try:
            line = self._line()
        except UnicodeError as error:  # what the encoding has no escape for
            raise Refused(f"is not valid {self._encoding}: {error}") from None
        if not line:
            raise StopIteration
        self.number += 1
        if self._used:
            if self._kept is None:
                self._kept = io.StringIO(newline=self._newline)
            self._kept.write(line)
        self._used += len(line)
        self.quotes = self.quotes or '"' in line
        if self._used > self.max_bytes:
            raise TooLong(self.max_bytes)
        if self.number == 1:
            line = line.removeprefix(_MARK)
        if self.problem is None:
            self.problem = self._problem_of(line)
        return line

    def _line(self) -> str:
        limit = min(self.max_bytes - self._used, sys.maxsize - 1) + 1
        line = ""
        if self._again is not None:
            line = self._again.readline(limit)
            if not line.endswith(self._ends):  # no more of them, or the last was cut short
                self._again = None
        if self._again is None:
            line += self._file.readline(limit - len(line))
            if line == "\n" and self._last.endswith("\r"):  # CRLF, cut in two by the limit
                line = self._file.readline(limit)
        self._last = line
        return line

    def _problem_of(self, line: str) -> str | None:
        try:
            line.encode()
        except UnicodeEncodeError as error:
            before = len(line[: error.start].encode(self._encoding, "surrogateescape"))
            byte = ord(line[error.start]) & 0xFF  # where surrogateescape hides it
            return _not_valid(self._encoding, f"byte {before} of the line", byte)
        return _BINARY if "\0" in line else None


class _Guess:
    """The rule of "detect", fed in pieces."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._utf8 = self._cp1252 = True

    def feed(self, chunk: bytes) -> None:
        """Take the next piece into account."""
        if self._utf8:
            try:
                self._decoder.decode(chunk)
            except UnicodeDecodeError:
                self._utf8 = False
        if self._cp1252:
            try:
                chunk.decode("cp1252")
            except UnicodeDecodeError:
                self._cp1252 = False

    def encoding(self) -> str:
        """Return the first encoding that all pieces are valid in."""
        if self._utf8:
            try:
                self._decoder.decode(b"", final=True)
                return "utf-8"
            except UnicodeDecodeError:
                pass
        return "cp1252" if self._cp1252 else "latin-1"


def _by_mark(start: bytes, encoding: str | None) -> str | None:
    """Return the encoding that was named, or that the first bytes tell; None is for a guess."""
    if encoding is not None and encoding != DETECT:
        return encoding
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    return None if encoding == DETECT else "utf-8"


def _not_valid(encoding: str, where: str, byte: int) -> str:
    reason = f"is not valid {encoding} ({where} is 0x{byte:02x})"
    if encoding != "utf-8":
        return reason
    return (
        f"{reason}; name its encoding if you know it, as in encoding='cp1252' or 'latin-1', or "
        f"let encoding={DETECT!r} choose"
    )
