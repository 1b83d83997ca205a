"""Atomic writes: a file or folder is on disk completely, or not at all."""

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "TEMPORARY",
    "Written",
    "file_hash",
    "new_folder",
    "own_folder",
    "sync_folder",
    "write_whole",
]

TEMPORARY = ".tmp"


class Written(NamedTuple):
    """Size in bytes and SHA-256 hash of a file that was written."""

    size: int
    sha256: str


def write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> Written:
    """Write a file atomically: under a temporary name, flushed to disk, then renamed.

    After a crash at any moment, the file is complete or does not exist; a file whose name ends in
    ``.tmp`` may remain.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}{TEMPORARY}")
    digest = hashlib.sha256()
    size = 0
    try:
        with temporary.open("xb") as file:
            for part in parts:
                file.write(part)
                digest.update(part)
                size += memoryview(part).nbytes
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    return Written(size, digest.hexdigest())


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, so that a renamed file survives a power failure."""
    if os.name == "nt":  # Windows cannot open a folder
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_hash(path: Path) -> str:
    """Return the SHA-256 hash of a file as a hexadecimal string."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder, and rename it to `path` if the ``with`` block succeeds.

    Raises
    ------
    FileExistsError
        If `path` exists and is not an empty folder.
    """
    _check_free(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{uuid.uuid4().hex}{TEMPORARY}"
    made = temporary
    temporary.mkdir()
    try:
        yield temporary
        for inner, _, names in os.walk(temporary):
            for name in names:
                _sync_file(Path(inner) / name)
            sync_folder(Path(inner))
        _check_free(path)
        made = temporary.replace(path)
        sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def own_folder(parent: Path, name: str) -> Path:
    """Return a folder within another; create it, and replace a link or a file of its name."""
    path = parent / name
    # A link is removed, and never the files that it leads to: an attacker may have put it here.
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        path.unlink()
    if not path.is_dir():
        path.mkdir()
        sync_folder(parent)
    return path


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _check_free(path: Path) -> None:
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise FileExistsError(
            f"{path} exists already and is not overwritten. Remove it, or pass another folder."
        )
