"""Time of a search by transport in an index, compared with the same search in memory.

The training documents of r8 and 20news are put into an index and fitted to a `WordMover`. Every
round has new queries (test documents), which both answer one by one, in a changing order; results
must be bit-identical. The timed part is the whole call, from the text to the hits. Then the script
measures the time before the second query: opening the index with the first query, and the first
query after a document was added. Needs the shared data next to the checkout::

    python benchmarks/store_transport.py

The result goes to benchmarks/results/store_transport.json.
"""

import argparse
import gc
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe
from numpy.typing import NDArray
from pairs import UnequalAnswersError, pin_threads, positive, spread, turn

from textkin import Index, WordMover, WordVectors, _core
from textkin.run import progress_bar

SETS = ("r8", "20news")
METHODS = ("wmd", "rwmd", "wcd")
ALLOWED = 1.2  # maximum ratio to the search in memory, by wmd

Answer = tuple[NDArray[np.int64], NDArray[np.float64]]


def read_set(name: str) -> tuple[list[str], list[str]] | None:
    """Return training and test texts, or None with a reason on standard error."""
    path = DATA / "classification" / f"{name}.jsonl.gz"
    if not path.is_file():
        print(f"{name} is skipped: the shared data sets are missing.", file=sys.stderr)
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    train, test = (
        [record["text"] for record in records if record["split"] == split]
        for split in ("train", "test")
    )
    return train, test


def chosen(
    texts: tuple[list[str], list[str]], n_documents: int | None, n_queries: int
) -> tuple[list[str], list[str]]:
    """Return the first documents (None: all), and random queries that have words."""
    documents, others = texts[0][:n_documents], texts[1]
    coverage = WordMover().coverage(others)
    known = [text for text, found in zip(others, coverage, strict=True) if found.known]
    order = np.random.default_rng(7).permutation(len(known))
    if n_queries > len(known):
        raise ValueError(f"{n_queries} queries requested; got {len(known)}")
    return documents, [known[at] for at in order[:n_queries]]


def must_be_equal(ours: Answer, theirs: Answer, where: str) -> None:
    """Raise unless two results are bit-identical."""
    for one, other, what in zip(ours, theirs, ("documents", "distances"), strict=True):
        if not np.array_equal(one, other):
            raise UnequalAnswersError(
                f"{where}: the index finds the {what} {one} and the mover {other}; nothing is "
                "reported."
            )


def measure(
    index: Index, mover: WordMover, by: str, queries: Sequence[str], rounds: int, k: int, label: str
) -> dict[str, NDArray[np.float64]]:
    """Return the milliseconds of each query, one row per round; the first round warms up."""
    rows = {id: row for row, id in enumerate(index.ids)}

    def in_store(query: str) -> Callable[[], Answer]:
        hits = index.search(query, k, ranking=by)
        return lambda: (np.array([rows[id] for id in hits.ids], np.int64), hits.scores)

    def in_memory(query: str) -> Callable[[], Answer]:
        found = mover.search(query, k, metric=by)
        return lambda: (found[0].indices, found[0].distances)

    contenders = {"index": in_store, "mover": in_memory}
    size = len(queries) // (rounds + 1)
    times = {name: np.empty((rounds, size)) for name in contenders}
    gc.collect()
    gc.freeze()
    with progress_bar(label) as progress:
        for number in range(rounds + 1):
            for at in range(size):
                query = queries[number * size + at]
                answers = {}
                for name in turn(list(contenders), number + at):
                    start = time.perf_counter()
                    answers[name] = contenders[name](query)
                    took = (time.perf_counter() - start) * 1e3
                    if number:
                        times[name][number - 1, at] = took
                where = f"{label}, query {number * size + at}"
                must_be_equal(answers["index"](), answers["mover"](), where)
            if progress is not None:
                progress(number + 1, rounds + 1)
    gc.unfreeze()
    return times


def first_queries(path: Path, query: str, k: int, times: int) -> dict[str, dict[str, float]]:
    """Return the milliseconds of opening and of first queries, with loaded vectors."""
    taken: dict[str, list[float]] = {"open": [], "first": [], "second": [], "after_adding": []}
    for number in range(times):
        steps: list[tuple[str, Callable[[], object]]] = []
        start = time.perf_counter()
        with Index.open(path) as index:
            taken["open"].append(time.perf_counter() - start)

            def search(index: Index = index) -> object:
                return index.search(query, k, ranking="wmd")

            steps = [("first", search), ("second", search), ("after_adding", search)]
            for name, step in steps:
                if name == "after_adding":
                    index.add([{"id": f"added {number}", "text": query}])
                start = time.perf_counter()
                step()
                taken[name].append(time.perf_counter() - start)
            index.delete(f"added {number}")
    return {name: spread(1e3 * np.array(values)) for name, values in taken.items()}


def report_set(
    name: str,
    texts: tuple[list[str], list[str]],
    *,
    n_documents: int | None,
    rounds: int,
    n_queries: int,
    k: int,
) -> dict[str, object]:
    """Measure one data set, and return its section of the result."""
    documents, queries = chosen(texts, n_documents, (rounds + 1) * n_queries)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.kin"
        with Index.create(path, language=None) as index:
            index.add(documents)
            start = time.perf_counter()
            mover = WordMover().fit(documents)
            fitted = time.perf_counter() - start
            methods = {}
            for by in METHODS:
                took = measure(index, mover, by, queries, rounds, k, f"{name}, {by}")
                means = {who: values.mean(axis=1) for who, values in took.items()}
                methods[by] = {
                    "milliseconds": {who: spread(mean) for who, mean in means.items()},
                    "index_over_mover": spread(means["index"] / means["mover"]),
                    "largest_ratio_of_a_round": round(
                        float((means["index"] / means["mover"]).max()), 3
                    ),
                    "rounds": {who: np.round(mean, 3).tolist() for who, mean in means.items()},
                }
            entries = int(index.bags().nnz)
        return {
            "documents": len(documents),
            "entries": {"index": entries, "mover": len(mover.engine().rows.indices)},
            "fit_milliseconds": round(1e3 * fitted, 1),
            "methods": methods,
            "milliseconds_before": first_queries(path, queries[0], k, min(rounds, 5)),
        }


def report(
    sets: Sequence[str], n_documents: int | None, rounds: int, n_queries: int, k: int
) -> dict[str, object]:
    """Measure the available data sets, and return the content of the result file."""
    load = round(os.getloadavg()[0], 2)
    WordVectors.builtin()
    found = {}
    for name in sets:
        if (texts := read_set(name)) is not None:
            found[name] = report_set(
                name, texts, n_documents=n_documents, rounds=rounds, n_queries=n_queries, k=k
            )
    limit = [] if n_documents is None else [f"--documents {n_documents}"]
    command = [
        "python benchmarks/store_transport.py",
        *limit,
        f"--rounds {rounds} --queries {n_queries} -k {k} --sets {' '.join(sets)}",
    ]
    return {
        "command": " ".join(command),
        "measure": "milliseconds per query, one thread; ratios of the mean query of a round",
        **describe("textkin", "numpy"),
        "load_average_before": load,
        "instruction_set": _core.instruction_set(),
        "allowed_index_over_mover_by_wmd": ALLOWED,
        "sets": found,
    }


def render(found: dict[str, object]) -> str:
    """Return the table as Markdown."""
    lines = [
        "| documents | by | index, ms | WordMover, ms | ratio |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for name, one in found["sets"].items():
        for by, numbers in one["methods"].items():
            index, mover = (numbers["milliseconds"][who]["median"] for who in ("index", "mover"))
            lines.append(
                f"| {name} ({one['documents']:,}) | {by} | {index:.2f} | {mover:.2f} | "
                f"{numbers['index_over_mover']['median']:.2f} |"
            )
        before = {what: took["median"] for what, took in one["milliseconds_before"].items()}
        lines.append(
            f"\n{name}: opening {before['open']:.0f} ms, first query {before['first']:.0f}, the "
            f"same again {before['second']:.0f}, after a document was added "
            f"{before['after_adding']:.0f}; `fit` of the mover {one['fit_milliseconds']:.0f}.\n"
        )
    return "\n".join([*lines, f"`{found['command']}`, {found['machine']}"])


def main() -> None:
    """Measure, write the numbers, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="run on few documents and queries")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument(
        "--documents", type=positive, help="documents per set (default: all, --quick: 200)"
    )
    parser.add_argument("--rounds", type=positive, help="measured rounds (default: 7, --quick: 2)")
    parser.add_argument(
        "--queries", type=positive, help="queries per round (default: 20, --quick: 3)"
    )
    parser.add_argument("-k", type=positive, default=10, help="documents to find per query")
    parser.add_argument("--out", type=Path, default=RESULTS / "store_transport.json")
    arguments = parser.parse_args()
    pin_threads()
    try:
        found = report(
            arguments.sets,
            arguments.documents or (200 if arguments.quick else None),
            arguments.rounds or (2 if arguments.quick else 7),
            arguments.queries or (3 if arguments.quick else 20),
            arguments.k,
        )
    except (UnequalAnswersError, ValueError) as error:
        sys.exit(f"store_transport.py: {error}")
    if not found["sets"]:
        sys.exit("store_transport.py: none of the data sets is available.")
    arguments.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(render(found))


if __name__ == "__main__":
    main()
