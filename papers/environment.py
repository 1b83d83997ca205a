"""Machine, package versions, and git commit of a computation."""

import datetime
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

__all__ = ["commit", "described", "machine", "version"]

PACKAGES = ("textkin", "numpy", "scipy", "scikit-learn")


def described() -> dict[str, str]:
    """Return the date, machine, and versions, and the commit in a checkout of textkin."""
    found = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "python": platform.python_version(),
    }
    for package in PACKAGES:
        installed = version(package)
        if installed is not None:  # None in a source tree that was never installed
            found[package] = installed
    return {**found, "commit": commit()}


def version(package: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def machine() -> str:
    """Return a description of the CPU, the number of usable cores, and the memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    said = f"{_processor()}, {cores} core{'' if cores == 1 else 's'}"
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        said += f", {memory:.0f} GiB"
    return said


def commit(folder: Path | None = None, within: Sequence[str] = ("src", "papers")) -> str:
    """Return the commit of the textkin checkout that contains a folder, or "" if there is none.

    Parameters
    ----------
    folder : Path, optional
        Folder inside the checkout. If None, the current folder.
    within : sequence of str, default=("src", "papers")
        Paths relative to the top of the checkout. If one of them has uncommitted changes, the
        commit ends with "-dirty".
    """
    folder = Path.cwd() if folder is None else folder
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None or not (Path(top) / "src" / "textkin").is_dir():
        return ""
    head = _git(folder, "rev-parse", "--short=12", "HEAD") or ""
    changed = _git(Path(top), "status", "--porcelain", "--", *within)
    return f"{head}-dirty" if head and changed else head


def _processor() -> str:
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        for line in cpu.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        found = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()
