"""Memory limits of a device, and transfers between NumPy and torch."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from textkin.device._torch import free_bytes
from textkin.run import format_size, memory_in_bytes

__all__ = ["memory_of", "rows_that_fit", "tensor_of", "to_device", "write_rows"]

_PART = 0.8  # fraction of the free GPU memory; the rest is for other users and rounding of sizes
_PART_OF_ALL = 0.5  # fraction of the main memory, for tensors on the CPU
_MOST_PINNED = 2**28  # bytes that torch may keep pinned for the next block


def memory_of(place: torch.device, memory: str | int | None = None) -> int:
    """Return the number of bytes to use on a device (default: most of the free memory)."""
    if memory is not None:
        return memory_in_bytes(memory)
    free = free_bytes(place)
    if free is None:
        return int(_PART_OF_ALL * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return int(_PART * free)


def rows_that_fit(memory: int, each: int, fixed: int, what: str, most: int | None = None) -> int:
    """Return the number of rows of `each` bytes that fit next to `fixed` bytes; at least 1.

    Parameters
    ----------
    memory : int
        Available bytes.
    each, fixed : int
        Bytes per row including temporary data, and bytes that are needed throughout.
    what : str
        Name of the rows, for the error message.
    most : int, optional
        Maximum number of rows, as more rows are not faster.
    """
    count = (memory - fixed) // max(each, 1)
    if count < 1:
        raise ValueError(
            f"memory must be at least {format_size(fixed + each)} for {what}; got "
            f"{format_size(memory)}. Pass more, free some, or use the CPU (device=None)."
        )
    return int(count if most is None else min(count, most))


def tensor_of(values: NDArray[Any], place: torch.device) -> torch.Tensor:
    """Copy a NumPy array to a torch device; a writable array on the CPU is shared."""
    if not values.flags.writeable:  # torch warns about read-only arrays
        values = values.copy()
    return to_device(torch.from_numpy(np.ascontiguousarray(values)), place)


def to_device(part: torch.Tensor, place: torch.device) -> torch.Tensor:
    """Copy a tensor to a device, asynchronously from the CPU to a GPU."""
    if part.device.type == "cpu" and place.type == "cuda" and part.nbytes <= _MOST_PINNED:
        return part.pin_memory().to(place, non_blocking=True)
    return part.to(place)


def write_rows(out: NDArray[Any], blocks: Iterable[tuple[slice, torch.Tensor]]) -> None:
    """Copy blocks of rows from a device to a NumPy array, while the next block is computed."""
    host = torch.from_numpy(out)
    waiting: tuple[slice, torch.Tensor, Any] | None = None
    for rows, values in blocks:
        if values.device.type != "cuda":
            host[rows] = values
            continue
        pinned = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
        pinned.copy_(values, non_blocking=True)
        done = torch.cuda.Event()  # type: ignore[no-untyped-call]
        done.record()
        if waiting is not None:
            _finish(host, waiting)
        waiting = rows, pinned, done
    if waiting is not None:
        _finish(host, waiting)


def _finish(host: torch.Tensor, waiting: tuple[slice, torch.Tensor, Any]) -> None:
    rows, pinned, done = waiting
    done.synchronize()
    host[rows] = pinned
