"""Work that another thread wants to end: a check that long calls ask now and then."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from textkin.run._progress import ProgressCallback

__all__ = ["stop_check", "stoppable"]

_check: ContextVar[ProgressCallback | None] = ContextVar("textkin_stop_check", default=None)


@contextmanager
def stoppable(check: ProgressCallback) -> Iterator[None]:
    """Let long calls of this thread ask a check now and then; raising from it ends them.

    Ctrl-C reaches the main thread alone. A server gives searches to other threads, and ends those
    that take too long this way.

    Parameters
    ----------
    check : callable
        Gets (done, total), as a progress callback does; what it raises passes through the call.

    Examples
    --------
    >>> with stoppable(print):
    ...     stop_check()(1, 2)
    1 2
    >>> stop_check() is None
    True
    """
    before = _check.set(check)
    try:
        yield
    finally:
        _check.reset(before)


def stop_check() -> ProgressCallback | None:
    """Return the check of the innermost `stoppable` of this thread, or None."""
    return _check.get()
