"""Read an index as a user without write access to its folder.

python unprivileged.py FOLDER
"""

import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

from store_model import Documents, check, create, document, ended, fork, records, small_limits

from textkin import Index

NOBODY = 65534


def tell(what: str) -> None:
    os.write(sys.stdout.fileno(), what.encode() + b"\n")


def tried(call: Callable[[], object]) -> None:
    """Print the exception of a call."""
    try:
        call()
    except PermissionError as error:
        tell(str(error))
    else:
        raise AssertionError("it could be written")


def give_up_rights() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def read(path: Path, documents: Documents) -> None:
    give_up_rights()
    with Index.open(path) as index:
        check(index, [documents])
        index.verify()
        tell(f"{len(index)} documents")
        tried(lambda: index.add(["one more"]))
        tried(lambda: index.delete("d3"))
        tried(index.compact)
        check(index, [documents])


def read_with_a_log(path: Path) -> None:
    give_up_rights()
    tried(lambda: Index.open(path))


def write_and_die(path: Path) -> None:
    index = Index.open(path)
    index.update(records(Random(2), ["d0"]))
    os.kill(os.getpid(), signal.SIGKILL)


def allow(path: Path, folders: int, files: int) -> None:
    for name, _, inside in os.walk(path):
        os.chmod(name, folders)
        for file in inside:
            os.chmod(os.path.join(name, file), files)


def main(path: Path) -> None:
    given = records(Random(1), [f"d{number}" for number in range(12)])
    documents = Documents({record["id"]: document(record) for record in given})
    with create(path) as index:
        index.add(given)
    with Index.open(path) as index:  # import late imports now
        check(index, [documents])
        index.verify()
    allow(path, 0o555, 0o444)
    assert ended(fork(lambda: read(path, documents))) == 0
    allow(path, 0o755, 0o644)
    assert ended(fork(lambda: write_and_die(path))) == -signal.SIGKILL
    (path / "catalogue.sqlite-shm").unlink()  # as after a restart of the computer
    allow(path, 0o555, 0o444)
    assert ended(fork(lambda: read_with_a_log(path))) == 0
    allow(path, 0o755, 0o644)


if __name__ == "__main__":
    warnings.simplefilter("error")
    small_limits()
    main(Path(sys.argv[1]) / "test.kin")
