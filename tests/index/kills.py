"""Kill a process that writes to an index, repeatedly, and check the remains.

A script, because it forks: it has one thread, and imports textkin once for hundreds of processes.

    python kills.py kills FOLDER SEED TIMES
    python kills.py readers FOLDER SEED CALLS
"""

import os
import select
import signal
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from random import Random

from store_model import (
    Documents,
    Telling,
    any_call,
    check,
    check_agreement,
    create,
    ended,
    fork,
    loaded,
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

LONGEST = 0.12  # lifetime of a writer, in seconds


def write_for_ever(path: Path, seed: int, telling: Telling, calls: int = 1 << 30) -> None:
    """Perform random calls on an index; report each call before and after it."""
    rng = Random(seed)
    index = Index.open(path)
    documents = loaded(index)
    for _ in range(calls):
        call = any_call(rng, documents)
        telling.tell({"call": call})
        perform(index, call, lambda _done, _total: telling.tell({"batch": 1}))
        telling.tell({"done": 1})
        documents = states(documents, call)[-1]
        if rng.random() < 0.1:
            index.close()  # SQLite copies its log into the file
            index = Index.open(path)
    index.close()


def may_be(documents: Documents, told: list[dict[str, object]]) -> list[Documents]:
    """Return the permitted states of an index, given the reports of its writer."""
    possible = [documents]
    for line in told:
        if "call" in line:
            possible = states(possible[-1], line["call"])
        elif "batch" in line:
            possible = possible[1:]
        else:
            possible = possible[-1:]
    return possible


def kills(folder: Path, seed: int, times: int) -> None:
    rng = Random(seed)
    path = folder / "killed.kin"
    create(path).close()
    documents = Documents()
    calls = cut = 0
    for step in range(times):
        telling = Telling()
        child_seed = rng.getrandbits(32)
        pid = fork(partial(write_for_ever, path, child_seed, telling))
        deadline = time.monotonic() + rng.random() * LONGEST
        told = []
        while (left := deadline - time.monotonic()) > 0:
            if select.select([telling.read_end], [], [], left)[0]:
                told += telling.lines(os.read(telling.read_end, 1 << 16))
        os.kill(pid, signal.SIGKILL)
        status = ended(pid)
        told += telling.rest()
        where = f"seed {seed}, step {step}, child's seed {child_seed}, last {str(told[-1:])[:300]}"
        assert status == -signal.SIGKILL, f"{where}: the writer ended by itself ({status})"
        possible = may_be(documents, told)
        try:
            with Index.open(path) as index:
                index.verify()
                documents = check(index, possible, where)
        except Exception as error:
            error.add_note(where)
            raise
        calls += sum("call" in line for line in told)
        cut += len(possible) > 1
    with Index.open(path) as index:
        index.compact()
        check(index, [documents])
        names = segment_files(path)
        assert len(names) == index.info().segments, f"files are left: {names}"
        assert len(model_files(path)) == len(index.models()), f"left: {model_files(path)}"
        assert vector_files(path) == named_vector_files(index)
    sys.stdout.write(f"{times} kills, {calls} calls, {cut} of them cut\n")
    # Some of the kills must have interrupted a call; otherwise, the test is meaningless.
    assert cut > times // 10


def keep_one_state(path: Path, stop: int, telling: Telling) -> None:
    """Read one snapshot until asked to stop."""
    index = Index.open(path)
    documents = list(index)
    telling.tell("ready")
    rounds = 0
    while rounds < 3 or not select.select([stop], [], [], 0)[0]:
        index._session.snapshot().__dict__.pop("parts", None)  # from the mapped files again
        check_agreement(index, documents, f"round {rounds}")
        rounds += 1
    index.refresh()
    assert list(index) != documents, "the writer has written nothing"
    check_agreement(index, list(index))


def open_again_and_again(path: Path, stop: int, telling: Telling) -> None:
    """Open the latest state until asked to stop."""
    telling.tell("ready")
    rounds = 0
    while rounds < 3 or not select.select([stop], [], [], 0)[0]:
        with Index.open(path) as index:
            check_agreement(index, list(index), f"round {rounds}")
        rounds += 1


def readers(folder: Path, seed: int, calls: int) -> None:
    path = folder / "read.kin"
    stop, stopping = os.pipe()
    with create(path) as index:
        index.add(records(Random(seed), ["a", "b", "c"]))
    pids = []
    for reader in (keep_one_state, open_again_and_again):
        telling = Telling()
        pids.append(fork(partial(reader, path, stop, telling)))
        assert os.read(telling.read_end, 100) == b'"ready"\n'
    telling = Telling()
    with open(os.devnull, "wb") as nowhere:
        telling.write_end = nowhere.fileno()
        write_for_ever(path, seed, telling, calls)
    os.write(stopping, b"stop")
    assert [ended(pid) for pid in pids] == [0, 0]


if __name__ == "__main__":
    warnings.simplefilter("error")
    small_limits()
    what, folder, seed, times = sys.argv[1:]
    {"kills": kills, "readers": readers}[what](Path(folder), int(seed), int(times))
