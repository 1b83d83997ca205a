"""Time of pairwise distances, compared with scikit-learn and with Python.

Run in the repository root, with textkin installed, on an idle machine::

    python benchmarks/distances.py
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from environment import RESULTS, describe
from scipy import sparse
from sklearn.metrics.pairwise import cosine_distances, euclidean_distances, manhattan_distances
from threadpoolctl import threadpool_limits

from textkin.distance import pairwise_distances

RESULT = RESULTS / "distances.json"
WORDS, LENGTH, DIMENSION = 20_000, 70, 100


def sparse_rows(rng: np.random.Generator, count: int):
    """Return bags of 70 words each, sampled by the law of Zipf and Mandelbrot."""
    probabilities = 1 / (np.arange(WORDS) + 2.7)
    words = rng.choice(WORDS, (count, LENGTH), p=probabilities / probabilities.sum())
    rows = np.repeat(np.arange(count), LENGTH)
    bags = sparse.csr_array((np.ones(words.size), (rows, words.ravel())), shape=(count, WORDS))
    bags.sum_duplicates()
    # scikit-learn's L1 takes only this type
    bags.indices, bags.indptr = bags.indices.astype(np.int32), bags.indptr.astype(np.int32)
    return bags


def long_integer_edits(a: list[int], b: list[int]) -> int:
    """Return the edit distance by Myers's bit vectors in one long integer, in plain Python."""
    masks: dict[int, int] = {}
    for position, symbol in enumerate(b):
        masks[symbol] = masks.get(symbol, 0) | 1 << position
    full, top = (1 << len(b)) - 1, 1 << (len(b) - 1)
    up, down, distance = full, 0, len(b)
    for symbol in a:
        equal = masks.get(symbol, 0)
        horizontal = (((equal & up) + up) ^ up) | equal
        rises, falls = down | (~(horizontal | up) & full), up & horizontal
        distance += bool(rises & top) - bool(falls & top)
        rises, falls = (rises << 1 | 1) & full, falls << 1 & full
        vertical = equal | down
        up, down = falls | (~(vertical | rises) & full), rises & vertical
    return distance


def cases(quick: bool) -> dict[str, dict[str, tuple[Callable[[], np.ndarray], int]]]:
    """Return the contenders of each case: the timed function and its number of pairs."""
    rng = np.random.default_rng(0)
    n, few = (200, 50) if quick else (3000, 300)
    bags, dense = sparse_rows(rng, n), rng.normal(size=(n, DIMENSION))
    sequences = [rng.integers(0, 1000, 100).tolist() for _ in range(20 if quick else 100)]

    def ours(X, metric):
        return {
            "textkin": (lambda: pairwise_distances(X, metric=metric), len_pairs(X)),
            "textkin, two threads": (
                lambda: pairwise_distances(X, metric=metric, n_jobs=2),
                len_pairs(X),
            ),
        }

    def len_pairs(X) -> int:
        return (X.shape[0] if hasattr(X, "shape") else len(X)) ** 2

    def by_integers() -> np.ndarray:
        return np.array([[long_integer_edits(a, b) for b in sequences] for a in sequences[:10]])

    return {
        "sparse cosine": {
            **ours(bags, "cosine"),
            "scikit-learn": (lambda: cosine_distances(bags), n * n),
        },
        "sparse L1": {
            **ours(bags, "l1"),
            "scikit-learn": (lambda: manhattan_distances(bags[:few], bags), few * n),
        },
        "dense cosine": {
            **ours(dense, "cosine"),
            "scikit-learn": (lambda: cosine_distances(dense), n * n),
        },
        "dense L2": {
            **ours(dense, "l2"),
            "scikit-learn": (lambda: euclidean_distances(dense), n * n),
        },
        "edits, 100 words": {
            **ours(sequences, "edit"),
            "long integers of Python": (by_integers, 10 * len(sequences)),
        },
    }


def measure(quick: bool, rounds: int) -> list[dict[str, object]]:
    """Time every contender once per round, after a pass that compares their results."""
    rows: list[dict[str, object]] = []
    for case, contenders in cases(quick).items():
        expected = contenders["textkin"][0]()
        for name, (call, _) in contenders.items():
            answer = call()
            if not np.allclose(answer, expected[: len(answer)], rtol=1e-9, atol=1e-7):
                raise SystemExit(f"{case}: the answers of {name} and textkin differ")
        times: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(rounds):
            for name, (call, pairs) in contenders.items():
                start = time.perf_counter()
                call()
                times[name].append(1e9 * (time.perf_counter() - start) / pairs)
        for name, found in times.items():
            ratios = [one / own for one, own in zip(found, times["textkin"], strict=True)]
            row = {"case": case, "contender": name, "nanoseconds_a_pair": statistics.median(found)}
            rows.append({**row, "times_textkin": statistics.median(ratios), "rounds": found})
            print(f"{case:18} {name:24} {row['nanoseconds_a_pair']:12.1f} ns per pair", flush=True)
    return rows


def main() -> None:
    """Print the times, and write them with machine and versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with threadpool_limits(1):
        rows = measure(arguments.quick, 1 if arguments.quick else arguments.rounds)
    report = {
        "command": "python benchmarks/distances.py",
        "measure": "median time a pair; ratios within rounds; scikit-learn on one thread",
        **describe("numpy", "scipy", "scikit-learn"),
        "load_average_before": load,
        "rows": rows,
    }
    arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
