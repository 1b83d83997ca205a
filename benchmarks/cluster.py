"""Building, exact search, a join, and near pairs on a Dask cluster with 1 and 2 workers.

Texts are sampled by Zipf's law from the words of the built-in vectors, and written to JSON Lines
files. A local cluster (one thread per process) builds an index of them, searches it, joins queries
with it, and finds near pairs, with each number of workers in turn; the same is measured without a
cluster. Results must be bit-identical to one process, or nothing is reported. A separate run counts
the transferred bytes by pickling everything that workers receive and return::

    python benchmarks/cluster.py                    # on an idle machine, some minutes
    python benchmarks/cluster.py --documents 5000 --queries 8 --result try.json

The result goes to benchmarks/results/cluster.json.
"""

import argparse
import json
import pickle
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from environment import RESULTS, describe, write
from pairs import UnequalAnswersError

import textkin as tk
from textkin.index import ClusterRanking
from textkin.index.distributed import _cluster_ranking as _cluster
from textkin.index.distributed import _near_pairs as _pairs
from textkin.index.store import _ingest
from textkin.run import map_blocks

WORDS = 40  # words sampled per document
FILES = 40
RADIUS = 2.0  # documents for near pairs
COPIED = 0.01  # fraction of documents that copy the previous one with some words changed


def texts(number: int) -> list[str]:
    """Sample documents whose words follow Zipf's law; some are near copies."""
    rng = np.random.default_rng(16)
    words = np.array(tk.WordVectors.builtin().words[:60_000])
    chances = 1 / np.arange(10, 10 + len(words))
    drawn = rng.choice(len(words), (number, WORDS), p=chances / chances.sum())
    copies = 1 + rng.choice(number - 1, int(COPIED * number), replace=False)
    drawn[copies] = drawn[copies - 1]
    drawn[copies, :2] = rng.integers(0, len(words), (len(copies), 2))
    return [" ".join(words[row]) for row in drawn]


def write_files(folder: Path, documents: list[str]) -> int:
    """Write documents to files, and return the total bytes."""
    folder.mkdir()
    size = -(-len(documents) // FILES)
    for number, start in enumerate(range(0, len(documents), size)):
        with (folder / f"{number:03}.jsonl").open("w") as file:
            for row, text in enumerate(documents[start : start + size], start):
                file.write(json.dumps({"id": f"d{row}", "text": text}) + "\n")
    return sum(path.stat().st_size for path in folder.iterdir())


@contextmanager
def cluster_of(workers: int) -> Iterator[Any]:
    """Start a client with the given number of processes, which have imported textkin."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=None
    )
    with cluster, Client(cluster, set_as_default=False) as client:
        client.run(tk.WordVectors.builtin)
        yield client


class Traffic:
    """Executor that counts transferred bytes: functions once, blocks, and results."""

    def __init__(self) -> None:
        self.sent = self.received = self.blocks = 0

    def counted(self, function: Any, blocks: Any, **options: Any) -> Iterator[Any]:
        """Run blocks as `map_blocks` does, in this process."""
        import cloudpickle

        self.sent += len(cloudpickle.dumps(function))

        def sent() -> Iterator[Any]:
            for block in blocks:
                self.sent += len(pickle.dumps(block))
                self.blocks += 1
                yield block

        options.update(executor=None, n_jobs=None)
        for result in map_blocks(function, sent(), **options):
            self.received += len(pickle.dumps(result))
            yield result

    @contextmanager
    def of(self, *modules: Any) -> Iterator["Traffic"]:
        """Count the bytes that these modules send."""
        for module in modules:
            module.map_blocks = self.counted
        try:
            yield self
        finally:
            for module in modules:
                module.map_blocks = map_blocks

    def to_dict(self) -> dict[str, int]:
        """Return the counts."""
        return {"sent": self.sent, "received": self.received, "blocks": self.blocks}


def timed(call: Callable[..., Any], *given: Any, **more: Any) -> tuple[float, float, Any]:
    """Return the elapsed seconds, the CPU seconds of this process, and the result."""
    clock, own = time.perf_counter(), time.process_time()
    answer = call(*given, **more)
    return time.perf_counter() - clock, time.process_time() - own, answer


def catalog_of(path: Path) -> list[Any]:
    """Return the content of an index, for comparison."""
    with closing(sqlite3.connect(path / "catalogue.sqlite")) as found:
        return [
            found.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in ("documents", "words")
        ]


def must_be_equal(what: str, ours: object, expected: object) -> None:
    """Raise unless the results of a cluster equal the results of one process."""
    if ours != expected:
        raise UnequalAnswersError(
            f"{what}: a cluster and one process differ; no result is written."
        )


def build(folder: Path, files: Path, places: dict[str, Any]) -> dict[str, Any]:
    """Measure adding files, and keep the index of one process."""
    report: dict[str, Any] = {}
    expected = None
    for name, on in places.items():
        path = folder / f"{name}.kin"
        with tk.Index.create(path, language=None) as index:
            clock, own, changes = timed(index.add, tk.read(files, pattern="*"), executor=on)
        report[name] = {
            "seconds": clock,
            "seconds_of_the_writer": own,
            "documents_a_second": changes.added / clock,
        }
        found = catalog_of(path)
        must_be_equal("build", found, expected or found)
        expected = found
        if name != "one process":
            shutil.rmtree(path)
    with (
        tk.Index.create(folder / "traffic.kin", language=None) as index,
        Traffic().of(_ingest) as traffic,
    ):
        index.add(tk.read(files, pattern="*"), executor="threads")
    shutil.rmtree(folder / "traffic.kin")
    return {**report, "bytes": traffic.to_dict()}


def search(index: tk.Index, queries: list[str], places: dict[str, Any]) -> dict[str, Any]:
    """Measure queries one by one; the first ones separately, because they open segments."""
    warm = max(1, len(queries) // 4)
    report: dict[str, Any] = {}
    expected: list[Any] = []
    for name, on in places.items():
        by = "wmd" if on is None else ClusterRanking("wmd", on)
        taken, solved, answers = [], [], []
        for query in queries:
            clock, _, hits = timed(index.search, query, ranking=by)
            taken.append(clock)
            solved.append(hits.stats["solved"])
            answers.append((hits.ids, hits.scores.tobytes()))
        expected = expected or answers
        must_be_equal("search", answers, expected)
        report[name] = {
            "first_ms": 1e3 * taken[0],
            "median_ms": 1e3 * statistics.median(taken[warm:]),
            "solved_a_query": statistics.mean(solved[warm:]),
        }
    traffic = Traffic()
    by = ClusterRanking("wmd", n_jobs=2)  # split as for two workers
    index.search(queries[0], ranking=by)
    with traffic.of(_cluster):
        for query in queries:
            index.search(query, ranking=by)
    counts = {name: number / len(queries) for name, number in traffic.to_dict().items()}
    return {**report, "bytes_a_query": counts}


def joined(
    index: tk.Index, queries: list[str], folder: Path, places: dict[str, Any]
) -> dict[str, Any]:
    """Measure a join of all queries."""
    from pyarrow import parquet

    report: dict[str, Any] = {}
    expected = None
    for name, on in places.items():
        clock, _, parts = timed(index.join, queries, folder / name, executor=on, part=64)
        found = parquet.read_table(parts.folder)
        must_be_equal("join", found, expected or found)
        expected = found
        report[name] = {"seconds": clock, "queries_a_second": len(queries) / clock}
    return report


def near(index: tk.Index, folder: Path, places: dict[str, Any]) -> dict[str, Any]:
    """Measure all near pairs."""
    from pyarrow import parquet

    report: dict[str, Any] = {}
    expected = None
    for name, on in places.items():
        clock, _, parts = timed(index.near_pairs, RADIUS, folder / name, executor=on)
        found = parquet.read_table(parts.folder)
        must_be_equal("near pairs", found, expected or found)
        expected = found
        report[name] = {"seconds": clock, "pairs": parts.rows}
    if parts.rows == 0:
        raise UnequalAnswersError("near pairs: none were found, so results cannot be compared.")
    with Traffic().of(_pairs) as traffic:
        index.near_pairs(RADIUS, folder / "traffic")
    return {**report, "radius": RADIUS, "documents": len(index), "bytes": traffic.to_dict()}


def sizes(index: tk.Index) -> dict[str, int]:
    """Return the data that workers read for transport: rows and counts per segment."""
    records = [record for record, _ in index._session.snapshot().segments]
    entries = sum(record.entries for record in records)
    rows = sum(record.rows for record in records)
    return {
        "segments": len(records),
        "rows": rows,
        "entries": entries,
        "bytes_of_segments": sum(record.bytes for record in records),
        "bytes_of_rows_and_counts": 8 * entries + 8 * rows,
        "words": index._session.snapshot().state.words,
    }


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=48)
    parser.add_argument("--pairs", type=int, default=9_000, help="documents for near pairs")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--result", type=Path, default=RESULTS / "cluster.json")
    asked = parser.parse_args()
    documents = texts(asked.documents + asked.queries)
    documents, queries = documents[: asked.documents], documents[asked.documents :]
    report: dict[str, Any] = {
        **describe("textkin", "dask", "distributed", "numpy"),
        "documents": asked.documents,
        "words_drawn": WORDS,
        "queries": asked.queries,
    }
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        report["bytes_of_files"] = write_files(folder / "files", documents)
        places: dict[str, Any] = {"one process": None}
        for workers in asked.workers:  # skipped parts cost nothing
            places[f"workers: {workers}"] = stack.enter_context(cluster_of(workers))
        report["build"] = build(folder, folder / "files", places)
        with tk.Index.open(folder / "one process.kin") as index:
            report["index"] = sizes(index)
            report["search"] = search(index, queries, places)
            report["join"] = joined(index, queries, folder / "neighbours", places)
        with tk.Index.create(folder / "some.kin", language=None) as index:
            index.add([{"id": f"d{n}", "text": t} for n, t in enumerate(documents[: asked.pairs])])
            report["pairs"] = near(index, folder / "pairs", places)
    write(asked.result, report)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
