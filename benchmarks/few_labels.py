"""Error of a linear SVM with few labels, on words and on the Fisher kernel: the paper's Table 2.

Reuters-21578, ModApte split, the five most frequent categories one against all. The models learn
from all 21,578 texts without labels; the classifier from 1/20, 1/10 and 1/5 of the training
documents. 1 and 64 factors as in the paper, both sides normalised. C of the SVM is chosen for each
classifier by cross-validation among its own labelled documents, in the same way for words and
kernel; a first run with C = 1 for both is kept in the result. Run in the repository root, where
textkin is installed::

    python benchmarks/few_labels.py
"""

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from textkin import BagOfWords, FisherKernel, TfIdf

RESULT = RESULTS / "few_labels.json"
CATEGORIES = ("earn", "acq", "money-fx", "grain", "crude")
PARTS = (20, 10, 5)
CHOICES = [0.1, 1.0, 10.0, 100.0]
# The first run, with C = 1: mean errors on words and on the kernel.
FIRST_RUN = {20: (3.86, 7.51), 10: (2.96, 5.93), 5: (2.36, 4.23)}
# Hofmann, NIPS 1999, Table 2: SVM and SVM++, mean of the five categories, in percent.
PAPER = {20: (4.20, 3.05), 10: (3.27, 2.78), 5: (2.67, 2.35)}


def main() -> None:
    """Print the mean errors; write all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--parts", type=int, nargs="+", default=PARTS, choices=PARTS)
    arguments = parser.parse_args()
    with gzip.open(arguments.data / "text" / "reuters21578.jsonl.gz", "rt") as lines:
        documents = [json.loads(line) for line in lines]
    bags = BagOfWords("smart", min_count=5).fit_transform(
        [f"{document['title']} {document['text']}" for document in documents]
    )
    kernel = FisherKernel([1, 64], normalize=True, random_state=0, n_jobs=-1).fit(bags)
    split = np.array([document["modapte"] for document in documents])
    train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
    counts = TfIdf(idf="one").fit(bags)
    rows = {"words": counts.transform, "kernel": kernel.transform}
    tests = {name: transform(bags[test]) for name, transform in rows.items()}
    errors: dict[str, dict[str, dict[str, list[float]]]] = {}
    chosen: dict[str, dict[str, list[float]]] = {}
    for part in arguments.parts:
        of_part = {name: {category: [] for category in CATEGORIES} for name in rows}
        chosen[f"1/{part}"] = {name: [] for name in rows}
        for draw in range(arguments.draws):
            random = np.random.default_rng(1000 * part + draw)
            known = random.choice(train, len(train) // part, replace=False)
            for name, transform in rows.items():
                features = transform(bags[known])
                for category in CATEGORIES:
                    labels = np.array([category in document["topics"] for document in documents])
                    search = GridSearchCV(
                        LinearSVC(random_state=0),
                        {"C": CHOICES},
                        cv=StratifiedKFold(3, shuffle=True, random_state=0),
                    ).fit(features, labels[known])
                    chosen[f"1/{part}"][name].append(search.best_params_["C"])
                    wrong = 1 - search.score(tests[name], labels[test])
                    of_part[name][category].append(100 * wrong)
        errors[f"1/{part}"] = of_part
        means = {n: np.mean([np.mean(e) for e in of.values()]) for n, of in of_part.items()}
        print(f"1/{part}: words {means['words']:.2f} %, kernel {means['kernel']:.2f} %", end="; ")
        print("paper: {:.2f} %, {:.2f} %".format(*PAPER[part]), flush=True)
    report = {
        "command": "python benchmarks/few_labels.py",
        "measure": "percent wrong on the ModApte test documents, by share of labels and draw",
        **describe("textkin", "scikit-learn", "numpy", "scipy"),
        "training_documents": len(train),
        "test_documents": len(test),
        "paper": {f"1/{part}": values for part, values in PAPER.items()},
        "first_run_with_C_1": {f"1/{part}": values for part, values in FIRST_RUN.items()},
        "draws": arguments.draws,
        "chosen_C": chosen,
        "errors": errors,
    }
    arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
