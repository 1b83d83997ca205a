"""Killed writers, concurrent readers, and forks."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from textkin import Index


def run(*arguments: object) -> str:
    """Run a script in this folder; a failure prints the seed."""
    script, *rest = map(str, arguments)
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name(script), *rest],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def seed() -> int:
    """Return a random seed; the moment of a kill is random anyway."""
    return int.from_bytes(os.urandom(4), "little")


def test_killed_writer_loses_nothing_acknowledged(quick_folder: Path) -> None:
    run("kills.py", "kills", quick_folder, seed(), 30)


@pytest.mark.slow
def test_very_many_kills_lose_nothing(quick_folder: Path) -> None:
    run("kills.py", "kills", quick_folder, seed(), 1000)


def test_kills_on_a_disk_lose_nothing(tmp_path: Path) -> None:
    run("kills.py", "kills", tmp_path, seed(), 10)


def test_readers_see_one_snapshot_each_during_writes(quick_folder: Path) -> None:
    run("kills.py", "readers", quick_folder, seed(), 20)


class TestForks:
    """Forks in separate processes, because this process may have threads."""

    def test_open_index_raises_in_the_child(self, tmp_path: Path) -> None:
        told = self.run_code(
            tmp_path,
            """
            index.add(["one", "two"])
            going_on = iter(index)
            next(going_on)
            pid = os.fork()
            if pid == 0:
                for use in (
                    lambda i: list(going_on), len, list, Index.verify, lambda i: i.add(["x"])
                ):
                    try:
                        use(index)
                    except RuntimeError as error:
                        print("cannot be used in both processes" in str(error))
                try:
                    Index.open(path)
                except RuntimeError as error:
                    print("get_context('spawn')" in str(error))
                sys.exit()  # with all finalizers
            assert os.waitpid(pid, 0)[1] == 0
            print(next(going_on).id, len(index))
            index.add([{"id": "parent", "text": "four"}])
            print(index.ids)
            index.verify()
            """,
        )
        assert told == [*["True"] * 6, "1 2", "['0', '1', 'parent']"]

    def test_closed_index_can_be_opened_in_parent_and_child(self, tmp_path: Path) -> None:
        told = self.run_code(
            tmp_path,
            """
            index.add(["one", "two"])
            index.close()
            pid = os.fork()
            with Index.open(path) as index:
                index.add([{"id": "parent" if pid else "child", "text": "three"}])
            if pid == 0:
                sys.exit()
            assert os.waitpid(pid, 0)[1] == 0
            with Index.open(path) as index:
                index.verify()
                print(sorted(index.ids))
            """,
        )
        assert told == ["['0', '1', 'child', 'parent']"]

    def test_child_of_a_killed_writer_does_not_keep_the_lock(self, tmp_path: Path) -> None:
        told = self.run_code(
            tmp_path,
            """
            index.close()
            ends, ready = os.pipe(), os.pipe()
            writer = os.fork()
            if writer == 0:
                def documents():
                    yield "one"
                    if os.fork() == 0:  # lives on when the writer is dead
                        os.close(ends[1])
                        os.write(ready[1], b"x")
                        os.read(ends[0], 1)
                        os._exit(0)
                    signal.pause()
                Index.open(path).add(documents())
            os.read(ready[0], 1)
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
            with Index.open(path, timeout=0) as index:
                index.add(["two"])
                print(len(index))
            os.close(ends[1])
            """,
        )
        assert told == ["1"]

    def test_exit_of_a_child_does_not_remove_the_log(self, tmp_path: Path) -> None:
        """A process that inherited a connection must not close it.

        As the last user, it would remove the log, which then belongs to a killed writer.
        """
        told = self.run_code(
            tmp_path,
            """
            index.add(["one", "two"])
            ends = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(ends[1])
                os.read(ends[0], 1)
                sys.exit()
            index.close()
            killed = os.fork()
            if killed == 0:
                killed = Index.open(path)
                killed.add(["three"])
                os.kill(os.getpid(), signal.SIGKILL)
            os.waitpid(killed, 0)
            print(os.path.getsize(path + "/catalogue.sqlite-wal") > 0)
            os.close(ends[1])
            os.waitpid(child, 0)
            with Index.open(path) as index:
                index.verify()
                print(index.ids)
            """,
        )
        assert told == ["True", "['0', '1', '2']"]

    def test_child_neither_keeps_nor_releases_the_lock(self, tmp_path: Path) -> None:
        told = self.run_code(
            tmp_path,
            """
            ends = os.pipe()

            def documents():
                global child
                yield "one"
                child = os.fork()
                if child == 0:
                    os.close(ends[1])
                    os.read(ends[0], 1)  # lives on when the parent has written
                    os._exit(0)
                leaving = os.fork()
                if leaving == 0:
                    sys.exit()  # unwinds the open blocks of the parent
                os.waitpid(leaving, 0)
                try:
                    Index.open(path, timeout=0).add(["not now"])
                except IndexLockedError as error:
                    print(str(os.getpid()) in str(error))
                yield "two"

            index.add(documents())
            with Index.open(path, timeout=0) as other:
                other.add([{"id": "other", "text": "three"}])
                print(other.ids)
            os.close(ends[1])
            os.waitpid(child, 0)
            """,
        )
        assert told == ["True", "['0', '1', 'other']"]

    def run_code(self, tmp_path: Path, code: str) -> list[str]:
        start = (
            "import os, signal, sys\n"
            "from textkin import Index\n"
            "from textkin.exceptions import IndexLockedError\n"
            f"path = {str(tmp_path / 'test.kin')!r}\n"
            "index = Index.create(path)\n"
        )
        done = subprocess.run(
            [sys.executable, "-u", "-c", start + textwrap.dedent(code)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


def test_compact_does_not_wait_for_readers(index: Index) -> None:
    """It once waited a minute per reader, because SQLite's log cannot be truncated during reads."""
    index.add([{"id": str(number), "text": "some words " * 50} for number in range(100)])
    with Index.open(index.path) as reader:
        assert len(reader) == 100
        index.delete([str(number) for number in range(90)])
        done = threading.Event()

        def compact() -> None:
            index.compact()
            done.set()

        thread = threading.Thread(target=compact)
        thread.start()
        assert done.wait(30)
        thread.join()
        assert len(reader) == 100
        assert len(list(reader)) == 100
        assert len(index) == 10
