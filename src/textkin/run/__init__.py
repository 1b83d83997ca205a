"""Where work runs: threads, progress and cancellation."""

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
    "ProgressCallback",
    "StreamProgress",
    "effective_jobs",
    "memory_in_bytes",
    "progress_bar",
    "stop_check",
    "stoppable",
    "stream_bar",
    "working",
]
