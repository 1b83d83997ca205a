"""Passes over blocks: the same function for each, and the folder for what lies between passes.

A pass must not depend on how often a block is worked on, since one whose worker died is worked on
again. So an array in the folder is written under another name and renamed, its name says which
pass made it, and a pass reads only what passes before it have made.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textkin.models.blocks._sources import Block, Seen, Source, is_array
from textkin.run import Place, ProgressCallback, map_blocks
from textkin.run._blocks import shown
from textkin.run._dask import connected

__all__ = ["Passes", "Shelf"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder of arrays that every worker sees."""

    path: Path

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array; whoever looks finds it whole or not at all."""
        with (
            self._shared(),
            _renamed_to(self.file(name)) as temporary,
            temporary.open("wb") as file,
        ):
            np.save(file, array, allow_pickle=False)

    def get(self, name: str) -> NDArray[Any]:
        """Return an array that was put here, in memory."""
        return self._read(name, None)

    def map(self, name: str) -> NDArray[Any]:
        """Return an array of which only a part is read."""
        return self._read(name, "r")

    def _read(self, name: str, mode: Literal["r"] | None) -> NDArray[Any]:
        with self._shared():
            found: NDArray[Any] = np.load(self.file(name), mode, allow_pickle=False)
        return found

    def drop(self, name: str) -> None:
        """Forget an array, if it is there."""
        self.file(name).unlink(missing_ok=True)

    def file(self, name: str) -> Path:
        """Return where an array is."""
        return self.path / f"{name}.npy"

    def keep_block(self, block: Block) -> Block:
        """Write rows that are in memory to a file, which travels better than they do."""
        if not is_array(block.source):
            return block
        rows, seen = block.first_opened()
        name = f"block-{block.number}"
        if isinstance(rows, np.ndarray):
            self.put(name, rows)
            return replace(block, source=partial(self.get, name), names=seen.names)
        with _renamed_to(self._bags_file(name)) as temporary, temporary.open("wb") as file:
            sparse.save_npz(file, rows, compressed=False)
        return replace(block, source=partial(self._get_bags, name), names=seen.names)

    def _bags_file(self, name: str) -> Path:
        return self.path / f"{name}.npz"

    def _get_bags(self, name: str) -> Any:  # noqa: ANN401 (a sparse array)
        with self._shared():
            return sparse.load_npz(self._bags_file(name))

    @contextmanager
    def _shared(self) -> Iterator[None]:
        """Tell what to do where a worker does not see what others have made."""
        try:
            yield
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"A worker does not find {error.filename}, in the folder of the fit. Give a "
                "folder= that all workers see, on a file system that they share."
            ) from error


@contextmanager
def _renamed_to(file: Path) -> Iterator[Path]:
    """Give a temporary path beside a file, which becomes the file if all went well."""
    temporary = file.with_name(f".{file.name}.{uuid.uuid4().hex}.tmp")
    try:
        yield temporary
        os.replace(temporary, file)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _remove(folder: Path) -> None:
    """Remove a folder; workers that were told to stop and still write do not find it any more."""
    gone = folder.with_name(f".{folder.name}.gone")
    with suppress(OSError):
        folder = folder.rename(gone)
    shutil.rmtree(folder, ignore_errors=True)


class Passes:
    """The blocks of a fit, where they are worked on, and their shelf; gone when the fit is over."""

    def __init__(
        self,
        sources: Iterable[Source],
        checked: Callable[[Any], Any],
        *,
        on: Place,
        n_jobs: int | None,
        folder: str | os.PathLike[str] | None,
    ) -> None:
        if (
            isinstance(sources, str | os.PathLike | Mapping)
            or not isinstance(sources, Iterable)
            or sparse.issparse(sources)
            or getattr(sources, "ndim", 1) != 1  # rows; a column of paths is a list of them
        ):
            raise TypeError(
                "blocks must be a list of arrays, paths or functions, one for each block; got "
                f"{type(sources).__name__}."
            )
        self.blocks = [
            Block(number, _absolute(source), checked) for number, source in enumerate(sources)
        ]
        if not self.blocks:
            raise ValueError("blocks must hold at least one block; got none.")
        for block in self.blocks:
            is_array(block.source)  # refuses what is no block
        self.seen: list[Seen] = []
        self._on, self._n_jobs = on, n_jobs
        self.folder = None if folder is None else Path(folder).absolute()

    def __enter__(self) -> Self:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            path = mkdtemp(prefix="textkin-fit-", dir=self.folder)
            self.shelf = Shelf(Path(path))
            stack.callback(_remove, self.shelf.path)
            if self._on not in (None, "threads"):
                self._send_away(stack)
            self._at_end = stack.pop_all()
        return self

    def __exit__(self, *_error: object) -> None:
        self._at_end.close()

    def _send_away(self, stack: ExitStack) -> None:
        """Connect once for all passes, and let arrays travel as files."""
        if isinstance(self._on, str) and self._on != "joblib":
            client, _ = connected(self._on)
            stack.callback(client.close)
            self._on = client
        self.blocks = list(map_blocks(self.shelf.keep_block, self.blocks))

    def first(
        self, work: Callable[[Any], Result], progress: ProgressCallback | None = None
    ) -> Iterator[Result]:
        """Call a function with the rows of each block; later passes must find the same ones."""
        for number, (seen, result) in enumerate(self.over(_First(work), progress=progress)):
            first = self.seen[0] if self.seen else seen
            _check_columns(first, seen, number)
            # One copy of the names, which need not travel again either.
            self.seen.append(replace(seen, names=first.names))
            yield result
        self.blocks = [
            replace(block, names=None, mark=seen.mark)
            for block, seen in zip(self.blocks, self.seen, strict=True)
        ]

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of all rows in one array."""
        return np.result_type(*(seen.dtype for seen in self.seen))

    def tell_columns(self, estimator: Any) -> None:  # noqa: ANN401 (one of several)
        """Do what `fit` does with the shape and names of its columns, after the first pass."""
        if not any(seen.rows for seen in self.seen):
            raise ValueError(
                "The blocks must have at least one row together; all of them are empty."
            )
        estimator.n_features_in_ = self.seen[0].columns
        vars(estimator).pop("feature_names_in_", None)  # of a fit before
        names = self.seen[0].names
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)

    def over(
        self,
        work: Callable[..., Result],
        items: Iterable[Any] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Iterator[Result]:
        """Call a function for each block, or for other items; give what it returns, in order."""
        todo = self.blocks if items is None else list(items)
        return map_blocks(work, todo, on=self._on, n_jobs=self._n_jobs, progress=progress)


@dataclass(frozen=True, slots=True)
class _First:
    """What a function makes of the rows of a block, and what is to be known of them."""

    work: Callable[[Any], Any]

    def __call__(self, block: Block) -> tuple[Seen, Any]:
        rows, seen = block.first_opened()
        return seen, self.work(rows)


def _absolute(source: Any) -> Any:  # noqa: ANN401 (a Source)
    """Return a path that means the same to workers in other folders; others as they are."""
    return Path(source).absolute() if isinstance(source, str | os.PathLike) else source


def _check_columns(first: Seen, seen: Seen, number: int) -> None:
    """Refuse blocks that differ in their columns."""
    if seen.columns != first.columns:
        raise ValueError(
            f"All blocks must have the same columns; block 0 has {first.columns} and block "
            f"{number} has {seen.columns}. Count words with one vocabulary "
            "(BagOfWords(vocabulary=...))."
        )
    if seen.names != first.names:
        one, other = (_shown(block.names) for block in (first, seen))
        raise ValueError(
            f"All blocks must have the same columns in the same order; those of block 0 are {one}, "
            f"those of block {number} {other}. Give data frames whose columns agree, or arrays."
        )


def _shown(names: tuple[str, ...] | None) -> str:
    return "without names" if names is None else f"called {shown(names)}"
