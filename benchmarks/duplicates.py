"""Time to find the duplicates of 20news, and of test documents in the training sets.

All 18,846 documents of 20news, from texts to groups, on one thread: by hash (text, bag) and by all
pairs (cosine, Jaccard, exact transport), compared with a script on scikit-learn's
`cosine_similarity`, block by block, whose pairs must be the same. docs/duplicates.md has the number
of duplicates per radius. Run in the repository root, with textkin installed::

    python benchmarks/duplicates.py
"""

import gzip
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from environment import RESULTS, asked, describe, write
from sklearn.metrics.pairwise import cosine_similarity
from threadpoolctl import threadpool_limits

import textkin as tk

RESULT = RESULTS / "duplicates.json"
SETS = ("20news", "twitter")
LEAKS = {"twitter": None, "classic": "smart"}  # sets, and the stop words to remove
WAYS: dict[str, tuple[float, ...]] = {
    "text": (),
    "bag": (),
    "cosine": (0.05, 0.1, 0.2),
    "jaccard": (0.1, 0.2, 0.3),
    "wmd": (0.25, 0.5, 0.75),
}
PARTS = ("found", "script", "leaks")
BLOCK = 256


def read_set(data: Path, name: str) -> list[dict[str, str]]:
    """Read the records of a set."""
    path = data / "classification" / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def timed(call: Callable[[], object]) -> tuple[object, dict[str, float]]:
    """Return the result of a call, its elapsed seconds, and its CPU seconds."""
    start, own = time.perf_counter(), time.process_time()
    found = call()
    return found, {
        "seconds": round(time.perf_counter() - start, 2),
        "processor_seconds": round(time.process_time() - own, 2),
    }


def by_scikit_learn(texts: list[str], threshold: float) -> set[tuple[int, int]]:
    """Return the near pairs by a script on scikit-learn: all cosines, block by block."""
    bags = tk.BagOfWords().fit_transform(texts).astype(np.float64)
    vectors = tk.TfIdf(idf="smooth").fit_transform(bags)
    empty = np.diff(vectors.indptr) == 0
    pairs: set[tuple[int, int]] = set()
    for begin in range(0, len(texts), BLOCK):
        near = 1 - cosine_similarity(vectors[begin : begin + BLOCK], vectors) <= threshold
        rows, columns = np.nonzero(near)
        rows += begin
        kept = (rows < columns) & ~empty[rows] & ~empty[columns]
        pairs.update(zip(rows[kept].tolist(), columns[kept].tolist(), strict=True))
    return pairs


def all_pairs(found: tk.learn.Duplicates) -> set[tuple[int, int]]:
    """Return all pairs of a result including pairs of copies, as the script does."""
    copies: dict[int, list[int]] = {}
    blocks = found.pairs
    for row, column, far in zip(
        blocks.rows.tolist(), blocks.columns.tolist(), blocks.distances.tolist(), strict=True
    ):
        if far == 0:
            copies.setdefault(row, [row]).append(column)
    pairs = set()
    for row, column in zip(blocks.rows.tolist(), blocks.columns.tolist(), strict=True):
        for a in copies.get(row, [row]):
            for b in copies.get(column, [column]):
                if a != b:
                    pairs.add((min(a, b), max(a, b)))
    return pairs


def measure_found(data: Path) -> list[dict[str, object]]:
    """Time every metric and radius."""
    rows = []
    for name in SETS:
        texts = [record["text"] for record in read_set(data, name)]
        for by, thresholds in WAYS.items():
            for threshold in thresholds or (None,):
                found, took = timed(
                    lambda by=by, t=threshold, texts=texts: tk.find_duplicates(texts, t, by)
                )
                largest = max((len(group) for group in found), default=0)
                far = max((group.diameter for group in found), default=0.0)
                rows.append(
                    {
                        "set": name,
                        "documents": len(texts),
                        "by": by,
                        "threshold": threshold,
                        "groups": len(found),
                        "to_remove": len(found.removed),
                        "largest": largest,
                        "farthest_from_representative": round(far, 3),
                        **took,
                    }
                )
                print(json.dumps(rows[-1]), flush=True)
    return rows


def measure_script(data: Path, threshold: float = 0.1) -> dict[str, object]:
    """Time the script and textkin on 20news; stop if the pairs differ."""
    texts = [record["text"] for record in read_set(data, "20news")]
    found, own = timed(lambda: tk.find_duplicates(texts, threshold, "cosine"))
    expected, took = timed(lambda: by_scikit_learn(texts, threshold))
    if all_pairs(found) != expected:
        raise SystemExit("the pairs of the script and of textkin differ")
    row = {"documents": len(texts), "threshold": threshold, "pairs": len(expected)}
    row |= {"textkin": own, "scikit-learn": took}
    row["times_textkin"] = round(took["processor_seconds"] / max(own["processor_seconds"], 0.01), 2)
    print(json.dumps(row), flush=True)
    return row


def measure_leaks(data: Path) -> list[dict[str, object]]:
    """Count the test documents whose bags occur in the training set."""
    rows = []
    for name, stop_words in LEAKS.items():
        records = read_set(data, name)
        train, test = ([r["text"] for r in records if r["split"] == s] for s in ("train", "test"))
        found, took = timed(
            lambda a=test, b=train, s=stop_words: tk.find_duplicates(
                a, metric="bag", against=b, stop_words=s
            )
        )
        row = {"set": name, "stop_words": stop_words, "test": len(test), "train": len(train)}
        rows.append({**row, "repeated": len(found), **took})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    """Print the results, and write them with machine and versions."""
    arguments = asked(__doc__, RESULT, parts=PARTS)
    report: dict[str, object] = {
        "command": shlex.join(["python", "benchmarks/duplicates.py", *sys.argv[1:]]),
        "measure": "seconds from texts to groups, one run, one thread; processor_seconds leave out "
        "what other work on the machine took",
        **describe("textkin", "numpy", "scipy", "scikit-learn"),
        "load_average_before": os.getloadavg()[0],
    }
    measures = {"found": measure_found, "script": measure_script, "leaks": measure_leaks}
    with threadpool_limits(1):
        tk.find_duplicates(["warm", "up"], 0.1, "wmd")
        for part in arguments.parts:
            report[part] = measures[part](arguments.data)
    write(arguments.result, report)


if __name__ == "__main__":
    main()
