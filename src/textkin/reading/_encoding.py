"""Decoding of files to text, as a whole or by line, with a size limit.

A byte order mark determines the encoding (UTF-8, UTF-16, UTF-32). Without a mark, the text must be
UTF-8. Only ``encoding="detect"`` tries others: Windows-1252, then Latin-1, in which every byte is
valid.
"""

import codecs
import io
import sys
from collections.abc import Iterator
from typing import BinaryIO, Self, cast

from textkin.exceptions import ParameterError, ParameterTypeError

__all__ = [
    "DETECT",
    "LineReader",
    "TooLongError",
    "UnreadableError",
    "check_encoding",
    "decode_text",
    "read_whole",
]

DETECT = "detect"

# The mark of UTF-32 starts with the mark of UTF-16, so it comes first.
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
_BINARY = "contains a NUL, so it is not text;"
_BINARY_HINT = "pass `reader` for other formats, `encoding` for UTF-16"


class UnreadableError(ValueError):
    """Error: a record, or the rest of a file, cannot be read.

    Parameters
    ----------
    reason : str
        Reason, without a period at its end.
    hint : str, default=""
        How to fix it, with code in backticks.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason} {hint}" if hint else reason)
        self.hint = hint


class TooLongError(UnreadableError):
    """Error: a document is longer than `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(
            f"is longer than the limit of {max_bytes};",
            "pass a larger `max_bytes` if the size is right",
        )


def check_encoding(encoding: str | None) -> None:
    """Raise if `encoding` is not None, "detect", or the name of a text encoding."""
    if encoding is None or encoding == DETECT:
        return
    if not isinstance(encoding, str):
        raise ParameterTypeError("encoding", "a string or None", repr(encoding))
    try:
        b"\0\0\0\0".decode(encoding)  # any codec accepts zero bytes
    except UnicodeDecodeError:
        pass
    except (LookupError, ValueError):
        raise ParameterError(
            "encoding",
            f"the name of a text encoding, such as 'cp1252', or {DETECT!r}",
            repr(encoding),
        ) from None


def read_whole(stream: BinaryIO, max_bytes: int) -> bytes:
    """Return all bytes of a file; raise `TooLongError` above `max_bytes`."""
    content = stream.read(min(max_bytes, sys.maxsize - 1) + 1)
    if len(content) > max_bytes:
        raise TooLongError(max_bytes)
    return content


def decode_text(content: bytes, encoding: str | None) -> str:
    """Decode the bytes of a file to text, with LF line ends."""
    name = _encoding_of_mark(content[:_LONGEST_MARK], encoding)
    if name is None:
        guess = _EncodingGuess()
        guess.feed(content)
        name = guess.encoding()
    try:
        text = content.decode(name)
    except UnicodeDecodeError as error:
        raise _invalid_bytes(name, f"byte {error.start}", content[error.start]) from None
    except ValueError as error:  # other errors of encodings such as punycode
        raise UnreadableError(f"is not valid {name}: {error}") from None
    if "\0" in text:
        raise UnreadableError(_BINARY, _BINARY_HINT)
    return text.removeprefix(_MARK).replace("\r\n", "\n").replace("\r", "\n")


class LineReader:
    r"""Iterator over the decoded lines of a file, which can go back within a record.

    Invalid bytes affect only their line. Call `begin` before each record: it resets the length and
    the first problem, and starts to store all lines after the first one for `resume`.

    Parameters
    ----------
    stream : binary file
        Stream at its start; closed when the context ends.
    encoding : str or None
        Encoding, as in `read`.
    max_bytes : int
        Maximum number of characters in a record.
    newline : str
        Line ends, as in `open`: "\n" ends lines only at LF, "" also at CR and CRLF.

    Attributes
    ----------
    max_bytes : int
        Maximum number of characters in a record.
    number : int
        Number of the last line, counted from 1.
    problem : UnreadableError or None
        First problem since `begin`.
    quotes : bool
        True if there were quotation marks since `begin`.
    """

    def __init__(
        self, stream: BinaryIO, encoding: str | None, max_bytes: int, newline: str
    ) -> None:
        # GzipFile and BytesIO have all methods of a raw file that the buffer needs.
        buffer = io.BufferedReader(cast("io.RawIOBase", stream), _CHUNK)
        name = _encoding_of_mark(buffer.peek(_LONGEST_MARK)[:_LONGEST_MARK], encoding)
        if name is None:
            guess = _EncodingGuess()
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
        self._alone = 0  # a record that starts before this line must end on the same line
        self._kept: io.StringIO | None = None  # lines of this record, without the first
        self._again: io.StringIO | None = None  # lines to read before the rest of the file
        self.max_bytes = max_bytes
        self.number = 0
        self.problem: UnreadableError | None = None
        self.quotes = False

    def begin(self) -> None:
        """Mark the start of a record, to which `resume` can go back."""
        self._used = 0
        self._first = self.number + 1
        self._kept = None
        self.problem = None
        self.quotes = False

    def resume(self) -> None:
        """Go back to the second line of the current record, because the record is invalid.

        A record that starts on one of the later lines and reaches the last line would fail there
        too. Each of these lines is therefore a complete record or invalid: a record that
        continues past its line sees the end of the lines. Therefore no line is read more than
        twice.
        """
        if self._kept is not None:
            self._alone = self.number
            self.number = self._first
            self._again, self._kept = self._kept, None
            self._again.seek(0)
            return
        while self._last and not self._last.endswith(self._ends):  # the line was too long
            self._last = self._file.readline(_CHUNK)

    def later_lines(self) -> Iterator[str]:
        """Yield the lines of the current record again, except the first."""
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
            line = self._read_line()
        except UnicodeError as error:  # bytes without an escape in this encoding
            raise UnreadableError(f"is not valid {self._encoding}: {error}") from None
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
            raise TooLongError(self.max_bytes)
        if self.number == 1:
            line = line.removeprefix(_MARK)
        if self.problem is None:
            self.problem = self._find_problem(line)
        return line

    def _read_line(self) -> str:
        limit = min(self.max_bytes - self._used, sys.maxsize - 1) + 1
        line = ""
        if self._again is not None:
            line = self._again.readline(limit)
            if not line.endswith(self._ends):  # the last stored line, or a partial one
                self._again = None
        if self._again is None:
            line += self._file.readline(limit - len(line))
            if line == "\n" and self._last.endswith("\r"):  # CRLF, split by the limit
                line = self._file.readline(limit)
        self._last = line
        return line

    def _find_problem(self, line: str) -> UnreadableError | None:
        try:
            line.encode()
        except UnicodeEncodeError as error:
            before = len(line[: error.start].encode(self._encoding, "surrogateescape"))
            byte = ord(line[error.start]) & 0xFF  # the byte that surrogateescape encodes
            return _invalid_bytes(self._encoding, f"byte {before} of the line", byte)
        return UnreadableError(_BINARY, _BINARY_HINT) if "\0" in line else None


class _EncodingGuess:
    """Detector of a file's encoding from successive pieces of bytes."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._utf8 = self._cp1252 = True

    def feed(self, chunk: bytes) -> None:
        """Exclude the encodings in which the next piece of bytes is invalid."""
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
        """Return the first encoding in which all pieces are valid."""
        if self._utf8:
            try:
                self._decoder.decode(b"", final=True)
                return "utf-8"
            except UnicodeDecodeError:
                pass
        return "cp1252" if self._cp1252 else "latin-1"


def _encoding_of_mark(start: bytes, encoding: str | None) -> str | None:
    """Return the given encoding, or the encoding of a byte order mark, or None to detect it."""
    if encoding is not None and encoding != DETECT:
        return encoding
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    return None if encoding == DETECT else "utf-8"


def _invalid_bytes(encoding: str, where: str, byte: int) -> UnreadableError:
    reason = f"is not valid {encoding} ({where} is 0x{byte:02x})"
    if encoding != "utf-8":
        return UnreadableError(reason)
    return UnreadableError(
        f"{reason};",
        "pass its encoding if you know it, such as `encoding='cp1252'` or `encoding='latin-1'`, or "
        f"pass `encoding={DETECT!r}`",
    )
