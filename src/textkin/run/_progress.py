"""Progress of long work: a callback that the caller passes in, silent by default."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

__all__ = ["Progress", "ProgressCallback", "progress_bar", "working"]

ProgressCallback: TypeAlias = Callable[[int, int], object]
"""Called now and then with (done, total); raising from it stops the work."""


class Progress:
    """A count of finished items that tells a callback, if there is one."""

    def __init__(self, total: int, callback: ProgressCallback | None = None) -> None:
        self.total = total
        self.done = 0
        self._callback = callback

    def advance(self, items: int = 1) -> None:
        """Count `items` more as finished."""
        self.done += items
        if self._callback is not None:
            self._callback(self.done, self.total)


@contextmanager
def progress_bar(label: str) -> Iterator[ProgressCallback | None]:
    """Give a callback that draws a bar on a terminal; None, so nothing, in a pipe.

    Parameters
    ----------
    label : str
        What is being done, shown left of the bar.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show on a terminal that work of unknown length goes on; nothing in a pipe.

    Parameters
    ----------
    label : str
        What is being done.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(label):
        yield
