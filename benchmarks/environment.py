"""Paths, and the description of machine and versions that every result contains."""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
RESULTS = ROOT / "benchmarks" / "results"

if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))  # folder of the package `papers`


def describe(*packages: str) -> dict[str, object]:
    """Return date, machine, versions (None: not installed), and commit for a result file.

    The commit ends in "-dirty" if any file except stored results differs from it.
    """
    # Imported here, because it loads scikit-learn, and some scripts measure memory before.
    from papers.environment import commit, described, version

    where = described()
    return {
        **{name: where[name] for name in ("date", "machine", "python")},
        **{package: version(package) for package in packages},
        "commit": commit(ROOT, (".", ":(exclude)benchmarks/results")) or "uncommitted",
    }


def asked(description: str | None, result: Path, **choices: Iterable[str]) -> argparse.Namespace:
    """Parse the command line: paths of data and result, and selections (default: all)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--result", type=Path, default=result)
    for name, every in choices.items():
        parser.add_argument(f"--{name}", nargs="+", choices=list(every), default=list(every))
    return parser.parse_args()


def write(result: Path, report: dict[str, object]) -> None:
    """Write a report."""
    result.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
