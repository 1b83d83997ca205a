"""Error of k nearest neighbors on document vectors, with the numbers of Kusner et al. (2015).

The sets are TWITTER, CLASSIC, and REUTERS (R8), split 0. A fifth of the training documents chooses
k and the setting of a method (weights, dimensions, noise, layers); then all of them are used, and
the test documents once. Words come from the training documents only, without SMART stop words
except in TWITTER, as in their paper. The vote is the one of their code. A method is one line of
`METHODS`. Run in the repository root, with textkin installed::

    python benchmarks/knn_baselines.py
"""

import argparse
import gzip
import json
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe
from scipy.ndimage import uniform_filter
from sklearn.preprocessing import FunctionTransformer

from textkin.distance import pairwise_similarities
from textkin.models import LSI, MSDA, CountingGrid
from textkin.text import BagOfWords
from textkin.weighting import TfIdf, binary

RESULT = RESULTS / "knn_baselines.json"
SETS = ("twitter", "classic", "r8")
METRICS = ("euclidean", "cosine")
# Kusner et al., ICML 2015, Figure 3, in percent; the decimals, and all of mSDA and LSI, are cited
# from memory from Huang et al., NIPS 2016, Table 2.
PAPER = {
    "BOW": {"twitter": 43.6, "classic": 36.0, "r8": 13.9},
    "TF-IDF": {"twitter": 33.2, "classic": 35.0, "r8": 29.1},
    "mSDA": {"twitter": 32.3, "classic": 6.9, "r8": 8.1},
    "LSI": {"twitter": 31.7, "classic": 6.7, "r8": 6.3},
    "WMD": {"twitter": 28.7, "classic": 2.8, "r8": 3.5},
}
NEIGHBOURS = tuple(range(1, 20, 2))
DIMENSIONS = (50, 100, 200, 300)
NOISES = (0.5, 0.8)
LAYERS = 3
WEIGHTS = {
    "counts": lambda: TfIdf(idf="one", norm=None),
    "L2 counts": lambda: TfIdf(idf="one"),
    "tf-idf": lambda: TfIdf(norm=None),
    "L2 tf-idf": TfIdf,
    "binary": lambda: FunctionTransformer(binary, accept_sparse=True),
}


@dataclass(frozen=True)
class Products:
    """Inner products of test and training vectors, and the squares of their norms."""

    inner: np.ndarray
    test: np.ndarray
    train: np.ndarray

    @classmethod
    def of(cls, test: object, train: object) -> "Products":
        """Return the products of two matrices, sparse or dense."""
        squares = [np.asarray((side * side).sum(axis=1), dtype=float) for side in (test, train)]
        return cls(pairwise_similarities(test, train, "inner"), *squares)

    def __add__(self, other: "Products") -> "Products":
        """Return the products of concatenated vectors."""
        return Products(self.inner + other.inner, self.test + other.test, self.train + other.train)

    def nearest(self, metric: str) -> np.ndarray:
        """Return the positions of the nearest training vectors, nearest first."""
        if metric == "cosine":
            sizes = np.sqrt(np.outer(self.test, self.train))
            far = -np.divide(self.inner, sizes, out=np.zeros_like(self.inner), where=sizes > 0)
        else:
            far = self.train - 2 * self.inner  # omits the term that is equal for all
        most = min(max(NEIGHBOURS), far.shape[1])
        found = np.sort(np.argpartition(far, most - 1, axis=1)[:, :most], axis=1)
        order = np.argsort(np.take_along_axis(far, found, axis=1), axis=1, kind="stable")
        return np.take_along_axis(found, order, axis=1)


Spaces = Iterator[tuple[str, Products]]
Method = dict[str, Callable[[object, object], Spaces]]


def fitted(*makers: Callable[[], object]) -> Callable[[object, object], Spaces]:
    """Fit steps in sequence to the training documents, with one setting."""

    def spaces(test: object, train: object) -> Spaces:
        for make in makers:
            step = make().fit(train)
            test, train = step.transform(test), step.transform(train)
        yield "", Products.of(test, train)

    return spaces


def lsi(weigh: str) -> Callable[[object, object], Spaces]:
    """LSI of weights, with each number of dimensions."""

    def spaces(test: object, train: object) -> Spaces:
        weighting = WEIGHTS[weigh]().fit(train)
        test, train = weighting.transform(test), weighting.transform(train)
        most = min(max(DIMENSIONS), *train.shape)
        model = LSI(most, random_state=0).fit(train)
        sides = model.transform(test), model.transform(train)
        for k in sorted({min(k, most) for k in DIMENSIONS}):
            yield f"k={k}", Products.of(*(side[:, :k] for side in sides))

    return spaces


def msda(
    weigh: str, noise: float | None, size: int | None, words: int | None = None
) -> Callable[[object, object], Spaces]:
    """MSDA of weights with each number of layers, over all words or the most frequent ones.

    Without noise there is no layer: the result is the input of MSDA, to show the effect of layers.
    """

    def spaces(test: object, train: object) -> Spaces:
        if words is not None:  # by occurrences, as in Kusner et al.
            kept = np.sort(np.argsort(-train.sum(axis=0), kind="stable")[:words])
            test, train = test[:, kept], train[:, kept]
        weighting = WEIGHTS[weigh]().fit(train)
        test, train = weighting.transform(test), weighting.transform(train)
        found = Products.of(test, train)
        if noise is None:
            yield "", found
            return
        at_most = None if size is None else min(size, train.shape[1])
        model = MSDA(at_most, noise=noise, n_layers=LAYERS, include_input=False).fit(train)
        parts = [np.split(model.transform(side), LAYERS, axis=1) for side in (test, train)]
        for layer, sides in enumerate(zip(*parts, strict=True), 1):
            found += Products.of(*sides)
            yield f"layers={layer}", found

    return spaces


def counting_grid(
    topic_word_prior: float, doc_topic_prior: float
) -> Callable[[object, object], Spaces]:
    """Spread documents over the windows of a counting grid, and over the cells of the windows."""

    def spaces(test: object, train: object) -> Spaces:
        shape, window = (16, 16), (5, 5)
        model = CountingGrid(
            shape,
            window=window,
            topic_word_prior=topic_word_prior,
            doc_topic_prior=doc_topic_prior,
            max_iter=2000,
            tol=1e-4,
            random_state=0,
        ).fit(train)
        sides = [model.transform(side).astype(float) for side in (test, train)]
        yield "windows", Products.of(*sides)
        grids = [side.reshape(-1, *shape) for side in sides]
        blurred = [uniform_filter(grid, (0, *window), mode="wrap") for grid in grids]
        yield "cells", Products.of(*(grid.reshape(len(grid), -1) for grid in blurred))

    return spaces


METHODS: dict[str, Method] = {
    "BOW": {"": fitted(WEIGHTS["counts"])},
    "TF-IDF": {"": fitted(WEIGHTS["tf-idf"])},
    "LSI": {weigh: lsi(weigh) for weigh in ("L2 counts", "L2 tf-idf")},
    "input of MSDA, 1,000 words": {w: msda(w, None, None, 1000) for w in ("binary", "L2 counts")},
    "input of MSDA, all words": {w: msda(w, None, None) for w in ("binary", "L2 counts")},
    "MSDA, 1,000 words": {
        f"{weigh}, noise={noise}": msda(weigh, noise, None, 1000)
        for weigh in ("binary", "L2 counts")
        for noise in NOISES
    },
    "MSDA, all words, r=500": {
        f"{weigh}, noise={noise}": msda(weigh, noise, 500)
        for weigh in ("binary", "L2 counts")
        for noise in NOISES
    },
    "CCG, no priors": {"": counting_grid(1, 1)},
    "CCG": {
        f"word_prior={word}, topic_prior={topic}": counting_grid(word, topic)
        for word, topic in ((1.01, 1), (1.03, 1.1))
    },
}


def voted(labels: list[str]) -> str:
    """Return the most frequent label if half of the neighbors have it; otherwise use two fewer.

    This is the rule of Kusner et al.'s code (``knn_fall_back``); ties go to the smallest label.
    """
    while True:
        counts = Counter(labels)
        best = min(counts, key=lambda label: (-counts[label], label))
        if 2 * counts[best] >= len(labels):
            return best
        labels = labels[:-2]


def errors(nearest: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[int, float]:
    """Return the error in percent for each number of neighbors."""
    labels = train[nearest].tolist()
    return {
        k: 100 * float(np.mean(test != np.array([voted(row[:k]) for row in labels])))
        for k in NEIGHBOURS
        if k <= nearest.shape[1]
    }


def read_set(data: Path, name: str) -> tuple[object, np.ndarray, object, np.ndarray]:
    """Return counts and labels of the training documents, then of the test documents."""
    path = data / "classification" / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    train, test = ([r for r in records if r["split"] == part] for part in ("train", "test"))
    counter = BagOfWords(stop_words=None if name == "twitter" else "smart")
    counter.fit([record["text"] for record in train])
    return tuple(  # type: ignore[return-value]
        made
        for part in (train, test)
        for made in (
            counter.transform([record["text"] for record in part]),
            np.array([record["label"] for record in part]),
        )
    )


def evaluate(
    method: Method, train: object, labels: np.ndarray, test: object, own: np.ndarray
) -> dict[str, dict[str, object]]:
    """Return the test error by each metric, with the choices made on validation documents."""
    order = np.random.default_rng(0).permutation(len(labels))
    held, rest = np.sort(order[: len(labels) // 5]), np.sort(order[len(labels) // 5 :])
    best: dict[str, tuple] = {}
    for group, spaces in method.items():
        for setting, products in spaces(train[held], train[rest]):
            for metric in METRICS:
                found = errors(products.nearest(metric), labels[rest], labels[held])
                k = min(found, key=lambda k: found[k])
                if metric not in best or found[k] < best[metric][0]:
                    best[metric] = found[k], group, setting, k
    answers = {}
    for metric, (error, group, setting, k) in best.items():
        products = next(p for s, p in method[group](test, train) if s == setting)
        tested = errors(products.nearest(metric), labels, own)[k]
        chosen = [part for part in (group, setting, f"{k} neighbors") if part]
        answers[metric] = {
            "error": round(tested, 2),
            "validation_error": round(error, 2),
            "chosen": ", ".join(chosen),
        }
    return answers


def measure(data: Path, methods: dict[str, Method], sets: tuple[str, ...]) -> list[dict]:
    """Return one entry for each set and method."""
    rows = []
    for name in sets:
        train, labels, test, own = read_set(data, name)
        facts = {"set": name, "train": len(labels), "test": len(own), "words": train.shape[1]}
        for method, groups in methods.items():
            start = time.perf_counter()
            found = evaluate(groups, train, labels, test, own)
            seconds = round(time.perf_counter() - start, 1)
            rows.append({**facts, "method": method, **found, "seconds": seconds})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def table(rows: list[dict]) -> str:
    """Return errors by Euclidean distance and by cosine as a Markdown table."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    lines = [f"| | {' | '.join(sets)} |", f"| --- |{' ---: |' * len(sets)}"]
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = [
            " / ".join(f"{row[metric]['error']:.1f}" for metric in METRICS)
            for name in sets
            for row in rows
            if (row["set"], row["method"]) == (name, method)
        ]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    for row, numbers in PAPER.items():
        lines.append(f"| *paper: {row}* | {' | '.join(str(numbers[name]) for name in sets)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write numbers, machine, and versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--only", nargs="+", choices=list(METHODS), default=list(METHODS))
    arguments = parser.parse_args()
    methods = {name: METHODS[name] for name in arguments.only}
    rows = measure(arguments.data, methods, tuple(arguments.sets))
    print(table(rows))
    report = {
        "command": shlex.join(["python", "benchmarks/knn_baselines.py", *sys.argv[1:]]),
        "measure": "percent of test documents with a wrong label, by k nearest neighbors; k and "
        "settings chosen on a fifth of the training documents, for each metric",
        **describe("textkin", "numpy", "scipy", "scikit-learn"),
        "paper": PAPER,
        "rows": rows,
    }
    arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
