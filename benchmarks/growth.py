"""Growth of building and searching with a collection: time, memory, disk, and work per query.

The collections are 10,000 to 1,000,000 synthetic documents of about 10 (*twit*) and 71 (*news*)
distinct words, the real texts of search_scaling.py (about 390,000, if the shared data are next to
the checkout), and the documents of cluster.py (*zipf*, up to 200,000). Two interfaces are measured:
a `WordMover` on bags in memory, and an `Index` on disk. Each size and interface runs in its own
processes, on one thread, and is compared with brute force for one or two queries::

    python benchmarks/growth.py --estimate     # prints the expected cost
    python benchmarks/growth.py
    python benchmarks/growth.py --collections twit --sizes 10000000

Every result is written to benchmarks/results/growth.json immediately. Existing results are not
measured again, except with --again. Figures go to docs/images.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from environment import RESULTS, ROOT, describe
from growth_corpus import KINDS, MOST, Stored, is_here
from growth_jobs import Asked, K, build_index, measure_mover, search_in_rounds, search_index, truth
from growth_report import SURFACES, Entry, figures, slopes, table
from pairs import UnequalAnswersError, pin_threads, positive

SIZES = (10_000, 100_000, 1_000_000)
WORKERS = 4  # sizes whose search is simulated block by block
FEW = 20_000_000  # entries; with more, only one query is compared with brute force


class Cost(NamedTuple):
    """Approximate cost of a million documents, on a machine with two cores from about 2020.

    Attributes
    ----------
    entries : float
        Total number of distinct words with vectors, over all documents.
    write, truth, mover, index : float
        Seconds to write the documents, to compare one query with all of them, and to measure in
        memory and on disk.
    collection, store : float
        Gigabytes on disk of the documents and of the index.
    memory : float
        Peak memory of the measurement, in gigabytes.
    """

    entries: float
    write: float
    truth: float
    mover: float
    index: float
    collection: float
    store: float
    memory: float

    def times(self, millions: float) -> "Cost":
        """Return the cost of the given number of million documents."""
        return Cost(*(millions * value for value in self))


COSTS = {
    "twit": Cost(10e6, 25, 8, 12, 55, 0.16, 0.4, 0.3),
    "news": Cost(71e6, 75, 120, 70, 160, 1.2, 2.2, 1.6),
    "real": Cost(12e6, 60, 10, 30, 110, 0.4, 0.8, 1.0),
    "zipf": Cost(35e6, 50, 60, 50, 130, 0.7, 1.2, 1.0),
}
STARTING = 20  # seconds per size, in which its processes load libraries and vectors
BASE_MEMORY = 1.0  # gigabytes of the libraries, the vectors, and the memory of a search


def sizes_of(kind: str, sizes: Sequence[int]) -> list[int]:
    """Return the sizes of a collection; some collections are limited."""
    return sorted({min(size, MOST.get(kind, size)) for size in sizes})


def checked_of(kind: str, documents: int) -> int:
    """Return the number of queries to compare with brute force."""
    return 2 if COSTS[kind].times(documents / 1e6).entries <= FEW else 1


def estimate(kinds: Sequence[str], sizes: Sequence[int], surfaces: Sequence[str]) -> dict[str, Any]:
    """Return the approximate cost: seconds, gigabytes on disk, and gigabytes in memory."""
    seconds, disk, memory = 0.0, 0.0, 0.0
    parts = {}
    for kind in kinds:
        of_kind = sizes_of(kind, sizes)
        largest = COSTS[kind].times(of_kind[-1] / 1e6)
        took = largest.write
        for size in of_kind:
            cost = COSTS[kind].times(size / 1e6)
            took += cost.truth * checked_of(kind, size) + STARTING
            took += sum(getattr(cost, surface) for surface in surfaces)
        seconds += took
        disk = max(disk, largest.collection + 2 * largest.store * ("index" in surfaces))
        memory = max(memory, BASE_MEMORY + largest.memory)
        parts[kind] = round(took)
    return {"seconds": parts, "total_seconds": round(seconds), "disk": disk, "memory": memory}


def free_memory() -> float:
    """Return the gigabytes that are available to processes."""
    told = Path("/proc/meminfo").read_text(encoding="utf-8")
    return int(told.split("MemAvailable:", 1)[1].split()[0]) / 1e6


def refusal(cost: dict[str, Any], folder: Path) -> str | None:
    """Return the reason why this machine cannot measure a size, or None if it can."""
    disk, memory = shutil.disk_usage(folder).free / 1e9, free_memory()
    for name, needed, there in (("disk", cost["disk"], disk), ("memory", cost["memory"], memory)):
        if needed > there:
            return (
                f"it takes about {needed:.1f} GB of {name}, and {there:.1f} GB are free (the "
                f"folder is {folder}); take fewer --sizes or another --folder."
            )
    return None


# ---------------------------------------------------------------------- measuring


def alone(job: Callable[..., Any], *arguments: Any) -> Any:
    """Run a job in its own process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(job, arguments)


def measure(stored: Stored, documents: int, surface: str, asked: Asked, true: Any) -> Entry:
    """Measure one size through one interface."""
    if surface == "mover":
        found = alone(measure_mover, stored, documents, asked, true)
        return {**found, "rounds": alone(search_in_rounds, stored, documents, asked, WORKERS, true)}
    path = stored.folder / f"{documents}.kin"
    try:
        built = alone(build_index, stored, documents, path)
        return {**built, **alone(search_index, stored, documents, asked, path, true)}
    finally:
        shutil.rmtree(path, ignore_errors=True)


def missing(
    measured: Sequence[Entry], kind: str, documents: int, surfaces: Sequence[str]
) -> list[str]:
    """Return the interfaces of a size that are not measured yet."""
    there = {
        entry["surface"]
        for entry in measured
        if (entry["collection"], entry["documents"]) == (kind, documents)
    }
    return [surface for surface in surfaces if surface not in there]


def grow(
    folder: Path,
    kind: str,
    sizes: Sequence[int],
    surfaces: Sequence[str],
    asked: Asked,
    measured: Sequence[Entry],
) -> Iterator[Entry]:
    """Measure the missing sizes of a collection, and yield each when it is finished."""
    wanted = [size for size in sizes if missing(measured, kind, size, surfaces)]
    if not wanted:
        return
    start = time.perf_counter()
    stored = alone(Stored.written, folder, kind, wanted[-1], asked.total)
    say(f"{kind}: {wanted[-1]:,} documents written in {time.perf_counter() - start:.0f} s")
    for size in wanted:
        few = replace(asked, checked=min(asked.checked, checked_of(kind, size)))
        true = alone(truth, stored, size, few)
        for surface in missing(measured, kind, size, surfaces):
            start = time.perf_counter()
            load = round(os.getloadavg()[0], 2)
            found = measure(stored, size, surface, few, true)
            where = {"collection": kind, "documents": size, "surface": surface}
            told = describe()
            kept = {"date": told["date"], "commit": told["commit"], "load_average_before": load}
            yield {**where, **kept, "asked": asdict(few), **found}
            say(f"{kind}, {size:,}, {surface}: {time.perf_counter() - start:.0f} s")
    shutil.rmtree(stored.folder, ignore_errors=True)


def say(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr, flush=True)


def report(measured: Sequence[Entry], command: str) -> dict[str, Any]:
    """Return the content of the result file."""
    order = {name: at for at, name in enumerate((*KINDS, *SURFACES))}
    measured = sorted(
        measured, key=lambda e: (order[e["collection"]], order[e["surface"]], e["documents"])
    )
    return {
        "command": command,
        "measure": "one thread; milliseconds per query, exact, the k best of all documents; "
        "resident memory of a process; slopes are exponents of the number of documents",
        **describe("textkin", "numpy", "scipy"),
        "k": K,
        "slopes": slopes(measured),
        "measured": measured,
    }


# ---------------------------------------------------------------------- command


def main() -> None:
    """Measure missing results, store each, print the table, and draw the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--collections", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--sizes", nargs="+", type=positive, default=list(SIZES))
    parser.add_argument("--surfaces", nargs="+", choices=SURFACES, default=list(SURFACES))
    parser.add_argument("--queries", nargs=3, type=positive, metavar=("WARM", "SINGLE", "BATCH"))
    parser.add_argument("--again", action="store_true", help="measure existing results again")
    parser.add_argument("--estimate", action="store_true", help="only print the expected cost")
    parser.add_argument("--folder", type=Path, help="temporary folder for documents and indexes")
    parser.add_argument("--figures", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--out", type=Path, default=RESULTS / "growth.json")
    arguments = parser.parse_args()
    pin_threads()
    kinds = [kind for kind in arguments.collections if is_here(kind)]
    for kind in set(arguments.collections) - set(kinds):
        say(f"{kind} is skipped: the shared data sets are missing.")
    cost = estimate(kinds, arguments.sizes, arguments.surfaces)
    say(
        f"About {cost['total_seconds'] / 60:.0f} minutes ("
        + ", ".join(f"{kind} {seconds} s" for kind, seconds in cost["seconds"].items())
        + f"), at most {cost['disk']:.1f} GB on disk and {cost['memory']:.1f} GB in memory."
    )
    if arguments.estimate:
        return
    asked = Asked(*arguments.queries) if arguments.queries else Asked()
    kept: list[Entry] = []
    if arguments.out.is_file():
        kept = json.loads(arguments.out.read_text(encoding="utf-8"))["measured"]
    if arguments.again:
        kept = [
            entry
            for entry in kept
            if entry["collection"] not in kinds
            or entry["documents"] not in sizes_of(entry["collection"], arguments.sizes)
            or entry["surface"] not in arguments.surfaces
        ]
    command = "python benchmarks/growth.py " + " ".join(
        f"--{name} {' '.join(map(str, getattr(arguments, name)))}"
        for name in ("collections", "sizes", "surfaces")
    )
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        if (why := refusal(cost, Path(folder))) is not None:
            sys.exit(f"growth.py: {why}")
        for kind in kinds:
            try:
                sizes = sizes_of(kind, arguments.sizes)
                for entry in grow(Path(folder), kind, sizes, arguments.surfaces, asked, kept):
                    kept.append(entry)
                    found = report(kept, command)
                    arguments.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
            except UnequalAnswersError as error:
                sys.exit(f"growth.py: {error}")
    measured = report(kept, command)["measured"]  # in order
    for name, svg in figures(measured).items():
        (arguments.figures / f"{name}.svg").write_text(svg + "\n", encoding="utf-8")
    print(table(measured))


if __name__ == "__main__":
    main()
