"""How many threads a call may use."""

import os

from textkin._validation import integer, one_of

__all__ = ["effective_jobs"]

_N_JOBS = one_of(None) | integer()
_MOST = 2**31 - 1  # that the core counts; no call starts more threads than it has parts of work


def effective_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for, as scikit-learn counts them.

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
    return min(int(n_jobs), _MOST)


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
