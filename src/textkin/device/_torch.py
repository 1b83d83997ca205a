"""Import of the optional torch, its devices, and precision settings."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from textkin._base import DEVICE

if TYPE_CHECKING:
    import torch

__all__ = [
    "free_bytes",
    "full_precision",
    "has_triton",
    "memory_errors_on",
    "torch_device",
]

_SMALLER = (
    "Pass a smaller memory= (tables of queries) or device_memory= (documents, which are then split "
    "into blocks)"
)


def torch_device(device: str) -> "torch.device":
    """Return the torch device with a name; raise if torch or the device is missing.

    Parameters
    ----------
    device : str
        Name of the device: "cpu", "cuda", or "cuda:1".

    Returns
    -------
    torch.device
        An available device.

    Raises
    ------
    ImportError
        If torch is not installed.
    RuntimeError
        If torch does not find the device.

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
            f"device={device!r} requires torch: pip install 'textkin[torch]'. Without torch, "
            "leave device at None."
        ) from None
    found = torch.device(device)
    if found.type == "cuda":
        count = torch.cuda.device_count()
        if count <= (found.index or 0):
            raise RuntimeError(
                f"device must be an available device; got {device!r}, and torch "
                f"{torch.__version__} finds {count} CUDA devices. Pass device='cpu', or leave "
                "device at None for the compiled core."
            )
    return found


def free_bytes(device: "torch.device") -> int | None:
    """Return the number of free bytes of a GPU, or None for the CPU."""
    if device.type != "cuda":
        return None
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    # Memory that torch has reserved but not allocated is free too.
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


class _Products:
    """Process-wide torch settings for the precision of float32 matrix products.

    The first concurrent user of full precision sets it, and the last one restores the old setting.
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
    """Return the torch modules with precision settings, or None before torch 2.9."""
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
    else:  # the older function raises once the newer settings have been used
        both[0].fp32_precision, both[1].fp32_precision = cuda, cpu


@contextmanager
def full_precision() -> Iterator[None]:
    """Compute float32 matrix products in full precision within a ``with`` block."""
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
def memory_errors_on(device: str | None, way_out: str = _SMALLER) -> Iterator[None]:
    """Convert torch's out-of-memory error in a ``with`` block to one with a fix."""
    if device is None:
        yield
        return
    torch_device(device)  # raises if torch is not installed
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        free = free_bytes(torch.device(device))
        has = "" if free is None else f": {free / 2**30:.1f} GiB are free"
        raise MemoryError(
            f"device={device!r} has too little memory{has}. {way_out}, or device=None. "
            f"Message of torch: {error}"
        ) from error


@cache
def has_triton() -> bool:
    """Return True if Triton, which compiles the CUDA kernels, is installed."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True
