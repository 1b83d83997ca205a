"""The life of an open index: what it sees, who writes, and what becomes of it at the end."""

import errno
import os
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from textkin._validation import real
from textkin.exceptions import DamagedIndexError, IndexLockedError, IndexWarning
from textkin.index._catalogue import CATALOGUE
from textkin.index._files import writer_lock
from textkin.index._model_records import ModelRecord
from textkin.index._models import Models
from textkin.index._opening import FORMAT, format_of, open_catalogue, upgrade_catalogue
from textkin.index._settings import Reading, VectorSet
from textkin.index._snapshot import SEGMENTS, Snapshot, open_snapshot
from textkin.index._writer import Writer
from textkin.index.ranking._view import View
from textkin.vectors import WordVectors

__all__ = ["TIMEOUT", "OpenIndex"]

TIMEOUT = 10.0
_LOCK = "writer.lock"
_SHOWN = 3
_NO_RIGHT = (errno.EACCES, errno.EPERM, errno.EROFS)


class OpenIndex:
    """An index that is open: one state for readers, one writer at a time, closed once.

    Parameters
    ----------
    path : path
        The folder of an index.
    timeout : float, default=10
        Seconds to wait for another writer before `IndexLockedError` is raised.
    models : mapping of str to object, default=None
        Attached models that are not of textkin, by their names.
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
            raise TypeError(
                f"models must be a mapping of names to models; got {type(models).__name__}."
            )
        self.path = Path(path).absolute()  # the current folder may change
        self._timeout = float(timeout)
        self._mutex = threading.RLock()
        self._write_mutex = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        self._current: Snapshot | None = None
        self._writer: Writer | None = None
        self._vectors: WordVectors | None = None
        self._seen: View | None = None
        self._kept: dict[Hashable, object] = {}  # for the views that follow
        self._models = Models(self.path)
        _upgraded(self.path, self._timeout)
        snapshot = self._snapshot()
        with snapshot.catalogue() as catalogue:
            self._reading, self._vector_set = _settings(self.path, catalogue.setting)
        self._models.give_all(models or {}, snapshot.models)
        self._make_whole(snapshot)

    def close(self) -> None:
        """Close the files.

        Iterations that have begun can go on, and so can a call in another thread that writes;
        closing twice is no error.
        """
        with self._mutex:
            self._closed = True
            self._see(None)
            self._kept = {}
        if os.getpid() == self._process:
            self._close_writer()

    def _close_writer(self) -> None:
        """Close the writer, unless a thread writes: that one closes it when it is done."""
        if self._write_mutex.acquire(blocking=False):
            try:
                writer, self._writer = self._writer, None
                if writer is not None:
                    writer.close()
            finally:
                self._write_mutex.release()

    def __enter__(self) -> Self:
        self._check_usable()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (type(self), str(self.path), self._timeout, self._models.given())

    def _snapshot(self) -> Snapshot:
        self._check_usable()
        with self._mutex:
            current = self._current
            if current is None:
                current = self._current = open_snapshot(self.path)
            return current

    @property
    def vectors(self) -> WordVectors:
        """The word vectors of the index, loaded when they are first asked for."""
        if self._vectors is None:
            self._vectors = self._vector_set.load(self.path)
        return self._vectors

    def _view(self) -> View:
        """Return the present state as rankings see it, made once for each."""
        snapshot = self._snapshot()
        with self._mutex:
            if self._seen is None or self._seen.snapshot is not snapshot:
                if self._seen is not None:
                    self._seen.let_go()
                self._seen = View(
                    snapshot, self._reading, lambda: self.vectors, self._models, self._kept
                )
            return self._seen

    def _forget(self) -> None:
        """Let the next to read take a snapshot; a thread that is taking one now ends first."""
        with self._mutex:
            self._see(None)

    def _see(self, snapshot: Snapshot | None) -> None:
        """Let this be the present state, and go of what was made for the one before."""
        self._current = snapshot
        seen, self._seen = self._seen, None
        if seen is not None:
            seen.let_go()

    def _check_usable(self) -> None:
        if self._closed:
            raise ValueError(f"The index {self.path} is closed; open it again with Index.open.")
        if os.getpid() != self._process:  # what was open is of no use here, see Catalogue
            self._current = self._writer = self._seen = None
            self._mutex, self._write_mutex = threading.RLock(), threading.Lock()
            self._process = os.getpid()

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        """Give the writer to one thread of one process at a time."""
        self._check_usable()
        if not self._write_mutex.acquire(timeout=self._timeout):
            raise IndexLockedError(
                f"{self.path} is being written by this process already, by another thread or by "
                f"what is iterated over. Waited {self._timeout:g} s."
            )
        try:
            with writer_lock(self.path / _LOCK, self._timeout):
                # The writer's connection comes first: the last one to be closed removes SQLite's
                # log, and where the disk is full nobody could make it again, not even to read.
                if self._writer is None:
                    self._writer = Writer(self.path, self._reading, self._models)
                elif not self._writer.is_of(self.path):
                    raise OSError(
                        errno.ESTALE,
                        "is not the folder that was opened, which was moved or removed; open it "
                        "again",
                        str(self.path),
                    )
                # SQLite folds its log into the file only if nobody reads an older state.
                self._forget()
                self._writer.refresh()
                try:
                    yield self._writer
                finally:
                    self._forget()  # the next to read sees what was written
                # What was written is kept, whoever can read it now; and nothing that others write.
                with suppress(OSError), self._mutex:
                    if not self._closed:
                        self._see(open_snapshot(self.path))
        finally:
            self._write_mutex.release()
            if self._closed:
                self._close_writer()

    def _tidy(self, writer: Writer) -> None:
        """Make and merge segments; what was acknowledged is safe, whatever becomes of this."""
        try:
            writer.tidy()
        except OSError as error:
            warnings.warn(
                f"{self.path}: the documents are kept, but a segment could not be written "
                f"({error.strerror or error}); it will be tried again.",
                IndexWarning,
                stacklevel=4,
            )

    def _make_whole(self, snapshot: Snapshot) -> None:
        """Make segments again whose files are missing or cut short, if writing is possible now."""
        unusable = snapshot.unusable()
        if not unusable:
            return
        names = ", ".join(record.file for record in unusable[:_SHOWN])
        try:
            with self._writing() as writer:
                writer.repair(unusable)
            done = "They were made again from the catalogue; nothing is lost."
        except OSError as error:
            done = (
                f"They are read from the catalogue, which is slower, because they cannot be "
                f"written ({error.strerror or error})."
            )
        warnings.warn(
            f"{self.path / SEGMENTS}: missing or damaged: {names}. {done}",
            IndexWarning,
            stacklevel=4,
        )


def _reopened(
    kind: type[OpenIndex], path: str, timeout: float, given: list[tuple[ModelRecord, object]]
) -> OpenIndex:
    index = kind(path, timeout=timeout)
    index._models.give_again(given, index._snapshot().models)
    return index


def _upgraded(folder: Path, timeout: float) -> None:
    """Bring an index of an older format to the present one."""
    path = folder / CATALOGUE
    if format_of(path) == FORMAT:
        return
    try:
        with writer_lock(folder / _LOCK, timeout):
            if format_of(path) != FORMAT:  # another process may have done it
                upgrade_catalogue(path)
    except OSError as error:
        if error.errno not in _NO_RIGHT:
            raise
        open_catalogue(path).close()  # says that it must be upgraded, unless it was meanwhile


def _settings(folder: Path, setting: Callable[[str], str]) -> tuple[Reading, VectorSet]:
    try:
        return Reading.from_json(setting("reading")), VectorSet.from_json(setting("vectors"))
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, DamagedIndexError):
            raise
        raise DamagedIndexError(
            f"{folder / CATALOGUE} is damaged: its settings cannot be used ({error}).",
            [f"{CATALOGUE}: settings"],
        ) from error
