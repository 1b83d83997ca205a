"""Classification of R8 by exact transport: time and error, beside gensim's time for all pairs.

Each method is a `NearestNeighborClassifier` with ``tune=True`` on texts as they are: `fit` holds a
fifth of the training documents out and chooses k, `predict` asks the test documents. Beside it
stands what gensim's `wmdistance` would take for the same pairs, every held-out document with every
one that is left and every test document with every training document: the mean time of some pairs
drawn from the latter, times their number. Both run on one thread, and the ratio is of the time of
the processor, which other work on the machine changes little. A sample of test documents is asked
again and compared with all distances, which no search was made for. Run in the repository root,
where textkin is installed::

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
    """Labelled documents, split once and for all."""

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
    "wmd, tf-idf masses": lambda _data: WordMover(masses="tfidf"),
    "wmd, GoogleNews": lambda data: WordMover(googlenews(data)),
    "wmd, GoogleNews, tf-idf masses": lambda data: WordMover(googlenews(data), masses="tfidf"),
    "rwmd": lambda _data: WordMover(algorithm="rwmd"),
}


def measured(mover: WordMover, vote: str, documents: Set) -> dict[str, object]:
    """Tune and answer; return times, errors and what was chosen."""
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
    """Compare what some test documents found with all their distances, ties by position."""
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
    """Time gensim on pairs of a test and a training document; None where it is not installed."""
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
    keyed.wmdistance(*pairs[0], norm=False)  # loads what it needs
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
    """Measure, print a table, write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--result", type=Path, default=RESULT)
    parser.add_argument("--set", default="r8", help="a file of classification/")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=["wmd"])
    parser.add_argument("--vote", default="majority")
    parser.add_argument("--brute", type=int, default=20, help="test documents, all distances")
    parser.add_argument("--pairs", type=int, default=60, help="pairs that gensim is timed on")
    asked = parser.parse_args()

    documents = read_set(asked.data, asked.set)
    rows: dict[str, object] = {}
    theirs: dict[int, dict[str, float] | None] = {}
    for name in asked.methods:
        mover = METHODS[name](asked.data)
        found = measured(mover, asked.vote, documents)
        knn = found.pop("knn")
        if mover.algorithm == "auto":
            found["brute"] = same_as_brute(knn, documents, asked.brute)
        vectors = WordVectors.builtin() if mover.vectors is None else mover.vectors
        dimension = vectors.matrix.shape[1]
        if dimension not in theirs:
            theirs[dimension] = gensim_time(vectors, documents, asked.pairs)
        timed = theirs[dimension]
        if timed is not None and mover.algorithm == "auto":
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
        write(asked.result, report)  # after each, for the last may take long


if __name__ == "__main__":
    main()
