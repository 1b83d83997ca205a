"""SQLite schema of the catalog: creating, opening, and upgrading it.

A folder may be untrusted. Therefore adjacent files, the type of the file, and its tables are
checked before anything is read from it.
"""

import hashlib
import json
import math
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from textkin._base import hinted
from textkin.index.store._catalog import (
    BUSY,
    CATALOG,
    STATE_COLUMNS,
    Catalog,
    State,
    check_not_forked,
    damage_error,
    translate_errors,
)
from textkin.index.store._term_map import StemAnalyzer, add_analyzer
from textkin.index.store._text_fields import NO_FIELDS, TextFields
from textkin.reading import Document

__all__ = [
    "DOCUMENT_COLUMNS",
    "FORMAT",
    "Content",
    "content_of",
    "create_catalog",
    "digest_of",
    "document_of",
    "fields_of",
    "format_of",
    "is_text",
    "open_catalog",
    "upgrade_catalog",
]

FORMAT = 3
DOCUMENT_COLUMNS = "id, label, metadata, text, field_lengths"
_APPLICATION = int.from_bytes(b"tkin", "big")
_STEPS = 1_000_000  # instructions of SQLite's virtual machine: some ten milliseconds
_CHECKSUM = "checksum"  # name of a setting
_CACHE = 64 << 10  # cache size of a writer, in KiB
_DIGEST = 16  # digest size, in bytes
_DEEPEST = 100  # maximum nesting depth of lists and dicts

_MODEL_TABLES = (
    "CREATE TABLE models (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
    "takes TEXT NOT NULL, metric TEXT NOT NULL, columns INTEGER NOT NULL, "
    "dimensions INTEGER NOT NULL, steps INTEGER NOT NULL, sha256 TEXT NOT NULL, "
    "description TEXT NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE vectors (model INTEGER NOT NULL, position INTEGER NOT NULL, "
    "checksum INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE (model, position))",
)

_TERM_TABLES = (
    "CREATE TABLE analyzers (number INTEGER PRIMARY KEY, settings TEXT NOT NULL, "
    "terms INTEGER NOT NULL, terms_checksum INTEGER NOT NULL, map_checksum INTEGER NOT NULL)",
    "CREATE TABLE terms (number INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE)",
    "CREATE TABLE word_terms (first INTEGER PRIMARY KEY, terms BLOB NOT NULL)",
)

_VECTOR_TABLES = (
    "CREATE TABLE embeddings (model INTEGER PRIMARY KEY, dtype TEXT NOT NULL, "
    "generation INTEGER NOT NULL, next_file INTEGER NOT NULL)",
    "CREATE TABLE vector_files (model INTEGER NOT NULL, number INTEGER NOT NULL, "
    "rows INTEGER NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, "
    "PRIMARY KEY (model, number)) WITHOUT ROWID",
    "CREATE TABLE missing_vectors (model INTEGER NOT NULL, position INTEGER NOT NULL, "
    "PRIMARY KEY (model, position)) WITHOUT ROWID",
)

_FIELD_LENGTHS = "field_lengths TEXT NOT NULL DEFAULT 'null'"

# The text is one of the last columns, because SQLite reads a row up to the last requested column.
_SCHEMA = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, "
    "next_position INTEGER NOT NULL, documents INTEGER NOT NULL, tokens INTEGER NOT NULL, "
    "words INTEGER NOT NULL, words_checksum INTEGER NOT NULL, "
    "tail_position INTEGER NOT NULL, tail_word INTEGER NOT NULL, "
    "tail_bytes INTEGER NOT NULL, next_segment INTEGER NOT NULL)",
    # Early, because a truncated page of an empty table would go unnoticed.
    *_VECTOR_TABLES,
    *_TERM_TABLES,
    "CREATE TABLE documents (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
    "digest BLOB NOT NULL, length INTEGER NOT NULL, checksum INTEGER NOT NULL, "
    "counts BLOB NOT NULL, label TEXT NOT NULL, metadata TEXT NOT NULL, text TEXT NOT NULL, "
    f"{_FIELD_LENGTHS})",
    "CREATE TABLE words (number INTEGER PRIMARY KEY, word TEXT NOT NULL)",
    "CREATE TABLE segments (number INTEGER PRIMARY KEY, first_position INTEGER NOT NULL, "
    "end_position INTEGER NOT NULL, first_word INTEGER NOT NULL, end_word INTEGER NOT NULL, "
    "rows INTEGER NOT NULL, entries INTEGER NOT NULL, bytes INTEGER NOT NULL, "
    "sha256 TEXT NOT NULL)",
    "CREATE TABLE deleted (position INTEGER PRIMARY KEY)",
    *_MODEL_TABLES,
)


def _add_models(connection: sqlite3.Connection) -> None:
    """Upgrade a catalog of format 1 by adding the tables of models."""
    for statement in _MODEL_TABLES:
        connection.execute(statement)


def _upgrade_to_3(connection: sqlite3.Connection) -> None:
    """Upgrade from format 2, which stored all vectors as rows of float32, without analyzers.

    Its documents had no fields.
    """
    for statement in (*_VECTOR_TABLES, *_TERM_TABLES):
        connection.execute(statement)
    connection.execute("INSERT INTO embeddings SELECT number, 'float32', 0, 0 FROM models")
    connection.execute(f"ALTER TABLE documents ADD COLUMN {_FIELD_LENGTHS}")


# Upgrades from each format to the next: functions of a connection, called within a transaction.
_UPGRADES: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: _add_models,
    2: _upgrade_to_3,
}


def create_catalog(
    path: Path, settings: Mapping[str, str], stems: StemAnalyzer | None = None
) -> None:
    """Create an empty catalog with settings and the analyzer of term rankings."""
    with translate_errors(path):
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            catalog = Catalog(connection, path)
            with catalog.transaction():
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
                if stems is not None:
                    add_analyzer(catalog, stems)
        finally:
            connection.close()


def open_catalog(path: Path) -> Catalog:
    """Open a catalog of the current format, and verify that its tables exist.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file does not exist, is not a catalog, or has a newer or an older format.
    DamagedIndexError
        If SQLite cannot read the file, or its tables are not the tables of textkin.
    """
    catalog = _open(path)
    try:
        with translate_errors(path):
            found = _check_format(catalog)
            if found != FORMAT:
                raise ValueError(
                    f"{path.parent} has format {found}, which must be upgraded to {FORMAT}. Open "
                    "the index once where its folder is writable."
                )
            tables = catalog.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
            if sorted(sql for (sql,) in tables) != sorted(_SCHEMA):
                raise damage_error(path, "its tables are not the tables of an index")
            settings = dict(catalog.execute("SELECT name, value FROM settings"))
            if settings.pop(_CHECKSUM, None) != _settings_checksum(settings.items()):
                raise damage_error(path, "its settings have changed (their checksum differs)")
    except BaseException:
        catalog.close()
        raise
    return catalog


def _settings_checksum(settings: Iterable[tuple[object, object]]) -> str:
    return hashlib.sha256(repr(sorted(settings, key=repr)).encode()).hexdigest()


def format_of(path: Path) -> int:
    """Return the format number of a catalog file; raise if it is newer or not a catalog."""
    catalog = _open(path)
    try:
        with translate_errors(path):
            return _check_format(catalog)
    finally:
        catalog.close()


def upgrade_catalog(path: Path) -> None:
    """Upgrade a catalog to the current format in one transaction.

    The caller must hold the writer lock.
    """
    catalog = _open(path)
    try:
        with translate_errors(path), catalog.transaction():
            for step in range(_check_format(catalog), FORMAT):
                _UPGRADES[step](catalog.connection)
                catalog.execute(f"PRAGMA user_version = {step + 1}")
    finally:
        catalog.close()


def _open(path: Path) -> Catalog:
    if not path.is_file():
        raise hinted(
            FileNotFoundError,
            f"{path.parent} is not an index: it has no {CATALOG}.",
            "Create one with `Index.create(path)`.",
        )
    _check_neighbours(path)
    check_not_forked(path)
    with translate_errors(path):
        connection = _connect(path, "mode=rw")
        try:
            _prepare(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            if os.access(path.parent, os.W_OK):
                raise
            connection = _connect(path, _read_only_mode(path, error))
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
    return Catalog(connection, path)


def _check_neighbours(path: Path) -> None:
    """Raise if files next to the catalog could mislead SQLite (links, foreign journals).

    textkin never creates a journal, because an index uses a write-ahead log. A forged journal can
    name any file, and SQLite removes this file when it replays the journal.
    """
    for ending in ("", "-wal", "-shm"):
        file = path.with_name(path.name + ending)
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise damage_error(path, f"{file.name} is not a regular file")
    journal = path.with_name(f"{path.name}-journal")
    if journal.is_symlink() or journal.exists():
        raise damage_error(path, f"{journal.name} exists, which textkin never creates")


def _connect(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(os.fsencode(path.absolute()))}?{how}",
        uri=True,
        isolation_level=None,
        timeout=BUSY,
        check_same_thread=False,
    )


def _prepare(connection: sqlite3.Connection) -> None:
    # The first statement that reads the file must come first, because it may fail.
    connection.execute("PRAGMA application_id").fetchone()
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = -{_CACHE}")
    # Python handles Ctrl-C only while it runs; the handler runs it during long statements.
    connection.set_progress_handler(lambda: 0, _STEPS)


def _read_only_mode(path: Path, error: sqlite3.OperationalError) -> str:
    """Return the SQLite open mode for a catalog in a folder that cannot be written."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size > 0:
        raise PermissionError(
            f"{path.parent} is read-only, and its last writer did not close it, so its log must "
            "be folded into the catalog. Open the index once where its folder is writable."
        ) from error
    return "mode=ro&immutable=1"


def _check_format(catalog: Catalog) -> int:
    """Return the format number of an open catalog; raise if it is unknown or newer."""
    path = catalog.path
    (application,) = catalog.execute("PRAGMA application_id").fetchone()
    (found,) = catalog.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise ValueError(f"{path} must be an index of textkin; got a database of another program.")
    if found > FORMAT:
        raise ValueError(
            f"{path.parent} has format {found}; this version of textkin reads formats up to "
            f"{FORMAT}. Install a newer version."
        )
    if found < FORMAT and found not in _UPGRADES:
        raise damage_error(path, f"its format is {found}, which does not exist")
    return int(found)


class Content(NamedTuple):
    """Stored parts of a document; label, metadata, and the lengths of text fields are JSON."""

    id: str
    label: str
    metadata: str
    text: str
    field_lengths: str

    def digest(self) -> bytes:
        """Return a hash of all stored parts."""
        return digest_of(*self)


def digest_of(id: str, label: str, metadata: str, text: str, field_lengths: str) -> bytes:
    """Return a hash of the stored parts of a document."""
    # The lengths separate the parts, so that distinct documents have distinct strings.
    whole = f"{len(id)} {len(label)} {len(metadata)} {id}{label}{metadata}{text}"
    if field_lengths != NO_FIELDS:  # a list: without fields, the string begins with a digit
        whole = f"{field_lengths}{whole}"
    return hashlib.blake2b(whole.encode(), digest_size=_DIGEST).digest()


def content_of(document: Document, text_fields: TextFields | None = None) -> Content:
    """Return the stored parts of a document, in an index with these text fields.

    Raises
    ------
    TypeError, ValueError
        If JSON cannot represent the label or the metadata, or the document has other text fields.
        The message has only the reason.
    """
    metadata = "{}"
    if document.metadata:
        plain = dict(document.metadata)
        _check_value(plain, "metadata")
        metadata = _as_json(plain)
    label = "null"
    if document.label is not None:
        _check_value(document.label, "label")
        label = _as_json(document.label)
    if text_fields is not None:
        return Content(document.id, label, metadata, *text_fields.of_document(document))
    if len(document.fields) > 1:
        raise hinted(
            ValueError,
            f"the index has one text, and the document has the fields {[*document.fields]!r};",
            f"create the index with `Index.create(path, text={[*document.fields]!r})`",
        )
    return Content(document.id, label, metadata, document.text, NO_FIELDS)


def document_of(row: tuple[str, str, str, str, str], text_fields: TextFields | None) -> Document:
    """Convert a catalog row of `DOCUMENT_COLUMNS` to a `Document`."""
    id, label, metadata, text, lengths = row
    fields = fields_of(text, lengths, text_fields)
    return Document(id, text, json.loads(label), json.loads(metadata), fields)


def fields_of(text: str, lengths: str, text_fields: TextFields | None) -> dict[str, str]:
    """Return the fields of a stored text; empty in an index without text fields.

    Raises
    ------
    TypeError, ValueError
        If the lengths do not belong to the text.
    """
    if text_fields is not None:
        return text_fields.split(text, lengths)
    if lengths != NO_FIELDS:
        raise ValueError("it has text fields, and the index has none")
    return {}


def is_text(id: str) -> bool:
    """Return True if a string can be stored as UTF-8 (no unpaired surrogates)."""
    try:
        id.encode()
    except UnicodeEncodeError:
        return False
    return True


def _as_json(value: object) -> str:
    try:
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        written.encode()
    except UnicodeEncodeError:
        raise ValueError("metadata must be valid Unicode; got an unpaired surrogate") from None
    return written


def _check_value(value: Any, where: str, depth: int = 0) -> None:  # noqa: ANN401 (a user's)
    """Raise unless a metadata value survives conversion to JSON and back."""
    if depth > _DEEPEST:
        raise ValueError(f"{where[:80]}... must not be nested deeper than {_DEEPEST}")
    if value is None or isinstance(value, str | bool | int):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} must be JSON, which cannot represent {value}; use None")
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            _check_value(item, f"{where}[{place}]", depth + 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str):
                raise TypeError(
                    f"the names in {where} must be strings; got {name!r} ({type(name).__name__})"
                )
            _check_value(item, f"{where}[{name!r}]", depth + 1)
    else:
        raise TypeError(
            f"{where} must be JSON (strings, numbers, booleans, None, lists and dicts of them); "
            f"got {type(value).__name__}: convert it to a string or a number"
        )
