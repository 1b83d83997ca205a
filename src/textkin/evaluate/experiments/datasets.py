"""``datasets``: sizes of the labelled sets, and what they have twice (WMD Table 1)."""

from typing import Any

import numpy as np

from textkin.evaluate._cells import Task
from textkin.evaluate._duplicates import duplicate_counts
from textkin.evaluate._experiment import Experiment, Method, Reference
from textkin.evaluate._labelled import LabelledData
from textkin.evaluate._results import Results
from textkin.evaluate._tables import Grid, by_measure
from textkin.evaluate.experiments._labelled import (
    counter_of,
    labelled,
    labelled_files,
    labelled_splits,
    stop_words_of,
)

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
    "contradicting": ",.0f",
}


def counts(task: Task) -> dict[str, Any]:
    """Count the documents, words, classes and repeated bags of a set."""
    some = labelled(task)
    stop_words = stop_words_of(task.dataset)
    bags = counter_of(task).fit_transform(some.train.texts)
    n_train, n = len(some.train), len(some.train) + len(some.test)
    both = LabelledData(
        [*some.train.texts, *some.test.texts],
        [*some.train.labels, *some.test.labels],
        splits=[(np.arange(n_train), np.arange(n_train, n))],
    )
    twice = duplicate_counts(both, stop_words=stop_words)
    return {
        "train": n_train,
        "test": n - n_train,
        "words": bags.shape[1],
        "words a document": float(np.diff(bags.indptr).mean()),
        "classes": len(np.unique(some.train.labels)),
        "repeated in train": twice.train,
        "test bags in train": twice.across,
        "contradicting": twice.contradicting,
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
                "classes; `recipe_substitute` stands in for RECIPE, which was not found. "
                "Contradicting: an earlier document has the same bag of words and another label."
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
        "Words of training documents, lower case, without SMART stop words but for twitter, of "
        "20news those that occur at least 5 times; different words a document. Sets without a "
        "split of their own have five: means."
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
