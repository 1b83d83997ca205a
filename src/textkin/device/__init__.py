"""PyTorch devices: memory limits, transfers, and sums over segments.

Requires only NumPy and torch, not the compiled core, and imports torch on first use.
"""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.device._memory import (
        memory_of as memory_of,
        rows_that_fit as rows_that_fit,
        tensor_of as tensor_of,
        to_device as to_device,
        write_rows as write_rows,
    )
    from textkin.device._segments import (
        cut_rows as cut_rows,
        segment_maxima as segment_maxima,
        segment_sums as segment_sums,
    )
    from textkin.device._torch import (
        free_bytes as free_bytes,
        full_precision as full_precision,
        has_triton as has_triton,
        memory_errors_on as memory_errors_on,
        torch_device as torch_device,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_memory": ["rows_that_fit", "memory_of", "to_device", "tensor_of", "write_rows"],
            "_segments": ["cut_rows", "segment_maxima", "segment_sums"],
            "_torch": [
                "free_bytes",
                "full_precision",
                "has_triton",
                "memory_errors_on",
                "torch_device",
            ],
        },
    )

__all__ = ["torch_device"]
