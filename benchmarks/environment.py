"""What every result says about where it was measured, and where files lie."""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
RESULTS = ROOT / "benchmarks" / "results"


def describe(*packages: str) -> dict[str, object]:
    """Return date, machine, versions (None: not installed) and commit, for a result file.

    The commit is "-dirty" where anything but stored results differs from it.
    """
    # Here, not above: it loads scikit-learn, and some scripts measure memory before.
    from textkin.evaluate._environment import commit, described, version

    where = described()
    return {
        **{name: where[name] for name in ("date", "machine", "python")},
        **{package: version(package) for package in packages},
        "commit": commit(ROOT, (".", ":(exclude)benchmarks/results")) or "uncommitted",
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
