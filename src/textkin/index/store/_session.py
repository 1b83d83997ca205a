"""Session of an open index: its folder, current snapshot, writer, and writer lock.

A forked process starts with a new session state, because the SQLite connections and the writer lock
belong to the parent process.
"""

import errno
import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

import textkin
from textkin._base import (
    call_after_fork,
    file_locks,
    new_folder,
    open_flags,
    read_at,
    real,
    replace_content,
)
from textkin.exceptions import IndexLockedError, IndexWarning, ParameterTypeError
from textkin.index.store._attached_models import AttachedModels
from textkin.index.store._catalog import CATALOG, identity_of, translate_errors
from textkin.index.store._copy import copy_snapshot
from textkin.index.store._model_records import ModelRecord
from textkin.index.store._schema import (
    FORMAT,
    create_catalog,
    format_of,
    open_catalog,
    upgrade_catalog,
)
from textkin.index.store._settings import AnalyzerSettings, VectorSet, load_settings
from textkin.index.store._snapshot import SEGMENTS, Snapshot, open_snapshot
from textkin.index.store._term_map import StemAnalyzer
from textkin.index.store._text_fields import SETTING, TextFields
from textkin.index.store._writer import Writer
from textkin.run import ProgressCallback
from textkin.vectors import BuiltinName, WordVectors, vectors_by_name

__all__ = ["TIMEOUT", "Session", "create_index", "writer_lock"]

TIMEOUT = 10.0  # seconds
_LOCK = "writer.lock"
_SHOWN = 3
_NO_RIGHT = (errno.EACCES, errno.EPERM, errno.EROFS)
_BETWEEN_TRIES = 0.02  # seconds

_Made = TypeVar("_Made")


class Session:
    """Open index folder: current snapshot for readers, and one writer at a time.

    Parameters
    ----------
    path : path
        Folder of an index. If the folder is writable, an older format is upgraded, and missing
        segment files are rebuilt.
    timeout : float, default=10
        Seconds to wait for another writer before `IndexLockedError` is raised.
    models : mapping of str to object, default=None
        Attached models from other libraries, by name.

    Attributes
    ----------
    path : Path
        Absolute path of the folder.
    timeout : float
        Seconds to wait for another writer.
    analyzer : AnalyzerSettings
        Analyzer settings of the index.
    text_fields : TextFields or None
        Text fields of the index, or None for documents with a single text.
    vector_set : VectorSet
        Word vectors of the index.
    models : AttachedModels
        Models that compute vectors of documents.
    cache : dict
        Arrays that may outlive a snapshot. Code that reads them checks that they are still valid.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        timeout: float = TIMEOUT,
        models: Mapping[str, object] | None = None,
    ) -> None:
        real(0).check("timeout", timeout)
        if models is not None and not isinstance(models, Mapping):
            raise ParameterTypeError(
                "models", "a mapping of names to models", type(models).__name__
            )
        self.path = Path(path).absolute()  # the current folder may change
        self.timeout = float(timeout)
        self.models = AttachedModels(self.path)
        self.cache: dict[Hashable, object] = {}
        self._mutex = threading.RLock()
        self._write_mutex = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        self._current: Snapshot | None = None
        self._derived: tuple[Snapshot, object] | None = None
        self._writer: Writer | None = None
        self._watch: _CatalogWatch | None = None
        self._vectors: WordVectors | None = None
        _upgrade(self.path, self.timeout)
        snapshot = self.snapshot()
        with snapshot.catalog() as catalog:
            self.analyzer, self.vector_set = load_settings(catalog)
        self.text_fields = snapshot.text_fields
        self.models.provide_all(models or {}, snapshot.models)
        self._repair(snapshot)

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (str(self.path), self.timeout, self.models.provided())

    # Reading

    def snapshot(self) -> Snapshot:
        """Return the current snapshot of the index."""
        self.check_usable()
        with self._mutex:
            if self._current is None:
                self._current = open_snapshot(self.path)
            return self._current

    def derived(self, make: Callable[[Snapshot], _Made]) -> _Made:
        """Return an object made from the current snapshot, cached until it changes."""
        self.check_usable()  # before the mutex is read: a forked process gets a new one
        with self._mutex:
            snapshot = self.snapshot() if self._current is None else self._current
            if self._derived is None or self._derived[0] is not snapshot:
                self._derived = snapshot, make(snapshot)
            return cast("_Made", self._derived[1])

    def word_vectors(self) -> WordVectors:
        """Return the word vectors of the index, loaded on first use."""
        if self._vectors is None:
            self._vectors = self.vector_set.load(self.path)
        return self._vectors

    def refresh(self) -> None:
        """Replace the current snapshot by the newest one on disk."""
        self.check_usable()
        with self._mutex:
            self._replace(open_snapshot(self.path))

    def see_latest(self) -> None:
        """Replace the current snapshot if a newer one exists; otherwise cheap.

        Raises
        ------
        OSError
            If the folder of the index was moved, removed, or replaced.
        """
        self.check_usable()
        with self._mutex:
            if self._watch is None:
                self._watch = _CatalogWatch(self.path)
            if self.snapshot().state.number < self._watch.number():
                self.refresh()

    def check_usable(self) -> None:
        """Raise if the session is closed; start afresh in a forked process."""
        if self._closed:
            raise ValueError(f"The index {self.path} is closed; open it again with Index.open.")
        if os.getpid() != self._process:  # connections of the parent cannot be used; see Catalog
            self._current = self._writer = self._derived = self._watch = None
            self._mutex, self._write_mutex = threading.RLock(), threading.Lock()
            self._process = os.getpid()

    def _replace(self, snapshot: Snapshot | None) -> None:
        """Set the current snapshot, and drop objects made from the previous one."""
        self._current, self._derived = snapshot, None

    def _forget(self) -> None:
        """Drop the current snapshot, so that the next use opens a new one."""
        with self._mutex:
            self._replace(None)

    # Writing

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Lend the writer to one thread at a time, holding the writer lock.

        Raises
        ------
        IndexLockedError
            If another writer does not finish within `timeout` seconds.
        """
        self.check_usable()
        if not self._write_mutex.acquire(timeout=self.timeout):
            raise IndexLockedError(
                f"{self.path} is being written by another thread of this process, or by the "
                f"iterable of documents itself. Waited {self.timeout:g} s."
            )
        try:
            with writer_lock(self.path / _LOCK, self.timeout):
                # Open the writer's connection before releasing readers: the last connection to
                # close removes SQLite's log, and on a full disk it could not be created again.
                if self._writer is None:
                    self._writer = Writer(self.path, self.analyzer, self.text_fields, self.models)
                elif not self._writer.is_of(self.path):
                    raise _moved(self.path)
                # SQLite can fold its log into the file only without readers of older snapshots.
                self._forget()
                self._writer.refresh()
                try:
                    yield self._writer
                finally:
                    self._forget()  # the next reader sees the changes
                # Take the snapshot while the lock is held, so that it has no later writes.
                with suppress(OSError), self._mutex:
                    if not self._closed:
                        self._replace(open_snapshot(self.path))
        finally:
            self._write_mutex.release()
            if self._closed:
                self._close_writer()

    def publish(self, writer: Writer) -> None:
        """Make a committed transaction visible to readers, after updating segments.

        The transaction is already durable. An error while a segment is written becomes an
        `IndexWarning`, and the next write tries again.
        """
        try:
            writer.tidy()
        except OSError as error:
            warnings.warn(
                f"{self.path}: the documents are stored, but a segment could not be written "
                f"({error.strerror or error}). The next write tries again.",
                IndexWarning,
                stacklevel=5,
            )
        self._forget()

    def drop_model(self, record: ModelRecord) -> None:
        """Release cached data of a model that was detached."""
        self.models.forget(record)
        for key in list(self.cache):
            if isinstance(key, tuple) and record in key:
                self.cache.pop(key, None)

    def _repair(self, snapshot: Snapshot) -> None:
        """Rebuild missing or corrupt segments of a snapshot, if the folder is writable."""
        unusable = snapshot.unusable()
        if not unusable:
            return
        names = ", ".join(record.file for record in unusable[:_SHOWN])
        try:
            with self.writing() as writer:
                writer.repair(unusable)
            done = "They were rebuilt from the catalog; no data is lost."
        except OSError as error:
            done = (
                f"Their contents are read from the catalog, which is slower, because they cannot "
                f"be written ({error.strerror or error})."
            )
        warnings.warn(
            f"{self.path / SEGMENTS}: missing or corrupt: {names}. {done}",
            IndexWarning,
            stacklevel=5,
        )

    def copy(
        self, path: str | os.PathLike[str], progress: ProgressCallback | None = None
    ) -> "Session":
        """Copy the current snapshot to a new folder, and return its session."""
        target = Path(path).absolute()
        if self.path.resolve() in target.resolve().parents:
            raise ValueError(f"path must be outside the index; got {target}.")
        snapshot = self.snapshot()
        copy_snapshot(snapshot, target, progress)
        copy = Session(path, timeout=self.timeout)
        seen = snapshot.models.values()
        given = [(record, model) for record, model in self.models.provided() if record in seen]
        copy.models.restore(given, copy.snapshot().models)
        return copy

    # Closing

    @property
    def closed(self) -> bool:
        """True after `close` was called."""
        return self._closed

    def close(self) -> None:
        """Close all files; a thread that is writing closes the writer afterwards."""
        with self._mutex:
            self._closed = True
            self._replace(None)
            self.cache = {}
            watch, self._watch = self._watch, None
        if os.getpid() == self._process:
            if watch is not None:
                watch.close()
            self._close_writer()

    def _close_writer(self) -> None:
        if self._write_mutex.acquire(blocking=False):
            try:
                writer, self._writer = self._writer, None
                if writer is not None:
                    writer.close()
            finally:
                self._write_mutex.release()


class _CatalogWatch:
    """Connection that detects commits by other processes without a transaction."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._catalog = open_catalog(folder / CATALOG)
        self.close = weakref.finalize(self, self._catalog.close)

    def number(self) -> int:
        """Return the number of the newest snapshot on disk."""
        try:
            same = identity_of(self._catalog.path) == self._catalog.file
        except OSError:
            same = False
        if not same:
            raise _moved(self._folder)
        with translate_errors(self._catalog.path):
            (number,) = self._catalog.execute("SELECT number FROM state").fetchone()
        return int(number)


def _moved(folder: Path) -> OSError:
    return OSError(
        errno.ESTALE,
        "is not the folder that was opened, which was moved or removed; open the index again",
        str(folder),
    )


def create_index(
    path: Path,
    analyzer: AnalyzerSettings,
    vectors: WordVectors | BuiltinName | None,
    stems: StemAnalyzer | None = None,
    text_fields: TextFields | None = None,
) -> None:
    """Create the folder of an empty index, with its settings and word vectors."""
    if isinstance(vectors, str):
        vectors = vectors_by_name(vectors) or vectors
    if vectors is not None and not isinstance(vectors, WordVectors):
        raise ParameterTypeError(
            "vectors",
            "WordVectors, the name of built-in vectors ('glove' or 'distilled'), or None",
            repr(vectors) if isinstance(vectors, str) else type(vectors).__name__,
            "Load a file with WordVectors.load(path).",
        )
    own = vectors is not None and vectors is not WordVectors.builtin()
    vector_set = VectorSet("own") if own else VectorSet.built_in()
    with new_folder(path) as folder:
        (folder / SEGMENTS).mkdir()
        if own:
            assert vectors is not None
            vectors.save(folder / VectorSet.FOLDER)
        settings = {
            "reading": analyzer.to_json(),
            "vectors": vector_set.to_json(),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "textkin": textkin.__version__,
        }
        if text_fields is not None:
            settings[SETTING] = text_fields.to_json()
        create_catalog(folder / CATALOG, settings, stems)


def _reopened(path: str, timeout: float, given: list[tuple[ModelRecord, object]]) -> Session:
    session = Session(path, timeout=timeout)
    session.models.restore(given, session.snapshot().models)
    return session


def _upgrade(folder: Path, timeout: float) -> None:
    """Upgrade an index folder of an older format, under the writer lock."""
    path = folder / CATALOG
    if format_of(path) == FORMAT:
        return
    try:
        with writer_lock(folder / _LOCK, timeout):
            if format_of(path) != FORMAT:  # another process may have upgraded the index
                upgrade_catalog(path)
    except OSError as error:
        if error.errno not in _NO_RIGHT:
            raise
        open_catalog(path).close()  # raises unless it was upgraded concurrently


@contextmanager
def writer_lock(path: Path, timeout: float) -> Iterator[None]:
    """Hold the writer lock of an index in a ``with`` block; raise after `timeout`.

    Parameters
    ----------
    path : Path
        Lock file, which is never removed; it contains the ID of the last process with the lock.
    timeout : float
        Seconds to wait for another writer.

    Raises
    ------
    IndexLockedError
        If another writer still has the lock after `timeout` seconds.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OSError(errno.EINVAL, "is not a regular file; remove it", str(path))
    handle = os.open(path, _LOCK_FLAGS, 0o666)
    _handles.add(handle)
    try:
        deadline = time.monotonic() + timeout
        while not _locks.acquire(handle):
            if time.monotonic() >= deadline:
                holder = read_at(handle, 32, 0).decode("ascii", "replace").strip()
                who = f"process {holder}" if holder.isdigit() else "another process or thread"
                raise IndexLockedError(
                    f"{path.parent} is being written by {who}; an index has one writer at a time. "
                    f"Waited {timeout:g} s:",
                    hint="try again later, or open it with a longer `timeout`.",
                )
            time.sleep(_BETWEEN_TRIES)
        replace_content(handle, str(os.getpid()).encode("ascii"))
        yield
    finally:
        if handle in _handles:  # false in a process that was forked concurrently
            _handles.discard(handle)
            _locks.release(handle)
            os.close(handle)


# A forked process inherits the file and its lock, and would hold the lock after the writer dies.
_handles: set[int] = set()
_locks = file_locks()
_LOCK_FLAGS = open_flags("O_RDWR", "O_CREAT", "O_CLOEXEC", "O_NOFOLLOW")


def _after_fork() -> None:
    for handle in _handles:
        os.close(handle)
    _handles.clear()


call_after_fork(_after_fork)
