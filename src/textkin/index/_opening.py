"""How a catalogue is made, opened and brought to the present format.

A folder may come from a stranger: what lies beside the file, what the file is and which tables it
has are looked at before anything is read from it.
"""

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from urllib.parse import quote

from textkin.index._catalogue import (
    BUSY,
    CATALOGUE,
    STATE_COLUMNS,
    Catalogue,
    State,
    check_not_inherited,
    damaged,
    plain_errors,
)
from textkin.index._model_records import MODEL_TABLES

__all__ = ["FORMAT", "create_catalogue", "format_of", "open_catalogue", "upgrade_catalogue"]

FORMAT = 2
_APPLICATION = int.from_bytes(b"tkin", "big")
_STEPS = 1_000_000  # of SQLite's machine: some ten milliseconds
_CHECKSUM = "checksum"  # the name of a setting
_CACHE = 64 << 10  # KiB that a writer keeps of the file

# The text comes last: SQLite reads a row up to the column that is wanted.
_SCHEMA = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, "
    "next_position INTEGER NOT NULL, documents INTEGER NOT NULL, tokens INTEGER NOT NULL, "
    "words INTEGER NOT NULL, words_checksum INTEGER NOT NULL, "
    "tail_position INTEGER NOT NULL, tail_word INTEGER NOT NULL, "
    "tail_bytes INTEGER NOT NULL, next_segment INTEGER NOT NULL)",
    "CREATE TABLE documents (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
    "digest BLOB NOT NULL, length INTEGER NOT NULL, checksum INTEGER NOT NULL, "
    "counts BLOB NOT NULL, label TEXT NOT NULL, metadata TEXT NOT NULL, text TEXT NOT NULL)",
    "CREATE TABLE words (number INTEGER PRIMARY KEY, word TEXT NOT NULL)",
    "CREATE TABLE segments (number INTEGER PRIMARY KEY, first_position INTEGER NOT NULL, "
    "end_position INTEGER NOT NULL, first_word INTEGER NOT NULL, end_word INTEGER NOT NULL, "
    "rows INTEGER NOT NULL, entries INTEGER NOT NULL, bytes INTEGER NOT NULL, "
    "sha256 TEXT NOT NULL)",
    "CREATE TABLE deleted (position INTEGER PRIMARY KEY)",
    *MODEL_TABLES,
)


def _with_models(connection: sqlite3.Connection) -> None:
    """Upgrade from format 1, which had no models."""
    for statement in MODEL_TABLES:
        connection.execute(statement)


# From a format to the next one: upgrade(connection) inside of a transaction.
_UPGRADES: dict[int, Callable[[sqlite3.Connection], None]] = {1: _with_models}


def create_catalogue(path: Path, settings: Mapping[str, str]) -> None:
    """Make an empty catalogue."""
    with plain_errors(path):
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            catalogue = Catalogue(connection, path)
            with catalogue.transaction():
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                connection.executemany(
                    "INSERT INTO settings VALUES (?, ?)",
                    [*settings.items(), (_CHECKSUM, _settings_checksum(settings.items()))],
                )
                connection.execute(
                    f"INSERT INTO state (one, {STATE_COLUMNS}) "
                    f"VALUES (1, {', '.join('0' * len(fields(State)))})"
                )
        finally:
            connection.close()


def open_catalogue(path: Path) -> Catalogue:
    """Open a catalogue of the present format, after a look at what it is.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is none, if it is something else, or if it is in a newer or an older format.
    DamagedIndexError
        If SQLite cannot read it, or its tables are not those that textkin makes.
    """
    catalogue = _opened(path)
    try:
        with plain_errors(path):
            found = _checked_format(catalogue)
            if found != FORMAT:
                raise ValueError(
                    f"{path.parent} is in format {found}; it is upgraded to {FORMAT} when it is "
                    "opened where it can be written."
                )
            tables = catalogue.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
            if sorted(sql for (sql,) in tables) != sorted(_SCHEMA):
                raise damaged(path, "its tables are not those that textkin makes")
            settings = dict(catalogue.execute("SELECT name, value FROM settings"))
            if settings.pop(_CHECKSUM, None) != _settings_checksum(settings.items()):
                raise damaged(path, "its settings are not what they were")
    except BaseException:
        catalogue.close()
        raise
    return catalogue


def _settings_checksum(settings: Iterable[tuple[object, object]]) -> str:
    return hashlib.sha256(repr(sorted(settings, key=repr)).encode()).hexdigest()


def format_of(path: Path) -> int:
    """Return the format of a catalogue; newer ones, and other files, are refused."""
    catalogue = _opened(path)
    try:
        with plain_errors(path):
            return _checked_format(catalogue)
    finally:
        catalogue.close()


def upgrade_catalogue(path: Path) -> None:
    """Bring a catalogue of an older format to the present one, in one transaction.

    The caller has the writer's lock.
    """
    catalogue = _opened(path)
    try:
        with plain_errors(path), catalogue.transaction():
            for step in range(_checked_format(catalogue), FORMAT):
                _UPGRADES[step](catalogue.connection)
                catalogue.execute(f"PRAGMA user_version = {step + 1}")
    finally:
        catalogue.close()


def _opened(path: Path) -> Catalogue:
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.parent} is no index: it has no {CATALOGUE}. Make one with Index.create(path)."
        )
    _check_neighbours(path)
    check_not_inherited(path)
    with plain_errors(path):
        connection = _connected(path, "mode=rw")
        try:
            _prepare(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            if os.access(path.parent, os.W_OK):
                raise
            connection = _connected(path, _frozen(path, error))
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
    return Catalogue(connection, path)


def _check_neighbours(path: Path) -> None:
    """Refuse files that SQLite would follow: to other folders, or for ever.

    A journal is never ours, because an index has a log instead; and one that somebody made can
    name any file, which SQLite removes when it plays the journal back.
    """
    for ending in ("", "-wal", "-shm"):
        file = path.with_name(path.name + ending)
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise damaged(path, f"{file.name} is no ordinary file")
    journal = path.with_name(f"{path.name}-journal")
    if journal.is_symlink() or journal.exists():
        raise damaged(path, f"{journal.name} lies beside it, which textkin never makes")


def _connected(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(os.fsencode(path.absolute()))}?{how}",
        uri=True,
        isolation_level=None,
        timeout=BUSY,
        check_same_thread=False,
    )


def _prepare(connection: sqlite3.Connection) -> None:
    # The first statement that reads the file comes first: it may fail.
    connection.execute("PRAGMA application_id").fetchone()
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = -{_CACHE}")
    # Python looks at Ctrl-C only while it runs: let it run now and then during a long statement.
    connection.set_progress_handler(lambda: 0, _STEPS)


def _frozen(path: Path, error: sqlite3.OperationalError) -> str:
    """Return how to open a catalogue that this process may not write to, and so SQLite's log."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size > 0:
        raise PermissionError(
            f"{path.parent} cannot be written to, and its last writer did not close it, so that "
            "its log must be folded in first. Open it once where it can be written."
        ) from error
    return "mode=ro&immutable=1"


def _checked_format(catalogue: Catalogue) -> int:
    """Return the format, unless it is none or a newer one."""
    path = catalogue.path
    (application,) = catalogue.execute("PRAGMA application_id").fetchone()
    (found,) = catalogue.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise ValueError(f"{path} is a database of something else; expected an index of textkin.")
    if found > FORMAT:
        raise ValueError(
            f"{path.parent} is in format {found}; this textkin reads formats up to {FORMAT}. "
            "Install a newer textkin."
        )
    if found < FORMAT and found not in _UPGRADES:
        raise damaged(path, f"it says that it is in format {found}, which there never was")
    return int(found)
