"""The parameter `device` of models, and the way to what works there."""

import re
from importlib import import_module
from typing import Any

from textkin._validation import Constraint

__all__ = ["DEVICE", "room_on"]

_NAME = re.compile(r"cpu|cuda(:\d+)?")

DEVICE = Constraint(
    lambda value: value is None or (isinstance(value, str) and bool(_NAME.fullmatch(value))),
    "None, 'cpu', 'cuda' or one GPU of several, such as 'cuda:1'",
    lambda value: value is not None and not isinstance(value, str),
)


def room_on(device: str, module: str) -> tuple[Any, Any, int]:
    """Return a module of `textkin.device`, the torch device, and the bytes that are free there.

    Parameters
    ----------
    device : str
        What the parameter says.
    module : str
        The name of the module.

    Raises
    ------
    ImportError
        If torch is not installed.
    ValueError
        If torch sees no such device.
    """
    try:
        import_module("torch")
    except ImportError:
        raise ImportError(
            f"device={device!r} needs torch: pip install 'textkin[torch]'. Without it, leave "
            "device at None."
        ) from None
    place = import_module("textkin.device._place")
    found = place.place_of(device)
    return import_module(f"textkin.device.{module}"), found, place.memory_of(found)
