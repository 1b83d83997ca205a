"""Operating system functions that behave alike on POSIX and Windows."""

import errno
import importlib
import os
from collections.abc import Callable
from types import ModuleType
from typing import Protocol

# The byte that Windows locks, far behind the end of any lock file: other processes cannot read a
# locked byte, and they read the start of the file.
_LOCKED_BYTE = 1 << 30

# Errors that mean that another open file has the lock.
_LOCKED = {errno.EAGAIN, errno.EACCES}


class FileLocks(Protocol):
    """Interface for exclusive locks of open files, which end with the process."""

    def acquire(self, handle: int) -> bool:
        """Try to lock an open file without waiting; return False if it is already locked."""

    def release(self, handle: int) -> None:
        """Release the lock of an open file."""


class PosixFileLocks:
    """Exclusive locks of open files by `fcntl.flock`.

    Parameters
    ----------
    fcntl : module
        The `fcntl` module.
    """

    def __init__(self, fcntl: ModuleType) -> None:
        self._fcntl = fcntl

    def acquire(self, handle: int) -> bool:
        """Try to lock an open file without waiting; return False if it is already locked."""
        try:
            self._fcntl.flock(handle, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _LOCKED:
                return False
            raise
        return True

    def release(self, handle: int) -> None:
        """Release the lock of an open file."""
        self._fcntl.flock(handle, self._fcntl.LOCK_UN)


class WindowsFileLocks:
    """Exclusive locks of open files by `msvcrt.locking`.

    Parameters
    ----------
    msvcrt : module
        The `msvcrt` module.
    """

    def __init__(self, msvcrt: ModuleType) -> None:
        self._msvcrt = msvcrt

    def acquire(self, handle: int) -> bool:
        """Try to lock an open file without waiting; return False if it is already locked."""
        try:
            self._locking(handle, self._msvcrt.LK_NBLCK)
        except OSError as error:
            if error.errno in _LOCKED:
                return False
            raise
        return True

    def release(self, handle: int) -> None:
        """Release the lock of an open file."""
        self._locking(handle, self._msvcrt.LK_UNLCK)

    def _locking(self, handle: int, mode: int) -> None:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        self._msvcrt.locking(handle, mode, 1)


def file_locks() -> FileLocks:
    """Return the implementation of file locks for this operating system."""
    try:
        return PosixFileLocks(importlib.import_module("fcntl"))
    except ImportError:
        return WindowsFileLocks(importlib.import_module("msvcrt"))


def open_flags(*names: str) -> int:
    """Return the combined `os.open` flags with these names; missing flags count as 0.

    The file is binary on Windows, too.
    """
    flags = getattr(os, "O_BINARY", 0)
    for name in names:
        flags |= getattr(os, name, 0)
    return flags


def read_at(handle: int, size: int, offset: int) -> bytes:
    """Return up to `size` bytes of an open file from `offset`."""
    if hasattr(os, "pread"):
        return os.pread(handle, size, offset)
    os.lseek(handle, offset, os.SEEK_SET)
    return os.read(handle, size)


def replace_content(handle: int, content: bytes) -> None:
    """Replace the whole content of an open file by other bytes."""
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, content)


def user_id() -> int:
    """Return the ID of the effective user; 0 on Windows, as in the results of `os.stat`."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def call_after_fork(function: Callable[[], None]) -> None:
    """Register a function to be called in each forked child process."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)
