"""Numbers of threads, memory sizes, and a check that can stop long calls."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from textkin._base import integer, one_of
from textkin.exceptions import ParameterError
from textkin.run._progress import ProgressCallback

__all__ = [
    "effective_jobs",
    "format_size",
    "memory_in_bytes",
    "memory_limit",
    "stop_check",
    "stoppable",
]

_N_JOBS = one_of(None) | integer()
_MAX_THREADS = 2**31 - 1  # largest number that the core accepts


def effective_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` means, as in scikit-learn.

    Parameters
    ----------
    n_jobs : int or None
        None is one thread; a positive number is that many; -1 is one for each core this
        process may use, -2 all but one, and so on (never fewer than one).

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> effective_jobs(None), effective_jobs(3)
    (1, 3)
    """
    _N_JOBS.check("n_jobs", n_jobs)
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use None for one thread or -1 for all cores.")
    if n_jobs < 0:
        return max(1, usable_cores() + 1 + int(n_jobs))
    return min(int(n_jobs), _MAX_THREADS)


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_MAX_BYTES = 2**62  # the core adds sizes in 64-bit integers


def memory_in_bytes(memory: str | int, name: str = "memory") -> int:
    """Convert a size such as "512MB" to bytes; KB, MB, GB, and TB are powers of 1024.

    Parameters
    ----------
    memory : str or int
        A number with a unit, or a number of bytes; at most 2**62 bytes.
    name : str, default="memory"
        Name of the parameter, for errors.

    Returns
    -------
    int
        Number of bytes, from 1 to 2**62.

    Examples
    --------
    >>> memory_in_bytes("512MB"), memory_in_bytes("1.5 GB"), memory_in_bytes(4096)
    (536870912, 1610612736, 4096)
    """
    if not isinstance(memory, str):
        integer(1, _MAX_BYTES).check(name, memory)
        return int(memory)
    written = _SIZE.fullmatch(memory)
    size = float(written[1]) * 1024 ** _POWERS[written[2].lower()] if written else 0.0
    if size < 1:
        raise ParameterError(
            name, "a size such as '512MB' or '2GB', or a number of bytes", repr(memory)
        )
    if size > _MAX_BYTES:  # also catches infinity, from too many digits
        raise ParameterError(name, f"at most {_MAX_BYTES} bytes (2**62, '4194304TB')", repr(memory))
    return int(size)


def memory_limit(memory: str | int | None, name: str = "memory") -> int | None:
    """Return an optional size in bytes, as `memory_in_bytes` does, or None for None.

    Examples
    --------
    >>> memory_limit("2GB"), memory_limit(None)
    (2147483648, None)
    """
    return None if memory is None else memory_in_bytes(memory, name)


def format_size(size: float) -> str:
    """Format a number of bytes in GB, or in MB below half a GB."""
    return f"{size / 2**30:.1f} GB" if size >= 2**29 else f"{size / 2**20:.1f} MB"


_check: ContextVar[ProgressCallback | None] = ContextVar("textkin_stop_check", default=None)


@contextmanager
def stoppable(check: ProgressCallback) -> Iterator[None]:
    """Call `check` regularly in a ``with`` block; its exceptions stop long calls.

    Ctrl-C reaches only the main thread. A server runs searches in other threads and uses this
    function to stop slow searches.

    Parameters
    ----------
    check : callable
        Called with (done, total), like a progress callback. Its exceptions propagate to the caller.

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
    """Return the check of the innermost `stoppable` block of this thread, or None."""
    return _check.get()
