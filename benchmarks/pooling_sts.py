"""Similarity of sentences by pooled word vectors on the STS tasks of 2012 and 2013.

Weights, components and whitening are learnt from the sentences of the test file, without their
gold scores, as the papers do ("file"), or from those of the training pairs of 2012 ("training").
Nothing else is chosen. Scores are cosines. Minutes; run in the repository root, where textkin is
installed::

    OPENBLAS_NUM_THREADS=1 python benchmarks/pooling_sts.py
"""

import argparse
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from environment import DATA, RESULTS, describe
from sts_corpora import Pairs, read_pairs
from sts_models import cosines

from textkin import Pooling, WordVectors
from textkin.evaluate import sts_scores

RESULT = RESULTS / "pooling_sts.json"
TESTS = ("sts2012-test", "sts2013-test")
TRAINING = "sts2012-train"
WHOLE = ("ALL", "ALLnrm", "Mean")
# What pooling is asked for, by the name of the row.
RECIPES: dict[str, dict[str, object]] = {
    "mean, SMART stop words left out": {"stop_words": "smart"},
    "mean": {},
    "max": {"combine": "max"},
    "mean, less 1": {"remove_components": 1},
    "mean, whitened": {"whiten": True},
    "tf-idf": {"weights": "tfidf"},
    "tf-idf, less 1": {"weights": "tfidf", "remove_components": 1},
    "SIF by rank": {"weights": "sif"},
    "SIF by rank, less 1": {"weights": "sif", "remove_components": 1},
    "SIF by rank, less 1, SMART stop words left out": {
        "weights": "sif",
        "remove_components": 1,
        "stop_words": "smart",
    },
    "SIF of the corpus": {"weights": "sif", "probabilities": "corpus"},
    "SIF of the corpus, less 1": {
        "weights": "sif",
        "probabilities": "corpus",
        "remove_components": 1,
    },
    "uSIF by rank, less 5": {"weights": "usif", "remove_components": 5},
    "uSIF of the corpus, less 5": {
        "weights": "usif",
        "probabilities": "corpus",
        "remove_components": 5,
    },
    "SIF by rank, whitened": {"weights": "sif", "whiten": True},
    "SIF of the corpus, whitened": {
        "weights": "sif",
        "probabilities": "corpus",
        "whiten": True,
    },
}


@cache
def vectors_of(removed: int) -> WordVectors:
    """Return the built-in vectors, or all but their top components."""
    builtin = WordVectors.builtin()
    return builtin.without_components(removed) if removed else builtin


def scores_of(pairs: Pairs, corpus: Pairs, removed: int, options: dict[str, object]) -> object:
    """Return the cosines of all pairs, after learning from the sentences of others."""
    model = Pooling(vectors_of(removed), **{"stop_words": None, **options})
    model.fit([*corpus.sentences[0], *corpus.sentences[1]])
    return cosines(*(model.transform(side) for side in pairs.sentences))


def measured(data: Path) -> Iterator[dict[str, object]]:
    """Yield a row for each recipe, vectors and texts to learn from."""
    tests = {name: read_pairs(data, name) for name in TESTS}
    training = read_pairs(data, TRAINING)
    for removed in (0, 3):
        for name, options in RECIPES.items():
            for learnt_from in ("file", "training"):
                row: dict[str, object] = {"vectors": "abtt3" if removed else "built-in"}
                row |= {"recipe": name, "learnt_from": learnt_from}
                for test, pairs in tests.items():
                    corpus = pairs if learnt_from == "file" else training
                    scores = scores_of(pairs, corpus, removed, options)
                    found = sts_scores(pairs.sets, pairs.gold, scores).as_dict()
                    row[test] = {key: round(value, 4) for key, value in found.items()}
                yield row


def table(rows: list[dict], learnt_from: str) -> str:
    """Return the rows of one kind of learning as Markdown."""
    heads = ["built-in, 2012", "2013", "abtt3, 2012", "2013"]
    lines = [f"| ALL / ALLnrm / Mean | {' | '.join(heads)} |", f"| --- |{' ---: |' * 4}"]
    for name in RECIPES:
        cells = [
            " / ".join(f"{row[test][key]:.3f}".replace("0.", ".", 1) for key in WHOLE)
            for row in rows
            if (row["recipe"], row["learnt_from"]) == (name, learnt_from)
            for test in TESTS
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables; write the numbers, the machine and the versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    rows = list(measured(arguments.data))
    for learnt_from in ("file", "training"):
        print(f"learnt from: {learnt_from}\n{table(rows, learnt_from)}\n")
    report = {
        "command": "OPENBLAS_NUM_THREADS=1 python benchmarks/pooling_sts.py",
        "measure": "Pearson's correlation of cosines with gold scores; abtt3: mean and three top "
        "components removed from the built-in vectors",
        **describe("textkin", "numpy", "scipy", "scikit-learn"),
        "rows": rows,
    }
    arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
