"""Processes that are killed while they write, processes that read meanwhile, and forks."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from textkin import Index


def run(*arguments: object) -> str:
    """Run one of the scripts beside this file; it says which seed has failed."""
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
    """The moment of a kill is random whatever we do, so the calls may be as well."""
    return int.from_bytes(os.urandom(4), "little")


def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(quick_folder: Path) -> None:
    run("kills.py", "kills", quick_folder, seed(), 60)


@pytest.mark.slow
def test_nothing_is_lost_in_very_many_kills(quick_folder: Path) -> None:
    run("kills.py", "kills", quick_folder, seed(), 1000)


def test_nothing_is_lost_on_a_disk(tmp_path: Path) -> None:
    run("kills.py", "kills", tmp_path, seed(), 20)


def test_readers_see_one_state_each_while_another_process_writes(quick_folder: Path) -> None:
    run("kills.py", "readers", quick_folder, seed(), 40)


class TestForks:
    """In processes of their own: this one may have threads."""

    def test_an_open_index_is_refused_in_the_child(self, tmp_path: Path) -> None:
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
                        print("both sides of a fork" in str(error))
                try:
                    Index.open(path)
                except RuntimeError as error:
                    print("get_context('spawn')" in str(error))
                sys.exit()  # with all finalizers
            assert os.waitpid(pid, 0)[1] == 0
            print(next(going_on).id, len(index))
            index.add([{"id": "parent", "text": "four"}])
            print(index.ids())
            index.verify()
            """,
        )
        assert told == [*["True"] * 6, "1 2", "['0', '1', 'parent']"]

    def test_an_index_that_was_closed_can_be_opened_on_both_sides(self, tmp_path: Path) -> None:
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
                print(sorted(index.ids()))
            """,
        )
        assert told == ["['0', '1', 'child', 'parent']"]

    def test_a_child_of_a_killed_writer_does_not_keep_the_lock(self, tmp_path: Path) -> None:
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

    def test_the_end_of_a_child_does_not_remove_the_log_of_others(self, tmp_path: Path) -> None:
        """A connection must not be closed by a process that inherited it.

        As the last one it would remove the log, which by then is that of a writer who was killed.
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
                print(index.ids())
            """,
        )
        assert told == ["True", "['0', '1', '2']"]

    def test_a_child_neither_keeps_nor_releases_the_lock(self, tmp_path: Path) -> None:
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
                    sys.exit()  # through all that the parent is in
                os.waitpid(leaving, 0)
                try:
                    Index.open(path, timeout=0).add(["not now"])
                except IndexLockedError as error:
                    print(str(os.getpid()) in str(error))
                yield "two"

            index.add(documents())
            with Index.open(path, timeout=0) as other:
                other.add([{"id": "other", "text": "three"}])
                print(other.ids())
            os.close(ends[1])
            os.waitpid(child, 0)
            """,
        )
        assert told == ["True", "['0', '1', 'other']"]

    def run_code(self, tmp_path: Path, code: str) -> list[str]:
        start = (
            "import os, signal, sys\n"
            "from textkin import Index, IndexLockedError\n"
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
    """It once waited a minute for each: SQLite's log cannot be emptied while it is read."""
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
