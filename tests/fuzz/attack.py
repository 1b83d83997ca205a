"""Attack the readers, the server, the command line, and the solver with mutated input.

    python tests/fuzz/attack.py                           # 30 seconds of CPU time per target
    python tests/fuzz/attack.py --seed 7                  # the same inputs on each machine
    python tests/fuzz/attack.py filters --inputs 1000000  # until a number of inputs
    python tests/fuzz/attack.py --coverage                # guided by coverage; needs atheris
    python tests/fuzz/attack.py --out run.json            # keep the numbers

Each target runs in its own process, which a parent watches. A finding is an exception that the
target does not allow, a crash, or an input that takes more than `LONGEST` seconds of CPU time. Its
input goes to `corpus/TARGET/`, from where each run, and `test_fuzz.py`, replays it.
"""

import argparse
import hashlib
import json
import mmap
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from random import Random
from types import FrameType

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from fuzz.targets import TARGETS, Finding, Target  # noqa: E402

CORPUS = HERE / "corpus"
LONGEST = 20  # seconds of CPU time per input
WAITING = 600  # seconds without CPU time that an input may wait, such as in a deadlock
MEMORY = 6 << 30  # address space of a target, in bytes
LARGEST = 1 << 20  # bytes of an input
_HEAD = struct.Struct("=QQd")  # inputs, length of the current one, largest difference


class Board:
    """Memory that parent and child share: the number of inputs, and the current one."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _HEAD.size + LARGEST)
        self.parent = os.getpid()
        self.inputs = 0
        self.largest = 0.0

    def start(self, data: bytes) -> None:
        """Write the input that is about to be read."""
        self._memory[_HEAD.size : _HEAD.size + len(data)] = data
        self._memory[: _HEAD.size] = _HEAD.pack(self.inputs, len(data), self.largest)

    def end(self, target: Target) -> None:
        """Count the input that was read."""
        self.inputs += 1
        self.largest = getattr(target, "largest", 0.0)
        self._memory[: _HEAD.size] = _HEAD.pack(self.inputs, 0, self.largest)

    def read(self) -> tuple[int, bytes, float]:
        """Return the number of inputs, the current input, and the largest difference."""
        inputs, length, largest = _HEAD.unpack(self._memory[: _HEAD.size])
        return inputs, bytes(self._memory[_HEAD.size : _HEAD.size + length]), largest


def corpus_of(name: str) -> list[bytes]:
    """Return the kept inputs of a target."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*")) if path.is_file()]


def _too_long(_signal: int, _frame: FrameType | None) -> None:
    raise Finding(f"an input takes more than {LONGEST} s of CPU time")


def attempt(target: Target, data: bytes, board: Board) -> None:
    """Read one input within the limit of time."""
    if len(data) > LARGEST:
        return
    if os.getppid() != board.parent:  # the watching process was killed
        os._exit(4)
    board.start(data)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        target.attempt(data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    board.end(target)


def run_mutations(
    target: Target, kept: list[bytes], board: Board, options: argparse.Namespace
) -> None:
    """Read the kept and valid inputs, and then mutations of them."""
    end = time.process_time() + options.seconds if options.seconds else float("inf")
    for data in inputs_of(target, kept, options.seed):
        if board.inputs >= options.inputs or time.process_time() >= end:
            break
        attempt(target, data, board)


def inputs_of(target: Target, kept: list[bytes], seed: int) -> Iterator[bytes]:
    """Yield the inputs of a run: the same ones on each machine, regardless of what they cause.

    Kept inputs are not mutated, so that another one does not change the inputs of a seed.
    """
    rng = Random()
    pool = list(target.seeds())
    yield from [*kept, *pool]
    first = len(pool)
    for number in count():
        rng.seed(f"{seed} {number}")  # a change of one input does not change the next ones
        data = rng.choice(pool)
        # a mutation of a mutation may have no structure, or a huge number
        with suppress(ValueError, ArithmeticError, RecursionError):
            data = target.mutate(rng, data)
            if len(data) < 20_000 and rng.random() < 0.05:  # mutations of mutations
                if len(pool) < first + 200:
                    pool.append(data)
                else:
                    pool[rng.randrange(first, len(pool))] = data
        yield data


def digest_of(name: str, folder: Path, seed: int) -> str:
    """Return the hash of the first inputs of a target."""
    target = TARGETS[name](folder)
    try:
        found = list(islice(inputs_of(target, corpus_of(name), seed), 150))
    finally:
        target.close()
    return hashlib.sha256(b"\0".join(found)).hexdigest()


def run_coverage(
    target: Target, kept: list[bytes], board: Board, options: argparse.Namespace
) -> None:
    """Run libFuzzer; it chooses inputs that reach new branches of the Python code."""
    import atheris

    corpus = Path(tempfile.mkdtemp())
    for data in [*kept, *target.seeds()]:
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        with suppress(ValueError, ArithmeticError, RecursionError):
            data = target.mutate(Random(seed), data)
        return data[:most]

    def one(data: bytes) -> None:
        with suppress(json.JSONDecodeError):
            attempt(target, data, board)

    arguments = [sys.argv[0], f"-seed={options.seed % 2**31}", "-max_len=65536", "-verbosity=0"]
    if options.seconds:
        arguments.append(f"-max_total_time={int(options.seconds)}")
    if options.inputs < sys.maxsize:
        arguments.append(f"-runs={options.inputs}")
    atheris.Setup([*arguments, str(corpus)], one, custom_mutator=mutated)
    atheris.Fuzz()


def child(name: str, board: Board, report: Path, options: argparse.Namespace) -> None:
    """Run one target; write the traceback of a finding."""
    signal.signal(signal.SIGPROF, _too_long)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if options.coverage:
        import atheris

        atheris.instrument_imports(include=["textkin"]).__enter__()
    with tempfile.TemporaryDirectory() as folder:
        try:
            target = TARGETS[name](Path(folder))
            kept = corpus_of(name)
            run = run_coverage if options.coverage else run_mutations
            run(target, kept, board, options)
            target.close()
        except BaseException:
            report.write_text(traceback.format_exc(), "utf-8", "backslashreplace")
            os._exit(3)
        finally:
            os.chdir("/")


def cpu_of(pid: int) -> float:
    """Return the CPU time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(pid: int, board: Board) -> int:
    """Wait for a child; kill it if one input takes too long in compiled code, or waits forever."""
    seen, since, began = -1, 0.0, time.monotonic()
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        inputs = board.read()[0]
        used = cpu_of(pid)
        if inputs != seen:
            seen, since, began = inputs, used, time.monotonic()
        elif used - since > 3 * LONGEST or time.monotonic() - began > WAITING:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def run_target(name: str, options: argparse.Namespace) -> dict[str, object]:
    """Run one target in a process, and return its numbers."""
    board = Board()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "finding.txt"
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            child(name, board, report, options)
            os._exit(0)
        try:
            status = watch(pid, board)
        except KeyboardInterrupt:
            os.kill(pid, signal.SIGKILL)
            raise
        inputs, current, largest = board.read()
        found: dict[str, object] = {
            "target": name,
            "inputs": inputs,
            "seconds": round(time.monotonic() - started, 1),
            "finding": None,
        }
        if largest:
            found["largest_difference"] = largest
        if status:
            text = report.read_text() if report.exists() else f"the process ended with {status}"
            path = CORPUS / name / hashlib.sha256(current).hexdigest()[:16]
            if current:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(current)
            found["finding"] = f"{path.relative_to(ROOT)}: {text[-3000:]}"
        return found


def commit() -> str:
    """Return the commit of the checkout, marked if files differ from it."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src")
    return git("rev-parse", "--short=8", "HEAD") + ("-dirty" if changed else "")


def main(arguments: list[str] | None = None) -> int:
    """Run the targets; return 1 if one has a finding."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"any of {', '.join(TARGETS)}")
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="inputs per target")
    parser.add_argument(
        "--seconds", type=float, help="seconds of CPU time per target (default: 30)"
    )
    parser.add_argument("--seed", type=int, help="seed of the mutations (default: random)")
    parser.add_argument("--coverage", action="store_true", help="let atheris guide the mutations")
    parser.add_argument("--out", type=Path, help="JSON file for the numbers")
    options = parser.parse_args(arguments)
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(
            f"TARGET must be one of {', '.join(TARGETS)}; got {', '.join(sorted(unknown))}"
        )
    if options.seconds is None and options.inputs == sys.maxsize:
        options.seconds = 30
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(4), "little")
    facts = {"commit": commit(), "seed": options.seed, "coverage": options.coverage}
    results: list[dict[str, object]] = []
    for name in options.targets or TARGETS:
        found = run_target(name, options)
        results.append(found)
        if options.out:  # after each target, so that an interrupted run keeps its numbers
            kept = {**facts, "targets": results}
            options.out.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
        sys.stdout.write(
            f"{name}: {found['inputs']:,} inputs in {found['seconds']} s, "
            f"{'a finding' if found['finding'] else 'no finding'}\n"
        )
        if found["finding"]:
            sys.stdout.write(f"{found['finding']}\n")
    return int(any(found["finding"] for found in results))


if __name__ == "__main__":
    sys.exit(main())
