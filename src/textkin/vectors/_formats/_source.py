"""A file to read from, gzipped or not, and what keeps a small one from becoming a huge one."""

import gzip
import io
import os
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = [
    "BLOCK",
    "MAX_RATIO",
    "Blocks",
    "Source",
    "check_inflation",
    "fill",
    "inside",
    "room_for_words",
]

BLOCK = 32 * 2**20
"""Bytes read at a time; no line, and no entry, may be longer."""

MAX_RATIO = 100
"""A compressed file may grow by this factor; vectors grow three or four times."""

_FREE = 64 * 2**20  # below this nobody is harmed, and small files may be very regular
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Source:
    """A regular file, opened by its path each time."""

    path: Path
    size: int
    gzipped: bool

    @classmethod
    def of(cls, path: Path) -> "Source":
        """Look at a path; a folder, a pipe or a device is refused."""
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{path} is no ordinary file; copy it to one first.")
        with path.open("rb") as file:
            gzipped = file.read(2) == _GZIP
        return cls(path, found.st_size, gzipped)

    def __str__(self) -> str:
        return str(self.path)

    @contextmanager
    def open(self) -> Iterator["Stream"]:
        """Open the file as the bytes that it stands for."""
        with self.path.open("rb", buffering=0) as raw, Stream(self, raw) as stream:
            yield stream

    @contextmanager
    def plain_file(self) -> Iterator[IO[bytes]]:
        """Open the file for mapping; a gzipped one is unpacked to a file without a name first."""
        if not self.gzipped:
            with self.path.open("rb") as file:
                yield file
            return
        with tempfile.TemporaryFile() as unpacked, self.open() as stream:
            buffer = np.empty(2**20, dtype=np.uint8)
            while read := fill(stream, buffer, 0):
                unpacked.write(buffer[:read].data)
            unpacked.flush()
            unpacked.seek(0)
            yield unpacked


class Stream(io.RawIOBase):
    """The bytes of a source, unpacked; stops where a gzip bomb shows itself."""

    def __init__(self, source: Source, raw: io.FileIO) -> None:
        self._source = source
        self._raw = raw
        self._file: io.FileIO | gzip.GzipFile = raw
        if source.gzipped:
            self._file = gzip.GzipFile(fileobj=raw, mode="rb")
        self._read = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read what comes next, up to the size of the buffer."""
        try:
            count = self._file.readinto(buffer) or 0
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(
                f"{self._source} is damaged: its gzip data end too early or are not sound "
                f"({error}). Download or copy it again."
            ) from error
        self._read += count
        if self._source.gzipped:
            check_inflation(str(self._source), self._source.size, self._read)
        return count

    def close(self) -> None:
        """Close what unpacks; a finaliser that did it later could swallow Ctrl-C."""
        if self._file is not self._raw:
            self._file.close()
        super().close()

    def position(self) -> int:
        """Return how far into the file on disk the reading is."""
        return self._raw.tell()


def check_inflation(name: str, packed: int, unpacked: int) -> None:
    """Raise if compressed data grow as no vectors do."""
    if unpacked > max(_FREE, MAX_RATIO * packed):
        raise ValueError(
            f"{name} grows to more than {MAX_RATIO} times its {packed:,} bytes when unpacked; "
            "word vectors do not. If you trust it, unpack it yourself first."
        )


def fill(stream: io.RawIOBase, buffer: NDArray[np.uint8], start: int) -> int:
    """Read until the buffer is full from `start` on, or the stream ends; return where it is."""
    view = buffer.data
    while start < len(view):
        count = stream.readinto(view[start:])
        if not count:
            break
        start += count
    return start


class Blocks:
    """A stream in blocks; what a block holds beyond its last whole entry begins the next one."""

    def __init__(self, stream: Stream, skip: int, *, first: int = BLOCK) -> None:
        self._stream = stream
        self._buffer = np.empty(BLOCK, dtype=np.uint8)  # untouched memory is not taken
        self._start, self._end = skip, 0
        self._size = first
        self.final = False

    def read(self) -> NDArray[np.uint8]:
        """Return the next block; `final` says whether it is the last."""
        left = self._end - self._start
        if self._start and self._end:
            self._buffer[:left] = self._buffer[self._start : self._end].copy()
            self._start, self._end = 0, left
        window = self._buffer[: self._size]
        self._end = fill(self._stream, window, self._end)
        self.final = self._end < len(window)
        return window[self._start : self._end]

    def rest(self) -> bytes:
        """Return what comes next, a few bytes of it, when everything read was used."""
        self.final = False
        return self.read()[:64].tobytes()

    def used(self, count: int) -> bool:
        """Say how much of the block is done with; False if the next one cannot bring more."""
        self._start += count
        full = self._size == BLOCK
        self._size = min(BLOCK, 2 * self._size)
        return count > 0 or not full


def room_for_words(count: int) -> int:
    """Return how many bytes a list of so many words may take: far more than words do."""
    return 64 * 2**20 + 1024 * count


def inside(folder: Path, name: str) -> Path | None:
    """Return a file of a folder, if it is there; a link that leaves the folder is not.

    The cache of the Hugging Face hub is an exception: its snapshots link to ``../../blobs``.
    """
    file = folder / name
    if not file.is_file():
        return None
    homes = [os.path.realpath(folder)]
    if os.path.basename(os.path.dirname(homes[0])) == "snapshots":
        homes.append(os.path.join(os.path.dirname(os.path.dirname(homes[0])), "blobs"))
    real = os.path.realpath(file)
    return file if any(os.path.commonpath([real, home]) == home for home in homes) else None
