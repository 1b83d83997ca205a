"""Where work runs: threads and clusters, progress and cancellation."""

from textkin.run._blocks import Place, map_blocks, side_by_side
from textkin.run._jobs import effective_jobs
from textkin.run._memory import memory_in_bytes
from textkin.run._progress import (
    ProgressCallback,
    StreamProgress,
    progress_bar,
    stream_bar,
    working,
)
from textkin.run._stopping import stop_check, stoppable

__all__ = [
    "Place",
    "ProgressCallback",
    "StreamProgress",
    "effective_jobs",
    "map_blocks",
    "memory_in_bytes",
    "progress_bar",
    "side_by_side",
    "stop_check",
    "stoppable",
    "stream_bar",
    "working",
]
