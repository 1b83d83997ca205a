"""Write the tables of docs/reliability.md from the stored results of the attacks.

    python scripts/reliability_table.py                          # prints the tables
    python scripts/reliability_table.py --write docs/reliability.md

``benchmarks/results/reliability/`` has the output of ``tests/fuzz/attack.py`` (``attack*.json``)
and ``tests/fuzz/endurance.py`` (``endurance*.json``), and the runs of the test suite
(``suite*.json``). A test compares the page with these files.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
STORED = ROOT / "benchmarks" / "results" / "reliability"
TARGETS = {
    "filters": "filters as text and JSON",
    "queries": "texts of queries: tokens, search, snippets, drawings",
    "documents": "JSON Lines, JSON, CSV, TSV, text, gzip, Parquet",
    "vectors": "word vectors in nine formats",
    "models": "manifests (with a valid hash) and arrays of saved estimators",
    "catalogs": "rows of the catalog of an index",
    "segments": "segments, models, and vectors of an index",
    "requests": "HTTP paths, queries, headers, and bodies",
    "commands": "arguments of the command line",
    "solver": "transport problems, against POT, and a linear program for each hundredth",
}


def read(pattern: str, folder: Path = STORED) -> list[dict[str, Any]]:
    """Read the stored files whose names match, in order."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(pattern))]


def rows_of(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *[[str(cell) for cell in row] for row in rows]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def attacks(folder: Path = STORED) -> str:
    """Return the table of inputs per target, one row per target and commit."""
    rows = []
    for name, described in TARGETS.items():
        runs: dict[str, list[dict[str, Any]]] = {}
        for file in read("attack*.json", folder):
            found = [each for each in file["targets"] if each["target"] == name]
            runs.setdefault(file["commit"], []).extend(found)
        for commit, found in runs.items():
            if found:
                largest = max((each.get("largest_difference", 0) for each in found), default=0)
                findings = str(sum(each["finding"] is not None for each in found))
                rows.append(
                    (
                        f"`{name}`",
                        described
                        + (f"; largest relative difference {largest:.1e}" if largest else ""),
                        f"{sum(each['inputs'] for each in found):,}",
                        commit,
                        findings,
                    )
                )
    return rows_of(("Target", "Input", "Inputs", "Commit", "Findings"), rows)


def endurance(folder: Path = STORED) -> str:
    """Return the table of repeated calls."""
    rows = []
    for file in read("endurance*.json", folder):
        for name, found in file["calls"].items():
            rows.append(
                (
                    f"`{name}`",
                    f"{found['calls']:,}",
                    f"{found['grown_bytes'] / 2**20:.1f}",
                    found["grown_descriptors"],
                    found["grown_threads"],
                    found["different"],
                    file["commit"],
                )
            )
        shared = file["threads"]
        rows.append(
            (
                f"all, from {shared['threads']} threads",
                f"{shared['calls']:,}",
                "–",
                "–",
                "–",
                len(shared["problems"]),
                file["commit"],
            )
        )
    head = ("Call", "Calls", "Growth (MiB)", "Descriptors", "Threads", "Differences", "Commit")
    return rows_of(head, rows)


def suite(folder: Path = STORED) -> str:
    """Return the table of runs of the test suite."""
    rows = [
        (
            each["commit"],
            each["seed"],
            each["what"],
            f"{each['passed']:,}",
            each["skipped"],
            each["failed"],
            f"{each['cpu_seconds'] / 60:.1f}" if each["cpu_seconds"] else "–",
            each["load"],
        )
        for file in read("suite*.json", folder)
        for each in file["runs"]
    ]
    head = ("Commit", "Seed", "Tests", "Passed", "Skipped", "Failed", "CPU (min)", "Load")
    return rows_of(head, rows)


TABLES = {"attacks": attacks, "endurance": endurance, "suite": suite}


def written(text: str, folder: Path = STORED) -> str:
    """Return a page with each table between its markers replaced."""
    for name, table in TABLES.items():
        marked = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
        made = f"\n{table(folder)}\n\n"
        text, count = marked.subn(lambda m, made=made: m[1] + made + m[2], text)
        if count != 1:
            raise ValueError(f"the page must have the markers of {name} once; got {count}.")
    return text


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, or write them to a page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", type=Path, metavar="PAGE")
    page = parser.parse_args(arguments).write
    if page is None:
        sys.stdout.write("\n\n".join(table() for table in TABLES.values()) + "\n")
    else:
        page.write_text(written(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
