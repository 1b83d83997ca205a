"""Blocks of rows, and how whoever works on one opens it."""

import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from textkin.weighting._rows import BagsLike, refuse_texts

__all__ = ["Block", "Seen", "Source", "dense_rows", "is_array"]

Source: TypeAlias = "BagsLike | str | os.PathLike[str] | Callable[[], BagsLike]"
"""Rows, a file of them, or a function that gives them."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a block had when it was first opened."""

    rows: int
    columns: int
    dtype: Any
    names: tuple[str, ...] | None  # of the columns of a data frame
    mark: int  # which other rows will hardly have


@dataclass(frozen=True, slots=True)
class Block:
    """One part of the rows that a fit goes over."""

    number: int
    source: Any  # a Source
    checked: Callable[[Any], Any]  # makes bags, or dense rows, of what the source gives
    names: tuple[str, ...] | None = None  # where the source has lost them
    mark: int | None = None  # of the rows that it had, once they were seen

    def opened(self) -> Any:  # noqa: ANN401 (bags, or dense rows)
        """Return the rows; refuse others than those that were seen."""
        rows = self.checked(self._given())
        if self.mark is not None and _mark_of(rows) != self.mark:
            raise RuntimeError(
                f"block {self.number} has changed since the fit began, and must give the same rows "
                "whenever it is opened. Let nobody write to it meanwhile; rows that are drawn, or "
                "come from a stream, have to be written to a file first."
            )
        return rows

    def first_opened(self) -> tuple[Any, Seen]:
        """Return the rows, and what is to be known of them."""
        given = self._given()
        rows = self.checked(given)
        names = self.names or _names_of(given)
        n_rows, n_columns = rows.shape
        return rows, Seen(n_rows, n_columns, rows.dtype, names, _mark_of(rows))

    def _given(self) -> Any:  # noqa: ANN401 (what people give)
        if isinstance(self.source, os.PathLike):
            return _read(Path(self.source))
        return self.source if is_array(self.source) else self.source()

    def __repr__(self) -> str:
        shape = getattr(self.source, "shape", None)
        shown = repr(self.source) if shape is None else f"{type(self.source).__name__} {shape}"
        return f"Block({self.number}, {shown})"


def dense_rows(given: Any) -> NDArray[Any]:  # noqa: ANN401 (what people give)
    """Return dense rows of finite numbers, in float32 or float64."""
    refuse_texts("a block", given)
    return np.asarray(
        check_array(given, dtype=[np.float64, np.float32], order="C", ensure_min_samples=0)
    )


def is_array(source: object) -> bool:
    """Tell rows from what they are read from; refuse what is neither."""
    if isinstance(source, str | os.PathLike):
        return False
    if sparse.issparse(source) or isinstance(source, np.ndarray | list | tuple):
        return True
    if hasattr(source, "__array__"):
        return True
    if callable(source):
        return False
    raise TypeError(
        "a block must be an array, a sparse array, a path to a file of one, or a function without "
        f"arguments that gives one; got {type(source).__name__}."
    )


def _names_of(given: Any) -> tuple[str, ...] | None:  # noqa: ANN401 (what people give)
    """Return the names of columns as scikit-learn takes them: strings, of a data frame."""
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
    """Read a file of rows; nothing in it is run."""
    if path.suffix == ".npz":
        return sparse.load_npz(path)
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False)
    if path.suffix == ".safetensors":
        from safetensors.numpy import load_file

        tensors = load_file(path)
        if len(tensors) != 1:
            raise ValueError(
                f"{path} must hold one array of rows; it has {len(tensors)}: "
                f"{', '.join(sorted(tensors)[:5])}. Give a function that reads the right one."
            )
        return next(iter(tensors.values()))
    raise ValueError(
        f"{path} must end in .npz (scipy.sparse.save_npz), .npy or .safetensors. For other files "
        "give a function that reads them."
    )
