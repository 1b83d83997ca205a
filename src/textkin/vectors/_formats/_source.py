"""Vector files, plain or gzipped, with limits against decompression bombs."""

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
    "fill_buffer",
    "find_inside",
    "max_words_size",
]

BLOCK = 32 * 2**20
"""Number of bytes read at a time; the maximum length of a line or an entry."""

MAX_RATIO = 100
"""Maximum expansion factor of a compressed file; vectors expand three or four times."""

_FREE = 64 * 2**20  # size that is always allowed, because small files can compress very well
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Source:
    """Path of a vector file, plain or gzipped, that can be opened repeatedly."""

    path: Path
    size: int
    gzipped: bool

    @classmethod
    def of(cls, path: Path) -> "Source":
        """Create a source from a path; raise for folders, pipes, and devices."""
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{path} must be a regular file; copy it to one first.")
        with path.open("rb") as file:
            gzipped = file.read(2) == _GZIP
        return cls(path, found.st_size, gzipped)

    def __str__(self) -> str:
        return str(self.path)

    @contextmanager
    def open(self) -> Iterator["Stream"]:
        """Open the file as a stream of decompressed bytes."""
        with self.path.open("rb", buffering=0) as raw, Stream(self, raw) as stream:
            yield stream

    @contextmanager
    def plain_file(self) -> Iterator[IO[bytes]]:
        """Open the file for memory mapping; a gzipped file is decompressed first."""
        if not self.gzipped:
            with self.path.open("rb") as file:
                yield file
            return
        with tempfile.TemporaryFile() as unpacked, self.open() as stream:
            buffer = np.empty(2**20, dtype=np.uint8)
            while read := fill_buffer(stream, buffer, 0):
                unpacked.write(buffer[:read].data)
            unpacked.flush()
            unpacked.seek(0)
            yield unpacked


class Stream(io.RawIOBase):
    """Stream of a file's decompressed bytes, which raises for a decompression bomb."""

    def __init__(self, source: Source, raw: io.FileIO) -> None:
        self._source = source
        self._raw = raw
        self._file: io.FileIO | gzip.GzipFile = raw
        if source.gzipped:
            self._file = gzip.GzipFile(fileobj=raw, mode="rb")
        self._read = 0

    def readable(self) -> bool:
        """Return True, because the stream can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read the next decompressed bytes into a buffer; return their number."""
        try:
            count = self._file.readinto(buffer) or 0
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(
                f"{self._source} is corrupt: its gzip data are truncated or invalid "
                f"({error}). Download or copy it again."
            ) from error
        self._read += count
        if self._source.gzipped:
            check_inflation(str(self._source), self._source.size, self._read)
        return count

    def close(self) -> None:
        """Close the file and its decompressor."""
        if self._file is not self._raw:
            self._file.close()
        super().close()

    def position(self) -> int:
        """Return the position in the compressed file, for progress."""
        return self._raw.tell()


def check_inflation(name: str, packed: int, unpacked: int) -> None:
    """Raise if data expand more by decompression than vector files can."""
    if unpacked > max(_FREE, MAX_RATIO * packed):
        raise ValueError(
            f"{name} expands to more than {MAX_RATIO} times its {packed:,} bytes, which word "
            "vectors never do. If you trust it, unpack it yourself first."
        )


def fill_buffer(stream: io.RawIOBase, buffer: NDArray[np.uint8], start: int) -> int:
    """Read from a stream until a buffer is full; return the end of the filled part."""
    view = buffer.data
    while start < len(view):
        count = stream.readinto(view[start:])
        if not count:
            break
        start += count
    return start


class Blocks:
    """Stream as large blocks; an entry cut at the end of a block moves to the next."""

    def __init__(self, stream: Stream, skip: int, *, first: int = BLOCK) -> None:
        self._stream = stream
        # The system allocates memory only when it is written.
        self._buffer = np.empty(BLOCK, dtype=np.uint8)
        self._start, self._end = skip, 0
        self._size = first
        self.final = False

    def read(self) -> NDArray[np.uint8]:
        """Return the next block of bytes, and set `final` if it is the last."""
        left = self._end - self._start
        if self._start and self._end:
            self._buffer[:left] = self._buffer[self._start : self._end].copy()
            self._start, self._end = 0, left
        window = self._buffer[: self._size]
        self._end = fill_buffer(self._stream, window, self._end)
        self.final = self._end < len(window)
        return window[self._start : self._end]

    def rest(self) -> bytes:
        """Return up to 64 of the bytes that have not been marked as used."""
        self.final = False
        return self.read()[:64].tobytes()

    def used(self, count: int) -> bool:
        """Mark bytes of the block as used; return False if an entry is larger than a block."""
        self._start += count
        full = self._size == BLOCK
        self._size = min(BLOCK, 2 * self._size)
        return count > 0 or not full


def max_words_size(count: int) -> int:
    """Return the largest plausible size in bytes of a list of `count` words."""
    return 64 * 2**20 + 1024 * count


def find_inside(folder: Path, name: str) -> Path | None:
    """Return the path of a file in a folder, or None if missing or linked to the outside.

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
