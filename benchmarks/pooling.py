"""Documents per second from texts to pooled word vectors, compared with TfidfVectorizer.

All contenders get texts in memory and return a matrix, by one call of `fit_transform`; the built-in
vectors are loaded before. The mean in plain Python uses no library: lower case, a pattern, a dict
of rows, and `mean`. Run in the repository root, with textkin installed::

    OPENBLAS_NUM_THREADS=1 python benchmarks/pooling.py
"""

import argparse
import gzip
import json
import os
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from textkin import BagOfWords, Pooling, TfIdf, WordVectors

RESULT = RESULTS / "pooling.json"
SETS = ("20news", "twitter")
PATTERN = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def read_texts(name: str, data: Path) -> list[str]:
    """Return the texts of a set."""
    with gzip.open(data / "classification" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def plain_mean(texts: list[str], sums_in: type = np.float32) -> np.ndarray:
    """Return the mean of the vectors of the words of each text, in plain Python."""
    vectors = WordVectors.builtin()
    rows, matrix = _rows_of(vectors), vectors.matrix
    found = np.zeros((len(texts), matrix.shape[1]), dtype=np.float32)
    for row, text in enumerate(texts):
        known = [rows[word] for word in PATTERN.findall(text.lower()) if word in rows]
        if known:
            found[row] = matrix[known].mean(axis=0, dtype=sums_in)
    return found


def _rows_of(vectors: WordVectors, kept: dict[int, dict[str, int]] = {}) -> dict[str, int]:  # noqa: B006
    """Return the row of each word, built once."""
    if id(vectors) not in kept:
        kept[id(vectors)] = {word: row for row, word in enumerate(vectors.words)}
    return kept[id(vectors)]


def _pooled(**options: object) -> Callable[[list[str]], np.ndarray]:
    return lambda texts: Pooling(stop_words=None, **options).fit_transform(texts)


CONTENDERS: dict[str, Callable[[list[str]], object]] = {
    "sklearn_tfidf": lambda texts: TfidfVectorizer().fit_transform(texts),
    "tfidf": lambda texts: make_pipeline(BagOfWords(None), TfIdf("sklearn")).fit_transform(texts),
    "python_mean": plain_mean,
    "mean": _pooled(),
    "mean_2_threads": _pooled(n_jobs=2),
    "sif": _pooled(word_weights="sif"),
    "sif_less_1": _pooled(word_weights="sif", remove_components=1),
    "usif_less_5": _pooled(word_weights="usif", remove_components=5),
    "whitened": _pooled(whiten=True),
}


def check_equal(texts: list[str]) -> float:
    """Stop unless textkin returns the plain mean for words in the spelling of the vectors.

    textkin also finds words in title case and without a possessive ending, so texts are compared
    without unknown words and capital letters.
    """
    rows = _rows_of(WordVectors.builtin())
    known = [
        " ".join(word for word in PATTERN.findall(text.lower()) if word in rows) for text in texts
    ]
    other = CONTENDERS["mean"](known)
    apart = float(np.abs(plain_mean(known, np.float64) - other).max(initial=0))
    if apart > 1e-6:
        raise SystemExit(f"mean: differs from the plain mean by {apart}")
    if not np.array_equal(CONTENDERS["mean_2_threads"](known), other):
        raise SystemExit("mean: results on two threads are not bit-identical")
    return apart


def measure(texts: list[str], rounds: int) -> dict[str, object]:
    """Time every contender in every round, in a changing order."""
    apart = check_equal(texts[:2000])
    names = list(CONTENDERS)
    wall: dict[str, list[float]] = {name: [] for name in names}
    processor: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            start, used = time.perf_counter(), time.process_time()
            CONTENDERS[name](texts)
            wall[name].append(time.perf_counter() - start)
            processor[name].append(time.process_time() - used)
    return {
        "texts": len(texts),
        "words_a_text": round(sum(len(PATTERN.findall(t)) for t in texts) / len(texts), 1),
        "largest_difference_from_plain_mean": apart,
        "documents_a_second": {
            name: round(len(texts) / statistics.median(times)) for name, times in wall.items()
        },
        "documents_a_second_of_processor_time": {
            name: round(len(texts) / statistics.median(times)) for name, times in processor.items()
        },
        "times_sklearn_tfidf": {
            name: round(
                statistics.median(
                    a / b for a, b in zip(processor["sklearn_tfidf"], times, strict=True)
                ),
                2,
            )
            for name, times in processor.items()
        },
        "seconds": wall,
        "processor_seconds": processor,
    }


def table(sets: dict[str, dict]) -> str:
    """Return documents per second of CPU time, and ratios to scikit-learn's, as Markdown."""
    heads = [f"{name} ({found['words_a_text']:.0f} words)" for name, found in sets.items()]
    lines = [f"| documents a second | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(heads)}"]
    for name in CONTENDERS:
        if name == "mean_2_threads":  # CPU time of both threads
            continue
        cells = [
            f"{found['documents_a_second_of_processor_time'][name]:,} "
            f"({found['times_sklearn_tfidf'][name]:.1f}x)"
            for found in sets.values()
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write numbers, machine, and versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="run on few texts, two rounds")
    arguments = parser.parse_args()
    rounds = 2 if arguments.quick else arguments.rounds
    load = os.getloadavg()[0]
    sets = {}
    for name in SETS:
        texts = read_texts(name, arguments.data)
        sets[name] = measure(texts[:300] if arguments.quick else texts, rounds)
    print(table(sets))
    report = {
        "command": "OPENBLAS_NUM_THREADS=1 python benchmarks/pooling.py",
        "measure": "seconds of fit_transform, texts in memory; ratios of processor time within "
        "rounds, since the machine may be busy; of two threads the wall clock tells",
        **describe("textkin", "scikit-learn", "numpy", "scipy"),
        "load_average_before": load,
        "rounds": rounds,
        "sets": sets,
    }
    arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
