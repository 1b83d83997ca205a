"""Repeated passes of a fit over blocks of rows, locally or on workers of a cluster.

A pass runs again on a block whose worker died, so a repeated run must have the same result. Three
rules ensure this: an array in the folder is written under a temporary name and then renamed; its
name contains the pass that wrote it; and a pass reads only arrays that earlier passes have written.
"""

import errno
import os
import shutil
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Any, Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from textkin._base import Bags, BagsLike, call_after_fork, reject_texts
from textkin.exceptions import ParameterTypeError
from textkin.run import Executor, ProgressCallback, connect, describe_block, map_blocks
from textkin.weighting import WordStatistics

__all__ = [
    "BagStatistics",
    "Block",
    "BlockSummary",
    "Passes",
    "Shelf",
    "Source",
    "dense_rows",
    "survey",
]

Result = TypeVar("Result")

Source: TypeAlias = "BagsLike | str | os.PathLike[str] | Callable[[], BagsLike]"
"""Rows, the path of a file of rows, or a function that returns rows."""


@dataclass(frozen=True, slots=True)
class BlockSummary:
    """Shape, dtype, column names, and checksum of a block of rows, from the first pass."""

    rows: int
    columns: int
    dtype: Any
    names: tuple[str, ...] | None  # column names of a data frame
    mark: int  # checksum of the rows


@dataclass(frozen=True, slots=True)
class Block:
    """Block of training rows: an array, a file, or a function that returns the rows."""

    number: int
    source: Any  # a Source
    checked: Callable[[Any], Any]  # checks and converts the rows of the source
    names: tuple[str, ...] | None = None  # column names, if the source no longer has them
    mark: int | None = None  # checksum of the rows, known after the first pass

    def read(self) -> Any:  # noqa: ANN401 (bags, or dense rows)
        """Read the rows of the block; raise if they differ from the rows of the first pass."""
        rows = self.checked(self._given())
        if self.mark is not None and _mark_of(rows) != self.mark:
            raise RuntimeError(
                f"Block {self.number} must return the same rows in every pass; they have changed "
                "since the fit began. Do not write to it during the fit, and save random or "
                "streamed rows to a file first."
            )
        return rows

    def read_first(self) -> tuple[Any, BlockSummary]:
        """Read the rows of the block in the first pass; return them with their summary."""
        given = self._given()
        rows = self.checked(given)
        names = self.names or _names_of(given)
        n_rows, n_columns = rows.shape
        return rows, BlockSummary(n_rows, n_columns, rows.dtype, names, _mark_of(rows))

    def _given(self) -> Any:  # noqa: ANN401 (what people give)
        if isinstance(self.source, os.PathLike):
            return _read(Path(self.source))
        return self.source if is_array(self.source) else self.source()

    def __repr__(self) -> str:
        shape = getattr(self.source, "shape", None)
        shown = repr(self.source) if shape is None else f"{type(self.source).__name__} {shape}"
        return f"Block({self.number}, {shown})"


def dense_rows(given: Any) -> NDArray[Any]:  # noqa: ANN401 (what people give)
    """Convert rows to a dense float32 or float64 array; raise if a number is not finite."""
    reject_texts("a block", given)
    return np.asarray(
        check_array(given, dtype=[np.float64, np.float32], order="C", ensure_min_samples=0)
    )


def is_array(source: object) -> bool:
    """Return True if a block is an array, and False if it is a path or a function to read it."""
    if isinstance(source, str | os.PathLike):
        return False
    if sparse.issparse(source) or isinstance(source, np.ndarray | list | tuple):
        return True
    if hasattr(source, "__array__"):
        return True
    if callable(source):
        return False
    raise ParameterTypeError(
        "a block",
        "an array, a sparse array, a path to a file of one, or a function without arguments that "
        "returns one",
        type(source).__name__,
    )


def _names_of(given: Any) -> tuple[str, ...] | None:  # noqa: ANN401 (what people give)
    """Return the column names of a DataFrame if all of them are strings, or None."""
    names = tuple(getattr(given, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def _mark_of(rows: Any) -> int:  # noqa: ANN401 (bags, or dense rows)
    mark = zlib.crc32(repr((rows.shape, rows.dtype.str)).encode())
    dense = isinstance(rows, np.ndarray)
    arrays = (rows,) if dense else (rows.indptr, rows.indices, rows.data)
    for array in arrays:
        mark = zlib.crc32(array, mark)
    return mark


def _read(path: Path) -> Any:  # noqa: ANN401 (an array, or a sparse one)
    """Read a file of rows (NumPy, SciPy, or safetensors format) without unpickling anything."""
    if path.suffix == ".npz":
        with _HEADERS:
            return sparse.load_npz(path)
    if path.suffix == ".npy":
        with _HEADERS:
            return np.load(path, allow_pickle=False)
    if path.suffix == ".safetensors":
        from safetensors.numpy import load_file

        tensors = load_file(path)
        if len(tensors) != 1:
            raise ValueError(
                f"{path} must hold one array of rows; it has {len(tensors)}: "
                f"{', '.join(sorted(tensors)[:5])}. Pass a function that reads the right one."
            )
        return next(iter(tensors.values()))
    raise ValueError(
        f"{path} must end in .npz (scipy.sparse.save_npz), .npy, or .safetensors. For other files, "
        "pass a function that reads them."
    )


# NumPy parses the header of a file as a Python literal. Until version 3.11.7, CPython counts the
# recursion of all threads together, and raises SystemError if two of them parse at the same time
# (gh-106905).
_HEADERS = Lock()


def _renew_lock() -> None:
    """Replace the module's lock after a fork, because another thread may have held it."""
    global _HEADERS
    _HEADERS = Lock()


call_after_fork(_renew_lock)


@dataclass(frozen=True, slots=True)
class Shelf:
    """Shared folder of named arrays, through which the workers of a fit exchange results."""

    path: Path

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Write an array to the folder under a name, atomically."""
        with (
            self._shared(),
            _renamed_to(self.file(name)) as temporary,
            temporary.open("wb") as file,
        ):
            np.save(file, array, allow_pickle=False)

    def get(self, name: str) -> NDArray[Any]:
        """Read the array stored under a name into memory, and return it."""
        return self._read(name, None)

    def map(self, name: str) -> NDArray[Any]:
        """Return the array stored under a name as a read-only memory map."""
        return self._read(name, "r")

    def _read(self, name: str, mode: Literal["r"] | None) -> NDArray[Any]:
        with self._shared(), _HEADERS:
            found: NDArray[Any] = np.load(self.file(name), mode, allow_pickle=False)
        return found

    def drop(self, name: str) -> None:
        """Delete the array stored under a name, if it exists."""
        self.file(name).unlink(missing_ok=True)

    def file(self, name: str) -> Path:
        """Return the path of the file in which the array with a name is stored."""
        return self.path / f"{name}.npy"

    def keep_block(self, block: Block) -> Block:
        """Write a block of rows in memory to a file; return a block that reads the file."""
        if not is_array(block.source):
            return block
        rows, summary = block.read_first()
        name = f"block-{block.number}"
        if isinstance(rows, np.ndarray):
            self.put(name, rows)
            return replace(block, source=partial(self.get, name), names=summary.names)
        with _renamed_to(self._bags_file(name)) as temporary, temporary.open("wb") as file:
            sparse.save_npz(file, rows, compressed=False)
        return replace(block, source=partial(self._get_bags, name), names=summary.names)

    def _bags_file(self, name: str) -> Path:
        return self.path / f"{name}.npz"

    def _get_bags(self, name: str) -> Any:  # noqa: ANN401 (a sparse array)
        with self._shared(), _HEADERS:
            return sparse.load_npz(self._bags_file(name))

    @contextmanager
    def _shared(self) -> Iterator[None]:
        """Re-raise a worker's missing-file error with the advice to share `folder`."""
        try:
            yield
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"A worker cannot find {error.filename} in the folder of the fit. Pass a folder= "
                "on a file system that all workers share."
            ) from error


@contextmanager
def _renamed_to(file: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to `file` if the body succeeds."""
    temporary = file.with_name(f".{file.name}.{uuid.uuid4().hex}.tmp")
    try:
        yield temporary
        os.replace(temporary, file)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


_REMOVALS = 100  # attempts; a worker fails at most two of them, see `_remove`


def _remove(folder: Path) -> None:
    """Delete a folder; it is renamed first, so that workers still writing cannot find it.

    A worker may have found the folder just before the rename. Its system call then adds a file
    while the folder is being removed, or renames one that was already listed, and the removal
    fails. The next call of that worker finds no folder, so another attempt succeeds.
    """
    gone = folder.with_name(f".{folder.name}.gone")
    with suppress(OSError):
        folder = folder.rename(gone)
    for _ in range(_REMOVALS):
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                break
        if not folder.exists():
            return
    shutil.rmtree(folder, ignore_errors=True)


class Passes:
    """Blocks of training rows, and the executor that calls functions with each of them."""

    def __init__(
        self,
        sources: Iterable[Source],
        checked: Callable[[Any], Any],
        *,
        executor: Executor,
        n_jobs: int | None,
        folder: str | os.PathLike[str] | None,
    ) -> None:
        if (
            isinstance(sources, str | os.PathLike | Mapping)
            or not isinstance(sources, Iterable)
            or sparse.issparse(sources)
            or getattr(sources, "ndim", 1) != 1  # a 2-d array is rows; a column of paths is a list
        ):
            raise ParameterTypeError(
                "blocks",
                "a list of arrays, paths, or functions, one for each block",
                type(sources).__name__,
            )
        self.blocks = [
            Block(number, _absolute(source), checked) for number, source in enumerate(sources)
        ]
        if not self.blocks:
            raise ValueError("blocks must hold at least one block; got none.")
        for block in self.blocks:
            is_array(block.source)  # `is_array` raises for an invalid block
        self.summaries: list[BlockSummary] = []
        self._executor, self._n_jobs = executor, n_jobs
        self.folder = None if folder is None else Path(folder).absolute()

    def __enter__(self) -> Self:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            path = mkdtemp(prefix="textkin-fit-", dir=self.folder)
            self.shelf = Shelf(Path(path))
            stack.callback(_remove, self.shelf.path)
            if self._executor not in (None, "threads"):
                self._send_away(stack)
            self._at_end = stack.pop_all()
        return self

    def __exit__(self, *_error: object) -> None:
        self._at_end.close()

    def _send_away(self, stack: ExitStack) -> None:
        """Connect to the cluster, and write arrays in memory to files for its workers."""
        if isinstance(self._executor, str) and self._executor != "joblib":
            client, _ = connect(self._executor)
            stack.callback(client.close)
            self._executor = client
        self.blocks = list(map_blocks(self.shelf.keep_block, self.blocks))

    def first(
        self, work: Callable[[Any], Result], progress: ProgressCallback | None = None
    ) -> Iterator[Result]:
        """Call a function with the rows of each block, and record a summary of each block."""
        for number, (summary, result) in enumerate(self.over(_First(work), progress=progress)):
            first = self.summaries[0] if self.summaries else summary
            _check_columns(first, summary, number)
            # One copy of the names for all blocks; the names need not be sent again either.
            self.summaries.append(replace(summary, names=first.names))
            yield result
        self.blocks = [
            replace(block, names=None, mark=summary.mark)
            for block, summary in zip(self.blocks, self.summaries, strict=True)
        ]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype that the rows of all blocks would have in one array."""
        return np.result_type(*(summary.dtype for summary in self.summaries))

    def set_columns(self, estimator: Any) -> None:  # noqa: ANN401 (one of several)
        """Set `n_features_in_` and `feature_names_in_` of the estimator, as `fit` does."""
        if not any(summary.rows for summary in self.summaries):
            raise ValueError("blocks must have at least one row in total; all of them are empty.")
        estimator.n_features_in_ = self.summaries[0].columns
        vars(estimator).pop("feature_names_in_", None)  # an earlier fit may have set the names
        names = self.summaries[0].names
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)

    def over(
        self,
        work: Callable[..., Result],
        items: Iterable[Any] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Iterator[Result]:
        """Call a function with each block (or each of `items`); yield results in order."""
        todo = self.blocks if items is None else list(items)
        return map_blocks(
            work, todo, executor=self._executor, n_jobs=self._n_jobs, progress=progress
        )


@dataclass(frozen=True, slots=True)
class _First:
    """Picklable task of the first pass: summarize a block, and call a function with it."""

    work: Callable[[Any], Any]

    def __call__(self, block: Block) -> tuple[BlockSummary, Any]:
        rows, summary = block.read_first()
        return summary, self.work(rows)


def _absolute(source: Any) -> Any:  # noqa: ANN401 (a Source)
    """Return a path as an absolute path, because workers run in other folders."""
    return Path(source).absolute() if isinstance(source, str | os.PathLike) else source


def _check_columns(first: BlockSummary, summary: BlockSummary, number: int) -> None:
    """Raise if a block has other columns than the first block."""
    if summary.columns != first.columns:
        raise ValueError(
            f"All blocks must have the same columns; block 0 has {first.columns} and block "
            f"{number} has {summary.columns}. Count words with one vocabulary "
            "(BagOfWords(vocabulary=...))."
        )
    if summary.names != first.names:
        one, other = (_shown(block.names) for block in (first, summary))
        raise ValueError(
            "All blocks must have the same columns in the same order; the columns of block 0 are "
            f"{one}, of block {number} {other}. Pass data frames with the same columns, or arrays."
        )


def _shown(names: tuple[str, ...] | None) -> str:
    return "without names" if names is None else f"called {describe_block(names)}"


@dataclass(frozen=True, slots=True)
class BagStatistics:
    """Word statistics of all bags, smallest and largest weight, and sum of squared weights."""

    words: WordStatistics
    least: float  # smallest weight; infinite without weights
    largest: float  # largest absolute weight; 0 without weights
    squares: float  # sum of squared weights

    @classmethod
    def of(cls, bags: Bags) -> Self:
        with np.errstate(over="ignore", under="ignore"):
            squares = float(np.square(bags.data, dtype=np.float64).sum())
        return cls(
            WordStatistics.of(bags),
            float(bags.data.min(initial=np.inf)),
            float(np.abs(bags.data).max(initial=0)),
            squares,
        )

    def __add__(self, more: "BagStatistics") -> "BagStatistics":
        return BagStatistics(
            self.words + more.words,
            min(self.least, more.least),
            max(self.largest, more.largest),
            self.squares + more.squares,
        )


def survey(
    passes: Passes,
    estimator: Any,  # noqa: ANN401 (a TakesBags)
    progress: ProgressCallback | None = None,
) -> BagStatistics:
    """Compute the word statistics of the bags in all blocks, in one pass."""
    found = None
    for part in passes.first(BagStatistics.of, progress):
        found = part if found is None else found + part
    assert found is not None  # every fit has at least one block
    passes.set_columns(estimator)
    return found
