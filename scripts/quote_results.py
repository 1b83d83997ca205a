"""Update the numbers in pages that quote stored results.

A page writes ``3.7<!-- knn ~ WMD, tf-idf ~ r8 ~ error -->``: experiment, method, data set, and
measure, in a comment that readers do not see. ``python scripts/quote_results.py`` replaces the
number with the mean over splits and keeps its number of decimals (one for ``?``). A number of a
benchmark is written ``5.44<!-- classify.json ~ methods / wmd / error_percent -->``: file and path
of keys. ``100 * measure`` multiplies the value, for percents of values between 0 and 1.
``commit 9226106, 2026-11-15<!-- pairs.json ~ stamp -->`` is the commit and date of a result (or of
a part of it: ``~ speed / run / stamp``). Every page has the stamp of each benchmark that it quotes.
A test fails if a number or a stamp is stale, or a stamp is missing.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
STORED = ROOT / "benchmarks" / "results"
RESULTS = STORED / "experiments"
_NUMBER = r"(-?[\d,]+(?:\.\d+)?|-?\.\d+|\?)(\**)"  # the asterisks end bold text
QUOTE = re.compile(rf"{_NUMBER}<!-- ([^~>]+) ~ ([^~>]+) ~ ([^~>]+) ~ ([^~>]+) -->")
_STAMP_PATH = r"(?:[^~>]+ / )?stamp"
BENCHMARK_QUOTE = re.compile(rf"{_NUMBER}<!-- ([\w-]+\.json) ~ (?!{_STAMP_PATH} -->)([^~>]+) -->")
STAMP = re.compile(
    r"(?:commit [0-9a-f]{7}(?: with changes)?, [\d-]{10}|\?)"
    rf"<!-- ([\w-]+\.json) ~ ({_STAMP_PATH}) -->"
)
PATTERNS = QUOTE, BENCHMARK_QUOTE, STAMP


def pages() -> list[Path]:
    """Return the pages that may quote results."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def read(folder: Path = RESULTS) -> dict[str, list[dict[str, Any]]]:
    """Read the cells of every experiment."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))["cells"]
        for path in sorted(folder.glob("*.json"))
    }


def mean(cells: list[dict[str, Any]], method: str, dataset: str, measure: str) -> float:
    """Return the mean of a measure over splits; dots separate nested keys (``ALL.Mean``)."""
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


def written(old: str, value: float) -> str:
    """Format a value with the decimals and the leading zero of the number that it replaces."""
    decimals = 1 if old == "?" else len(old.partition(".")[2])
    new = f"{value:,.{decimals}f}"
    return new.replace("0.", ".", 1) if old.startswith((".", "-.")) else new


def quoted(text: str, results: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return a page with the quotes of experiments updated."""

    def again(match: re.Match[str]) -> str:
        old, bold, experiment, *cell = match.groups()
        if experiment not in results:
            raise ValueError(f"There are no results of {experiment!r}.")
        new = written(old, mean(results[experiment], *cell))
        return f"{new}{bold}<!-- {' ~ '.join((experiment, *cell))} -->"

    return QUOTE.sub(again, text)


def value_at(result: Any, path: str) -> float:  # noqa: ANN401 (JSON)
    """Return the number at a path such as ``100 * rows / 0 / 2012 / Mean`` in a JSON value."""
    factor, _, keys = path.rpartition(" * ")
    for key in keys.split(" / "):
        result = result[int(key) if isinstance(result, list) else key]
    return float(factor or 1) * float(result)


def quoted_benchmarks(text: str, folder: Path = STORED) -> str:
    """Return a page with the quotes of benchmark results updated.

    Parameters
    ----------
    text : str
        Text of the page.
    folder : Path
        Folder of the result files.
    """

    def again(match: re.Match[str]) -> str:
        old, bold, name, path = match.groups()
        try:
            result = json.loads((folder / name).read_text(encoding="utf-8"))
            value = value_at(result, path)
        except (OSError, LookupError) as error:
            raise ValueError(f"There is no number {path!r} in {name}.") from error
        return f"{written(old, value)}{bold}<!-- {name} ~ {path} -->"

    return BENCHMARK_QUOTE.sub(again, text)


def stamp_of(run: Mapping[str, Any]) -> str:
    """Return the commit and date of a result; uncommitted changes are mentioned."""
    changed = " with changes" if run["commit"].endswith("-dirty") else ""
    return f"commit {run['commit'][:7]}{changed}, {run['date'][:10]}"


def stamped(text: str, folder: Path = STORED) -> str:
    """Return a page with the stamps of benchmark results updated."""

    def again(match: re.Match[str]) -> str:
        name, path = match.groups()
        try:
            run = json.loads((folder / name).read_text(encoding="utf-8"))
            for key in path.split(" / ")[:-1]:
                run = run[int(key) if isinstance(run, list) else key]
            stamp = stamp_of(run)
        except (OSError, LookupError) as error:
            raise ValueError(f"There is no commit and date at {path!r} in {name}.") from error
        return f"{stamp}<!-- {name} ~ {path} -->"

    return STAMP.sub(again, text)


def unstamped(text: str, folder: Path = STORED) -> list[str]:
    """Return the names of the benchmark results that a page quotes without their stamp."""
    named = {match[1] for match in STAMP.finditer(text)}
    quoted_names = dict.fromkeys(match[3] for match in BENCHMARK_QUOTE.finditer(text))
    return [
        name
        for name in quoted_names
        if name not in named and '"commit"' in (folder / name).read_text(encoding="utf-8")
    ]


def unread(text: str) -> list[str]:
    """Return the comments of a page that look like quotes, but are not understood."""
    comments = Counter(re.findall(r"<!--[^>]* ~ [^>]*-->", text))
    for pattern in PATTERNS:
        comments -= Counter(f"<!--{m.group().partition('<!--')[2]}" for m in pattern.finditer(text))
    return list(comments)


def updated(text: str, results: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return a page with all quotes and stamps updated."""
    return stamped(quoted_benchmarks(quoted(text, results)))


def main() -> int:
    """Update the pages with stale numbers, and return the number of these pages."""
    results, stale = read(), 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = updated(text, results)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"updated {page.relative_to(ROOT)}")
            stale += 1
    return stale


if __name__ == "__main__":
    main()
    sys.exit(0)
