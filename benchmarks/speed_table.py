"""Speed table of the README: one row per task, from several stored results."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Row(NamedTuple):
    """Row of the table, before its result is read."""

    file: str
    task: str
    cells: Callable[[dict[str, Any]], tuple[str, str, str, str]]
    """Function that returns textkin's time, the name of the peer, its time, and the ratio."""


def number(value: float) -> str:
    """Format a number with two significant digits below 10, and as an integer above."""
    return f"{value:.2g}" if value < 9.95 else f"{value:,.0f}"


def ratio(value: float) -> str:
    """Format a ratio."""
    return f"{value:.1f}x" if value < 9.95 else f"{value:,.0f}x"


def workload(result: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the contenders of a workload."""
    [found] = [one for one in result["workloads"] if one["name"] == name]
    return found["contenders"]


def pair(result: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return the cells of one exact distance, in microseconds."""
    all_of_them = workload(result, "20news")
    ours, theirs = all_of_them["textkin_distance"], all_of_them["gensim"]
    return (
        f"{number(ours['microseconds']['median'])} µs",
        f"gensim {result['gensim']} `wmdistance`",
        f"{number(theirs['microseconds']['median'])} µs",
        ratio(theirs["times_slower_than"]["textkin_distance"]["median"]),
    )


def search(result: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return the cells of one exact search, in milliseconds."""
    all_of_them = workload(result, "news")
    ours, theirs = all_of_them["textkin"], all_of_them["gensim"]
    return (
        f"{number(ours['milliseconds']['median'])} ms",
        f"gensim {result['gensim']} `WmdSimilarity`",
        f"{number(theirs['milliseconds']['median'])} ms",
        ratio(theirs["times_slower_than"]["textkin"]["median"]),
    )


def bm25(result: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return the cells of one BM25 query, in microseconds."""
    ours, theirs = (result["words"]["5"][name] for name in ("textkin", "bm25s"))
    return (
        f"{number(ours['p50_microseconds'])} µs",
        f"bm25s {result['bm25s']} with numba",
        f"{number(theirs['p50_microseconds'])} µs",
        ratio(theirs["textkin_is_faster"]["median"]),
    )


def counting(result: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return the cells of counting words, in seconds."""
    found = result["sets"]["20news"]
    return (
        f"{number(found['median_seconds']['counts'])} s",
        f"scikit-learn {result['scikit-learn']} `CountVectorizer`",
        f"{number(found['median_seconds']['sklearn_counts'])} s",
        ratio(found["median_ratio"]["counts_over_sklearn"]),
    )


ROWS = [
    Row("pairs.json", "exact Word Mover's Distance of two newsgroup posts", pair),
    Row("search.json", "exact 10 nearest of 10,000 synthetic news texts", search),
    Row("store_search.json", "BM25, 10 best of 100,000 texts, 5-word query", bm25),
    Row("counting.json", "texts to word counts, 18,846 newsgroup posts", counting),
]


def render(folder: Path) -> str:
    """Return the table with its caption as Markdown.

    Parameters
    ----------
    folder : Path
        Folder of the stored results.
    """
    results = {r.file: json.loads((folder / r.file).read_text(encoding="utf-8")) for r in ROWS}
    lines = ["| Task (one thread) | textkin | other tool | its time | ratio |"]
    lines.append("| --- | ---: | --- | ---: | ---: |")
    for row in ROWS:
        ours, peer, theirs, times = row.cells(results[row.file])
        lines.append(f"| {row.task} | {ours} | {peer} | {theirs} | {times} |")
    [machine] = {result["machine"] for result in results.values()}
    runs = ", ".join(
        f"`{name}` ({result['commit'][:7]}, {result['date'][:10]})"
        for name, result in results.items()
    )
    caption = (
        "Medians; ratios within interleaved rounds, with the same answers from both tools. "
        f"{machine}. Stored results with commit and date: {runs}."
    )
    return "\n".join([*lines, "", caption])
