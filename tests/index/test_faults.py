"""Each file operation of a call goes wrong in turn: the process dies there, or is told an error.

`faults.cpp` stands between Python, SQLite and the kernel, and `faults.py` does the rest.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
IMPORTANT = ["add", "merge", "compact", "attach"]
OTHERS = [
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
    """The compiled library that lets operations go wrong."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and a C++ compiler")
    made = tmp_path_factory.mktemp("shim") / "faults.so"
    subprocess.run(
        [
            compiler,
            "-std=c++20",
            "-O1",
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


@pytest.mark.parametrize("manner", ["kill", "error", "full"])
def test_a_fault_at_each_operation(shim: Path, quick_folder: Path, manner: str) -> None:
    told = run(shim, manner, quick_folder, *IMPORTANT)
    assert len(told.splitlines()) == len(IMPORTANT)


@pytest.mark.slow
@pytest.mark.parametrize("manner", MANNERS)
def test_a_fault_at_each_operation_of_everything(
    shim: Path, quick_folder: Path, manner: str
) -> None:
    told = run(shim, manner, quick_folder, *IMPORTANT, *OTHERS)
    assert len(told.splitlines()) == len(IMPORTANT) + len(OTHERS)


def test_what_is_named_is_on_the_disk_before(shim: Path, quick_folder: Path) -> None:
    """What a power cut must find, by the order in which files are written and flushed."""
    told = [line.split(" ", 1) for line in run(shim, "order", quick_folder).splitlines()]
    log = "/catalogue.sqlite-wal"
    files = [number for number, (what, _) in enumerate(told) if what == "rename"]
    assert len(files) == 2, "a segment of what was added, and one of those that were merged"
    for place in files:
        # Renamed only when its content is flushed, named only when its name is.
        assert told[place - 1][0] == "fsync"
        assert told[place - 1][1].endswith(".tmp")
        assert told[place + 1] == ["fsync", "/segments"]
        assert told[place + 2] == ["write", log]
    # Each change of the catalogue is flushed before the next step: the documents, the segment that
    # is made of them, the merged one. Only then the old files are removed.
    ends = [number for number, line in enumerate(told) if line == ["fsync", log]][-3:]
    removals = [number for number, (what, _) in enumerate(told) if what == "unlink"]
    assert ends[0] < files[0] < ends[1] < files[1] < ends[2] < min(removals)
    assert {what for what, name in told[ends[2] + 1 :]} == {"unlink"}
