"""Errors of Rocchio on complete sets, and of classifiers with few labels, on document vectors.

The first part uses the sets with their own split, where all training documents have labels. The
second part uses eight classes of R8 and of 20 newsgroups with four labels each, among unlabeled
texts: these are classified, and `FisherKernelClassifier` also trains its models on them. The result
has the mean and the spread over samples. Run in the repository root, with textkin installed::

    python benchmarks/classifiers.py
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from environment import DATA, RESULTS, describe, write
from sklearn.svm import LinearSVC

import textkin as tk

RESULT = RESULTS / "classifiers.json"
WHOLE = ("r8", "20news", "classic")
FEW = {"r8": (200, 1600), "20news": (200, 800)}
CLASSES, LABELS = 8, 4


class Corpus(NamedTuple):
    """Texts, their labels, and the split."""

    texts: list[str]
    labels: np.ndarray
    test: np.ndarray


def read(path: Path) -> Corpus:
    """Read a set with labels and a split."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    labels = np.array([str(row["label"]) for row in rows])
    return Corpus(
        [row["text"] for row in rows], labels, np.array([row["split"] == "test" for row in rows])
    )


def whole(corpus: Corpus) -> dict[str, float]:
    """Return errors in percent, and the CPU seconds of Rocchio on texts."""
    train, test = np.flatnonzero(~corpus.test), np.flatnonzero(corpus.test)
    known, asked = ([corpus.texts[at] for at in rows] for rows in (train, test))
    begin = time.process_time()
    rocchio = tk.RocchioClassifier().fit(known, corpus.labels[train])
    between = time.process_time()
    found = rocchio.predict(asked)
    end = time.process_time()
    counter = tk.BagOfWords()
    weigh = tk.TfIdf()
    svm = LinearSVC(random_state=0).fit(
        weigh.fit_transform(counter.fit_transform(known)), corpus.labels[train]
    )
    others = svm.predict(weigh.transform(counter.transform(asked)))
    return {
        "training_documents": len(train),
        "test_documents": len(test),
        "rocchio": 100 * float(np.mean(found != corpus.labels[test])),
        "svm": 100 * float(np.mean(others != corpus.labels[test])),
        "rocchio_fit_s": between - begin,
        "rocchio_predict_s": end - between,
    }


def contenders(bags: Any) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Return functions from labels (-1: unlabeled) to the classes of all documents."""
    words = tk.TfIdf(idf="one").fit_transform(bags)  # counts of unit length
    weighed = tk.TfIdf().fit_transform(bags)

    def supervised(make: Callable[[], Any], rows: Any) -> Callable[[np.ndarray], np.ndarray]:
        def classes(labels: np.ndarray) -> np.ndarray:
            known = np.flatnonzero(labels >= 0)
            return make().fit(rows[known], labels[known]).predict(rows)

        return classes

    def with_all(model: tk.PLSA | None) -> Callable[[np.ndarray], np.ndarray]:
        few = tk.FisherKernelClassifier(topic_model=model, random_state=0)
        return lambda labels: few.fit(bags, labels).predict(bags)

    return {
        "rocchio, tf-idf": supervised(tk.RocchioClassifier, weighed),
        "svm, words": supervised(lambda: LinearSVC(C=10, random_state=0), words),
        "svm, tf-idf": supervised(lambda: LinearSVC(C=10, random_state=0), weighed),
        "fisher kernel": with_all(None),
        "fisher kernel, by likelihood": with_all(tk.PLSA()),
    }


def few(corpus: Corpus, number: int, draws: int) -> dict[str, list[float]]:
    """Return the errors of each sample in percent, on unlabeled documents."""
    errors: dict[str, list[float]] = {}
    names = np.unique(corpus.labels)[:CLASSES]
    for draw in range(draws):
        random = np.random.default_rng(draw)
        rows = np.concatenate(
            [
                random.permutation(np.flatnonzero(corpus.labels == name))[: number // len(names)]
                for name in names
            ]
        )
        random.shuffle(rows)
        truth = np.searchsorted(names, corpus.labels[rows])
        labels = np.full(len(rows), -1)
        for at in range(len(names)):
            labels[np.flatnonzero(truth == at)[:LABELS]] = at
        asked = labels < 0
        bags = tk.BagOfWords().fit_transform([corpus.texts[row] for row in rows])
        for name, classes in contenders(bags).items():
            wrong = classes(labels)[asked] != truth[asked]
            errors.setdefault(name, []).append(100 * float(np.mean(wrong)))
    return errors


def main() -> None:
    """Print and write the errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=list(WHOLE))
    arguments = parser.parse_args()
    report: dict[str, Any] = {
        "command": "python benchmarks/classifiers.py",
        "measure": "percent wrong",
        **describe("textkin", "scikit-learn", "numpy", "scipy"),
        "labels_of_each_class": LABELS,
        "whole": {},
        "few": {},
    }
    for name in arguments.sets:
        corpus = read(arguments.data / "classification" / f"{name}.jsonl.gz")
        report["whole"][name] = whole(corpus)
        print(name, report["whole"][name], flush=True)
        for number in FEW.get(name, ()):
            found = few(corpus, number, arguments.draws)
            report["few"][f"{name}, {number} texts"] = found
            for contender, values in found.items():
                said = f"{np.mean(values):5.1f} ± {np.std(values):4.1f} %"
                print(f"  {number} texts: {said}  {contender}", flush=True)
        write(arguments.out, report)


if __name__ == "__main__":
    main()
