"""Markdown tables of the results of ``search.py``."""

from collections.abc import Mapping
from typing import Any

OURS = {
    "textkin_cold": "textkin, first query",
    "textkin": "textkin, one query",
    "textkin_2": "one query, 2 threads",
    "textkin_batch": "textkin, batch",
    "textkin_batch_2": "batch, 2 threads",
}
PEERS = {
    "gensim": "gensim `WmdSimilarity`",
    "script": "script: NumPy bounds + POT",
    "textkin_brute": "textkin, brute force",
}
# Counts of documents per query, in the order of the search: key in the result, column header.
WORK = {
    "removed_document_side": "excluded by the one-sided bound",
    "refined": "refined",
    "removed_refined": "excluded by the refined bound",
    "solved": "solved",
}


def number(value: float) -> str:
    """Format milliseconds, a ratio, or a count, with one decimal below 10."""
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def line(cells: list[str]) -> str:
    """Return a table row."""
    return f"| {' | '.join(cells)} |"


def our_cell(contenders: Mapping[str, Any], name: str) -> str:
    """Return the time of a textkin contender."""
    return number(contenders[name]["milliseconds"]["median"])


def peer_cell(result: Mapping[str, Any], contenders: Mapping[str, Any], name: str) -> str:
    """Return the time of a peer and its ratio to textkin's times."""
    if name not in contenders:
        return "not tried" if name in result["left_out_as_too_slow"] else "not installed"
    slower = contenders[name]["times_slower_than"]
    ratios = (number(slower[base]["median"]) for base in ("textkin", "textkin_batch"))
    return f"{our_cell(contenders, name)} ({', '.join(f'{ratio}x' for ratio in ratios)})"


def time_row(result: Mapping[str, Any], workload: Mapping[str, Any]) -> str:
    """Return the row of times of a workload."""
    contenders = workload["contenders"]
    kind = f"{workload['documents']:,} of {workload['unique_words']['mean']:.0f} words"
    return line(
        [
            f"{workload['name']} ({kind})",
            *(our_cell(contenders, name) for name in OURS),
            *(peer_cell(result, contenders, name) for name in PEERS),
        ]
    )


def stages(workload: Mapping[str, Any], name: str) -> str:
    """Return the milliseconds of each stage of a query, or "-" if not measured."""
    work = workload["contenders"][name]["work_a_query"]
    parts = [f"{key[3:]} {value:.1f}" for key, value in work.items() if key.startswith("ms_")]
    return ", ".join(parts) or "-"


def work_row(workload: Mapping[str, Any]) -> str:
    """Return the row of counts and stages of a workload."""
    contenders = workload["contenders"]
    work = contenders["textkin"]["work_a_query"]
    scripts = contenders.get("script", {}).get("work_a_query", {}).get("solved")
    return line(
        [
            workload["name"],
            *(number(work.get(name, 0.0)) for name in WORK),
            "-" if scripts is None else number(scripts),
            stages(workload, "textkin"),
            stages(workload, "textkin_batch"),
        ]
    )


def caption(result: Mapping[str, Any]) -> str:
    """Return the caption: measure, method, machine, versions, commit, and date."""
    everything = [one for work in result["workloads"] for one in work["contenders"].values()]
    worst = max(one["largest_relative_difference"] for one in everything)
    versions = ", ".join(
        f"{name} {result[name]}"
        for name in ("textkin", "gensim", "POT", "numpy", "python")
        if result[name] is not None
    )
    asked = result["queries_a_round"]
    few = ", ".join(
        f"{PEERS[name]} {counts.pop()}"
        for name in ("gensim", "textkin_brute")
        if (counts := {w["contenders"][name]["queries"] for w in result["workloads"]
                       if name in w["contenders"]})
    )  # fmt: skip
    return (
        f"Milliseconds per query for the {result['k']} nearest documents, exact: median of "
        f"{result['rounds']} interleaved rounds of {asked['single']} new queries one by one and "
        f"{asked['batch']} in a batch. Queries are about as long as the mean document. One thread "
        "unless the column says otherwise. First query: the mover has not searched before. In "
        "parentheses: the ratio to textkin, one query, then the ratio to textkin's batch, within "
        f"the same rounds and queries{f' (total queries: {few})' if few else ''}. Second table: "
        "documents of a mean query, and milliseconds per stage. All contenders found the same "
        f"documents; largest relative difference of a distance: {worst:.0e}. {result['machine']}; "
        f"{versions}; instruction set of the core: {result['instruction_set']}; commit "
        f"{result['commit'][:12]}, {result['date'][:10]}; `{result['command']}`."
    )


def render(result: Mapping[str, Any]) -> str:
    """Return the tables with their caption as Markdown."""
    times = ["documents", *OURS.values(), *PEERS.values()]
    work = [
        "documents per query",
        *WORK.values(),
        "solved by the script",
        "stages of one query (ms)",
        "stages of a batch (ms)",
    ]
    return "\n".join(
        [
            line(times),
            f"| --- |{' ---: |' * (len(times) - 1)}",
            *(time_row(result, workload) for workload in result["workloads"]),
            "",
            line(work),
            f"| --- |{' ---: |' * (len(work) - 3)} --- | --- |",
            *(work_row(workload) for workload in result["workloads"]),
            "",
            caption(result),
        ]
    )
