"""File locks and other functions that differ between operating systems."""

import errno
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from textkin._base import file_locks, open_flags, read_at, replace_content
from textkin._base._system import PosixFileLocks, WindowsFileLocks


class FakeMsvcrt:
    """Locks of one byte of a file, kept per open file as Windows does."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self):
        self.owners: dict[tuple[tuple[int, int], int], int] = {}

    def locking(self, handle: int, mode: int, size: int) -> None:
        assert size == 1
        found = os.fstat(handle)
        key = (found.st_dev, found.st_ino), os.lseek(handle, 0, os.SEEK_CUR)
        if mode == self.LK_UNLCK:
            if self.owners.get(key) != handle:
                raise PermissionError(errno.EACCES, "Permission denied")
            del self.owners[key]
        elif key in self.owners:
            raise PermissionError(errno.EACCES, "Permission denied")
        else:
            self.owners[key] = handle


@pytest.fixture
def handles(tmp_path: Path) -> Iterator[list[int]]:
    """Two handles of one file."""
    opened = [os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2)]
    yield opened
    for handle in opened:
        os.close(handle)


@pytest.mark.parametrize("system", ["this", "windows"])
def test_file_lock_has_one_owner(system: str, handles: list[int]):
    locks = file_locks() if system == "this" else WindowsFileLocks(FakeMsvcrt())
    first, second = handles
    assert locks.acquire(first)
    assert not locks.acquire(second)
    replace_content(first, b"12345")
    assert read_at(second, 32, 0) == b"12345"
    assert not locks.acquire(second)
    replace_content(first, b"7")
    assert read_at(second, 32, 0) == b"7"
    locks.release(first)
    assert locks.acquire(second)
    locks.release(second)


def test_windows_locks_a_byte_behind_the_content(handles: list[int]):
    msvcrt = FakeMsvcrt()
    assert WindowsFileLocks(msvcrt).acquire(handles[0])
    [(_, offset)] = msvcrt.owners
    assert offset > 1_000_000
    assert os.fstat(handles[0]).st_size == 0


@pytest.mark.parametrize("locks", [PosixFileLocks, WindowsFileLocks])
def test_file_lock_other_errors_are_raised(locks, handles: list[int]):
    def fail(*_: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    module = SimpleNamespace(
        flock=fail, locking=fail, LOCK_EX=2, LOCK_NB=4, LOCK_UN=8, LK_NBLCK=2, LK_UNLCK=0
    )
    with pytest.raises(OSError, match="No locks available"):
        locks(module).acquire(handles[0])


def test_open_flags_ignores_flags_that_the_system_lacks():
    assert open_flags("O_RDWR", "O_CREAT") == os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    assert open_flags("O_RDWR", "O_OF_NO_SYSTEM") == open_flags("O_RDWR")


# What Windows lacks is removed, and `msvcrt` is a module that locks with fcntl.
_WITHOUT_POSIX = """
    import os, sys, types
    import fcntl as real
    import joblib, sklearn, subprocess, tempfile  # before they could take this for Windows

    msvcrt = types.ModuleType("msvcrt")
    msvcrt.LK_NBLCK, msvcrt.LK_UNLCK, calls = 2, 0, []

    def locking(handle, mode, size):
        calls.append(mode)
        real.flock(handle, real.LOCK_EX | real.LOCK_NB if mode else real.LOCK_UN)

    msvcrt.locking = locking
    sys.modules["msvcrt"] = msvcrt
    sys.modules["fcntl"] = None
    for name in ["register_at_fork", "pread", "pwrite", "geteuid", "fchmod", "fork", "O_CLOEXEC",
                 "O_NOFOLLOW", "O_NONBLOCK"]:
        delattr(os, name)

    import importlib, pkgutil
    import textkin
    from textkin.exceptions import IndexLockedError
    from textkin.index import Index
    from textkin.index.store._session import writer_lock
    from pathlib import Path

    for package in ["index", "reading", "text", "transport", "vectors", "learn", "explain"]:
        found = importlib.import_module("textkin." + package)
        for module in pkgutil.walk_packages(found.__path__, found.__name__ + "."):
            if not module.name.endswith(("._torch", "._kernels")) and ".gpu" not in module.name:
                importlib.import_module(module.name)

    with Index.create(sys.argv[1]) as index:
        index.add(["a cat sat on a mat", "dogs bark"])
    lock = next(file for file in Path(sys.argv[1]).iterdir() if "lock" in file.name)
    with Index(sys.argv[1], timeout=0) as index, writer_lock(lock, 0):
        try:
            index.add(["another"])
        except IndexLockedError as error:
            assert f"process {os.getpid()}" in str(error)
        else:
            raise AssertionError("two writers")
    with Index(sys.argv[1]) as index:
        assert len(index) == 2
    assert set(calls) == {0, 2}
    print("done")
"""


def test_index_works_without_posix_functions(tmp_path: Path):
    program = textwrap.dedent(_WITHOUT_POSIX)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "index")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout == "done\n", done.stderr
