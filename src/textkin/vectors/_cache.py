"""A converted copy of a large vector file, so that opening it again is a matter of milliseconds.

One file for each source: ``glove.txt.textkin`` beside ``glove.txt``, or in the user's cache folder
where that one cannot be written to. It is a safetensors file with the table, the words and, in
its metadata, what it was made from. Written under another name and renamed, so that readers
and several writers never see a part of one.

It counts only while the source is the file that was read. Size, both times and the inode must be
the same; the time of the last change of the inode cannot be set by a program, so neither an edited
file nor a copy that came in an archive from elsewhere fits. A hash of 64 samples of the content
guards against clocks too coarse to tell two writes apart.

Its rows are not checked again, so it must come from somebody who is trusted: the user, root, or the
owner of the source, who could as well change that. In a folder such as ``/tmp`` others may lay down
what they like under its name; that is neither waited for, followed, used nor overwritten.
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
from textkin._typing import Float32Array
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._safetensors import (
    WORD_ENDS,
    WORDS,
    TensorFile,
    packed_names,
    read_tensors,
)
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
    "source_path",
    "user_cache_folder",
]

SUFFIX = ".textkin"
SMALLEST = 8 * 2**20
"""Smaller files are read again each time, which takes a few milliseconds too."""

_VERSION = 2
_DATA_START = 2**16  # room for the header, which is written last; the table begins on a page
_SAMPLES = 64
_SAMPLE_BYTES = 4096
_STALE = 24 * 3600  # seconds after which an unfinished file of a killed process is removed
_METADATA = "textkin.vector-cache"
_BEGINNING = f'{{"__metadata__": {{"{_METADATA}"'.encode()  # of the header, after its length
_UNUSABLE = (OSError, ValueError, KeyError, TypeError, RecursionError)
"""What a file that is no sound cache may raise."""


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

    Raises
    ------
    FileNotFoundError
        If the user has no home directory, and ``$XDG_CACHE_HOME`` names none.
    """
    home = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(home):
        return Path(home) / "textkin" / "vectors"
    try:
        return Path.home() / ".cache" / "textkin" / "vectors"
    except RuntimeError as error:
        raise FileNotFoundError(
            "You have no home directory to keep caches in; set XDG_CACHE_HOME to a folder."
        ) from error


def cached_files() -> list[Path]:
    """Return the caches in the user's cache folder; any of them may be deleted.

    Returns
    -------
    list of Path
        None where there is no such folder.
    """
    with suppress(FileNotFoundError):
        folder = user_cache_folder()
        return sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    return []


def cache_of(path: Path) -> Path | None:
    """Return where the cache of a vector file lies, if it has one; it may be deleted.

    Parameters
    ----------
    path : Path
        The vector file.

    Returns
    -------
    Path or None
        None also if what is there was made from an earlier state of the file.
    """
    with suppress(OSError):
        file_key = _file_key(path)
        for place in _places(path):
            with suppress(*_UNUSABLE), _opened(place, file_key["owner"]) as (found, about):
                if about["source"]["file"] == file_key and _is_whole(found, about):
                    return place
    return None


def source_path(cache: Path) -> str | None:
    """Return the path of the file that a cache was made from, as the cache has it."""
    with suppress(*_UNUSABLE), _opened(cache, None) as (_, about):
        return str(about["path"])
    return None


def source_key(path: Path, options: Options) -> dict[str, Any]:
    """Return what a cache must have been made from to stand for a file."""
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
    """Return a hash of 64 samples of each part of a file, its ends among them."""
    digest = hashlib.blake2b(digest_size=16)
    for start, end in spans:
        size = min(_SAMPLE_BYTES, end - start)
        last = end - start - size
        for k in range(_SAMPLES):
            digest.update(os.pread(descriptor, size, start + last * k // (_SAMPLES - 1)))
    return digest.hexdigest()


def open_cached(path: Path, key: dict[str, Any], format: str | None) -> Loaded | None:
    """Return the table of a cache that stands for a file, if there is one.

    `format` is what the caller asked for; None takes a cache of the format that is recognised.
    """
    for place in _places(path):
        with suppress(*_UNUSABLE), _opened(place, key["file"]["owner"]) as (found, about):
            fits = about["recognised"] is True if format is None else about["format"] == format
            if fits and about["source"] == key and _is_whole(found, about):
                return _loaded(found, about)
    return None


@contextmanager
def _opened(place: Path, owner: int | None) -> Iterator[tuple[TensorFile, dict[str, Any]]]:
    """Open a cache of somebody who is trusted, `owner` among them; raise if it is none."""
    with _regular(place) as (file, found):
        if found.st_uid not in (os.geteuid(), 0, owner) or found.st_mode & 0o022:
            raise ValueError(f"{place} belongs to somebody else, or others may write to it.")
        tensors = read_tensors(file, str(place))
        yield tensors, _about(tensors)


@contextmanager
def _regular(place: Path) -> Iterator[tuple[IO[bytes], os.stat_result]]:
    """Open an ordinary file; a pipe is not waited for, and a link not followed."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    with os.fdopen(os.open(place, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{place} is no ordinary file.")
        yield file, found


def _about(found: TensorFile) -> dict[str, Any]:
    about = json.loads(found.metadata[_METADATA])
    if not isinstance(about, dict):
        raise ValueError(f"{found.name} is no cache.")
    return about


def _is_whole(found: TensorFile, about: dict[str, Any]) -> bool:
    """Say whether the samples of the content are what was written: a disk may lose pages."""
    parts = [found.tensors[name] for name in ("vectors", WORD_ENDS, WORDS)]
    spans = [(part.start, part.start + part.bytes) for part in parts]
    return bool(about["samples"] == _sampled(found.file.fileno(), *spans))


def _loaded(found: TensorFile, about: dict[str, Any]) -> Loaded:
    names = packed_names(found)
    table = found.tensors["vectors"]
    if table.dtype != "F32" or len(table.shape) != 2 or table.shape[0] != len(names):
        raise ValueError(f"{found.name} must hold a row for each word.")
    if 0 in table.shape:
        raise ValueError(f"{found.name} holds nothing.")
    repairs = Repairs(**about["repairs"])
    if not all(type(count) is int and count >= 0 for count in repairs.as_dict().values()):
        raise ValueError(f"{found.name} must count what was left out.")
    return Loaded(names, found.numbers("vectors"), repairs)


class CacheWriter:
    """Takes rows, and keeps them in a cache once all are there; a context manager.

    Any trouble with the disk is a `CacheWriteError`, after which nothing is left behind.
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
        if _file_key(self._path) != self._key["file"]:
            return None
        raw, ends = pack_words(words)
        about = {
            "source": self._key,
            "format": self._format,
            "recognised": self._recognised,
            "path": str(self._path.absolute()),
            "textkin": textkin.__version__,
            "repairs": repairs.as_dict(),
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
            if len(header) > _DATA_START - 8:  # a path of sixty thousand letters
                return None
            self._file.seek(0)
            self._file.write((_DATA_START - 8).to_bytes(8, "little"))
            self._file.write(header.ljust(_DATA_START - 8))
            self._file.flush()
            os.fsync(self._file.fileno())  # or a crash could leave the name without the content
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
                    raise FileExistsError(f"{place} is no cache of yours, and is kept.")
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
    """Create a file that only those may read who may read the source, and only the user write."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    mode = 0o600 if like is None else 0o600 | like.st_mode & 0o044
    file = os.fdopen(os.open(path, flags, mode), "w+b")  # less what the umask takes away
    if like is not None and like.st_gid != os.fstat(file.fileno()).st_gid:
        # "the group" would be other people: they may read what everybody may
        everybody = os.fstat(file.fileno()).st_mode & 0o004
        os.fchmod(file.fileno(), 0o600 | everybody << 3 | everybody)
    return file


def _is_free(place: Path) -> bool:
    """Say whether a cache may be written there: nothing, or a cache of the user's own, is there."""
    if not os.path.lexists(place):
        return True
    with suppress(OSError, ValueError), _regular(place) as (file, found):
        return found.st_uid == os.geteuid() and file.read(8 + len(_BEGINNING))[8:] == _BEGINNING
    return False


def _places(path: Path) -> tuple[Path, ...]:
    """Return where the cache of a file may lie: beside it, or in the user's cache folder."""
    whole = os.path.abspath(path)
    name = hashlib.blake2b(os.fsencode(whole), digest_size=12).hexdigest()
    beside = path.with_name(path.name + SUFFIX)
    try:
        return beside, user_cache_folder() / f"{name}{SUFFIX}"
    except FileNotFoundError:
        return (beside,)


def _remove_stale(place: Path) -> None:
    """Remove what processes that were killed long ago left in the making."""
    for file in place.parent.glob(f".{_escaped(place.name)}.*.tmp"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _STALE:
                file.unlink()


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
