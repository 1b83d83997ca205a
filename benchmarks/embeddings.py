"""Exact search by embeddings of an index, compared with a NumPy product on the same threads.

The product is ``matrix @ query`` of the same float32 array in memory, and the best ten of its
result by `numpy.argpartition`. Both run in turns, with BLAS on one thread and on all. Ratios are
of CPU times of the process over all threads, because other work on the machine changes them less.
``--storage`` also compares memory-mapped files with rows of SQLite, as format 2 stored vectors. Run
in the repository root, with textkin installed::

    python benchmarks/embeddings.py --rows 1000000 --storage
"""

import argparse
import sqlite3
import tempfile
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from environment import RESULTS, describe, write

from textkin import Index
from textkin.index import ModelRanking
from textkin.run import single_blas_thread

RESULT = RESULTS / "embeddings.json"
DIMENSIONS = 384
K = 10
PER_BLOCK = 2048


def rows_of(n: int) -> np.ndarray:
    """Return unit vectors in clusters, because independent vectors have no near neighbors."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(1000, DIMENSIONS)).astype(np.float32)
    rows = np.empty((n, DIMENSIONS), np.float32)
    for start in range(0, n, 1 << 16):
        some = rows[start : start + (1 << 16)]
        some[:] = centers[rng.integers(0, 1000, len(some))]
        some += rng.standard_normal(some.shape, np.float32)
        some /= np.linalg.norm(some, axis=1, keepdims=True)
    return rows


def product(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the best rows by one product."""
    scores = rows @ query
    best = np.argpartition(scores, len(scores) - K)[len(scores) - K :]
    return best[np.argsort(-scores[best], kind="stable")]


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Return CPU and wall time of a call, in seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.process_time() - cpu, time.perf_counter() - wall


def search(folder: Path, n: int, rounds: int) -> dict[str, object]:
    """Compare searches of an index with products of a matrix in memory."""
    rows = rows_of(n)
    queries = rows[np.random.default_rng(1).integers(0, n, rounds)] + np.float32(0.01)
    with Index.create(folder / "bench.kin", language=None) as index:
        index.add({"id": str(row), "text": ""} for row in range(n))
        adding = timed(lambda: index.attach("own", embeddings=rows))
        scorer = index._searcher().scorer(ModelRanking("own"))
        state = scorer.state
        state.positions, state.live  # noqa: B018 (computed once for each snapshot)
        mine, theirs, alone, same = [], [], [], 0
        for query in queries:
            asked = scorer.of_embedding(query.astype(np.float64), None)
            found: list[object] = []
            mine.append(timed(partial(_keep, found, scorer.best, asked, K)))
            theirs.append(timed(partial(_keep, found, product, rows, query)))
            with single_blas_thread:
                alone.append(timed(partial(product, rows, query)))
            same += found[0].rows.tolist() == found[1].tolist()
    ratios = [a[0] / b[0] for a, b in zip(mine, theirs, strict=True)]
    of_one = [a[0] / b[0] for a, b in zip(mine, alone, strict=True)]
    return {
        "rows": n,
        "dimensions": DIMENSIONS,
        "rounds": rounds,
        "attach_seconds": round(adding[1], 2),
        "index_cpu_ms": round(1e3 * median(time for time, _ in mine), 1),
        "numpy_cpu_ms": round(1e3 * median(time for time, _ in theirs), 1),
        "numpy_one_thread_cpu_ms": round(1e3 * median(time for time, _ in alone), 1),
        "index_wall_ms": round(1e3 * median(time for _, time in mine), 1),
        "numpy_wall_ms": round(1e3 * median(time for _, time in theirs), 1),
        "numpy_one_thread_wall_ms": round(1e3 * median(time for _, time in alone), 1),
        "ratio_of_cpu": round(median(ratios), 3),
        "ratio_of_cpu_one_thread": round(median(of_one), 3),
        "same_hits": same,
    }


def _keep(found: list[object], call: Callable[..., object], *arguments: object) -> None:
    found.append(call(*arguments))


def storage(folder: Path, n: int) -> dict[str, object]:
    """Compare adding and first searches of files and of rows of SQLite."""
    rows = rows_of(n)
    connection = sqlite3.connect(folder / "rows.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE vectors (position INTEGER, checksum INTEGER, vector BLOB)")

    def add_rows() -> None:
        connection.execute("BEGIN IMMEDIATE")
        for start in range(0, n, PER_BLOCK):
            blobs = [row.tobytes() for row in rows[start : start + PER_BLOCK]]
            connection.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?)",
                ((start + at, zlib.crc32(blob), blob) for at, blob in enumerate(blobs)),
            )
        connection.execute("COMMIT")

    def first_of_rows() -> None:
        matrix = np.empty((n, DIMENSIONS), np.float32)
        cursor = connection.execute("SELECT position, checksum, vector FROM vectors")
        while some := cursor.fetchmany(4096):
            assert all(zlib.crc32(vector) == checksum for _, checksum, vector in some)
            found = np.frombuffer(b"".join(vector for *_, vector in some), np.float32)
            matrix[[position for position, *_ in some]] = found.reshape(-1, DIMENSIONS)
        np.linalg.norm(matrix, axis=1)
        product(matrix, rows[0])

    in_rows = timed(add_rows), timed(first_of_rows)
    connection.close()
    with Index.create(folder / "files.kin", language=None) as index:
        index.add({"id": str(row), "text": ""} for row in range(n))
        in_files = [timed(lambda: index.attach("own", embeddings=rows))]
        index._searcher().state.positions  # noqa: B018 (not a part of the vectors)
        in_files.append(timed(lambda: index.search(embedding=rows[0], ranking="own")))
    return {
        "rows": n,
        "add_seconds": {"sqlite": round(in_rows[0][1], 3), "files": round(in_files[0][1], 3)},
        "first_search_seconds": {
            "sqlite": round(in_rows[1][1], 3),
            "files": round(in_files[1][1], 3),
        },
    }


def main() -> None:
    """Measure, print, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--storage", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found: dict[str, object] = {"machine": describe()}
    with tempfile.TemporaryDirectory() as folder:
        if given.storage:
            found["storage"] = storage(Path(folder), 60_000)
            print(found["storage"])
        found["search"] = search(Path(folder), given.rows, given.rounds)
        print(found["search"])
    if given.write:
        write(RESULT, found)


if __name__ == "__main__":
    main()
