"""Bounds, searches and models on a device through torch: a GPU, or tensors of the processor.

Needs NumPy and torch alone, not the compiled core, and loads torch on first use.
"""

from textkin.device._torch import DEVICE, torch_device

__all__ = ["DEVICE", "torch_device"]
