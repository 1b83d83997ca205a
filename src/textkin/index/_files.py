"""Files that are whole or not there, and the lock of the one writer."""

import errno
import fcntl
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from textkin.exceptions import IndexLockedError

__all__ = ["Written", "file_hash", "new_folder", "sync_folder", "write_whole", "writer_lock"]

_BETWEEN_TRIES = 0.02  # seconds
TEMPORARY = ".tmp"


class Written(NamedTuple):
    """The size of a file in bytes, and its SHA-256."""

    size: int
    sha256: str


def write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> Written:
    """Write a file under a temporary name, flush it to the disk and give it its own name.

    After a crash at any moment the file is there whole or not at all; what may be left is a file
    whose name ends in ``.tmp``.
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
    """Flush the names in a folder to the disk: a rename survives a power cut only after this."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a folder to fill, which gets the name `path` when it is full and on the disk.

    Raises
    ------
    FileExistsError
        If something other than an empty folder lies there already.
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


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _check_free(path: Path) -> None:
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise FileExistsError(
            f"{path} exists already and is kept; remove it first, or name another folder."
        )


@contextmanager
def writer_lock(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock of the one writer; it is released by the system if the process dies.

    Parameters
    ----------
    path : Path
        The lock file, which stays; it says which process was the last to hold the lock.
    timeout : float
        Seconds to wait for another writer.

    Raises
    ------
    IndexLockedError
        If another writer still has the lock after `timeout` seconds.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OSError(errno.EINVAL, "is no ordinary file; remove it", str(path))
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    _handles.add(handle)
    try:
        deadline = time.monotonic() + timeout
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
                who = f"process {holder}" if holder.isdigit() else "another process or thread"
                raise IndexLockedError(
                    f"{path.parent} is being written by {who}; an index has one writer at a time. "
                    f"Waited {timeout:g} s: try again later, or open it with a longer timeout=."
                )
            time.sleep(_BETWEEN_TRIES)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode("ascii"), 0)
        yield
    finally:
        if handle in _handles:  # not in a process that was forked meanwhile
            _handles.discard(handle)
            fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)


# A process that is forked has the file too, and with it the lock: for as long as it lives, even
# when the writer is dead.
_handles: set[int] = set()


def _after_fork() -> None:
    for handle in _handles:
        os.close(handle)
    _handles.clear()


os.register_at_fork(after_in_child=_after_fork)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True
