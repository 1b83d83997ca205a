"""Each file operation of a call fails in turn: the process dies there, or gets an error.

`faults.cpp` intercepts calls of Python and SQLite to the C library; `faults.py` does the rest.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CALLS = [
    "add",
    "merge",
    "compact",
    "attach",
    "stream",
    "delete",
    "mirror",
    "modelled",
    "detach",
    "close",
    "open",
    "repair",
    "create",
    "copy",
]
MANNERS = ["kill", "tear", "error", "no space", "full"]


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled library that injects faults."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and a C++ compiler")
    made = tmp_path_factory.mktemp("shim") / "faults.so"
    subprocess.run(
        [
            compiler,
            "-std=c++20",
            "-O0",
            "-shared",
            "-fPIC",
            "-o",
            made,
            HERE / "faults.cpp",
            "-ldl",
        ],
        check=True,
    )
    return made


def run(shim: Path, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, HERE / "faults.py", *map(str, arguments)],
        env={**os.environ, "LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_fault_at_each_operation(shim: Path, quick_folder: Path) -> None:
    told = run(shim, "faults", quick_folder, "kill:add", "error:attach", "full:merge")
    assert [line.partition(":")[0] for line in told.splitlines()] == [
        "add, kill",
        "attach, error",
        "merge, full",
    ]


@pytest.mark.slow  # each call in each manner
@pytest.mark.parametrize("manner", MANNERS)
def test_fault_at_each_operation_of_all_calls(shim: Path, quick_folder: Path, manner: str) -> None:
    told = run(shim, "faults", quick_folder, *(f"{manner}:{call}" for call in CALLS))
    assert len(told.splitlines()) == len(CALLS)


def test_files_are_on_disk_before_their_names(shim: Path, quick_folder: Path) -> None:
    """Check the order of writes and flushes, which determines the state after a power failure."""
    told = [line.split(" ", 1) for line in run(shim, "order", quick_folder).splitlines()]
    log = "/catalogue.sqlite-wal"
    files = [number for number, (what, _) in enumerate(told) if what == "rename"]
    assert len(files) == 2, "a segment of what was added, and one of those that were merged"
    for place in files:
        # Content is flushed before a rename, and names before the catalog refers to them.
        assert told[place - 1][0] == "fsync"
        assert told[place - 1][1].endswith(".tmp")
        assert told[place + 1] == ["fsync", "/segments"]
        assert told[place + 2] == ["write", log]
    # Each change of the catalog is flushed before the next step: the documents, their segment, and
    # the merged segment. Only then are the old files removed.
    ends = [number for number, line in enumerate(told) if line == ["fsync", log]][-3:]
    removals = [number for number, (what, _) in enumerate(told) if what == "unlink"]
    assert ends[0] < files[0] < ends[1] < files[1] < ends[2] < min(removals)
    assert {what for what, name in told[ends[2] + 1 :]} == {"unlink"}
