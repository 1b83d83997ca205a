"""Torch, where it is installed, and the devices that it has."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from textkin._validation import Constraint

if TYPE_CHECKING:
    import torch

__all__ = [
    "DEVICE",
    "free_bytes",
    "full_precision",
    "has_triton",
    "told_if_out_of_memory",
    "torch_device",
]

_SMALLER = (
    "Pass a smaller memory= (tables of queries) or device_memory= (documents, which then come in "
    "parts)"
)


_NAMES = re.compile(r"cpu|cuda(:[0-9]{1,4})?")

DEVICE = Constraint(
    lambda value: value is None or (isinstance(value, str) and _NAMES.fullmatch(value) is not None),
    "None, 'cpu', 'cuda' or one of several, such as 'cuda:1'",
    lambda value: not isinstance(value, str),
)
"""What a parameter ``device`` may be."""


def torch_device(device: str) -> "torch.device":
    """Return the device of a name, with all of torch behind it.

    Parameters
    ----------
    device : str
        "cpu", "cuda" or "cuda:1".

    Returns
    -------
    torch.device
        A device that is there.

    Raises
    ------
    ImportError
        If torch is not installed.
    RuntimeError
        If torch sees no such device.

    Examples
    --------
    >>> torch_device("cpu")
    device(type='cpu')
    """
    DEVICE.check("device", device)
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"device={device!r} needs torch: pip install 'textkin[torch]'. Without it, leave "
            "device at None."
        ) from None
    found = torch.device(device)
    if found.type == "cuda":
        count = torch.cuda.device_count()
        if count <= (found.index or 0):
            raise RuntimeError(
                f"device={device!r}: torch {torch.__version__} sees {count} CUDA devices here. "
                "Pass device='cpu', or leave it at None for the compiled core."
            )
    return found


def free_bytes(device: "torch.device") -> int | None:
    """Return how much memory of a GPU is free; None for the memory of the machine itself."""
    if device.type != "cuda":
        return None
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    # What torch keeps for itself and has not given out is free too.
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


class _Products:
    """How torch multiplies float32: one setting for all threads, so it is set for all of them.

    The first that needs full precision sets it, the last that needs it puts back what was there.
    """

    def __init__(self) -> None:
        self._lock, self._users, self._before = Lock(), 0, ("", "")

    def begin(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._before = _precision()
                _set_precision("ieee", "ieee")

    def end(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                _set_precision(*self._before)


_PRODUCTS = _Products()


def _backends() -> tuple[Any, Any] | None:
    """Return where torch keeps the precision of products; None before torch 2.9."""
    import torch

    both = torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None)
    return both if all(hasattr(one, "fp32_precision") for one in both) else None


def _precision() -> tuple[str, str]:
    import torch

    both = _backends()
    if both is None:
        return torch.get_float32_matmul_precision(), ""
    return both[0].fp32_precision, both[1].fp32_precision


def _set_precision(cuda: str, cpu: str) -> None:
    import torch

    both = _backends()
    if both is None:
        torch.set_float32_matmul_precision("highest" if cuda == "ieee" else cuda)
    else:  # the older function refuses to tell once somebody has used these
        both[0].fp32_precision, both[1].fp32_precision = cuda, cpu


@contextmanager
def full_precision() -> Iterator[None]:
    """Multiply matrices of float32 as such, whatever shortcuts the caller has allowed torch."""
    import torch

    _PRODUCTS.begin()
    try:
        with ExitStack() as stack:
            for kind in ("cuda", "cpu"):
                if torch.is_autocast_enabled(kind):
                    stack.enter_context(torch.autocast(kind, enabled=False))
            yield
    finally:
        _PRODUCTS.end()


@contextmanager
def told_if_out_of_memory(device: str, way_out: str = _SMALLER) -> Iterator[None]:
    """Turn torch's error for too little memory into one that says what to do."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        free = free_bytes(torch.device(device))
        has = "" if free is None else f", of which {free / 2**30:.1f} GiB are free now"
        raise MemoryError(
            f"device={device!r} has too little memory{has}. {way_out}, or device=None. "
            f"torch says: {error}"
        ) from error


@cache
def has_triton() -> bool:
    """Tell whether Triton is there, which comes with torch for CUDA."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True
