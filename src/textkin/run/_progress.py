"""Progress of long work: a callback that the caller passes in, silent by default."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["ProgressCallback", "StreamProgress", "progress_bar", "stream_bar", "working"]

ProgressCallback: TypeAlias = Callable[[int, int], object]
"""Called now and then with (done, total); raising from it stops the work."""


_WIDE = 40
_NARROW = 12  # so that the rates fit beside it on 80 columns


class StreamProgress(NamedTuple):
    """Two callbacks of one bar; both None where there is no terminal.

    Attributes
    ----------
    read : callable or None
        Gets (bytes that were read, all of them); the bar is drawn after it.
    made : callable or None
        Gets (items that came of them and are done, anything).
    """

    read: ProgressCallback | None = None
    made: ProgressCallback | None = None


@contextmanager
def progress_bar(label: str, unit: str = "") -> Iterator[ProgressCallback | None]:
    """Give a callback that draws a bar on a terminal; None, so nothing, in a pipe.

    Parameters
    ----------
    label : str
        What is being done, shown left of the bar.
    unit : str, default=""
        What is counted, such as "documents"; its number and how many a second are shown too.
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
    """Give callbacks for work that reads bytes and makes items of them, at rates of their own.

    Parameters
    ----------
    label : str
        What is being done, shown left of the bar.
    unit : str
        What is made of the bytes, such as "documents".
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
    """Show on a terminal that work of unknown length goes on; nothing in a pipe.

    Standard output and standard error stay what they are, so that what is made meanwhile can ask
    them whether they are terminals; warnings are told afterwards, below what was shown.

    Parameters
    ----------
    label : str
        What is being done.
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
        redirect_stdout=False,  # the stand-in of older versions of rich is no terminal
        redirect_stderr=False,
    )
    try:
        with warnings.catch_warnings(record=True) as told, spinner:
            yield
    finally:
        for one in told:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)


def _bar(width: int) -> "Progress":
    """Return a bar that vanishes when it is done: label, bar, percent, what is told, time left."""
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
