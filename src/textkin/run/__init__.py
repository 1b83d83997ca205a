"""Execution of long work: threads and clusters, progress, limits, and cancellation."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.run._blocks import (
        Executor as Executor,
        describe_block as describe_block,
        map_blocks as map_blocks,
        side_by_side as side_by_side,
    )
    from textkin.run._dask import connect as connect
    from textkin.run._progress import (
        ProgressCallback as ProgressCallback,
        StreamProgress as StreamProgress,
        part_of as part_of,
        progress_bar as progress_bar,
        stream_bar as stream_bar,
        working as working,
    )
    from textkin.run._resources import (
        effective_jobs as effective_jobs,
        format_size as format_size,
        memory_in_bytes as memory_in_bytes,
        memory_limit as memory_limit,
        stop_check as stop_check,
        stoppable as stoppable,
    )
    from textkin.run._threads import (
        Check as Check,
        Fill as Fill,
        fill_matrix as fill_matrix,
        row_slices as row_slices,
        run_blocks as run_blocks,
        single_blas_thread as single_blas_thread,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_blocks": ["Executor", "map_blocks", "describe_block", "side_by_side"],
            "_dask": ["connect"],
            "_progress": [
                "ProgressCallback",
                "StreamProgress",
                "part_of",
                "progress_bar",
                "stream_bar",
                "working",
            ],
            "_resources": [
                "effective_jobs",
                "memory_in_bytes",
                "memory_limit",
                "format_size",
                "stop_check",
                "stoppable",
            ],
            "_threads": [
                "Check",
                "Fill",
                "fill_matrix",
                "row_slices",
                "single_blas_thread",
                "run_blocks",
            ],
        },
    )

__all__ = [
    "Executor",
    "ProgressCallback",
    "StreamProgress",
    "effective_jobs",
    "map_blocks",
    "memory_in_bytes",
    "part_of",
    "progress_bar",
    "side_by_side",
    "stop_check",
    "stoppable",
    "stream_bar",
    "working",
]
