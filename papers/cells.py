"""Cells: the smallest units of an experiment, each computed once and stored in its own file.

A cell is one method on one split of one data set. Cells are independent, so an interrupted run
resumes where it stopped: cells that have a file are not computed again. The file name contains a
hash of everything that the numbers of the cell depend on.
"""

import errno
import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from numpy.typing import NDArray

from textkin._base import abbreviate

__all__ = ["Cell", "Keeper", "MissingDataError", "Outcome", "Shared", "Task", "Values"]

Values: TypeAlias = Mapping[str, Any]
"""Numbers of a cell by name. Other JSON values are allowed."""

Scope: TypeAlias = Literal["run", "dataset", "split"]

_T = TypeVar("_T")
_SCOPES: tuple[Scope, ...] = ("run", "dataset", "split")
_RECORD: Mapping[str, type | tuple[type, ...]] = {
    "dataset": str,
    "method": str,
    "split": int,
    "values": (dict, type(None)),
    "missing": str,
    "seconds": (int, float),
    "cpu_seconds": (int, float),
    "warnings": list,
    "run": dict,
}


class MissingDataError(FileNotFoundError):
    """Error for a file that is missing from the data folder.

    The path of the folder is a note of the exception, because reports must not contain it.
    """


@dataclass(frozen=True, slots=True)
class Cell:
    """Identity of a cell: data set, method, split, and settings.

    Attributes
    ----------
    dataset, method : str
        Names of the data set and of the method, a key of the experiment's `methods`.
    split : int
        Index of the split, from 0.
    settings : mapping
        Arguments of the method's function, as plain JSON.
    version : int
        Version of the method's code. A new version makes the stored cells of the old one invalid.
    """

    dataset: str
    method: str
    split: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a cell: its values, or the reason why there are none.

    Attributes
    ----------
    dataset, method : str
        Names of the data set and the method.
    split : int
        Index of the split.
    values : mapping or None
        Computed values. None if the computation failed.
    missing : str
        Reason for missing values. Empty if there are values.
    seconds : float
        Elapsed time, which includes shared data that this cell was the first to need.
    cpu_seconds : float
        CPU time of all threads, which depends little on the load of the machine.
    warnings : tuple of str
        Warnings raised during the computation.
    run : mapping
        Date, machine, and versions of the computation.
    """

    dataset: str
    method: str
    split: int
    values: Values | None
    missing: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain JSON."""
        record: dict[str, Any] = {
            "dataset": self.dataset,
            "method": self.method,
            "split": self.split,
            "values": None if self.values is None else dict(self.values),
        }
        if self.missing:
            record["missing"] = self.missing
        record |= {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        if self.warnings:
            record["warnings"] = list(self.warnings)
        if self.run:
            record["run"] = dict(self.run)
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Outcome":
        """Create an outcome from a record made by `to_dict`.

        Raises
        ------
        KeyError, TypeError, ValueError
            If the record is not an outcome.
        """
        whole = {"missing": "", "warnings": [], "run": {}, **record}
        for name, kinds in _RECORD.items():
            value = whole[name]
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise TypeError(f"{name!r} of a cell is {abbreviate(value)}")
        if not all(isinstance(text, str) for text in whole["warnings"]):
            raise TypeError("'warnings' of a cell must be strings")
        json.dumps([whole["values"], whole["seconds"], whole["cpu_seconds"]], allow_nan=False)
        return cls(
            whole["dataset"],
            whole["method"],
            whole["split"],
            whole["values"],
            whole["missing"],
            float(whole["seconds"]),
            float(whole["cpu_seconds"]),
            tuple(whole["warnings"]),
            whole["run"],
        )


class Shared:
    """Values that several cells of a run use, such as texts, word counts, and word vectors."""

    def __init__(self) -> None:
        self._made: dict[Scope, dict[str, Any]] = {scope: {} for scope in _SCOPES}
        self._at: tuple[str, int] | None = None

    def enter(self, dataset: str, split: int) -> None:
        """Drop values of the previous data set, or of the previous split of this data set."""
        if self._at is not None and self._at[0] != dataset:
            self._made["dataset"].clear()
        if self._at != (dataset, split):
            self._made["split"].clear()
        self._at = dataset, split

    def get(self, scope: Scope, name: str, make: Callable[[], _T]) -> _T:
        """Return the stored value of this name; compute it first if it is missing."""
        made = self._made[scope]
        if name not in made:
            made[name] = make()
        found: _T = made[name]
        return found


class Keeper:
    """Folder in which cells and arrays are stored.

    Parameters
    ----------
    folder : Path
        Path of the folder. The folder is created when it is first needed.
    fresh : bool, default=False
        If True, compute stored arrays again, once per run.
    """

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        self.folder = folder
        self._fresh = fresh
        self._made: set[Path] = set()

    def open(self) -> None:
        """Create the folder. A path without write permission fails here, before hours of work.

        Raises
        ------
        OSError
            If the folder cannot be created or written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        if not os.access(self.folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.folder))

    def outcome(self, key: Mapping[str, Any]) -> Outcome | None:
        """Return the stored cell with this key, or None if it is missing or unreadable."""
        try:
            record = json.loads(self._path(key, "json").read_text(encoding="utf-8"))
            return Outcome.from_dict(record["outcome"]) if record["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None  # a missing or truncated file: the cell is computed again

    def keep(self, key: Mapping[str, Any], outcome: Outcome) -> None:
        """Store a cell atomically."""
        record = {"key": key, "outcome": outcome.to_dict()}
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        written(self._path(key, "json"), (text + "\n").encode())

    def arrays(
        self, key: Mapping[str, Any], make: Callable[[], Mapping[str, NDArray[Any]]]
    ) -> Mapping[str, NDArray[Any]]:
        """Return the stored arrays with this key; compute and store them if they are missing."""
        import numpy as np
        from safetensors import SafetensorError
        from safetensors.numpy import load, save

        path = self._path(key, "safetensors")
        if not self._fresh or path in self._made:
            try:
                return load(path.read_bytes())
            except (OSError, SafetensorError):
                pass  # a missing or truncated file
        made = {name: np.ascontiguousarray(array) for name, array in make().items()}
        written(path, save(made))
        self._made.add(path)
        return made

    def _path(self, key: Mapping[str, Any], ending: str) -> Path:
        plain = json.dumps(key, sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(plain.encode()).hexdigest()[:16]
        shown = "-".join(str(key[part]) for part in ("dataset", "method", "name") if part in key)
        return self.folder / f"{re.sub(r'[^a-z0-9]+', '-', shown.lower())[:60]}-{digest}.{ending}"


@dataclass(frozen=True)
class Task:
    """Arguments of a method's function: the cell, the data folder, and access to shared values.

    Attributes
    ----------
    cell : Cell
        Cell to compute.
    data : Path
        Data folder.
    quick : bool
        If True, use a few hundred documents and a few iterations.
    n_jobs : int or None
        Number of threads. It does not change the numbers.
    shared : Shared
        Values shared by cells, see `memo`.
    keeper : Keeper
        Storage of arrays, see `arrays`.
    key : mapping
        Everything that the numbers depend on.
    """

    cell: Cell
    data: Path
    quick: bool
    n_jobs: int | None
    shared: Shared
    keeper: Keeper
    key: Mapping[str, Any]

    @property
    def dataset(self) -> str:
        """Name of the data set."""
        return self.cell.dataset

    @property
    def split(self) -> int:
        """Index of the split."""
        return self.cell.split

    @property
    def seed(self) -> int:
        """Random seed derived from the names of the experiment and the cell."""
        name = f"{self.key['experiment']}/{self.dataset}/{self.cell.method}/{self.split}"
        return zlib.crc32(name.encode())

    def file(self, relative: str) -> Path:
        """Return the path of a file in the data folder.

        Raises
        ------
        MissingDataError
            If the file does not exist.
        """
        return file_in(self.data, relative)

    def memo(self, name: str, make: Callable[[], _T], scope: Scope = "split") -> _T:
        """Return a value shared by the cells of a split, a data set, or the run; compute it once.

        The value must not depend on the method, unless the name includes the method.
        """
        return self.shared.get(scope, name, make)

    def arrays(
        self,
        name: str,
        make: Callable[[], Mapping[str, NDArray[Any]]],
        *,
        scope: Scope = "split",
        **settings: Any,  # noqa: ANN401 (plain JSON)
    ) -> Mapping[str, NDArray[Any]]:
        """Return expensive arrays; load them from the work folder if they were computed before.

        The key consists of the name, the settings, the data set, the split, `quick`, and the
        version of the method. With ``scope="dataset"`` it omits the split; with ``scope="run"`` it
        also omits the data set, and all data sets that share the arrays must have the same files.
        """
        without = {"method", "settings"}
        without |= {"split": set(), "dataset": {"split"}, "run": {"split", "dataset"}}[scope]
        key = {part: value for part, value in self.key.items() if part not in without}
        return self.keeper.arrays({**key, "name": name, "with": settings}, make)


def file_in(data: Path, relative: str) -> Path:
    """Return the path of a file in a data folder, or raise `MissingDataError`."""
    path = data / relative
    if not path.is_file():
        error = MissingDataError(f"{relative} is not in the data folder.")
        error.add_note(f"The data folder is {data}.")
        raise error
    return path


def written(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Pass the path of a file.")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
