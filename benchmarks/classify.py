"""Classification of R8 by exact transport: time and error, compared with gensim's time.

Each method is a `NearestNeighborClassifier` with ``tune=True`` on raw texts: `fit` holds out a
fifth of the training documents and chooses k, `predict` classifies the test documents. The script
also estimates the time of gensim's `wmdistance` for the same pairs (each held-out document with
each remaining one, and each test document with each training document): the mean time of a sample
of the latter, times their number. Both run on one thread, and the ratio uses CPU time, which other
work on the machine hardly affects. The neighbors of a sample of test documents are compared with
all distances, computed without a search. Run in the repository root, with textkin installed::

    python benchmarks/classify.py
    python benchmarks/classify.py --methods wmd "wmd, tf-idf masses"
"""

import argparse
import gzip
import json
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe, write

from textkin import NearestNeighborClassifier, WordMover, WordVectors
from textkin.text import stop_word_set, tokenize

RESULT = RESULTS / "classify.json"
GOOGLE = "googlenews-300d-26k.npz"
SEED = 0


@dataclass(frozen=True)
class Set:
    """Labeled documents with a fixed split."""

    train: list[str]
    train_labels: list[str]
    test: list[str]
    test_labels: list[str]


def read_set(data: Path, name: str) -> Set:
    """Read a file of ``classification/``."""
    with gzip.open(data / "classification" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    parts = []
    for split in ("train", "test"):
        some = [record for record in records if record["split"] == split]
        parts += [[record["text"] for record in some], [record["label"] for record in some]]
    return Set(*parts)


def googlenews(data: Path) -> WordVectors:
    """Return the vectors of Google News for the most frequent words."""
    return WordVectors.load(data / "vectors" / GOOGLE)


METHODS: dict[str, Callable[[Path], WordMover]] = {
    "wmd": lambda _data: WordMover(),
    "wmd, tf-idf masses": lambda _data: WordMover(word_weights="tfidf"),
    "wmd, GoogleNews": lambda data: WordMover(googlenews(data)),
    "wmd, GoogleNews, tf-idf masses": lambda data: WordMover(
        googlenews(data), word_weights="tfidf"
    ),
    "rwmd": lambda _data: WordMover(metric="rwmd"),
}


def measured(mover: WordMover, vote: str, documents: Set) -> dict[str, object]:
    """Tune and predict; return times, errors, and the chosen k."""
    knn = NearestNeighborClassifier(mover, vote=vote, tune=True, random_state=SEED)
    clocks = (time.perf_counter, time.process_time)
    begin = [clock() for clock in clocks]
    knn.fit(documents.train, documents.train_labels)
    fitted = [clock() for clock in clocks]
    answers = knn.predict(documents.test)
    done = [clock() for clock in clocks]
    error = float(np.mean(answers != np.array(documents.test_labels)))
    return {
        **{
            name: {
                "fit": round(after - before, 2),
                "predict": round(end - after, 2),
                "both": round(end - before, 2),
            }
            for name, before, after, end in zip(
                ("seconds", "processor_seconds"), begin, fitted, done, strict=True
            )
        },
        "error_percent": round(100 * error, 2),
        "n_neighbors": knn.n_neighbors_,
        "validation_error_percent": [round(100 * each, 2) for each in knn.tuning_.errors.tolist()],
        "pairs": knn.tuning_.n_training * knn.tuning_.n_validation
        + len(documents.train) * len(documents.test),
        "empty": {
            "train": len(knn.empty_documents_),
            "test": sum(each.share == 0 for each in mover.coverage(documents.test)),
        },
        "knn": knn,
    }


def same_as_brute(
    knn: NearestNeighborClassifier, documents: Set, n_documents: int
) -> dict[str, int]:
    """Compare the neighbors of some test documents with all their distances, ties by position."""
    rng = np.random.default_rng([SEED, 1])
    chosen = rng.permutation(len(documents.test))[:n_documents]
    some = [documents.test[row] for row in chosen]
    mover = WordMover(**{**knn.metric.get_params(), "empty": "inf"}).fit(documents.train)
    all_distances = mover.pairwise(some, documents.train)
    same = 0
    for found, distances in zip(knn.evidence(some), all_distances, strict=True):
        order = np.argsort(distances, kind="stable")
        order = order[np.isfinite(distances[order])][: knn.n_neighbors_]
        same += [near.index for near in found.neighbors] == order.tolist()
    return {"documents": len(some), "same": same, "distances": all_distances.size}


def gensim_time(vectors: WordVectors, documents: Set, n_pairs: int) -> dict[str, float] | None:
    """Time gensim on pairs of a test and a training document, if it is installed."""
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        return None
    keyed = KeyedVectors(vectors.matrix.shape[1], count=len(vectors.words), dtype=np.float32)
    keyed.add_vectors(list(vectors.words), vectors.matrix)
    stop_words = stop_word_set("smart")

    def words(text: str) -> list[str]:
        return [w for w in tokenize(text) if w not in stop_words and w in keyed.key_to_index]

    rng = np.random.default_rng([SEED, 2])
    pairs = []
    while len(pairs) < n_pairs:
        pair = words(rng.choice(documents.test)), words(rng.choice(documents.train))
        if all(pair):
            pairs.append(pair)
    keyed.wmdistance(*pairs[0], norm=False)  # loads its dependencies
    begin = time.process_time()
    theirs = [keyed.wmdistance(*pair, norm=False) for pair in pairs]
    seconds = time.process_time() - begin
    ours = WordMover(vectors).paired(*map(list, zip(*pairs, strict=True)))
    return {
        "pairs": n_pairs,
        "processor_seconds_a_pair": seconds / n_pairs,
        "largest_relative_difference": float(
            np.max(np.abs(ours - theirs) / np.maximum(ours, 1e-9))
        ),
    }


def main() -> None:
    """Measure, print a table, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--result", type=Path, default=RESULT)
    parser.add_argument("--set", default="r8", help="file of classification/")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=["wmd"])
    parser.add_argument("--vote", default="majority")
    parser.add_argument("--brute", type=int, default=20, help="test documents for brute force")
    parser.add_argument("--pairs", type=int, default=60, help="pairs to time gensim on")
    asked = parser.parse_args()

    documents = read_set(asked.data, asked.set)
    rows: dict[str, object] = {}
    theirs: dict[int, dict[str, float] | None] = {}
    for name in asked.methods:
        mover = METHODS[name](asked.data)
        found = measured(mover, asked.vote, documents)
        knn = found.pop("knn")
        if mover.metric == "wmd":
            found["brute"] = same_as_brute(knn, documents, asked.brute)
        vectors = WordVectors.builtin() if mover.vectors is None else mover.vectors
        dimension = vectors.matrix.shape[1]
        if dimension not in theirs:
            theirs[dimension] = gensim_time(vectors, documents, asked.pairs)
        timed = theirs[dimension]
        if timed is not None and mover.metric == "wmd":
            hours = timed["processor_seconds_a_pair"] * found["pairs"] / 3600
            ratio = 3600 * hours / max(found["processor_seconds"]["both"], 0.01)
            found["gensim"] = {**timed, "hours": round(hours, 1), "times_ours": round(ratio)}
        rows[name] = found
        print(f"{name}: {json.dumps(found)}", flush=True)
        report = {
            "command": shlex.join(["python", *sys.argv]),
            **describe("textkin", "gensim", "numpy"),
            "set": asked.set,
            "train": len(documents.train),
            "test": len(documents.test),
            "vote": asked.vote,
            "methods": rows,
        }
        write(asked.result, report)  # after each method, because the last one can take long


if __name__ == "__main__":
    main()
