"""A converted copy of a large vector file, so that opening it again is a matter of milliseconds.

One file for each source: ``glove.txt.textkin`` beside ``glove.txt``, or in the user's cache folder
where that one cannot be written to. It is a safetensors file with the table, the words and, in
its metadata, what it was made from. Written under another name and renamed, so that readers
and several writers never see a part of one.

It counts only while the source is the file that was read. Size, both times and the inode must be
the same; the time of the last change of the inode cannot be set by a program, so neither an edited
file nor a copy that came in an archive from elsewhere fits. A hash of 64 samples of the content
guards against clocks too coarse to tell two writes apart.
"""

import hashlib
import json
import math
import os
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

import textkin
from textkin._typing import Float32Array
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._safetensors import WORD_ENDS, WORDS, packed_names, read_tensors
from textkin.vectors._names import Names, pack_words
from textkin.vectors._repairs import Repairs

__all__ = [
    "CacheWriteError",
    "CacheWriter",
    "Loaded",
    "cache_of",
    "cached_files",
    "open_cached",
    "source_key",
    "user_cache_folder",
]

SUFFIX = ".textkin"
SMALLEST = 8 * 2**20
"""Smaller files are read again each time, which takes a few milliseconds too."""

_VERSION = 1
_DATA_START = 2**16  # room for the header, which is written last; the table begins on a page
_SAMPLES = 64
_SAMPLE_BYTES = 4096
_STALE = 24 * 3600  # seconds after which an unfinished file of a killed process is removed
_METADATA = "textkin.vector-cache"


class CacheWriteError(OSError):
    """The cache could not be written; the vectors themselves are well."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A table as it comes from a file."""

    names: Names
    matrix: Float32Array
    repairs: Repairs


def user_cache_folder() -> Path:
    """Return where caches go that cannot lie beside their source.

    Returns
    -------
    Path
        ``textkin/vectors`` in ``$XDG_CACHE_HOME``, or in ``~/.cache``.
    """
    home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(home) if os.path.isabs(home) else Path.home() / ".cache"
    return base / "textkin" / "vectors"


def cached_files() -> list[Path]:
    """Return the caches in the user's cache folder; any of them may be deleted.

    Returns
    -------
    list of Path
    """
    folder = user_cache_folder()
    return sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []


def cache_of(path: Path) -> Path | None:
    """Return where the cache of a vector file lies, if it has one; it may be deleted.

    Parameters
    ----------
    path : Path
        The vector file.

    Returns
    -------
    Path or None
    """
    return next((place for place in _places(path) if place.is_file()), None)


def source_key(path: Path, format: str, options: Options) -> dict[str, Any]:
    """Return what a cache must have been made from to stand for a file."""
    with path.open("rb", buffering=0) as file:
        stat = os.fstat(file.fileno())
        digest = hashlib.blake2b(digest_size=16)
        last = max(0, stat.st_size - _SAMPLE_BYTES)
        for k in range(_SAMPLES):
            digest.update(os.pread(file.fileno(), _SAMPLE_BYTES, last * k // (_SAMPLES - 1)))
    return {
        "version": _VERSION,
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "ctime_ns": stat.st_ctime_ns,
        "inode": stat.st_ino,
        "samples": digest.hexdigest(),
        "format": format,
        "errors": options.errors,
        "encoding_errors": options.encoding_errors,
        "duplicates": options.duplicates,
    }


def open_cached(path: Path, key: dict[str, Any]) -> Loaded | None:
    """Return the table of a cache that stands for a file, if there is one."""
    for place in _places(path):
        with suppress(OSError, ValueError, KeyError, TypeError), place.open("rb") as file:
            found = _read(file, place, key)
            if found is not None:
                return found
    return None


def _read(file: IO[bytes], place: Path, key: dict[str, Any]) -> Loaded | None:
    found = read_tensors(file, str(place))
    about = json.loads(found.metadata.get(_METADATA, "{}"))
    if not isinstance(about, dict) or about.get("source") != key:
        return None
    names = packed_names(found)
    table = found.tensors["vectors"]
    if table.dtype != "F32" or len(table.shape) != 2 or table.shape[0] != len(names):
        return None
    if 0 in table.shape:
        return None
    matrix = found.numbers("vectors")
    return Loaded(names, matrix, Repairs(**about["repairs"]))


class CacheWriter:
    """Takes rows, and keeps them in a cache once all are there; a context manager.

    Any trouble with the disk is a `CacheWriteError`, after which nothing is left behind.
    """

    def __init__(self, path: Path, key: dict[str, Any], format: str, options: Options) -> None:
        self._path = path
        self._key = key
        self._asked = (format, options)
        self._rows = 0
        self._place, self._temporary, self._file = self._begin()

    def __enter__(self) -> "CacheWriter":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._temporary.unlink()

    def append(self, rows: Float32Array) -> None:
        """Write the next rows."""
        try:
            self._file.write(np.ascontiguousarray(rows).data)
        except OSError as error:
            raise CacheWriteError(str(error)) from error
        self._rows += len(rows)

    def finish(self, words: list[str], dimension: int, repairs: Repairs) -> Loaded | None:
        """Write the words and the header, and give the file its name; return the table, mapped.

        None if the source changed in the meantime: then what was read may be a mixture.
        """
        if source_key(self._path, *self._asked) != self._key:
            return None
        raw, ends = pack_words(words)
        about = {
            "source": self._key,
            "path": str(self._path.absolute()),
            "textkin": textkin.__version__,
            "repairs": repairs.as_dict(),
        }
        tensors = {}
        offset = 0
        for name, dtype, shape, size in (
            ("vectors", "F32", (self._rows, dimension), 4),
            (WORD_ENDS, "I64", (len(words),), 8),
            (WORDS, "U8", (len(raw),), 1),
        ):
            length = math.prod(shape) * size
            tensors[name] = {
                "dtype": dtype,
                "shape": shape,
                "data_offsets": [offset, offset + length],
            }
            offset += length
        header = json.dumps({"__metadata__": {_METADATA: json.dumps(about)}, **tensors}).encode()
        if len(header) > _DATA_START - 8:  # a path of sixty thousand letters
            return None
        try:
            self._file.write(ends.data)
            self._file.write(raw)
            self._file.seek(0)
            self._file.write((_DATA_START - 8).to_bytes(8, "little"))
            self._file.write(header.ljust(_DATA_START - 8))
            self._file.flush()
            with self._temporary.open("rb") as file:
                loaded = _read(file, self._place, self._key)
            self._temporary.replace(self._place)
        except OSError as error:
            raise CacheWriteError(str(error)) from error
        return loaded

    def _begin(self) -> tuple[Path, Path, IO[bytes]]:
        problem: OSError | None = None
        for place in _places(self._path):
            temporary = place.parent / f".{place.name}.{uuid.uuid4().hex}.tmp"
            try:
                if place.parent != self._path.parent:
                    place.parent.mkdir(parents=True, exist_ok=True)
                _remove_stale(place)
                file = temporary.open("wb")
                file.seek(_DATA_START)
            except OSError as error:
                problem = error
                continue
            return place, temporary, file
        raise CacheWriteError(str(problem)) from problem


def _places(path: Path) -> tuple[Path, Path]:
    """Return where the cache of a file may lie: beside it, or in the user's cache folder."""
    whole = os.path.abspath(path)
    name = hashlib.blake2b(os.fsencode(whole), digest_size=12).hexdigest()
    return path.with_name(path.name + SUFFIX), user_cache_folder() / f"{name}{SUFFIX}"


def _remove_stale(place: Path) -> None:
    """Remove what processes that were killed long ago left in the making."""
    for file in place.parent.glob(f".{_escaped(place.name)}.*.tmp"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _STALE:
                file.unlink()


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
