"""The parameter `device` of models, and the way to what works there."""

from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

from textkin.device._torch import DEVICE, told_if_out_of_memory, torch_device

__all__ = ["DEVICE", "room_on", "working_on"]


def room_on(device: str, module: str) -> tuple[Any, Any, int]:
    """Return a module of `textkin.device`, the torch device, and the bytes that it may take there.

    Parameters
    ----------
    device : str
        What the parameter says.
    module : str
        The name of the module.
    """
    place = torch_device(device)
    memory: int = import_module("textkin.device._place").memory_of(place)
    return import_module(f"textkin.device.{module}"), place, memory


def working_on(device: str | None) -> AbstractContextManager[None]:
    """Return what tells, around work on a device, that its memory was too little."""
    if device is None:
        return nullcontext()
    torch_device(device)  # or torch itself may be missing
    return told_if_out_of_memory(device, "Free some")
