"""Inject an error into each file operation of a call in turn, and check the remains.

A script that runs with `faults.cpp` preloaded. Python and SQLite change files only through the C
library (SQLite's shared memory is mapped, and recreated after a crash), so no operation is missed;
`order` prints the operations.

    python faults.py order FOLDER
    python faults.py faults FOLDER MANNER:SCENARIO...
"""

import ctypes
import errno
import os
import shutil
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from store_model import (
    Documents,
    check,
    create,
    ended,
    fork,
    model_files,
    named_vector_files,
    perform,
    records,
    segment_files,
    small_limits,
    states,
    vector_files,
)

from textkin import Index
from textkin.exceptions import IndexWarning

MANNERS = {  # kind of fault, as in faults.cpp, and the error
    "kill": (1, 0),
    "tear": (2, 0),
    "error": (3, errno.EIO),
    "no space": (3, errno.ENOSPC),
    "full": (4, 0),
}
NOT_REACHED, ACKNOWLEDGED, RAISED = 0, 20, 21
EXTRA = records(Random(5), ["extra"])
MOST = 2000  # operations of a call; usually some hundred

library = ctypes.CDLL(None)


@dataclass(frozen=True)
class Scenario:
    """Call under test, its documents `calls`, and its index at `path`."""

    calls: list[dict[str, object]]
    call: dict[str, object]

    def make(self, path: Path) -> list[Documents]:
        """Create the index, and return the states during the call."""
        documents = Documents()
        with create(path) as index:
            for call in self.calls:
                perform(index, call, lambda _done, _total: None)
                documents = states(documents, call)[-1]
        return states(documents, self.call)


def adding(first: int, end: int, *, stream: bool = False) -> dict[str, object]:
    ids = [f"d{number}" for number in range(first, end)]
    return {"what": "add", "records": records(Random(first), ids), "stream": stream}


SEGMENTS = [adding(0, 6), adding(6, 12)]
SCENARIOS = {
    "add": Scenario([adding(0, 3)], adding(3, 8)),
    "stream": Scenario([adding(0, 3)], adding(3, 13, stream=True)),
    "merge": Scenario(SEGMENTS, adding(12, 18)),
    "delete": Scenario(SEGMENTS, {"what": "delete", "ids": ["d1", "d2", "d3", "d4"]}),
    "mirror": Scenario(SEGMENTS, {**adding(4, 14), "what": "mirror"}),
    "compact": Scenario(
        [*SEGMENTS, {"what": "delete", "ids": ["d2", "d7"]}, adding(20, 23)], {"what": "compact"}
    ),
    "attach": Scenario(SEGMENTS, {"what": "attach"}),
    "detach": Scenario([*SEGMENTS, {"what": "attach"}], {"what": "detach"}),
    "modelled": Scenario([adding(0, 3), {"what": "attach"}], {**adding(2, 9), "what": "update"}),
    "close": Scenario([*SEGMENTS, {"what": "delete", "ids": ["d2", "d7"]}], adding(20, 23)),
    "open": Scenario(SEGMENTS, {"what": "nothing"}),
    "repair": Scenario(SEGMENTS, {"what": "nothing"}),
    "create": Scenario([], {"what": "nothing"}),
    "copy": Scenario([*SEGMENTS, adding(20, 23), {"what": "attach"}], {"what": "nothing"}),
}


def home(name: str, path: Path) -> Path:
    """Return the path of the index in the watched folder; a copy is next to it."""
    return path / "index.kin" if name == "copy" else path


def do(name: str, path: Path) -> tuple[Callable[[], object], Index | None]:
    """Return the faults to inject, and the index that must be usable afterwards."""
    if name == "create":
        return lambda: create(path / "new.kin").close(), None
    if name in ("open", "repair"):
        return lambda: Index.open(path).close(), None
    index = Index.open(home(name, path))
    if name == "copy":
        return lambda: index.copy(path / "copy.kin").close(), index
    call = SCENARIOS[name].call
    if name == "close":
        perform(index, call, lambda _done, _total: None)
        return index.close, None
    return lambda: perform(index, call, lambda _done, _total: None), index


def go_wrong(name: str, manner: str, operation: int, path: Path, allowed: list[Documents]) -> None:
    """Run in the child: call with a fault, check the same object, and exit with the outcome."""
    call, index = do(name, path)
    how, error = MANNERS[manner]
    library.faults_watch(os.fsencode(path), -1)
    library.faults_arm(how, ctypes.c_long(operation), error)
    status = ACKNOWLEDGED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IndexWarning)
            call()
    except OSError as raised:
        # The safetensors library puts the error number into its message.
        if raised.errno not in (errno.EIO, errno.ENOSPC) and "os error" not in str(raised):
            raise
        status = RAISED
    if library.faults_seen() < operation:
        assert status == ACKNOWLEDGED
        os._exit(NOT_REACHED)
    if status == ACKNOWLEDGED:
        allowed = allowed[-1:]
    elif name in ("create", "copy"):  # a renamed folder is complete, and only that folder stays
        assert not list(path.glob(".*.tmp")), "a temporary folder remains"
    if index is not None:
        found = check(index, allowed, "the same object, at once")
        library.faults_arm(0, ctypes.c_long(0), 0)
        index.refresh()
        assert check(index, allowed, "the same object, refreshed") == found
        index.add(EXTRA)
        index.verify()
        index.close()
    os._exit(status)


def after(name: str, path: Path, allowed: list[Documents], told: str, status: int) -> None:
    """Run in the parent: open the remains, and compare them with the permitted states."""
    if name in ("create", "copy"):
        made = path / ("new.kin" if name == "create" else "copy.kin")
        if made.exists():
            with Index.open(made) as index:
                index.verify()
                check(index, [Documents()] if name == "create" else allowed[:1], told)
        elif status == ACKNOWLEDGED:
            raise AssertionError(f"{told}: {made.name} is not there")
    if name == "create":
        return
    path = home(name, path)
    with Index.open(path) as index:
        index.verify()
        check(index, allowed, told)
        if status > 0:
            return  # the child has continued writing
        index.update(EXTRA)
        index.compact()
        index.verify()
        assert len(segment_files(path)) == index.info().segments, f"{told}: files are left"
        assert len(model_files(path)) == len(index.models()), f"{told}: models are left"
        assert vector_files(path) == named_vector_files(index), f"{told}: vectors are left"


def scenario(name: str, manner: str, folder: Path) -> None:
    folder.mkdir()
    template = folder / "template.kin"
    allowed = SCENARIOS[name].make(template)
    if name == "open":  # with a log left by a killed writer
        leave_a_log(template)
    if name == "repair":
        (template / "segments" / segment_files(template)[0]).unlink()
    told = ""
    counts = {ACKNOWLEDGED: 0, RAISED: 0, -signal.SIGKILL: 0}
    for operation in range(1, MOST):
        path = folder / f"{operation}.kin"
        if name == "create":
            path.mkdir()
        else:
            shutil.copytree(template, home(name, path))
        told = f"{name}, {manner}, operation {operation}"
        status = ended(fork(partial(go_wrong, name, manner, operation, path, allowed)))
        if status == NOT_REACHED:
            break
        assert status in counts, f"{told}: {status}"
        counts[status] += 1
        possible = allowed[-1:] if status == ACKNOWLEDGED else allowed
        if status > 0:
            extra = {"what": "add", "records": EXTRA, "stream": False}
            possible = possible + [states(state, extra)[-1] for state in possible]
        try:
            with warnings.catch_warnings():
                if name == "repair":  # is recreated, unless the fault came later
                    warnings.simplefilter("ignore", IndexWarning)
                after(name, path, possible, told, status)
        except Exception as error:
            error.add_note(told)
            raise
        shutil.rmtree(path)
    else:
        raise AssertionError(f"{told}: no end")
    sys.stdout.write(f"{name}, {manner}: {sum(counts.values())} operations, {counts}\n")
    assert operation > 3, "there is something to go wrong"


def leave_a_log(path: Path) -> None:
    """Write in a process that exits without closing."""

    def write_and_die() -> None:
        Index.open(path).update([])
        index = Index.open(path)
        index.update(records(Random(0), ["d0"]))
        index.update(SEGMENTS[0]["records"])
        os.kill(os.getpid(), signal.SIGKILL)

    assert ended(fork(write_and_die)) == -signal.SIGKILL
    assert (path / "catalogue.sqlite-wal").stat().st_size > 0


def order(folder: Path) -> None:
    """Print the file operations of an add that creates and merges segments."""
    path = folder / "order.kin"
    SCENARIOS["merge"].make(path)
    call, index = do("merge", path)
    library.faults_watch(os.fsencode(path), sys.stdout.fileno())
    call()
    library.faults_watch(b"", -1)
    assert index is not None
    index.close()


if __name__ == "__main__":
    warnings.simplefilter("error")
    small_limits()
    what, folder, *chosen = sys.argv[1:]
    if what == "order":
        order(Path(folder))
    for one in chosen:
        manner, _, name = one.partition(":")
        scenario(name, manner, Path(folder) / name)
