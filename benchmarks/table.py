"""Print stored results as Markdown tables, or write them between the markers of a page.

In the repository root::

    python benchmarks/table.py
    python benchmarks/table.py --write README.md
    python benchmarks/table.py --write docs/performance.md
    python benchmarks/table.py --write docs/task-measurements.md
"""

import argparse
import json
import sys
from pathlib import Path

import fisher_tables
import search_table
import speed_table
from environment import RESULTS

OURS = {
    "textkin_distance": "textkin `distance`",
    "textkin_batch": "textkin batch",
    "textkin_batch_2": "textkin batch, 2 threads",
}
PEERS = {
    "gensim": "gensim `wmdistance`",
    "POT": "POT `emd2` + NumPy costs",
    "pyemd": "pyemd + NumPy costs",
}
PARTS = [
    "documents",
    "solver only (µs)",
    "pivots",
    "ns per pivot",
    "POT `emd2` only, no checks (µs)",
    "speed with AVX2",
    "speed without SIMD",
    "speed with 2 threads",
]


def number(value: float) -> str:
    """Format microseconds or a ratio, with one decimal below 10."""
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def our_cell(contender) -> str:
    """Return the time of a textkin contender."""
    return number(contender["microseconds"]["median"])


def peer_cell(contender) -> str:
    """Return the time of a peer and its ratio to textkin's times."""
    if contender is None:
        return "not installed"
    slower = contender["times_slower_than"]
    single, batch = (slower[base]["median"] for base in ("textkin_distance", "textkin_batch"))
    return f"{our_cell(contender)} ({number(single)}x, {number(batch)}x)"


def row(workload) -> str:
    """Return the table row of a workload."""
    contenders = workload["contenders"]
    kind = f"{workload['documents']}, {workload['unique_words']['mean']:.0f} words"
    cells = [
        f"{workload['name']} ({kind})",
        *(our_cell(contenders[name]) for name in OURS),
        *(peer_cell(contenders.get(name)) for name in PEERS),
    ]
    return f"| {' | '.join(cells)} |"


def share(contenders, name: str) -> str:
    """Return the speed of a contender in percent of the batch's speed."""
    if name not in contenders:
        return "-"
    slower = contenders[name]["times_slower_than"]["textkin_batch"]["median"]
    return f"{100 / slower:.0f} %"


def part_row(workload) -> str:
    """Return the row of a workload in the second table."""
    contenders, alone = workload["contenders"], workload["solver_alone"]
    peer = contenders.get("POT_solver")
    slower = "not installed"
    if peer is not None:
        ratio = peer["times_slower_than"]["textkin_solver"]["median"]
        slower = f"{our_cell(peer)} ({number(ratio)}x)"
    threads = contenders["textkin_batch_2"]["times_slower_than"]["textkin_batch"]["median"]
    cells = [
        workload["name"],
        our_cell(contenders["textkin_solver"]),
        f"{alone['mean_pivots']:.0f}",
        f"{alone['nanoseconds_a_pivot']:.0f}",
        slower,
        share(contenders, "textkin_batch_avx2"),
        share(contenders, "textkin_batch_baseline"),
        f"{1 / threads:.2f}x",
    ]
    return f"| {' | '.join(cells)} |"


def parts_table(result) -> list[str]:
    """Return the lines of the second table; an empty list for results in an older format."""
    if not all("solver_alone" in workload for workload in result["workloads"]):
        return []
    return [
        f"| {' | '.join(PARTS)} |",
        f"| --- |{' ---: |' * (len(PARTS) - 1)}",
        *(part_row(workload) for workload in result["workloads"]),
        "",
    ]


def caption(result) -> str:
    """Return the caption: measure, method, machine, versions, commit, and date."""
    versions = ", ".join(
        f"{name} {result[name]}"
        for name in ("textkin", *PEERS, "numpy", "python")
        if result[name] is not None
    )
    worst = max(
        contender["largest_relative_difference"]
        for workload in result["workloads"]
        for contender in workload["contenders"].values()
    )
    spread = max(
        (times["quartile_3"] - times["quartile_1"]) / times["median"]
        for workload in result["workloads"]
        for times in (contender["microseconds"] for contender in workload["contenders"].values())
    )
    counts = sorted({workload["pairs"] for workload in result["workloads"]})
    return (
        f"Microseconds per exact distance: median of {result['rounds']} interleaved rounds of "
        f"{' to '.join(map(str, counts))} pairs, on one thread unless the column says otherwise. "
        '"Words" is the mean number of distinct words per document. In parentheses: the '
        "ratio to textkin's `distance`, then the ratio to textkin's batch, both within the same "
        "rounds. Second table: the solver on precomputed costs; its time divided by its pivots; "
        "POT's solver on the same costs with its ratio; the speed of the batch with other "
        "instruction sets; the speed of two threads relative to one. The interquartile range of "
        f"a time is at most {100 * spread:.0f} % of its median. Largest relative difference from "
        f"textkin's answers: {worst:.0e}. {result['machine']}; {versions}; instruction set of the "
        f"core: {result['instruction_set']}; commit {result['commit'][:12]}, "
        f"{result['date'][:10]}; `{result['command']}`."
    )


def render(result) -> str:
    """Return the tables with their caption as Markdown."""
    heads = ["documents", *OURS.values(), *PEERS.values()]
    lines = [
        f"| {' | '.join(heads)} |",
        f"| --- |{' ---: |' * (len(heads) - 1)}",
        *(row(workload) for workload in result["workloads"]),
        "",
        *parts_table(result),
        caption(result),
    ]
    return "\n".join(lines)


# For each script that makes results: the name of its markers and the function that renders them.
TABLES = {
    "pairs": ("benchmark", render),
    "search": ("search", search_table.render),
    "fisher_speed": ("fisher", fisher_tables.render),
}
SPEED = "speed"  # markers of the table that several results share


def kind_of(result) -> str:
    """Return the name of the script that made a result."""
    for kind in TABLES:
        if f"benchmarks/{kind}.py" in result["command"]:
            return kind
    raise ValueError(f"there is no table for the result of `{result['command']}`")


def markers(name: str) -> tuple[str, str]:
    """Return the marker lines before and after a table."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def put_between_markers(text: str, table: str, name: str) -> str:
    """Replace the text between the markers of a page with a table."""
    begin, end = markers(name)
    lines = text.splitlines()
    places = [
        [at for at, line in enumerate(lines) if line.strip() == mark] for mark in (begin, end)
    ]
    if [len(found) for found in places] != [1, 1] or places[0][0] > places[1][0]:
        raise ValueError(f"the file must have one line {begin} and, below it, one line {end}")
    (first,), (last,) = places
    return "\n".join([*lines[: first + 1], table, *lines[last:]]) + "\n"


def write(text: str, results: list[Path], *, all_of_them: bool) -> str:
    """Return a page with the tables of results written between its markers.

    Parameters
    ----------
    text : str
        Text of the page.
    results : list of Path
        Result files.
    all_of_them : bool
        If True, the page must have the markers of every table. Otherwise, one table is enough.
    """
    tables = {}
    for path in results:
        result = json.loads(path.read_text(encoding="utf-8"))
        name, make = TABLES[kind_of(result)]
        if all_of_them or markers(name)[0] in text:
            tables[name] = make(result)
    if markers(SPEED)[0] in text:
        tables[SPEED] = speed_table.render(RESULTS)
    if not tables:
        raise ValueError(f"the file must have the markers of a table, such as {markers('search')}")
    for name, table in tables.items():
        text = put_between_markers(text, table, name)
    return text


def main() -> None:
    """Print the tables, or write them into a page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--result", type=Path, help="result file (default: all stored results)")
    parser.add_argument(
        "--write",
        type=Path,
        metavar="FILE",
        help="page to write the tables into, between their markers",
    )
    arguments = parser.parse_args()
    stored = [path for kind in TABLES if (path := RESULTS / f"{kind}.json").is_file()]
    results = stored if arguments.result is None else [arguments.result]
    if arguments.write is None:
        for path in results:
            result = json.loads(path.read_text(encoding="utf-8"))
            print(TABLES[kind_of(result)][1](result), end="\n\n")
        return
    try:
        text = write(
            arguments.write.read_text(encoding="utf-8"),
            results,
            all_of_them=arguments.result is not None,
        )
    except ValueError as error:
        sys.exit(f"table.py: {arguments.write}: {error}.")
    arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
