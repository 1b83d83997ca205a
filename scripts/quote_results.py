"""Keep numbers in pages true: each one that names its cell is taken from the results again.

A page writes ``3.7<!-- knn ~ WMD, tf-idf ~ r8 ~ error -->``: experiment, method, data set and
measure, invisible to readers. ``python scripts/quote_results.py`` writes the mean over splits in
its place, with as many decimals as stand there (one for ``?``); a test sees that none is stale.
A number in percent of a result between 0 and 1 names ``100 * measure``.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "experiments"
QUOTE = re.compile(
    r"(-?[\d,]+(?:\.\d+)?|-?\.\d+|\?)"
    r"<!-- ([^~>]+) ~ ([^~>]+) ~ ([^~>]+) ~ ([^~>]+) -->"
)


def pages() -> list[Path]:
    """Return the pages that may quote results."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def read(folder: Path = RESULTS) -> dict[str, list[dict[str, Any]]]:
    """Return the cells of every experiment."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))["cells"]
        for path in sorted(folder.glob("*.json"))
    }


def mean(cells: list[dict[str, Any]], method: str, dataset: str, measure: str) -> float:
    """Return the mean over splits of a number, which may lie inside of others: ``ALL.Mean``."""
    factor, _, name = measure.rpartition(" * ")
    found = []
    for cell in cells:
        if (cell["method"], cell["dataset"]) == (method, dataset) and cell["values"] is not None:
            value: Any = cell
            for key in ("values", *name.split(".")) if name != "cpu_seconds" else (name,):
                value = value[key]
            found.append(float(value))
    if not found:
        raise ValueError(f"There is no cell of {method!r} on {dataset!r} with {measure!r}.")
    return float(factor or 1) * sum(found) / len(found)


def quoted(text: str, results: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return a page with its quotes taken from the results."""

    def again(match: re.Match[str]) -> str:
        old, experiment, *cell = match.groups()
        if experiment not in results:
            raise ValueError(f"There are no results of {experiment!r}.")
        decimals = 1 if old == "?" else len(old.partition(".")[2])
        new = f"{mean(results[experiment], *cell):,.{decimals}f}"
        if old.startswith((".", "-.")):
            new = new.replace("0.", ".", 1)
        return f"{new}<!-- {' ~ '.join((experiment, *cell))} -->"

    return QUOTE.sub(again, text)


def main() -> int:
    """Write the pages whose numbers are stale; return how many these were."""
    results, stale = read(), 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = quoted(text, results)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"renewed {page.relative_to(ROOT)}")
            stale += 1
    return stale


if __name__ == "__main__":
    main()
    sys.exit(0)
