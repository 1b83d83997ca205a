"""Catalog of an index: the SQLite database with the documents, the source of truth.

All other files in the folder can be rebuilt from it. One row of the table ``state`` holds the
current totals; it changes in the same transaction as the rows that it counts.
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

from textkin._base import call_after_fork
from textkin.exceptions import DamagedIndexError, IndexLockedError

__all__ = [
    "BUSY",
    "CATALOG",
    "STATE_COLUMNS",
    "Catalog",
    "SegmentRecord",
    "State",
    "check_not_forked",
    "damage_error",
    "is_decoding_error",
    "translate_errors",
    "words_checksum",
]

CATALOG = "catalogue.sqlite"
BUSY = 60.0  # seconds; only a checkpoint can block, because writers have their own lock
_MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class State:
    """Totals of the catalog: snapshot number, next position, documents, words, tokens.

    Attributes
    ----------
    number : int
        Number of the transaction, in ascending order.
    next_position : int
        Position of the next document; positions are never reused.
    documents, tokens, words : int
        Number of documents, sum of their lengths, and number of words in the vocabulary.
    words_checksum : int
        Checksum of all words in order; documents have separate hashes.
    tail_position, tail_word : int
        First document and first word that are not in a segment.
    tail_bytes : int
        Size of the packed counts from `tail_position` on.
    next_segment : int
        Number of the next segment; numbers are never reused.
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
    """Catalog row of a segment: its range of documents, and the file's size and hash.

    The name of the file is derived from `number`.
    """

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
        """Name of the segment's file, made from its number."""
        return f"{self.number:08d}.safetensors"


STATE_COLUMNS = ", ".join(field.name for field in fields(State))
_RECORD_COLUMNS = ", ".join(field.name for field in fields(SegmentRecord))


class Catalog:
    """SQLite connection to the catalog, with methods for its common statements.

    SQLite connections must not be used or closed in a forked process. There, the methods of a
    catalog raise an error.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection without automatic transactions.
    path : Path
        Path of the SQLite file.
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
        """Return the totals in the catalog (next position, numbers of documents and words)."""
        row = self.execute(f"SELECT {STATE_COLUMNS} FROM state").fetchone()
        if row is None or not all(map(_is_count, row)):
            raise damage_error(self.path, "its table 'state' must have one row of counts")
        return State(*row)

    def set_state(self, state: State) -> None:
        """Store the totals in the catalog."""
        self.execute(
            f"UPDATE state SET ({STATE_COLUMNS}) = "
            f"({', '.join('?' * len(fields(State)))}) WHERE one = 1",
            astuple(state),
        )

    def setting(self, name: str) -> str:
        """Return a setting that `Index.create` stored, by name."""
        row = self.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        if row is None or not isinstance(row[0], str):
            raise damage_error(self.path, f"it has no setting {name!r}")
        return str(row[0])

    def segments(self) -> list[SegmentRecord]:
        """Return the records of all segments, by position."""
        rows = self.execute(f"SELECT {_RECORD_COLUMNS} FROM segments ORDER BY first_position")
        records = []
        for row in rows:
            whole = all(map(_is_count, row[:-1]))
            if not whole or not isinstance(row[-1], str):
                raise damage_error(self.path, "its table 'segments' must hold counts and hashes")
            records.append(SegmentRecord(*row))
        return records

    def add_segment(self, record: SegmentRecord) -> None:
        """Insert the record of a segment into the catalog."""
        marks = ", ".join("?" * len(fields(SegmentRecord)))
        self.execute(f"INSERT INTO segments ({_RECORD_COLUMNS}) VALUES ({marks})", astuple(record))

    def deleted(self, first: int, end: int) -> list[int]:
        """Return the deleted positions from `first` to before `end`."""
        rows = self.execute(
            "SELECT position FROM deleted WHERE position >= ? AND position < ? ORDER BY position",
            (first, end),
        )
        return [position for (position,) in rows]

    def count_deleted(self, first: int, end: int) -> int:
        """Return the number of deleted positions from `first` to before `end`."""
        (count,) = self.execute(
            "SELECT count(*) FROM deleted WHERE position >= ? AND position < ?", (first, end)
        ).fetchone()
        return int(count)

    def counts(self, first: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Yield position and packed word counts of documents from `first` to before `end`."""
        return iter(
            self.execute(
                "SELECT position, counts FROM documents WHERE position >= ? AND position < ? "
                "ORDER BY position",
                (first, end),
            )
        )

    def words(self, first: int, end: int) -> list[str]:
        """Return the words with IDs from `first` to before `end`."""
        rows = self.execute(
            "SELECT number, word FROM words WHERE number >= ? AND number < ? ORDER BY number",
            (first, end),
        ).fetchall()
        sound = len(rows) == end - first and all(
            number == expected and isinstance(word, str)
            for expected, (number, word) in enumerate(rows, start=first)
        )
        if not sound:
            raise damage_error(self.path, f"words with IDs between {first} and {end} are missing")
        return [word for _, word in rows]

    def check_numbers(self) -> None:
        """Raise if the stored totals disagree with the tables of the catalog.

        New positions and IDs are allocated from these totals.
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
                raise damage_error(self.path, f"its table {table!r} has more rows than recorded")
            if table == "words" and (-1 if highest is None else highest) != end - 1:
                raise damage_error(self.path, "its table 'words' has fewer rows than recorded")
        # `list(index)` allocates by the number of documents. Each one takes more than a byte.
        ((size,),) = self.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        )
        if state.documents > min(state.next_position, size):
            raise damage_error(self.path, "it has fewer documents than recorded")
        position = word = 0
        for record in self.segments():
            follows = (record.first_position, record.first_word) == (position, word)
            if not follows or record.end_position < position or record.end_word < word:
                raise damage_error(
                    self.path, f"segment {record.number} does not continue the previous one"
                )
            position, word = record.end_position, record.end_word
        if (position, word) != (state.tail_position, state.tail_word):
            raise damage_error(self.path, "its segments do not end at the recorded position")
        if position > state.next_position or word > state.words:
            raise damage_error(self.path, "its segments end after the recorded position")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a ``with`` block as one transaction, which is durable after the block."""
        try:
            self.execute("BEGIN IMMEDIATE")
            yield
            self.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # SQLite may have rolled back on a full disk
                self.execute("ROLLBACK")
            raise

    def fold_log(self) -> None:
        """Merge SQLite's write-ahead log into the database file, if no reader needs it."""
        self.execute("PRAGMA busy_timeout = 0")  # a reader may keep its snapshot for hours
        try:
            self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self.execute(f"PRAGMA busy_timeout = {round(1000 * BUSY)}")

    def close(self) -> None:
        """Close the connection to the SQLite database of the catalog."""
        if self._ours:
            _in_use.discard(self)
            self.connection.close()

    def abandon(self) -> None:
        """Disable a connection inherited from the parent of a forked process.

        It is never closed, not even at interpreter exit: closing the last connection removes the
        log, which may then be the log of a writer that was killed.
        """
        self._ours = False
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.connection))
        self.execute = self.executemany = _refuse
        _inherited.add(self.file)


_in_use: "weakref.WeakSet[Catalog]" = weakref.WeakSet()

# Files that were open when this process was forked. SQLite registers the locks of a file once per
# process and would wrongly assume that it still holds them, so these must not be opened again.
_inherited: set[tuple[int, int]] = set()


def _refuse(*_arguments: object) -> sqlite3.Cursor:
    raise RuntimeError(_FORKED)


_FORKED = (
    "This index was open when the process was forked, and SQLite cannot be used in both processes. "
    "Start processes with multiprocessing.get_context('spawn') (or 'forkserver'), or close the "
    "index before the fork and open it again in both processes."
)


def check_not_forked(path: Path) -> None:
    """Raise if the catalog was already open when this process was forked."""
    if identity_of(path) in _inherited:
        raise RuntimeError(_FORKED)


def _after_fork() -> None:
    for catalog in list(_in_use):
        catalog.abandon()


call_after_fork(_after_fork)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


def words_checksum(words: Sequence[str], so_far: int) -> int:
    """Return the CRC-32 of the vocabulary, extended by more words."""
    joined = "".join(f"{word}\0" for word in words)
    # A corrupt word may have unpaired surrogates.
    return zlib.crc32(joined.encode("utf-8", "surrogatepass"), so_far)


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Convert SQLite errors in a ``with`` block to textkin or Python exceptions."""
    try:
        yield
    except UnicodeDecodeError as error:  # a message of SQLite contains a corrupt name
        raise damage_error(path, str(error)) from error
    except sqlite3.Error as error:
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if kind in _DAMAGE or is_decoding_error(error):
            raise damage_error(path, str(error)) from error
        if kind == sqlite3.SQLITE_TOOBIG or isinstance(error, sqlite3.DataError):
            raise ValueError(
                f"a document is too long for the catalog ({error}); split it into passages."
            ) from error
        if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
            raise IndexLockedError(
                f"{path.parent}: another process keeps the catalog locked ({error})."
            ) from error
        if kind == sqlite3.SQLITE_INTERRUPT:  # Ctrl-C interrupts a statement; see `_prepare`
            raise KeyboardInterrupt from error
        number = _ERRNO.get(kind)
        if number is None:
            raise
        raise OSError(number, f"{os.strerror(number)} ({error})", str(path)) from error


def is_decoding_error(error: sqlite3.Error) -> bool:
    """Return True if SQLite failed because a text is not valid UTF-8."""
    return str(error).startswith("Could not decode to UTF-8")


# Textkin never violates constraints or types, so these errors mean corruption.
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


def damage_error(path: Path, problem: str) -> DamagedIndexError:
    return DamagedIndexError(
        f"{path} is corrupt: {problem}. It contains the documents and cannot be rebuilt: restore "
        "it from a backup.",
        [f"{path.name}: {problem}"],
    )
