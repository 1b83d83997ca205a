"""A cell: one number of a table, or a few, computed once and kept in a file of its own.

Cells know nothing of each other, so a run that was stopped goes on where it was: what has a file
is not computed again. The name of the file is a hash of all that the numbers depend on.
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

from textkin.text.reading._document import shortened

__all__ = ["Cell", "Keeper", "MissingDataError", "Outcome", "Shared", "Task", "Values"]

Values: TypeAlias = Mapping[str, Any]
"""What a cell computes: numbers by name, and whatever else JSON can hold."""

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
    """A file of a data set is not in the data folder.

    Where the folder lies is a note: it has no place in a report.
    """


@dataclass(frozen=True, slots=True)
class Cell:
    """Which number: of which method, on which part of which data set.

    Attributes
    ----------
    dataset, method : str
        Names; those of methods are keys of the experiment's `methods`.
    split : int
        The number of the split, from 0.
    settings : mapping
        Arguments of the method's function, plain JSON.
    version : int
        Of the method's code: another one is another number.
    """

    dataset: str
    method: str
    split: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """A cell that is done: its values, or why it has none.

    Attributes
    ----------
    dataset, method : str
        Of which data set and method.
    split : int
        Of which split.
    values : mapping or None
        What was computed; None if it failed.
    missing : str
        Why there are no values; empty if there are.
    seconds, cpu_seconds : float
        How long it took, with what it was the first to make for others; and how long all threads
        worked, which hardly depends on what else the machine does.
    warnings : tuple of str
        What was warned of meanwhile.
    run : mapping
        When and with what it was computed.
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
        """Return it as plain JSON."""
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
        """Return what `to_dict` made a record of.

        Raises
        ------
        KeyError, TypeError, ValueError
            For a record of something else.
        """
        whole = {"missing": "", "warnings": [], "run": {}, **record}
        for name, kinds in _RECORD.items():
            value = whole[name]
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise TypeError(f"{name!r} of a cell is {shortened(value)}")
        if not all(isinstance(text, str) for text in whole["warnings"]):
            raise TypeError("'warnings' of a cell are no texts")
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
    """What the cells of a run have in common, made once: read texts, counted bags, word vectors."""

    def __init__(self) -> None:
        self._made: dict[Scope, dict[str, Any]] = {scope: {} for scope in _SCOPES}
        self._at: tuple[str, int] | None = None

    def enter(self, dataset: str, split: int) -> None:
        """Forget what was made for another data set, or for another split of this one."""
        if self._at is not None and self._at[0] != dataset:
            self._made["dataset"].clear()
        if self._at != (dataset, split):
            self._made["split"].clear()
        self._at = dataset, split

    def get(self, scope: Scope, name: str, make: Callable[[], _T]) -> _T:
        """Return what has the name; make it if nothing has."""
        made = self._made[scope]
        if name not in made:
            made[name] = make()
        found: _T = made[name]
        return found


class Keeper:
    """The folder where cells and arrays are kept.

    Parameters
    ----------
    folder : Path
        Is made when something is kept.
    fresh : bool, default=False
        Whether arrays that are there are made again, once.
    """

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        self.folder = folder
        self._fresh = fresh
        self._made: set[Path] = set()

    def open(self) -> None:
        """Make the folder; what stands in the way is told before hours of work are lost.

        Raises
        ------
        OSError
            If nothing can be written there.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        if not os.access(self.folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.folder))

    def outcome(self, key: Mapping[str, Any]) -> Outcome | None:
        """Return the cell that was kept with this key, if there is one that can be read."""
        try:
            record = json.loads(self._path(key, "json").read_text(encoding="utf-8"))
            return Outcome.from_dict(record["outcome"]) if record["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None  # none, or half of one: it is computed again

    def keep(self, key: Mapping[str, Any], outcome: Outcome) -> None:
        """Keep a cell: whole or not at all."""
        record = {"key": key, "outcome": outcome.to_dict()}
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        written(self._path(key, "json"), (text + "\n").encode())

    def arrays(
        self, key: Mapping[str, Any], make: Callable[[], Mapping[str, NDArray[Any]]]
    ) -> Mapping[str, NDArray[Any]]:
        """Return arrays that were kept with this key; make and keep them if there are none."""
        import numpy as np
        from safetensors import SafetensorError
        from safetensors.numpy import load, save

        path = self._path(key, "safetensors")
        if not self._fresh or path in self._made:
            try:
                return load(path.read_bytes())
            except (OSError, SafetensorError):
                pass  # none, or half of one
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
    """What the function of a method is given: its cell, the data, and what cells share.

    Attributes
    ----------
    cell : Cell
        Which number is asked for.
    data : Path
        The data folder.
    quick : bool
        Whether a few hundred documents and a few steps are enough.
    n_jobs : int or None
        Threads; they change no number.
    shared : Shared
        What was made before, see `memo`.
    keeper : Keeper
        Where arrays are kept, see `arrays`.
    key : mapping
        What the numbers depend on.
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
        """The name of the data set."""
        return self.cell.dataset

    @property
    def split(self) -> int:
        """The number of the split."""
        return self.cell.split

    @property
    def seed(self) -> int:
        """A seed that the names of the cell make, the same every time."""
        name = f"{self.key['experiment']}/{self.dataset}/{self.cell.method}/{self.split}"
        return zlib.crc32(name.encode())

    def file(self, relative: str) -> Path:
        """Return a file of the data folder.

        Raises
        ------
        MissingDataError
            If it is not there; names it.
        """
        return file_in(self.data, relative)

    def memo(self, name: str, make: Callable[[], _T], scope: Scope = "split") -> _T:
        """Return what has this name among the cells of a split, of a data set or of the run.

        What is made must not depend on the method, or the name must say so.
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
        """Return arrays that are dear, from the work folder if they were made before.

        They are known by the name, the settings, the data set, the split, whether it is quick and
        the version of the method; with a wider `scope` without the split, or without the data set
        too. Data sets that share arrays must have the same files.
        """
        without = {"method", "settings"}
        without |= {"split": set(), "dataset": {"split"}, "run": {"split", "dataset"}}[scope]
        key = {part: value for part, value in self.key.items() if part not in without}
        return self.keeper.arrays({**key, "name": name, "with": settings}, make)


def file_in(data: Path, relative: str) -> Path:
    """Return a file of a data folder, or say in words that it is not there."""
    path = data / relative
    if not path.is_file():
        error = MissingDataError(f"{relative} is not in the data folder.")
        error.add_note(f"The data folder is {data}.")
        raise error
    return path


def written(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, and no file can take its name.")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
