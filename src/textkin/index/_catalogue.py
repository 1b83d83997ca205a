"""The catalogue: the SQLite file that holds the documents and is the only truth.

Everything else in the folder can be made again from it. One row of ``state`` says what the numbers
of the moment are; it changes in the same transaction as what it counts.
"""

import ctypes
import errno
import os
import sqlite3
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from textkin.exceptions import DamagedIndexError, IndexLockedError

__all__ = [
    "BUSY",
    "CATALOGUE",
    "STATE_COLUMNS",
    "Catalogue",
    "SegmentRecord",
    "State",
    "check_not_inherited",
    "damaged",
    "is_no_text",
    "plain_errors",
    "words_checksum",
]

CATALOGUE = "catalogue.sqlite"
BUSY = 60.0  # seconds; only a checkpoint can be in the way, writers have a lock of their own
_MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class State:
    """What the catalogue held after some transaction.

    Attributes
    ----------
    number : int
        Of the transaction; grows with each.
    next_position : int
        The position of the next document; positions are never used again.
    documents, tokens, words : int
        Documents that are there, the sum of their lengths, words of the vocabulary.
    words_checksum : int
        Of all words in their order; a document has a hash of its own.
    tail_position, tail_word : int
        Documents and words from these on are in no segment.
    tail_bytes : int
        What was added behind `tail_position`, in bytes of packed counts.
    next_segment : int
        The number of the next segment; never used again.
    """

    number: int = 0
    next_position: int = 0
    documents: int = 0
    tokens: int = 0
    words: int = 0
    words_checksum: int = 0
    tail_position: int = 0
    tail_word: int = 0
    tail_bytes: int = 0
    next_segment: int = 0


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """A segment as the catalogue names it: what it covers, and what its file must be."""

    number: int
    first_position: int
    end_position: int
    first_word: int
    end_word: int
    rows: int
    entries: int
    bytes: int
    sha256: str

    @property
    def file(self) -> str:
        """The name of its file in ``segments``; made of a number, so it cannot lead elsewhere."""
        return f"{self.number:08d}.safetensors"


STATE_COLUMNS = ", ".join(field.name for field in fields(State))
_RECORD_COLUMNS = ", ".join(field.name for field in fields(SegmentRecord))


class Catalogue:
    """A connection to the catalogue, with the statements that several parts need.

    SQLite's connections must not be used, or even closed, in a process that was forked from the
    one that opened them. There they refuse to do anything.

    Parameters
    ----------
    connection : sqlite3.Connection
        Without transactions of its own.
    path : Path
        The file.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path
        self.execute: Callable[..., sqlite3.Cursor] = connection.execute
        self.executemany: Callable[..., sqlite3.Cursor] = connection.executemany
        self.file = identity_of(path)
        self._ours = True
        _in_use.add(self)

    def state(self) -> State:
        """Return the state row."""
        row = self.execute(f"SELECT {STATE_COLUMNS} FROM state").fetchone()
        if row is None or not all(map(_is_count, row)):
            raise damaged(self.path, "its table 'state' must have one row of counts")
        return State(*row)

    def set_state(self, state: State) -> None:
        """Write the state row."""
        self.execute(
            f"UPDATE state SET ({STATE_COLUMNS}) = "
            f"({', '.join('?' * len(fields(State)))}) WHERE one = 1",
            astuple(state),
        )

    def setting(self, name: str) -> str:
        """Return a setting, as it was written when the index was made."""
        row = self.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        if row is None or not isinstance(row[0], str):
            raise damaged(self.path, f"it has no setting {name!r}")
        return str(row[0])

    def segments(self) -> list[SegmentRecord]:
        """Return the segments, in the order of the positions that they cover."""
        rows = self.execute(f"SELECT {_RECORD_COLUMNS} FROM segments ORDER BY first_position")
        records = []
        for row in rows:
            whole = all(map(_is_count, row[:-1]))
            if not whole or not isinstance(row[-1], str):
                raise damaged(self.path, "its table 'segments' must hold counts and hashes")
            records.append(SegmentRecord(*row))
        return records

    def add_segment(self, record: SegmentRecord) -> None:
        """Name a segment."""
        marks = ", ".join("?" * len(fields(SegmentRecord)))
        self.execute(f"INSERT INTO segments ({_RECORD_COLUMNS}) VALUES ({marks})", astuple(record))

    def deleted(self, first: int, end: int) -> list[int]:
        """Return the positions from `first` to before `end` whose rows in segments are dead."""
        rows = self.execute(
            "SELECT position FROM deleted WHERE position >= ? AND position < ? ORDER BY position",
            (first, end),
        )
        return [position for (position,) in rows]

    def count_deleted(self, first: int, end: int) -> int:
        """Return how many positions `deleted` would return."""
        (count,) = self.execute(
            "SELECT count(*) FROM deleted WHERE position >= ? AND position < ?", (first, end)
        ).fetchone()
        return int(count)

    def counts(self, first: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Give position and packed counts of the documents from `first` to before `end`."""
        return iter(
            self.execute(
                "SELECT position, counts FROM documents WHERE position >= ? AND position < ? "
                "ORDER BY position",
                (first, end),
            )
        )

    def words(self, first: int, end: int) -> list[str]:
        """Return the words with the numbers from `first` to before `end`, all of them."""
        rows = self.execute(
            "SELECT number, word FROM words WHERE number >= ? AND number < ? ORDER BY number",
            (first, end),
        ).fetchall()
        sound = len(rows) == end - first and all(
            number == expected and isinstance(word, str)
            for expected, (number, word) in enumerate(rows, start=first)
        )
        if not sound:
            raise damaged(self.path, f"words are missing between numbers {first} and {end}")
        return [word for _, word in rows]

    def check_numbers(self) -> None:
        """Raise unless the numbers of the moment fit to the tables; a look at the ends is enough.

        Whatever is allocated later rests on these numbers.
        """
        state = self.state()
        for table, column, end in (
            ("words", "number", state.words),
            ("documents", "position", state.next_position),
            ("segments", "number", state.next_segment),
        ):
            lowest, highest = self.execute(
                f"SELECT (SELECT min({column}) FROM {table}), (SELECT max({column}) FROM {table})"
            ).fetchone()
            if highest is not None and not 0 <= lowest <= highest < end:
                raise damaged(self.path, f"its table {table!r} goes beyond what it says")
            if table == "words" and (-1 if highest is None else highest) != end - 1:
                raise damaged(self.path, "its table 'words' does not end where it says")
        position = word = 0
        for record in self.segments():
            follows = (record.first_position, record.first_word) == (position, word)
            if not follows or record.end_position < position or record.end_word < word:
                raise damaged(self.path, f"segment {record.number} does not follow the one before")
            position, word = record.end_position, record.end_word
        if (position, word) != (state.tail_position, state.tail_word):
            raise damaged(self.path, "its segments do not end where it says")
        if position > state.next_position or word > state.words:
            raise damaged(self.path, "its segments go beyond what it says")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything or nothing; what was written is on the disk when this ends."""
        try:
            self.execute("BEGIN IMMEDIATE")
            yield
            self.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # a full disk ends one without being asked
                self.execute("ROLLBACK")
            raise

    def fold_log(self) -> None:
        """Fold SQLite's log into the file and empty it, unless somebody reads an older state."""
        self.execute("PRAGMA busy_timeout = 0")  # a reader may keep its state for hours
        try:
            self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self.execute(f"PRAGMA busy_timeout = {round(1000 * BUSY)}")

    def close(self) -> None:
        """Close the connection; the last one of all folds the log into the file."""
        if self._ours:
            _in_use.discard(self)
            self.connection.close()

    def abandon(self) -> None:
        """Give up a connection that belongs to the process that this one was forked from.

        It is never closed, not even when the interpreter ends: whoever closes the last connection
        of all removes the log, and by then that may be the log of a writer who was killed.
        """
        self._ours = False
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.connection))
        self.execute = self.executemany = _refuse
        _inherited.add(self.file)


_in_use: "weakref.WeakSet[Catalogue]" = weakref.WeakSet()

# The files that were open when this process was forked. SQLite takes the locks of a file once for
# all connections of a process, and believes that it has them still: it must not open these again.
_inherited: set[tuple[int, int]] = set()


def _refuse(*_arguments: object) -> sqlite3.Cursor:
    raise RuntimeError(_FORKED)


_FORKED = (
    "This index was open when the process was forked, and SQLite cannot be used on both sides of a "
    "fork. Start processes with multiprocessing.get_context('spawn') (or 'forkserver'), or close "
    "the index before the fork and open it again on both sides."
)


def check_not_inherited(path: Path) -> None:
    """Raise if the file was open when this process was forked."""
    if identity_of(path) in _inherited:
        raise RuntimeError(_FORKED)


def _after_fork() -> None:
    for catalogue in list(_in_use):
        catalogue.abandon()


os.register_at_fork(after_in_child=_after_fork)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


def words_checksum(words: Sequence[str], so_far: int) -> int:
    """Return the checksum of the vocabulary after some words more."""
    return zlib.crc32("".join(f"{word}\0" for word in words).encode(), so_far)


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite complains of into the exceptions that callers know."""
    try:
        yield
    except UnicodeDecodeError as error:  # in a message of SQLite that has a damaged name
        raise damaged(path, str(error)) from error
    except sqlite3.Error as error:
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if kind in _DAMAGE or is_no_text(error):
            raise damaged(path, str(error)) from error
        if kind == sqlite3.SQLITE_TOOBIG or isinstance(error, sqlite3.DataError):
            raise ValueError(
                f"a document is too long for the catalogue ({error}); split it into passages."
            ) from error
        if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
            raise IndexLockedError(
                f"{path.parent}: another process keeps the catalogue locked ({error})."
            ) from error
        if kind == sqlite3.SQLITE_INTERRUPT:  # by Ctrl-C, see _prepare
            raise KeyboardInterrupt from error
        number = _ERRNO.get(kind)
        if number is None:
            raise
        raise OSError(number, f"{os.strerror(number)} ({error})", str(path)) from error


def is_no_text(error: sqlite3.Error) -> bool:
    """Return whether SQLite was asked for a text and found bytes that are none."""
    return str(error).startswith("Could not decode to UTF-8")


# A constraint, or a type, that what we write never breaks.
_DAMAGE = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
)

_ERRNO = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_CANTOPEN: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
}


def identity_of(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def damaged(path: Path, problem: str) -> DamagedIndexError:
    return DamagedIndexError(
        f"{path} is damaged: {problem}. It holds the documents, so they cannot be made again from "
        "the rest of the folder: take a copy of it from a backup.",
        [f"{path.name}: {problem}"],
    )
