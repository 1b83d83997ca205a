"""Cache of text vector files: a binary copy that opens in milliseconds.

Each source has one cache file: ``glove.txt.textkin`` next to ``glove.txt``, or a file in the
user's cache folder if the folder of the source is read-only. A cache is a safetensors file with the
table, the words, and a description of the source in its metadata. It is written under a temporary
name and renamed, so that readers and concurrent writers never see a part of it.

A cache is valid only while the source is the file that was read. Size, both times, and the inode
must be equal. A program cannot set the time of the last inode change, so neither an edited file
nor a copy from an archive matches. A hash of 64 samples of the content detects changes within the
resolution of the clock.

The rows of a cache are not checked again, so it must belong to a trusted user: the current user,
root, or the owner of the source, who could change the source as well. In a folder such as ``/tmp``,
other users can create files under the name of the cache; textkin never waits for, follows, uses, or
overwrites such files.
"""

import hashlib
import json
import math
import os
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

import textkin
from textkin._base import Float32Array, open_flags, read_at, user_id
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._safetensors import (
    WORD_ENDS,
    WORDS,
    TensorFile,
    packed_names,
    read_tensors,
)
from textkin.vectors._repairs import Repairs
from textkin.vectors._table import Names, pack_words

__all__ = [
    "CacheWriteError",
    "CacheWriter",
    "Loaded",
    "cache_of",
    "cached_files",
    "open_cached",
    "source_key",
    "source_path",
    "user_cache_folder",
]

SUFFIX = ".textkin"
SMALLEST = 8 * 2**20
"""Size limit in bytes; smaller files are always parsed, which takes only milliseconds."""

_VERSION = 2
_DATA_START = 2**16  # space for the header, which is written last; the table starts on a page
_SAMPLES = 64
_SAMPLE_BYTES = 4096
_STALE = 24 * 3600  # seconds after which a temporary file of a killed process is removed
_METADATA = "textkin.vector-cache"
_BEGINNING = f'{{"__metadata__": {{"{_METADATA}"'.encode()  # start of the header after its length
_UNUSABLE = (OSError, ValueError, KeyError, TypeError, RecursionError)
"""Exceptions raised for an invalid cache file."""


class CacheWriteError(OSError):
    """Error while writing a cache file; the vectors are still usable."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Words, matrix, and repair counts, as loaded from a file or its cache."""

    names: Names
    matrix: Float32Array
    repairs: Repairs


def user_cache_folder() -> Path:
    """Return the user's cache folder, used if a cache cannot be next to its file.

    Returns
    -------
    Path
        Folder ``textkin/vectors`` in ``$XDG_CACHE_HOME``, or in ``~/.cache``.

    Raises
    ------
    FileNotFoundError
        If the user has no home directory, and ``$XDG_CACHE_HOME`` is not an absolute path.
    """
    home = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(home):
        return Path(home) / "textkin" / "vectors"
    try:
        return Path.home() / ".cache" / "textkin" / "vectors"
    except RuntimeError as error:
        raise FileNotFoundError(
            "A cache requires a home directory, which is missing; set XDG_CACHE_HOME to a folder."
        ) from error


def cached_files() -> list[Path]:
    """Return the paths of all caches in the user's cache folder; they can be deleted.

    Returns
    -------
    list of Path
        Paths of the caches; empty if the folder does not exist.
    """
    with suppress(FileNotFoundError):
        folder = user_cache_folder()
        return sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    return []


def cache_of(path: Path) -> Path | None:
    """Return the path of the cache of a vector file, or None; it can be deleted.

    Parameters
    ----------
    path : Path
        Path of the vector file.

    Returns
    -------
    Path or None
        Path of the valid cache. None if it does not exist or is outdated.
    """
    with suppress(OSError):
        file_key = _file_key(path)
        for place in _places(path):
            with suppress(*_UNUSABLE), _opened(place, file_key["owner"]) as (found, about):
                if about["source"]["file"] == file_key and _is_whole(found, about):
                    return place
    return None


def source_path(cache: Path) -> str | None:
    """Return the path of the vector file that a cache was made from, or None."""
    with suppress(*_UNUSABLE), _opened(cache, None) as (_, about):
        return str(about["path"])
    return None


def source_key(path: Path, options: Options) -> dict[str, Any]:
    """Return a key that changes if a vector file or its loading options change."""
    return {
        "file": _file_key(path),
        "errors": options.errors,
        "encoding_errors": options.encoding_errors,
        "duplicates": options.duplicates,
    }


def _file_key(path: Path) -> dict[str, Any]:
    with path.open("rb", buffering=0) as file:
        found = os.fstat(file.fileno())
        samples = _sampled(file.fileno(), (0, found.st_size))
    return {
        "version": _VERSION,
        "size": found.st_size,
        "mtime_ns": found.st_mtime_ns,
        "ctime_ns": found.st_ctime_ns,
        "inode": found.st_ino,
        "owner": found.st_uid,
        "samples": samples,
    }


def _sampled(descriptor: int, *spans: tuple[int, int]) -> str:
    """Return a hash of 64 samples from each span of an open file."""
    digest = hashlib.blake2b(digest_size=16)
    for start, end in spans:
        size = min(_SAMPLE_BYTES, end - start)
        last = end - start - size
        for k in range(_SAMPLES):
            digest.update(read_at(descriptor, size, start + last * k // (_SAMPLES - 1)))
    return digest.hexdigest()


def open_cached(path: Path, key: dict[str, Any], format: str | None) -> Loaded | None:
    """Return the vectors from the valid cache of a file, or None.

    If `format` is None, the cache must have the detected format.
    """
    for place in _places(path):
        with suppress(*_UNUSABLE), _opened(place, key["file"]["owner"]) as (found, about):
            fits = about["recognised"] is True if format is None else about["format"] == format
            if fits and about["source"] == key and _is_whole(found, about):
                return _loaded(found, about)
    return None


@contextmanager
def _opened(place: Path, owner: int | None) -> Iterator[tuple[TensorFile, dict[str, Any]]]:
    """Open a cache file that belongs to the user or `owner`; raise if it is not a cache."""
    with _regular(place) as (file, found):
        if found.st_uid not in (user_id(), 0, owner) or found.st_mode & 0o022:
            raise ValueError(
                f"{place} must belong to a trusted user, and others must not write it."
            )
        tensors = read_tensors(file, str(place))
        yield tensors, _about(tensors)


@contextmanager
def _regular(place: Path) -> Iterator[tuple[IO[bytes], os.stat_result]]:
    """Open a regular file, without following links or blocking on pipes."""
    flags = open_flags("O_RDONLY", "O_CLOEXEC", "O_NONBLOCK", "O_NOFOLLOW")
    with os.fdopen(os.open(place, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{place} must be a regular file.")
        yield file, found


def _about(found: TensorFile) -> dict[str, Any]:
    about = json.loads(found.metadata[_METADATA])
    if not isinstance(about, dict):
        raise ValueError(f"{found.name} is not a cache.")
    return about


def _is_whole(found: TensorFile, about: dict[str, Any]) -> bool:
    """Return True if samples of a cache agree with the recorded hash."""
    parts = [found.tensors[name] for name in ("vectors", WORD_ENDS, WORDS)]
    spans = [(part.start, part.start + part.bytes) for part in parts]
    return bool(about["samples"] == _sampled(found.file.fileno(), *spans))


def _loaded(found: TensorFile, about: dict[str, Any]) -> Loaded:
    names = packed_names(found)
    table = found.tensors["vectors"]
    if table.dtype != "F32" or len(table.shape) != 2 or table.shape[0] != len(names):
        raise ValueError(f"{found.name} must have one row for each word.")
    if 0 in table.shape:
        raise ValueError(f"{found.name} must not be empty.")
    repairs = Repairs(**about["repairs"])
    if not all(type(count) is int and count >= 0 for count in repairs.to_dict().values()):
        raise ValueError(f"{found.name} must have counts of omitted entries.")
    return Loaded(names, found.numbers("vectors"), repairs)


class CacheWriter:
    """Context manager that writes a cache; the file appears when it is complete.

    An error of the disk raises `CacheWriteError`, and no file is left.
    """

    def __init__(self, path: Path, key: dict[str, Any], format: str, recognised: bool) -> None:
        self._path = path
        self._key = key
        self._format = format
        self._recognised = recognised
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
        """Write the next vectors to the cache."""
        try:
            self._file.write(np.ascontiguousarray(rows).data)
        except OSError as error:
            raise CacheWriteError(str(error)) from error
        self._rows += len(rows)

    def finish(self, words: list[str], dimension: int, repairs: Repairs) -> Loaded | None:
        """Write words and header, rename the file, and return the memory-mapped vectors.

        The result is None if the source has changed concurrently, because the rows may be mixed.
        """
        if _file_key(self._path) != self._key["file"]:
            return None
        raw, ends = pack_words(words)
        about = {
            "source": self._key,
            "format": self._format,
            "recognised": self._recognised,
            "path": str(self._path.absolute()),
            "textkin": textkin.__version__,
            "repairs": repairs.to_dict(),
        }
        tensors = {}
        spans = []
        offset = 0
        for name, dtype, shape, size in (
            ("vectors", "F32", (self._rows, dimension), 4),
            (WORD_ENDS, "I64", (len(words),), 8),
            (WORDS, "U8", (len(raw),), 1),
        ):
            end = offset + math.prod(shape) * size
            tensors[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, end]}
            spans.append((_DATA_START + offset, _DATA_START + end))
            offset = end
        try:
            self._file.write(ends.data)
            self._file.write(raw)
            self._file.flush()
            about["samples"] = _sampled(self._file.fileno(), *spans)
            metadata = {_METADATA: json.dumps(about)}
            header = json.dumps({"__metadata__": metadata, **tensors}).encode()
            if len(header) > _DATA_START - 8:
                # Only a path of about 60,000 characters makes it so long.
                return None
            self._file.seek(0)
            self._file.write((_DATA_START - 8).to_bytes(8, "little"))
            self._file.write(header.ljust(_DATA_START - 8))
            self._file.flush()
            os.fsync(self._file.fileno())  # otherwise a crash could leave a name without content
            loaded = _loaded(read_tensors(self._file, str(self._place)), about)
            self._temporary.replace(self._place)
        except OSError as error:
            raise CacheWriteError(str(error)) from error
        return loaded

    def _begin(self) -> tuple[Path, Path, IO[bytes]]:
        problem: OSError | None = None
        for place in _places(self._path):
            temporary = place.parent / f".{place.name}.{uuid.uuid4().hex}.tmp"
            beside = place.parent == self._path.parent
            try:
                if not _is_free(place):
                    raise FileExistsError(f"{place} exists and is not your cache; move it.")
                if not beside:
                    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _remove_stale(place)
                file = _create(temporary, self._path.stat() if beside else None)
            except OSError as error:
                problem = error
                continue
            file.seek(_DATA_START)
            return place, temporary, file
        raise CacheWriteError(str(problem)) from problem


def _create(path: Path, like: os.stat_result | None) -> IO[bytes]:
    """Create a file that the user can write, and readers of the source can read."""
    flags = open_flags("O_RDWR", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_CLOEXEC")
    mode = 0o600 if like is None else 0o600 | like.st_mode & 0o044
    file = os.fdopen(os.open(path, flags, mode), "w+b")  # the umask also applies
    if like is not None and like.st_gid != os.fstat(file.fileno()).st_gid:
        # The group of the new file differs, so it gets only the permissions of all other users.
        everybody = os.fstat(file.fileno()).st_mode & 0o004
        os.fchmod(file.fileno(), 0o600 | everybody << 3 | everybody)
    return file


def _is_free(place: Path) -> bool:
    """Return True if a path is unused, or holds a cache of the user."""
    if not os.path.lexists(place):
        return True
    with suppress(OSError, ValueError), _regular(place) as (file, found):
        return found.st_uid == user_id() and file.read(8 + len(_BEGINNING))[8:] == _BEGINNING
    return False


def _places(path: Path) -> tuple[Path, ...]:
    """Return the possible cache paths of a file: next to it, or in the user's cache folder."""
    whole = os.path.abspath(path)
    name = hashlib.blake2b(os.fsencode(whole), digest_size=12).hexdigest()
    beside = path.with_name(path.name + SUFFIX)
    try:
        return beside, user_cache_folder() / f"{name}{SUFFIX}"
    except FileNotFoundError:
        return (beside,)


def _remove_stale(place: Path) -> None:
    """Remove old temporary files of killed processes next to a cache."""
    for file in place.parent.glob(f".{_escaped(place.name)}.*.tmp"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _STALE:
                file.unlink()


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
