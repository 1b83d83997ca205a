"""Killed and interrupted joins and builds: the results are consistent, and the call can resume."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from cluster import ended
from cluster.stores import TEXTS
from textkin import Index, read

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
pytestmark = pytest.mark.usefixtures("small_blocks")


@contextmanager
def started(*arguments):
    """Run the script in this folder, in a separate process group."""
    tests = str(Path(__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("ended.py"), *map(str, arguments)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        try:
            yield child
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)


def rows(parts):
    return parquet.read_table(parts.folder).to_pylist()


SLOW = pytest.mark.slow  # each starts processes, and the other kinds are fast enough


@pytest.mark.parametrize("at", [1, 2, *(pytest.param(at, marks=SLOW) for at in range(3, 8)), 8])
def test_killed_join_resumes_after_any_write(store, tmp_path, at):
    """A manifest and three parts: each is flushed and renamed, and its folder is flushed."""
    with started("killed", "join", store.path, tmp_path / "one", at) as child:
        _, told = child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL, told
    parts = ended.call("join", store, tmp_path / "one")
    assert rows(parts) == rows(ended.call("join", store, tmp_path / "two"))
    assert (parts.files, parts.made) == (3, 3 - max(0, (at - 2) // 2))
    assert not list((tmp_path / "one").glob(".*"))


def test_killed_pairs_resume(store, tmp_path):
    with started("killed", "pairs", store.path, tmp_path / "one", 7) as child:
        _, told = child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL, told
    parts = ended.call("pairs", store, tmp_path / "one")
    assert parts.made == parts.files - 2
    assert rows(parts) == rows(ended.call("pairs", store, tmp_path / "two"))


@pytest.mark.parametrize(
    ("kind", "everyone"),
    [
        pytest.param("join", False, marks=SLOW),
        ("join", True),
        pytest.param("pairs", False, marks=SLOW),
        ("add", True),
    ],
)
def test_ctrl_c_on_a_cluster(store, tmp_path, kind, everyone):
    """Ctrl-C on a terminal also reaches the worker processes, which then exit."""
    pytest.importorskip("distributed", reason="Dask is not installed")
    path, folder = store.path, tmp_path / "one"
    if kind == "add":
        folder.mkdir()
        for number, text in enumerate(TEXTS):
            (folder / f"{number:02}.txt").write_text(text)
        path = tmp_path / "new.kin"
        Index.create(path, language=None).close()
    with started("interrupted", kind, path, folder, 0 if everyone else 2) as child:
        assert child.stdout.readline().strip().isdigit()
        (os.killpg if everyone else os.kill)(child.pid, signal.SIGINT)
        told, errors = child.communicate(timeout=120)
    assert child.returncode == 0, errors
    assert told.split()[-1] == "interrupted"
    if kind != "add":
        parts = ended.call(kind, store, folder)
        assert rows(parts) == rows(ended.call(kind, store, tmp_path / "two"))
        return
    with Index.open(path) as index:
        index.verify()
        there = len(index)
        assert 0 < there < len(TEXTS)
        assert there % 3 == 0
        assert index.ids == [one.id for one in read(folder)][:there]


def test_blocks_stop_after_their_caller_is_killed(client, cluster, tmp_path):
    def marks(kind):
        return sorted(path.stem for path in tmp_path.glob(f"*.{kind}"))

    end = time.monotonic() + 300  # a loaded computer takes long to start a process
    with started("waiting", tmp_path, cluster.scheduler_address) as child:
        while len(marks("begun")) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        child.kill()
    while marks("stopped") != marks("begun") and time.monotonic() < end:
        time.sleep(0.05)
    assert marks("stopped") == marks("begun")
    assert len(marks("begun")) == 2
