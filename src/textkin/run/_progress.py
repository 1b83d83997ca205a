"""Progress callbacks, and progress bars on terminals."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = [
    "ProgressCallback",
    "StreamProgress",
    "part_of",
    "progress_bar",
    "stream_bar",
    "working",
]

ProgressCallback: TypeAlias = Callable[[int, int], object]
"""Called regularly with (done, total); an exception from it stops the work."""


_WIDE = 40
_NARROW = 12  # leaves space for the rates on 80 columns


class StreamProgress(NamedTuple):
    """Two callbacks of one progress bar: for bytes read, and for items produced.

    Attributes
    ----------
    read : callable or None
        Called with (bytes read, total bytes); redraws the bar.
    made : callable or None
        Called with (number of finished items, any number).
    """

    read: ProgressCallback | None = None
    made: ProgressCallback | None = None


@overload
def part_of(
    progress: ProgressCallback, start: int, end: int, total: int = ...
) -> ProgressCallback: ...
@overload
def part_of(
    progress: ProgressCallback | None, start: int, end: int, total: int = ...
) -> ProgressCallback | None: ...
def part_of(
    progress: ProgressCallback | None, start: int, end: int, total: int = 100
) -> ProgressCallback | None:
    """Return a progress callback for the steps `start` to `end` of longer work.

    Return None if `progress` is None.
    """
    if progress is None:
        return None

    def tell(done: int, all_: int) -> None:
        progress(start + (end - start) * done // max(1, all_), total)

    return tell


@contextmanager
def progress_bar(label: str, unit: str = "") -> Iterator[ProgressCallback | None]:
    """Yield a callback that draws a progress bar on a terminal, or None without one.

    Parameters
    ----------
    label : str
        Label to the left of the bar.
    unit : str, default=""
        Counted items, such as "documents"; the bar also shows their number and rate.
    """
    if not _on_terminal():
        yield None
        return
    with _bar(_NARROW if unit else _WIDE) as bar:
        task = bar.add_task(label, total=None, told="")

        def tell(done: int, total: int) -> None:
            told = _items(done, unit, bar.tasks[task].elapsed) if unit else ""
            bar.update(task, completed=done, total=total or None, told=told)

        yield tell


@contextmanager
def stream_bar(label: str, unit: str) -> Iterator[StreamProgress]:
    """Yield callbacks of a progress bar for work that reads bytes and produces items.

    Parameters
    ----------
    label : str
        Label to the left of the bar.
    unit : str
        Name of the produced items, such as "documents".
    """
    if not _on_terminal():
        yield StreamProgress()
        return
    with _bar(_NARROW) as bar:
        task = bar.add_task(label, total=None, told="")
        items = size = 0

        def show() -> None:
            elapsed = bar.tasks[task].elapsed
            told = f"{_items(items, unit, elapsed)}  {_rate(size / 1e6, elapsed, 1)} MB/s"
            bar.update(task, told=told)

        def read(done: int, total: int) -> None:
            nonlocal size
            size = done
            bar.update(task, completed=done, total=total or None)
            show()

        def made(done: int, _total: int) -> None:
            nonlocal items
            items = done
            show()

        yield StreamProgress(read, made)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner on a terminal during a ``with`` block.

    Standard output and standard error are not replaced, so code in the context can detect
    terminals. Warnings are printed after the spinner ends.

    Parameters
    ----------
    label : str
        Label of the spinner.
    """
    if not _on_terminal():
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    told: list[warnings.WarningMessage] = []
    spinner = Live(
        Spinner("dots", Text(label), style="green"),
        console=Console(stderr=True),
        refresh_per_second=12.5,
        transient=True,
        redirect_stdout=False,  # the replacement of older versions of rich is not a terminal
        redirect_stderr=False,
    )
    try:
        with warnings.catch_warnings(record=True) as told, spinner:
            yield
    finally:
        for one in told:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)


def _bar(width: int) -> "Progress":
    """Create the progress bar for terminals; it disappears at the end."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=width),
        TaskProgressColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    )


def _items(number: int, unit: str, elapsed: float | None) -> str:
    return f"{number:,} {unit}  {_rate(number, elapsed, 0)}/s"


def _rate(number: float, elapsed: float | None, digits: int) -> str:
    return f"{number / elapsed if elapsed else 0:,.{digits}f}"


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
