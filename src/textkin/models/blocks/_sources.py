"""Blocks of rows, and how whoever works on one opens it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from textkin._typing import Bags
from textkin.weighting._rows import BagsLike, checked_bags, refuse_texts

__all__ = ["Block", "Source", "is_array"]

Source: TypeAlias = "BagsLike | str | os.PathLike[str] | Callable[[], BagsLike]"
"""Rows, a file of them, or a function that gives them."""


@dataclass(frozen=True, slots=True)
class Block:
    """One part of the rows that a fit goes over."""

    number: int
    source: Any  # a Source

    def bags(self, *, takes_negative: bool = False, keeps_zeros: bool = False) -> Bags:
        """Open the block as bags, checked as every estimator over bags checks them."""
        found = self._opened()
        return checked_bags(found, takes_negative=takes_negative, keeps_zeros=keeps_zeros)

    def rows(self) -> NDArray[Any]:
        """Open the block as dense rows of finite numbers, in float32 or float64."""
        found = self._opened()
        refuse_texts("a block", found)
        return np.asarray(
            check_array(found, dtype=[np.float64, np.float32], order="C", ensure_min_samples=0)
        )

    def _opened(self) -> Any:  # noqa: ANN401 (what people give)
        if isinstance(self.source, str | os.PathLike):
            return _read(Path(self.source))
        return self.source if is_array(self.source) else self.source()

    def __repr__(self) -> str:
        shape = getattr(self.source, "shape", None)
        shown = repr(self.source) if shape is None else f"{type(self.source).__name__} {shape}"
        return f"Block({self.number}, {shown})"


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
