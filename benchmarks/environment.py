"""What every result says about where it was measured, and where files lie."""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
RESULTS = ROOT / "benchmarks" / "results"


def processor() -> str:
    """Return the model of the processor, or its architecture where the model is not told."""
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        for line in cpu.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def usable_cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine() -> str:
    """Return the processor, the usable cores and the memory, in words."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{processor()}, {usable_cores()} cores, {memory:.0f} GiB"


def version(package: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def commit() -> str:
    """Return the commit, with "-dirty" where anything but stored results differs from it."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return "uncommitted"
    changes = _git("status", "--porcelain", "--", ".", ":(exclude)benchmarks/results")
    return f"{head}-dirty" if changes else head


def describe(*packages: str) -> dict[str, object]:
    """Return date, machine, versions (None: not installed) and commit, for a result file."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
        "commit": commit(),
    }


def asked(description: str | None, result: Path, **choices: Iterable[str]) -> argparse.Namespace:
    """Read the command line: where data and result lie, and of each choice which ones (all)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--result", type=Path, default=result)
    for name, every in choices.items():
        parser.add_argument(f"--{name}", nargs="+", choices=list(every), default=list(every))
    return parser.parse_args()


def write(result: Path, report: dict[str, object]) -> None:
    """Write what was measured."""
    result.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _git(*arguments: str) -> str | None:
    """Return what git prints; None if there is no repository or no git."""
    try:
        found = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()
