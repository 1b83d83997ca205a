"""``datasets``: sizes of the labelled sets, and what they have twice (WMD Table 1)."""

from typing import Any

import numpy as np

from textkin.evaluate._cells import Task
from textkin.evaluate._experiment import Experiment, Method, Reference
from textkin.evaluate._protocol import repeated
from textkin.evaluate._results import Results
from textkin.evaluate._tables import Grid, by_measure
from textkin.evaluate.experiments._labelled import (
    labelled,
    labelled_files,
    labelled_splits,
    stop_words_of,
)
from textkin.text import BagOfWords

__all__ = ["EXPERIMENT"]

_ROW = "counts"
_COLUMNS = {
    "train": ",.0f",
    "test": ",.0f",
    "words": ",.0f",
    "words a document": ".1f",
    "classes": ".0f",
    "repeated in train": ",.0f",
    "test bags in train": ",.0f",
}


def counts(task: Task) -> dict[str, Any]:
    """Count the documents, words, classes and repeated bags of a set."""
    some = labelled(task)
    counter = BagOfWords(stop_words=stop_words_of(task.dataset), n_jobs=task.n_jobs)
    bags = counter.fit_transform(some.train.texts)
    # Words that only test documents have make two bags differ as well.
    both = BagOfWords(stop_words=stop_words_of(task.dataset), n_jobs=task.n_jobs)
    every = both.fit_transform([*some.train.texts, *some.test.texts])
    rows = [
        (every.indices[a:b].tobytes(), every.data[a:b].tobytes())
        for a, b in zip(every.indptr[:-1], every.indptr[1:], strict=True)
    ]
    n_train = len(some.train)
    first = set(rows[:n_train])
    return {
        "train": n_train,
        "test": len(some.test),
        "words": bags.shape[1],
        "words a document": float(np.diff(bags.indptr).mean()),
        "classes": len(np.unique(some.train.labels)),
        "repeated in train": int(repeated(rows[:n_train]).sum()),
        "test bags in train": sum(row in first for row in rows[n_train:]),
    }


_SETS = ("twitter", "recipe_substitute", "ohsumed23", "classic", "r8", "20news")
_TABLE_1 = {
    "train": (2176, 3059, 3999, 4965, 5485, 11293),
    "words": (6344, 5708, 31789, 24277, 22425, 29671),
    "words a document": (9.9, 48.5, 59.2, 38.6, 37.1, 72),
    "classes": (3, 15, 10, 4, 8, 20),
}


def _tables(results: Results) -> list[Grid]:
    return [
        by_measure(
            results,
            _ROW,
            _COLUMNS,
            "Means over splits",
            references=EXPERIMENT.references,
            notes=[
                "`ohsumed23` has 23 classes of documents with one label, the paper's OHSUMED 10 "
                "classes; `recipe_substitute` stands in for RECIPE, which was not found."
            ],
        )
    ]


def _findings(results: Results) -> str:
    shares = [
        (results.mean(_ROW, name, "test bags in train"), results.mean(_ROW, name, "test"), name)
        for name in results.datasets
    ]
    told = [
        f"{100 * twice / test:.1f} % of {name}" for twice, test, name in shares if twice and test
    ]
    if not told:
        return "No test document has the words of a training document."
    return (
        "Test documents whose bag of words a training document has too, as Sato et al. found: "
        f"{', '.join(told)}. `NAME-distinct` is a set without repeated bags in any experiment on "
        "labelled texts."
    )


EXPERIMENT = Experiment(
    name="datasets",
    title="The data sets",
    source='Kusner et al., "From Word Embeddings To Document Distances", ICML 2015, Table 1.',
    protocol=(
        "Words of training documents, lower case, without SMART stop words but for twitter; "
        "different words a document. Sets without a split of their own have five: means."
    ),
    datasets=_SETS,
    methods={_ROW: Method(counts)},
    files=labelled_files,
    splits=labelled_splits,
    tables=_tables,
    findings=_findings,
    references=[
        Reference(
            "paper",
            "Table 1, training part.",
            {_ROW: dict(zip(_SETS, numbers, strict=True))},
            measure,
        )
        for measure, numbers in _TABLE_1.items()
    ],
)
