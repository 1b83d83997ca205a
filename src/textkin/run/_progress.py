"""Progress of long work: a callback that the caller passes in, silent by default."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

__all__ = ["ProgressCallback", "progress_bar", "working"]

ProgressCallback: TypeAlias = Callable[[int, int], object]
"""Called now and then with (done, total); raising from it stops the work."""


@contextmanager
def progress_bar(label: str) -> Iterator[ProgressCallback | None]:
    """Give a callback that draws a bar on a terminal; None, so nothing, in a pipe.

    Parameters
    ----------
    label : str
        What is being done, shown left of the bar.
    """
    if not _on_terminal():
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
    if not _on_terminal():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(label):
        yield


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
