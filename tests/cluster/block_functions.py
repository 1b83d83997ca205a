"""Functions that are sent to the workers of the tests."""

import os
import signal
import threading
import time
from pathlib import Path

from textkin.run import stop_check


def square(number):
    return number * number


def share(number, *, memory):
    return number, memory


def refuse_three(number):
    if number == 3:
        raise KeyError("three")
    return number


class Unpackable(Exception):
    """Object that cannot be pickled."""

    def __init__(self):
        super().__init__("three")
        self.lock = threading.Lock()


def refuse_unpackably(number):
    raise Unpackable


def die_once(folder, number):
    """Exit the process silently, the first time that block 2 runs."""
    mark = Path(folder) / "died"
    if number == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number, os.getpid()


def die(number):
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)


def until_told(folder, number):
    """Check for a stop request, like long work, and record how it ended."""
    folder = Path(folder)
    (folder / f"{number}.begun").touch()
    check = stop_check()
    assert check is not None
    try:
        for _ in range(3000):
            check(0, 0)
            time.sleep(0.01)
    except InterruptedError:
        (folder / f"{number}.stopped").touch()
        raise
    (folder / f"{number}.ended").touch()


def clients(dask_scheduler):
    """Run on the scheduler: return the connected clients."""
    return list(dask_scheduler.clients)
