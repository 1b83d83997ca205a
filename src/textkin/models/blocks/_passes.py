"""Passes over blocks: the same function for each, and the folder for what lies between passes.

A pass must not depend on how often a block is worked on, since one whose worker died is worked on
again. So an array in the folder is written under another name and renamed, its name says which
pass made it, and a pass reads only what passes before it have made.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textkin.models.blocks._sources import Block, Source, is_array
from textkin.run import Place, ProgressCallback, map_blocks
from textkin.run._dask import connected

__all__ = ["Passes", "Shelf"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder of arrays that every worker sees."""

    path: Path

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array; whoever looks finds it whole or not at all."""
        with _renamed_to(self.file(name)) as temporary, temporary.open("wb") as file:
            np.save(file, array, allow_pickle=False)

    def get(self, name: str) -> NDArray[Any]:
        """Return an array that was put here, in memory."""
        return self._read(name, None)

    def map(self, name: str) -> NDArray[Any]:
        """Return an array of which only a part is read."""
        return self._read(name, "r")

    def _read(self, name: str, mode: Literal["r"] | None) -> NDArray[Any]:
        try:
            found: NDArray[Any] = np.load(self.file(name), mode, allow_pickle=False)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.file(name)} is not there, which another worker of this fit has written. "
                "Give a folder= that all workers see, on a file system that they share."
            ) from error
        return found

    def drop(self, name: str) -> None:
        """Forget an array, if it is there."""
        self.file(name).unlink(missing_ok=True)

    def file(self, name: str) -> Path:
        """Return where an array is."""
        return self.path / f"{name}.npy"

    def keep_block(self, block: Block) -> Block:
        """Write rows that are in memory to a file, which travels better than they do."""
        if sparse.issparse(block.source):
            rows: Any = block.source
            file = self.path / f"block-{block.number}.npz"
            with _renamed_to(file) as temporary, temporary.open("wb") as out:
                sparse.save_npz(out, rows.tocsr(), compressed=False)
            return Block(block.number, str(file))
        name = f"block-{block.number}"
        self.put(name, np.asarray(block.source))
        return Block(block.number, str(self.file(name)))


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


class Passes:
    """The blocks of a fit, where they are worked on, and their shelf; gone when the fit is over."""

    def __init__(
        self,
        sources: Iterable[Source],
        *,
        on: Place,
        n_jobs: int | None,
        folder: str | os.PathLike[str] | None,
    ) -> None:
        if isinstance(sources, str | os.PathLike | np.ndarray) or sparse.issparse(sources):
            raise TypeError(
                "blocks must be a list of arrays, paths or functions, one for each block; got "
                f"{type(sources).__name__}."
            )
        self._sources = list(sources)
        if not self._sources:
            raise ValueError("blocks must hold at least one block; got none.")
        self.blocks = [Block(number, source) for number, source in enumerate(self._sources)]
        for block in self.blocks:
            is_array(block.source)  # refuses what is no block
        self._on, self._n_jobs = on, n_jobs
        self.folder = None if folder is None else Path(folder)

    def __enter__(self) -> Self:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            path = mkdtemp(prefix="textkin-fit-", dir=self.folder)
            stack.callback(shutil.rmtree, path, ignore_errors=True)
            self.shelf = Shelf(Path(path))
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
        self.blocks = [
            self.shelf.keep_block(block) if is_array(block.source) else block
            for block in self.blocks
        ]

    def over(
        self,
        work: Callable[..., Result],
        items: Iterable[Any] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Iterator[Result]:
        """Call a function for each block, or for other items; give what it returns, in order."""
        todo = self.blocks if items is None else list(items)
        return map_blocks(work, todo, on=self._on, n_jobs=self._n_jobs, progress=progress)
