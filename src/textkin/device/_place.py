"""How much memory tensors may take where they live, the way there, and the way back to NumPy."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from textkin.device._torch import free_bytes
from textkin.run._memory import memory_in_bytes, size_in_words

__all__ = ["at_once", "memory_of", "sent", "tensor_of", "write_rows"]

_PART = 0.8  # of the free memory of a GPU, which others and rounding up of sizes need too
_PART_OF_ALL = 0.5  # of the memory of the machine, where tensors are those of the processor
_MOST_PINNED = 2**28  # bytes that torch may keep pinned for the next part


def memory_of(place: torch.device, memory: str | int | None = None) -> int:
    """Return the bytes that work on a device may take; None is most of what is there."""
    if memory is not None:
        return memory_in_bytes(memory)
    free = free_bytes(place)
    if free is None:
        return int(_PART_OF_ALL * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return int(_PART * free)


def at_once(memory: int, each: int, fixed: int, what: str, most: int | None = None) -> int:
    """Return how many rows of `each` bytes fit beside `fixed` ones; refuses less than one.

    Parameters
    ----------
    memory : int
        Bytes that may be taken.
    each, fixed : int
        Bytes of a row with all that is made of it, and of what stays throughout.
    what : str
        What the rows are, for the message.
    most : int, optional
        No more than so many, since more are no quicker.
    """
    count = (memory - fixed) // max(each, 1)
    if count < 1:
        raise ValueError(
            f"memory must be at least {size_in_words(fixed + each)} for {what}; "
            f"{size_in_words(memory)} are given or free. Free some, or work on the CPU "
            "(device=None)."
        )
    return int(count if most is None else min(count, most))


def tensor_of(values: NDArray[Any], place: torch.device) -> torch.Tensor:
    """Return an array on a device; on the CPU it may share memory, unless that is read-only."""
    if not values.flags.writeable:  # torch would warn
        values = values.copy()
    return sent(torch.from_numpy(np.ascontiguousarray(values)), place)


def sent(part: torch.Tensor, place: torch.device) -> torch.Tensor:
    """Return a part of something on a device; what lies here goes there beside other work."""
    if part.device.type == "cpu" and place.type == "cuda" and part.nbytes <= _MOST_PINNED:
        return part.pin_memory().to(place, non_blocking=True)
    return part.to(place)


def write_rows(out: NDArray[Any], blocks: Iterable[tuple[slice, torch.Tensor]]) -> None:
    """Write rows that come from a device; those of one block while the next is computed."""
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
