"""Time from texts to bags and to tf-idf weights, compared with scikit-learn; equal counts.

scikit-learn's `CountVectorizer` gets textkin's word rule as its ``token_pattern``, and texts that
are not ASCII are normalized as in textkin. Run in the repository root, with textkin installed::

    python benchmarks/counting.py
"""

import argparse
import gzip
import json
import os
import statistics
import time
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from textkin import BagOfWords, TfIdf, _core

RESULT = RESULTS / "counting.json"
# English only, because the pattern does not form pairs of characters
SETS = ("20news", "r8", "ohsumed23")
RULE = r"[^\W_]+(?:'[^\W_]+)*"  # a run of letters and numbers with inner apostrophes


def read_texts(name: str, data: Path) -> list[str]:
    """Return the texts of a set."""
    with gzip.open(data / "classification" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def normal_lower(text: str) -> str:
    """Normalize a text for scikit-learn's pattern as textkin's tokenizer does."""
    return text.lower() if text.isascii() else _core.normalise(text).lower()


CONTENDERS = {
    "sklearn_counts": lambda: CountVectorizer(token_pattern=RULE, preprocessor=normal_lower),
    "counts": lambda: BagOfWords(None),
    "counts_2_threads": lambda: BagOfWords(None, n_jobs=2),
    "sklearn_tfidf": lambda: TfidfVectorizer(token_pattern=RULE, preprocessor=normal_lower),
    "tfidf": lambda: make_pipeline(BagOfWords(None), TfIdf("sklearn")),
}
RATIOS = {
    "counts_over_sklearn": ("sklearn_counts", "counts"),
    "two_threads_over_one": ("counts", "counts_2_threads"),
    "tfidf_over_sklearn": ("sklearn_tfidf", "tfidf"),
}


def check_equal(texts: list[str]) -> tuple[int, int]:
    """Stop unless all contenders return equal counts in equal columns; return words and tokens."""
    theirs = CONTENDERS["sklearn_counts"]()
    expected = theirs.fit_transform(texts)
    for name in ("counts", "counts_2_threads"):
        ours = CONTENDERS[name]()
        found = ours.fit_transform(texts)
        if not np.array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out()):
            raise SystemExit(f"{name}: words differ from scikit-learn's")
        if (found != expected).nnz:
            raise SystemExit(f"{name}: counts differ from scikit-learn's")
    weights = [CONTENDERS[name]().fit_transform(texts) for name in ("sklearn_tfidf", "tfidf")]
    if abs(weights[0] - weights[1]).max() > 1e-6:
        raise SystemExit("tfidf: weights differ from scikit-learn's")
    return expected.shape[1], int(expected.sum())


def measure(texts: list[str], rounds: int) -> dict[str, object]:
    """Time every contender in every round, in a changing order."""
    words, tokens = check_equal(texts)
    seconds: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    names = list(CONTENDERS)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            estimator = CONTENDERS[name]()
            start = time.perf_counter()
            estimator.fit_transform(texts)
            seconds[name].append(time.perf_counter() - start)
    ratios = {
        name: [a / b for a, b in zip(seconds[slow], seconds[fast], strict=True)]
        for name, (slow, fast) in RATIOS.items()
    }
    return {
        "texts": len(texts),
        "megabytes": round(sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6, 2),
        "tokens": tokens,
        "words": words,
        "median_seconds": {name: statistics.median(times) for name, times in seconds.items()},
        "median_ratio": {name: statistics.median(values) for name, values in ratios.items()},
        "ratio_range": {name: [min(values), max(values)] for name, values in ratios.items()},
        "seconds": seconds,
    }


def table(sets: dict[str, dict]) -> str:
    """Return the ratios as a Markdown table."""
    lines = [
        "| texts | MB | counting, scikit-learn / textkin | tf-idf, the same | one / two threads |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, found in sets.items():
        ratio = found["median_ratio"]
        lines.append(
            f"| {name} | {found['megabytes']:.1f} | {ratio['counts_over_sklearn']:.1f}x | "
            f"{ratio['tfidf_over_sklearn']:.1f}x | {ratio['two_threads_over_one']:.2f}x |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write numbers, machine, and versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--rounds", type=int, default=9)
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
        "command": "python benchmarks/counting.py",
        "measure": "seconds of fit_transform, texts in memory; ratios taken within rounds",
        **describe("textkin", "scikit-learn", "numpy", "scipy"),
        "load_average_before": load,
        "rounds": rounds,
        "sets": sets,
    }
    arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
